#!/usr/bin/env python3
"""Writes the measured tables of README.md between their markers.

  tools/readme_figures.py demo build/demo.json       the table of the first result
  tools/readme_figures.py bench build/bench.txt      the table of the layer benchmark
  tools/readme_figures.py gpu gpu/results/h200.json  the table of the CUDA kernels
  tools/readme_figures.py demo build/demo.json --check   exit code 1 if README.md says otherwise

`make demo` writes build/demo.json, `make bench | tee build/bench.txt` the other.
"""

import argparse
import json
import pathlib
import re
import sys

import gpu_results

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"


def demo_table(path: str) -> str:
    """Table of a run's JSON: the sampled unit, then its baselines."""
    run = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    units = [run] + [run["baselines"][name] for name in ("dense", "topk", "dense_fp16")]
    samples = run["options"]["samples"]
    heads = [f"sampled, S = {samples}", "dense int8", f"top-k, k = {samples}", "dense fp16"]
    rows: list[tuple[str, list[str]]] = [
        ("latency, us", [f"{unit['latency']['ns'] / 1e3:.1f}" for unit in units]),
        ("energy, uJ, mid", [f"{unit['energy']['total_pj']['mid'] / 1e6:.0f}" for unit in units]),
        ("energy, uJ, low to high",
         [f"{unit['energy']['total_pj']['low'] / 1e6:.0f} to "
          f"{unit['energy']['total_pj']['high'] / 1e6:.0f}" for unit in units]),
        ("of it DRAM, mid",
         [f"{100 * dram_share(unit):.0f} %" for unit in units]),
        ("bytes read and written, MB",
         [f"{unit['traffic']['total_bytes'] / 1e6:.2f}" for unit in units]),
        ("value rows read", [f"{unit['samples']['row_reads']:,}" for unit in units]),
        ("multiplications", [f"{unit['operations']['multiplies']:,}" for unit in units]),
        ("output error, relative L2",
         [f"{unit['accuracy']['relative_l2']:.4f}" for unit in units]),
        ("latency against dense int8",
         [f"{unit['relative_to_dense']['latency']:.2f}" for unit in units]),
        ("energy against dense int8",
         [f"{unit['relative_to_dense']['energy']:.2f}" for unit in units]),
    ]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * 5 + "|"]
    lines += ["| " + " | ".join([name, *cells]) + " |" for name, cells in rows]
    return "\n".join(lines)


def dram_share(unit: dict) -> float:
    """Part of a unit's energy that DRAM draws."""
    parts = unit["energy"]["parts_pj"]
    dram = sum(part["mid"] for name, part in parts.items() if name.startswith("dram"))
    return dram / unit["energy"]["total_pj"]["mid"]


def bench_table(path: str) -> str:
    """Table of what layer_bench printed: medians, ratios, memory, machine."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", pathlib.Path(path).read_text(encoding="utf-8"))
    # Processor time, which the ratios compare; the simulation reports its own as the first column.
    medians = dict()
    for name, wall, cpu in re.findall(r"^(\w+)/\S*_median +([\d.]+) ms +([\d.]+) ms", text, re.M):
        medians[name] = wall if name in ("systemc", "systemc_dram", "golden_once") else cpu
    ratios = dict(re.findall(r"^((?:golden|SystemC[\w .]*) / .+?)  +([\d.]+)", text, re.M))
    memory = re.search(r"^peak memory, MiB.*?  +(\d+)", text, re.M)
    machine = re.search(r"one core of (.+)$", text, re.M)
    if len(medians) != 6 or len(ratios) != 4 or not memory or not machine:
        raise ValueError(f"{path}: not the output of layer_bench")
    lines = [
        f"| {machine.group(1).strip()} | processor time, ms | against golden |", "|---|---|---|",
        f"| golden decode | {medians['golden']} | 1 |",
        f"| the same, once in a fresh process | {medians['golden_once']} | |",
        f"| SystemC simulation, once in a fresh process | {medians['systemc']} | "
        f"{ratios['SystemC / golden, once each in a fresh process']} of that (bound 2) |",
        f"| the same with `memory.model: dram` | {medians['systemc_dram']} | "
        f"{ratios['SystemC with memory.model dram / golden']} of that (bound 3) |",
    ]
    names = (("float32 attention, -O3", "float32_O3", "golden / float32 -O3"),
             ("the same, -march=native -ffast-math", "float32_native",
              "golden / float32 -O3 -march=native -ffast-math"))
    for label, key, ratio in names:
        lines.append(f"| {label} | {medians[key]} | {1 / float(ratios[ratio]):.1f} |")
    lines.append(f"| peak memory, MiB, the float32 tensors included | {memory.group(1)} | bound 1024 |")
    return "\n".join(lines)


GPU_STEPS = ((1, 32768), (1, 131072), (8, 32768), (32, 8192))


def gpu_table(path: str) -> str:
    """Table of a device's results: ours at S = 256 and the fastest dense kernel."""
    results = gpu_results.GpuResults(pathlib.Path(path))
    lines = ["| requests x length | keys alone, us | fastest dense, us | sampled, S = 256, us | ratio |",
             "|---|---:|---:|---:|---:|"]
    for requests, length in GPU_STEPS:
        keys = results.find(gpu_results.READ, "bf16", requests, length)
        dense = results.dense("bf16", requests, length)
        own = results.own("bf16", requests, length, 256)
        if keys is None or dense is None or own is None:
            raise ValueError(f"no results of {requests} x {length}")
        lines.append(f"| {requests} x {length // 1024}k | {keys['median_us']:.1f} | "
                     f"{dense['median_us']:.1f} ({dense['kernel']}) | {own['median_us']:.1f} | "
                     f"{dense['median_us'] / own['median_us']:.2f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["demo", "bench", "gpu"])
    parser.add_argument("source", help="file to take the figures from")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    try:
        table = {"demo": demo_table, "bench": bench_table, "gpu": gpu_table}[arguments.table](arguments.source)
    except (OSError, ValueError, KeyError, gpu_results.BadFile) as error:
        print(f"readme_figures: {arguments.source}: {error}", file=sys.stderr)
        return 2
    old = README.read_text(encoding="utf-8")
    marker = f"<!-- tools/readme_figures.py {arguments.table} -->\n"
    before, rest = old.split(marker)
    new = before + marker + table + "\n<!-- end -->" + rest.split("<!-- end -->", 1)[1]
    if arguments.check and new != old:
        print(f"readme_figures: README.md differs from {arguments.source}; "
              f"run tools/readme_figures.py {arguments.table} {arguments.source}", file=sys.stderr)
        return 1
    if not arguments.check:
        README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
