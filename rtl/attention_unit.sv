// Adder-only attention unit: decodes one group of query heads over one KV head a request, with
// sampled values and exact or Bernoulli scores. Ports, registers, descriptor and memory layout are
// in docs/rtl.md; the arithmetic is in docs/numerics.md.
//
//   descriptor_fetch -> query_encoder -> key_fetch -> ternary_gather -> weight_unit
//     -> systematic_sampler -> value_gather -> normalizer
//
// Scores of the next request overlap the sampling of the current one.

module attention_unit #(
  parameter int          PortBytes        = 16,
  parameter int          TileKeys         = 16,
  parameter int          GroupHeads       = 4,
  parameter int          MaxHeadDimension = 64,
  parameter int          KeyLanes         = 16,
  parameter int          DigitLanes       = 1,
  parameter int          WeightLanes      = 4,
  parameter int          ScanLanes        = 4,
  parameter int          ValueLanes       = 8,
  parameter int          NormalizerLanes  = 4,
  parameter int          KeyBufferTiles   = 2,
  parameter int          RowBufferRows    = 4,
  parameter int          StashKib         = 4,
  parameter logic [63:0] ConfigHash       = 64'd0
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Memory.
  output logic [1:0]                        m_axi_arid_o,
  output logic [santa_pkg::AddressBits-1:0] m_axi_araddr_o,
  output logic [7:0]                        m_axi_arlen_o,
  output logic [2:0]                        m_axi_arsize_o,
  output logic [1:0]                        m_axi_arburst_o,
  output logic                              m_axi_arvalid_o,
  input  logic                              m_axi_arready_i,
  input  logic [1:0]                        m_axi_rid_i,
  input  logic [8*PortBytes-1:0]            m_axi_rdata_i,
  input  logic [1:0]                        m_axi_rresp_i,
  input  logic                              m_axi_rlast_i,
  input  logic                              m_axi_rvalid_i,
  output logic                              m_axi_rready_o,
  output logic [1:0]                        m_axi_awid_o,
  output logic [santa_pkg::AddressBits-1:0] m_axi_awaddr_o,
  output logic [7:0]                        m_axi_awlen_o,
  output logic [2:0]                        m_axi_awsize_o,
  output logic [1:0]                        m_axi_awburst_o,
  output logic                              m_axi_awvalid_o,
  input  logic                              m_axi_awready_i,
  output logic [8*PortBytes-1:0]            m_axi_wdata_o,
  output logic [PortBytes-1:0]              m_axi_wstrb_o,
  output logic                              m_axi_wlast_o,
  output logic                              m_axi_wvalid_o,
  input  logic                              m_axi_wready_i,
  input  logic [1:0]                        m_axi_bid_i,
  input  logic [1:0]                        m_axi_bresp_i,
  input  logic                              m_axi_bvalid_i,
  output logic                              m_axi_bready_o,
  // Registers.
  input  logic                              s_axil_awvalid_i,
  output logic                              s_axil_awready_o,
  input  logic [11:0]                       s_axil_awaddr_i,
  input  logic                              s_axil_wvalid_i,
  output logic                              s_axil_wready_o,
  input  logic [31:0]                       s_axil_wdata_i,
  input  logic [3:0]                        s_axil_wstrb_i,
  output logic                              s_axil_bvalid_o,
  input  logic                              s_axil_bready_i,
  output logic [1:0]                        s_axil_bresp_o,
  input  logic                              s_axil_arvalid_i,
  output logic                              s_axil_arready_o,
  input  logic [11:0]                       s_axil_araddr_i,
  output logic                              s_axil_rvalid_o,
  input  logic                              s_axil_rready_i,
  output logic [31:0]                       s_axil_rdata_o,
  output logic [1:0]                        s_axil_rresp_o,
  output logic                              irq_o
);

  localparam int FeatureBits     = $clog2(MaxHeadDimension);
  localparam int TileBits        = $clog2(TileKeys);
  localparam int Words           = TileKeys / KeyLanes;
  localparam int WordBits        = (Words > 1) ? $clog2(Words) : 1;
  localparam int Steps           = TileKeys / WeightLanes;
  localparam int StepBits        = (Steps > 1) ? $clog2(Steps) : 1;
  localparam int HeadBits        = (GroupHeads > 1) ? $clog2(GroupHeads) : 1;
  localparam int EntryBits       = FeatureBits + GroupHeads * santa_pkg::CoefficientBits;
  localparam int ChunkWeightBits = ScanLanes * santa_pkg::WeightBits;
  localparam int StatisticsBits  = santa_pkg::ExponentBits + santa_pkg::TileSumBits;
  localparam int Chunks          = TileKeys / ScanLanes;
  localparam int HalfWords       = StashKib * 256 / (GroupHeads * ScanLanes);
  localparam int StashBits       = $clog2(2 * HalfWords);
  localparam int HalfTiles       = HalfWords / Chunks;
  localparam int StatisticsIndexBits = $clog2(2 * HalfTiles);
  localparam int EntryBytes      = (8 * GroupHeads > PortBytes) ? 8 * GroupHeads : PortBytes;
  localparam int ScoreBusBits    = GroupHeads * WeightLanes * santa_pkg::ScoreBits;
  localparam int ExponentBusBits = GroupHeads * santa_pkg::ExponentBits;
  localparam int Slots           = 8;  // requests queued, in work, or done and not collected

  // --- what the blocks can be built for (docs/rtl.md, "Parameters") ---------------------------

  if (!((PortBytes == 16) || (PortBytes == 32) || (PortBytes == 64) || (PortBytes == 128)))
  begin : gen_bad_port_bytes
    $error("PortBytes must be 16, 32, 64 or 128");
  end
  if ((TileKeys < 16) || (TileKeys > 1024) || (TileKeys != (1 << TileBits)))
  begin : gen_bad_tile_keys
    $error("TileKeys must be a power of two from 16 to 1024");
  end
  if (!((GroupHeads == 1) || (GroupHeads == 2) || (GroupHeads == 4) || (GroupHeads == 8)))
  begin : gen_bad_group_heads
    $error("GroupHeads must be 1, 2, 4 or 8");
  end
  if ((MaxHeadDimension < 16) || (MaxHeadDimension > 256) || (MaxHeadDimension < PortBytes) ||
      (MaxHeadDimension != (1 << FeatureBits))) begin : gen_bad_dimension
    $error("MaxHeadDimension must be a power of two from 16 to 256, at least PortBytes");
  end
  if ((KeyLanes < PortBytes) || (KeyLanes > TileKeys) || (KeyLanes != (1 << $clog2(KeyLanes))))
  begin : gen_bad_key_lanes
    $error("KeyLanes must be a power of two from PortBytes to TileKeys");
  end
  if (!((DigitLanes == 1) || (DigitLanes == 2) || (DigitLanes == 4))) begin : gen_bad_digit_lanes
    $error("DigitLanes must be 1, 2 or 4");
  end
  if ((WeightLanes < 1) || (WeightLanes > ScanLanes) || (WeightLanes > KeyLanes) ||
      (WeightLanes != (1 << $clog2(WeightLanes)))) begin : gen_bad_weight_lanes
    $error("WeightLanes must be a power of two, at most ScanLanes and KeyLanes");
  end
  if ((ScanLanes != (1 << $clog2(ScanLanes))) || (2 * ScanLanes * GroupHeads < PortBytes) ||
      (ScanLanes * GroupHeads > TileKeys)) begin : gen_bad_scan_lanes
    $error("ScanLanes must be a power of two, 2 ScanLanes GroupHeads at least PortBytes, %s",
           "ScanLanes GroupHeads at most TileKeys");
  end
  if ((ValueLanes < 1) || (ValueLanes > PortBytes) || (ValueLanes != (1 << $clog2(ValueLanes))))
  begin : gen_bad_value_lanes
    $error("ValueLanes must be a power of two, at most PortBytes");
  end
  if ((NormalizerLanes < 1) || (2 * NormalizerLanes > PortBytes) ||
      (NormalizerLanes > ValueLanes) || (NormalizerLanes != (1 << $clog2(NormalizerLanes))))
  begin : gen_bad_normalizer_lanes
    $error("NormalizerLanes must be a power of two, at most PortBytes / 2 and ValueLanes");
  end
  if ((KeyBufferTiles < 2) || (KeyBufferTiles > 64)) begin : gen_bad_key_buffer_tiles
    $error("KeyBufferTiles must be 2 to 64");
  end
  if ((RowBufferRows < 2) || (RowBufferRows > 256) ||
      (RowBufferRows != (1 << $clog2(RowBufferRows)))) begin : gen_bad_row_buffer_rows
    $error("RowBufferRows must be a power of two from 2 to 256");
  end
  if ((StashKib != (1 << $clog2(StashKib))) || (HalfTiles < 1) || (HalfWords < 2))
  begin : gen_bad_stash_kib
    $error("StashKib must be a power of two; half of it holds a tile of every head");
  end

  // --- registers, queue and completions ------------------------------------------------------

  logic                                       enable, submit_valid, busy;
  logic [63:0]                                submit_address, queued_address;
  logic                                       queued_valid, queued_ready, unused_queue_ready;
  logic [3:0]                                 slots_used_q, unused_queue_usage, unused_done_usage;
  logic                                       done_valid, completion_valid, completion_pop;
  logic                                       unused_done_ready;
  logic [31:0]                                done_tag, completion_tag;
  logic [2:0]                                 done_status, completion_status;
  logic [santa_registers_pkg::NumCounters-1:0] events;

  control_registers #(
    .ConfigHash      (ConfigHash),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .TileKeys        (TileKeys),
    .PortBytes       (PortBytes)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .enable_o           (enable),
    .submit_valid_o     (submit_valid),
    .submit_address_o   (submit_address),
    .free_slots_i       (4'(Slots) - slots_used_q),
    .busy_i             (busy),
    .completion_valid_i (completion_valid),
    .completion_tag_i   (completion_tag),
    .completion_status_i(completion_status),
    .completion_pop_o   (completion_pop),
    .completion_event_i (done_valid),
    .completion_error_i (done_valid && (done_status != santa_pkg::StatusOk)),
    .counter_event_i    (events),
    .irq_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      slots_used_q <= '0;
    end else begin
      slots_used_q <= slots_used_q + 4'(submit_valid) - 4'(completion_pop && completion_valid);
    end
  end

  fifo_sync #(
    .Width(64),
    .Depth(Slots)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .wvalid_i(submit_valid),
    .wready_o(unused_queue_ready),
    .wdata_i (submit_address),
    .rvalid_o(queued_valid),
    .rready_i(queued_ready && enable && encoder_idle),
    .rdata_o (queued_address),
    .usage_o (unused_queue_usage)
  );

  fifo_sync #(
    .Width(35),
    .Depth(Slots)
  ) u_done (
    .clk_i,
    .rst_ni,
    .wvalid_i(done_valid),
    .wready_o(unused_done_ready),
    .wdata_i ({done_status, done_tag}),
    .rvalid_o(completion_valid),
    .rready_i(completion_pop),
    .rdata_o ({completion_status, completion_tag}),
    .usage_o (unused_done_usage)
  );

  // Requests submitted and not done.
  logic [3:0] pending_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q <= '0;
    end else begin
      pending_q <= pending_q + 4'(submit_valid) - 4'(done_valid);
    end
  end
  assign busy = pending_q != '0;

  // --- memory ports --------------------------------------------------------------------------

  logic [3:0]             burst_valid, burst_ready, word_valid;
  logic [4*64-1:0]        burst_address;
  logic [4*9-1:0]         burst_words;
  logic [8*PortBytes-1:0] word_data;
  logic                   word_error, unused_word_last;

  axi_read_port #(
    .PortBytes(PortBytes)
  ) u_read_port (
    .clk_i,
    .rst_ni,
    .burst_valid_i  (burst_valid),
    .burst_ready_o  (burst_ready),
    .burst_address_i(burst_address),
    .burst_words_i  (burst_words),
    .word_valid_o   (word_valid),
    .word_data_o    (word_data),
    .word_error_o   (word_error),
    .word_last_o    (unused_word_last),
    .m_axi_arid_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rid_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o
  );

  logic [1:0]               run_valid, run_ready, data_valid, data_ready, write_idle, write_error;
  logic [2*64-1:0]          run_address;
  logic [2*16-1:0]          run_words;
  logic [2*8*PortBytes-1:0] data;
  logic [2*PortBytes-1:0]   strobe;

  axi_write_port #(
    .PortBytes(PortBytes)
  ) u_write_port (
    .clk_i,
    .rst_ni,
    .run_valid_i  (run_valid),
    .run_ready_o  (run_ready),
    .run_address_i(run_address),
    .run_words_i  (run_words),
    .word_valid_i (data_valid),
    .word_ready_o (data_ready),
    .word_data_i  (data),
    .word_strobe_i(strobe),
    .idle_o       (write_idle),
    .error_o      (write_error),
    .m_axi_awid_o,
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bid_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o
  );

  // --- descriptor and query ------------------------------------------------------------------
  // Both read with one id, one after the other: a descriptor is fetched when the encoder is free.

  santa_pkg::request_t request, encoded;
  logic                request_valid, request_ready;
  logic                descriptor_burst, operand_burst;
  logic [63:0]         descriptor_address, operand_address;
  logic [8:0]          descriptor_words, operand_words;
  logic                encoder_idle, encoder_busy;
  logic                encoded_valid, encoded_ready, bank, bank_release;
  logic [FeatureBits:0]     needed;
  logic [FeatureBits-1:0]   runs;
  logic                     entry_read, key_run_read;
  logic [FeatureBits:0]     entry_index;
  logic [FeatureBits-1:0]   key_run_index;
  logic [EntryBits-1:0]     entry_data;
  logic [2*FeatureBits-1:0] key_run_data;

  assign burst_valid[santa_pkg::ReadIdRequest] = descriptor_burst || operand_burst;
  assign burst_address[0 +: 64] = descriptor_burst ? descriptor_address : operand_address;
  assign burst_words[0 +: 9]    = descriptor_burst ? descriptor_words : operand_words;

  descriptor_fetch #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension)
  ) u_descriptor_fetch (
    .clk_i,
    .rst_ni,
    .address_valid_i(queued_valid && enable && encoder_idle),
    .address_ready_o(queued_ready),
    .address_i      (queued_address),
    .burst_valid_o  (descriptor_burst),
    .burst_ready_i  (burst_ready[santa_pkg::ReadIdRequest] && descriptor_burst),
    .burst_address_o(descriptor_address),
    .burst_words_o  (descriptor_words),
    .word_valid_i   (word_valid[santa_pkg::ReadIdRequest] && encoder_idle),
    .word_data_i    (word_data),
    .word_error_i   (word_error),
    .request_valid_o(request_valid),
    .request_ready_i(request_ready),
    .request_o      (request)
  );

  query_encoder #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension)
  ) u_query_encoder (
    .clk_i,
    .rst_ni,
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .request_i      (request),
    .burst_valid_o  (operand_burst),
    .burst_ready_i  (burst_ready[santa_pkg::ReadIdRequest] && !descriptor_burst),
    .burst_address_o(operand_address),
    .burst_words_o  (operand_words),
    .word_valid_i   (word_valid[santa_pkg::ReadIdRequest] && !encoder_idle),
    .word_data_i    (word_data),
    .word_error_i   (word_error),
    .encoded_valid_o(encoded_valid),
    .encoded_ready_i(encoded_ready),
    .encoded_o      (encoded),
    .bank_o         (bank),
    .needed_o       (needed),
    .runs_o         (runs),
    .bank_release_i (bank_release),
    .entry_read_i   (entry_read),
    .entry_index_i  (entry_index),
    .entry_data_o   (entry_data),
    .run_read_i     (key_run_read),
    .run_index_i    (key_run_index),
    .run_data_o     (key_run_data),
    .idle_o         (encoder_idle),
    .busy_o         (encoder_busy)
  );

  // An encoded request goes to three blocks at once.
  logic fetch_ready, gather_ready, weigh_ready;
  logic gather_valid, gather_taken, gather_skip, gather_bank;
  logic weigh_valid, weigh_taken;
  logic [1:0] unused_gather_usage, unused_weigh_usage;
  logic [FeatureBits:0] gather_needed;
  logic [santa_pkg::ContextBits-1:0] gather_context;
  santa_pkg::request_t weigh_request;

  assign encoded_ready = fetch_ready && gather_ready && weigh_ready;

  fifo_sync #(
    .Width(2 + FeatureBits + 1 + santa_pkg::ContextBits),
    .Depth(2)
  ) u_gather_requests (
    .clk_i,
    .rst_ni,
    .wvalid_i(encoded_valid && encoded_ready),
    .wready_o(gather_ready),
    .wdata_i ({encoded.status != santa_pkg::StatusOk, bank, needed, encoded.context_length}),
    .rvalid_o(gather_valid),
    .rready_i(gather_taken),
    .rdata_o ({gather_skip, gather_bank, gather_needed, gather_context}),
    .usage_o (unused_gather_usage)
  );

  fifo_sync #(
    .Width(santa_pkg::RequestBits),
    .Depth(2)
  ) u_weigh_requests (
    .clk_i,
    .rst_ni,
    .wvalid_i(encoded_valid && encoded_ready),
    .wready_o(weigh_ready),
    .wdata_i (encoded),
    .rvalid_o(weigh_valid),
    .rready_i(weigh_taken),
    .rdata_o (weigh_request),
    .usage_o (unused_weigh_usage)
  );

  // --- scores --------------------------------------------------------------------------------

  logic                    key_valid, key_ready, key_error, key_blocked, key_streaming;
  logic [8*KeyLanes-1:0]   key_data, tail_data;
  logic                    tail_valid, tail_error, tail_release, tail_read;
  logic [FeatureBits-1:0]  tail_feature;
  logic [WordBits-1:0]     tail_word;
  logic                    tile_valid, tile_error, tile_release, score_write, gather_busy;
  logic [StepBits-1:0]     score_step, score_write_step;
  logic [ScoreBusBits-1:0] score, score_write_data;

  key_fetch #(
    .PortBytes       (PortBytes),
    .TileKeys        (TileKeys),
    .KeyLanes        (KeyLanes),
    .MaxHeadDimension(MaxHeadDimension),
    .KeyBufferTiles  (KeyBufferTiles)
  ) u_key_fetch (
    .clk_i,
    .rst_ni,
    .encoded_valid_i(encoded_valid && encoded_ready),
    .encoded_ready_o(fetch_ready),
    .encoded_i      (encoded),
    .bank_i         (bank),
    .needed_i       (needed),
    .runs_i         (runs),
    .run_read_o     (key_run_read),
    .run_index_o    (key_run_index),
    .run_data_i     (key_run_data),
    .burst_valid_o  (burst_valid[santa_pkg::ReadIdKey]),
    .burst_ready_i  (burst_ready[santa_pkg::ReadIdKey]),
    .burst_address_o(burst_address[64 +: 64]),
    .burst_words_o  (burst_words[9 +: 9]),
    .word_valid_i   (word_valid[santa_pkg::ReadIdKey]),
    .word_data_i    (word_data),
    .word_error_i   (word_error),
    .key_valid_o    (key_valid),
    .key_ready_i    (key_ready),
    .key_data_o     (key_data),
    .key_error_o    (key_error),
    .tail_valid_o   (tail_valid),
    .tail_error_o   (tail_error),
    .tail_release_i (tail_release),
    .tail_read_i    (tail_read),
    .tail_feature_i (tail_feature),
    .tail_word_i    (tail_word),
    .tail_data_o    (tail_data),
    .blocked_o      (key_blocked),
    .streaming_o    (key_streaming)
  );

  ternary_gather #(
    .TileKeys        (TileKeys),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .KeyLanes        (KeyLanes),
    .DigitLanes      (DigitLanes),
    .WeightLanes     (WeightLanes)
  ) u_ternary_gather (
    .clk_i,
    .rst_ni,
    .encoded_valid_i  (gather_valid),
    .encoded_ready_o  (gather_taken),
    .encoded_skip_i   (gather_skip),
    .encoded_context_i(gather_context),
    .bank_i           (gather_bank),
    .needed_i         (gather_needed),
    .bank_release_o   (bank_release),
    .entry_read_o     (entry_read),
    .entry_index_o    (entry_index),
    .entry_data_i     (entry_data),
    .key_valid_i      (key_valid),
    .key_ready_o      (key_ready),
    .key_data_i       (key_data),
    .key_error_i      (key_error),
    .tail_valid_i     (tail_valid),
    .tail_error_i     (tail_error),
    .tail_release_o   (tail_release),
    .tail_read_o      (tail_read),
    .tail_feature_o   (tail_feature),
    .tail_word_o      (tail_word),
    .tail_data_i      (tail_data),
    .tile_valid_o     (tile_valid),
    .tile_error_o     (tile_error),
    .tile_release_i   (tile_release),
    .score_step_i     (score_step),
    .score_o          (score),
    .write_i          (score_write),
    .write_step_i     (score_write_step),
    .write_data_i     (score_write_data),
    .busy_o           (gather_busy)
  );

  // --- weights -------------------------------------------------------------------------------

  logic [GroupHeads-1:0]                 stash_write, statistics_write;
  logic [StashBits-1:0]                  stash_write_index, stash_read_index;
  logic [GroupHeads*ChunkWeightBits-1:0] stash_write_data, stash_read_data, spill_word;
  logic [StatisticsIndexBits-1:0]        statistics_write_index, statistics_read_index;
  logic [GroupHeads*StatisticsBits-1:0]  statistics_write_data, statistics_read_data;
  logic                                  stash_read, statistics_read;
  logic                                  spill_start, spill_ready, spill_word_valid;
  logic                                  spill_entry_valid;
  logic [63:0]                           spill_address, spill_entry_address;
  logic [15:0]                           spill_words;
  logic [8*EntryBytes-1:0]               spill_entry;
  logic                                  weighed_valid, weighed_ready, half, half_held;
  logic                                  half_release;
  santa_pkg::request_t                   weighed;
  logic [ExponentBusBits-1:0]            exponent;
  logic                                  weight_busy;

  weight_unit #(
    .PortBytes  (PortBytes),
    .TileKeys   (TileKeys),
    .GroupHeads (GroupHeads),
    .WeightLanes(WeightLanes),
    .ScanLanes  (ScanLanes),
    .StashKib   (StashKib)
  ) u_weight_unit (
    .clk_i,
    .rst_ni,
    .encoded_valid_i      (weigh_valid),
    .encoded_ready_o      (weigh_taken),
    .encoded_i            (weigh_request),
    .tile_valid_i         (tile_valid),
    .tile_error_i         (tile_error),
    .tile_release_o       (tile_release),
    .score_step_o         (score_step),
    .score_i              (score),
    .write_o              (score_write),
    .write_step_o         (score_write_step),
    .write_data_o         (score_write_data),
    .stash_write_o        (stash_write),
    .stash_index_o        (stash_write_index),
    .stash_data_o         (stash_write_data),
    .statistics_write_o   (statistics_write),
    .statistics_index_o   (statistics_write_index),
    .statistics_data_o    (statistics_write_data),
    .spill_start_o        (spill_start),
    .spill_idle_i         (spill_ready && write_idle[santa_pkg::WriteIdScratch]),
    .spill_ready_i        (spill_ready),
    .spill_address_o      (spill_address),
    .spill_words_o        (spill_words),
    .spill_entry_address_o(spill_entry_address),
    .spill_word_valid_o   (spill_word_valid),
    .spill_word_o         (spill_word),
    .spill_entry_valid_o  (spill_entry_valid),
    .spill_entry_o        (spill_entry),
    .spill_error_i        (write_error[santa_pkg::WriteIdScratch]),
    .weighed_valid_o      (weighed_valid),
    .weighed_ready_i      (weighed_ready),
    .weighed_o            (weighed),
    .half_o               (half),
    .half_held_o          (half_held),
    .exponent_o           (exponent),
    .half_release_i       (half_release),
    .busy_o               (weight_busy)
  );

  bank_memory #(
    .Banks(GroupHeads),
    .Width(ChunkWeightBits),
    .Depth(2 * HalfWords)
  ) u_stash (
    .clk_i,
    .write_i      (stash_write),
    .write_index_i(stash_write_index),
    .write_data_i (stash_write_data),
    .read_i       (stash_read),
    .read_index_i (stash_read_index),
    .read_data_o  (stash_read_data)
  );

  bank_memory #(
    .Banks(GroupHeads),
    .Width(StatisticsBits),
    .Depth(2 * HalfTiles)
  ) u_statistics (
    .clk_i,
    .write_i      (statistics_write),
    .write_index_i(statistics_write_index),
    .write_data_i (statistics_write_data),
    .read_i       (statistics_read),
    .read_index_i (statistics_read_index),
    .read_data_o  (statistics_read_data)
  );

  spill_writer #(
    .PortBytes (PortBytes),
    .WordBytes (2 * GroupHeads * ScanLanes),
    .TileWords (Chunks),
    .EntryBytes(EntryBytes)
  ) u_spill_writer (
    .clk_i,
    .rst_ni,
    .start_i        (spill_start),
    .ready_o        (spill_ready),
    .address_i      (spill_address),
    .words_i        (spill_words),
    .entry_address_i(spill_entry_address),
    .word_valid_i   (spill_word_valid),
    .word_i         (spill_word),
    .entry_valid_i  (spill_entry_valid),
    .entry_i        (spill_entry),
    .run_valid_o    (run_valid[santa_pkg::WriteIdScratch]),
    .run_ready_i    (run_ready[santa_pkg::WriteIdScratch]),
    .run_address_o  (run_address[64 +: 64]),
    .run_words_o    (run_words[16 +: 16]),
    .data_valid_o   (data_valid[santa_pkg::WriteIdScratch]),
    .data_ready_i   (data_ready[santa_pkg::WriteIdScratch]),
    .data_o         (data[8*PortBytes +: 8*PortBytes])
  );
  assign strobe[PortBytes +: PortBytes] = '1;

  // --- samples -------------------------------------------------------------------------------

  logic                                       sampled_valid, sampled_ready;
  santa_pkg::request_t                        sampled, gathered;
  logic                                       row_valid, row_ready, row_last, tile_scanned;
  logic [santa_pkg::KeyBits-1:0]              row_key;
  logic [GroupHeads*santa_pkg::CountBits-1:0] row_counts;
  logic [2:0]                                 row_status;
  logic                                       sampler_busy;

  systematic_sampler #(
    .PortBytes (PortBytes),
    .TileKeys  (TileKeys),
    .GroupHeads(GroupHeads),
    .ScanLanes (ScanLanes),
    .StashKib  (StashKib)
  ) u_systematic_sampler (
    .clk_i,
    .rst_ni,
    .weighed_valid_i   (weighed_valid),
    .weighed_ready_o   (weighed_ready),
    .weighed_i         (weighed),
    .half_i            (half),
    .half_held_i       (half_held),
    .exponent_i        (exponent),
    .half_release_o    (half_release),
    .stash_read_o      (stash_read),
    .stash_index_o     (stash_read_index),
    .stash_data_i      (stash_read_data),
    .statistics_read_o (statistics_read),
    .statistics_index_o(statistics_read_index),
    .statistics_data_i (statistics_read_data),
    .burst_valid_o     (burst_valid[santa_pkg::ReadIdScratch]),
    .burst_ready_i     (burst_ready[santa_pkg::ReadIdScratch]),
    .burst_address_o   (burst_address[192 +: 64]),
    .burst_words_o     (burst_words[27 +: 9]),
    .word_valid_i      (word_valid[santa_pkg::ReadIdScratch]),
    .word_data_i       (word_data),
    .word_error_i      (word_error),
    .sampled_valid_o   (sampled_valid),
    .sampled_ready_i   (sampled_ready),
    .sampled_o         (sampled),
    .row_valid_o       (row_valid),
    .row_ready_i       (row_ready),
    .row_last_o        (row_last),
    .row_key_o         (row_key),
    .row_counts_o      (row_counts),
    .row_status_o      (row_status),
    .tile_scanned_o    (tile_scanned),
    .busy_o            (sampler_busy)
  );

  // --- values --------------------------------------------------------------------------------

  logic                    gathered_valid, gathered_release;
  logic [HeadBits-1:0]     sum_head;
  logic [FeatureBits-1:0]  sum_feature;
  logic [NormalizerLanes*santa_pkg::SumBits-1:0] sums;
  logic                    value_busy, normalizer_busy;

  value_gather #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .ValueLanes      (ValueLanes),
    .NormalizerLanes (NormalizerLanes),
    .RowBufferRows   (RowBufferRows)
  ) u_value_gather (
    .clk_i,
    .rst_ni,
    .sampled_valid_i   (sampled_valid),
    .sampled_ready_o   (sampled_ready),
    .sampled_i         (sampled),
    .row_valid_i       (row_valid),
    .row_ready_o       (row_ready),
    .row_last_i        (row_last),
    .row_key_i         (row_key),
    .row_counts_i      (row_counts),
    .row_status_i      (row_status),
    .burst_valid_o     (burst_valid[santa_pkg::ReadIdValue]),
    .burst_ready_i     (burst_ready[santa_pkg::ReadIdValue]),
    .burst_address_o   (burst_address[128 +: 64]),
    .burst_words_o     (burst_words[18 +: 9]),
    .word_valid_i      (word_valid[santa_pkg::ReadIdValue]),
    .word_data_i       (word_data),
    .word_error_i      (word_error),
    .gathered_valid_o  (gathered_valid),
    .gathered_o        (gathered),
    .gathered_release_i(gathered_release),
    .sum_head_i        (sum_head),
    .sum_feature_i     (sum_feature),
    .sum_o             (sums),
    .busy_o            (value_busy)
  );

  normalizer #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .NormalizerLanes (NormalizerLanes)
  ) u_normalizer (
    .clk_i,
    .rst_ni,
    .gathered_valid_i  (gathered_valid),
    .gathered_i        (gathered),
    .gathered_release_o(gathered_release),
    .sum_head_o        (sum_head),
    .sum_feature_o     (sum_feature),
    .sum_i             (sums),
    .run_valid_o       (run_valid[santa_pkg::WriteIdOutput]),
    .run_ready_i       (run_ready[santa_pkg::WriteIdOutput]),
    .run_address_o     (run_address[0 +: 64]),
    .run_words_o       (run_words[0 +: 16]),
    .data_valid_o      (data_valid[santa_pkg::WriteIdOutput]),
    .data_ready_i      (data_ready[santa_pkg::WriteIdOutput]),
    .data_o            (data[0 +: 8*PortBytes]),
    .strobe_o          (strobe[0 +: PortBytes]),
    .write_idle_i      (write_idle[santa_pkg::WriteIdOutput]),
    .write_error_i     (write_error[santa_pkg::WriteIdOutput]),
    .done_valid_o      (done_valid),
    .done_tag_o        (done_tag),
    .done_status_o     (done_status),
    .busy_o            (normalizer_busy)
  );

  // --- performance counters (docs/registers.md) ----------------------------------------------

  always_comb begin
    events = '0;
    events[santa_registers_pkg::CounterBusyCycles]        = busy;
    events[santa_registers_pkg::CounterRequests]          = done_valid;
    events[santa_registers_pkg::CounterQueryBeats]        = word_valid[santa_pkg::ReadIdRequest];
    events[santa_registers_pkg::CounterKeyBeats]          = word_valid[santa_pkg::ReadIdKey];
    events[santa_registers_pkg::CounterKeyCycles]         = key_streaming;
    events[santa_registers_pkg::CounterValueBeats]        = word_valid[santa_pkg::ReadIdValue];
    events[santa_registers_pkg::CounterScratchReadBeats]  = word_valid[santa_pkg::ReadIdScratch];
    events[santa_registers_pkg::CounterOutputBeats]       =
        data_valid[santa_pkg::WriteIdOutput] && data_ready[santa_pkg::WriteIdOutput];
    events[santa_registers_pkg::CounterScratchWriteBeats] =
        data_valid[santa_pkg::WriteIdScratch] && data_ready[santa_pkg::WriteIdScratch];
    events[santa_registers_pkg::CounterTilesScanned]      = tile_scanned;
    events[santa_registers_pkg::CounterRows]              = row_valid && row_ready && !row_last;
    events[santa_registers_pkg::CounterEncoderBusy]       = encoder_busy;
    events[santa_registers_pkg::CounterKeyFetchBlocked]   = key_blocked;
    events[santa_registers_pkg::CounterGatherBusy]        = gather_busy;
    events[santa_registers_pkg::CounterWeightBusy]        = weight_busy;
    events[santa_registers_pkg::CounterSamplerBusy]       = sampler_busy;
    events[santa_registers_pkg::CounterValueBusy]         = value_busy;
    events[santa_registers_pkg::CounterNormalizerBusy]    = normalizer_busy;
  end

`ifndef SYNTHESIS
  QueueHasRoom_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) submit_valid |-> unused_queue_ready);
  CompletionHasRoom_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) done_valid |-> unused_done_ready);
  SlotsInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) slots_used_q <= 4'(Slots));
`endif

endmodule
