// Write channels: address and data are stable until memory takes them; a run's bursts add up to its
// words, each has as many data words as its address says with `last` on the last one, and none
// crosses a 4 KiB boundary; `idle` says exactly that a client's run and its responses are over.
//
// Memory answers a burst after it took its address and its last word, and at most 200 bursts of a
// client are without an answer.

module axi_write_port_proof #(
  parameter int PortBytes = 16,
  parameter int RunBits   = 16,
  localparam int Clients = 2
) (
  input logic                                      clk_i,
  input logic                                      rst_ni,
  input logic [Clients-1:0]                        run_valid_i,
  input logic [Clients*santa_pkg::AddressBits-1:0] run_address_i,
  input logic [Clients*RunBits-1:0]                run_words_i,
  input logic [Clients-1:0]                        word_valid_i,
  input logic [Clients*8*PortBytes-1:0]            word_data_i,
  input logic [Clients*PortBytes-1:0]              word_strobe_i,
  input logic                                      awready_i,
  input logic                                      wready_i,
  input logic [1:0]                                bid_i,
  input logic [1:0]                                bresp_i,
  input logic                                      bvalid_i
);

  localparam int WordLog2 = $clog2(PortBytes);

  logic [Clients-1:0]                run_ready, word_ready, idle, error;
  logic [1:0]                        awid, awburst;
  logic [santa_pkg::AddressBits-1:0] awaddr;
  logic [7:0]                        awlen;
  logic [2:0]                        awsize;
  logic                              awvalid, wlast, wvalid, bready;
  logic [8*PortBytes-1:0]            wdata;
  logic [PortBytes-1:0]              wstrb;

  axi_write_port #(
    .PortBytes(PortBytes),
    .RunBits  (RunBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .run_valid_i,
    .run_ready_o    (run_ready),
    .run_address_i,
    .run_words_i,
    .word_valid_i,
    .word_ready_o   (word_ready),
    .word_data_i,
    .word_strobe_i,
    .idle_o         (idle),
    .error_o        (error),
    .m_axi_awid_o   (awid),
    .m_axi_awaddr_o (awaddr),
    .m_axi_awlen_o  (awlen),
    .m_axi_awsize_o (awsize),
    .m_axi_awburst_o(awburst),
    .m_axi_awvalid_o(awvalid),
    .m_axi_awready_i(awready_i),
    .m_axi_wdata_o  (wdata),
    .m_axi_wstrb_o  (wstrb),
    .m_axi_wlast_o  (wlast),
    .m_axi_wvalid_o (wvalid),
    .m_axi_wready_i (wready_i),
    .m_axi_bid_i    (bid_i),
    .m_axi_bresp_i  (bresp_i),
    .m_axi_bvalid_i (bvalid_i),
    .m_axi_bready_o (bready)
  );

  (* hierconn *) wire               \u_dut.state_q ;
  (* hierconn *) wire               \u_dut.client_q ;
  (* hierconn *) wire               \u_dut.address_sent_q ;
  (* hierconn *) wire               \u_dut.words_sent_q ;
  (* hierconn *) wire [8:0]         \u_dut.word_q ;
  (* hierconn *) wire               \u_dut.u_splitter.active_q ;
  (* hierconn *) wire [RunBits-1:0] \u_dut.u_splitter.words_q ;
  (* hierconn *) wire [santa_pkg::AddressBits-1:0] \u_dut.u_splitter.address_q ;
  (* hierconn *) wire [7:0] \u_dut.gen_pending[0].pending_q ;
  (* hierconn *) wire [7:0] \u_dut.gen_pending[1].pending_q ;

  // --- a run, seen from memory -----------------------------------------------------------------

  logic                              active_q, client_q, taken_client;
  logic [RunBits-1:0]                words_left_q;    // that memory has not taken
  logic [RunBits-1:0]                lengths_left_q;  // that no address covers yet
  logic [santa_pkg::AddressBits-1:0] next_address_q;
  logic                              address_taken, word_taken;
  logic [Clients-1:0]                taken;
  logic [8:0]                        ahead_q;  // words of the burst at hand
  logic                              burst_address_q, burst_words_q;  // its address, its words sent
  logic                              burst_over;
  logic [7:0]                        pending_q [Clients];

  assign taken         = run_valid_i & run_ready;
  assign taken_client  = taken[1];
  assign address_taken = awvalid && awready_i;
  assign word_taken    = wvalid && wready_i;
  assign burst_over    = (burst_address_q || address_taken) &&
                         (burst_words_q || (word_taken && wlast));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q        <= 1'b0;
      words_left_q    <= '0;
      lengths_left_q  <= '0;
      ahead_q         <= 9'd0;
      burst_address_q <= 1'b0;
      burst_words_q   <= 1'b0;
    end else begin
      if (taken != '0) begin
        active_q       <= 1'b1;
        client_q       <= taken_client;
        words_left_q   <= run_words_i[taken_client*RunBits +: RunBits];
        lengths_left_q <= run_words_i[taken_client*RunBits +: RunBits];
        next_address_q <=
            run_address_i[taken_client*santa_pkg::AddressBits +: santa_pkg::AddressBits];
      end else begin
        if (word_taken) words_left_q <= words_left_q - RunBits'(1);
        if (address_taken) begin
          lengths_left_q <= lengths_left_q - RunBits'(awlen) - RunBits'(1);
          next_address_q <= next_address_q + ((santa_pkg::AddressBits'(awlen) + 64'd1) << WordLog2);
        end
        if (burst_over && (words_left_q == RunBits'(word_taken)) &&
            (lengths_left_q == (address_taken ? RunBits'(awlen) + RunBits'(1) : '0))) begin
          active_q <= 1'b0;
        end
      end
      if (burst_over) begin
        ahead_q         <= 9'd0;
        burst_address_q <= 1'b0;
        burst_words_q   <= 1'b0;
      end else begin
        if (word_taken) ahead_q <= ahead_q + 9'd1;
        if (address_taken) burst_address_q <= 1'b1;
        if (word_taken && wlast) burst_words_q <= 1'b1;
      end
    end
  end

  for (genvar c = 0; c < Clients; c++) begin : gen_pending
    logic answered, over;
    assign answered = bvalid_i && (bid_i == 2'(c));
    assign over     = burst_over && (client_q == 1'(c));
    always_ff @(posedge clk_i) begin
      if (!rst_ni) pending_q[c] <= 8'd0;
      else pending_q[c] <= pending_q[c] + 8'(over) - 8'(answered);
    end
    always_comb begin
      assume (!answered || (pending_q[c] != 8'd0));
      assume (pending_q[c] <= 8'd200);
      if (started_q) begin
        assert (idle[c] == ((pending_q[c] == 8'd0) && !(active_q && (client_q == 1'(c)))));
        assert (error[c] == (answered && bresp_i[1]));
      end
    end
  end

  // --- what was shown in the cycle before --------------------------------------------------------

  logic                              aw_waited_q, w_waited_q;
  logic [1:0]                        waited_id_q;
  logic [santa_pkg::AddressBits-1:0] waited_address_q;
  logic [7:0]                        waited_length_q;
  logic [8*PortBytes-1:0]            waited_data_q;
  logic [PortBytes-1:0]              waited_strobe_q;
  logic                              waited_last_q;
  logic [Clients-1:0]                word_waited_q;
  logic [Clients*8*PortBytes-1:0]    word_data_q;
  logic [Clients*PortBytes-1:0]      word_strobe_q;

  always_ff @(posedge clk_i) begin
    aw_waited_q      <= rst_ni && awvalid && !awready_i;
    w_waited_q       <= rst_ni && wvalid && !wready_i;
    waited_id_q      <= awid;
    waited_address_q <= awaddr;
    waited_length_q  <= awlen;
    waited_data_q    <= wdata;
    waited_strobe_q  <= wstrb;
    waited_last_q    <= wlast;
    word_waited_q    <= word_valid_i & ~word_ready & {Clients{rst_ni}};
    word_data_q      <= word_data_i;
    word_strobe_q    <= word_strobe_i;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [13:0] burst_end;
  assign burst_end = 14'(awaddr[11:0]) + ((14'(awlen) + 14'd1) << WordLog2);

  always_comb begin
    assume (bid_i < 2'(Clients));
    for (int c = 0; c < Clients; c++) begin
      assume (!run_valid_i[c] || ((run_words_i[c*RunBits +: RunBits] != '0) &&
              (run_address_i[c*santa_pkg::AddressBits +: WordLog2] == '0)));
      // A client keeps a word until it is taken.
      assume (!started_q || !word_waited_q[c] || (word_valid_i[c] &&
              (word_data_i[c*8*PortBytes +: 8*PortBytes] ==
               word_data_q[c*8*PortBytes +: 8*PortBytes]) &&
              (word_strobe_i[c*PortBytes +: PortBytes] ==
               word_strobe_q[c*PortBytes +: PortBytes])));
    end
    if (started_q) begin
      OneClient_A : assert (taken != '1);
      OneRun_A : assert ((taken == '0) || !active_q);
      if (aw_waited_q) begin
        AddressStable_A : assert (awvalid && (awid == waited_id_q) &&
                                  (awaddr == waited_address_q) && (awlen == waited_length_q));
      end
      if (w_waited_q) begin
        DataStable_A : assert (wvalid && (wdata == waited_data_q) && (wstrb == waited_strobe_q) &&
                               (wlast == waited_last_q));
      end
      if (awvalid) begin
        InRun_A : assert (active_q && (awid == 2'(client_q)));
        Address_A : assert (awaddr == next_address_q);
        Block_A : assert (burst_end <= 14'd4096);
        AddsUp_A : assert (RunBits'(awlen) + RunBits'(1) <= lengths_left_q);
      end
      if (wvalid) begin
        WordInRun_A : assert (active_q && (words_left_q != '0) && word_valid_i[client_q]);
        // As many words as the burst's address says, whichever goes first.
        Last_A : assert (wlast == (ahead_q == 9'(awlen)));
        Data_A : assert ((wdata == word_data_i[client_q*8*PortBytes +: 8*PortBytes]) &&
                         (wstrb == word_strobe_i[client_q*PortBytes +: PortBytes]));
      end
      WordTaken_A : assert ((word_valid_i & word_ready) ==
                            (word_taken ? Clients'(1) << client_q : Clients'(0)));
      Constant_A : assert ((awsize == 3'(WordLog2)) && (awburst == 2'b01) && bready);
      // A run at hand always shows an address or a word that it has.
      Moves_A : assert (!active_q || awvalid || wvalid || !word_valid_i[client_q]);

      // Induction.
      State_A : assert ((\u_dut.state_q == active_q) && (\u_dut.u_splitter.active_q == active_q));
      Sent_A : assert ((\u_dut.address_sent_q == burst_address_q) &&
                       (\u_dut.words_sent_q == burst_words_q) && (\u_dut.word_q == ahead_q));
      NotBoth_A : assert (!(burst_address_q && burst_words_q));
      Quiet_A : assert (active_q || (!burst_address_q && !burst_words_q && (ahead_q == 9'd0)));
      Pending_A : assert ((\u_dut.gen_pending[0].pending_q == pending_q[0]) &&
                          (\u_dut.gen_pending[1].pending_q == pending_q[1]));
      if (active_q) begin
        Client_A : assert (\u_dut.client_q == client_q);
        Left_A : assert (words_left_q + RunBits'(ahead_q) == \u_dut.u_splitter.words_q );
        NotEmpty_A : assert (\u_dut.u_splitter.words_q != '0);
        Ahead_A : assert (ahead_q <= 9'(awlen) + 9'(burst_words_q));
        AheadAll_A : assert (!burst_words_q || (ahead_q == 9'(awlen) + 9'd1));
        Lengths_A : assert (lengths_left_q + (burst_address_q ? RunBits'(awlen) + RunBits'(1) : '0)
                            == \u_dut.u_splitter.words_q );
        NextAddress_A : assert (next_address_q == \u_dut.u_splitter.address_q +
                                (burst_address_q ?
                                 ((santa_pkg::AddressBits'(awlen) + 64'd1) << WordLog2) : 64'd0));
        SplitterAligned_A : assert (\u_dut.u_splitter.address_q [WordLog2-1:0] == '0);
        BurstFits_A : assert (RunBits'(awlen) < \u_dut.u_splitter.words_q );
      end
    end
  end

endmodule
