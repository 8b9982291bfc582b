// Sampler of a head, whatever its neighbours do: it draws at most S times after an offset was loaded,
// none at all with a total of 0, and a drawn key is one key.

module sampler_lane_proof #(
  parameter int ScanLanes = 4
) (
  input logic                                       clk_i,
  input logic                                       on_i,
  input logic [santa_pkg::ExponentBits-1:0]         head_exponent_i,
  input logic [santa_pkg::ExponentBits-1:0]         tile_exponent_i,
  input logic [santa_pkg::TileSumBits-1:0]          tile_sum_i,
  input logic                                       mass_load_i,
  input logic                                       clear_i,
  input logic                                       total_add_i,
  input logic [santa_pkg::SamplesLog2Bits-1:0]      samples_log2_i,
  input logic                                       offset_load_i,
  input logic [santa_pkg::MassBits-1:0]             offset_i,
  input logic                                       enter_i,
  input logic                                       pass_i,
  input logic                                       chunk_first_i,
  input logic                                       chunk_load_i,
  input logic [ScanLanes*santa_pkg::WeightBits-1:0] weights_i,
  input logic                                       chunk_valid_i
);

  logic [santa_pkg::MassBits-1:0] total;
  logic                           falls, hit;
  logic [ScanLanes-1:0]           key;

  sampler_lane #(
    .ScanLanes(ScanLanes)
  ) u_dut (
    .clk_i,
    .on_i,
    .head_exponent_i,
    .tile_exponent_i,
    .tile_sum_i,
    .mass_load_i,
    .clear_i,
    .total_add_i,
    .total_o       (total),
    .samples_log2_i,
    .offset_load_i,
    .offset_i,
    .enter_i,
    .pass_i,
    .falls_o       (falls),
    .chunk_first_i,
    .chunk_load_i,
    .weights_i,
    .chunk_valid_i,
    .hit_o         (hit),
    .key_o         (key)
  );

  (* hierconn *) wire [santa_pkg::CountBits-1:0]         \u_dut.left_q ;
  (* hierconn *) wire [ScanLanes*santa_pkg::TileSumBits-1:0] \u_dut.cumulative_q ;

  // Draws since the offset, the samples of the request, and whether it had a total.
  logic        loaded_q = 1'b0, empty_q;
  logic        chunk_loaded_q = 1'b0;
  logic [13:0] draws_q, samples_q;

  always_ff @(posedge clk_i) begin
    if (offset_load_i) begin
      loaded_q  <= 1'b1;
      empty_q   <= total == '0;
      draws_q   <= 14'd0;
      samples_q <= 14'd1 << samples_log2_i;
    end else if (hit) begin
      draws_q <= draws_q + 14'd1;
    end
    if (chunk_load_i) chunk_loaded_q <= 1'b1;
  end

  // A tile has at most 1024 keys of 65,535: its cumulative weights stay within their 26 bits.
  logic [santa_pkg::TileSumBits-1:0] base;
  assign base = \u_dut.cumulative_q [(ScanLanes-1)*santa_pkg::TileSumBits +: santa_pkg::TileSumBits];

  always_comb begin
    assume (samples_log2_i <= 4'd12);
    assume (!offset_load_i || !hit);  // the unit loads offsets before it scans
    assume (!chunk_load_i || chunk_first_i || (base < 26'h3F00000));
    if (loaded_q) begin
      AtMostS_A : assert (draws_q <= samples_q);
      NoneOfNothing_A : assert (!empty_q || (draws_q == 14'd0));
      HitFalls_A : assert (!hit || (falls && on_i && chunk_valid_i));
      Left_A : assert (14'(\u_dut.left_q ) + draws_q == (empty_q ? 14'd0 : samples_q));
      Samples_A : assert ((samples_q != 14'd0) && (samples_q <= 14'd4096));
      if (chunk_loaded_q) begin
        OneKey_A : assert ((key & (key - ScanLanes'(1))) == '0);
        DrawnKey_A : assert (!hit || (key != '0));
      end
    end
  end

  for (genvar l = 1; l < ScanLanes; l++) begin : gen_order
    always_comb begin
      if (chunk_loaded_q) begin
        assert (\u_dut.cumulative_q [l*santa_pkg::TileSumBits +: santa_pkg::TileSumBits] >=
                \u_dut.cumulative_q [(l-1)*santa_pkg::TileSumBits +: santa_pkg::TileSumBits]);
      end
    end
  end

endmodule
