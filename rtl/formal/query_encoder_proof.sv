// A request is encoded in a bounded time if memory takes bursts and answers at least every second
// cycle and a bank is free: any scheme, group and operands, short heads. It asks for exactly the words
// that its operands take, its buffer is empty at the end, and no bank is written twice.
//
// Data do not matter: memories give anything (ram_1r1w_any).

module query_encoder_proof #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 2,
  parameter int MaxHeadDimension = 16,
  parameter int MaxDimension     = 2,   // of the requests
  parameter int LateCycles       = 20
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic                              request_valid_i,
  input logic [2:0]                        status_i,
  input logic [santa_pkg::GroupBits-1:0]   group_i,
  input logic [1:0]                        scheme_i,
  input logic [santa_pkg::DimensionBits-1:0] head_dimension_i,
  input logic [santa_pkg::AddressBits-1:0] operand_address_i,
  input logic                              burst_ready_i,
  input logic                              word_valid_i,
  input logic [8*PortBytes-1:0]            word_data_i,
  input logic                              word_error_i,
  input logic                              encoded_ready_i,
  input logic                              bank_release_i
);

  localparam int FeatureBits = $clog2(MaxHeadDimension);
  localparam int BufferWords = santa_pkg::BurstBytes / PortBytes;

  santa_pkg::request_t               request;
  logic                              request_ready, burst_valid, encoded_valid, bank, idle, busy;
  logic [santa_pkg::AddressBits-1:0] burst_address;
  logic [8:0]                        burst_words;
  logic [santa_pkg::RequestBits-1:0] encoded;
  logic [FeatureBits:0]              needed;
  logic [FeatureBits-1:0]            runs;

  always_comb begin
    request                 = '0;
    request.status          = status_i;
    request.group           = group_i;
    request.scheme          = scheme_i;
    request.head_dimension  = head_dimension_i;
    request.operand_address = operand_address_i;
  end

  query_encoder #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .request_valid_i,
    .request_ready_o(request_ready),
    .request_i      (request),
    .burst_valid_o  (burst_valid),
    .burst_ready_i,
    .burst_address_o(burst_address),
    .burst_words_o  (burst_words),
    .word_valid_i,
    .word_data_i,
    .word_error_i,
    .encoded_valid_o(encoded_valid),
    .encoded_ready_i,
    .encoded_o      (encoded),
    .bank_o         (bank),
    .needed_o       (needed),
    .runs_o         (runs),
    .bank_release_i,
    .entry_read_i   (1'b0),
    .entry_index_i  ('0),
    .entry_data_o   (),
    .run_read_i     (1'b0),
    .run_index_i    ('0),
    .run_data_o     (),
    .idle_o         (idle),
    .busy_o         (busy)
  );

  (* hierconn *) wire [$clog2(BufferWords + 1)-1:0] \u_dut.space_q ;

  logic       at_work_q, waiting_q, healthy_q;
  logic [8:0] outstanding_q, asked_q, words_q;
  logic [1:0] encoded_q;  // handed on and not released
  logic [7:0] age_q;
  logic [9:0] operand_bytes;

  // Operands of four bytes: a slot for each head, one more when the group shares its scores.
  assign operand_bytes = 10'(request.head_dimension) *
                         (10'(request.group) + 10'(request.scheme == 2'd2)) * 10'd4;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_work_q     <= 1'b0;
      outstanding_q <= 9'd0;
      encoded_q     <= 2'd0;
      age_q         <= 8'd0;
      waiting_q     <= 1'b0;
    end else begin
      if (request_valid_i && request_ready) begin
        at_work_q <= 1'b1;
        healthy_q <= request.status == 3'd0;
        asked_q   <= 9'd0;
        words_q   <= (request.status == 3'd0) ? 9'((operand_bytes + 10'(PortBytes - 1)) / PortBytes)
                                              : 9'd0;
        age_q     <= 8'd0;
      end else begin
        if (burst_valid && burst_ready_i) asked_q <= asked_q + burst_words;
        age_q <= at_work_q ? age_q + 8'd1 : 8'd0;
      end
      if (encoded_valid) at_work_q <= 1'b0;
      outstanding_q <= outstanding_q + ((burst_valid && burst_ready_i) ? burst_words : 9'd0) -
                       9'(word_valid_i);
      encoded_q <= encoded_q + 2'(encoded_valid && encoded_ready_i) - 2'(bank_release_i);
      waiting_q <= ((burst_valid && !burst_ready_i) || ((outstanding_q != 9'd0) && !word_valid_i));
    end
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    assume (!request_valid_i || ((request.group != 4'd0) && (request.group <= 4'(GroupHeads)) &&
                                 (request.head_dimension != 9'd0) &&
                                 (request.head_dimension <= 9'(MaxDimension)) &&
                                 (request.scheme <= 2'd2) &&
                                 (request.operand_address[$clog2(PortBytes)-1:0] == '0)));
    assume (!started_q || !word_valid_i || (outstanding_q != 9'd0));
    assume (!started_q || !bank_release_i || (encoded_q != 2'd0));
    // Fairness.
    assume (!started_q || !waiting_q || ((burst_ready_i || !burst_valid) &&
                                         (word_valid_i || (outstanding_q == 9'd0))));
    if (started_q) begin
      NotStuck_A : assert (age_q < 8'(LateCycles));
      Banks_A : assert (encoded_q <= 2'd2);
      // A request is taken whenever none is at work and a bank is free.
      Ready_A : assert (request_ready == (idle && (encoded_q != 2'd2)));
      if (encoded_valid) begin
        AskedAll_A : assert ((asked_q == words_q) && (outstanding_q == 9'd0));
        BufferEmpty_A : assert (9'(\u_dut.space_q ) == 9'(BufferWords));
        Needed_A : assert ((needed <= (FeatureBits + 1)'(MaxDimension)) &&
                           ((FeatureBits + 1)'(runs) <= needed));
      end
    end
  end

endmodule
