// Takes the lowest Lanes signed digits off a coefficient or count and says what is left.
// Combinational.

module digit_select #(
  parameter int Lanes = 1
) (
  input  logic [santa_pkg::DigitPlanes-1:0]     plus_i,
  input  logic [santa_pkg::DigitPlanes-1:0]     minus_i,
  output logic [Lanes-1:0]                      valid_o,
  output logic [Lanes-1:0]                      negative_o,
  output logic [Lanes*santa_pkg::PlaneBits-1:0] plane_o,
  output logic [santa_pkg::DigitPlanes-1:0]     plus_left_o,
  output logic [santa_pkg::DigitPlanes-1:0]     minus_left_o
);

  for (genvar k = 0; k < Lanes; k++) begin : gen_digit
    logic [santa_pkg::DigitPlanes-1:0] digits, digit, rest;

    if (k == 0) begin : gen_first
      assign digits = plus_i | minus_i;
    end else begin : gen_next
      assign digits = gen_digit[k-1].rest;
    end
    assign digit         = santa_pkg::lowest_digit(digits);
    assign rest          = digits & ~digit;
    assign valid_o[k]    = |digits;
    assign negative_o[k] = |(digit & minus_i);
    assign plane_o[k*santa_pkg::PlaneBits +: santa_pkg::PlaneBits] = santa_pkg::plane_of(digit);
  end

  assign plus_left_o  = plus_i & gen_digit[Lanes-1].rest;
  assign minus_left_o = minus_i & gen_digit[Lanes-1].rest;

endmodule
