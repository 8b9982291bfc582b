// Reads back what the weight unit spilled: statistics of tiles, ahead of their use, and the weights
// of one tile at a time. The two never wait in memory together, so the order of the answers says
// which is which.

module scratch_reader #(
  parameter int PortBytes  = 16,
  parameter int WordBytes  = 32,   // of the stash
  parameter int TileWords  = 16,   // stash words of a tile, at most
  parameter int EntryBytes = 64,
  parameter int CountBits  = 17
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Statistics of `entries_i` tiles from an address on; 0 entries ask for nothing.
  input  logic                              entries_start_i,
  input  logic [santa_pkg::AddressBits-1:0] entries_address_i,
  input  logic [CountBits-1:0]              entries_i,
  output logic                              entry_valid_o,
  input  logic                              entry_ready_i,
  output logic [8*EntryBytes-1:0]           entry_o,
  // Weights of a tile. Those not taken are dropped by weights_drop_i.
  input  logic                              weights_start_i,
  input  logic [santa_pkg::AddressBits-1:0] weights_address_i,
  input  logic [15:0]                       weights_words_i,
  input  logic                              weights_drop_i,
  output logic                              weights_idle_o,
  output logic                              word_valid_o,
  input  logic                              word_ready_i,
  output logic [8*WordBytes-1:0]            word_o,
  output logic                              error_o,          // with a word from memory
  // Memory.
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,
  input  logic                              data_valid_i,
  input  logic [8*PortBytes-1:0]            data_i,
  input  logic                              data_error_i
);

  localparam int EntryWords   = EntryBytes / PortBytes;
  localparam int RunEntries   = 32;
  localparam int BufferEntries = 4 * RunEntries;
  localparam int RoomBits     = $clog2(BufferEntries + 1);
  localparam int Parts        = WordBytes / PortBytes;
  localparam int WaitingBits  = 16;

  // --- requests ------------------------------------------------------------------------------

  logic [santa_pkg::AddressBits-1:0] entries_address_q, weights_address_q;
  logic [CountBits-1:0]              entries_q;
  logic [15:0]                       weights_words_q;
  logic                              weights_wanted_q, weights_active_q;
  logic [RoomBits-1:0]               room_q;          // entries
  logic [WaitingBits-1:0]            waiting_q;       // bus words asked for and not here yet
  logic [RoomBits-1:0]               run_entries;
  logic                              ask_entries, ask_weights, run_valid, run_ready;
  logic [santa_pkg::AddressBits-1:0] run_address;
  logic [15:0]                       run_words;
  logic                              unused_burst_last, entry_pop;

  assign run_entries = (entries_q < CountBits'(RunEntries)) ? RoomBits'(entries_q)
                                                            : RoomBits'(RunEntries);
  assign ask_weights = weights_wanted_q && (waiting_q == '0);
  assign ask_entries = (entries_q != '0) && (room_q >= run_entries) && !weights_wanted_q &&
                       !weights_active_q;
  assign run_valid   = ask_weights || ask_entries;
  assign run_address = ask_weights ? weights_address_q : entries_address_q;
  assign run_words   = ask_weights ? weights_words_q
                       : 16'(run_entries) << $clog2(EntryWords);

  burst_splitter #(
    .PortBytes(PortBytes)
  ) u_splitter (
    .clk_i,
    .rst_ni,
    .run_valid_i    (run_valid),
    .run_ready_o    (run_ready),
    .run_address_i  (run_address),
    .run_words_i    (run_words),
    .burst_valid_o,
    .burst_ready_i,
    .burst_address_o,
    .burst_words_o,
    .burst_last_o   (unused_burst_last)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      entries_q        <= '0;
      room_q           <= RoomBits'(BufferEntries);
      waiting_q        <= '0;
      weights_wanted_q <= 1'b0;
      weights_active_q <= 1'b0;
    end else begin
      if (entries_start_i) begin
        entries_q <= entries_i;
      end else if (ask_entries && run_ready) begin
        entries_q <= entries_q - CountBits'(run_entries);
      end
      room_q <= room_q + RoomBits'(entry_pop) -
                ((ask_entries && run_ready) ? run_entries : '0);
      waiting_q <= waiting_q + ((run_valid && run_ready) ? run_words : '0) -
                   WaitingBits'(data_valid_i);
      if (weights_start_i) begin
        weights_wanted_q <= 1'b1;
      end else if (ask_weights && run_ready) begin
        weights_wanted_q <= 1'b0;
      end
      if (ask_weights && run_ready) begin
        weights_active_q <= 1'b1;
      end else if (data_valid_i && (waiting_q == WaitingBits'(1))) begin
        weights_active_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (entries_start_i) begin
      entries_address_q <= entries_address_i;
    end else if (ask_entries && run_ready) begin
      entries_address_q <= entries_address_q +
                           (santa_pkg::AddressBits'(run_entries) << $clog2(EntryBytes));
    end
    if (weights_start_i) begin
      weights_address_q <= weights_address_i;
      weights_words_q   <= weights_words_i;
    end
  end

  // --- answers -------------------------------------------------------------------------------

  logic                    entry_data_valid, entry_complete, unused_entry_ready;
  logic [8*EntryBytes-1:0] entry_joined;
  logic                    word_data_valid, word_complete, unused_word_ready;
  logic [8*WordBytes-1:0]  word_joined;
  logic                    word_valid;

  assign entry_data_valid = data_valid_i && !weights_active_q;
  assign word_data_valid  = data_valid_i && weights_active_q;
  assign error_o          = data_valid_i && data_error_i;

  word_join #(
    .PortBytes(PortBytes),
    .WordBytes(EntryBytes)
  ) u_entry_join (
    .clk_i,
    .rst_ni,
    .part_valid_i(entry_data_valid),
    .part_i      (data_i),
    .word_valid_o(entry_complete),
    .word_o      (entry_joined)
  );

  fifo_ram #(
    .Width(8 * EntryBytes),
    .Depth(BufferEntries)
  ) u_entries (
    .clk_i,
    .rst_ni,
    .wvalid_i(entry_complete),
    .wready_o(unused_entry_ready),
    .wdata_i (entry_joined),
    .rvalid_o(entry_valid_o),
    .rready_i(entry_ready_i),
    .rdata_o (entry_o)
  );
  assign entry_pop = entry_valid_o && entry_ready_i;

  word_join #(
    .PortBytes(PortBytes),
    .WordBytes(WordBytes)
  ) u_word_join (
    .clk_i,
    .rst_ni,
    .part_valid_i(word_data_valid),
    .part_i      (data_i),
    .word_valid_o(word_complete),
    .word_o      (word_joined)
  );

  // Words held anywhere between memory and the reader.
  logic [$clog2(TileWords+1)-1:0] held_q;
  logic                           word_pop;

  fifo_ram #(
    .Width(8 * WordBytes),
    .Depth(TileWords)
  ) u_words (
    .clk_i,
    .rst_ni,
    .wvalid_i(word_complete),
    .wready_o(unused_word_ready),
    .wdata_i (word_joined),
    .rvalid_o(word_valid),
    .rready_i(word_ready_i || weights_drop_i),
    .rdata_o (word_o)
  );
  assign word_pop     = word_valid && (word_ready_i || weights_drop_i);
  assign word_valid_o = word_valid && !weights_drop_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q <= '0;
    end else begin
      held_q <= held_q + ($clog2(TileWords+1))'(word_complete) - ($clog2(TileWords+1))'(word_pop);
    end
  end

  assign weights_idle_o = !weights_wanted_q && !weights_active_q && (held_q == '0);

`ifndef SYNTHESIS
  EntriesFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) entry_complete |-> unused_entry_ready);
  WordsFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_complete |-> unused_word_ready);
  PartsDivide_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (Parts >= 1) && (EntryWords >= 1));
`endif

endmodule
