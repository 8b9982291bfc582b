// One key lane of one query head: its accumulators, in two buffers of TileKeys / KeyLanes words.
// Adds or subtracts the key shifted by each digit's plane; the weight unit reads scores from the
// other buffer and puts scaled ones in their place.

module gather_lane #(
  parameter int DigitLanes = 1,
  parameter int Slots      = 2,
  localparam int SlotBits = $clog2(Slots)
) (
  input  logic                                         clk_i,
  input  logic                                         add_i,
  input  logic                                         first_i,     // the slot starts from 0
  input  logic [SlotBits-1:0]                          slot_i,      // {buffer, word}
  input  logic [7:0]                                   key_i,       // signed
  input  logic [DigitLanes-1:0]                        valid_i,
  input  logic [DigitLanes-1:0]                        negative_i,
  input  logic [DigitLanes*santa_pkg::PlaneBits-1:0]   plane_i,
  input  logic                                         write_i,     // not to the slot being added to
  input  logic [SlotBits-1:0]                          score_slot_i,
  input  logic [santa_pkg::ScoreBits-1:0]              score_i,
  input  logic [SlotBits-1:0]                          write_slot_i,
  output logic [santa_pkg::ScoreBits-1:0]              score_o
);

  // One module for all lanes in simulation as well: a thousand copies would be slow to compile.
  /* verilator no_inline_module */

  logic signed [santa_pkg::AccumulatorBits-1:0] sum_q [Slots];
  logic signed [santa_pkg::AccumulatorBits-1:0] sum, key;

  assign key = santa_pkg::AccumulatorBits'($signed(key_i));

  always_comb begin
    sum = first_i ? '0 : sum_q[slot_i];
    for (int k = 0; k < DigitLanes; k++) begin
      if (valid_i[k]) begin
        if (negative_i[k]) begin
          sum = sum - (key <<< plane_i[k*santa_pkg::PlaneBits +: santa_pkg::PlaneBits]);
        end else begin
          sum = sum + (key <<< plane_i[k*santa_pkg::PlaneBits +: santa_pkg::PlaneBits]);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (add_i) sum_q[slot_i] <= sum;
    if (write_i) sum_q[write_slot_i] <= score_i;
  end

  assign score_o = sum_q[score_slot_i];

endmodule
