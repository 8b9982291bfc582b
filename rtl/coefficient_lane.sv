// One operand to one coefficient (docs/numerics.md, section 2): rounding to nearest, one stratified
// Bernoulli draw, or the group's shared count times a random power of two. Combinational.

module coefficient_lane (
  input  logic [1:0]                                   scheme_i,
  input  logic                                         is_shared_i,  // the group scheme's first slot
  /* verilator lint_off UNUSEDSIGNAL */  // reserved bits
  input  logic [31:0]                                  operand_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [santa_pkg::LaneBits-1:0]               random_i,
  input  logic [8:0]                                   shared_i,     // count of the shared operand
  output logic [8:0]                                   count_o,
  output logic signed [santa_pkg::CoefficientBits-1:0] coefficient_o
);

  localparam int MagnitudeBits = santa_pkg::CoefficientBits - 1;

  logic [santa_pkg::LaneBits-1:0]  rounding;
  /* verilator lint_off UNUSEDSIGNAL */  // the fraction is what is rounded away
  logic [santa_pkg::MagnitudeBits:0] sum;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                            upper, negative;
  logic [3:0]                      power, shift;
  logic [MagnitudeBits-1:0]        magnitude, shared_power;

  assign rounding = (scheme_i == santa_pkg::ScoresExact) ? 16'h8000 : random_i;
  assign sum      = {1'b0, operand_i[santa_pkg::MagnitudeBits-1:0]} +
                    (santa_pkg::MagnitudeBits + 1)'(rounding);
  assign count_o  = sum[santa_pkg::MagnitudeBits:santa_pkg::LaneBits];

  // Ratio between two neighbouring powers of two: the upper one with the given probability.
  assign upper        = random_i < operand_i[15:0];
  assign power        = operand_i[19:16];
  assign shift        = (power == 4'd0) ? 4'd0 : power - (upper ? 4'd0 : 4'd1);
  assign shared_power = MagnitudeBits'(shared_i) << shift;

  always_comb begin
    magnitude = MagnitudeBits'(count_o);
    if (scheme_i == santa_pkg::ScoresGroup) begin
      magnitude = ((power == 4'd0) && !upper) ? '0 : shared_power;
    end
    if (is_shared_i) magnitude = '0;
  end

  assign negative      = operand_i[31];
  assign coefficient_o = negative ? -$signed({1'b0, magnitude}) : $signed({1'b0, magnitude});

endmodule
