#!/usr/bin/env python3
"""Energy of single blocks' gates in a run of the unit, beside the estimate of the energy model.

  tools/gate_energy.py --program build/bin/santasim            scenarios of the co-simulation
  tools/gate_energy.py --wave FILE.fst --only lfsr --json result.json

1. `santasim cosim --waves always` runs the unit of tiny-test, compared with its models.
2. An instance's inputs, cycle by cycle, go to its netlist in Icarus Verilog. The netlist's outputs
   must be those of the waveform: this is a check of synthesis against the run too.
3. Every net's changes are weighted with Liberty's capacitances and internal energies. Cells have one
   unit of delay, so glitches are in; `settled` leaves them out. No clock is gated: `clock` is what
   the clock pins take.
4. The same events are priced as the energy model prices them, with its share for control and clock,
   and scaled by node and supply: (L / 45 nm) (V / 0.9 V)^2.

Ratio: gates over estimate, in the cycles in which the instance works; `with idle` in all cycles. The
first row is an adder of 32 bits with random operands: what library and scale make of the ratio.
No wires, no SRAM, an ideal clock: good to a factor of two at best.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import yaml

import liberty
import netlist_flow
import switching
import wave_vectors
import yosys_flow as flow
from energy_events import ADDER, ADDER_TEXT, INSTANCES

NODES_NM = {"osu018": 180, "osu035": 350, "osu05": 500, "sky130": 130}
PACK_NM, PACK_VOLTS = 45, 0.9
PACK = flow.ROOT / "configs" / "energy" / "horowitz-45nm.yaml"
RANGE = ("low", "mid", "high")


def price(points, width, key):
    """pJ of an operation: linear between the points, in proportion beyond (docs/energy.md)."""
    below = [p for p in points if p["width_bits"] <= width]
    above = [p for p in points if p["width_bits"] >= width]
    if not below or not above:
        nearest = below[-1] if below else above[0]
        return nearest[key] * width / nearest["width_bits"]
    a, b = below[-1], above[0]
    if a is b:
        return a[key]
    share = (width - a["width_bits"]) / (b["width_bits"] - a["width_bits"])
    return a[key] + share * (b[key] - a[key])


def estimate(events, counts, pack, factor):
    """{low, mid, high} in pJ of all events."""
    found = {}
    for key in RANGE:
        logic = sum(counts[event.name] * number * price(pack["operations"][name]["points"], width, key)
                    for event in events for name, width, number in event.operations)
        found[key] = logic * (1 + pack["overheads"]["control_and_clock"][key]) * factor
    return found


def scale_of(library):
    for prefix, node in NODES_NM.items():
        if library.name.startswith(prefix):
            return node / PACK_NM * (library.voltage / PACK_VOLTS) ** 2
    raise flow.FlowError(f"{library.name}: node not known; known are {', '.join(NODES_NM)}")


def run_scenario(program, seed, folder):
    done = subprocess.run([program, "cosim", "--config", "tiny-test", "--seed", str(seed), "--waves",
                           "always"], cwd=folder, capture_output=True, text=True, check=False)
    wave = folder / f"cosim-tiny-test-seed-{seed}.fst"
    if done.returncode or not wave.exists():
        raise flow.FlowError(f"santasim cosim --seed {seed}:\n{done.stdout[-400:]}{done.stderr}")
    return wave


class Block:
    """A block's netlist and the signals that its instance needs from a waveform."""

    def __init__(self, name, instance, library, folder, text=None):
        self.name, self.folder, self.instance = name, folder, instance
        folder.mkdir()
        if text:
            (folder / f"{name}.sv").write_text(text)
        netlist_flow.synthesize(name, library, folder, [f"{name}.sv"] if text else None)
        self.inputs, self.outputs = netlist_flow.ports_of(name, folder)

    def path(self, signal):
        return signal.replace("P.", self.instance.path + ".") if signal[:2] == "P." else signal

    def signals(self):
        ports = [self.path(f"P.{port}") for port in (*self.inputs, *self.outputs)]
        return ports + [self.path(s) for event in self.instance.events for s in event.signals]

    def vectors(self, cycles, ports):
        return [{port: cycle[self.path(f"P.{port}")] for port in ports} for cycle in cycles]

    def count(self, cycles):
        """({event: number}, cycles in which the instance works)."""
        counts, working = {}, set()
        for event in self.instance.events:
            paths = [self.path(signal) for signal in event.signals]
            counts[event.name] = 0
            for number, cycle in enumerate(cycles):
                if found := event.count(*(cycle[path] for path in paths)):
                    counts[event.name] += found
                    working.update(number + offset for offset in event.work)
        return counts, {n for n in working if 0 <= n < len(cycles)}


def measure_run(block, cycles, weights):
    """One run: the netlist begins with unknown registers, as the unit with any."""
    expected = block.vectors(cycles, block.outputs)
    compared = netlist_flow.simulate(block.name, block.folder, block.vectors(cycles, block.inputs),
                                     expected)
    total, settled = switching.energy_by_cycle(block.folder / "netlist.vcd", weights,
                                               netlist_flow.PERIOD, len(cycles))
    counts, working = block.count(cycles)
    return {"cycles": len(cycles), "working": len(working), "compared": compared * len(cycles),
            "all": sum(total), "work": sum(total[n] for n in working),
            "settled": sum(settled[n] for n in working), **counts}


def measure(block, runs, library, pack, factor):
    weights = switching.net_weights(netlist_flow.netlist_module(block.name, block.folder), library)
    sums = collections.Counter()
    for cycles in runs:
        sums.update(measure_run(block, cycles, weights))
    if not sums["working"]:
        raise flow.FlowError(f"{block.name}: does nothing in this run")
    events = block.instance.events
    guessed = estimate(events, sums, pack, factor)
    clock = 2 * weights.get("clk_i", 0.0) * sums["working"]
    return {
        "instance": block.instance.path, "instances": block.instance.number,
        "cycles": sums["cycles"], "working_cycles": sums["working"],
        "outputs_compared": round(sums["compared"] / sums["cycles"], 4),
        "events": {event.name: sums[event.name] for event in events},
        "gates_pj": {"all_cycles": round(sums["all"], 3), "working": round(sums["work"], 3),
                     # A clock that rises and falls leaves nothing, but is no glitch.
                     "working_settled": round(sums["settled"] + clock, 3),
                     "working_clock": round(clock, 3)},
        "estimate_pj": {key: round(value, 3) for key, value in guessed.items()},
        "ratio": {key: round(sums["work"] / guessed[key], 3) for key in RANGE},
        "ratio_with_idle": round(sums["all"] / guessed["mid"], 3)}


def additions(cycles=1000):
    rng = random.Random(1)
    pairs = [(rng.randrange(1 << 32), rng.randrange(1 << 32)) for _ in range(cycles)]
    return [{"adder.a": a, "adder.b": b, "adder.sum": (a + b) & 0xFFFFFFFF} for a, b in pairs]


def selftest(block, cycles):
    """One bit of one output, wrong in one cycle, must be found."""
    expected = block.vectors(cycles, block.outputs)
    port = next(iter(block.outputs))
    expected[len(expected) // 2][port] ^= 1
    try:
        netlist_flow.simulate(block.name, block.folder, block.vectors(cycles, block.inputs), expected)
    except flow.FlowError:
        return
    raise flow.FlowError(f"{block.name}: a wrong {port} is not found")


def print_row(name, row):
    gates, work = row["gates_pj"], row["working_cycles"]
    print(f"{name:<17} {row['cycles']:>7} {work:>7} {gates['working'] / work:>9.2f} "
          f"{gates['working_settled'] / work:>8.2f} {gates['working_clock'] / work:>6.2f} "
          f"{row['estimate_pj']['mid'] / work:>9.2f} {row['ratio']['mid']:>6.2f} "
          f"{row['ratio']['high']:>5.2f} to {row['ratio']['low']:<5.2f} "
          f"{row['ratio_with_idle']:>9.2f}", flush=True)


def run(options, folder):
    text = flow.unpack_liberty(flow.find_liberty(options.liberty), folder)
    library = liberty.load(text)
    pack = yaml.safe_load(PACK.read_text())
    result = {"yosys": flow.version(), "library": library.name, "pack": pack["pack"],
              "scale": round(scale_of(library), 4),
              "scenarios": options.seed if not options.wave else [], "blocks": {}}
    blocks = [Block(name, INSTANCES[name], text, folder / name)
              for name in options.only or INSTANCES]
    adder = Block("adder", ADDER, text, folder / "adder", ADDER_TEXT)
    waves = options.wave or [run_scenario(options.program.resolve(), seed, folder)
                             for seed in options.seed]
    signals = sorted({signal for block in blocks for signal in block.signals()})
    runs = [wave_vectors.read_cycles(wave, signals) for wave in waves]
    print(f"{'pJ a working cycle':<17} {'cycles':>6} {'working':>7} {'gates':>9} {'settled':>8} "
          f"{'clock':>6} {'estimate':>9} {'ratio':>6} {'high to low':<14} {'with idle':>9}")
    for block in [adder, *blocks]:
        run = [additions()] if block is adder else runs
        row = measure(block, run, library, pack, scale_of(library))
        result["blocks"][block.name] = row
        print_row(block.name, row)
        if options.selftest and block is not adder:
            selftest(block, runs[0])
    print(f"estimates are {pack['pack']}, scaled by {result['scale']}; netlists give the outputs of "
          "the run" + ("; a wrong output is found" if options.selftest else ""))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liberty", default="osu018",
                        help="file, also .gz, or osu018, osu035, osu050")
    parser.add_argument("--program", type=pathlib.Path,
                        default=flow.ROOT / "build" / "bin" / "santasim", help="santasim")
    parser.add_argument("--seed", type=int, action="append", help="scenario; several follow another")
    parser.add_argument("--wave", type=pathlib.Path, action="append", help="in place of scenarios")
    parser.add_argument("--only", action="append", choices=list(INSTANCES))
    parser.add_argument("--selftest", action="store_true", help="show that the comparison can fail")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.seed = options.seed or [8, 13]
    try:
        with tempfile.TemporaryDirectory(prefix="gate-energy-") as name:
            result = run(options, pathlib.Path(name))
    except (flow.FlowError, wave_vectors.WaveError, OSError) as error:
        print(f"gate_energy: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
