#!/usr/bin/env python3
"""Netlists of single blocks against their RTL.

  tools/netlist.py                                proof and random vectors of every block
  tools/netlist.py --only value_lane --liberty FILE.lib[.gz]
  tools/netlist.py --signed --selftest            blocks with signed arithmetic; proofs can fail

1. The mapped netlist is proved to give in every cycle what the RTL gives: a miter of both, by yosys'
   abc (signal correspondence). --selftest then exchanges one gate and expects a counterexample.
2. Icarus Verilog, which reads the RTL by itself, runs RTL and netlist side by side on random vectors:
   what both yosys runs of the proof might misread in the same way, such as mixed signed and unsigned
   expressions, is seen here. `gate_energy.py` compares netlists with a run of the unit in Verilator.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import netlist_flow
import yosys_flow as flow
from netlist_stimuli import STIMULI

SIGNED = ("coefficient_lane", "gather_lane", "value_lane", "weight_lane", "normalizer")
SLOW = ("sampler_lane", "control_registers")  # minutes
EXCHANGED = (("NAND2X1", "AND2X1"), ("_nand2_1", "_and2_1"), ("XOR2X1", "OR2X1"))
FRAMES = 20  # cycles in which the counterexample to an exchanged gate is looked for


def write_miter(name, folder, netlist="netlist.v"):
    # The second `opt` finds registers whose input never changes; both sides then have it from the
    # beginning, as no register has a value at first.
    files = flow.sources(name, folder)
    flow.yosys(
        flow.hierarchy_lines(files, name, flow.BLOCKS[name]) +
        "proc; opt; memory_map; flatten; opt; rename -top gold\ndesign -stash rtl\n"
        f"read_liberty -ignore_miss_func cells.lib\nread_verilog {netlist}\n"
        f"hierarchy -top {name}_netlist\nproc; flatten; opt_clean; rename -top gate\n"
        "design -stash netlist\ndesign -copy-from rtl gold\ndesign -copy-from netlist gate\n"
        "miter -equiv -flatten gold gate miter\nhierarchy -top miter\n"
        "opt; techmap; opt; dffunmap; opt_clean; aigmap; opt_clean\n"
        "setundef -zero -undriven -init; opt_clean\nwrite_aiger -zinit miter.aig\n", folder)


def abc(commands, folder):
    return subprocess.run(["yosys-abc", "-c", f"read_aiger miter.aig; strash; {commands}"],
                          cwd=folder, capture_output=True, text=True, check=False).stdout


def prove(name, folder):
    """Raises unless RTL and netlist give the same outputs for ever from registers that hold 0."""
    write_miter(name, folder)
    text = abc("scorr; dprove", folder)
    if not re.search(r"UNSATISFIABLE|Networks are equivalent", text):
        raise flow.FlowError(f"{name}: netlist and RTL are not proved equal\n{text[-400:]}")


def prove_can_fail(name, folder):
    """Raises unless a netlist with one gate of another kind is told from the RTL."""
    text = (folder / "netlist.v").read_text()
    for old, new in EXCHANGED:
        if found := list(re.finditer(rf"(\s\w*?){old} ", text)):
            break
    else:
        raise flow.FlowError(f"{name}: no gate to exchange")
    gate = found[len(found) // 2]
    (folder / "broken.v").write_text(f"{text[:gate.start()]}{gate[1]}{new} {text[gate.end():]}")
    write_miter(name, folder, "broken.v")
    has_state = "clk_i" in netlist_flow.netlist_module(name, folder)["ports"]
    text = abc(f"bmc3 -F {FRAMES} -T 60" if has_state else "sat", folder)
    if not re.search(r"was asserted in frame|^SATISFIABLE", text, re.M):
        raise flow.FlowError(f"{name}: an exchanged gate is not found\n{text[-400:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liberty", default="osu018",
                        help="file, also .gz, or osu018, osu035, osu050")
    parser.add_argument("--only", action="append", choices=list(flow.BLOCKS))
    parser.add_argument("--signed", action="store_true", help="blocks with signed arithmetic alone")
    parser.add_argument("--selftest", action="store_true", help="show that the proofs can fail")
    parser.add_argument("--cycles", type=int, default=1000, help="random vectors")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = options.only or (SIGNED if options.signed else
                             [name for name in flow.BLOCKS if name not in SLOW])
    failures = 0
    print(f"{'block':<18} {'proved':>7} {'exchanged gate':>15} {'random vectors':>15} {'s':>6}")
    with tempfile.TemporaryDirectory(prefix="netlist-") as temporary:
        top = pathlib.Path(temporary)
        library = flow.unpack_liberty(flow.find_liberty(options.liberty), top)
        for name in names:
            folder = top / name
            folder.mkdir()
            begin = time.monotonic()
            exchanged, compared = "", ""
            try:
                netlist_flow.synthesize(name, library, folder)
                prove(name, folder)
                if options.selftest:
                    prove_can_fail(name, folder)
                    exchanged = "found"
                if name in STIMULI:
                    rng = random.Random(options.seed)
                    vectors = [STIMULI[name](rng, cycle) for cycle in range(options.cycles)]
                    netlist_flow.simulate(name, folder, vectors)
                    compared = "equal"
                print(f"{name:<18} {'yes':>7} {exchanged:>15} {compared:>15} "
                      f"{time.monotonic() - begin:>6.1f}", flush=True)
            except flow.FlowError as error:
                failures += 1
                print(f"{name}: {error}", flush=True)
    print(f"{len(names)} blocks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
