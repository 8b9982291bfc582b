// Key fetch: reads, tile after tile, the runs of features that some head needs, and the tile still
// being filled whole. Full tiles arrive in a FIFO in the very order in which the ternary gather
// consumes them; the tail goes to the transposing buffer. Reads go out while there is room for
// their words, so several tiles may be in flight.

module key_fetch #(
  parameter int PortBytes        = 16,
  parameter int TileKeys         = 16,
  parameter int KeyLanes         = 16,
  parameter int MaxHeadDimension = 256,
  parameter int KeyBufferTiles   = 2,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int TileBits    = $clog2(TileKeys),
  localparam int Words       = TileKeys / KeyLanes,
  localparam int WordBits    = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Encoded request.
  input  logic                              encoded_valid_i,
  output logic                              encoded_ready_o,
  input  santa_pkg::request_t               encoded_i,
  input  logic                              bank_i,
  input  logic [FeatureBits:0]              needed_i,
  input  logic [FeatureBits-1:0]            runs_i,
  output logic                              run_read_o,
  output logic [FeatureBits-1:0]            run_index_o,
  input  logic [2*FeatureBits-1:0]          run_data_i,
  // Memory.
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,
  input  logic                              word_valid_i,
  input  logic [8*PortBytes-1:0]            word_data_i,
  input  logic                              word_error_i,
  // Keys of full tiles: KeyLanes keys of one feature.
  output logic                              key_valid_o,
  input  logic                              key_ready_i,
  output logic [8*KeyLanes-1:0]             key_data_o,
  output logic                              key_error_o,
  // Tail tile.
  output logic                              tail_valid_o,   // all of it is there
  output logic                              tail_error_o,
  input  logic                              tail_release_i,
  input  logic                              tail_read_i,
  input  logic [FeatureBits-1:0]            tail_feature_i,
  input  logic [WordBits-1:0]               tail_word_i,
  output logic [8*KeyLanes-1:0]             tail_data_o,
  output logic                              blocked_o,      // a read waits for room
  output logic                              streaming_o     // first to last key word of a request
);

  localparam int WordLog2     = $clog2(PortBytes);
  localparam int Ratio        = KeyLanes / PortBytes;  // bus words a word of keys
  localparam int TilePerWord  = TileBits - WordLog2;   // log2 of bus words a feature
  localparam int BufferKeys   = (KeyBufferTiles - 1) * MaxHeadDimension * Words;
  localparam int BufferWords  = BufferKeys * Ratio;
  localparam int BlockWords   = santa_pkg::BurstBytes / PortBytes;
  localparam int HalfBuffer   = (BufferWords > 1) ? BufferWords / 2 : 1;
  localparam int MaxBurst     = (HalfBuffer < BlockWords) ? HalfBuffer : BlockWords;
  localparam int RoomBits     = $clog2(BufferWords + 1);
  localparam int TileCountBits = santa_pkg::ContextBits - TileBits;
  localparam int RunWordsBits = 16;
  localparam int StrideBits   = 4;

  // --- issue ---------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    StIdle,
    StTiles,
    StTail
  } state_e;

  state_e                            state_q;
  /* verilator lint_off UNUSEDSIGNAL */  // other blocks use the other fields
  santa_pkg::request_t               request_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic                              bank_q;
  logic [FeatureBits-1:0]            runs_q;
  logic [FeatureBits-1:0]            fetch_q, issue_q;  // run of this tile
  logic [TileCountBits-1:0]          fetch_tile_q, issue_tile_q, tiles_q;
  logic [santa_pkg::AddressBits-1:0] base_q;
  logic [TileBits-1:0]               tail_keys;
  logic [StrideBits-1:0]             stride_log2;
  logic                              skip, start, expect_ready;
  logic                              fetch, fetched_q, entry_valid, entry_pop;
  logic [1:0]                        entry_usage;
  logic [2*FeatureBits-1:0]          entry;
  logic                              unused_entry_ready;
  logic                              run_valid, run_ready, run_tail;
  logic [santa_pkg::AddressBits-1:0] run_address;
  logic [RunWordsBits-1:0]           run_words, entry_words, tail_words;
  logic                              burst_valid, burst_tail_q;
  logic [8:0]                        burst_words;
  logic                              unused_burst_last;
  logic [RoomBits-1:0]               room_q;
  logic                              issued, key_pop;

  assign skip      = encoded_i.status != santa_pkg::StatusOk;
  assign start     = encoded_valid_i && encoded_ready_o;
  assign tail_keys = request_q.context_length[TileBits-1:0];

  always_comb begin
    stride_log2 = santa_pkg::log2_ceil(request_q.head_dimension);
    if (stride_log2 < StrideBits'(WordLog2)) stride_log2 = StrideBits'(WordLog2);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: begin
          if (start && !skip) begin
            if ((encoded_i.context_length[santa_pkg::ContextBits-1:TileBits] != '0) &&
                (needed_i != '0)) begin
              state_q <= StTiles;
            end else if (encoded_i.context_length[TileBits-1:0] != '0) begin
              state_q <= StTail;
            end
          end
        end
        StTiles: begin
          if (run_valid && run_ready && (issue_tile_q == tiles_q - TileCountBits'(1)) &&
              (issue_q == runs_q - FeatureBits'(1))) begin
            state_q <= (tail_keys != '0) ? StTail : StIdle;
          end
        end
        StTail: if (run_valid && run_ready) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      request_q    <= encoded_i;
      bank_q       <= bank_i;
      runs_q       <= runs_i;
      tiles_q      <= encoded_i.context_length[santa_pkg::ContextBits-1:TileBits];
      base_q       <= encoded_i.key_address;
      fetch_q      <= '0;
      issue_q      <= '0;
      fetch_tile_q <= '0;
      issue_tile_q <= '0;
    end else begin
      if (fetch) begin
        fetch_q <= (fetch_q == runs_q - FeatureBits'(1)) ? '0 : fetch_q + FeatureBits'(1);
        if (fetch_q == runs_q - FeatureBits'(1)) fetch_tile_q <= fetch_tile_q + TileCountBits'(1);
      end
      if (entry_pop) begin
        issue_q <= (issue_q == runs_q - FeatureBits'(1)) ? '0 : issue_q + FeatureBits'(1);
        if (issue_q == runs_q - FeatureBits'(1)) begin
          issue_tile_q <= issue_tile_q + TileCountBits'(1);
          base_q       <= base_q +
                          (santa_pkg::AddressBits'(request_q.head_dimension) << TileBits);
        end
      end
    end
  end

  // The run list is read ahead, again and again for each tile.
  assign fetch = (state_q == StTiles) && (fetch_tile_q != tiles_q) &&
                 ({1'b0, entry_usage} + {2'b00, fetched_q} < 3'd3);
  assign run_read_o  = fetch;
  assign run_index_o = {bank_q, fetch_q[FeatureBits-2:0]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fetched_q <= 1'b0;
    end else begin
      fetched_q <= fetch;
    end
  end

  fifo_sync #(
    .Width(2 * FeatureBits),
    .Depth(3)
  ) u_entries (
    .clk_i,
    .rst_ni,
    .wvalid_i(fetched_q),
    .wready_o(unused_entry_ready),
    .wdata_i (run_data_i),
    .rvalid_o(entry_valid),
    .rready_i(entry_pop),
    .rdata_o (entry),
    .usage_o (entry_usage)
  );

  assign entry_words = (RunWordsBits'(entry[FeatureBits-1:0]) + RunWordsBits'(1)) << TilePerWord;
  assign tail_words  = RunWordsBits'(tail_keys) << (stride_log2 - StrideBits'(WordLog2));

  // The tail is asked for when its buffer is free: the gather has released the one before.
  logic tail_busy_q;

  assign run_tail    = state_q == StTail;
  assign run_valid   = (state_q == StTiles) ? entry_valid : run_tail && !tail_busy_q;
  assign run_address = run_tail ? request_q.tail_address
                       : base_q + (santa_pkg::AddressBits'(entry[2*FeatureBits-1:FeatureBits])
                                   << TileBits);
  assign run_words   = run_tail ? tail_words : entry_words;
  assign entry_pop   = (state_q == StTiles) && entry_valid && run_ready;

  burst_splitter #(
    .PortBytes    (PortBytes),
    .MaxBurstWords(MaxBurst),
    .RunBits      (RunWordsBits)
  ) u_splitter (
    .clk_i,
    .rst_ni,
    .run_valid_i    (run_valid),
    .run_ready_o    (run_ready),
    .run_address_i  (run_address),
    .run_words_i    (run_words),
    .burst_valid_o  (burst_valid),
    .burst_ready_i  (issued),
    .burst_address_o(burst_address_o),
    .burst_words_o  (burst_words),
    .burst_last_o   (unused_burst_last)
  );

  always_ff @(posedge clk_i) begin
    if (run_valid && run_ready) burst_tail_q <= run_tail;
  end

  assign burst_words_o = burst_words;
  assign burst_valid_o = burst_valid && (burst_tail_q || (room_q >= RoomBits'(burst_words)));
  assign issued        = burst_valid_o && burst_ready_i;
  assign blocked_o     = burst_valid && !burst_valid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      room_q <= RoomBits'(BufferWords);
    end else begin
      room_q <= room_q + (key_pop ? RoomBits'(Ratio) : '0) -
                ((issued && !burst_tail_q) ? RoomBits'(burst_words) : '0);
    end
  end

  // --- receive -------------------------------------------------------------------------------
  // What is to come for each request, in order: words of full tiles, then words of the tail.

  localparam int ExpectBits = TileCountBits + RunWordsBits + TileBits + StrideBits;

  logic                     expect_valid, expect_pop;
  logic [ExpectBits-1:0]    expect_data;
  logic [TileCountBits-1:0] expect_tiles;
  logic [RunWordsBits-1:0]  expect_words;
  logic [TileBits-1:0]      expect_tail;
  logic [StrideBits-1:0]    expect_stride;
  logic [1:0]               unused_expect_usage;
  logic [TileCountBits-1:0] tile_q;
  logic [RunWordsBits-1:0]  word_q;
  logic                     tiles_done, last_word, in_tail;

  assign encoded_ready_o = (state_q == StIdle) && expect_ready;

  fifo_sync #(
    .Width(ExpectBits),
    .Depth(2)
  ) u_expected (
    .clk_i,
    .rst_ni,
    .wvalid_i(start && !skip && ((encoded_i.context_length[TileBits-1:0] != '0) ||
                                 ((needed_i != '0) && (encoded_i.context_length != '0)))),
    .wready_o(expect_ready),
    .wdata_i ({(needed_i != '0) ? encoded_i.context_length[santa_pkg::ContextBits-1:TileBits]
                                : TileCountBits'(0),
               RunWordsBits'(needed_i) << TilePerWord,
               encoded_i.context_length[TileBits-1:0],
               santa_pkg::log2_ceil(encoded_i.head_dimension)}),
    .rvalid_o(expect_valid),
    .rready_i(expect_pop),
    .rdata_o (expect_data),
    .usage_o (unused_expect_usage)
  );

  assign {expect_tiles, expect_words, expect_tail, expect_stride} = expect_data;
  assign tiles_done = tile_q == expect_tiles;
  assign in_tail    = expect_valid && tiles_done;
  assign last_word  = word_q == expect_words - RunWordsBits'(1);

  // Tail position: key and bus word of its row.
  logic [TileBits-1:0]    tail_key_q;
  logic [FeatureBits-1:0] tail_feature_q;
  logic                   tail_row_ends, tail_write;
  logic [FeatureBits:0]   tail_row_bytes;

  assign tail_row_bytes = (expect_stride < StrideBits'(WordLog2))
                          ? (FeatureBits + 1)'(PortBytes)
                          : (FeatureBits + 1)'(1) << expect_stride;
  assign tail_row_ends = {1'b0, tail_feature_q} ==
                         tail_row_bytes - (FeatureBits + 1)'(PortBytes);
  assign tail_write    = word_valid_i && in_tail;
  assign expect_pop    = tail_write ? tail_row_ends && (tail_key_q == expect_tail - TileBits'(1))
                         : (word_valid_i && last_word && (expect_tail == '0) &&
                            (tile_q == expect_tiles - TileCountBits'(1)));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tile_q         <= '0;
      word_q         <= '0;
      tail_key_q     <= '0;
      tail_feature_q <= '0;
    end else if (expect_pop) begin
      tile_q         <= '0;
      word_q         <= '0;
      tail_key_q     <= '0;
      tail_feature_q <= '0;
    end else if (tail_write) begin
      tail_feature_q <= tail_row_ends ? '0 : tail_feature_q + FeatureBits'(PortBytes);
      if (tail_row_ends) tail_key_q <= tail_key_q + TileBits'(1);
    end else if (word_valid_i) begin
      word_q <= last_word ? '0 : word_q + RunWordsBits'(1);
      if (last_word) tile_q <= tile_q + TileCountBits'(1);
    end
  end

  // Bus words are joined to words of KeyLanes keys.
  logic [8*KeyLanes-1:0] key_word;
  logic                  key_word_valid, key_word_error, unused_key_ready;
  logic                  error_q;

  word_join #(
    .PortBytes(PortBytes),
    .WordBytes(KeyLanes)
  ) u_join (
    .clk_i,
    .rst_ni,
    .part_valid_i(word_valid_i && !in_tail),
    .part_i      (word_data_i),
    .word_valid_o(key_word_valid),
    .word_o      (key_word)
  );
  assign key_word_error = error_q || word_error_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || key_word_valid) begin
      error_q <= 1'b0;
    end else if (word_valid_i && !in_tail) begin
      error_q <= error_q || word_error_i;
    end
  end

  fifo_ram #(
    .Width(8 * KeyLanes + 1),
    .Depth(BufferKeys)
  ) u_keys (
    .clk_i,
    .rst_ni,
    .wvalid_i(key_word_valid),
    .wready_o(unused_key_ready),
    .wdata_i ({key_word_error, key_word}),
    .rvalid_o(key_valid_o),
    .rready_i(key_ready_i),
    .rdata_o ({key_error_o, key_data_o})
  );
  assign key_pop = key_valid_o && key_ready_i;

  tail_buffer #(
    .PortBytes       (PortBytes),
    .TileKeys        (TileKeys),
    .KeyLanes        (KeyLanes),
    .MaxHeadDimension(MaxHeadDimension)
  ) u_tail (
    .clk_i,
    .write_i        (tail_write),
    .write_key_i    (tail_key_q),
    .write_feature_i(tail_feature_q),
    .write_data_i   (word_data_i),
    .read_i         (tail_read_i),
    .read_feature_i (tail_feature_i),
    .read_word_i    (tail_word_i),
    .read_data_o    (tail_data_o)
  );

  logic tail_valid_q, tail_error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tail_busy_q  <= 1'b0;
      tail_valid_q <= 1'b0;
      tail_error_q <= 1'b0;
    end else begin
      if (run_valid && run_ready && run_tail) begin
        tail_busy_q  <= 1'b1;
        tail_error_q <= 1'b0;
      end else if (tail_release_i) begin
        tail_busy_q  <= 1'b0;
        tail_valid_q <= 1'b0;
      end
      if (tail_write && expect_pop) tail_valid_q <= 1'b1;
      if (tail_write && word_error_i) tail_error_q <= 1'b1;
    end
  end

  assign tail_valid_o = tail_valid_q;
  assign tail_error_o = tail_error_q;
  assign streaming_o  = (word_valid_i || (word_q != '0) || (tile_q != '0)) && !in_tail;

`ifndef SYNTHESIS
  KeysFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) key_word_valid |-> unused_key_ready);
  EntriesFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) fetched_q |-> unused_entry_ready);
  WordsWereAsked_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_valid_i |-> expect_valid);
  KeyStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (key_valid_o && !key_ready_i) |=> (key_valid_o && $stable(key_data_o)));
`endif

endmodule
