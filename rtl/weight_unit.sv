// Weight unit: scales the scores of a tile and finds their maximum, then makes the weights 2^(x - m)
// and adds them up, heads in parallel, WeightLanes keys a cycle in each of the two passes. Weights go
// to the stash, or to memory when a request's tiles do not fit it (docs/rtl.md, "Memory layout").

module weight_unit #(
  parameter int PortBytes   = 16,
  parameter int TileKeys    = 16,
  parameter int GroupHeads  = 8,
  parameter int WeightLanes = 4,
  parameter int ScanLanes   = 4,
  parameter int StashKib    = 4,
  localparam int TileBits     = $clog2(TileKeys),
  localparam int Steps        = TileKeys / WeightLanes,
  localparam int StepBits     = (Steps > 1) ? $clog2(Steps) : 1,
  localparam int ChunkWeightBits = ScanLanes * santa_pkg::WeightBits,  // a head's part of a chunk
  localparam int HalfWords    = StashKib * 256 / (GroupHeads * ScanLanes),
  localparam int StashBits    = $clog2(2 * HalfWords),
  localparam int HalfTiles    = HalfWords / (TileKeys / ScanLanes),  // of a full group
  localparam int StatisticsIndexBits = $clog2(2 * HalfTiles),
  localparam int StatisticsBits = santa_pkg::ExponentBits + santa_pkg::TileSumBits,
  localparam int EntryBytes   = (8 * GroupHeads > PortBytes) ? 8 * GroupHeads : PortBytes
) (
  input  logic                                          clk_i,
  input  logic                                          rst_ni,
  // Encoded request.
  input  logic                                          encoded_valid_i,
  output logic                                          encoded_ready_o,
  input  santa_pkg::request_t                           encoded_i,
  // Scores.
  input  logic                                          tile_valid_i,
  input  logic                                          tile_error_i,
  output logic                                          tile_release_o,
  output logic [StepBits-1:0]                           score_step_o,
  input  logic [GroupHeads*WeightLanes*santa_pkg::ScoreBits-1:0] score_i,
  output logic                                          write_o,
  output logic [StepBits-1:0]                           write_step_o,
  output logic [GroupHeads*WeightLanes*santa_pkg::ScoreBits-1:0] write_data_o,
  // Stash: banks of ScanLanes weights, and of a tile's statistics {exponent, sum}.
  output logic [GroupHeads-1:0]                         stash_write_o,
  output logic [StashBits-1:0]                          stash_index_o,
  output logic [GroupHeads*ChunkWeightBits-1:0]         stash_data_o,
  output logic [GroupHeads-1:0]                         statistics_write_o,
  output logic [StatisticsIndexBits-1:0]                statistics_index_o,
  output logic [GroupHeads*StatisticsBits-1:0]          statistics_data_o,
  // Tiles that do not fit.
  output logic                                          spill_start_o,
  input  logic                                          spill_idle_i,   // everything is in memory
  input  logic                                          spill_ready_i,  // may start a tile
  output logic [santa_pkg::AddressBits-1:0]             spill_address_o,
  output logic [15:0]                                   spill_words_o,  // bus words of weights
  output logic [santa_pkg::AddressBits-1:0]             spill_entry_address_o,
  output logic                                          spill_word_valid_o,
  output logic [GroupHeads*ChunkWeightBits-1:0]         spill_word_o,
  output logic                                          spill_entry_valid_o,
  output logic [8*EntryBytes-1:0]                       spill_entry_o,
  input  logic                                          spill_error_i,
  // Weighed request, its half of the stash and its exponents.
  output logic                                          weighed_valid_o,
  input  logic                                          weighed_ready_i,
  output santa_pkg::request_t                           weighed_o,
  output logic                                          half_o,
  output logic                                          half_held_o,    // to be released
  output logic [GroupHeads*santa_pkg::ExponentBits-1:0] exponent_o,
  input  logic                                          half_release_i,
  output logic                                          busy_o
);

  localparam int Lanes        = GroupHeads * WeightLanes;
  localparam int SubSteps     = ScanLanes / WeightLanes;  // of a chunk
  localparam int SubStepBits  = (SubSteps > 1) ? $clog2(SubSteps) : 1;
  localparam int Chunks       = TileKeys / ScanLanes;
  localparam int ChunkBits    = (Chunks > 1) ? $clog2(Chunks) : 1;
  localparam int ChunksLog2   = $clog2(Chunks);
  localparam int SliceBits    = (GroupHeads > 1) ? $clog2(GroupHeads) : 1;
  localparam int GroupLog2    = $clog2(GroupHeads);
  localparam int TileCountBits = santa_pkg::ContextBits - TileBits + 1;
  localparam int HalfWordsLog2 = $clog2(HalfWords);
  localparam int ScaleDrain   = 2;  // cycles from a pass's last step to its result, less one
  localparam int WeighDrain   = 3;

  typedef enum logic [2:0] {
    StIdle,
    StTile,    // waits for scores and, with the first tile, for half of the stash
    StScale,   // first pass
    StScaled,  // its last scores are in the pipeline
    StWeigh,   // second pass
    StWeighed,
    StFlush,   // spilled weights are on their way
    StDone
  } state_e;

  state_e                   state_q, state_d;
  santa_pkg::request_t      request_q;
  logic [TileCountBits-1:0] tile_q, tiles_q;
  logic [StepBits-1:0]      step_q;
  logic [1:0]               drain_q;
  logic                     half_q;
  logic [1:0]               halves_used_q;
  logic                     start, take_half, last_tile, last_step, tile_starts, tile_done;
  logic [1:0]               group_log2;
  logic [1:0]               fold_log2;
  logic [TileBits:0]        valid_keys;
  logic                     on_chip;

  assign start      = encoded_valid_i && encoded_ready_o;
  assign last_tile  = tile_q == tiles_q - TileCountBits'(1);
  assign last_step  = step_q == StepBits'(Steps - 1);
  assign group_log2 = 2'(santa_pkg::log2_ceil(santa_pkg::DimensionBits'(request_q.group)));
  assign fold_log2  = 2'(GroupLog2) - group_log2;
  assign valid_keys = (last_tile && (request_q.context_length[TileBits-1:0] != '0))
                      ? {1'b0, request_q.context_length[TileBits-1:0]}
                      : (TileBits + 1)'(TileKeys);

  // --- requests and tiles --------------------------------------------------------------------

  assign take_half   = (state_q == StTile) && (tile_q == '0) && tile_starts;
  assign tile_starts = (state_q == StTile) && tile_valid_i &&
                       ((tile_q != '0) || (halves_used_q != 2'd2)) && (on_chip || spill_ready_i);
  assign tile_done   = (state_q == StWeighed) && (drain_q == '0);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: begin
        if (start) begin
          state_d = ((encoded_i.status != santa_pkg::StatusOk) ||
                     (encoded_i.context_length == '0)) ? StDone : StTile;
        end
      end
      StTile: if (tile_starts) state_d = StScale;
      StScale: if (last_step) state_d = StScaled;
      StScaled: if (drain_q == '0) state_d = StWeigh;
      StWeigh: if (last_step) state_d = StWeighed;
      StWeighed: if (tile_done) state_d = last_tile ? StFlush : StTile;
      StFlush: if (spill_idle_i) state_d = StDone;
      StDone: if (weighed_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= StIdle;
      half_q        <= 1'b0;
      halves_used_q <= '0;
    end else begin
      state_q       <= state_d;
      halves_used_q <= halves_used_q + 2'(take_half) - 2'(half_release_i);
      if (weighed_valid_o && weighed_ready_i && half_held_o) half_q <= !half_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      request_q <= encoded_i;
      tile_q    <= '0;
      tiles_q   <= (encoded_i.status != santa_pkg::StatusOk) ? '0
                   : {1'b0, encoded_i.context_length[santa_pkg::ContextBits-1:TileBits]} +
                     TileCountBits'(encoded_i.context_length[TileBits-1:0] != '0);
    end else begin
      if (tile_done) tile_q <= tile_q + TileCountBits'(1);
      if (tile_done && tile_error_i) begin
        request_q.status <= santa_pkg::add_status(request_q.status, 1'b1,
                                                  santa_pkg::StatusReadError);
      end else if (spill_error_i) begin
        request_q.status <= santa_pkg::add_status(request_q.status, 1'b1,
                                                  santa_pkg::StatusWriteError);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if ((state_q == StScale) || (state_q == StWeigh)) begin
      step_q  <= last_step ? '0 : step_q + StepBits'(1);
      drain_q <= (state_q == StScale) ? 2'(ScaleDrain) : 2'(WeighDrain);
    end else begin
      if (state_q == StTile) step_q <= '0;
      if (drain_q != '0) drain_q <= drain_q - 2'd1;
    end
  end

  assign encoded_ready_o = state_q == StIdle;
  assign score_step_o    = step_q;
  assign tile_release_o  = tile_done;
  assign weighed_valid_o = state_q == StDone;
  assign weighed_o       = request_q;
  assign half_o          = half_q;
  assign half_held_o     = tiles_q != '0;
  assign busy_o          = (state_q == StScale) || (state_q == StScaled) ||
                           (state_q == StWeigh) || (state_q == StWeighed);

  // --- pipelines -----------------------------------------------------------------------------
  // Stage 1 holds the scores read, stage 3 the scaled score or the weight.

  logic                [2:0]  scale_valid_q, weigh_valid_q;
  logic [3*StepBits-1:0]      step_pipe_q;
  logic [StepBits-1:0]        step_out;
  logic [WeightLanes-1:0]     lane_valid;
  logic [Lanes*santa_pkg::WeightBits-1:0] weights_masked;
  logic [GroupHeads*santa_pkg::ExponentBits-1:0] tile_exponent, head_exponent_q;
  logic [GroupHeads*santa_pkg::TileSumBits-1:0]  tile_sum;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      scale_valid_q <= '0;
      weigh_valid_q <= '0;
    end else begin
      scale_valid_q <= {scale_valid_q[1:0], state_q == StScale};
      weigh_valid_q <= {weigh_valid_q[1:0], state_q == StWeigh};
    end
  end

  always_ff @(posedge clk_i) begin
    step_pipe_q <= {step_pipe_q[2*StepBits-1:0], step_q};
  end
  assign step_out = step_pipe_q[3*StepBits-1:2*StepBits];

  for (genvar l = 0; l < WeightLanes; l++) begin : gen_valid
    logic [TileBits:0] key;
    if (WeightLanes > 1) begin : gen_lanes
      assign key = (TileBits + 1)'({step_out, ($clog2(WeightLanes))'(l)});
    end else begin : gen_lane
      assign key = (TileBits + 1)'(step_out);
    end
    assign lane_valid[l] = key < valid_keys;
  end

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
    logic signed [santa_pkg::ScoreBits-1:0]    max_q, max_now;
    logic [santa_pkg::ExponentBits-1:0]        exponent;
    logic [santa_pkg::TileSumBits-1:0]         sum_q, sum_now;

    for (genvar l = 0; l < WeightLanes; l++) begin : gen_lane
      localparam int L = h * WeightLanes + l;
      logic signed [santa_pkg::ScoreBits-1:0] scaled;
      logic [santa_pkg::WeightBits-1:0]       weight;

      weight_lane u_lane (
        .clk_i,
        .score_i   (score_i[L*santa_pkg::ScoreBits +: santa_pkg::ScoreBits]),
        .scale_i   (request_q.scale[h*santa_pkg::ScaleBits +: santa_pkg::ScaleBits]),
        .exponent_i(exponent),
        .scaled_o  (scaled),
        .weight_o  (weight)
      );
      assign write_data_o[L*santa_pkg::ScoreBits +: santa_pkg::ScoreBits] = scaled;
      assign weights_masked[L*santa_pkg::WeightBits +: santa_pkg::WeightBits] =
          lane_valid[l] ? weight : '0;
    end

    // Maximum over the lanes' valid keys; the first key of a tile is always valid.
    always_comb begin
      max_now = (step_out == '0) ? write_data_o[h*WeightLanes*santa_pkg::ScoreBits +:
                                                santa_pkg::ScoreBits] : max_q;
      for (int l = 0; l < WeightLanes; l++) begin
        if (lane_valid[l] &&
            ($signed(write_data_o[(h*WeightLanes + l)*santa_pkg::ScoreBits +:
                                  santa_pkg::ScoreBits]) > max_now)) begin
          max_now = write_data_o[(h*WeightLanes + l)*santa_pkg::ScoreBits +: santa_pkg::ScoreBits];
        end
      end
    end

    always_comb begin
      sum_now = (step_out == '0) ? '0 : sum_q;
      for (int l = 0; l < WeightLanes; l++) begin
        sum_now = sum_now +
            santa_pkg::TileSumBits'(weights_masked[(h*WeightLanes + l)*santa_pkg::WeightBits +:
                                                   santa_pkg::WeightBits]);
      end
    end

    always_ff @(posedge clk_i) begin
      if (scale_valid_q[2]) max_q <= max_now;
      if (weigh_valid_q[2]) sum_q <= sum_now;
    end

    assign exponent = max_q[santa_pkg::ScoreBits-1:santa_pkg::ScoreFractionBits] +
                      santa_pkg::ExponentBits'(1);
    assign tile_exponent[h*santa_pkg::ExponentBits +: santa_pkg::ExponentBits] = exponent;
    assign tile_sum[h*santa_pkg::TileSumBits +: santa_pkg::TileSumBits]        = sum_q;

    // M, over the tiles so far.
    logic signed [santa_pkg::ExponentBits-1:0] head_q, exponent_signed;
    assign exponent_signed = exponent;
    always_ff @(posedge clk_i) begin
      if (tile_done && ((tile_q == '0) || (exponent_signed > head_q))) head_q <= exponent_signed;
    end
    assign head_exponent_q[h*santa_pkg::ExponentBits +: santa_pkg::ExponentBits] = head_q;
  end

  assign write_o      = scale_valid_q[2];
  assign write_step_o = step_out;
  assign exponent_o   = head_exponent_q;

  // --- chunks of ScanLanes weights -----------------------------------------------------------

  logic [GroupHeads*ChunkWeightBits-1:0] chunk, chunk_banks;
  logic [GroupHeads-1:0]                 chunk_enable;
  logic                                  chunk_done;
  logic [ChunkBits-1:0]                  chunk_index;
  logic [SliceBits-1:0]                  slice, slice_mask, tile_slice;

  if (SubSteps > 1) begin : gen_sub_steps
    logic [SubStepBits-1:0] sub_step;
    assign sub_step   = step_out[SubStepBits-1:0];
    assign chunk_done = weigh_valid_q[2] && (sub_step == SubStepBits'(SubSteps - 1));

    for (genvar h = 0; h < GroupHeads; h++) begin : gen_chunk
      logic [ChunkWeightBits-WeightLanes*santa_pkg::WeightBits-1:0] held_q;
      logic [ChunkWeightBits-1:0]                                  joined;
      // Earlier steps move towards the low end.
      assign joined = {weights_masked[h*WeightLanes*santa_pkg::WeightBits +:
                                      WeightLanes*santa_pkg::WeightBits], held_q};
      always_ff @(posedge clk_i) begin
        if (weigh_valid_q[2]) begin
          held_q <= joined[ChunkWeightBits-1:WeightLanes*santa_pkg::WeightBits];
        end
      end
      assign chunk[h*ChunkWeightBits +: ChunkWeightBits] = joined;
    end
  end else begin : gen_whole
    assign chunk_done = weigh_valid_q[2];
    assign chunk      = weights_masked;
  end

  if (Chunks > 1) begin : gen_chunks
    assign chunk_index = step_out[StepBits-1 -: ChunkBits];
  end else begin : gen_one_chunk
    assign chunk_index = '0;
  end

  assign slice_mask = ~({SliceBits{1'b1}} << fold_log2);
  assign slice      = SliceBits'(chunk_index) & slice_mask;
  assign tile_slice = SliceBits'(tile_q) & slice_mask;

  head_fold #(
    .GroupHeads(GroupHeads),
    .Width     (ChunkWeightBits)
  ) u_fold (
    .group_log2_i(group_log2),
    .slice_i     (slice),
    .heads_i     (chunk),
    .banks_o     (chunk_banks),
    .enable_o    (chunk_enable)
  );

  // A tile takes 2^words_log2 words of a half.
  logic [3:0]               words_log2;
  logic [31:0]              half_tiles;
  logic [HalfWordsLog2-1:0] word_index;

  assign words_log2 = 4'(ChunksLog2) - 4'(fold_log2);
  assign half_tiles = 32'(HalfWords) >> words_log2;
  assign on_chip    = 32'(tile_q) < half_tiles;
  assign word_index = (HalfWordsLog2'(tile_q) << words_log2) +
                      (HalfWordsLog2'(chunk_index) >> fold_log2);

  assign stash_write_o = (chunk_done && on_chip) ? chunk_enable : '0;
  assign stash_index_o = {half_q, word_index};
  assign stash_data_o  = chunk_banks;

  logic [GroupHeads*StatisticsBits-1:0] statistics;
  logic [GroupHeads-1:0]                statistics_enable;

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_statistics
    assign statistics[h*StatisticsBits +: StatisticsBits] =
        {tile_exponent[h*santa_pkg::ExponentBits +: santa_pkg::ExponentBits],
         tile_sum[h*santa_pkg::TileSumBits +: santa_pkg::TileSumBits]};
    assign spill_entry_o[64*h +: 64] =
        {32'($signed(tile_exponent[h*santa_pkg::ExponentBits +: santa_pkg::ExponentBits])),
         32'(tile_sum[h*santa_pkg::TileSumBits +: santa_pkg::TileSumBits])};
  end
  if (EntryBytes > 8 * GroupHeads) begin : gen_padding
    assign spill_entry_o[8*EntryBytes-1:64*GroupHeads] = '0;
  end

  head_fold #(
    .GroupHeads(GroupHeads),
    .Width     (StatisticsBits)
  ) u_statistics_fold (
    .group_log2_i(group_log2),
    .slice_i     (tile_slice),
    .heads_i     (statistics),
    .banks_o     (statistics_data_o),
    .enable_o    (statistics_enable)
  );
  assign statistics_write_o = (tile_done && on_chip) ? statistics_enable : '0;
  if (HalfTiles > 1) begin : gen_statistics_index
    assign statistics_index_o = {half_q, (StatisticsIndexBits - 1)'(tile_q >> fold_log2)};
  end else begin : gen_statistics_half
    assign statistics_index_o = half_q;
  end

  // --- spilling ------------------------------------------------------------------------------

  localparam int TileWordsLog2 = TileBits + 1 - $clog2(PortBytes);  // bus words a head

  logic [GroupHeads*ChunkWeightBits-1:0] spill_q, spill_next;

  for (genvar b = 0; b < GroupHeads; b++) begin : gen_spill
    assign spill_next[b*ChunkWeightBits +: ChunkWeightBits] =
        chunk_enable[b] ? chunk_banks[b*ChunkWeightBits +: ChunkWeightBits]
                        : spill_q[b*ChunkWeightBits +: ChunkWeightBits];
  end

  always_ff @(posedge clk_i) begin
    if (chunk_done) spill_q <= spill_next;
  end

  assign spill_start_o       = tile_starts && !on_chip;
  assign spill_address_o     = request_q.scratch_address +
                               (santa_pkg::AddressBits'(tile_q) << (4'(TileBits + 1) +
                                                                     4'(group_log2)));
  assign spill_words_o       = 16'(1) << (4'(TileWordsLog2) + 4'(group_log2));
  assign spill_entry_address_o = request_q.scratch_address +
                               (santa_pkg::AddressBits'(tiles_q) << (4'(TileBits + 1) +
                                                                      4'(group_log2))) +
                               (santa_pkg::AddressBits'(tile_q) << $clog2(EntryBytes));
  assign spill_word_valid_o  = chunk_done && !on_chip && (slice == slice_mask);
  assign spill_word_o        = spill_next;
  assign spill_entry_valid_o = tile_done && !on_chip;

`ifndef SYNTHESIS
  WeighedStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (weighed_valid_o && !weighed_ready_i) |=>
    (weighed_valid_o && $stable(weighed_o) && $stable(exponent_o)));
  HalvesInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) halves_used_q <= 2'd2);
`endif

endmodule
