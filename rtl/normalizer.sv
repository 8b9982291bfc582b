// Normalizer: sums to outputs, (sum << 8) >> s with ties to even (docs/numerics.md, section 7), and
// their write to memory, a row a head. A request with an error writes nothing. Its completion comes
// once memory has answered every write.

module normalizer #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 8,
  parameter int MaxHeadDimension = 256,
  parameter int NormalizerLanes  = 4,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int HeadBits    = (GroupHeads > 1) ? $clog2(GroupHeads) : 1
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              gathered_valid_i,
  /* verilator lint_off UNUSEDSIGNAL */  // other blocks use the other fields
  input  santa_pkg::request_t               gathered_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                              gathered_release_o,
  output logic [HeadBits-1:0]               sum_head_o,
  output logic [FeatureBits-1:0]            sum_feature_o,
  input  logic [NormalizerLanes*santa_pkg::SumBits-1:0] sum_i,
  // Memory.
  output logic                              run_valid_o,
  input  logic                              run_ready_i,
  output logic [santa_pkg::AddressBits-1:0] run_address_o,
  output logic [15:0]                       run_words_o,
  output logic                              data_valid_o,
  input  logic                              data_ready_i,
  output logic [8*PortBytes-1:0]            data_o,
  output logic [PortBytes-1:0]              strobe_o,
  input  logic                              write_idle_i,
  input  logic                              write_error_i,
  // Completion.
  output logic                              done_valid_o,
  output logic [31:0]                       done_tag_o,
  output logic [2:0]                        done_status_o,
  output logic                              busy_o
);

  localparam int WordLog2     = $clog2(PortBytes);
  localparam int LaneLog2     = $clog2(NormalizerLanes);
  localparam int WordOutputs  = PortBytes / 2;
  localparam int Steps        = WordOutputs / NormalizerLanes;  // a bus word
  localparam int StepBits     = (Steps > 1) ? $clog2(Steps) : 1;
  localparam int StepBytes    = 2 * NormalizerLanes;
  localparam int SumBits      = santa_pkg::SumBits;
  localparam int WideBits     = SumBits + santa_pkg::MassGuardBits;
  localparam int FractionBits = 8;
  localparam int StrideBits   = 4;

  typedef enum logic [2:0] {
    StIdle,
    StRun,    // a head's row is asked for
    StWrite,
    StFlush,  // the last words are on their way
    StDone
  } state_e;

  state_e                            state_q, state_d;
  /* verilator lint_off UNUSEDSIGNAL */
  santa_pkg::request_t               request;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [HeadBits-1:0]               head_q;
  logic [FeatureBits:0]              feature_q, dimension;
  logic                              head_last, step, step_last, word_full;
  logic                              word_valid_q;
  logic [8*PortBytes-1:0]            word_q;
  logic [PortBytes-1:0]              strobe_q;
  logic [StepBits-1:0]               part;
  logic [santa_pkg::AddressBits-1:0] row_address_q;
  logic [StrideBits-1:0]             stride_log2;
  logic                              write_error_q, healthy;
  logic [31:0]                       tag_q;
  logic [2:0]                        status_q;
  logic [santa_pkg::SamplesLog2Bits-1:0] down, up;

  assign request   = gathered_i;
  assign dimension = (FeatureBits + 1)'(request.head_dimension);
  assign head_last = santa_pkg::GroupBits'(head_q) == request.group - santa_pkg::GroupBits'(1);
  assign healthy   = request.status == santa_pkg::StatusOk;

  always_comb begin
    stride_log2 = santa_pkg::log2_ceil(request.head_dimension);
    if (stride_log2 < StrideBits'(WordLog2)) stride_log2 = StrideBits'(WordLog2);
  end

  logic [NormalizerLanes*santa_pkg::OutputBits-1:0] outputs;

  // --- arithmetic ----------------------------------------------------------------------------

  assign up   = (request.samples_log2 < 4'(FractionBits)) ? 4'(FractionBits) - request.samples_log2
                                                          : 4'd0;
  assign down = (request.samples_log2 > 4'(FractionBits)) ? request.samples_log2 - 4'(FractionBits)
                                                          : 4'd0;

  for (genvar l = 0; l < NormalizerLanes; l++) begin : gen_lane
    logic signed [WideBits-1:0] sum, shifted, floor, half;
    logic [WideBits-1:0]        rest;
    logic                       round_up;

    assign sum      = WideBits'($signed(sum_i[l*SumBits +: SumBits]));
    assign shifted  = sum <<< up;
    assign floor    = shifted >>> down;
    assign rest     = shifted & ~({WideBits{1'b1}} << down);
    assign half     = (down == 4'd0) ? '0 : WideBits'(1) << (down - 4'd1);
    assign round_up = (down != 4'd0) && ((rest > half) || ((rest == half) && floor[0]));
    assign outputs[l*santa_pkg::OutputBits +: santa_pkg::OutputBits] =
        floor[santa_pkg::OutputBits-1:0] + santa_pkg::OutputBits'(round_up);

    logic unused_floor;
    assign unused_floor = ^floor[WideBits-1:santa_pkg::OutputBits];
  end

  // --- steps: NormalizerLanes outputs, joined to bus words -----------------------------------

  assign step      = (state_q == StWrite) && (!word_valid_q || data_ready_i);
  assign step_last = feature_q + (FeatureBits + 1)'(NormalizerLanes) >= dimension;
  if (Steps > 1) begin : gen_part
    assign part = StepBits'(feature_q >> LaneLog2);
  end else begin : gen_no_part
    assign part = '0;
  end
  assign word_full = step && ((part == StepBits'(Steps - 1)) || step_last);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      word_valid_q <= 1'b0;
    end else if (word_full) begin
      word_valid_q <= 1'b1;
    end else if (data_ready_i) begin
      word_valid_q <= 1'b0;
    end
  end

  // Features beyond the head dimension are not written: their strobes stay 0.
  logic [StepBytes-1:0] step_strobe;
  for (genvar l = 0; l < NormalizerLanes; l++) begin : gen_strobe
    assign step_strobe[2*l +: 2] = {2{feature_q + (FeatureBits + 1)'(l) < dimension}};
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      if (part == '0) strobe_q <= '0;
      word_q[part*8*StepBytes +: 8*StepBytes] <= outputs;
      strobe_q[part*StepBytes +: StepBytes]   <= step_strobe;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      head_q        <= '0;
      row_address_q <= request.output_address;
    end else if (step && step_last) begin
      head_q        <= head_q + HeadBits'(1);
      row_address_q <= row_address_q + (santa_pkg::AddressBits'(2) << stride_log2);
    end
    if (state_q != StWrite) begin
      feature_q <= '0;
    end else if (step) begin
      feature_q <= feature_q + (FeatureBits + 1)'(NormalizerLanes);
    end
  end

  // --- control -------------------------------------------------------------------------------

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (gathered_valid_i) state_d = healthy ? StRun : StDone;
      StRun: if (run_ready_i) state_d = StWrite;
      StWrite: if (step && step_last) state_d = head_last ? StFlush : StRun;
      StFlush: if (!word_valid_q && write_idle_i) state_d = StDone;
      StDone: state_d = StIdle;
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

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      write_error_q <= 1'b0;
      tag_q         <= request.tag;
      status_q      <= request.status;
    end else if (write_error_i) begin
      write_error_q <= 1'b1;
    end
  end

  assign gathered_release_o = ((state_q == StWrite) && (state_d == StFlush)) ||
                              ((state_q == StIdle) && (state_d == StDone));
  assign sum_head_o         = head_q;
  assign sum_feature_o      = feature_q[FeatureBits-1:0];
  assign run_valid_o        = state_q == StRun;
  assign run_address_o      = row_address_q;
  assign run_words_o        = 16'((16'(dimension) + 16'(WordOutputs - 1)) >> (WordLog2 - 1));
  assign data_valid_o       = word_valid_q;
  assign data_o             = word_q;
  assign strobe_o           = strobe_q;
  assign done_valid_o       = state_q == StDone;
  assign done_tag_o         = tag_q;
  assign done_status_o      = santa_pkg::add_status(status_q, write_error_q,
                                                    santa_pkg::StatusWriteError);
  assign busy_o             = (state_q == StRun) || (state_q == StWrite);

endmodule
