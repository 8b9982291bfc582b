// Ternary gather: adds and subtracts shifted keys, one lane a key and head. For each needed feature
// and word of KeyLanes keys it takes ceil(digits / DigitLanes) passes, of the head with most digits;
// a pass a cycle. The tail tile, read from the transposing buffer, costs one more cycle a word.
//
// Scores of a tile lie in one of two buffers; the weight unit reads the other.

module ternary_gather #(
  parameter int TileKeys         = 16,
  parameter int GroupHeads       = 8,
  parameter int MaxHeadDimension = 256,
  parameter int KeyLanes         = 16,
  parameter int DigitLanes       = 1,
  parameter int WeightLanes      = 4,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int TileBits    = $clog2(TileKeys),
  localparam int Words       = TileKeys / KeyLanes,
  localparam int WordBits    = (Words > 1) ? $clog2(Words) : 1,
  localparam int RowBits     = GroupHeads * santa_pkg::CoefficientBits,
  localparam int EntryBits   = FeatureBits + RowBits,
  localparam int Steps       = TileKeys / WeightLanes,
  localparam int StepBits    = (Steps > 1) ? $clog2(Steps) : 1
) (
  input  logic                                            clk_i,
  input  logic                                            rst_ni,
  // Encoded request.
  input  logic                                            encoded_valid_i,
  output logic                                            encoded_ready_o,
  input  logic                                            encoded_skip_i,     // nothing to do
  input  logic [santa_pkg::ContextBits-1:0]               encoded_context_i,
  input  logic                                            bank_i,
  input  logic [FeatureBits:0]                            needed_i,
  output logic                                            bank_release_o,
  output logic                                            entry_read_o,
  output logic [FeatureBits:0]                            entry_index_o,
  input  logic [EntryBits-1:0]                            entry_data_i,
  // Keys.
  input  logic                                            key_valid_i,
  output logic                                            key_ready_o,
  input  logic [8*KeyLanes-1:0]                           key_data_i,
  input  logic                                            key_error_i,
  input  logic                                            tail_valid_i,
  input  logic                                            tail_error_i,
  output logic                                            tail_release_o,
  output logic                                            tail_read_o,
  output logic [FeatureBits-1:0]                          tail_feature_o,
  output logic [WordBits-1:0]                             tail_word_o,
  input  logic [8*KeyLanes-1:0]                           tail_data_i,
  // Scores, tile by tile.
  output logic                                            tile_valid_o,
  output logic                                            tile_error_o,
  input  logic                                            tile_release_i,
  input  logic [StepBits-1:0]                             score_step_i,  // WeightLanes keys
  output logic [GroupHeads*WeightLanes*santa_pkg::ScoreBits-1:0] score_o,
  input  logic                                            write_i,       // puts scaled scores back
  input  logic [StepBits-1:0]                             write_step_i,
  input  logic [GroupHeads*WeightLanes*santa_pkg::ScoreBits-1:0] write_data_i,
  output logic                                            busy_o
);

  localparam int TileCountBits = santa_pkg::ContextBits - TileBits + 1;
  localparam int LaneGroups    = KeyLanes / WeightLanes;
  localparam int LaneGroupBits = (LaneGroups > 1) ? $clog2(LaneGroups) : 1;
  localparam int Slots         = 2 * Words;
  localparam int SlotBits      = $clog2(Slots);
  localparam int DigitBits     = GroupHeads * santa_pkg::DigitPlanes;

  typedef enum logic [2:0] {
    StIdle,
    StWait,      // for a score buffer, and the tail if it is next
    StClear,     // no feature is needed: all scores are 0
    StFull,      // a pass over words from the FIFO
    StTailRead,  // a word of the tail is being read
    StTail       // passes over it
  } state_e;

  state_e                   state_q;
  logic                     bank_q, in_tail, take, last_tile;
  logic [FeatureBits:0]     needed_q, fetch_q;
  logic [FeatureBits:0]     feature_q;     // entry in work
  logic [TileCountBits-1:0] tiles_q, tile_q, fetch_tile_q;
  logic [TileBits-1:0]      tail_keys_q;
  logic [WordBits-1:0]      word_q;
  logic                     skip, start;
  logic                     fetch, fetched_q, entry_valid, entry_pop, unused_entry_ready;
  logic [1:0]               entry_usage;
  logic [EntryBits-1:0]     entry;
  logic                     pass, word_ends, feature_ends, tile_ends, clear_ends, last_word;

  assign skip      = encoded_skip_i || (encoded_context_i == '0);
  assign encoded_ready_o = state_q == StIdle;
  assign start     = encoded_valid_i && encoded_ready_o;
  assign in_tail   = (tail_keys_q != '0) && (tile_q == tiles_q - TileCountBits'(1));
  assign last_tile = tile_q == tiles_q - TileCountBits'(1);

  // --- coefficients, read ahead, again and again for each tile ------------------------------

  logic fetch_wraps;

  assign fetch_wraps = fetch_q == needed_q - (FeatureBits + 1)'(1);
  assign fetch = (state_q != StIdle) && (needed_q != '0) && (fetch_tile_q != tiles_q) &&
                 ({1'b0, entry_usage} + {2'b00, fetched_q} < 3'd3);
  assign entry_read_o  = fetch;
  assign entry_index_o = {bank_q, fetch_q[FeatureBits-1:0]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fetched_q <= 1'b0;
    end else begin
      fetched_q <= fetch;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      fetch_q      <= '0;
      fetch_tile_q <= '0;
    end else if (fetch) begin
      fetch_q <= fetch_wraps ? '0 : fetch_q + (FeatureBits + 1)'(1);
      if (fetch_wraps) fetch_tile_q <= fetch_tile_q + TileCountBits'(1);
    end
  end

  fifo_sync #(
    .Width(EntryBits),
    .Depth(3)
  ) u_entries (
    .clk_i,
    .rst_ni,
    .wvalid_i(fetched_q),
    .wready_o(unused_entry_ready),
    .wdata_i (entry_data_i),
    .rvalid_o(entry_valid),
    .rready_i(entry_pop),
    .rdata_o (entry),
    .usage_o (entry_usage)
  );

  // --- digits of this pass -------------------------------------------------------------------

  logic                                                     fresh_q;  // first pass over this word
  logic [DigitBits-1:0]                                     plus_left, minus_left;
  logic [DigitBits-1:0]                                     plus_left_q, minus_left_q;
  logic [GroupHeads*DigitLanes-1:0]                         valid, negative;
  logic [GroupHeads*DigitLanes*santa_pkg::PlaneBits-1:0]    plane;

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_digits
    logic signed [santa_pkg::CoefficientBits-1:0] coefficient;
    logic [santa_pkg::DigitPlanes-1:0]            magnitude, plus, minus, plus_now, minus_now;

    assign coefficient = entry[h*santa_pkg::CoefficientBits +: santa_pkg::CoefficientBits];
    assign magnitude   = coefficient[santa_pkg::CoefficientBits-1]
                         ? santa_pkg::DigitPlanes'(-coefficient)
                         : santa_pkg::DigitPlanes'(coefficient);
    assign plus  = santa_pkg::plus_digits(magnitude);
    assign minus = santa_pkg::minus_digits(magnitude);

    always_comb begin
      plus_now  = plus_left_q[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes];
      minus_now = minus_left_q[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes];
      if (fresh_q) begin
        plus_now  = coefficient[santa_pkg::CoefficientBits-1] ? minus : plus;
        minus_now = coefficient[santa_pkg::CoefficientBits-1] ? plus : minus;
      end
    end

    digit_select #(
      .Lanes(DigitLanes)
    ) u_select (
      .plus_i      (plus_now),
      .minus_i     (minus_now),
      .valid_o     (valid[h*DigitLanes +: DigitLanes]),
      .negative_o  (negative[h*DigitLanes +: DigitLanes]),
      .plane_o     (plane[h*DigitLanes*santa_pkg::PlaneBits +: DigitLanes*santa_pkg::PlaneBits]),
      .plus_left_o (plus_left[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes]),
      .minus_left_o(minus_left[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes])
    );
  end

  assign pass         = entry_valid && (((state_q == StFull) && key_valid_i) ||
                                        (state_q == StTail));
  assign word_ends    = pass && (plus_left == '0) && (minus_left == '0);
  assign last_word    = word_q == WordBits'(Words - 1);
  assign feature_ends = word_ends && last_word;
  assign clear_ends   = (state_q == StClear) && last_word;
  assign tile_ends    = (feature_ends && (feature_q == needed_q - (FeatureBits + 1)'(1))) ||
                        clear_ends;
  assign entry_pop    = feature_ends;
  assign key_ready_o  = word_ends && (state_q == StFull);

  assign tail_read_o    = (state_q == StTailRead) && entry_valid;
  assign tail_feature_o = entry[EntryBits-1:RowBits];
  assign tail_word_o    = word_q;

  always_ff @(posedge clk_i) begin
    if (pass) begin
      plus_left_q  <= plus_left;
      minus_left_q <= minus_left;
    end
    if (start) begin
      fresh_q   <= 1'b1;
      word_q    <= '0;
      feature_q <= '0;
    end else begin
      if (pass) fresh_q <= word_ends;
      if (word_ends || (state_q == StClear)) word_q <= last_word ? '0 : word_q + WordBits'(1);
      if (tile_ends) feature_q <= '0;
      else if (feature_ends) feature_q <= feature_q + (FeatureBits + 1)'(1);
    end
  end

  // --- tiles ---------------------------------------------------------------------------------

  logic       buffer_q;        // the buffer that this tile's scores go to
  logic [1:0] buffers_used_q;  // taken for accumulation or waiting for the weight unit
  logic       finish_q;        // the tile's last pass is in the second stage
  logic       error_q;
  logic       at_border;       // between two tiles of a request
  logic       tail_next;       // the next tile is the tail
  state_e     next_tile;

  // The next tile starts at once when a score buffer is free.
  assign at_border = (state_q == StWait) || (tile_ends && !last_tile);
  assign tail_next = (tail_keys_q != '0) &&
                     (tile_q + TileCountBits'(state_q != StWait) == tiles_q - TileCountBits'(1));
  assign take      = at_border && (buffers_used_q != 2'd2) && (!tail_next || tail_valid_i);

  always_comb begin
    next_tile = StFull;
    if (tail_next) next_tile = StTailRead;
    if (needed_q == '0) next_tile = StClear;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: if (start && !skip) state_q <= StWait;
        StWait: if (take) state_q <= next_tile;
        StClear, StFull: begin
          if (tile_ends) state_q <= last_tile ? StIdle : (take ? next_tile : StWait);
        end
        StTailRead: if (entry_valid) state_q <= StTail;
        StTail: if (word_ends) state_q <= tile_ends ? StIdle : StTailRead;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      bank_q      <= bank_i;
      needed_q    <= needed_i;
      tail_keys_q <= encoded_context_i[TileBits-1:0];
      tiles_q     <= {1'b0, encoded_context_i[santa_pkg::ContextBits-1:TileBits]} +
                     TileCountBits'(encoded_context_i[TileBits-1:0] != '0);
      tile_q      <= '0;
    end else if (tile_ends) begin
      tile_q <= tile_q + TileCountBits'(1);
    end
  end

  assign tail_release_o = tile_ends && in_tail;
  assign bank_release_o = (tile_ends && last_tile) ||
                          (start && skip);

  // --- second stage: add ---------------------------------------------------------------------

  logic                                                  add_q, first_q;
  logic [SlotBits-1:0]                                   slot_q;
  logic [8*KeyLanes-1:0]                                 key_q, key;
  logic [GroupHeads*DigitLanes-1:0]                      valid_q, negative_q;
  logic [GroupHeads*DigitLanes*santa_pkg::PlaneBits-1:0] plane_q;
  logic [SlotBits-1:0]                                   slot;

  if (Words > 1) begin : gen_slot
    assign slot = {buffer_q, word_q};
  end else begin : gen_single_slot
    assign slot = buffer_q;
  end

  // Keys of the tail beyond the context read as 0.
  assign key = (state_q == StTail) ? tail_data_i : key_data_i;
  for (genvar l = 0; l < KeyLanes; l++) begin : gen_mask
    logic beyond;
    if (Words > 1) begin : gen_words
      assign beyond = {1'b0, word_q, ($clog2(KeyLanes))'(l)} >= {1'b0, tail_keys_q};
    end else begin : gen_word
      assign beyond = {1'b0, TileBits'(l)} >= {1'b0, tail_keys_q};
    end
    always_ff @(posedge clk_i) begin
      if (pass) key_q[8*l +: 8] <= ((state_q == StTail) && beyond) ? 8'd0 : key[8*l +: 8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      add_q    <= 1'b0;
      finish_q <= 1'b0;
    end else begin
      add_q    <= pass || (state_q == StClear);
      finish_q <= tile_ends;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pass || (state_q == StClear)) begin
      first_q    <= (state_q == StClear) || ((feature_q == '0) && fresh_q);
      slot_q     <= slot;
      valid_q    <= (state_q == StClear) ? '0 : valid;
      negative_q <= negative;
      plane_q    <= plane;
    end
  end

  always_ff @(posedge clk_i) begin
    error_q <= (error_q && !finish_q && !start) || (key_ready_o && key_error_i) ||
               (tile_ends && in_tail && tail_error_i);
  end

  // --- score buffers -------------------------------------------------------------------------

  logic                full_valid, unused_full_ready;
  logic [1:0]          unused_full_usage;
  logic                read_buffer_q;
  logic [SlotBits-1:0] read_slot, write_slot;
  logic [LaneGroupBits-1:0] read_group, write_group;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      buffer_q       <= 1'b0;
      read_buffer_q  <= 1'b0;
      buffers_used_q <= '0;
    end else begin
      if (tile_ends) buffer_q <= !buffer_q;
      if (tile_release_i) read_buffer_q <= !read_buffer_q;
      buffers_used_q <= buffers_used_q + 2'(take) - 2'(tile_release_i);
    end
  end

  fifo_sync #(
    .Width(1),
    .Depth(2)
  ) u_full (
    .clk_i,
    .rst_ni,
    .wvalid_i(finish_q),
    .wready_o(unused_full_ready),
    .wdata_i (error_q),
    .rvalid_o(full_valid),
    .rready_i(tile_release_i),
    .rdata_o (tile_error_o),
    .usage_o (unused_full_usage)
  );
  assign tile_valid_o = full_valid;

  if (Words > 1) begin : gen_read_words
    assign read_slot  = {read_buffer_q, score_step_i[StepBits-1 -: WordBits]};
    assign write_slot = {read_buffer_q, write_step_i[StepBits-1 -: WordBits]};
  end else begin : gen_read_word
    assign read_slot  = read_buffer_q;
    assign write_slot = read_buffer_q;
  end
  if (LaneGroups > 1) begin : gen_groups
    assign read_group  = score_step_i[LaneGroupBits-1:0];
    assign write_group = write_step_i[LaneGroupBits-1:0];
  end else begin : gen_group
    assign read_group  = '0;
    assign write_group = '0;
  end

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
    logic [KeyLanes*santa_pkg::ScoreBits-1:0] scores;

    for (genvar l = 0; l < KeyLanes; l++) begin : gen_lane
      gather_lane #(
        .DigitLanes(DigitLanes),
        .Slots     (Slots)
      ) u_lane (
        .clk_i,
        .add_i       (add_q),
        .first_i     (first_q),
        .slot_i      (slot_q),
        .key_i       (key_q[8*l +: 8]),
        .valid_i     (valid_q[h*DigitLanes +: DigitLanes]),
        .negative_i  (negative_q[h*DigitLanes +: DigitLanes]),
        .plane_i     (plane_q[h*DigitLanes*santa_pkg::PlaneBits +: DigitLanes*santa_pkg::PlaneBits]),
        .write_i     (write_i && (write_group == LaneGroupBits'(l / WeightLanes))),
        .score_slot_i(read_slot),
        .score_i     (write_data_i[(h*WeightLanes + (l % WeightLanes))*santa_pkg::ScoreBits +:
                                   santa_pkg::ScoreBits]),
        .write_slot_i(write_slot),
        .score_o     (scores[l*santa_pkg::ScoreBits +: santa_pkg::ScoreBits])
      );
    end
    assign score_o[h*WeightLanes*santa_pkg::ScoreBits +: WeightLanes*santa_pkg::ScoreBits] =
        scores[read_group*WeightLanes*santa_pkg::ScoreBits +: WeightLanes*santa_pkg::ScoreBits];
  end

  assign busy_o = pass || (state_q == StClear);

`ifndef SYNTHESIS
  BuffersApart_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (add_q && write_i) |-> (slot_q != write_slot));
  EntriesFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) fetched_q |-> unused_entry_ready);
  ReleasesWhatIsFull_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) tile_release_i |-> tile_valid_o);
  BuffersInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) buffers_used_q <= 2'd2);
`endif

endmodule
