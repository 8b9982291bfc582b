// AXI4 write channels, shared by two clients (WriteIdOutput, WriteIdScratch). A client hands over a run and then its
// words; runs are cut into bursts and follow one another. The output goes before the scratch.

module axi_write_port #(
  parameter int PortBytes = 16,
  parameter int RunBits   = 16,
  localparam int Clients = 2
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  input  logic [Clients-1:0]                        run_valid_i,
  output logic [Clients-1:0]                        run_ready_o,
  input  logic [Clients*santa_pkg::AddressBits-1:0] run_address_i,
  input  logic [Clients*RunBits-1:0]                run_words_i,
  input  logic [Clients-1:0]                        word_valid_i,
  output logic [Clients-1:0]                        word_ready_o,
  input  logic [Clients*8*PortBytes-1:0]            word_data_i,
  input  logic [Clients*PortBytes-1:0]              word_strobe_i,
  output logic [Clients-1:0]                        idle_o,   // no run, no response outstanding
  output logic [Clients-1:0]                        error_o,  // a response with an error came
  output logic [1:0]                                m_axi_awid_o,
  output logic [santa_pkg::AddressBits-1:0]         m_axi_awaddr_o,
  output logic [7:0]                                m_axi_awlen_o,
  output logic [2:0]                                m_axi_awsize_o,
  output logic [1:0]                                m_axi_awburst_o,
  output logic                                      m_axi_awvalid_o,
  input  logic                                      m_axi_awready_i,
  output logic [8*PortBytes-1:0]                    m_axi_wdata_o,
  output logic [PortBytes-1:0]                      m_axi_wstrb_o,
  output logic                                      m_axi_wlast_o,
  output logic                                      m_axi_wvalid_o,
  input  logic                                      m_axi_wready_i,
  input  logic [1:0]                                m_axi_bid_i,
  input  logic [1:0]                                m_axi_bresp_i,
  input  logic                                      m_axi_bvalid_i,
  output logic                                      m_axi_bready_o
);

  localparam int PendingBits = 8;

  typedef enum logic {
    StIdle,
    StRun
  } state_e;

  state_e                            state_q;
  logic                              client_q;
  logic                              winner, run_valid, run_ready;
  logic                              burst_valid, burst_ready, burst_last;
  logic [santa_pkg::AddressBits-1:0] run_address, burst_address;
  logic [RunBits-1:0]                run_words;
  logic [8:0]                        burst_words, word_q;
  logic                              word_valid, word_taken, address_taken;
  logic                              address_sent_q, words_sent_q;  // of this burst

  assign winner      = !run_valid_i[santa_pkg::WriteIdOutput];
  assign run_valid   = (state_q == StIdle) && (|run_valid_i);
  assign run_address = run_address_i[winner*santa_pkg::AddressBits +: santa_pkg::AddressBits];
  assign run_words   = run_words_i[winner*RunBits +: RunBits];

  always_comb begin
    run_ready_o         = '0;
    run_ready_o[winner] = (state_q == StIdle) && run_ready;
  end

  burst_splitter #(
    .PortBytes(PortBytes),
    .RunBits  (RunBits)
  ) u_splitter (
    .clk_i,
    .rst_ni,
    .run_valid_i    (run_valid),
    .run_ready_o    (run_ready),
    .run_address_i  (run_address),
    .run_words_i    (run_words),
    .burst_valid_o  (burst_valid),
    .burst_ready_i  (burst_ready),
    .burst_address_o(burst_address),
    .burst_words_o  (burst_words),
    .burst_last_o   (burst_last)
  );

  // Address and data go out independently: memory may wait for either before it takes the other.
  assign word_valid    = word_valid_i[client_q] && burst_valid && !words_sent_q;
  assign word_taken    = word_valid && m_axi_wready_i;
  assign address_taken = m_axi_awvalid_o && m_axi_awready_i;
  assign burst_ready   = burst_valid && (address_sent_q || address_taken) &&
                         (words_sent_q || (word_taken && m_axi_wlast_o));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      address_sent_q <= 1'b0;
      words_sent_q   <= 1'b0;
      word_q         <= '0;
    end else begin
      if (run_valid && run_ready) begin
        state_q <= StRun;
      end else if (burst_ready && burst_last) begin
        state_q <= StIdle;
      end
      if (burst_ready) begin
        address_sent_q <= 1'b0;
        words_sent_q   <= 1'b0;
        word_q         <= '0;
      end else begin
        if (address_taken) address_sent_q <= 1'b1;
        if (word_taken) begin
          word_q       <= word_q + 9'd1;
          words_sent_q <= m_axi_wlast_o;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (run_valid && run_ready) client_q <= winner;
  end

  always_comb begin
    word_ready_o           = '0;
    word_ready_o[client_q] = burst_valid && !words_sent_q && m_axi_wready_i;
  end

  assign m_axi_awid_o    = {1'b0, client_q};
  assign m_axi_awaddr_o  = burst_address;
  assign m_axi_awlen_o   = 8'(burst_words - 9'd1);
  assign m_axi_awsize_o  = 3'($clog2(PortBytes));
  assign m_axi_awburst_o = 2'b01;
  assign m_axi_awvalid_o = burst_valid && !address_sent_q;
  assign m_axi_wdata_o   = word_data_i[client_q*8*PortBytes +: 8*PortBytes];
  assign m_axi_wstrb_o   = word_strobe_i[client_q*PortBytes +: PortBytes];
  assign m_axi_wlast_o   = word_q == burst_words - 9'd1;
  assign m_axi_wvalid_o  = word_valid;
  assign m_axi_bready_o  = 1'b1;

  // Bursts whose response is still to come, a client each.
  for (genvar c = 0; c < Clients; c++) begin : gen_pending
    logic [PendingBits-1:0] pending_q;
    logic                   sent, answered;

    assign sent     = burst_ready && (client_q == 1'(c));
    assign answered = m_axi_bvalid_i && (m_axi_bid_i == 2'(c));

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        pending_q <= '0;
      end else if (sent && !answered) begin
        pending_q <= pending_q + PendingBits'(1);
      end else if (answered && !sent) begin
        pending_q <= pending_q - PendingBits'(1);
      end
    end

    assign idle_o[c]  = (pending_q == '0) && !((state_q != StIdle) && (client_q == 1'(c)));
    assign error_o[c] = answered && ((m_axi_bresp_i == 2'b10) || (m_axi_bresp_i == 2'b11));

`ifndef SYNTHESIS
    ResponseWasAsked_A : assert property (
      @(posedge clk_i) disable iff (!rst_ni) answered |-> pending_q != '0);
`endif
  end

`ifndef SYNTHESIS
  AddressStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (m_axi_awvalid_o && !m_axi_awready_i) |=>
    (m_axi_awvalid_o && $stable(m_axi_awaddr_o) && $stable(m_axi_awlen_o) && $stable(m_axi_awid_o)));
  DataStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (m_axi_wvalid_o && !m_axi_wready_i) |=>
    (m_axi_wvalid_o && $stable(m_axi_wdata_o) && $stable(m_axi_wstrb_o) && $stable(m_axi_wlast_o)));
  BurstInsideBlock_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    m_axi_awvalid_o |->
    (13'(m_axi_awaddr_o[11:0]) + ((13'(m_axi_awlen_o) + 13'd1) << $clog2(PortBytes)) <= 13'd4096));
`endif

endmodule
