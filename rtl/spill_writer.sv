// Writes the weights and the statistics of tiles that do not fit the stash to memory. Holds the
// weights of one tile, so the weight unit never waits within a tile.

module spill_writer #(
  parameter int PortBytes  = 16,
  parameter int WordBytes  = 32,   // of the stash
  parameter int TileWords  = 16,   // stash words of a tile, at most
  parameter int EntryBytes = 64
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              start_i,
  output logic                              ready_o,
  input  logic [santa_pkg::AddressBits-1:0] address_i,
  input  logic [15:0]                       words_i,          // bus words of weights
  input  logic [santa_pkg::AddressBits-1:0] entry_address_i,
  input  logic                              word_valid_i,
  input  logic [8*WordBytes-1:0]            word_i,
  input  logic                              entry_valid_i,
  input  logic [8*EntryBytes-1:0]           entry_i,
  // Write port.
  output logic                              run_valid_o,
  input  logic                              run_ready_i,
  output logic [santa_pkg::AddressBits-1:0] run_address_o,
  output logic [15:0]                       run_words_o,
  output logic                              data_valid_o,
  input  logic                              data_ready_i,
  output logic [8*PortBytes-1:0]            data_o
);

  localparam int Parts          = WordBytes / PortBytes;
  localparam int PartBits       = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int EntryParts     = EntryBytes / PortBytes;
  localparam int EntryPartBits  = (EntryParts > 1) ? $clog2(EntryParts) : 1;

  typedef enum logic [2:0] {
    StIdle,
    StWeightsRun,
    StWeights,
    StEntryRun,   // waits for the entry
    StEntry
  } state_e;

  state_e                            state_q;
  logic [santa_pkg::AddressBits-1:0] address_q, entry_address_q;
  logic [15:0]                       words_q, left_q;
  logic                              entry_held_q;
  logic [8*EntryBytes-1:0]           entry_q;
  logic                              word_valid, word_pop, unused_word_ready;
  logic [8*WordBytes-1:0]            word;
  logic [PartBits-1:0]               part_q;
  logic [EntryPartBits-1:0]          entry_part_q;
  logic                              last_part, last_entry_part, sent;

  fifo_ram #(
    .Width(8 * WordBytes),
    .Depth(TileWords)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(word_valid_i),
    .wready_o(unused_word_ready),
    .wdata_i (word_i),
    .rvalid_o(word_valid),
    .rready_i(word_pop),
    .rdata_o (word)
  );

  assign last_part       = part_q == PartBits'(Parts - 1);
  assign last_entry_part = entry_part_q == EntryPartBits'(EntryParts - 1);
  assign sent            = data_valid_o && data_ready_i;
  assign word_pop        = (state_q == StWeights) && sent && last_part;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: if (start_i) state_q <= StWeightsRun;
        StWeightsRun: if (run_ready_i) state_q <= StWeights;
        StWeights: if (sent && (left_q == 16'd1)) state_q <= StEntryRun;
        StEntryRun: if (run_valid_o && run_ready_i) state_q <= StEntry;
        StEntry: if (sent && last_entry_part) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i && ready_o) begin
      address_q       <= address_i;
      entry_address_q <= entry_address_i;
      words_q         <= words_i;
      left_q          <= words_i;
      part_q          <= '0;
      entry_part_q    <= '0;
    end else if (sent) begin
      left_q <= left_q - 16'd1;
      if (state_q == StWeights) part_q <= last_part ? '0 : part_q + PartBits'(1);
      if (state_q == StEntry) entry_part_q <= entry_part_q + EntryPartBits'(1);
    end
    if (entry_valid_i) entry_q <= entry_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (state_q == StIdle)) begin
      entry_held_q <= 1'b0;
    end else if (entry_valid_i) begin
      entry_held_q <= 1'b1;
    end
  end

  assign ready_o       = state_q == StIdle;
  assign run_valid_o   = (state_q == StWeightsRun) || ((state_q == StEntryRun) && entry_held_q);
  assign run_address_o = (state_q == StWeightsRun) ? address_q : entry_address_q;
  assign run_words_o   = (state_q == StWeightsRun) ? words_q : 16'(EntryParts);
  assign data_valid_o  = ((state_q == StWeights) && word_valid) || (state_q == StEntry);
  assign data_o        = (state_q == StEntry) ? entry_q[entry_part_q*8*PortBytes +: 8*PortBytes]
                                              : word[part_q*8*PortBytes +: 8*PortBytes];

`ifndef SYNTHESIS
  WordsFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_valid_i |-> unused_word_ready);
  StartsWhenReady_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) start_i |-> ready_o);
`endif

endmodule
