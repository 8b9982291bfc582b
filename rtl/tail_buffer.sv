// Transposing buffer for the tile that is still being filled: written key by key, read feature by
// feature. Byte (key k, feature f) lies in bank (k + f) mod KeyLanes, so that a bus word of one key
// and a word of KeyLanes keys of one feature both touch each bank at most once.

module tail_buffer #(
  parameter int PortBytes        = 16,
  parameter int TileKeys         = 16,
  parameter int KeyLanes         = 16,
  parameter int MaxHeadDimension = 256,
  localparam int FeatureBits = $clog2(MaxHeadDimension),
  localparam int TileBits    = $clog2(TileKeys),
  localparam int Words       = TileKeys / KeyLanes,
  localparam int WordBits    = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                   clk_i,
  input  logic                   write_i,
  input  logic [TileBits-1:0]    write_key_i,
  input  logic [FeatureBits-1:0] write_feature_i,  // of the first byte, a multiple of PortBytes
  input  logic [8*PortBytes-1:0] write_data_i,
  input  logic                   read_i,
  input  logic [FeatureBits-1:0] read_feature_i,
  input  logic [WordBits-1:0]    read_word_i,      // keys read_word_i * KeyLanes onwards
  output logic [8*KeyLanes-1:0]  read_data_o       // one cycle later
);

  localparam int LaneBits  = $clog2(KeyLanes);
  localparam int Depth     = MaxHeadDimension * Words;
  localparam int IndexBits = $clog2(Depth);
  localparam int ByteBits  = $clog2(PortBytes);

  logic [8*KeyLanes-1:0]   banks;
  logic [LaneBits-1:0]     skew, rotate_q;
  logic [2*8*KeyLanes-1:0] twice;

  // Lane of the first byte of the bus word, and how far a bank lies behind it.
  assign skew = LaneBits'(write_key_i) + LaneBits'(write_feature_i);

  for (genvar b = 0; b < KeyLanes; b++) begin : gen_bank
    logic [LaneBits-1:0]    offset;
    logic                   write;
    logic [FeatureBits-1:0] feature;
    logic [IndexBits-1:0]   write_index, read_index;

    assign offset  = LaneBits'(b) - skew;
    assign write   = write_i && ({1'b0, offset} < (LaneBits + 1)'(PortBytes));
    assign feature = write_feature_i + FeatureBits'(offset[ByteBits-1:0]);

    if (Words > 1) begin : gen_words
      assign write_index = {feature, write_key_i[TileBits-1:LaneBits]};
      assign read_index  = {read_feature_i, read_word_i};
    end else begin : gen_word
      assign write_index = feature;
      assign read_index  = read_feature_i;
    end

    ram_1r1w #(
      .Width(8),
      .Depth(Depth)
    ) u_ram (
      .clk_i,
      .write_i      (write),
      .write_index_i(write_index),
      .write_data_i (write_data_i[8*offset[ByteBits-1:0] +: 8]),
      .read_i       (read_i),
      .read_index_i (read_index),
      .read_data_o  (banks[8*b +: 8])
    );
  end

  if (Words == 1) begin : gen_unused
    logic unused_word;
    assign unused_word = ^read_word_i;
  end

  always_ff @(posedge clk_i) begin
    if (read_i) rotate_q <= LaneBits'(read_feature_i);
  end

  assign twice       = {banks, banks} >> {rotate_q, 3'b000};
  assign read_data_o = twice[8*KeyLanes-1:0];

  logic unused_twice;
  assign unused_twice = ^twice[2*8*KeyLanes-1:8*KeyLanes];

endmodule
