// Reads the descriptor of a request and checks it (docs/rtl.md, "Descriptor"). A request that may
// not run goes on with StatusBadDescriptor, so that requests complete in order.

module descriptor_fetch #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 8,
  parameter int MaxHeadDimension = 256
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              address_valid_i,
  output logic                              address_ready_o,
  input  logic [santa_pkg::AddressBits-1:0] address_i,
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,
  input  logic                              word_valid_i,
  input  logic [8*PortBytes-1:0]            word_data_i,
  input  logic                              word_error_i,
  output logic                              request_valid_o,
  input  logic                              request_ready_i,
  output santa_pkg::request_t               request_o
);

  localparam int Words     = santa_pkg::DescriptorBytes / PortBytes;
  localparam int WordBits  = $clog2(Words + 1);
  localparam int AlignBits = $clog2(PortBytes);
  localparam int Bits      = 8 * santa_pkg::DescriptorBytes;

  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StRead,
    StDone
  } state_e;

  state_e                            state_q;
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [WordBits-1:0]               words_q;
  logic                              misplaced_q, fault_q;
  /* verilator lint_off UNUSEDSIGNAL */  // reserved bytes are not looked at
  logic [Bits-1:0]                   text_q;
  /* verilator lint_on UNUSEDSIGNAL */
  santa_pkg::request_t               request;
  logic [santa_pkg::MaxGroup-1:0]    head_bad;
  logic                              bad;
  logic [santa_pkg::MaxGroup*santa_pkg::ScaleBits-1:0] scales;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: if (address_valid_i) state_q <= (address_i[7:0] == '0) ? StAsk : StDone;
        StAsk: if (burst_ready_i) state_q <= StRead;
        StRead: if (word_valid_i && (words_q == WordBits'(1))) state_q <= StDone;
        StDone: if (request_ready_i) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      address_q   <= address_i;
      words_q     <= WordBits'(Words);
      misplaced_q <= address_i[7:0] != '0;
      fault_q     <= 1'b0;
      if (address_i[7:0] != '0) text_q <= '0;
    end
    if ((state_q == StRead) && word_valid_i) begin
      text_q  <= {word_data_i, text_q[Bits-1:8*PortBytes]};
      words_q <= words_q - WordBits'(1);
      fault_q <= fault_q || word_error_i;
    end
  end

  assign address_ready_o = state_q == StIdle;
  assign burst_valid_o   = state_q == StAsk;
  assign burst_address_o = address_q;
  assign burst_words_o   = 9'(Words);
  assign request_valid_o = state_q == StDone;

  for (genvar h = 0; h < santa_pkg::MaxGroup; h++) begin : gen_head
    /* verilator lint_off UNUSEDSIGNAL */  // reserved bits are not looked at
    logic [31:0]       word;
    /* verilator lint_on UNUSEDSIGNAL */
    logic signed [7:0] exponent;
    logic              scale_bad, stream_bad;

    assign word        = text_q[8*'hC0 + 32*h +: 32];
    assign exponent    = word[7:0];
    assign scale_bad   = (exponent < -8'sd8) || (exponent > 8'sd30) ||
                         (word[10:8] == 3'd0) || (word[10:8] == 3'd7) ||
                         (word[18:16] == 3'd0) || (word[18:16] == 3'd7) ||
                         (word[12:11] == 2'd3) || (word[20:19] == 2'd3);
    assign stream_bad  = text_q[8*'h80 + 64*h +: 64] == '0;
    assign head_bad[h] = (text_q[8*'h06 +: 8] > 8'(h)) && (scale_bad || stream_bad);
    assign scales[h*santa_pkg::ScaleBits +: santa_pkg::ScaleBits] =
        {word[20:16], word[12:8], word[7:0]};
  end

  assign bad = misplaced_q || (text_q[31:0] > 32'd1048576) ||
               (text_q[8*'h04 +: 16] == '0) || (text_q[8*'h04 +: 16] > 16'(MaxHeadDimension)) ||
               (text_q[8*'h06 +: 8] == '0) || (text_q[8*'h06 +: 8] > 8'(GroupHeads)) ||
               (text_q[8*'h07 +: 8] > 8'd2) || (text_q[8*'h08 +: 8] > 8'd12) ||
               (text_q[8*'h10 +: AlignBits] != '0) || (text_q[8*'h18 +: AlignBits] != '0) ||
               (text_q[8*'h20 +: AlignBits] != '0) || (text_q[8*'h28 +: AlignBits] != '0) ||
               (text_q[8*'h30 +: AlignBits] != '0) || (text_q[8*'h38 +: AlignBits] != '0) ||
               ((text_q[8*'h07 +: 8] != '0) && (text_q[8*'h40 +: 64] == '0)) || (|head_bad);

  always_comb begin
    request.status = santa_pkg::StatusOk;
    if (bad) request.status = santa_pkg::StatusBadDescriptor;
    if (fault_q) request.status = santa_pkg::StatusReadError;
    request.context_length  = text_q[8*'h00 +: santa_pkg::ContextBits];
    request.head_dimension  = text_q[8*'h04 +: santa_pkg::DimensionBits];
    request.group           = text_q[8*'h06 +: santa_pkg::GroupBits];
    request.scheme          = text_q[8*'h07 +: 2];
    request.samples_log2    = text_q[8*'h08 +: santa_pkg::SamplesLog2Bits];
    request.tag             = text_q[8*'h0C +: 32];
    request.operand_address = text_q[8*'h10 +: 64];
    request.key_address     = text_q[8*'h18 +: 64];
    request.tail_address    = text_q[8*'h20 +: 64];
    request.value_address   = text_q[8*'h28 +: 64];
    request.scratch_address = text_q[8*'h30 +: 64];
    request.output_address  = text_q[8*'h38 +: 64];
    request.score_stream    = text_q[8*'h40 +: 64];
    request.value_stream    = text_q[8*'h80 +: 512];
    request.scale           = scales;
  end
  assign request_o               = request;

`ifndef SYNTHESIS
  RequestStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (request_valid_o && !request_ready_i) |=> (request_valid_o && $stable(request_o)));
  WordsOnlyWhenAsked_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_valid_i |-> (state_q == StRead));
`endif

endmodule
