"""Energy of a netlist's switching: changes of its nets in a VCD, weighted with Liberty's values.

A change of a net costs C V^2 / 2 in the pins that it drives and the internal energies of the pins
at it, read from their tables at the net's load and a slope that such netlists have. There are no
wires.
"""

SLOPE_NS = 0.1  # slopes in the longest path of the unit are 0.04 to 0.2


def net_weights(module, library):
    """{net or net[i]: pJ a change} of a module of yosys' JSON."""
    pins, loads = {}, {}
    for cell in module["cells"].values():
        known = library.cells[cell["type"].removeprefix("\\")]
        for port, bits in cell["connections"].items():
            for bit in bits:
                if not isinstance(bit, str):
                    pins.setdefault(bit, []).append(known.pins[port])
                    loads[bit] = loads.get(bit, 0.0) + known.pins[port].capacitance
    of_bit = {}
    for bit, at in pins.items():
        inside = sum(max(0.0, pin.internal_energy(SLOPE_NS, loads[bit])) for pin in at)
        charge = 0.5 * loads[bit] * library.capacitance_farad * library.voltage ** 2
        of_bit[bit] = (inside * library.energy_joule + charge) / 1e-12
    # A net of several names counts once, under the first.
    weights = {}
    for name, net in module["netnames"].items():
        for i, bit in enumerate(net["bits"]):
            if bit in of_bit:
                weights[f"{name}[{i}]" if len(net["bits"]) > 1 else name] = of_bit.pop(bit)
    return weights


def codes_of(lines, weights):
    """{code: pJ of each bit, the lowest first}."""
    codes = {}
    for line in lines:
        words = line.split()
        if words and words[0] == "$enddefinitions":
            break
        if not words or words[0] != "$var":
            continue
        name, width = words[4].lstrip("\\"), int(words[2])
        index = words[5] if words[5] != "$end" else ""
        if width == 1:
            full = name if name in weights or ":" in index else name + index
            found = [weights.get(full, 0.0)]
        else:
            found = [weights.get(f"{name}[{i}]", 0.0) for i in range(width)]
        # Names of one net may share a code; only one of them has a weight.
        before = codes.get(words[3], [0.0] * width)
        codes[words[3]] = [a + b for a, b in zip(before, found)]
    return codes


def energy_by_cycle(path, weights, period, cycles):
    """([pJ], [pJ without glitches]) of each cycle. A net's first value is not a change."""
    total, settled = [0.0] * (cycles + 1), [0.0] * (cycles + 1)
    with open(path, encoding="ascii") as lines:
        codes = codes_of(lines, weights)
        lost = set(weights) - names_of(path, weights)
        if lost:
            raise ValueError(f"nets without a waveform: {sorted(lost)[:4]}")
        values, before = {}, {}
        cycle = 0

        def settle():
            for code, old in before.items():
                settled[cycle] += difference(old, values[code], codes[code])
            before.clear()
        for line in lines:
            kind = line[0]
            if kind == "#":
                if (now := int(line[1:]) // period) != cycle:
                    settle()
                    cycle = min(now, cycles)
                continue
            if kind in "01xz":
                value, code = kind, line[1:].rstrip()
            elif kind == "b":
                value, _, code = line[1:].partition(" ")
                code = code.rstrip()
                value = value.rjust(len(codes[code]), "0" if value[0] in "01" else value[0])
            else:
                continue
            if (old := values.get(code)) is not None and old != value:
                total[cycle] += difference(old, value, codes[code])
                before.setdefault(code, old)
            values[code] = value
        settle()
    return total[:cycles], settled[:cycles]


def names_of(path, weights):
    """The weighted nets that the waveform has."""
    found = set()
    with open(path, encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "$enddefinitions":
                break
            if words and words[0] == "$var":
                name, width = words[4].lstrip("\\"), int(words[2])
                index = words[5] if words[5] != "$end" else ""
                found.add(name)
                found.add(name + index)
                found.update(f"{name}[{i}]" for i in range(width))
    return found & set(weights)


def difference(old, new, weights):
    """pJ of a change; bits from or to an unknown value cost nothing."""
    if len(weights) == 1:
        return weights[0] if old in "01" and new in "01" and old != new else 0.0
    return sum(weight for weight, a, b in zip(weights, reversed(old), reversed(new))
               if a != b and a in "01" and b in "01")
