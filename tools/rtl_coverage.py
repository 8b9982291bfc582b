#!/usr/bin/env python3
"""Line and toggle coverage of the RTL by the co-simulation, module by module.

  tools/rtl_coverage.py --build build-coverage [--seeds 40] [--markdown docs/rtl_coverage.md]
  tools/rtl_coverage.py --data FOLDER --verbose      counts of an earlier run, what is not covered

Builds the units of the tests with Verilator's counters, runs the directed and --seeds random
scenarios on each and merges: a line, branch or bit counts as covered when any instance in any unit
covered it. rtl/dv/coverage_exclusions.yaml lists what cannot be reached, with reasons; an entry that
excludes nothing is an error. Exit code 1 if a bound is missed: 98 % of lines, 95 % of bits.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCLUSIONS = ROOT / "rtl" / "dv" / "coverage_exclusions.yaml"
UNITS = ("tiny-test", "one-head", "all-spills")  # eight-heads takes too long to compile with counters
BOUNDS = {"line": 98.0, "toggle": 95.0}
POINT = re.compile(r"^C '(.*)' (\d+)$")


def call(*command):
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        sys.exit(f"rtl_coverage: failed: {' '.join(map(str, command))}")


def build(options):
    call("cmake", "-G", "Ninja", "-S", ROOT, "-B", options.build, "-DCMAKE_BUILD_TYPE=Release",
         "-DSANTA_BUILD_TESTS=OFF", "-DSANTA_RTL_COVERAGE=ON", "-DSANTA_RTL_OPTIMIZE=-O1",
         f"-DSANTA_COSIM_CONFIGS={';'.join(UNITS)}", *options.cmake)
    call("cmake", "--build", options.build, "--parallel", options.jobs, "--target", "santasim")


def simulate(options, unit, folder):
    known = ROOT / "configs" / "rtl" / f"{unit}.yaml"
    config = str(known) if known.exists() else unit
    done = subprocess.run(
        [options.build / "bin" / "santasim", "cosim", "--config", config, "--seeds",
         str(options.seeds)],
        env={**os.environ, "SANTA_RTL_COVERAGE_FOLDER": str(folder)}, capture_output=True,
        text=True, check=False)
    return unit, done.returncode, done.stderr


def run(options):
    folder = (options.build / "coverage").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.dat"):
        old.unlink()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for unit, code, errors in pool.map(lambda unit: simulate(options, unit, folder), UNITS):
            if code:
                sys.exit(f"rtl_coverage: {unit}: exit code {code}\n{errors}")
            print(f"{unit}: {options.seeds} random scenarios", file=sys.stderr, flush=True)
    return folder


def fields_of(text):
    fields = {}
    for field in text.split("\x01"):
        name, _, value = field.partition("\x02")
        fields[name] = value
    return fields


def read_counts(path):
    """{text of a point: count} of one model."""
    counts = {}
    with open(path, encoding="latin-1") as file:
        for text in file:
            if match := POINT.match(text.rstrip("\n")):
                counts[match[1]] = int(match[2])
    return counts


def read_points(folder):
    """{(module, kind, line, name): count}: kind is line or toggle; the largest of all instances."""
    points = collections.Counter()
    known = {}  # text of a point: its key; the same points come in every file
    starts = {path.name.split("-")[0]: read_counts(path) for path in folder.glob("*-start.dat")}
    files = sorted(path for path in folder.glob("*.dat") if not path.name.endswith("-start.dat"))
    if not files:
        sys.exit(f"rtl_coverage: no counts in {folder}")
    for path in files:
        start = starts[path.name.split("-")[0]]
        for text, count in read_counts(path).items():
            if text not in known:
                known[text] = key_of(fields_of(text))
            key = known[text]
            if key is None:
                continue
            if key[1] == "toggle":
                count -= start.get(text, 0)
            points[key] = max(points[key], count)
    return points


def key_of(fields):
    source = pathlib.Path(fields["f"])
    kind = fields["page"].split("/")[0].removeprefix("v_")
    if source.parent.name != "rtl" or source.suffix != ".sv" or kind not in (
            "line", "branch", "toggle"):
        return None
    if source.name not in {path.name for path in (ROOT / "rtl").glob("*.sv")}:
        return None
    if kind == "toggle":
        return source.stem, "toggle", int(fields["l"]), fields["o"]
    # A branch of an `if` is a point of its own: column and words of Verilator tell it apart.
    return source.stem, "line", int(fields["l"]), f"{fields['o']} at {fields['n']}"


class Exclusion:
    """An entry of the file: module, kind, pattern of the signal or of the line's text, reason."""

    def __init__(self, entry):
        wrong = set(entry) - {"module", "kind", "match", "reason"}
        if wrong or not all(entry.get(key) for key in ("module", "kind", "match", "reason")):
            sys.exit(f"rtl_coverage: {EXCLUSIONS.name}: {entry}: module, kind, match and reason")
        self.module = re.compile(entry["module"])
        self.kind, self.reason = entry["kind"], entry["reason"]
        self.match = re.compile(entry["match"])
        self.text = f"{entry['module']} {entry['kind']} {entry['match']}"
        self.used = 0

    def covers(self, key, sources):
        module, kind, line, name = key
        if kind != self.kind or not self.module.fullmatch(module):
            return False
        text = name if kind == "toggle" else sources[module][line - 1].strip()
        return bool(self.match.search(text))


def evaluate(points, exclusions):
    """Per module: [covered, all, excluded] of lines and of toggles; and what is not covered."""
    sources = {path.stem: path.read_text().splitlines() for path in (ROOT / "rtl").glob("*.sv")}
    table = collections.defaultdict(lambda: {"line": [0, 0, 0], "toggle": [0, 0, 0]})
    missing = []
    for key, count in sorted(points.items()):
        module, kind, line, name = key
        row = table[module][kind]
        if count > 0:
            row[0] += 1
            row[1] += 1
            continue
        found = next((e for e in exclusions if e.covers(key, sources)), None)
        if found:
            found.used += 1
            row[2] += 1
            continue
        row[1] += 1
        missing.append(f"{module}.sv:{line}: {kind} {name}: {sources[module][line - 1].strip()}")
    return table, missing


def percent(row):
    return 100 * row[0] / row[1] if row[1] else 100.0


def print_table(table):
    heads = ["module", "lines and branches", "covered", "excluded", "bits", "covered", "excluded"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    total = {"line": [0, 0, 0], "toggle": [0, 0, 0]}
    for module, kinds in sorted(table.items()):
        cells = [f"`{module}`"]
        for kind in ("line", "toggle"):
            row = kinds[kind]
            total[kind] = [a + b for a, b in zip(total[kind], row)]
            cells += [f"{row[1]:,}", f"{percent(row):.1f} %", f"{row[2]:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    cells = ["all"]
    for kind in ("line", "toggle"):
        cells += [f"{total[kind][1]:,}", f"{percent(total[kind]):.2f} %", f"{total[kind][2]:,}"]
    lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines), total


def markdown(options, text, exclusions):
    reasons = collections.Counter()
    for exclusion in exclusions:
        reasons[exclusion.reason] += exclusion.used
    listed = "\n".join(f"| {count:,} | {reason} |" for reason, count in reasons.most_common())
    return (
        "# Coverage of the RTL\n\n"
        "Written by `make rtl-coverage` (`tools/rtl_coverage.py`): the directed and "
        f"{options.seeds} random scenarios on each of\n{', '.join(UNITS)}; a line, branch or bit "
        "is covered when any instance in any unit covered it.\n\n" + text +
        "\n\nExcluded, by `rtl/dv/coverage_exclusions.yaml`:\n\n| points | reason |\n|---:|---|\n" +
        listed + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-coverage")
    parser.add_argument("--data", type=pathlib.Path, help="counts of an earlier run; no build")
    parser.add_argument("--seeds", type=int, default=40, help="random scenarios of each unit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="list what is not covered")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT")
    options = parser.parse_args()
    if options.data is None:
        build(options)
    points = read_points(options.data or run(options))
    exclusions = [Exclusion(entry) for entry in yaml.safe_load(EXCLUSIONS.read_text()) or []]
    table, missing = evaluate(points, exclusions)
    text, total = print_table(table)
    if options.verbose:
        print("\n".join(missing))
    print(text)
    failures = [f"{kind} coverage {percent(total[kind]):.2f} %, at least {bound} % wanted"
                for kind, bound in BOUNDS.items() if percent(total[kind]) < bound]
    failures += [f"{EXCLUSIONS.name}: nothing to exclude: {e.text}" for e in exclusions
                 if not e.used]
    failures += [f"{path.name}: no points: not a part of any unit" for path in
                 sorted((ROOT / "rtl").glob("*.sv")) if path.stem not in table
                 and path.stem != "santa_pkg"]
    for failure in failures:
        print(f"rtl_coverage: {failure}", file=sys.stderr)
    if options.markdown and not failures:
        options.markdown.write_text(markdown(options, text, exclusions), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
