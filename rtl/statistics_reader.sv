// Streams the statistics of a request's tiles, {exponent, sum} of each head, in order: first those
// on chip, then those that were spilled. A tile a cycle while memory keeps up.

module statistics_reader #(
  parameter int GroupHeads = 8,
  parameter int IndexBits  = 4,    // of the statistics memory, the half included
  parameter int CountBits  = 17,
  parameter int EntryBytes = 64,
  localparam int StatisticsBits = santa_pkg::ExponentBits + santa_pkg::TileSumBits,
  localparam int SliceBits      = (GroupHeads > 1) ? $clog2(GroupHeads) : 1
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 start_i,      // after the last tile of a pass
  input  logic [CountBits-1:0]                 tiles_i,      // stable from start_i on
  input  logic [CountBits-1:0]                 on_chip_i,    // the first of them
  input  logic                                 half_i,
  input  logic [1:0]                           group_log2_i,
  output logic                                 read_o,
  output logic [IndexBits-1:0]                 index_o,
  input  logic [GroupHeads*StatisticsBits-1:0] data_i,
  input  logic                                 entry_valid_i,
  output logic                                 entry_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // upper bits of the 32-bit fields, padding
  input  logic [8*EntryBytes-1:0]              entry_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                                 valid_o,
  input  logic                                 ready_i,
  output logic [GroupHeads*StatisticsBits-1:0] statistics_o
);

  localparam int GroupLog2 = $clog2(GroupHeads);

  logic [CountBits-1:0]                 fetch_q, given_q;
  logic                                 read, read_q, spilled, chip_valid, chip_pop;
  logic [SliceBits-1:0]                 slice_q, slice_mask;
  logic [1:0]                           fold_log2, usage;
  logic                                 unused_ready;
  logic [GroupHeads*StatisticsBits-1:0] heads, chip;

  assign fold_log2  = 2'(GroupLog2) - group_log2_i;
  assign slice_mask = ~({SliceBits{1'b1}} << fold_log2);
  assign read       = !start_i && (fetch_q != on_chip_i) && ({1'b0, usage} + {2'b00, read_q} < 3'd3);
  assign read_o     = read;
  if (IndexBits > 1) begin : gen_index
    assign index_o = {half_i, (IndexBits - 1)'(fetch_q >> fold_log2)};
  end else begin : gen_half
    assign index_o = half_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      fetch_q <= '0;
      given_q <= '0;
    end else begin
      read_q <= read;
      if (start_i) begin
        fetch_q <= '0;
        given_q <= '0;
      end else begin
        if (read) fetch_q <= fetch_q + CountBits'(1);
        if (valid_o && ready_i) given_q <= given_q + CountBits'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (read) slice_q <= SliceBits'(fetch_q) & slice_mask;
  end

  head_unfold #(
    .GroupHeads(GroupHeads),
    .Width     (StatisticsBits)
  ) u_unfold (
    .group_log2_i,
    .slice_i(slice_q),
    .banks_i(data_i),
    .heads_o(heads)
  );

  fifo_sync #(
    .Width(GroupHeads * StatisticsBits),
    .Depth(3)
  ) u_chip (
    .clk_i,
    .rst_ni,
    .wvalid_i(read_q),
    .wready_o(unused_ready),
    .wdata_i (heads),
    .rvalid_o(chip_valid),
    .rready_i(chip_pop),
    .rdata_o (chip),
    .usage_o (usage)
  );

  assign spilled       = given_q >= on_chip_i;
  assign valid_o       = (given_q != tiles_i) && (spilled ? entry_valid_i : chip_valid);
  assign chip_pop      = ready_i && !spilled && (given_q != tiles_i);
  assign entry_ready_o = ready_i && spilled && (given_q != tiles_i);

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
    assign statistics_o[h*StatisticsBits +: StatisticsBits] = spilled
        ? {entry_i[64*h + 32 +: santa_pkg::ExponentBits], entry_i[64*h +: santa_pkg::TileSumBits]}
        : chip[h*StatisticsBits +: StatisticsBits];
  end

`ifndef SYNTHESIS
  WordsFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) read_q |-> unused_ready);
  StartsBetweenPasses_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) start_i |-> !chip_valid && !read_q);
`endif

endmodule
