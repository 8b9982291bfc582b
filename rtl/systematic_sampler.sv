// Systematic sampler: adds up the tiles' masses, draws one offset a head, and walks over the tiles.
// Tiles without a threshold take one cycle and are not read; a tile with one is scanned, ScanLanes
// keys at a time, a threshold a head and cycle. Rows leave in ascending order of keys with the
// counts of all heads, one a cycle, while the next chunk is scanned.

module systematic_sampler #(
  parameter int PortBytes  = 16,
  parameter int TileKeys   = 16,
  parameter int GroupHeads = 8,
  parameter int ScanLanes  = 4,
  parameter int StashKib   = 4,
  localparam int TileBits        = $clog2(TileKeys),
  localparam int ChunkWeightBits = ScanLanes * santa_pkg::WeightBits,
  localparam int HalfWords       = StashKib * 256 / (GroupHeads * ScanLanes),
  localparam int StashBits       = $clog2(2 * HalfWords),
  localparam int HalfTiles       = HalfWords / (TileKeys / ScanLanes),
  localparam int StatisticsIndexBits = $clog2(2 * HalfTiles),
  localparam int StatisticsBits  = santa_pkg::ExponentBits + santa_pkg::TileSumBits
) (
  input  logic                                          clk_i,
  input  logic                                          rst_ni,
  // Weighed request.
  input  logic                                          weighed_valid_i,
  output logic                                          weighed_ready_o,
  input  santa_pkg::request_t                           weighed_i,
  input  logic                                          half_i,
  input  logic                                          half_held_i,   // a request with an error too
  input  logic [GroupHeads*santa_pkg::ExponentBits-1:0] exponent_i,
  output logic                                          half_release_o,
  // Stash.
  output logic                                          stash_read_o,
  output logic [StashBits-1:0]                          stash_index_o,
  input  logic [GroupHeads*ChunkWeightBits-1:0]         stash_data_i,
  output logic                                          statistics_read_o,
  output logic [StatisticsIndexBits-1:0]                statistics_index_o,
  input  logic [GroupHeads*StatisticsBits-1:0]          statistics_data_i,
  // Scratch memory.
  output logic                                          burst_valid_o,
  input  logic                                          burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0]             burst_address_o,
  output logic [8:0]                                    burst_words_o,
  input  logic                                          word_valid_i,
  input  logic [8*PortBytes-1:0]                        word_data_i,
  input  logic                                          word_error_i,
  // Request for the blocks that follow; its rows come after it.
  output logic                                          sampled_valid_o,
  input  logic                                          sampled_ready_i,
  output santa_pkg::request_t                           sampled_o,
  // Rows. The last one of a request is no row and carries the status.
  output logic                                          row_valid_o,
  input  logic                                          row_ready_i,
  output logic                                          row_last_o,
  output logic [santa_pkg::KeyBits-1:0]                 row_key_o,
  output logic [GroupHeads*santa_pkg::CountBits-1:0]    row_counts_o,
  output logic [2:0]                                    row_status_o,
  output logic                                          tile_scanned_o,
  output logic                                          busy_o
);

  localparam int Chunks        = TileKeys / ScanLanes;
  localparam int ChunkBits     = (Chunks > 1) ? $clog2(Chunks) : 1;
  localparam int ChunksLog2    = $clog2(Chunks);
  localparam int TileCountBits = santa_pkg::ContextBits - TileBits + 1;
  localparam int SliceBits     = (GroupHeads > 1) ? $clog2(GroupHeads) : 1;
  localparam int GroupLog2     = $clog2(GroupHeads);
  localparam int HeadBits      = SliceBits;
  localparam int HalfWordsLog2 = $clog2(HalfWords);
  localparam int WordBytes     = GroupHeads * ScanLanes * 2;
  localparam int EntryBytes    = (8 * GroupHeads > PortBytes) ? 8 * GroupHeads : PortBytes;
  localparam int TileWordsLog2 = TileBits + 1 - $clog2(PortBytes);
  localparam int CountBits     = santa_pkg::CountBits;
  localparam int MassBits      = santa_pkg::MassBits;

  typedef enum logic [3:0] {
    StIdle,
    StTotalStart,
    StTotal,
    StLoad,       // a head's stream
    StDraw,       // its offset
    StWalk,
    StEnter,      // a tile that receives a threshold
    StScan,
    StDrop,       // what is left of a spilled tile
    StEnd
  } state_e;

  state_e                   state_q, state_d;
  /* verilator lint_off UNUSEDSIGNAL */  // other blocks use the other fields
  santa_pkg::request_t      request_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                     half_q, half_held_q;
  logic [GroupHeads*santa_pkg::ExponentBits-1:0] exponent_q;
  logic [TileCountBits-1:0] tiles_q, tile_q, on_chip_q, tiles, fit;
  logic                     start, last_tile, tile_on_chip;
  logic [1:0]               group_log2, fold_log2;
  logic [SliceBits-1:0]     slice_mask;
  logic [3:0]               words_log2;
  logic [31:0]              half_tiles;
  logic                     scratch_error;

  // --- request -------------------------------------------------------------------------------

  assign start = weighed_valid_i && weighed_ready_o;
  assign weighed_ready_o = (state_q == StIdle) && sampled_ready_i;
  assign sampled_valid_o = (state_q == StIdle) && weighed_valid_i;
  assign sampled_o       = weighed_i;

  assign tiles = (weighed_i.status != santa_pkg::StatusOk) ? '0
                 : {1'b0, weighed_i.context_length[santa_pkg::ContextBits-1:TileBits]} +
                   TileCountBits'(weighed_i.context_length[TileBits-1:0] != '0);

  assign group_log2 = 2'(santa_pkg::log2_ceil(santa_pkg::DimensionBits'(request_q.group)));
  assign fold_log2  = 2'(GroupLog2) - group_log2;
  assign slice_mask = ~({SliceBits{1'b1}} << fold_log2);
  assign words_log2 = 4'(ChunksLog2) - 4'(fold_log2);
  assign half_tiles = 32'(HalfWords) >> words_log2;
  assign fit        = (32'(tiles_q) < half_tiles) ? tiles_q : TileCountBits'(half_tiles);
  assign last_tile  = tile_q == tiles_q - TileCountBits'(1);
  assign tile_on_chip = tile_q < on_chip_q;

  always_ff @(posedge clk_i) begin
    if (start) begin
      half_q      <= half_i;
      half_held_q <= half_held_i;
      exponent_q  <= exponent_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      request_q <= weighed_i;
    end else if (scratch_error) begin
      request_q.status <= santa_pkg::add_status(request_q.status, 1'b1,
                                                santa_pkg::StatusReadError);
    end
  end

  // --- statistics ----------------------------------------------------------------------------

  logic                                 reader_start, stat_valid, stat_ready;
  logic [GroupHeads*StatisticsBits-1:0] stat;
  logic                                 mass_valid_q, mass_load, mass_leaves;
  logic [GroupHeads-1:0]                falls;
  logic                                 any_falls;
  logic                                 entry_valid, entry_ready;
  logic [8*EntryBytes-1:0]              entry;
  logic                                 total_ends, walk_start;
  logic [MassBits-1:0]                  offset;
  logic                                 accept;

  assign walk_start   = accept && (head_last);
  assign reader_start = (state_q == StTotalStart) || walk_start;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tiles_q   <= '0;
      on_chip_q <= '0;
    end else if (start) begin
      tiles_q   <= tiles;
    end else if (state_q == StTotalStart) begin
      on_chip_q <= fit;
    end
  end

  statistics_reader #(
    .GroupHeads(GroupHeads),
    .IndexBits (StatisticsIndexBits),
    .CountBits (TileCountBits),
    .EntryBytes(EntryBytes)
  ) u_statistics (
    .clk_i,
    .rst_ni,
    .start_i      (reader_start),
    .tiles_i      (tiles_q),
    .on_chip_i    (on_chip_q),
    .half_i       (half_q),
    .group_log2_i (group_log2),
    .read_o       (statistics_read_o),
    .index_o      (statistics_index_o),
    .data_i       (statistics_data_i),
    .entry_valid_i(entry_valid),
    .entry_ready_o(entry_ready),
    .entry_i      (entry),
    .valid_o      (stat_valid),
    .ready_i      (stat_ready),
    .statistics_o (stat)
  );

  // The tile at hand leaves when it was added to the total, or walked over.
  assign any_falls  = |falls;
  assign mass_leaves = mass_valid_q && ((state_q == StTotal) ||
                                        ((state_q == StWalk) && !any_falls) || tile_scanned);
  assign stat_ready  = ((state_q == StTotal) || (state_q == StWalk) || (state_q == StScan) ||
                        (state_q == StDrop)) && (!mass_valid_q || mass_leaves);
  assign mass_load   = stat_valid && stat_ready;
  assign total_ends  = (state_q == StTotal) && mass_leaves && last_tile;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mass_valid_q <= 1'b0;
    end else begin
      mass_valid_q <= mass_load || (mass_valid_q && !mass_leaves);
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      tile_q <= '0;
    end else if (mass_leaves) begin
      tile_q <= last_tile ? '0 : tile_q + TileCountBits'(1);
    end
  end

  // --- offsets -------------------------------------------------------------------------------

  logic [HeadBits-1:0]              head_q;
  logic                             head_last;
  logic [GroupHeads*MassBits-1:0]   totals;
  logic [MassBits-1:0]              total, mask_q, mask;
  logic [santa_pkg::StreamBits-1:0] random_word;
  logic [santa_pkg::MaxGroup*santa_pkg::StreamBits-1:0] streams;

  assign streams   = request_q.value_stream;
  assign head_last = santa_pkg::GroupBits'(head_q) == request_q.group - santa_pkg::GroupBits'(1);
  assign total     = totals[head_q*MassBits +: MassBits];
  assign offset    = random_word[MassBits-1:0] & mask_q;
  assign accept    = (state_q == StDraw) && ((offset < total) || (total == '0));

  // The smallest power of two that covers the total, less one.
  always_comb begin
    mask = total - MassBits'(1);
    for (int k = 0; k < 6; k++) mask = mask | (mask >> (1 << k));
  end

  lfsr u_lfsr (
    .clk_i,
    .rst_ni,
    .load_i (state_q == StLoad),
    .state_i(streams[head_q*santa_pkg::StreamBits +: santa_pkg::StreamBits]),
    .draw_i (state_q == StDraw),
    .word_o (random_word)
  );

  logic unused_random;
  assign unused_random = ^random_word[santa_pkg::StreamBits-1:MassBits];

  always_ff @(posedge clk_i) begin
    if (state_q == StLoad) mask_q <= mask;
    if (start) begin
      head_q <= '0;
    end else if (accept) begin
      head_q <= head_q + HeadBits'(1);
    end
  end

  // --- chunks of a scanned tile --------------------------------------------------------------

  logic                                  scanning, tile_scanned, chunk_done, source_valid;
  logic                                  chunk_load, chunk_valid_q, chunk_first_q, read_valid_q;
  logic                                  read_chunk, more_chunks;
  logic [ChunkBits-1:0]                  read_q, read_now, chunk_q, source_q;
  logic [HalfWordsLog2-1:0]              word_index;
  logic [SliceBits-1:0]                  source_slice;
  logic [GroupHeads*ChunkWeightBits-1:0] banks, weights, spilled_word;
  logic                                  spilled_valid, spilled_ready, spilled_idle;
  logic [GroupHeads-1:0]                 hits;
  logic [GroupHeads*ScanLanes-1:0]       keys;
  logic                                  any_hit, rows_ready;
  logic [GroupHeads*ScanLanes*CountBits-1:0] counts;
  logic [ScanLanes-1:0]                  drawn;

  assign scanning    = state_q == StScan;
  assign more_chunks = read_q != '0;  // wraps to 0 after the last
  assign read_chunk  = tile_on_chip && ((state_q == StEnter) ||
                                        (scanning && chunk_load && more_chunks));
  assign read_now    = (state_q == StEnter) ? '0 : read_q;
  assign word_index  = (HalfWordsLog2'(tile_q) << words_log2) +
                       (HalfWordsLog2'(read_now) >> fold_log2);

  assign stash_read_o  = read_chunk;
  assign stash_index_o = {half_q, word_index};

  always_ff @(posedge clk_i) begin
    if (state_q == StEnter) begin
      read_q        <= ChunkBits'((Chunks > 1) ? 1 : 0);
      source_q      <= '0;
      chunk_first_q <= 1'b1;
    end else if (chunk_load) begin
      if (more_chunks) read_q <= read_q + ChunkBits'(1);
      source_q      <= source_q + ChunkBits'(1);
      chunk_first_q <= 1'b0;
      chunk_q       <= source_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !((state_q == StEnter) || scanning)) begin
      read_valid_q <= 1'b0;
    end else if (read_chunk) begin
      read_valid_q <= 1'b1;
    end else if (chunk_load) begin
      read_valid_q <= 1'b0;
    end
  end

  assign source_slice  = SliceBits'(source_q) & slice_mask;
  assign source_valid  = tile_on_chip ? read_valid_q : spilled_valid;
  assign banks         = tile_on_chip ? stash_data_i : spilled_word;
  assign chunk_load    = scanning && source_valid && (!chunk_valid_q || chunk_done) &&
                         !tile_scanned;
  assign spilled_ready = chunk_load && !tile_on_chip && (source_slice == slice_mask);

  head_unfold #(
    .GroupHeads(GroupHeads),
    .Width     (ChunkWeightBits)
  ) u_unfold (
    .group_log2_i(group_log2),
    .slice_i     (source_slice),
    .banks_i     (banks),
    .heads_o     (weights)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !scanning) begin
      chunk_valid_q <= 1'b0;
    end else if (chunk_load) begin
      chunk_valid_q <= 1'b1;
    end else if (chunk_done) begin
      chunk_valid_q <= 1'b0;
    end
  end

  // A chunk is done in the cycle in which no head's threshold falls into it any more; the tile, when
  // none falls into the tile.
  assign any_hit      = |hits;
  assign chunk_done   = chunk_valid_q && !any_hit && rows_ready;
  // The last chunk ends it in any case: weights that memory got wrong must not hang the unit.
  assign tile_scanned = scanning && chunk_done &&
                        (!any_falls || (chunk_q == ChunkBits'(Chunks - 1)));

  // --- heads ---------------------------------------------------------------------------------

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
    logic on;
    assign on = santa_pkg::GroupBits'(h) < request_q.group;

    sampler_lane #(
      .ScanLanes(ScanLanes)
    ) u_lane (
      .clk_i,
      .on_i           (on),
      .head_exponent_i(exponent_q[h*santa_pkg::ExponentBits +: santa_pkg::ExponentBits]),
      .tile_exponent_i(stat[h*StatisticsBits + santa_pkg::TileSumBits +: santa_pkg::ExponentBits]),
      .tile_sum_i     (stat[h*StatisticsBits +: santa_pkg::TileSumBits]),
      .mass_load_i    (mass_load),
      .clear_i        (state_q == StTotalStart),
      .total_add_i    ((state_q == StTotal) && mass_valid_q),
      .total_o        (totals[h*MassBits +: MassBits]),
      .samples_log2_i (request_q.samples_log2),
      .offset_load_i  (accept && (head_q == HeadBits'(h))),
      .offset_i       (offset),
      .enter_i        (state_q == StEnter),
      .pass_i         (mass_leaves && (state_q != StTotal)),
      .falls_o        (falls[h]),
      .chunk_first_i  (chunk_first_q),
      .chunk_load_i   (chunk_load),
      .weights_i      (weights[h*ChunkWeightBits +: ChunkWeightBits]),
      .chunk_valid_i  (chunk_valid_q),
      .hit_o          (hits[h]),
      .key_o          (keys[h*ScanLanes +: ScanLanes])
    );

    for (genvar l = 0; l < ScanLanes; l++) begin : gen_count
      logic [CountBits-1:0] count_q;
      always_ff @(posedge clk_i) begin
        if (!scanning || chunk_done) begin
          count_q <= '0;
        end else if (hits[h] && keys[h*ScanLanes + l]) begin
          count_q <= count_q + CountBits'(1);
        end
      end
      assign counts[(l*GroupHeads + h)*CountBits +: CountBits] = count_q;
    end
  end

  for (genvar l = 0; l < ScanLanes; l++) begin : gen_drawn
    assign drawn[l] = |counts[l*GroupHeads*CountBits +: GroupHeads*CountBits];
  end

  // --- rows ----------------------------------------------------------------------------------

  logic [ScanLanes-1:0]                      rows_q, row, rows_left;
  logic [GroupHeads*ScanLanes*CountBits-1:0] row_counts_q;
  logic [santa_pkg::KeyBits-1:0]             row_base_q;
  logic                                      row_gone;
  logic [GroupHeads*CountBits-1:0]           row_counts;
  logic [santa_pkg::KeyBits-1:0]             row_key;

  assign row       = rows_q & (~rows_q + ScanLanes'(1));
  assign rows_left = rows_q & ~row;
  assign row_gone  = (rows_q != '0) && row_ready_i;
  // The chunk's rows find room, or it has none.
  assign rows_ready = (drawn == '0) || (rows_q == '0) || (row_gone && (rows_left == '0));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rows_q <= '0;
    end else if (chunk_done && (drawn != '0)) begin
      rows_q <= drawn;
    end else if (row_gone) begin
      rows_q <= rows_left;
    end
  end

  always_ff @(posedge clk_i) begin
    if (chunk_done && (drawn != '0)) begin
      row_counts_q <= counts;
      row_base_q   <= (santa_pkg::KeyBits'(tile_q) << TileBits) +
                      (santa_pkg::KeyBits'(chunk_q) << $clog2(ScanLanes));
    end
  end

  always_comb begin
    row_counts = '0;
    row_key    = row_base_q;
    for (int l = 0; l < ScanLanes; l++) begin
      if (row[l]) begin
        row_counts = row_counts | row_counts_q[l*GroupHeads*CountBits +: GroupHeads*CountBits];
        row_key    = row_key | santa_pkg::KeyBits'(l);
      end
    end
  end

  assign row_valid_o  = (rows_q != '0) || (state_q == StEnd);
  assign row_last_o   = rows_q == '0;
  assign row_key_o    = row_key;
  assign row_counts_o = row_counts;
  assign row_status_o = request_q.status;

  // --- control -------------------------------------------------------------------------------

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (start) state_d = (tiles != '0) ? StTotalStart : StEnd;
      StTotalStart: state_d = StTotal;
      StTotal: if (total_ends) state_d = StLoad;
      StLoad: state_d = StDraw;
      StDraw: if (accept) state_d = head_last ? StWalk : StLoad;
      StWalk: begin
        if (mass_valid_q) begin
          if (any_falls) state_d = StEnter;
          else if (last_tile) state_d = StEnd;
        end
      end
      StEnter: state_d = StScan;
      StScan: begin
        if (tile_scanned) begin
          if (!tile_on_chip && !spilled_idle) state_d = StDrop;
          else state_d = last_tile ? StEnd : StWalk;
        end
      end
      StDrop: if (spilled_idle) state_d = (tile_q == '0) ? StEnd : StWalk;
      StEnd: if ((rows_q == '0) && row_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      state_q <= state_d;
    end
  end

  assign half_release_o = (state_q == StEnd) && (state_d == StIdle) && half_held_q;
  assign tile_scanned_o = state_q == StEnter;
  assign busy_o         = state_q != StIdle;

  // --- scratch -------------------------------------------------------------------------------

  logic [santa_pkg::AddressBits-1:0] entries_address;
  logic [TileCountBits-1:0]          entries, entries_first;

  assign entries_first   = (state_q == StTotalStart) ? fit : on_chip_q;
  assign entries         = tiles_q - entries_first;
  assign entries_address = request_q.scratch_address +
      (santa_pkg::AddressBits'(tiles_q) << (4'(TileBits + 1) + 4'(group_log2))) +
      (santa_pkg::AddressBits'(entries_first) << $clog2(EntryBytes));

  scratch_reader #(
    .PortBytes (PortBytes),
    .WordBytes (WordBytes),
    .TileWords (Chunks),
    .EntryBytes(EntryBytes),
    .CountBits (TileCountBits)
  ) u_scratch (
    .clk_i,
    .rst_ni,
    .entries_start_i  (reader_start),
    .entries_address_i(entries_address),
    .entries_i        (entries),
    .entry_valid_o    (entry_valid),
    .entry_ready_i    (entry_ready),
    .entry_o          (entry),
    .weights_start_i  ((state_q == StEnter) && !tile_on_chip),
    .weights_address_i(request_q.scratch_address +
                       (santa_pkg::AddressBits'(tile_q) << (4'(TileBits + 1) + 4'(group_log2)))),
    .weights_words_i  (16'(1) << (4'(TileWordsLog2) + 4'(group_log2))),
    .weights_drop_i   (state_q == StDrop),
    .weights_idle_o   (spilled_idle),
    .word_valid_o     (spilled_valid),
    .word_ready_i     (spilled_ready),
    .word_o           (spilled_word),
    .error_o          (scratch_error),
    .burst_valid_o,
    .burst_ready_i,
    .burst_address_o,
    .burst_words_o,
    .data_valid_i     (word_valid_i),
    .data_i           (word_data_i),
    .data_error_i     (word_error_i)
  );

`ifndef SYNTHESIS
  RowStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (row_valid_o && !row_ready_i && !row_last_o) |=>
    (row_valid_o && $stable(row_key_o) && $stable(row_counts_o)));
`endif

endmodule
