// An address becomes a request after at most two cycles for each word, if memory takes the burst and
// answers, and the encoder takes the request, at least every second cycle. Exactly one burst of the
// descriptor's length is asked for, none for an address that is not a multiple of 256; the request is
// stable until it is taken.

module descriptor_fetch_proof #(
  parameter int PortBytes = 16,
  localparam int Words = santa_pkg::DescriptorBytes / PortBytes
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic                              address_valid_i,
  input logic [santa_pkg::AddressBits-1:0] address_i,
  input logic                              burst_ready_i,
  input logic                              word_valid_i,
  input logic [8*PortBytes-1:0]            word_data_i,
  input logic                              word_error_i,
  input logic                              request_ready_i
);

  logic                              address_ready, burst_valid, request_valid;
  logic [santa_pkg::AddressBits-1:0] burst_address;
  logic [8:0]                        burst_words;
  logic [santa_pkg::RequestBits-1:0] request;

  descriptor_fetch #(
    .PortBytes(PortBytes)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .address_valid_i,
    .address_ready_o(address_ready),
    .address_i,
    .burst_valid_o  (burst_valid),
    .burst_ready_i,
    .burst_address_o(burst_address),
    .burst_words_o  (burst_words),
    .word_valid_i,
    .word_data_i,
    .word_error_i,
    .request_valid_o(request_valid),
    .request_ready_i,
    .request_o      (request)
  );

  (* hierconn *) wire [1:0]                   \u_dut.state_q ;
  (* hierconn *) wire [$clog2(Words + 1)-1:0] \u_dut.words_q ;

  // A request on its way: what is still to happen to it, and since when it is.
  logic                              busy_q, aligned_q, asked_q, waiting_q;
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [8:0]                        words_left_q, events_left;
  logic [9:0]                        age_q;
  logic                              stable_q;
  logic [santa_pkg::RequestBits-1:0] request_q;

  assign events_left = words_left_q + 9'(aligned_q && !asked_q) + 9'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q       <= 1'b0;
      words_left_q <= 9'd0;
      waiting_q    <= 1'b0;
    end else begin
      if (!busy_q) begin
        busy_q       <= address_valid_i && address_ready;
        address_q    <= address_i;
        aligned_q    <= address_i[7:0] == 8'd0;
        asked_q      <= 1'b0;
        age_q        <= 10'd0;
        words_left_q <= (address_i[7:0] == 8'd0) ? 9'(Words) : 9'd0;
      end else begin
        age_q <= age_q + 10'd1;
        if (burst_valid && burst_ready_i) asked_q <= 1'b1;
        if (word_valid_i) words_left_q <= words_left_q - 9'd1;
        if (request_valid && request_ready_i) busy_q <= 1'b0;
      end
      // A cycle in which something could have happened and did not.
      waiting_q <= busy_q && !(burst_valid && burst_ready_i) && !word_valid_i &&
                   !(request_valid && request_ready_i);
    end
    stable_q  <= rst_ni && request_valid && !request_ready_i;
    request_q <= request;
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  always_comb begin
    if (started_q) begin
      assume (!word_valid_i || (busy_q && asked_q && (words_left_q != 9'd0)));
      // Fairness.
      assume (!waiting_q || !burst_valid || burst_ready_i);
      assume (!waiting_q || !(asked_q && (words_left_q != 9'd0)) || word_valid_i);
      assume (!waiting_q || !request_valid || request_ready_i);

      Ready_A : assert (address_ready == !busy_q);
      if (busy_q) begin
        NotStuck_A : assert (11'(age_q) + 11'd2 * 11'(events_left) <=
                             11'd2 * 11'(Words + 2) + 11'(waiting_q));
        Burst_A : assert (burst_valid == (aligned_q && !asked_q));
        Request_A : assert (request_valid ==
                            ((words_left_q == 9'd0) && (asked_q || !aligned_q)));
        if (burst_valid) begin
          Address_A : assert ((burst_address == address_q) && (burst_words == 9'(Words)));
        end
        // Induction.
        WordsLeft_A : assert (!aligned_q || (9'(\u_dut.words_q ) == words_left_q));
        Words_A : assert (words_left_q <= (aligned_q ? 9'(Words) : 9'd0));
        Asked_A : assert (asked_q || !aligned_q || (words_left_q == 9'(Words)));
        NotAsked_A : assert (aligned_q || !asked_q);
      end else begin
        NoBurst_A : assert (!burst_valid && !request_valid);
      end
      if (stable_q) Stable_A : assert (request_valid && (request == request_q));
    end
  end

endmodule
