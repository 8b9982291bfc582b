#!/usr/bin/env python3
"""Writes the table of docs/gpu.md from a file of gpu/bench/measure.sh.

  tools/gpu_table.py gpu/results/NAME.tsv docs/gpu.md [--check]

It stands between two marks in the document. With --check nothing is written, and the exit code is 1
where the document differs.
"""

import argparse
import pathlib
import sys

BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
DENSE = ("SDPA cuDNN", "SDPA flash")
READ = "plain read of keys"
TILES = (("prop", 1024), ("flash", 1024), ("flash", 2048))  # name and S; in newer files only


class BadFile(Exception):
    """The measurements are not as gpu/bench/measure.sh writes them."""


def read(path):
    about, times = {}, {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split("\t")
        if line.startswith("# "):
            about[fields[0][2:]] = fields[-1]
        elif fields[0] != "what" and len(fields) == 7:
            name, requests, length, samples = fields[0], *map(int, fields[1:4])
            times[name, requests, length, samples] = float(fields[4])
        elif fields[0] != "what" and "not run" not in line:
            raise BadFile(f"{path}:{number}: expected seven fields, found {len(fields)}")
    return about, times


def table(path):
    about, times = read(path)
    shapes = sorted({(n, l) for name, n, l, _ in times if name == READ})
    lines = [f"Device {about['device']}, driver {about['driver']}, {about['toolkit']}, PyTorch "
             f"{about['PyTorch']}, {about['date']}, commit {about['commit']}; {about['protocol']}. "
             "Shape 32/8/128, bf16, microseconds; the ratio is that of the fastest dense kernel.", "",
             "| requests x length | plain read of keys | dense, fastest | S = 256 | ratio | S = 1024 | "
             "ratio |", "|---|---:|---:|---:|---:|---:|---:|"]
    for requests, length in shapes:
        dense = min(times[name, requests, length, 0] for name in DENSE
                    if (name, requests, length, 0) in times)
        cells = [f"{requests} x {length // 1024}k", f"{times[READ, requests, length, 0]:.1f}",
                 f"{dense:.1f}"]
        for samples in (256, 1024):
            own = times["systematic", requests, length, samples]
            cells += [f"{own:.1f}", f"{dense / own:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    tiles = [key for key in TILES if (key[0], *shapes[0], key[1]) in times]
    if tiles:
        lines += ["", "| requests x length | " +
                  " | ".join(f"{name}, S = {samples}" for name, samples in tiles) + " |",
                  "|---|" + "---:|" * len(tiles)]
        lines += [f"| {requests} x {length // 1024}k | " +
                  " | ".join(f"{times[name, requests, length, samples]:.1f}"
                             for name, samples in tiles) + " |" for requests, length in shapes]
    peaked = [(key, own) for key, own in times.items() if key[0] == "systematic, peaked"]
    for (_, requests, length, samples), own in sorted(peaked):
        lines += ["", f"Peaked scores (a deviation of 8 nats), {requests} x {length // 1024}k, "
                  f"S = {samples}: {own:.1f}."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurements", type=pathlib.Path)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        text = options.document.read_text(encoding="utf-8")
        if BEGIN not in text or END not in text:
            raise BadFile(f"{options.document}: no '{BEGIN}' and '{END}'")
        before, rest = text.split(BEGIN, 1)
        new = f"{before}{BEGIN}\n{table(options.measurements)}\n{END}{rest.split(END, 1)[1]}"
    except (OSError, BadFile, KeyError, ValueError) as error:
        print(f"gpu_table: {error}", file=sys.stderr)
        return 2
    if options.check:
        if new != text:
            print(f"gpu_table: {options.document} is not what {options.measurements} gives",
                  file=sys.stderr)
            return 1
        return 0
    options.document.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
