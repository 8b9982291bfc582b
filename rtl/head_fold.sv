// Spreads the data of 2^group_log2_i heads over GroupHeads banks, so that a small group fills a wide
// memory: of the slices that fit side by side, slice_i goes to its banks. Combinational.

module head_fold #(
  parameter int GroupHeads = 8,
  parameter int Width      = 16,
  localparam int SliceBits = (GroupHeads > 1) ? $clog2(GroupHeads) : 1
) (
  input  logic [1:0]                  group_log2_i,  // at most log2 GroupHeads
  input  logic [SliceBits-1:0]        slice_i,       // below GroupHeads >> group_log2_i
  input  logic [GroupHeads*Width-1:0] heads_i,
  output logic [GroupHeads*Width-1:0] banks_o,
  output logic [GroupHeads-1:0]       enable_o
);

  if (GroupHeads > 1) begin : gen_fold
    for (genvar b = 0; b < GroupHeads; b++) begin : gen_bank
      logic [SliceBits-1:0] head;
      assign head = SliceBits'(b) & ~({SliceBits{1'b1}} << group_log2_i);
      assign banks_o[b*Width +: Width] = heads_i[head*Width +: Width];
      assign enable_o[b] = (SliceBits'(b) >> group_log2_i) == slice_i;
    end
  end else begin : gen_single
    logic unused_inputs;
    assign unused_inputs = ^{group_log2_i, slice_i};
    assign banks_o  = heads_i;
    assign enable_o = 1'b1;
  end

endmodule
