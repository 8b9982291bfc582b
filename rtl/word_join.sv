// Joins bus words to a wider word, the first in the low bits; a power of two of them.

module word_join #(
  parameter int PortBytes = 16,
  parameter int WordBytes = 32
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   part_valid_i,
  input  logic [8*PortBytes-1:0] part_i,
  output logic                   word_valid_o,  // with its last part
  output logic [8*WordBytes-1:0] word_o
);

  localparam int Parts    = WordBytes / PortBytes;
  localparam int PartBits = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int HeldBits = (Parts > 1) ? 8 * (WordBytes - PortBytes) : 1;

  if (Parts > 1) begin : gen_join
    logic [PartBits-1:0] part_q;
    logic [HeldBits-1:0] held_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        part_q <= '0;
      end else if (part_valid_i) begin
        part_q <= part_q + PartBits'(1);
      end
    end

    // Earlier parts move towards the low end.
    always_ff @(posedge clk_i) begin
      if (part_valid_i) held_q <= word_o[8*WordBytes-1:8*PortBytes];
    end

    assign word_o       = {part_i, held_q};
    assign word_valid_o = part_valid_i && (part_q == PartBits'(Parts - 1));
  end else begin : gen_pass
    logic unused_clock;
    assign unused_clock = clk_i && rst_ni;
    assign word_o       = part_i;
    assign word_valid_o = part_valid_i;
  end

endmodule
