#!/usr/bin/env python3
"""Synthesises the unit of a hardware description with yosys: area by block, slack, checks.

  tools/synthesize.py                                the unit of tiny-test in osu018
  tools/synthesize.py --config server-hbm3 --liberty FILE.lib[.gz]
  tools/synthesize.py --blocks --expected rtl/synth/expected.json     single blocks, fast
  tools/synthesize.py --selftest                                      each check can fail

Fails (exit code 1) if data is multiplied or divided, on a latch, a loop or an undriven net, and if
the result differs from --expected; exit code 77 if that file is of another version of yosys.
Memories (ram_1r1w) stand for SRAM and are not in the area. There are no wires and the clock is
ideal: ratios between designs in one library mean something, absolute numbers little.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yosys_flow as flow

FLIP_FLOP = re.compile(r"DFF|df[xrsb]|dfx", re.I)
UNIT = "attention_unit"
SKIPPED = 77  # as CTest has it
AREA_TOLERANCE = 1e-6  # relative: rounding of the printed sums
SLACK_TOLERANCE = 0.05  # ns: OpenSTA prints two decimals


def unit_parameters(config, program):
    if not program.exists():
        raise flow.FlowError(f"no program {program}; build the target santa_rtl_config")
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
              "report_worst_slack\nreport_checks -path_delay max\nexit\n")
    (folder / "sta.tcl").write_text(script)
    done = subprocess.run(["sta", "-no_splash", "-exit", str(folder / "sta.tcl")], text=True,
                          cwd=folder, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    found = re.findall(r"worst slack\s+(-?[\d.]+)", done.stdout)
    if not found or re.search(r"^Error", done.stdout, re.M):
        raise flow.FlowError("sta:\n" + "\n".join(
            line for line in done.stdout.splitlines() if not line.startswith("Warning"))[-800:])
    ends = [re.search(rf"{word}: (\S+)", done.stdout) for word in ("Startpoint", "Endpoint")]
    return float(found[0]), [match[1] if match else "" for match in ends]


def summary(cells, area):
    return {"cells": sum(cells.values()),
            "flip_flops": sum(n for kind, n in cells.items() if FLIP_FLOP.search(kind)),
            "area": round(area, 3)}


def synthesize_block(name, parameters, library, clock_ns, folder, files=None):
    folder.mkdir(parents=True, exist_ok=True)
    selections = flow.checked_yosys(
        flow.read_lines(folder, library, name, parameters, files) +
        flow.map_lines(name, clock_ns, True, "netlist.v"), folder)
    modules = flow.read_stat(folder / "stat.txt")
    cells, area, _ = flow.total_of(modules, top_of(folder))
    return summary(cells, area) | {"selections": selections}


def top_of(folder):
    modules = json.loads((folder / "behaviour.json").read_text())["modules"]
    return next(name for name, module in modules.items()
                if int(str(module["attributes"].get("top", "0")), 2)).removeprefix("\\")


def synthesize_unit(parameters, library, clock_ns, folder):
    folder.mkdir(parents=True, exist_ok=True)
    selections = flow.checked_yosys(
        flow.read_lines(folder, library, UNIT, parameters) +
        flow.map_lines(UNIT, clock_ns, False, "netlist.v"), folder)
    modules = flow.read_stat(folder / "stat.txt")
    design = json.loads((folder / "behaviour.json").read_text())["modules"]
    top = top_of(folder)
    blocks = {}
    for instance, cell in sorted(design[top]["cells"].items()):
        kind = cell["type"].removeprefix("\\")
        if kind in modules:
            cells, area, memories = flow.total_of(modules, kind)
            blocks[instance] = summary(cells, area) | {"memories": memories}
    cells, area, memories = flow.total_of(modules, top)
    whole = summary(cells, area) | {"memories": memories, "selections": selections}
    rest = {key: whole[key] - sum(block[key] for block in blocks.values())
            for key in ("cells", "flip_flops", "area", "memories")}
    blocks["(the rest)"] = rest | {"area": round(rest["area"], 3)}
    return whole, blocks


# What the checks must refuse: a statement of a small module, and a word of the message.
WRONG = {
    "a product": ("assign y = a * b;", "$mul"),
    "a quotient": ("assign y = a / b;", "$div"),
    "a remainder": ("assign y = a % b;", "$mod"),
    "a latch": ("always @* if (a[0]) y = b;", "latch"),
    "a loop": ("wire [7:0] z = y ^ b; assign y = a & z;", "logic loop"),
    "an undriven net": ("wire [7:0] z; assign y = a & z;", "no driver"),
}


def selftest(library, clock_ns, folder):
    """Each check must refuse what it is there for, and take what it should."""
    wrong = []
    for number, (what, (body, word)) in enumerate(
            {"a sum": ("assign y = a + b;", ""), **WRONG}.items()):
        inner = folder / str(number)
        inner.mkdir()
        kind = "reg" if "always" in body else "wire"
        (inner / "small.sv").write_text("module small (input [7:0] a, input [7:0] b, "
                                        f"output {kind} [7:0] y);\n{body}\nendmodule\n")
        try:
            measured = synthesize_block("small", {}, library, clock_ns, inner, ["small.sv"])
            good = what == "a sum" and all(list(differences({key: measured[key] + 1}, measured))
                                           for key in ("cells", "flip_flops", "area"))
        except flow.FlowError as error:
            good = what in WRONG and word in str(error)
        print(f"{what}: {'as it should be' if good else 'WRONG'}")
        if not good:
            wrong.append(what)
    if wrong:
        raise flow.FlowError("selftest: " + ", ".join(wrong))


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
    if options.selftest:
        selftest(library, options.clock_ns, folder)
        return {}
    measured = {"yosys": flow.version(), "library": library.stem, "clock_ns": options.clock_ns}
    if options.no_mapping:
        parameters = unit_parameters(options.config, options.rtl_config)
        number = flow.checked_yosys(flow.read_lines(folder, library, UNIT, parameters), folder)
        print(f"{number} products by a constant that select a part of a vector")
    elif options.blocks:
        names = options.only or list(flow.BLOCKS)
        measured["blocks"] = {}
        for name in names:
            measured["blocks"][name] = synthesize_block(
                name, flow.BLOCKS[name], library, options.clock_ns, folder / name)
        print_table(measured["blocks"].items(), None)
    else:
        parameters = unit_parameters(options.config, options.rtl_config)
        whole, blocks = synthesize_unit(parameters, library, options.clock_ns, folder / "unit")
        worst, ends = slack(folder, library, UNIT, folder / "unit" / "netlist.v", options.clock_ns)
        measured["unit"] = {options.config: whole | {
            "slack_ns": worst, "slowest_path": ends, "blocks": blocks}}
        rows = sorted(blocks.items(), key=lambda item: -item[1]["area"])
        print_table([*rows, ("unit", whole)], whole["area"])
        print(f"worst slack {worst:.2f} ns at {options.clock_ns} ns, {ends[0]} to {ends[1]}")
    print("no multiplier, divider or remainder of data, no latch, no loop, no undriven net")
    return measured


def compare(measured, path, update):
    """Exit code of the comparison with the file."""
    known = json.loads(path.read_text()) if path.exists() else {}
    if update:
        for key, value in measured.items():
            known[key] = known[key] | value if isinstance(known.get(key), dict) else value
        path.write_text(json.dumps(known, indent=2) + "\n")
        return 0
    if known.get("yosys") != measured["yosys"]:
        print(f"not compared: {path.name} is of yosys {known.get('yosys')}, this is "
              f"{measured['yosys']}")
        return SKIPPED
    wanted = {key: value for key, value in known.items() if key in measured}
    for key in ("blocks", "unit"):
        if key in wanted:
            wanted[key] = {name: value for name, value in wanted[key].items()
                           if name in measured[key]}
            if not wanted[key]:
                wanted[key] = dict.fromkeys(measured[key], "something")
    found = list(differences(wanted, measured))
    for text in found:
        print(f"synthesize: {text}", file=sys.stderr)
    print("as expected" if not found else f"{len(found)} differences")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="tiny-test", help="preset or file")
    parser.add_argument("--liberty", default="osu018",
                        help="file, also .gz, or osu018, osu035, osu050")
    parser.add_argument("--clock-ns", type=float, default=5.0)
    parser.add_argument("--blocks", action="store_true", help="single blocks instead of the unit")
    parser.add_argument("--no-mapping", action="store_true", help="checks of the unit alone")
    parser.add_argument("--only", action="append", choices=list(flow.BLOCKS), help="with --blocks")
    parser.add_argument("--selftest", action="store_true", help="show that each check can fail")
    parser.add_argument("--expected", type=pathlib.Path, help="compare with this file")
    parser.add_argument("--update", action="store_true", help="write the file instead")
    parser.add_argument("--json", type=pathlib.Path, help="write what was measured")
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
    if options.json:
        options.json.write_text(json.dumps(measured, indent=2) + "\n")
    if options.expected and not options.selftest:
        return compare(measured, options.expected, options.update)
    return 0


if __name__ == "__main__":
    sys.exit(main())
