// AXI4 read channels, shared by four clients that are told apart by their ids (read_id_e). Fixed
// priority, small and urgent first: scratch, values, request, keys. Each client has reserved room
// for what it asks for, so read data is never held up.

module axi_read_port #(
  parameter int PortBytes = 16,
  localparam int Clients = 4
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  input  logic [Clients-1:0]                        burst_valid_i,
  output logic [Clients-1:0]                        burst_ready_o,
  input  logic [Clients*santa_pkg::AddressBits-1:0] burst_address_i,
  input  logic [Clients*9-1:0]                      burst_words_i,    // 1..256
  output logic [Clients-1:0]                        word_valid_o,
  output logic [8*PortBytes-1:0]                    word_data_o,
  output logic                                      word_error_o,
  output logic                                      word_last_o,      // of a burst
  output logic [1:0]                                m_axi_arid_o,
  output logic [santa_pkg::AddressBits-1:0]         m_axi_araddr_o,
  output logic [7:0]                                m_axi_arlen_o,
  output logic [2:0]                                m_axi_arsize_o,
  output logic [1:0]                                m_axi_arburst_o,
  output logic                                      m_axi_arvalid_o,
  input  logic                                      m_axi_arready_i,
  input  logic [1:0]                                m_axi_rid_i,
  input  logic [8*PortBytes-1:0]                    m_axi_rdata_i,
  input  logic [1:0]                                m_axi_rresp_i,
  input  logic                                      m_axi_rlast_i,
  input  logic                                      m_axi_rvalid_i,
  output logic                                      m_axi_rready_o
);

  logic                              valid_q;
  logic [1:0]                        id_q, winner;
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [7:0]                        length_q;
  logic                              load;

  always_comb begin
    winner = santa_pkg::ReadIdKey;
    if (burst_valid_i[santa_pkg::ReadIdRequest]) winner = santa_pkg::ReadIdRequest;
    if (burst_valid_i[santa_pkg::ReadIdValue]) winner = santa_pkg::ReadIdValue;
    if (burst_valid_i[santa_pkg::ReadIdScratch]) winner = santa_pkg::ReadIdScratch;
  end

  assign load = !valid_q || m_axi_arready_i;

  always_comb begin
    burst_ready_o         = '0;
    burst_ready_o[winner] = load;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (load) begin
      valid_q <= |burst_valid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      id_q      <= winner;
      address_q <= burst_address_i[winner*santa_pkg::AddressBits +: santa_pkg::AddressBits];
      length_q  <= 8'(burst_words_i[winner*9 +: 9] - 9'd1);
    end
  end

  assign m_axi_arid_o    = id_q;
  assign m_axi_araddr_o  = address_q;
  assign m_axi_arlen_o   = length_q;
  assign m_axi_arsize_o  = 3'($clog2(PortBytes));
  assign m_axi_arburst_o = 2'b01;
  assign m_axi_arvalid_o = valid_q;
  assign m_axi_rready_o  = 1'b1;

  always_comb begin
    word_valid_o              = '0;
    word_valid_o[m_axi_rid_i] = m_axi_rvalid_i;
  end
  assign word_data_o  = m_axi_rdata_i;
  assign word_error_o = (m_axi_rresp_i == 2'b10) || (m_axi_rresp_i == 2'b11);  // SLVERR, DECERR
  assign word_last_o  = m_axi_rlast_i;

`ifndef SYNTHESIS
  AddressStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (m_axi_arvalid_o && !m_axi_arready_i) |=>
    (m_axi_arvalid_o && $stable(m_axi_araddr_o) && $stable(m_axi_arlen_o) && $stable(m_axi_arid_o)));
  BurstInsideBlock_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    m_axi_arvalid_o |->
    (13'(m_axi_araddr_o[11:0]) + ((13'(m_axi_arlen_o) + 13'd1) << $clog2(PortBytes)) <= 13'd4096));
  AddressAligned_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    m_axi_arvalid_o |-> (m_axi_araddr_o[$clog2(PortBytes)-1:0] == '0));
`endif

endmodule
