// A generator loaded with anything but 0 never holds 0.

module lfsr_proof (
  input logic                             clk_i,
  input logic                             rst_ni,
  input logic                             load_i,
  input logic [santa_pkg::StreamBits-1:0] state_i,
  input logic                             draw_i
);

  logic [santa_pkg::StreamBits-1:0] word;

  lfsr u_dut (
    .clk_i,
    .rst_ni,
    .load_i,
    .state_i,
    .draw_i,
    .word_o(word)
  );

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    assume (!load_i || (state_i != '0));  // the descriptor is refused otherwise
    if (started_q) NotZero_A : assert (word != '0);
  end

endmodule
