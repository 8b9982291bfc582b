// Read channels: an address is stable until memory takes it; every burst that a client handed over
// goes out once, in order, with its id, address and length; no two clients are taken at once, and a
// word goes to the client of its id, in the cycle in which it comes.

module axi_read_port_proof #(
  parameter int PortBytes = 16,
  localparam int Clients = 4
) (
  input logic                                      clk_i,
  input logic                                      rst_ni,
  input logic [Clients-1:0]                        burst_valid_i,
  input logic [Clients*santa_pkg::AddressBits-1:0] burst_address_i,
  input logic [Clients*9-1:0]                      burst_words_i,
  input logic                                      arready_i,
  input logic [1:0]                                rid_i,
  input logic [8*PortBytes-1:0]                    rdata_i,
  input logic [1:0]                                rresp_i,
  input logic                                      rlast_i,
  input logic                                      rvalid_i
);

  localparam int WordLog2 = $clog2(PortBytes);

  logic [Clients-1:0]                burst_ready, word_valid;
  logic [8*PortBytes-1:0]            word_data;
  logic                              word_error, word_last, arvalid, rready;
  logic [1:0]                        arid, arburst;
  logic [santa_pkg::AddressBits-1:0] araddr;
  logic [7:0]                        arlen;
  logic [2:0]                        arsize;

  axi_read_port #(
    .PortBytes(PortBytes)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .burst_valid_i,
    .burst_ready_o  (burst_ready),
    .burst_address_i,
    .burst_words_i,
    .word_valid_o   (word_valid),
    .word_data_o    (word_data),
    .word_error_o   (word_error),
    .word_last_o    (word_last),
    .m_axi_arid_o   (arid),
    .m_axi_araddr_o (araddr),
    .m_axi_arlen_o  (arlen),
    .m_axi_arsize_o (arsize),
    .m_axi_arburst_o(arburst),
    .m_axi_arvalid_o(arvalid),
    .m_axi_arready_i(arready_i),
    .m_axi_rid_i    (rid_i),
    .m_axi_rdata_i  (rdata_i),
    .m_axi_rresp_i  (rresp_i),
    .m_axi_rlast_i  (rlast_i),
    .m_axi_rvalid_i (rvalid_i),
    .m_axi_rready_o (rready)
  );

  // The burst that waits for memory, as its client handed it over.
  logic                              held_q;
  logic [1:0]                        id_q, taken_id;
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [8:0]                        words_q;
  logic [Clients-1:0]                taken;

  assign taken = burst_valid_i & burst_ready;

  always_comb begin
    taken_id = 2'd0;
    for (int c = 0; c < Clients; c++) if (taken[c]) taken_id = taken_id | 2'(c);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 1'b0;
    else if (taken != '0) held_q <= 1'b1;
    else if (arready_i) held_q <= 1'b0;
    if (taken != '0) begin
      id_q      <= taken_id;
      address_q <= burst_address_i[taken_id*santa_pkg::AddressBits +: santa_pkg::AddressBits];
      words_q   <= burst_words_i[taken_id*9 +: 9];
    end
  end

  logic                              waited_q;
  logic [1:0]                        waited_id_q;
  logic [santa_pkg::AddressBits-1:0] waited_address_q;
  logic [7:0]                        waited_length_q;

  always_ff @(posedge clk_i) begin
    waited_q         <= rst_ni && arvalid && !arready_i;
    waited_id_q      <= arid;
    waited_address_q <= araddr;
    waited_length_q  <= arlen;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    for (int c = 0; c < Clients; c++) begin
      assume (!burst_valid_i[c] || ((burst_words_i[c*9 +: 9] != 9'd0) &&
                                    (burst_words_i[c*9 +: 9] <= 9'd256)));
    end
    if (started_q) begin
      OneClient_A : assert ((taken & (taken - Clients'(1))) == '0);
      NoneDropped_A : assert ((taken == '0) || !held_q || arready_i);
      // Memory that takes addresses is never kept waiting by a client that has one.
      Taken_A : assert ((burst_valid_i == '0) || (held_q && !arready_i) || (taken != '0));
      Valid_A : assert (arvalid == held_q);
      if (held_q) begin
        Id_A : assert (arid == id_q);
        Address_A : assert (araddr == address_q);
        Length_A : assert (9'(arlen) + 9'd1 == words_q);
      end
      if (waited_q) begin
        Stable_A : assert (arvalid && (arid == waited_id_q) && (araddr == waited_address_q) &&
                           (arlen == waited_length_q));
      end
      Size_A : assert (arsize == 3'(WordLog2));
      Burst_A : assert (arburst == 2'b01);
      ReadReady_A : assert (rready);
      Word_A : assert (word_valid == (rvalid_i ? Clients'(1) << rid_i : Clients'(0)));
      Data_A : assert (!rvalid_i || ((word_data == rdata_i) && (word_last == rlast_i) &&
                                     (word_error == rresp_i[1])));
    end
  end

endmodule
