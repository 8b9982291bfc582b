// Query encoder: reads the operands of a request and makes one small signed coefficient a feature
// and head. Writes them, for the features that some head needs, to one of two coefficient banks, and
// the runs of such features, which are contiguous in memory, to a run list.
//
// Cycles a request: head_dimension * ceil(slots / 4), a feature's slots being its operands: up to
// four operands and four random lanes, one word, are taken a cycle (docs/architecture.md).

module query_encoder #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 8,
  parameter int MaxHeadDimension = 256,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int RowBits     = GroupHeads * santa_pkg::CoefficientBits,
  localparam int EntryBits   = FeatureBits + RowBits
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              request_valid_i,
  output logic                              request_ready_o,
  input  santa_pkg::request_t               request_i,
  // Operands.
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,
  input  logic                              word_valid_i,
  input  logic [8*PortBytes-1:0]            word_data_i,
  input  logic                              word_error_i,
  // Encoded request, and its bank.
  output logic                              encoded_valid_o,
  input  logic                              encoded_ready_i,
  output santa_pkg::request_t               encoded_o,
  output logic                              bank_o,
  output logic [FeatureBits:0]              needed_o,   // entries of the bank
  output logic [FeatureBits-1:0]            runs_o,     // entries of the run list
  input  logic                              bank_release_i,
  // Coefficients: {feature, coefficient of each head}; data one cycle after the index.
  input  logic                              entry_read_i,
  input  logic [FeatureBits:0]              entry_index_i,   // {bank, entry}
  output logic [EntryBits-1:0]              entry_data_o,
  // Runs: {first feature, features - 1}.
  input  logic                              run_read_i,
  input  logic [FeatureBits-1:0]            run_index_i,     // {bank, run}
  output logic [2*FeatureBits-1:0]          run_data_o,
  output logic                              idle_o,         // takes no words
  output logic                              busy_o
);

  localparam int BufferWords   = santa_pkg::BurstBytes / PortBytes;
  localparam int MaxBurstWords = BufferWords / 2;
  localparam int SpaceBits     = $clog2(BufferWords + 1);
  localparam int Groups        = PortBytes / 16;  // of four operands, a bus word
  localparam int GroupIndexBits = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int SlotBits      = 4;

  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StEncode,
    StDone
  } state_e;

  state_e              state_q, state_d;
  santa_pkg::request_t request_q;
  logic                start, is_group, is_exact;
  logic [1:0]          banks_used_q;
  logic                bank_q;

  assign is_group = request_q.scheme == santa_pkg::ScoresGroup;
  assign is_exact = request_q.scheme == santa_pkg::ScoresExact;

  // --- operands ------------------------------------------------------------------------------

  logic [SlotBits-1:0] slots;
  logic [13:0]         operand_bytes, padded_bytes;
  logic [12:0]         operands;
  logic                run_ready, burst_valid, word_pop, word_valid, word_error;
  logic [8:0]          burst_words;
  logic [SpaceBits-1:0] space_q;
  logic [8*PortBytes-1:0] word_data;
  logic                buffer_ready, unused_burst_last;

  assign slots = request_q.group + SlotBits'(is_group);
  always_comb begin
    operands = '0;
    for (int b = 0; b < SlotBits; b++) begin
      if (slots[b]) operands = operands + (13'(request_q.head_dimension) << b);
    end
  end
  assign operand_bytes = {operands[11:0], 2'b00};
  assign padded_bytes  = operand_bytes + 14'(PortBytes - 1);

  logic unused_padded;
  assign unused_padded = ^padded_bytes[$clog2(PortBytes)-1:0];

  burst_splitter #(
    .PortBytes    (PortBytes),
    .MaxBurstWords(MaxBurstWords)
  ) u_splitter (
    .clk_i,
    .rst_ni,
    .run_valid_i    (state_q == StAsk),
    .run_ready_o    (run_ready),
    .run_address_i  (request_q.operand_address),
    .run_words_i    (16'(padded_bytes[13:$clog2(PortBytes)])),
    .burst_valid_o  (burst_valid),
    .burst_ready_i  (burst_ready_i && burst_valid_o),
    .burst_address_o(burst_address_o),
    .burst_words_o  (burst_words),
    .burst_last_o   (unused_burst_last)
  );
  assign burst_words_o = burst_words;
  assign burst_valid_o = burst_valid && (space_q >= SpaceBits'(burst_words));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      space_q <= SpaceBits'(BufferWords);
    end else begin
      space_q <= space_q + SpaceBits'(word_pop) -
                 ((burst_valid_o && burst_ready_i) ? SpaceBits'(burst_words) : '0);
    end
  end

  fifo_ram #(
    .Width(8 * PortBytes + 1),
    .Depth(BufferWords)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .wvalid_i(word_valid_i),
    .wready_o(buffer_ready),
    .wdata_i ({word_error_i, word_data_i}),
    .rvalid_o(word_valid),
    .rready_i(word_pop),
    .rdata_o ({word_error, word_data})
  );

  // --- four operands and four random lanes at a time -----------------------------------------

  logic                         clear;
  logic                         group_valid, group_ready, lanes_ready;
  logic [GroupIndexBits-1:0]    group_q;
  logic                         last_group;
  logic [12:0]                  left_q;  // operands not handed to the funnel yet
  logic [2:0]                   operands_held, lanes_held, take;
  logic [127:0]                 operand_items;
  logic [63:0]                  lane_items;
  logic [santa_pkg::StreamBits-1:0] random_word;
  logic [SlotBits-1:0]          slot_q, slots_left;
  logic [FeatureBits:0]         feature_q;
  logic                         step, feature_ends;
  logic [2:0]                   want;

  assign clear      = state_q == StIdle;
  assign last_group = (group_q == GroupIndexBits'(Groups - 1)) || (left_q <= 13'd4);
  assign group_valid = (state_q == StEncode) && word_valid && (left_q != '0);
  assign word_pop   = group_valid && group_ready && last_group;

  always_ff @(posedge clk_i) begin
    if (state_q == StAsk) begin
      group_q <= '0;
      left_q  <= operands;
    end else if (group_valid && group_ready) begin
      group_q <= last_group ? '0 : group_q + GroupIndexBits'(1);
      left_q  <= (left_q <= 13'd4) ? '0 : left_q - 13'd4;
    end
  end

  item_funnel #(
    .Width(32)
  ) u_operand_funnel (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .group_valid_i(group_valid),
    .group_ready_o(group_ready),
    .group_i      (word_data[group_q*128 +: 128]),
    .held_o       (operands_held),
    .items_o      (operand_items),
    .take_i       (take)
  );

  lfsr u_lfsr (
    .clk_i,
    .rst_ni,
    .load_i (start),
    .state_i(request_i.score_stream),
    .draw_i ((state_q == StEncode) && lanes_ready),
    .word_o (random_word)
  );

  item_funnel #(
    .Width(santa_pkg::LaneBits)
  ) u_lane_funnel (
    .clk_i,
    .rst_ni,
    .clear_i      (clear),
    .group_valid_i(state_q == StEncode),
    .group_ready_o(lanes_ready),
    .group_i      (random_word),
    .held_o       (lanes_held),
    .items_o      (lane_items),
    .take_i       (is_exact ? 3'd0 : take)
  );

  assign slots_left   = slots - slot_q;
  assign want         = (slots_left > SlotBits'(4)) ? 3'd4 : 3'(slots_left);
  assign step         = (state_q == StEncode) && (operands_held >= want) &&
                        (is_exact || (lanes_held >= want)) &&
                        (feature_q != (FeatureBits + 1)'(request_q.head_dimension));
  assign take         = step ? want : 3'd0;
  assign feature_ends = step && (slots_left <= SlotBits'(4));

  // --- coefficients --------------------------------------------------------------------------

  logic [4*9-1:0]                          counts;
  logic [4*santa_pkg::CoefficientBits-1:0] coefficients;
  logic [8:0]                              shared_q, shared;
  logic [RowBits-1:0]                      row_q, row;
  logic                                    row_valid_q;
  logic [FeatureBits-1:0]                  row_feature_q;

  assign shared = (slot_q == '0) ? counts[8:0] : shared_q;

  logic unused_counts;
  assign unused_counts = ^counts[35:9];

  for (genvar j = 0; j < 4; j++) begin : gen_lane
    coefficient_lane u_lane (
      .scheme_i     (request_q.scheme),
      .is_shared_i  (is_group && (slot_q == '0) && (j == 0)),
      .operand_i    (operand_items[32*j +: 32]),
      .random_i     (lane_items[santa_pkg::LaneBits*j +: santa_pkg::LaneBits]),
      .shared_i     (shared),
      .count_o      (counts[9*j +: 9]),
      .coefficient_o(coefficients[santa_pkg::CoefficientBits*j +: santa_pkg::CoefficientBits])
    );
  end

  // Head h takes lane j when it is this step's j-th slot; other heads keep what they have.
  for (genvar h = 0; h < GroupHeads; h++) begin : gen_row
    logic [SlotBits-1:0] lane;
    logic [santa_pkg::CoefficientBits-1:0] kept;

    assign lane = SlotBits'(h) + SlotBits'(is_group) - slot_q;
    assign kept = (slot_q == '0) ? '0
                  : row_q[h*santa_pkg::CoefficientBits +: santa_pkg::CoefficientBits];
    assign row[h*santa_pkg::CoefficientBits +: santa_pkg::CoefficientBits] =
        (lane < SlotBits'(want)) ?
        coefficients[lane[1:0]*santa_pkg::CoefficientBits +: santa_pkg::CoefficientBits] : kept;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (state_q == StIdle)) begin
      row_valid_q <= 1'b0;
      slot_q      <= '0;
      feature_q   <= '0;
    end else begin
      row_valid_q <= feature_ends;
      if (feature_ends) begin
        slot_q    <= '0;
        feature_q <= feature_q + (FeatureBits + 1)'(1);
      end else if (step) begin
        slot_q <= slot_q + SlotBits'(4);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      row_q         <= row;
      row_feature_q <= feature_q[FeatureBits-1:0];
      if (slot_q == '0) shared_q <= counts[8:0];
    end
  end

  // --- banks ---------------------------------------------------------------------------------

  logic                   needed, open_q;
  logic [FeatureBits:0]   needed_q;
  logic [FeatureBits-1:0] runs_q, first_q;
  logic [FeatureBits-2:0] run_slot;

  assign needed   = row_valid_q && (row_q != '0);
  assign run_slot = runs_q[FeatureBits-2:0] - (FeatureBits - 1)'(open_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (state_q == StIdle)) begin
      needed_q <= '0;
      runs_q   <= '0;
      open_q   <= 1'b0;
    end else if (row_valid_q) begin
      open_q <= needed;
      if (needed) needed_q <= needed_q + (FeatureBits + 1)'(1);
      if (needed && !open_q) runs_q <= runs_q + FeatureBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (needed && !open_q) first_q <= row_feature_q;
  end

  ram_1r1w #(
    .Width(EntryBits),
    .Depth(2 * MaxHeadDimension)
  ) u_coefficients (
    .clk_i,
    .write_i      (needed),
    .write_index_i({bank_q, needed_q[FeatureBits-1:0]}),
    .write_data_i ({row_feature_q, row_q}),
    .read_i       (entry_read_i),
    .read_index_i (entry_index_i),
    .read_data_o  (entry_data_o)
  );

  // A run is written anew with each feature that it gains.
  logic [FeatureBits-1:0] run_first;
  assign run_first = open_q ? first_q : row_feature_q;

  ram_1r1w #(
    .Width(2 * FeatureBits),
    .Depth(MaxHeadDimension)
  ) u_runs (
    .clk_i,
    .write_i      (needed),
    .write_index_i({bank_q, run_slot}),
    .write_data_i ({run_first, row_feature_q - run_first}),
    .read_i       (run_read_i),
    .read_index_i (run_index_i),
    .read_data_o  (run_data_o)
  );

  // --- requests ------------------------------------------------------------------------------

  logic fault_q, finished;

  assign start    = request_valid_i && request_ready_o;
  assign finished = (feature_q == (FeatureBits + 1)'(request_q.head_dimension)) && !row_valid_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (start) state_d = (request_i.status == santa_pkg::StatusOk) ? StAsk : StDone;
      StAsk: if (run_ready) state_d = StEncode;
      StEncode: if (finished) state_d = StDone;
      StDone: if (encoded_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      bank_q       <= 1'b0;
      banks_used_q <= '0;
    end else begin
      state_q      <= state_d;
      banks_used_q <= banks_used_q + 2'(start) - 2'(bank_release_i);
      if (encoded_valid_o && encoded_ready_i) bank_q <= !bank_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      request_q <= request_i;
      fault_q   <= 1'b0;
    end else if (word_pop && word_error) begin
      fault_q <= 1'b1;
    end
  end

  assign request_ready_o = (state_q == StIdle) && (banks_used_q != 2'd2);
  assign encoded_valid_o = state_q == StDone;
  assign bank_o          = bank_q;
  assign needed_o        = needed_q;
  assign runs_o          = runs_q;
  assign idle_o          = state_q == StIdle;
  assign busy_o          = state_q == StEncode;

  always_comb begin
    encoded_o        = request_q;
    encoded_o.status = santa_pkg::add_status(request_q.status, fault_q, santa_pkg::StatusReadError);
  end

`ifndef SYNTHESIS
  OperandsFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_valid_i |-> buffer_ready);
  EncodedStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (encoded_valid_o && !encoded_ready_i) |=> (encoded_valid_o && $stable(encoded_o)));
  BanksInRange_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) banks_used_q <= 2'd2);
`endif

endmodule
