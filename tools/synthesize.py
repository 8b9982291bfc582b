#!/usr/bin/env python3
"""Synthesises the unit of a hardware description with yosys: area by block, slack, checks.

  tools/synthesize.py                                the unit of tiny-test in osu018
  tools/synthesize.py --config server-hbm3 --liberty FILE.lib[.gz]
  tools/synthesize.py --blocks [--expected rtl/synth/expected.json]   single blocks, fast

Fails (exit code 1) if a block multiplies or divides data, if yosys' `check` finds a latch, a loop or
an undriven net, or if cells differ from --expected. Memories (ram_1r1w) stand for SRAM and are not
in the area. There are no wires and the clock is ideal: ratios between designs in one library mean
something, absolute numbers little.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yosys_flow as flow

# Blocks by themselves, with what they have in tiny-test.
BLOCKS = {
    "lfsr": {},
    "coefficient_lane": {},
    "digit_select": {"Lanes": 1},
    "exponential_table": {},
    "gather_lane": {"DigitLanes": 1, "Slots": 2},
    "value_lane": {"Words": 8},
    "weight_lane": {},
    "sampler_lane": {"ScanLanes": 4},
    "normalizer": {"PortBytes": 16, "GroupHeads": 4, "MaxHeadDimension": 64, "NormalizerLanes": 4},
    "burst_splitter": {"PortBytes": 16},
    "axi_write_port": {"PortBytes": 16},
    "control_registers": {"GroupHeads": 4, "MaxHeadDimension": 64, "TileKeys": 16,
                          "PortBytes": 16},
}
FLIP_FLOP = re.compile(r"DFF|df[xrsb]|dfx", re.I)
AREA_TOLERANCE = 1e-6  # relative: rounding of the printed sums
SLACK_TOLERANCE = 0.05  # ns: OpenSTA prints two decimals


def unit_parameters(config, program, folder):
    if config == "tiny-test" and not program.exists():
        return {}  # the module's defaults
    done = subprocess.run([program, config], capture_output=True, text=True, check=False)
    if done.returncode:
        raise flow.FlowError(done.stderr.strip() or f"{program} failed")
    parameters = dict(line.split() for line in done.stdout.splitlines())
    parameters.pop("ConfigHash", None)  # a constant that no area depends on
    return parameters


def slack(folder, library, top, netlist, clock_ns):
    """Worst slack in ns and the path's end points."""
    script = (f"read_liberty {library}\nread_verilog {netlist}\nlink_design {top}\n"
              f"create_clock -name clk_i -period {clock_ns} [get_ports clk_i]\n"
              "set_input_delay 0 -clock clk_i [all_inputs]\n"
              "set_output_delay 0 -clock clk_i [all_outputs]\n"
              "report_worst_slack -max\nreport_worst_slack\nreport_checks -path_delay max\nexit\n")
    (folder / "sta.tcl").write_text(script)
    done = subprocess.run(["sta", "-no_splash", "-exit", str(folder / "sta.tcl")], text=True,
                          cwd=folder, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    found = re.findall(r"worst slack\s+(-?[\d.]+)", done.stdout)
    if not found:
        raise flow.FlowError("sta:\n" + "\n".join(done.stdout.splitlines()[-15:]))
    ends = [re.search(rf"{word}: (\S+)", done.stdout) for word in ("Startpoint", "Endpoint")]
    return float(found[0]), [match[1] if match else "" for match in ends]


def summary(cells, area):
    return {"cells": sum(cells.values()),
            "flip_flops": sum(n for kind, n in cells.items() if FLIP_FLOP.search(kind)),
            "area": round(area, 3)}


def synthesize_block(name, parameters, library, clock_ns, folder):
    folder.mkdir(parents=True, exist_ok=True)
    flow.yosys(flow.read_lines(folder, library, name, parameters) +
               flow.map_lines(library, name, clock_ns, True, folder / "netlist.v"), folder)
    selections = flow.check_no_multiplier(folder / "behaviour.json")
    modules = flow.read_stat(folder / "stat.txt")
    top = next(module for module in modules if module.split("\\")[-1] == name or
               name in module.split("\\"))
    cells, area, _ = flow.total_of(modules, top)
    return summary(cells, area) | {"selections": selections}


def synthesize_unit(parameters, library, clock_ns, folder):
    folder.mkdir(parents=True, exist_ok=True)
    top = "attention_unit"
    flow.yosys(flow.read_lines(folder, library, top, parameters), folder)
    selections = flow.check_no_multiplier(folder / "behaviour.json")
    flow.yosys(flow.read_lines(folder, library, top, parameters) +
               flow.map_lines(library, top, clock_ns, False, folder / "netlist.v"), folder)
    modules = flow.read_stat(folder / "stat.txt")
    design = json.loads((folder / "behaviour.json").read_text())["modules"]
    top_name = next(name for name, module in design.items() if int(
        str(module["attributes"].get("top", "0")), 2))
    blocks = {}
    for instance, cell in design[top_name]["cells"].items():
        kind = cell["type"]
        if kind.removeprefix("\\") in modules:
            cells, area, memories = flow.total_of(modules, kind.removeprefix("\\"))
            blocks[instance] = summary(cells, area) | {"memories": memories}
    cells, area, memories = flow.total_of(modules, top_name)
    whole = summary(cells, area) | {"memories": memories, "selections": selections}
    rest = {key: whole[key] - sum(block[key] for block in blocks.values())
            for key in ("cells", "flip_flops", "area", "memories")}
    blocks["(the rest)"] = rest | {"area": round(rest["area"], 3)}
    return whole, blocks


def differences(expected, measured, place=""):
    for key, value in expected.items():
        here = f"{place}{key}"
        if key not in measured:
            yield f"{here}: missing"
        elif isinstance(value, dict):
            yield from differences(value, measured[key], here + ".")
        elif key == "area":
            if abs(value - measured[key]) > AREA_TOLERANCE * max(1.0, abs(value)):
                yield f"{here}: {measured[key]}, expected {value}"
        elif key == "slack_ns":
            if abs(value - measured[key]) > SLACK_TOLERANCE:
                yield f"{here}: {measured[key]}, expected {value}"
        elif value != measured[key]:
            yield f"{here}: {measured[key]}, expected {value}"


def print_table(rows, whole_area):
    print(f"{'block':<22} {'cells':>8} {'flip-flops':>10} {'area':>14} {'share':>7} {'SRAMs':>6}")
    for name, row in rows:
        share = f"{100 * row['area'] / whole_area:.1f} %" if whole_area else ""
        print(f"{name:<22} {row['cells']:>8} {row['flip_flops']:>10} {row['area']:>14.0f} "
              f"{share:>7} {row.get('memories', ''):>6}")


def run(options, folder):
    library = flow.unpack_liberty(flow.find_liberty(options.liberty), folder)
    measured = {"library": library.stem, "clock_ns": options.clock_ns}
    if options.blocks:
        names = options.only or list(BLOCKS)
        measured["blocks"] = {}
        for name in names:
            measured["blocks"][name] = synthesize_block(
                name, BLOCKS[name], library, options.clock_ns, folder / name)
        print_table(measured["blocks"].items(), None)
    else:
        parameters = unit_parameters(options.config, options.rtl_config, folder)
        whole, blocks = synthesize_unit(parameters, library, options.clock_ns, folder / "unit")
        worst, ends = slack(folder, library, "attention_unit", folder / "unit" / "netlist.v",
                            options.clock_ns)
        measured["unit"] = {options.config: whole | {"slack_ns": worst, "blocks": blocks}}
        rows = sorted(blocks.items(), key=lambda item: -item[1]["area"])
        print_table([*rows, ("unit", whole)], whole["area"])
        print(f"worst slack {worst:.2f} ns at {options.clock_ns} ns, {ends[0]} to {ends[1]}")
    print("no multiplier, divider or remainder of data; yosys check: no latch, no loop")
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="tiny-test", help="preset or file")
    parser.add_argument("--liberty", default="osu018",
                        help="file, also .gz, or osu018, osu035, osu050")
    parser.add_argument("--clock-ns", type=float, default=5.0)
    parser.add_argument("--blocks", action="store_true", help="single blocks instead of the unit")
    parser.add_argument("--only", action="append", choices=list(BLOCKS), help="with --blocks")
    parser.add_argument("--expected", type=pathlib.Path, help="compare with this file")
    parser.add_argument("--update", action="store_true", help="write the file instead")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="netlist and reports")
    parser.add_argument("--rtl-config", type=pathlib.Path,
                        default=flow.ROOT / "build" / "bin" / "santa_rtl_config")
    options = parser.parse_args()
    try:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            measured = run(options, options.keep.resolve())
        else:
            with tempfile.TemporaryDirectory(prefix="synthesize-") as name:
                measured = run(options, pathlib.Path(name))
    except flow.FlowError as error:
        print(f"synthesize: {error}", file=sys.stderr)
        return 1
    if not options.expected:
        return 0
    known = json.loads(options.expected.read_text()) if options.expected.exists() else {}
    if options.update:
        for key, value in measured.items():
            known[key] = known[key] | value if isinstance(known.get(key), dict) else value
        options.expected.write_text(json.dumps(known, indent=2) + "\n")
        return 0
    wanted = {key: value for key, value in known.items() if key in measured}
    for key in ("blocks", "unit"):
        if key in wanted:
            wanted[key] = {name: value for name, value in wanted[key].items()
                           if name in measured[key]}
    found = list(differences(wanted, measured))
    for text in found:
        print(f"synthesize: {text}", file=sys.stderr)
    print("as expected" if not found else f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
