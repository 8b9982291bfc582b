// The attention unit with the values at its block borders as outputs, for verification only. Reads
// them from inside by hierarchical reference; the unit itself is untouched.

module attention_unit_monitored #(
  parameter int          PortBytes        = 16,
  parameter int          TileKeys         = 16,
  parameter int          GroupHeads       = 4,
  parameter int          MaxHeadDimension = 64,
  parameter int          KeyLanes         = 16,
  parameter int          DigitLanes       = 1,
  parameter int          WeightLanes      = 4,
  parameter int          ScanLanes        = 4,
  parameter int          ValueLanes       = 8,
  parameter int          NormalizerLanes  = 4,
  parameter int          KeyBufferTiles   = 2,
  parameter int          RowBufferRows    = 4,
  parameter int          StashKib         = 4,
  parameter logic [63:0] ConfigHash       = 64'd0
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Memory.
  output logic [1:0]                        m_axi_arid_o,
  output logic [santa_pkg::AddressBits-1:0] m_axi_araddr_o,
  output logic [7:0]                        m_axi_arlen_o,
  output logic [2:0]                        m_axi_arsize_o,
  output logic [1:0]                        m_axi_arburst_o,
  output logic                              m_axi_arvalid_o,
  input  logic                              m_axi_arready_i,
  input  logic [1:0]                        m_axi_rid_i,
  input  logic [8*PortBytes-1:0]            m_axi_rdata_i,
  input  logic [1:0]                        m_axi_rresp_i,
  input  logic                              m_axi_rlast_i,
  input  logic                              m_axi_rvalid_i,
  output logic                              m_axi_rready_o,
  output logic [1:0]                        m_axi_awid_o,
  output logic [santa_pkg::AddressBits-1:0] m_axi_awaddr_o,
  output logic [7:0]                        m_axi_awlen_o,
  output logic [2:0]                        m_axi_awsize_o,
  output logic [1:0]                        m_axi_awburst_o,
  output logic                              m_axi_awvalid_o,
  input  logic                              m_axi_awready_i,
  output logic [8*PortBytes-1:0]            m_axi_wdata_o,
  output logic [PortBytes-1:0]              m_axi_wstrb_o,
  output logic                              m_axi_wlast_o,
  output logic                              m_axi_wvalid_o,
  input  logic                              m_axi_wready_i,
  input  logic [1:0]                        m_axi_bid_i,
  input  logic [1:0]                        m_axi_bresp_i,
  input  logic                              m_axi_bvalid_i,
  output logic                              m_axi_bready_o,
  // Registers.
  input  logic                              s_axil_awvalid_i,
  output logic                              s_axil_awready_o,
  input  logic [11:0]                       s_axil_awaddr_i,
  input  logic                              s_axil_wvalid_i,
  output logic                              s_axil_wready_o,
  input  logic [31:0]                       s_axil_wdata_i,
  input  logic [3:0]                        s_axil_wstrb_i,
  output logic                              s_axil_bvalid_o,
  input  logic                              s_axil_bready_i,
  output logic [1:0]                        s_axil_bresp_o,
  input  logic                              s_axil_arvalid_i,
  output logic                              s_axil_arready_o,
  input  logic [11:0]                       s_axil_araddr_i,
  output logic                              s_axil_rvalid_o,
  input  logic                              s_axil_rready_i,
  output logic [31:0]                       s_axil_rdata_o,
  output logic [1:0]                        s_axil_rresp_o,
  output logic                              irq_o,
  // Monitors (docs/rtl.md, "Monitors").
  output logic                              mon_coefficient_valid_o,
  output logic [7:0]                        mon_coefficient_feature_o,
  output logic [16*GroupHeads-1:0]          mon_coefficient_data_o,
  output logic                              mon_score_valid_o,
  output logic [32*GroupHeads*WeightLanes-1:0] mon_score_data_o,
  output logic                              mon_weight_valid_o,
  output logic [16*GroupHeads*WeightLanes-1:0] mon_weight_data_o,
  output logic                              mon_tile_valid_o,
  output logic [32*GroupHeads-1:0]          mon_tile_exponent_o,
  output logic [32*GroupHeads-1:0]          mon_tile_sum_o,
  output logic                              mon_draw_valid_o,
  output logic [2:0]                        mon_draw_head_o,
  output logic [31:0]                       mon_draw_exponent_o,
  output logic [63:0]                       mon_draw_mass_o,
  output logic [63:0]                       mon_draw_offset_o,
  output logic                              mon_row_valid_o,
  output logic [19:0]                       mon_row_key_o,
  output logic [16*GroupHeads-1:0]          mon_row_counts_o,
  output logic                              mon_value_valid_o,
  output logic [8*PortBytes-1:0]            mon_value_data_o,
  output logic                              mon_output_valid_o,
  output logic [2:0]                        mon_output_head_o,
  output logic [7:0]                        mon_output_feature_o,
  output logic [16*NormalizerLanes-1:0]     mon_output_data_o
);

  attention_unit #(
    .PortBytes       (PortBytes),
    .TileKeys        (TileKeys),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .KeyLanes        (KeyLanes),
    .DigitLanes      (DigitLanes),
    .WeightLanes     (WeightLanes),
    .ScanLanes       (ScanLanes),
    .ValueLanes      (ValueLanes),
    .NormalizerLanes (NormalizerLanes),
    .KeyBufferTiles  (KeyBufferTiles),
    .RowBufferRows   (RowBufferRows),
    .StashKib        (StashKib),
    .ConfigHash      (ConfigHash)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .m_axi_arid_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rid_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .m_axi_awid_o,
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bid_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .irq_o
  );

  // query_encoder
  assign mon_coefficient_valid_o   = u_unit.u_query_encoder.row_valid_q;
  assign mon_coefficient_feature_o = 8'(u_unit.u_query_encoder.row_feature_q);
  for (genvar h = 0; h < GroupHeads; h++) begin : gen_coefficient
    logic signed [santa_pkg::CoefficientBits-1:0] coefficient;
    assign coefficient = u_unit.u_query_encoder.row_q[h*santa_pkg::CoefficientBits +:
                                                      santa_pkg::CoefficientBits];
    assign mon_coefficient_data_o[16*h +: 16] = 16'(coefficient);
  end

  // ternary_gather, as the weight unit reads it
  logic [32*GroupHeads*WeightLanes-1:0] score_q;
  always_ff @(posedge clk_i) begin
    score_q <= u_unit.score;
  end
  assign mon_score_valid_o = u_unit.u_weight_unit.scale_valid_q[0];
  assign mon_score_data_o  = score_q;

  // weight_unit
  assign mon_weight_valid_o = u_unit.u_weight_unit.weigh_valid_q[2];
  assign mon_weight_data_o  = u_unit.u_weight_unit.weights_masked;
  assign mon_tile_valid_o   = u_unit.u_weight_unit.tile_done;
  for (genvar h = 0; h < GroupHeads; h++) begin : gen_tile
    logic signed [santa_pkg::ExponentBits-1:0] exponent;
    assign exponent = u_unit.u_weight_unit.tile_exponent[h*santa_pkg::ExponentBits +:
                                                         santa_pkg::ExponentBits];
    assign mon_tile_exponent_o[32*h +: 32] = 32'(exponent);
    assign mon_tile_sum_o[32*h +: 32] =
        32'(u_unit.u_weight_unit.tile_sum[h*santa_pkg::TileSumBits +: santa_pkg::TileSumBits]);
  end

  // systematic_sampler
  logic signed [santa_pkg::ExponentBits-1:0] head_exponent;
  assign head_exponent =
      u_unit.u_systematic_sampler.exponent_q[u_unit.u_systematic_sampler.head_q *
                                             santa_pkg::ExponentBits +: santa_pkg::ExponentBits];
  assign mon_draw_valid_o    = u_unit.u_systematic_sampler.accept;
  assign mon_draw_head_o     = 3'(u_unit.u_systematic_sampler.head_q);
  assign mon_draw_exponent_o = 32'(head_exponent);
  assign mon_draw_mass_o     = 64'(u_unit.u_systematic_sampler.total);
  assign mon_draw_offset_o   = 64'(u_unit.u_systematic_sampler.offset);

  assign mon_row_valid_o = u_unit.row_valid && u_unit.row_ready && !u_unit.row_last;
  assign mon_row_key_o   = u_unit.row_key;
  for (genvar h = 0; h < GroupHeads; h++) begin : gen_row
    assign mon_row_counts_o[16*h +: 16] =
        16'(u_unit.row_counts[h*santa_pkg::CountBits +: santa_pkg::CountBits]);
  end

  // value_gather
  assign mon_value_valid_o = u_unit.u_value_gather.word_pop;
  assign mon_value_data_o  = u_unit.u_value_gather.word_data;

  // normalizer
  assign mon_output_valid_o   = u_unit.u_normalizer.step;
  assign mon_output_head_o    = 3'(u_unit.u_normalizer.head_q);
  assign mon_output_feature_o = 8'(u_unit.u_normalizer.feature_q);
  assign mon_output_data_o    = u_unit.u_normalizer.outputs;

endmodule
