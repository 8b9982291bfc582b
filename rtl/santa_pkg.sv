// Widths, types and small functions that the blocks of the attention unit share.
//
// Widths and why they suffice: docs/numerics.md, "Notation". The unit holds head dimensions up to
// 256 and groups up to 8, half of what the arithmetic allows.

// A block uses some of it only.
/* verilator lint_off UNUSEDPARAM */
package santa_pkg;

  localparam int MaxGroup          = 8;
  localparam int AddressBits       = 64;
  localparam int StreamBits        = 64;  // state of a random stream
  localparam int LaneBits          = 16;  // random lane, four a word
  localparam int ContextBits       = 21;  // 0..2^20
  localparam int KeyBits           = 20;  // index of a key
  localparam int DimensionBits     = 9;   // 1..256
  localparam int GroupBits         = 4;   // 1..8
  localparam int SamplesLog2Bits   = 4;   // 0..12
  localparam int MagnitudeBits     = 24;  // operand, unsigned Q8.16
  localparam int CoefficientBits   = 14;  // signed, magnitude up to 64 * 8 * 8
  localparam int DigitPlanes       = 13;  // signed digits of a coefficient and of a count
  localparam int PlaneBits         = 4;
  localparam int AccumulatorBits   = 32;
  localparam int ScaledBits        = 40;  // accumulator * 2^6 * (1 + 1/2 + 1/2), signed
  localparam int ScoreBits         = 32;
  localparam int ScoreFractionBits = 8;
  localparam int ExponentBits      = 24;
  localparam int DistanceBits      = 6;
  localparam int WeightBits        = 16;
  localparam int TileSumBits       = 26;
  localparam int MassGuardBits     = 8;
  localparam int TileMassBits      = 34;
  localparam int MassBits          = 44;
  localparam int ThresholdBits     = 56;
  localparam int ResidualBits      = 46;
  localparam int CountBits         = 13;
  localparam int SumBits           = 20;
  localparam int OutputBits        = 16;
  localparam int ScaleBits         = 18;

  localparam int DescriptorBytes = 256;
  localparam int BurstBytes      = 4096;  // AXI4: no burst crosses a 4 KiB boundary

  typedef enum logic [1:0] {
    ScoresExact     = 2'd0,
    ScoresBernoulli = 2'd1,
    ScoresGroup     = 2'd2
  } score_scheme_e;

  typedef enum logic [2:0] {
    StatusOk            = 3'd0,
    StatusBadDescriptor = 3'd1,
    StatusReadError     = 3'd2,
    StatusWriteError    = 3'd3
  } status_e;

  typedef enum logic [1:0] {
    ReadIdRequest = 2'd0,  // descriptor and operands
    ReadIdKey     = 2'd1,
    ReadIdValue   = 2'd2,
    ReadIdScratch = 2'd3
  } read_id_e;

  // Write ids, which are also indices of the write port's clients.
  localparam int WriteIdOutput  = 0;
  localparam int WriteIdScratch = 1;

  // kappa = 2^-exponent (1 +- 2^-shift_a +- 2^-shift_b); signs: 0 none, 1 plus, 2 minus.
  typedef struct packed {
    logic [1:0] sign_b;
    logic [2:0] shift_b;
    logic [1:0] sign_a;
    logic [2:0] shift_a;
    logic [7:0] exponent;
  } scale_t;

  // A request as its descriptor states it (docs/rtl.md), and what went wrong so far.
  typedef struct packed {
    logic [2:0]                     status;
    logic [31:0]                    tag;
    logic [ContextBits-1:0]         context_length;
    logic [DimensionBits-1:0]       head_dimension;
    logic [GroupBits-1:0]           group;
    logic [1:0]                     scheme;
    logic [SamplesLog2Bits-1:0]     samples_log2;
    logic [AddressBits-1:0]         operand_address;
    logic [AddressBits-1:0]         key_address;
    logic [AddressBits-1:0]         tail_address;
    logic [AddressBits-1:0]         value_address;
    logic [AddressBits-1:0]         scratch_address;
    logic [AddressBits-1:0]         output_address;
    logic [StreamBits-1:0]          score_stream;
    logic [MaxGroup*StreamBits-1:0] value_stream;
    logic [MaxGroup*ScaleBits-1:0]  scale;
  } request_t;

  // Bits of request_t: yosys takes no type in $bits.
  localparam int RequestBits = 3 + 32 + ContextBits + DimensionBits + GroupBits + 2 +
                               SamplesLog2Bits + 6 * AddressBits + StreamBits +
                               MaxGroup * (StreamBits + ScaleBits);

  // Smallest k with 2^k >= value; value is 1 to 256.
  function automatic logic [3:0] log2_ceil(input logic [DimensionBits-1:0] value);
    log2_ceil = 4'd0;
    for (int k = 0; k < 8; k++) begin
      if ({1'b0, value} > 10'(1 << k)) log2_ceil = 4'(k + 1);
    end
  endfunction

  // Canonical signed digits of a magnitude, no two neighbours set: value = plus - minus.
  function automatic logic [DigitPlanes-1:0] plus_digits(input logic [DigitPlanes-1:0] value);
    logic [DigitPlanes+1:0] single;
    logic [DigitPlanes+1:0] triple;
    single      = {2'b00, value};
    triple      = single + {1'b0, value, 1'b0};
    plus_digits = DigitPlanes'((triple & ~single) >> 1);
  endfunction

  function automatic logic [DigitPlanes-1:0] minus_digits(input logic [DigitPlanes-1:0] value);
    logic [DigitPlanes+1:0] single;
    logic [DigitPlanes+1:0] triple;
    single       = {2'b00, value};
    triple       = single + {1'b0, value, 1'b0};
    minus_digits = DigitPlanes'((single & ~triple) >> 1);
  endfunction

  // Digits that are not zero: at most 7 of 13.
  function automatic logic [3:0] digit_count(input logic [DigitPlanes-1:0] digits);
    digit_count = 4'd0;
    for (int p = 0; p < DigitPlanes; p++) digit_count = digit_count + {3'd0, digits[p]};
  endfunction

  // The lowest digit alone.
  function automatic logic [DigitPlanes-1:0] lowest_digit(input logic [DigitPlanes-1:0] digits);
    lowest_digit = digits & (~digits + DigitPlanes'(1));
  endfunction

  // Plane of the only digit that is set; 0 when there is none.
  function automatic logic [PlaneBits-1:0] plane_of(input logic [DigitPlanes-1:0] digit);
    plane_of = '0;
    for (int p = 0; p < DigitPlanes; p++) begin
      if (digit[p]) plane_of = plane_of | PlaneBits'(p);
    end
  endfunction

  // Status after a further finding: the first one stays.
  function automatic logic [2:0] add_status(input logic [2:0] status, input logic fault,
                                            input logic [2:0] code);
    add_status = (fault && (status == 3'd0)) ? code : status;
  endfunction

endpackage
/* verilator lint_on UNUSEDPARAM */
