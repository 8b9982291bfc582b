#!/usr/bin/env python3
"""Writes the tables of docs/gpu.md from a result of gpu/bench/measure.py.

  tools/gpu_table.py gpu/results/NAME.json docs/gpu.md [--check]

They stand between two marks in the document. With --check nothing is written, and the exit code is 1
where the document differs.
"""

import argparse
import pathlib
import sys

from gpu_results import BadFile, GpuResults, READ, READ_BOTH, OWN, step_name

BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


def number(row, digits=1):
    return "-" if row is None else f"{row['median_us']:.{digits}f}"


def ratio(other, own):
    if other is None or own is None:
        return "-"
    return f"{other['median_us'] / own['median_us']:.2f}"


def header(cells):
    return ["| " + " | ".join(cells) + " |", "|---|" + "---:|" * (len(cells) - 1)]


def latency(results, kind):
    """A table of one type of keys and values."""
    budgets = results.samples()
    wide = kind != "bf16" and "bf16" in results.kinds()
    cells = ["requests x length", READ, READ_BOTH, f"dense, fastest {kind}"]
    for budget in budgets:
        cells += [f"S = {budget}", "ratio"] + (["to bf16"] if wide else [])
    lines = header(cells)
    for requests, length in results.steps(kind):
        dense = results.dense(kind, requests, length)
        name = "-" if dense is None else f"{number(dense)} ({dense['kernel']})"
        cells = [step_name(requests, length), number(results.find(READ, kind, requests, length)),
                 number(results.find(READ_BOTH, kind, requests, length)), name]
        for budget in budgets:
            own = results.own(kind, requests, length, budget)
            cells += [number(own), ratio(dense, own)]
            if wide:
                cells.append(ratio(results.dense("bf16", requests, length), own))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def others(results):
    """Rows of ours that are not in the tables: other schemes, scores and spreads."""
    rows = [row for row in results.rows if row["kernel"] == OWN and "median_us" in row
            and (row["spread"], row["scheme"], row.get("scores", "exact"))
            != (1, "systematic", "exact")]
    if not rows:
        return []
    lines = ["", "Other draws, scores by Bernoulli draws of the query (of feature-major keys), and scores of "
             "another deviation:", "",
             *header(["draws", "scores", "nats", "S", "requests x length", "it", "ratio"])]
    for row in rows:
        dense = results.dense(row["type"], row["requests"], row["length"])
        lines.append(f"| {row['scheme']} | {row.get('scores', 'exact')}, {row['type']} | "
                     f"{row['spread']:g} | {row['samples']} | "
                     f"{step_name(row['requests'], row['length'])} | {number(row)} | "
                     f"{ratio(dense, row)} |")
    return lines


def peers(results):
    """Who ran; who did not, and why; and what the authors' extensions and the operator took."""
    ran = [name for name, reason in results.peers().items() if reason is None]
    missing = [f"{name} ({reason})" for name, reason in results.peers().items() if reason]
    lines = ["", f"Peers that ran: {', '.join(ran) or 'none'}."]
    if missing:
        lines[-1] += f" Not run: {'; '.join(missing)}."
    sampled = {}  # a step measured twice, the second time with its energy, is one line
    for row in results.rows:
        if row["samples"] and row["kernel"] != OWN and "median_us" in row:
            key = tuple(row[name] for name in ("kernel", "type", "requests", "length", "samples"))
            sampled.setdefault(key, row)
    if sampled:
        lines += ["", *header(["other sampled kernels", "S", "requests x length", "it", "ours",
                               "ratio"])]
        for row in sampled.values():
            own = results.own(row["type"], row["requests"], row["length"], row["samples"])
            lines.append(f"| {row['kernel']}, {row['type']} | {row['samples']} | "
                         f"{step_name(row['requests'], row['length'])} | {number(row)} | "
                         f"{number(own)} | {ratio(row, own)} |")
    return lines


def energy(results):
    rows = [row for row in results.rows if "energy" in row]
    if not rows:
        return []
    lines = ["", "Energy of a step, whole board, by NVML's counter over more than a second of steps "
             "one behind the other on data that no cache holds. Nothing is subtracted; the idle board "
             f"draws {results.all['idle_w']:.0f} W.", "",
             *header(["step", "kernel", "S", "mJ", "W", "us in a row"])]
    for row in rows:
        e = row["energy"]
        lines.append(f"| {step_name(row['requests'], row['length'])}, {row['type']} | "
                     f"{row['kernel']} | {row['samples'] or '-'} | {e['step_mj']:.3g} | "
                     f"{e['mean_w']:.0f} | {e['step_us']:.1f} |")
    return lines


def document(path):
    results = GpuResults(path)
    lines = [results.provenance() + " The ratio is that of the fastest dense kernel to ours."]
    for kind in results.kinds():
        if results.steps(kind):
            lines += ["", f"Keys and values in {kind}:", "", *latency(results, kind)]
    lines += others(results) + peers(results) + energy(results)
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
        new = f"{before}{BEGIN}\n{document(options.measurements)}\n{END}{rest.split(END, 1)[1]}"
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
