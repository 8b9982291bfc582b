// A gathered request is released, and its completion comes once, in a bounded time, if memory takes
// runs and words, and ends its writes, at least every second cycle. Each row is one run of as many
// words as the row has, every word lies in its run, and an erroneous request writes nothing. Words
// and their strobes are stable until taken.

module normalizer_proof #(
  parameter int PortBytes        = 16,
  parameter int GroupHeads       = 2,
  parameter int MaxHeadDimension = 16,
  parameter int NormalizerLanes  = 4,
  parameter int MaxDimension     = 8,   // of the requests
  parameter int LateCycles       = 17
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic                              gathered_valid_i,
  input logic [2:0]                        status_i,
  input logic [santa_pkg::GroupBits-1:0]   group_i,
  input logic [santa_pkg::DimensionBits-1:0] head_dimension_i,
  input logic [santa_pkg::SamplesLog2Bits-1:0] samples_log2_i,
  input logic [NormalizerLanes*santa_pkg::SumBits-1:0] sum_i,
  input logic                              run_ready_i,
  input logic                              data_ready_i,
  input logic                              write_idle_i,
  input logic                              write_error_i
);

  localparam int WordOutputs = PortBytes / 2;

  santa_pkg::request_t               request;
  logic                              release_request, run_valid, data_valid, done_valid;
  logic [santa_pkg::AddressBits-1:0] run_address;
  logic [15:0]                       run_words;
  logic [8*PortBytes-1:0]            data;
  logic [PortBytes-1:0]              strobe;
  logic [31:0]                       done_tag;
  logic [2:0]                        done_status;

  always_comb begin
    request                = '0;
    request.status         = status_i;
    request.group          = group_i;
    request.head_dimension = head_dimension_i;
    request.samples_log2   = samples_log2_i;
  end

  normalizer #(
    .PortBytes       (PortBytes),
    .GroupHeads      (GroupHeads),
    .MaxHeadDimension(MaxHeadDimension),
    .NormalizerLanes (NormalizerLanes)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .gathered_valid_i,
    .gathered_i        (request),
    .gathered_release_o(release_request),
    .sum_head_o        (),
    .sum_feature_o     (),
    .sum_i,
    .run_valid_o       (run_valid),
    .run_ready_i,
    .run_address_o     (run_address),
    .run_words_o       (run_words),
    .data_valid_o      (data_valid),
    .data_ready_i,
    .data_o            (data),
    .strobe_o          (strobe),
    .write_idle_i,
    .write_error_i,
    .done_valid_o      (done_valid),
    .done_tag_o        (done_tag),
    .done_status_o     (done_status),
    .busy_o            ()
  );

  logic [15:0] words_left_q;  // of the run at hand
  logic [3:0]  rows_q;        // runs of the request at hand
  logic        given_q;       // a request waits for its completion
  logic        healthy_q;
  logic [3:0]  group_q;
  logic [7:0]  age_q;
  logic        refused_q, word_waited_q, request_waited_q;
  logic [8*PortBytes-1:0]            data_q;
  logic [PortBytes-1:0]              strobe_q;
  santa_pkg::request_t               gathered_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      words_left_q <= 16'd0;
      rows_q       <= 4'd0;
      given_q      <= 1'b0;
      age_q        <= 8'd0;
    end else begin
      if (run_valid && run_ready_i) begin
        words_left_q <= run_words;
        rows_q       <= rows_q + 4'd1;
      end else if (data_valid && data_ready_i) begin
        words_left_q <= words_left_q - 16'd1;
      end
      if (done_valid) rows_q <= 4'd0;
      if (release_request) begin
        given_q   <= 1'b1;
        healthy_q <= request.status == 3'd0;
        group_q   <= request.group;
      end else if (done_valid) begin
        given_q <= 1'b0;
      end
      age_q <= ((gathered_valid_i || given_q) && !done_valid) ? age_q + 8'd1 : 8'd0;
    end
    refused_q     <= rst_ni && ((run_valid && !run_ready_i) || (data_valid && !data_ready_i) ||
                                (given_q && !write_idle_i));
    word_waited_q <= rst_ni && data_valid && !data_ready_i;
    data_q        <= data;
    strobe_q      <= strobe;
    request_waited_q <= rst_ni && gathered_valid_i && !release_request;
    gathered_q       <= request;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    assume (!gathered_valid_i || (request.status != 3'd0) ||
            ((request.group != 4'd0) && (request.group <= 4'(GroupHeads)) &&
             (request.head_dimension != 9'd0) &&
             (request.head_dimension <= 9'(MaxDimension))));
    // A request stays until it is released, and the next one comes after its completion.
    assume (!started_q || !request_waited_q || (gathered_valid_i && (request == gathered_q)));
    assume (!gathered_valid_i || !given_q);
    // The write port (axi_write_port_proof): a run is taken when the one before it is over, words
    // are taken in a run only.
    assume (!started_q || !run_ready_i || (words_left_q == 16'd0));
    assume (!started_q || !data_ready_i || (words_left_q != 16'd0));
    // Fairness.
    assume (!started_q || !refused_q || ((run_ready_i || !run_valid || (words_left_q != 16'd0)) &&
                                         (data_ready_i || !data_valid || (words_left_q == 16'd0)) &&
                                         write_idle_i));
    if (started_q) begin
      NotStuck_A : assert (age_q < 8'(LateCycles));
      OneDone_A : assert (!done_valid || given_q);
      Run_A : assert (!run_valid || ((words_left_q == 16'(data_valid && (words_left_q != 16'd0))) &&
                                     (run_words == 16'((16'(request.head_dimension) +
                                                        16'(WordOutputs - 1)) / WordOutputs))));
      Word_A : assert (!data_valid || (words_left_q != 16'd0));
      if (word_waited_q) begin
        Stable_A : assert (data_valid && (strobe == strobe_q) && (data == data_q));
      end
      if (done_valid) begin
        Rows_A : assert (rows_q == (healthy_q ? group_q : 4'd0));
        AllWords_A : assert (words_left_q == 16'd0);
      end
    end
  end

endmodule
