"""What one instance of each block does in a cycle, as the energy model counts it.

An event's operations and widths are those of the constructors and count_energy() in sim/src: a
change there belongs here too. What the model counts in another block than the instance (the maximum
and sum of weights, the recoding of coefficients) is not among them. Signals are ends of paths in the
waveform of a unit like tiny-test; `P.name` is a port of the instance.
"""

import dataclasses


@dataclasses.dataclass
class Event:
    name: str
    signals: tuple
    count: object      # function of these signals' values: how many in this cycle
    operations: tuple  # (operation of the energy pack, width in bits, how many)
    work: range = range(0, 2)  # cycles, from this one, in which the block works for it


@dataclasses.dataclass
class Instance:
    path: str
    number: str  # how many of these the unit has, as its parameters
    events: tuple


QUERY, WEIGHT = "u_unit.u_query_encoder", "u_unit.u_weight_unit"


def both(*values):
    return int(all(values))


# The same flow on the operation that the pack's source prints, with random operands.
ADDER = Instance("adder", "", (Event("addition", (), lambda: 1, (("add_int", 32, 1),), range(0, 1)),))
ADDER_TEXT = """module adder (input [31:0] a, input [31:0] b, output [31:0] sum);
  assign sum = a + b;
endmodule
"""

INSTANCES = {
    # query_encoder.cpp: rounding of an operand, comparison with a random number.
    "coefficient_lane": Instance(f"{QUERY}.gen_lane[0].u_lane", "4", (
        Event("operand", (f"{QUERY}.step",), int, (("add_int", 24, 1),), range(0, 1)),
        Event("comparison", (f"{QUERY}.step", "P.scheme_i", "P.is_shared_i"),
              lambda step, scheme, shared: int(step and scheme == 2 and not shared),
              (("compare", 24, 1),), range(0, 1)))),
    "lfsr": Instance(f"{QUERY}.u_lfsr", "2", (
        Event("word", ("P.draw_i",), int, (("lfsr_leap", 64, 1),)),)),
    # ternary_gather.cpp; write-backs are the scores that weight_unit.cpp writes.
    "gather_lane": Instance("u_unit.u_ternary_gather.gen_head[0].gen_lane[0].u_lane",
                            "GroupHeads x KeyLanes", (
        Event("digit", ("P.add_i", "P.valid_i"), both,
              (("shift", 16, 1), ("add_int", 32, 1), ("register_write", 32, 1))),
        Event("score written back", ("P.write_i",), int, (("register_write", 32, 1),)))),
    # weight_unit.cpp: 3 additions and a shift make a scaled score; distance, table, shift and
    # rounding a weight. Both leave the lane three cycles after the score entered.
    "weight_lane": Instance(f"{WEIGHT}.gen_head[0].gen_lane[0].u_lane",
                            "GroupHeads x WeightLanes", (
        Event("scaled score", (f"{WEIGHT}.scale_valid_q", f"{WEIGHT}.lane_valid"),
              lambda valid, lanes: (valid >> 2) & lanes & 1,
              (("add_int", 38, 3), ("shift", 38, 1)), range(-3, 1)),
        Event("weight", (f"{WEIGHT}.weigh_valid_q", f"{WEIGHT}.lane_valid"),
              lambda valid, lanes: (valid >> 2) & lanes & 1,
              (("add_int", 24, 1), ("table_read", 16, 1), ("shift", 17, 1), ("add_int", 17, 1)),
              range(-3, 1)))),
    # systematic_sampler.cpp
    "sampler_lane": Instance("u_unit.u_systematic_sampler.gen_head[0].u_lane", "GroupHeads", (
        Event("tile in the total", ("P.total_add_i",), int,
              (("add_int", 24, 1), ("shift", 34, 1), ("add_int", 44, 1),
               ("register_write", 44, 1)), range(-1, 2)),
        Event("tile passed", ("P.pass_i",), int, (("compare", 56, 1),), range(-1, 2)),
        Event("sample", ("P.hit_o",), int, (("add_int", 56, 1), ("shift", 56, 1))),
        Event("chunk of 4 keys", ("P.chunk_load_i",), int,
              (("add_int", 26, 4), ("compare", 56, 4))))),
    # value_gather.cpp
    "value_lane": Instance("u_unit.u_value_gather.gen_head[0].gen_lane[0].u_lane",
                           "GroupHeads x ValueLanes", (
        Event("digit", ("P.add_i", "P.valid_i"), both,
              (("shift", 32, 1), ("add_int", 32, 1), ("register_write", 32, 1))),)),
    # normalizer.cpp: outputs whose bytes are written.
    "normalizer": Instance("u_unit.u_normalizer", "1", (
        Event("output", ("P.step", "P.step_strobe"),
              lambda step, strobe: step * bin(strobe).count("1") // 2,
              (("shift", 32, 1), ("add_int", 16, 1), ("register_write", 16, 1))),)),
}
