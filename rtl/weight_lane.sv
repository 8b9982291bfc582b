// One key of one head on its way to a weight (docs/numerics.md, sections 4 and 5), two pipelines of
// three registers behind one input register:
//   score_i -> | three terms of kappa -> | shift and round -> | scaled_o     (scale)
//   score_i -> | table and distance   -> | shift and round -> | weight_o     (exponential)

module weight_lane (
  input  logic                                      clk_i,
  input  logic [santa_pkg::ScoreBits-1:0]           score_i,     // accumulator or scaled score
  input  logic [santa_pkg::ScaleBits-1:0]           scale_i,     // scale_t
  input  logic [santa_pkg::ExponentBits-1:0]        exponent_i,  // m, above every score of the tile
  output logic signed [santa_pkg::ScoreBits-1:0]    scaled_o,
  output logic [santa_pkg::WeightBits-1:0]          weight_o
);

  localparam int ScaledBits = santa_pkg::ScaledBits;
  localparam int WideBits   = ScaledBits + 10;  // shifted left by up to 10

  logic signed [santa_pkg::ScoreBits-1:0] score_q;

  always_ff @(posedge clk_i) begin
    score_q <= score_i;
  end

  // --- scale ---------------------------------------------------------------------------------

  logic [1:0]                    sign_a, sign_b;
  logic [2:0]                    shift_a, shift_b;
  logic signed [7:0]             exponent;
  logic signed [ScaledBits-1:0]  whole, term_a, term_b, sum, sum_q;
  logic signed [7:0]             shift;
  logic [4:0]                    right;
  logic [3:0]                    left;
  logic signed [ScaledBits:0]    rounded;
  logic signed [WideBits-1:0]    wide;
  logic signed [santa_pkg::ScoreBits-1:0] scaled_q;

  assign {sign_b, shift_b, sign_a, shift_a, exponent} = scale_i;

  assign whole  = ScaledBits'(score_q) <<< 6;
  assign term_a = whole >>> shift_a;  // exact: the shift is at most 6
  assign term_b = whole >>> shift_b;

  always_comb begin
    sum = whole;
    if (sign_a == 2'd1) sum = sum + term_a;
    if (sign_a == 2'd2) sum = sum - term_a;
    if (sign_b == 2'd1) sum = sum + term_b;
    if (sign_b == 2'd2) sum = sum - term_b;
  end

  // x has 8 fraction bits, the sum 6 more than the accumulator: shift right by exponent - 2.
  assign shift   = exponent - 8'sd2;
  assign right   = shift[7] ? 5'd0 : shift[4:0];
  assign left    = shift[7] ? 4'(-shift) : 4'd0;
  assign rounded = (right == 5'd0) ? (ScaledBits + 1)'(sum_q)
                   : ((ScaledBits + 1)'(sum_q) +
                      $signed((ScaledBits + 1)'(1) << (right - 5'd1))) >>> right;
  assign wide    = WideBits'(rounded) <<< left;

  always_ff @(posedge clk_i) begin
    sum_q    <= sum;
    scaled_q <= wide[santa_pkg::ScoreBits-1:0];
  end

  assign scaled_o = scaled_q;

  logic unused_wide;
  assign unused_wide = ^wide[WideBits-1:santa_pkg::ScoreBits];

  // --- exponential ---------------------------------------------------------------------------

  localparam int FractionBits = santa_pkg::ScoreFractionBits;

  logic [santa_pkg::WeightBits-1:0]   entry, entry_q, weight_q;
  logic [santa_pkg::ExponentBits-1:0] whole_score, distance;
  logic [4:0]                         distance_q;
  logic [santa_pkg::WeightBits+1:0]   half, sum_weight;

  exponential_table u_table (
    .fraction_i(score_q[FractionBits-1:0]),
    .entry_o   (entry)
  );

  // Octaves between the score and the one below the exponent; a weight vanishes beyond 17.
  assign whole_score = score_q[santa_pkg::ScoreBits-1:FractionBits];
  assign distance    = exponent_i - santa_pkg::ExponentBits'(1) - whole_score;

  assign half       = (distance_q == 5'd0) ? '0
                      : (santa_pkg::WeightBits + 2)'(1) << (distance_q - 5'd1);
  assign sum_weight = ({2'b00, entry_q} + half) >> distance_q;

  always_ff @(posedge clk_i) begin
    entry_q    <= entry;
    distance_q <= (distance > santa_pkg::ExponentBits'(17)) ? 5'd18 : distance[4:0];
    weight_q   <= (distance_q == 5'd18) ? '0 : sum_weight[santa_pkg::WeightBits-1:0];
  end

  assign weight_o = weight_q;

  logic unused_sum;
  assign unused_sum = ^sum_weight[santa_pkg::WeightBits+1:santa_pkg::WeightBits];

endmodule
