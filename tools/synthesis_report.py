#!/usr/bin/env python3
"""Writes docs/synthesis.md from the results in rtl/synth; --check fails if it differs.

  tools/synthesis_report.py            after `tools/synthesize.py --update` or `gate_energy.py --json`
  tools/synthesis_report.py --check
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYNTH = ROOT / "rtl" / "synth"
DOCUMENT = ROOT / "docs" / "synthesis.md"

HEAD = """# Synthesis

What the unit in SystemVerilog ([rtl.md](rtl.md)) takes in gates, and what its blocks' gates switch in a
run. Written by `tools/synthesis_report.py` from `rtl/synth/`; do not edit.

```sh
make synth    # the unit and its blocks; fails if the result is not the one below
make power    # energy of blocks from the gates; writes this page
tools/synthesize.py --config server-hbm3 --liberty FILE.lib.gz    # another unit, another library
tools/netlist.py --selftest                                       # netlists against the RTL
```

Everything is open: {yosys_name} {yosys} with its abc, OpenSTA, Icarus Verilog, and the library
`{library}` that Debian ships.
"""

CHECKS = """## Checks

| check | fails on | shown to fail by |
|---|---|---|
| no multiplier, divider or remainder of data, after `proc; opt` | a product of two values; products by a constant that only select a part of a vector are wiring and are counted: {selections} | `synthesize.py --selftest` |
| no latch, no loop, no undriven net, in the flat design | | `synthesize.py --selftest` |
| cells, flip-flops, area and slack are those of `rtl/synth/expected.json` | any difference; other versions of yosys are not compared | `synthesize.py --selftest` |
| a block's netlist is proved equal to its RTL, in every cycle | | `netlist.py --selftest`: one gate exchanged |
| netlist and RTL side by side on random vectors, the RTL read by Icarus Verilog | | the same comparison as below |
| a netlist gives the outputs that its instance had in the co-simulation | | `gate_energy.py --selftest`: one wrong bit |
"""

LIMITS = """## How far to trust this

- **No wires.** Areas are sums of cells; delays and energies are those of cells and pins.
- **No SRAM.** Memories are black boxes (`ram_1r1w`): in no area, no energy, and no path goes through them.
- **Ideal clock.** No clock tree; no clock is gated, so that every flip-flop takes clock energy in every
  cycle: most of what idle cycles add would go with clock gates.
- **One unit of delay for each cell.** Glitches are counted, but not where real delays would put them.
- **Internal energies** are read from Liberty's tables at each net's load and one slope, 0.1 ns.
- **An old library.** It has no scan or enable flip-flops, no clock gates and few complex gates. Ratios
  between designs in one library mean something; absolute values say little about another process.
- **The scale** between nodes, (L / 45 nm) (V / 0.9 V)^2, is the first-order rule. Ratios within a factor
  of two of each other should not be told apart.
"""


def area_table(unit):
    rows = sorted(unit["blocks"].items(), key=lambda item: -item[1]["area"])
    lines = ["| block | cells | flip-flops | SRAMs | area, um^2 | share |", "|---|---:|---:|---:|---:|---:|"]
    for name, row in [*rows, ("unit", unit)]:
        shown = name if name.startswith("(") or name == "unit" else f"`{name.removeprefix('u_')}`"
        lines.append(f"| {shown} | {row['cells']:,} | {row['flip_flops']:,} | {row['memories']} | "
                     f"{row['area']:,.0f} | {100 * row['area'] / unit['area']:.1f} % |")
    return lines


def block_table(blocks):
    lines = ["| module | cells | flip-flops | area, um^2 |", "|---|---:|---:|---:|"]
    return lines + [f"| `{name}` | {row['cells']:,} | {row['flip_flops']:,} | {row['area']:,.0f} |"
                    for name, row in blocks.items()]


def energy_table(power):
    lines = ["| block | working cycles | gates, pJ | without glitches | clock pins | estimate, pJ | ratio |"
             " at the estimate's high and low end | over the adder's | with idle cycles |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    adder = power["blocks"]["adder"]["ratio"]["mid"]
    for name, row in power["blocks"].items():
        gates, work, ratio = row["gates_pj"], row["working_cycles"], row["ratio"]
        lines.append(
            f"| `{name}` | {work:,} of {row['cycles']:,} | {gates['working'] / work:.1f} | "
            f"{gates['working_settled'] / work:.1f} | {gates['working_clock'] / work:.1f} | "
            f"{row['estimate_pj']['mid'] / work:.1f} | **{ratio['mid']:.2f}** | "
            f"{ratio['high']:.2f} to {ratio['low']:.2f} | {ratio['mid'] / adder:.2f} | {row['ratio_with_idle']:.2f} |")
    return lines


def event_list(power):
    return [f"- `{name}`: " + ", ".join(f"{number:,} x {event}"
                                        for event, number in row["events"].items())
            for name, row in power["blocks"].items()]


def document(expected, power):
    config, unit = next(iter(expected["unit"].items()))
    clock = expected["clock_ns"]
    longest = clock - unit["slack_ns"]
    text = [HEAD.format(yosys_name="yosys", **{key: expected[key] for key in ("yosys", "library")}),
            f"## Area: the unit of {config}", "", *area_table(unit), "",
            f"Worst slack {unit['slack_ns']:.2f} ns at a clock of {clock:g} ns: the longest path, "
            f"`{unit['slowest_path'][0]}` to `{unit['slowest_path'][1]}`, takes {longest:.2f} ns "
            f"({1e3 / longest:.0f} MHz). Each block is mapped by itself; blocks are not flattened.", "",
            "Single modules, with the parameters that they have there, flattened:", "",
            *block_table(expected["blocks"]), "",
            "## Energy from the gates beside the estimate", "",
            f"One instance of each block, over co-simulation scenarios "
            f"{', '.join(map(str, power['scenarios']))} of {config}: its inputs in every cycle go to its "
            "netlist, whose outputs must be those of the run. Changes of nets are weighted with the "
            "library's capacitances and internal energies. The estimate is what the energy model "
            f"([energy.md](energy.md), `{power['pack']}`) charges for the same events, with its share for "
            f"control and clock, times {power['scale']:g} for node and supply. Energies are means over the "
            "cycles in which the instance works; the ratio is gates over estimate.", "",
            *energy_table(power), "",
            "`adder` is one of 32 bits with random operands: its ratio is what library, flow and scale make "
            "of the operation that the pack's source prints. A block's ratio over the adder's is what the "
            "block takes beyond the operations counted. `with idle cycles` sets the whole run's energy "
            "against the same events.", "", "What they did:", "", *event_list(power), "",
            "What the model charges to another block, or not at all, is in no estimate: pipeline registers, "
            "multiplexers, the inputs of logic whose result is not used in that cycle.", "",
            CHECKS.format(selections=unit["selections"]), LIMITS]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=pathlib.Path, default=DOCUMENT)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    text = document(json.loads((SYNTH / "expected.json").read_text()),
                    json.loads((SYNTH / "power.json").read_text()))
    if not options.check:
        options.markdown.write_text(text)
    elif not options.markdown.exists() or options.markdown.read_text() != text:
        print(f"synthesis_report: {options.markdown.name} is not what rtl/synth says; run "
              "tools/synthesis_report.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
