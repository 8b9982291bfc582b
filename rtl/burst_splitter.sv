// Cuts a run of bus words into AXI4 bursts: at most MaxBurstWords each, none across a 4 KiB
// boundary. One burst a cycle; a run may follow another without a gap.

module burst_splitter #(
  parameter int PortBytes     = 16,
  parameter int MaxBurstWords = santa_pkg::BurstBytes / PortBytes,
  parameter int RunBits       = 16
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              run_valid_i,
  output logic                              run_ready_o,
  input  logic [santa_pkg::AddressBits-1:0] run_address_i,  // multiple of PortBytes
  input  logic [RunBits-1:0]                run_words_i,    // at least 1
  output logic                              burst_valid_o,
  input  logic                              burst_ready_i,
  output logic [santa_pkg::AddressBits-1:0] burst_address_o,
  output logic [8:0]                        burst_words_o,  // 1..MaxBurstWords
  output logic                              burst_last_o    // of its run
);

  localparam int WordLog2   = $clog2(PortBytes);
  localparam int BlockWords = santa_pkg::BurstBytes / PortBytes;

  logic                              active_q;
  logic [santa_pkg::AddressBits-1:0] address_q;
  logic [RunBits-1:0]                words_q;
  logic [8:0]                        to_boundary, words;
  logic                              last, take;

  assign to_boundary = 9'(BlockWords) - {{(WordLog2 - 3) {1'b0}}, address_q[11:WordLog2]};

  always_comb begin
    words = (to_boundary < 9'(MaxBurstWords)) ? to_boundary : 9'(MaxBurstWords);
    if (words_q < RunBits'(words)) words = 9'(words_q);
  end

  assign last            = words_q == RunBits'(words);
  assign burst_valid_o   = active_q;
  assign burst_address_o = address_q;
  assign burst_words_o   = words;
  assign burst_last_o    = last;
  assign run_ready_o     = !active_q || (burst_ready_i && last);
  assign take            = run_valid_i && run_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
    end else if (take) begin
      active_q <= 1'b1;
    end else if (burst_ready_i && last) begin
      active_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      address_q <= run_address_i;
      words_q   <= run_words_i;
    end else if (active_q && burst_ready_i) begin
      address_q <= address_q + (santa_pkg::AddressBits'(words) << WordLog2);
      words_q   <= words_q - RunBits'(words);
    end
  end

`ifndef SYNTHESIS
  RunNotEmpty_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni) run_valid_i |-> run_words_i != '0);
  BurstStable_A : assert property (
    @(posedge clk_i) disable iff (!rst_ni)
    (burst_valid_o && !burst_ready_i) |=>
    (burst_valid_o && $stable(burst_address_o) && $stable(burst_words_o)));
`endif

endmodule
