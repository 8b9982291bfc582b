// item_funnel against a list: items come out once, in order, unchanged; never more than seven are
// held, and a group is refused only when four or more stay.

module item_funnel_proof #(
  parameter int Width = 4
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               clear_i,
  input logic               group_valid_i,
  input logic [4*Width-1:0] group_i,
  input logic [2:0]         take_i
);

  localparam int Items = 7;

  logic               group_ready;
  logic [2:0]         held;
  logic [4*Width-1:0] items;

  item_funnel #(
    .Width(Width)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .group_valid_i,
    .group_ready_o(group_ready),
    .group_i,
    .held_o       (held),
    .items_o      (items),
    .take_i
  );

  (* hierconn *) wire [Items*Width-1:0] \u_dut.items_q ;

  logic [11*Width-1:0] model_q, model;  // first item in the low bits
  logic [3:0]          held_q, left;

  assign left = held_q - 4'(take_i);

  always_comb begin
    model = model_q >> (7'(take_i) * 7'(Width));
    if (group_valid_i && group_ready) model[left*Width +: 4*Width] = group_i;
  end

  always_ff @(posedge clk_i) begin
    model_q <= model;
    if (!rst_ni || clear_i) held_q <= 4'd0;
    else held_q <= left + ((group_valid_i && group_ready) ? 4'd4 : 4'd0);
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    assume (!started_q || ((take_i <= held) && (take_i <= 3'd4)));
    if (started_q) begin
      Held_A : assert (held_q == 4'(held));
      Room_A : assert (held_q <= 4'(Items));
      Ready_A : assert (group_ready == (left < 4'd4));
    end
  end

  for (genvar i = 0; i < Items; i++) begin : gen_item
    always_comb begin
      if (started_q) begin
        if ((i < 4) && (4'(i) < held_q)) begin
          assert (items[(i%4)*Width +: Width] == model_q[i*Width +: Width]);
        end
        // Induction.
        assert (\u_dut.items_q [i*Width +: Width] ==
                ((4'(i) < held_q) ? model_q[i*Width +: Width] : Width'(0)));
      end
    end
  end

endmodule
