// The reverse of head_fold: picks the slice's banks as heads 0 onwards. Combinational.

module head_unfold #(
  parameter int GroupHeads = 8,
  parameter int Width      = 16,
  localparam int SliceBits = (GroupHeads > 1) ? $clog2(GroupHeads) : 1
) (
  input  logic [1:0]                  group_log2_i,
  input  logic [SliceBits-1:0]        slice_i,
  input  logic [GroupHeads*Width-1:0] banks_i,
  output logic [GroupHeads*Width-1:0] heads_o       // those of the group; others unspecified
);

  if (GroupHeads > 1) begin : gen_unfold
    for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
      logic [SliceBits-1:0] bank;
      assign bank = (slice_i << group_log2_i) | SliceBits'(h);
      assign heads_o[h*Width +: Width] = banks_i[bank*Width +: Width];
    end
  end else begin : gen_single
    logic unused_inputs;
    assign unused_inputs = ^{group_log2_i, slice_i};
    assign heads_o = banks_i;
  end

endmodule
