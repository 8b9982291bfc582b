#!/usr/bin/env python3
"""Co-simulates many configurations of the unit and writes a table of the results.

  tools/nightly_cosim.py --build build-cosim --report docs/cosim_nightly.md

Draws configurations from a fixed seed by the rules of docs/rtl.md, builds one program with all of
them, and runs `santasim cosim` on each until the requests add up. The table goes to the screen and,
with --report, to a file. Exit code 1 if a configuration failed, 2 if something could not be built.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
LARGEST_PORTS = 256  # port_bytes * group_heads: larger units take minutes to compile
POWERS = [2**i for i in range(11)]
KEYS = ("port_bytes", "tile_keys", "group_heads", "max_head_dimension", "key_lanes", "digit_lanes",
        "weight_lanes", "scan_lanes", "value_lanes", "normalizer_lanes", "key_buffer_tiles",
        "row_buffer_rows", "stash_kib")


@dataclasses.dataclass
class Row:
    """What came out of one configuration."""

    name: str
    unit: dict
    scenarios: int = 0
    requests: int = 0
    mismatches: int = 0
    cycles: int = 0
    error: float | None = None  # largest of the cycle model's latency, a part of the unit's
    failure: str = ""


def powers(rng: random.Random, low: int, high: int) -> int:
    """A power of two from low to high."""
    return rng.choice([power for power in POWERS if low <= power <= high])


def draw_unit(rng: random.Random, port: int, group: int) -> dict | None:
    """One `unit` section by the rules of docs/rtl.md; None where the draws leave no choice."""
    unit = {"port_bytes": port, "group_heads": group}
    unit["tile_keys"] = tile = powers(rng, max(16, port), 1024)
    unit["max_head_dimension"] = powers(rng, max(16, port), 256)
    unit["key_lanes"] = powers(rng, port, tile)
    unit["digit_lanes"] = powers(rng, 1, 4)
    least_scan = max(1, port // (2 * group))
    if least_scan > tile // group:
        return None
    unit["scan_lanes"] = scan = powers(rng, least_scan, tile // group)
    unit["weight_lanes"] = powers(rng, 1, min(scan, unit["key_lanes"]))
    unit["value_lanes"] = powers(rng, 1, port)
    unit["normalizer_lanes"] = powers(rng, 1, min(port // 2, unit["value_lanes"]))
    unit["key_buffer_tiles"] = rng.choice([2, 3, 4, 5, 8, 64])
    unit["row_buffer_rows"] = powers(rng, 2, 256)
    half_bytes = max(2 * group * tile, 2 * 2 * scan * group)
    least_stash = max(1, 2 * half_bytes // 1024)
    unit["stash_kib"] = least_stash * powers(rng, 1, 8)
    unit["merge_rows"] = "group"
    return {key: unit[key] for key in (*KEYS, "merge_rows")}


def lanes(unit: dict) -> int:
    """What a unit costs to compile and to simulate, roughly: adders of its widest blocks."""
    gather = unit["group_heads"] * unit["key_lanes"] * unit["digit_lanes"]
    others = unit["group_heads"] * (8 * unit["weight_lanes"] + 2 * unit["scan_lanes"]
                                    + unit["value_lanes"])
    return gather + others + unit["key_buffer_tiles"] * unit["key_lanes"] // 8


def draw_units(count: int, seed: int, most_lanes: int) -> list[dict]:
    """Different units, the same for the same arguments; ports and groups take turns."""
    rng = random.Random(seed)
    units: list[dict] = []
    while len(units) < count:
        turn = len(units)
        port, group = (16, 32, 64, 128)[turn // 4 % 4], (1, 2, 4, 8)[turn % 4]
        if port * group > LARGEST_PORTS:
            port = LARGEST_PORTS // group
        unit = draw_unit(rng, port, group)
        if unit is not None and lanes(unit) <= most_lanes and unit not in units:
            units.append(unit)
    return units


class Loader(yaml.SafeLoader):
    """Of hardware descriptions, where `on` and `off` are words."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":bool")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def write_configs(units: list[dict], folder: Path) -> list[Path]:
    """One hardware description a unit; clock and memory differ too."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()
    base = yaml.load((ROOT / "configs/hardware/tiny-test.yaml").read_text(encoding="utf-8"), Loader)
    paths = []
    for index, unit in enumerate(units):
        hardware = {**base, "name": f"drawn-{index:02}", "unit": unit,
                    "description": "Drawn by tools/nightly_cosim.py",
                    "clock_mhz": (100, 250, 1000)[index % 3],
                    "memory": {**base["memory"], "latency_ns": (20, 50, 200, 1000)[index % 4]}}
        path = folder / f"{hardware['name']}.yaml"
        path.write_text(yaml.safe_dump(hardware, sort_keys=False), encoding="utf-8")
        paths.append(path)
    return paths


def call(*command: str | Path) -> None:
    """Runs a command whose failure ends the program."""
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        print(f"nightly_cosim: failed: {' '.join(map(str, command))}", file=sys.stderr)
        sys.exit(2)


def build(options: argparse.Namespace, configs: list[Path]) -> None:
    """Configures the folder with these units, checks each, and builds the program."""
    listed = ";".join(str(path.resolve()) for path in configs)
    call("cmake", "-G", "Ninja", "-S", ROOT, "-B", options.build, "-DCMAKE_BUILD_TYPE=Release",
         "-DSANTA_BUILD_TESTS=OFF", "-DSANTA_RTL_OPTIMIZE=-O1",
         f"-DSANTA_COSIM_CONFIGS={listed}", *options.cmake)
    make = ("cmake", "--build", options.build, "--parallel", str(options.jobs), "--target")
    call(*make, "santa_rtl_config")
    for path in configs:
        done = subprocess.run([options.build / "bin/santa_rtl_config", path], check=False,
                              stdout=subprocess.DEVNULL)
        if done.returncode:
            print("nightly_cosim: the rules of this program differ from those of santa_rtl_config",
                  file=sys.stderr)
            sys.exit(2)
    call(*make, "santasim")


def simulate(options: argparse.Namespace, config: Path, unit: dict, share: int) -> Row:
    """One configuration: more scenarios until there are `share` requests."""
    row = Row(config.stem, unit)
    seeds = max(options.seeds, 1)
    report = config.with_suffix(".json")
    while True:
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [options.build.resolve() / "bin/santasim", "cosim", "--config", config.resolve(),
             "--seeds", str(seeds), "--waves", "on-failure", "--json", report.resolve()],
            cwd=options.build, check=False, capture_output=True, text=True)
        if not report.exists():
            row.failure = done.stderr.strip() or f"ended with exit code {done.returncode}"
            row.mismatches = 1
            return row
        result = json.loads(report.read_text(encoding="utf-8"))
        row.scenarios, row.requests = result["scenarios"], result["requests"]
        row.cycles, row.error = result["cycles"], result["latency_error"]["largest_absolute"]
        row.failure = result["failure"] or ""
        row.mismatches = int(bool(row.failure))
        if done.returncode and not row.failure:
            row.failure, row.mismatches = done.stderr.strip(), 1
        if row.failure or row.requests >= share:
            return row
        seeds += seeds * (share - row.requests) // max(row.requests, 1) + 1


def table(rows: list[Row]) -> str:
    """Markdown: one line a configuration, then the sums, then the failures."""
    heads = ["configuration", "P", "T", "G", "d", "key", "digit", "weight", "scan", "value",
             "norm", "tiles", "rows", "KiB", "scenarios", "requests", "mismatches", "cycles",
             "latency error"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for row in rows:
        error = "" if row.error is None else f"{100 * row.error:.1f} %"
        cells = [row.name, *(row.unit[key] for key in KEYS), f"{row.scenarios:,}",
                 f"{row.requests:,}", row.mismatches, f"{row.cycles:,}", error]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    errors = [row.error for row in rows if row.error is not None]
    total = ["all", *[""] * len(KEYS), f"{sum(row.scenarios for row in rows):,}",
             f"{sum(row.requests for row in rows):,}", str(sum(row.mismatches for row in rows)),
             f"{sum(row.cycles for row in rows):,}",
             f"{100 * max(errors):.1f} %" if errors else ""]
    lines.append("| " + " | ".join(total) + " |")
    failures = [f"- {row.name}: {row.failure}" for row in rows if row.failure]
    if failures:
        lines += ["", "Failures:", "", *failures]
    return "\n".join(lines)


def commit_name() -> str:
    """Commit of the tree, with -dirty where files differ."""
    done = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT,
                          check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def report_text(options: argparse.Namespace, rows: list[Row], commit: str, seconds: float) -> str:
    """The whole page."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return (
        "# Nightly co-simulation\n\n"
        f"Written by `make cosim-nightly` (`tools/nightly_cosim.py --count {options.count} --seed "
        f"{options.seed}`) on\n{today}, commit {commit}, in {seconds / 60:.0f} minutes on "
        f"{os.cpu_count()} cores.\n\n"
        "Every unit is drawn by the rules of [rtl.md](rtl.md#parameters). P is `port_bytes`, T "
        "`tile_keys`, G `group_heads`,\nd `max_head_dimension`; the columns up to KiB are the "
        "other keys in the order of that table. A request\nthat disagrees ends the run of its "
        "configuration. The latency error is the cycle model's largest, against\nthe unit in "
        "SystemVerilog. Nothing but the date, the commit and the duration changes when the run is\n"
        "repeated.\n\n" + table(rows) + "\n")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build-cosim", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=32, help="configurations (32)")
    parser.add_argument("--seed", type=int, default=1, help="of the configurations (1)")
    parser.add_argument("--seeds", type=int, default=50, help="scenarios of each, at least (50)")
    parser.add_argument("--requests", type=int, default=10000, help="in all, at least (10000)")
    parser.add_argument("--lanes", type=int, default=700, help="size of a unit, at most (700)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (cores)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="Markdown to write")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT",
                        help="for the configuration of the build; may be repeated")
    parser.add_argument("--list", action="store_true", help="only print the configurations")
    return parser.parse_args()


def main() -> int:
    """Runs the program; returns its exit code."""
    options = arguments()
    units = draw_units(options.count, options.seed, options.lanes)
    if options.list:
        print(table([Row(f"drawn-{index:02}", unit) for index, unit in enumerate(units)]))
        return 0
    started = time.monotonic()
    commit = commit_name()  # before the report changes the tree
    configs = write_configs(units, options.build / "configs")
    build(options, configs)
    share = -(-options.requests // options.count)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(simulate, options, config, unit, share)
                for config, unit in zip(configs, units)]
        rows = []
        for job in jobs:
            rows.append(job.result())
            row = rows[-1]
            print(f"{row.name}: {row.requests} requests, {row.cycles} cycles: "
                  f"{row.failure or 'no difference'}", file=sys.stderr, flush=True)
    print(table(rows))
    if options.report:
        text = report_text(options, rows, commit, time.monotonic() - started)
        options.report.write_text(text, encoding="utf-8")
    return int(any(row.failure for row in rows))


if __name__ == "__main__":
    sys.exit(main())
