// One feature lane of one query head: its sums, one for each word of ValueLanes features. Adds or
// subtracts the value shifted by one digit's plane.

module value_lane #(
  parameter int Words = 4,
  localparam int WordBits = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                            clk_i,
  input  logic                            add_i,
  input  logic                            first_i,      // the word starts from 0
  input  logic [WordBits-1:0]             word_i,
  input  logic [7:0]                      value_i,      // signed
  input  logic                            valid_i,
  input  logic                            negative_i,
  input  logic [santa_pkg::PlaneBits-1:0] plane_i,
  input  logic [WordBits-1:0]             sum_word_i,
  output logic [santa_pkg::SumBits-1:0]   sum_o
);

  /* verilator no_inline_module */

  logic signed [santa_pkg::SumBits-1:0] sum_q [Words];
  logic signed [santa_pkg::SumBits-1:0] sum, value;

  assign value = santa_pkg::SumBits'($signed(value_i)) <<< plane_i;

  always_comb begin
    sum = first_i ? '0 : sum_q[word_i];
    if (valid_i) sum = negative_i ? sum - value : sum + value;
  end

  always_ff @(posedge clk_i) begin
    if (add_i) sum_q[word_i] <= sum;
  end

  assign sum_o = sum_q[sum_word_i];

endmodule
