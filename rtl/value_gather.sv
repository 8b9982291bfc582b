// Value gather: reads each drawn row once for the whole group, several in flight, and adds it to each
// head's sums, shifted by the digits of the head's count: ceil(d / ValueLanes) words a row, for each
// as many passes as the head with most digits needs.

module value_gather #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 8,
  parameter int MaxHeadDimension = 256,
  parameter int ValueLanes       = 8,
  parameter int NormalizerLanes  = 4,
  parameter int RowBufferRows    = 4,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int CountsBits  = GroupHeads * santa_pkg::CountBits,
  localparam int HeadBits    = (GroupHeads > 1) ? $clog2(GroupHeads) : 1
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Request, and its rows.
  input  logic                              sampled_valid_i,
  output logic                              sampled_ready_o,
  input  santa_pkg::request_t               sampled_i,
  input  logic                              row_valid_i,
  output logic                              row_ready_o,
  input  logic                              row_last_i,
  input  logic [santa_pkg::KeyBits-1:0]     row_key_i,
  input  logic [CountsBits-1:0]             row_counts_i,
  input  logic [2:0]                        row_status_i,
  // Memory.
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,
  input  logic                              word_valid_i,
  input  logic [8*PortBytes-1:0]            word_data_i,
  input  logic                              word_error_i,
  // Sums, for the normaliser; the next request starts once they were released.
  output logic                              gathered_valid_o,
  output santa_pkg::request_t               gathered_o,
  input  logic                              gathered_release_i,
  input  logic [HeadBits-1:0]               sum_head_i,
  input  logic [FeatureBits-1:0]            sum_feature_i,  // multiple of NormalizerLanes
  output logic [NormalizerLanes*santa_pkg::SumBits-1:0] sum_o,
  output logic                              busy_o
);

  localparam int WordLog2   = $clog2(PortBytes);
  localparam int RowWords   = MaxHeadDimension / PortBytes;  // at most
  localparam int Words      = MaxHeadDimension / ValueLanes;
  localparam int WordBits   = (Words > 1) ? $clog2(Words) : 1;
  localparam int Parts      = PortBytes / ValueLanes;        // of a bus word
  localparam int PartBits   = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int BufferWords = RowBufferRows * RowWords;
  localparam int StrideBits = 4;
  localparam int MetaBits   = 4 + CountsBits;                // {status, last, counts}

  // --- request -------------------------------------------------------------------------------
  // Rows of the next request may be fetched while those of one before are being added.

  /* verilator lint_off UNUSEDSIGNAL */  // other blocks use the other fields
  santa_pkg::request_t request_q;  // whose rows arrive
  /* verilator lint_on UNUSEDSIGNAL */
  santa_pkg::request_t adding;     // whose rows are added
  logic                adding_valid, request_done;
  logic [1:0]          unused_requests;

  fifo_sync #(
    .Width(santa_pkg::RequestBits),
    .Depth(2)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .wvalid_i(sampled_valid_i),
    .wready_o(sampled_ready_o),
    .wdata_i (sampled_i),
    .rvalid_o(adding_valid),
    .rready_i(request_done),
    .rdata_o (adding),
    .usage_o (unused_requests)
  );

  always_ff @(posedge clk_i) begin
    if (sampled_valid_i && sampled_ready_o) request_q <= sampled_i;
  end

  // --- fetch ---------------------------------------------------------------------------------

  logic [StrideBits-1:0] stride_log2;
  logic [FeatureBits:0]  dimension;
  logic [8:0]            row_words;
  logic                  run_ready, meta_ready, take_row;
  logic                  unused_burst_last, unused_buffer_ready;
  logic [$clog2(RowBufferRows+1)-1:0] unused_meta_usage;
  logic                  meta_valid, meta_pop, meta_last;
  logic [2:0]            meta_status;
  logic [CountsBits-1:0] meta_counts;

  assign dimension = (FeatureBits + 1)'(adding.head_dimension);
  assign row_words = 9'((request_q.head_dimension + santa_pkg::DimensionBits'(PortBytes - 1)) >>
                        WordLog2);

  always_comb begin
    stride_log2 = santa_pkg::log2_ceil(request_q.head_dimension);
    if (stride_log2 < StrideBits'(WordLog2)) stride_log2 = StrideBits'(WordLog2);
  end

  assign take_row    = row_valid_i && row_ready_o;
  assign row_ready_o = meta_ready && (row_last_i || run_ready);

  burst_splitter #(
    .PortBytes(PortBytes),
    .RunBits  (9)
  ) u_splitter (
    .clk_i,
    .rst_ni,
    .run_valid_i    (row_valid_i && !row_last_i && meta_ready),
    .run_ready_o    (run_ready),
    .run_address_i  (request_q.value_address +
                     (santa_pkg::AddressBits'(row_key_i) << stride_log2)),
    .run_words_i    (row_words),
    .burst_valid_o,
    .burst_ready_i,
    .burst_address_o,
    .burst_words_o,
    .burst_last_o   (unused_burst_last)
  );

  fifo_sync #(
    .Width(MetaBits),
    .Depth(RowBufferRows)
  ) u_meta (
    .clk_i,
    .rst_ni,
    .wvalid_i(take_row),
    .wready_o(meta_ready),
    .wdata_i ({row_status_i, row_last_i, row_counts_i}),
    .rvalid_o(meta_valid),
    .rready_i(meta_pop),
    .rdata_o ({meta_status, meta_last, meta_counts}),
    .usage_o (unused_meta_usage)
  );

  logic                   word_valid, word_pop, word_error;
  logic [8*PortBytes-1:0] word_data;

  fifo_ram #(
    .Width(8 * PortBytes + 1),
    .Depth(BufferWords)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .wvalid_i(word_valid_i),
    .wready_o(unused_buffer_ready),
    .wdata_i ({word_error_i, word_data_i}),
    .rvalid_o(word_valid),
    .rready_i(word_pop),
    .rdata_o ({word_error, word_data})
  );

  // --- passes --------------------------------------------------------------------------------

  localparam int DigitBits = GroupHeads * santa_pkg::DigitPlanes;

  logic                  pass, word_ends, row_ends, fresh_q, last_word;
  logic [WordBits-1:0]   word_q;
  logic [PartBits-1:0]   part;
  logic                  last_part;
  logic [DigitBits-1:0]  plus_left, minus_left, plus_left_q, minus_left_q;
  logic [GroupHeads-1:0] valid, negative;
  logic [GroupHeads*santa_pkg::PlaneBits-1:0] plane;

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_digits
    logic [santa_pkg::DigitPlanes-1:0] count, plus_now, minus_now;

    assign count     = meta_counts[h*santa_pkg::CountBits +: santa_pkg::CountBits];
    assign plus_now  = fresh_q ? santa_pkg::plus_digits(count)
                       : plus_left_q[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes];
    assign minus_now = fresh_q ? santa_pkg::minus_digits(count)
                       : minus_left_q[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes];

    digit_select #(
      .Lanes(1)
    ) u_select (
      .plus_i      (plus_now),
      .minus_i     (minus_now),
      .valid_o     (valid[h]),
      .negative_o  (negative[h]),
      .plane_o     (plane[h*santa_pkg::PlaneBits +: santa_pkg::PlaneBits]),
      .plus_left_o (plus_left[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes]),
      .minus_left_o(minus_left[h*santa_pkg::DigitPlanes +: santa_pkg::DigitPlanes])
    );
  end

  if (Parts > 1) begin : gen_parts
    assign part = word_q[PartBits-1:0];
  end else begin : gen_whole
    assign part = '0;
  end

  // The row's last word of ValueLanes features is the one that holds feature d - 1.
  logic [FeatureBits:0] first_beyond;
  assign first_beyond = ((FeatureBits + 1)'(word_q) + (FeatureBits + 1)'(1)) << $clog2(ValueLanes);
  assign pass      = meta_valid && !meta_last && word_valid;
  assign word_ends = pass && (plus_left == '0) && (minus_left == '0);
  assign last_word = first_beyond >= dimension;
  assign last_part = part == PartBits'(Parts - 1);
  assign row_ends  = word_ends && last_word;
  assign word_pop  = word_ends && (last_part || last_word);
  assign meta_pop  = row_ends || request_done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q <= 1'b1;
      word_q  <= '0;
    end else begin
      if (pass) fresh_q <= word_ends;
      if (word_ends) word_q <= last_word ? '0 : word_q + WordBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (pass) begin
      plus_left_q  <= plus_left;
      minus_left_q <= minus_left;
    end
  end

  // --- add -----------------------------------------------------------------------------------

  logic                                       add_q, first_q, drained_q;
  logic [Words-1:0]                           touched_q;  // words that hold this request's sums
  logic [WordBits-1:0]                        add_word_q;
  logic [8*ValueLanes-1:0]                    value_q;
  logic [GroupHeads-1:0]                      valid_q, negative_q;
  logic [GroupHeads*santa_pkg::PlaneBits-1:0] plane_q;
  logic                                       fault_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      add_q     <= 1'b0;
      drained_q <= 1'b0;
      touched_q <= '0;
    end else begin
      add_q     <= pass;
      drained_q <= meta_valid && meta_last && !request_done;
      if (request_done) begin
        touched_q <= '0;
      end else if (pass) begin
        touched_q[word_q] <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (pass) begin
      first_q    <= !touched_q[word_q];
      add_word_q <= word_q;
      value_q    <= word_data[part*8*ValueLanes +: 8*ValueLanes];
      valid_q    <= valid;
      negative_q <= negative;
      plane_q    <= plane;
    end
    if (!adding_valid || request_done) begin
      fault_q <= 1'b0;
    end else if (word_pop && word_error) begin
      fault_q <= 1'b1;
    end
  end

  // --- sums ----------------------------------------------------------------------------------
  // The normaliser reads NormalizerLanes features of one head, a part of a word. Words that no row
  // touched hold sums of 0.

  localparam int SumParts    = ValueLanes / NormalizerLanes;
  localparam int SumPartBits = (SumParts > 1) ? $clog2(SumParts) : 1;
  localparam int WordSumBits = ValueLanes * santa_pkg::SumBits;

  logic [GroupHeads*WordSumBits-1:0] sums;
  logic [WordSumBits-1:0]            head_sums;
  logic [WordBits-1:0]               sum_word;
  logic [SumPartBits-1:0]            sum_part;

  assign sum_word = WordBits'(sum_feature_i >> $clog2(ValueLanes));
  if (SumParts > 1) begin : gen_sum_parts
    assign sum_part = SumPartBits'(sum_feature_i >> $clog2(NormalizerLanes));
  end else begin : gen_sum_part
    assign sum_part = '0;
  end

  for (genvar h = 0; h < GroupHeads; h++) begin : gen_head
    for (genvar l = 0; l < ValueLanes; l++) begin : gen_lane
      value_lane #(
        .Words(Words)
      ) u_lane (
        .clk_i,
        .add_i     (add_q),
        .first_i   (first_q),
        .word_i    (add_word_q),
        .value_i   (value_q[8*l +: 8]),
        .valid_i   (valid_q[h]),
        .negative_i(negative_q[h]),
        .plane_i   (plane_q[h*santa_pkg::PlaneBits +: santa_pkg::PlaneBits]),
        .sum_word_i(sum_word),
        .sum_o     (sums[(h*ValueLanes + l)*santa_pkg::SumBits +: santa_pkg::SumBits])
      );
    end
  end

  assign head_sums = sums[sum_head_i*WordSumBits +: WordSumBits];
  assign sum_o     = touched_q[sum_word]
      ? head_sums[sum_part*NormalizerLanes*santa_pkg::SumBits +: NormalizerLanes*santa_pkg::SumBits]
      : '0;

  assign request_done     = gathered_valid_o && gathered_release_i;
  assign gathered_valid_o = drained_q;

  always_comb begin
    gathered_o        = adding;
    gathered_o.status = santa_pkg::add_status(meta_status, fault_q, santa_pkg::StatusReadError);
  end

  assign busy_o     = pass;

`ifndef SYNTHESIS
  RowsFit_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) word_valid_i |-> unused_buffer_ready);
  RowsHaveARequest_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (meta_valid || row_valid_i) |-> adding_valid);
  RowHasACount_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) (meta_valid && !meta_last) |-> (meta_counts != '0));
`endif

endmodule
