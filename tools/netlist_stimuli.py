"""Random inputs of single blocks, one vector a cycle: every input takes every value. Of the blocks
whose RTL Icarus Verilog 11 takes."""


def gather_lane(rng, _):
    return {"add_i": rng.randrange(2), "first_i": int(rng.random() < 0.1),
            "slot_i": rng.randrange(2), "key_i": rng.randrange(256), "valid_i": rng.randrange(2),
            "negative_i": rng.randrange(2), "plane_i": rng.randrange(16),
            "write_i": rng.randrange(2), "score_slot_i": rng.randrange(2),
            "score_i": rng.randrange(1 << 32), "write_slot_i": rng.randrange(2)}


def value_lane(rng, _):
    return {"add_i": rng.randrange(2), "first_i": int(rng.random() < 0.1),
            "word_i": rng.randrange(8), "value_i": rng.randrange(256),
            "valid_i": rng.randrange(2), "negative_i": rng.randrange(2),
            "plane_i": rng.randrange(16), "sum_word_i": rng.randrange(8)}


def scale(sign_b, shift_b, sign_a, shift_a, exponent):
    return (sign_b << 16) | (shift_b << 13) | (sign_a << 11) | (shift_a << 8) | (exponent & 0xFF)


def weight_lane(rng, cycle):
    exponent = rng.randrange(-8, 31)
    return {"score_i": rng.randrange(1 << 32) >> rng.randrange(32),
            "scale_i": scale(rng.randrange(3), rng.randrange(1, 7), rng.randrange(3),
                             rng.randrange(1, 7), exponent),
            "exponent_i": rng.randrange(1 << 24) if cycle % 2 else rng.randrange(64)}


def coefficient_lane(rng, _):
    return {"scheme_i": rng.randrange(3), "is_shared_i": int(rng.random() < 0.1),
            "operand_i": rng.randrange(1 << 32), "random_i": rng.randrange(1 << 16),
            "shared_i": rng.randrange(257)}


def lfsr(rng, cycle):
    return {"rst_ni": int(cycle > 0 and rng.random() > 0.01), "load_i": int(rng.random() < 0.05),
            "state_i": rng.randrange(1, 1 << 64), "draw_i": rng.randrange(2)}


STIMULI = {function.__name__: function
           for function in (lfsr, coefficient_lane, gather_lane, value_lane, weight_lane)}
