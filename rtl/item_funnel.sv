// Takes items in groups of four and hands out one to four at a time, in order: operands of one
// feature, lanes of random words.

module item_funnel #(
  parameter int Width = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               group_valid_i,
  output logic               group_ready_o,
  input  logic [4*Width-1:0] group_i,       // first item in the low bits
  output logic [2:0]         held_o,        // items that may be taken
  output logic [4*Width-1:0] items_o,       // the first four, if held
  input  logic [2:0]         take_i         // 0..4, at most held_o
);

  localparam int Items = 7;

  logic [Items*Width-1:0] items_q, rest, added;
  logic [2:0]             held_q, left;

  assign left          = held_q - take_i;
  assign group_ready_o = left < 3'd4;
  assign held_o        = held_q;
  assign items_o       = items_q[4*Width-1:0];

  always_comb begin
    rest = items_q;
    if (take_i[0]) rest = rest >> Width;
    if (take_i[1]) rest = rest >> (2 * Width);
    if (take_i[2]) rest = rest >> (4 * Width);
  end

  // Items beyond the ones held are kept at 0, so that new ones can be joined by OR.
  always_comb begin
    added = {{((Items - 4) * Width) {1'b0}}, group_i};
    if (left[0]) added = added << Width;
    if (left[1]) added = added << (2 * Width);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      held_q  <= '0;
      items_q <= '0;
    end else if (group_valid_i && group_ready_o) begin
      held_q  <= left + 3'd4;
      items_q <= rest | added;
    end else begin
      held_q  <= left;
      items_q <= rest;
    end
  end

`ifndef SYNTHESIS
  TakesWhatIsHeld_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) take_i <= held_q);
`endif

endmodule
