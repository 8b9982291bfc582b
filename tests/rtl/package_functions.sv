// The functions of santa_pkg as ports, for tests.

module package_functions (
  input  logic [santa_pkg::DigitPlanes-1:0]   value_i,
  input  logic [santa_pkg::DimensionBits-1:0] dimension_i,
  output logic [santa_pkg::DigitPlanes-1:0]   plus_o,
  output logic [santa_pkg::DigitPlanes-1:0]   minus_o,
  output logic [3:0]                          count_o,
  output logic [santa_pkg::DigitPlanes-1:0]   lowest_o,
  output logic [santa_pkg::PlaneBits-1:0]     plane_o,
  output logic [3:0]                          log2_o
);

  assign plus_o   = santa_pkg::plus_digits(value_i);
  assign minus_o  = santa_pkg::minus_digits(value_i);
  assign count_o  = santa_pkg::digit_count(plus_o | minus_o);
  assign lowest_o = santa_pkg::lowest_digit(value_i);
  assign plane_o  = santa_pkg::plane_of(lowest_o);
  assign log2_o   = santa_pkg::log2_ceil(dimension_i);

endmodule
