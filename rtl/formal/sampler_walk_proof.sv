// A head's whole walk, with free weights, exponents, number of samples and offset: tiles of Chunks
// chunks of two keys, in the order of states of systematic_sampler. At its end exactly S draws were
// made (none if all weights are 0), a key of weight 0 was not drawn, and a key of a tile at the head's
// own exponent was drawn floor or ceil of S w / Z times.
//
// Weights have WeightBits bits, exponents lie at most MaxDistance apart, S is at most 2^MaxSamplesLog2.

module sampler_walk_proof #(
  parameter int Tiles          = 2,
  parameter int Chunks         = 2,
  parameter int WeightBits     = 3,
  parameter int MaxDistance    = 3,
  parameter int MaxSamplesLog2 = 1,
  parameter int EndCycle       = 30,  // the walk is over by then
  localparam int Keys = 2 * Chunks
) (
  input logic clk_i
);

  localparam int Steps = Tiles * Keys;

  (* anyconst *) logic [Steps*WeightBits-1:0]                 weights;
  (* anyconst *) logic [Tiles*santa_pkg::ExponentBits-1:0]    distances;
  (* anyconst *) logic [santa_pkg::ExponentBits-1:0]          head_exponent;
  (* anyconst *) logic [santa_pkg::SamplesLog2Bits-1:0]       samples_log2;
  (* anyconst *) logic [santa_pkg::MassBits-1:0]              offset;

  typedef enum logic [3:0] {
    StClear,
    StTotalLoad,
    StTotalAdd,
    StOffset,
    StWalkLoad,
    StWalk,
    StEnter,
    StChunkLoad,
    StChunk,
    StPass,
    StEnd
  } state_e;

  logic [3:0] state_q = StClear;
  logic [3:0] tile_q = 4'd0;
  logic [3:0] chunk_q = 4'd0;

  logic                                 falls, hit;
  logic [1:0]                           key;
  logic [santa_pkg::MassBits-1:0]       total;
  logic [santa_pkg::TileSumBits-1:0]    tile_sum;
  logic [santa_pkg::ExponentBits-1:0]   distance;
  logic [2*santa_pkg::WeightBits-1:0]   chunk_weights;

  always_comb begin
    tile_sum = '0;
    for (int k = 0; k < Keys; k++) begin
      tile_sum = tile_sum + santa_pkg::TileSumBits'(weights[(tile_q*Keys + k)*WeightBits +: WeightBits]);
    end
  end
  assign distance = distances[tile_q*santa_pkg::ExponentBits +: santa_pkg::ExponentBits];
  assign chunk_weights = {
    santa_pkg::WeightBits'(weights[(tile_q*Keys + chunk_q*2 + 1)*WeightBits +: WeightBits]),
    santa_pkg::WeightBits'(weights[(tile_q*Keys + chunk_q*2)*WeightBits +: WeightBits])};

  sampler_lane #(
    .ScanLanes(2)
  ) u_dut (
    .clk_i,
    .on_i           (1'b1),
    .head_exponent_i(head_exponent),
    .tile_exponent_i(head_exponent - distance),
    .tile_sum_i     (tile_sum),
    .mass_load_i    ((state_q == StTotalLoad) || (state_q == StWalkLoad)),
    .clear_i        (state_q == StClear),
    .total_add_i    (state_q == StTotalAdd),
    .total_o        (total),
    .samples_log2_i (samples_log2),
    .offset_load_i  (state_q == StOffset),
    .offset_i       (offset),
    .enter_i        (state_q == StEnter),
    .pass_i         (state_q == StPass),
    .falls_o        (falls),
    .chunk_first_i  (chunk_q == 4'd0),
    .chunk_load_i   (state_q == StChunkLoad),
    .weights_i      (chunk_weights),
    .chunk_valid_i  (state_q == StChunk),
    .hit_o          (hit),
    .key_o          (key)
  );

  logic last_tile;
  assign last_tile = tile_q == 4'(Tiles - 1);

  always_ff @(posedge clk_i) begin
    case (state_q)
      StClear: state_q <= StTotalLoad;
      StTotalLoad: state_q <= StTotalAdd;
      StTotalAdd: begin
        state_q <= last_tile ? StOffset : StTotalLoad;
        tile_q  <= last_tile ? 4'd0 : tile_q + 4'd1;
      end
      StOffset: state_q <= StWalkLoad;
      StWalkLoad: state_q <= StWalk;
      StWalk: state_q <= falls ? StEnter : StPass;
      StEnter: begin
        state_q <= StChunkLoad;
        chunk_q <= 4'd0;
      end
      StChunkLoad: state_q <= StChunk;
      StChunk: begin
        if (!hit) begin
          if (!falls || (chunk_q == 4'(Chunks - 1))) begin
            state_q <= StPass;
          end else begin
            state_q <= StChunkLoad;
            chunk_q <= chunk_q + 4'd1;
          end
        end
      end
      StPass: begin
        state_q <= last_tile ? StEnd : StWalkLoad;
        if (!last_tile) tile_q <= tile_q + 4'd1;
      end
      default: ;
    endcase
  end

  // --- what was drawn ----------------------------------------------------------------------------

  logic [4:0]       draws_q = 5'd0;
  logic [4:0]       samples;
  logic [7:0]       cycle_q = 8'd0;
  logic [santa_pkg::MassBits-1:0] total_q = '0;  // summed here, tile by tile

  always_ff @(posedge clk_i) begin
    cycle_q <= cycle_q + 8'd1;
    if (hit) draws_q <= draws_q + 5'd1;
    if (state_q == StTotalAdd) begin
      total_q <= total_q + ((santa_pkg::MassBits'(tile_sum) << 8) >> distance);
    end
  end
  assign samples = 5'd1 << samples_log2;

  for (genvar i = 0; i < Steps; i++) begin : gen_key
    logic [4:0] count_q = 5'd0;
    logic       drawn;
    logic [19:0] drawn_mass, expected_mass;
    logic [WeightBits-1:0] weight;
    assign weight = weights[i*WeightBits +: WeightBits];
    assign drawn  = hit && key[i%2] && (tile_q == 4'(i / Keys)) && (chunk_q == 4'((i % Keys) / 2));
    always_ff @(posedge clk_i) if (drawn) count_q <= count_q + 5'd1;
    assign drawn_mass = (count_q[0] ? 20'(total_q[15:0]) : 20'd0) +
                        (count_q[1] ? 20'(total_q[15:0]) << 1 : 20'd0) +
                        (count_q[2] ? 20'(total_q[15:0]) << 2 : 20'd0);
    assign expected_mass = (20'(weight) << 8) << samples_log2;
    always_comb begin
      if (state_q == StEnd) begin
        assert ((weight != '0) || (count_q == 5'd0));
        if ((distances[(i/Keys)*santa_pkg::ExponentBits +: santa_pkg::ExponentBits] == '0) &&
            (total_q != '0)) begin
          assert (drawn_mass < expected_mass + 20'(total_q[15:0]));
          assert (drawn_mass + 20'(total_q[15:0]) > expected_mass);
        end
      end
    end
  end

  for (genvar t = 0; t < Tiles; t++) begin : gen_distance
    always_comb begin
      assume (distances[t*santa_pkg::ExponentBits +: santa_pkg::ExponentBits] <= 24'(MaxDistance));
    end
  end

  always_comb begin
    assume (samples_log2 <= 4'(MaxSamplesLog2));
    assume ((state_q != StOffset) || (offset < total_q) || (total_q == '0));
    if (state_q == StEnd) ExactlyS_A : assert (draws_q == ((total_q == '0) ? 5'd0 : samples));
    if (state_q == StOffset) Total_A : assert (total == total_q);
    Ends_A : assert ((cycle_q < 8'(EndCycle)) || (state_q == StEnd));
  end

endmodule
