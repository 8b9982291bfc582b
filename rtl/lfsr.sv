// 64-bit Galois LFSR, right shift, mask 0xD800000000000000, x^64 + x^63 + x^61 + x^60 + 1.
//
// `word_o` is the whole state. A draw leaps 88 steps, so that no bit is used twice and neighbouring
// words share no tap (docs/numerics.md, section 8; docs/decisions/0004). State 0 cannot be reached
// from another state; the descriptor may not hold it.

module lfsr (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  load_i,   // takes state_i; goes before draw_i
  input  logic [santa_pkg::StreamBits-1:0] state_i,
  input  logic                  draw_i,   // the word shown is used up
  output logic [santa_pkg::StreamBits-1:0] word_o
);

  // 44 steps at once: the low bits leave one by one and each feeds four taps.
  function automatic logic [santa_pkg::StreamBits-1:0] leap44(input logic [santa_pkg::StreamBits-1:0] state);
    logic [santa_pkg::StreamBits-1:0] low;
    low    = {20'd0, state[43:0]};
    leap44 = (state >> 44) ^ (low << 20) ^ (low << 19) ^ (low << 17) ^ (low << 16);
  endfunction

  logic [santa_pkg::StreamBits-1:0] state_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= santa_pkg::StreamBits'(1);
    end else if (load_i) begin
      state_q <= state_i;
    end else if (draw_i) begin
      state_q <= leap44(leap44(state_q));
    end
  end

  assign word_o = state_q;

`ifndef SYNTHESIS
  StateNotZero_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (load_i && state_i != '0) |=> state_q != '0);
  StateStaysNotZero_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (!load_i && state_q != '0) |=> state_q != '0);
`endif

endmodule
