// The bursts of a run cover its words once, in order, without a gap; each has at least one word and
// at most the limit, and none crosses a 4 KiB boundary.

module burst_splitter_proof #(
  parameter int PortBytes     = 16,
  parameter int MaxBurstWords = santa_pkg::BurstBytes / PortBytes,
  parameter int RunBits       = 16
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  input logic                              run_valid_i,
  input logic [santa_pkg::AddressBits-1:0] run_address_i,
  input logic [RunBits-1:0]                run_words_i,
  input logic                              burst_ready_i
);

  localparam int WordLog2 = $clog2(PortBytes);

  logic                              run_ready, burst_valid, burst_last;
  logic [santa_pkg::AddressBits-1:0] burst_address;
  logic [8:0]                        burst_words;

  burst_splitter #(
    .PortBytes    (PortBytes),
    .MaxBurstWords(MaxBurstWords),
    .RunBits      (RunBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .run_valid_i,
    .run_ready_o    (run_ready),
    .run_address_i,
    .run_words_i,
    .burst_valid_o  (burst_valid),
    .burst_ready_i,
    .burst_address_o(burst_address),
    .burst_words_o  (burst_words),
    .burst_last_o   (burst_last)
  );

  (* hierconn *) wire [RunBits-1:0] \u_dut.words_q ;

  // What is left of the run at hand.
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [RunBits-1:0]                left_q;
  logic                              sent;

  assign sent = burst_valid && burst_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
    end else if (run_valid_i && run_ready) begin
      left_q    <= run_words_i;
      address_q <= run_address_i;
    end else if (sent) begin
      left_q    <= left_q - RunBits'(burst_words);
      address_q <= address_q + (santa_pkg::AddressBits'(burst_words) << WordLog2);
    end
  end

  initial assume (!rst_ni);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [13:0] burst_end;
  assign burst_end = 14'(burst_address[11:0]) + (14'(burst_words) << WordLog2);

  always_comb begin
    assume (!run_valid_i || ((run_words_i != '0) && (run_address_i[WordLog2-1:0] == '0)));
    if (started_q) begin
      Valid_A : assert (burst_valid == (left_q != '0));
      if (burst_valid) begin
        Address_A : assert (burst_address == address_q);
        Aligned_A : assert (burst_address[WordLog2-1:0] == '0);
        NotEmpty_A : assert (burst_words != 9'd0);
        Limit_A : assert (burst_words <= 9'(MaxBurstWords));
        Block_A : assert (burst_end <= 14'd4096);
        AddsUp_A : assert (RunBits'(burst_words) <= left_q);
        Last_A : assert (burst_last == (RunBits'(burst_words) == left_q));
        // No shorter than it must be: the last of its run, the limit, or the boundary.
        Longest_A : assert (burst_last || (burst_words == 9'(MaxBurstWords)) ||
                            (burst_end == 14'd4096));
        Left_A : assert (\u_dut.words_q == left_q);  // induction
      end
      // A run is taken whenever none is at hand or its last burst goes.
      Ready_A : assert (run_ready == (!burst_valid || (sent && burst_last)));
    end
  end

endmodule
