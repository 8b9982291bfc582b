// Sampler of one query head: its total mass, its offset, and the walk of its threshold over tiles
// and keys (docs/numerics.md, section 6). No division: a threshold and its distance from the tile's
// start advance together, each by an addition.

module sampler_lane #(
  parameter int ScanLanes = 4
) (
  input  logic                                        clk_i,
  input  logic                                        on_i,            // the head is in the group
  // Statistics of the next tile, and the head's exponent M.
  input  logic [santa_pkg::ExponentBits-1:0]          head_exponent_i,
  input  logic [santa_pkg::ExponentBits-1:0]          tile_exponent_i,
  input  logic [santa_pkg::TileSumBits-1:0]           tile_sum_i,
  input  logic                                        mass_load_i,     // becomes the tile at hand
  // Total.
  input  logic                                        clear_i,
  input  logic                                        total_add_i,     // the tile at hand
  output logic [santa_pkg::MassBits-1:0]              total_o,
  // Walk.
  input  logic [santa_pkg::SamplesLog2Bits-1:0]       samples_log2_i,
  input  logic                                        offset_load_i,
  input  logic [santa_pkg::MassBits-1:0]              offset_i,
  input  logic                                        enter_i,         // scan the tile at hand
  input  logic                                        pass_i,          // leave it
  output logic                                        falls_o,         // its threshold falls into it
  // Keys: cumulative weights of a chunk of the tile.
  input  logic                                        chunk_first_i,
  input  logic                                        chunk_load_i,
  input  logic [ScanLanes*santa_pkg::WeightBits-1:0]  weights_i,
  input  logic                                        chunk_valid_i,
  output logic                                        hit_o,           // a key of the chunk is drawn
  output logic [ScanLanes-1:0]                        key_o            // which: one bit
);

  localparam int SumBits       = santa_pkg::TileSumBits;
  localparam int MassBits      = santa_pkg::MassBits;
  localparam int ThresholdBits = santa_pkg::ThresholdBits;
  localparam int ResidualBits  = santa_pkg::ResidualBits;

  // --- mass of the tile at hand --------------------------------------------------------------

  logic [santa_pkg::ExponentBits-1:0] below;
  logic [santa_pkg::DistanceBits-1:0] distance, distance_q;
  logic [santa_pkg::TileMassBits-1:0] mass_q;

  assign below    = head_exponent_i - tile_exponent_i;
  assign distance = (below > santa_pkg::ExponentBits'(63)) ? santa_pkg::DistanceBits'(63)
                                                           : below[santa_pkg::DistanceBits-1:0];

  always_ff @(posedge clk_i) begin
    if (mass_load_i) begin
      mass_q     <= {tile_sum_i, santa_pkg::MassGuardBits'(0)} >> distance;
      distance_q <= distance;
    end
  end

  // --- totals, thresholds --------------------------------------------------------------------

  logic [MassBits-1:0]      total_q, prefix_q, prefix_next;
  logic [ThresholdBits-1:0] threshold_q, tile_begin, tile_end;
  logic [ResidualBits-1:0]  residual_q, step_q;
  logic [santa_pkg::CountBits-1:0] left_q;  // samples to draw

  assign prefix_next = prefix_q + MassBits'(mass_q);
  assign tile_begin  = ThresholdBits'(prefix_q) << samples_log2_i;
  assign tile_end    = ThresholdBits'(prefix_next) << samples_log2_i;
  assign falls_o     = on_i && (left_q != '0) && (threshold_q < tile_end);
  assign total_o     = total_q;

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      total_q  <= '0;
      prefix_q <= '0;
    end else begin
      if (total_add_i) total_q <= total_q + MassBits'(mass_q);
      if (pass_i) prefix_q <= prefix_next;
    end
  end

  // At the tile's own scale a threshold in it lies below 2^46; others may wrap, nobody looks.
  always_ff @(posedge clk_i) begin
    if (offset_load_i) begin
      threshold_q <= ThresholdBits'(offset_i);
      left_q      <= (total_q == '0) ? '0 : santa_pkg::CountBits'(1) << samples_log2_i;
    end else if (hit_o) begin
      threshold_q <= threshold_q + ThresholdBits'(total_q);
      left_q      <= left_q - santa_pkg::CountBits'(1);
    end
    if (enter_i) begin
      residual_q <= ResidualBits'(threshold_q - tile_begin) << distance_q;
      step_q     <= ResidualBits'(total_q) << distance_q;
    end else if (hit_o) begin
      residual_q <= residual_q + step_q;
    end
  end

  // --- keys ----------------------------------------------------------------------------------

  logic [SumBits-1:0]           base, position;
  logic [ScanLanes*SumBits-1:0] cumulative_q;
  logic [ScanLanes-1:0]         beyond;  // the threshold lies beyond the key

  assign base = chunk_first_i ? '0 : cumulative_q[(ScanLanes-1)*SumBits +: SumBits];

  for (genvar l = 0; l < ScanLanes; l++) begin : gen_key
    logic [SumBits-1:0] sum;
    if (l == 0) begin : gen_first
      assign sum = base + SumBits'(weights_i[santa_pkg::WeightBits-1:0]);
    end else begin : gen_next
      assign sum = gen_key[l-1].sum +
                   SumBits'(weights_i[l*santa_pkg::WeightBits +: santa_pkg::WeightBits]);
    end
    always_ff @(posedge clk_i) begin
      if (chunk_load_i) cumulative_q[l*SumBits +: SumBits] <= sum;
    end

    assign beyond[l] = position >= cumulative_q[l*SumBits +: SumBits];
    if (l == 0) begin : gen_first_key
      assign key_o[l] = !beyond[l];
    end else begin : gen_next_key
      assign key_o[l] = !beyond[l] && beyond[l-1];
    end
  end

  // residual < C << (8 + s) just when residual >> (8 + s) < C.
  assign position = SumBits'(residual_q >> (5'(santa_pkg::MassGuardBits) + 5'(samples_log2_i)));
  assign hit_o    = chunk_valid_i && falls_o && !beyond[ScanLanes-1];

endmodule
