#!/usr/bin/env python3
"""Runs the proofs of rtl/formal with yosys and prints a table; exit code 1 if one does not hold.

--selftest breaks one line for each entry `broken` of rtl/formal/proofs.yaml and expects a
counterexample: a proof that cannot fail proves nothing.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import yaml

from register_package import write_register_package

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl"
BROKEN_DEPTH = 12  # cycles in which the counterexample to a broken line is looked for


@dataclasses.dataclass
class Job:
    """One run of the solver: a proof, or a proof with one line broken."""

    name: str
    proof: dict
    change: dict | None = None


@dataclasses.dataclass
class Outcome:
    verdict: str  # proved, refuted, unknown, error
    length: int  # of the induction, or of the bound reached
    seconds: float
    text: str


def load_proofs():
    proofs = yaml.safe_load((RTL / "formal" / "proofs.yaml").read_text())
    for proof in proofs:
        if proof["method"] not in ("induction", "bounded"):
            sys.exit(f"formal: {proof['name']}: unknown method '{proof['method']}'")
    return proofs


def source_text(path, change):
    text = path.read_text()
    if change and RTL / change["file"] == path:
        if text.count(change["from"]) != 1:
            sys.exit(f"formal: {change['file']}: '{change['from']}' is there "
                     f"{text.count(change['from'])} times, not once")
        text = text.replace(change["from"], change["to"])
    return text


def write_sources(job, folder):
    """Copies the sources, with the change, into the folder; returns their names in order."""
    proof = job.proof
    paths = [RTL / "santa_pkg.sv"]
    paths += [RTL / f"{name}.sv" for name in proof["sources"]]
    paths.append(RTL / "formal" / f"{proof['module']}_proof.sv")
    names = []
    if proof.get("registers"):
        write_register_package(folder / "santa_registers_pkg.sv")
        names.append("santa_registers_pkg.sv")
    if job.change and RTL / job.change["file"] not in paths:
        sys.exit(f"formal: {job.name}: {job.change['file']} is not a source of it")
    for path in paths:
        (folder / path.name).write_text(source_text(path, job.change))
        names.append(path.name)
    return names


def script(job, names):
    proof = job.proof
    parameters = "".join(f" -chparam {key} {value}"
                         for key, value in proof.get("parameters", {}).items())
    search, depth = "-tempinduct", proof["depth"]
    if job.change or proof["method"] == "bounded":
        search = "-tempinduct-baseonly"
    if job.change:
        depth = job.change.get("depth", max(depth, BROKEN_DEPTH))
    return (f"read_verilog -sv -formal -DSYNTHESIS {' '.join(names)}\n"
            f"hierarchy -check -top {proof['module']}_proof{parameters}\n"
            "proc; opt; memory_collect; memory_map; flatten; opt -full\n"
            f"sat -set-assumes -prove-asserts {search} -maxsteps {depth}\n")


def judge(proof, text):
    lengths = [int(n) for n in re.findall(r"Base case for induction length (\d+) proven", text)]
    length = max(lengths, default=0)
    if "model found for base case: FAIL!" in text:
        return "refuted", length + 1
    if "Induction step proven: SUCCESS!" in text:
        return "proved", length
    if "proved base case" in text:
        return "proved" if proof["method"] == "bounded" else "unknown", length
    if "Reached maximum number of time steps" in text:
        return "unknown", length
    return "error", length


def run(job, timeout):
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="formal-") as name:
        folder = pathlib.Path(name)
        names = write_sources(job, folder)
        (folder / "proof.ys").write_text(script(job, names))
        try:
            done = subprocess.run(["yosys", "-s", "proof.ys"], cwd=folder, timeout=timeout,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            text = done.stdout
            verdict, length = judge(job.proof, text)
        except subprocess.TimeoutExpired:
            text, verdict, length = "", "timeout", 0
    return Outcome(verdict, length, time.monotonic() - begin, text)


def jobs_of(proofs, selftest):
    if not selftest:
        return [Job(proof["name"], proof) for proof in proofs]
    jobs = []
    for proof in proofs:
        if not proof.get("broken"):
            sys.exit(f"formal: {proof['name']}: nothing to break")
        for number, change in enumerate(proof["broken"], 1):
            jobs.append(Job(f"{proof['name']} / broken {number}", proof, change))
    return jobs


def report(proofs, proved, refuted):
    """Markdown: a line a proof; nothing in it depends on the machine."""
    lines = ["# Proofs of the RTL", "",
             "Written by `make formal` (`tools/formal.py`), yosys' SAT solver. Induction: holds for "
             "ever, with the length that", "was needed; bounded: in every run of so many cycles from "
             "reset. Broken: lines changed one at a time, each", "of which the proof refutes.", "",
             "| proof | what | method | length | broken lines refuted |", "|---|---|---|---:|---:|"]
    for proof in proofs:
        text = (RTL / "formal" / f"{proof['module']}_proof.sv").read_text()
        what = re.match(r"(?:// ?.*\n)+?(?=//\s*\n|[^/])", text)[0]
        what = " ".join(line.lstrip("/ ") for line in what.splitlines())
        length = proved[proof["name"]].length
        count = sum(name.startswith(proof["name"] + " / ") for name in refuted)
        lines.append(f"| {proof['name']} | {what} | {proof['method']} | {length} | {count} |")
    return "\n".join(lines) + "\n"


def run_all(jobs, expected, options):
    """Number of runs without the expected result; {name: outcome}."""
    if not jobs:
        sys.exit("formal: no proof with that name")
    outcomes = {}
    print(f"{'proof':<44} {'method':<10} {'depth':>5} {'result':<10} {'s':>7}")
    failures = 0
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, outcome in zip(jobs, pool.map(lambda job: run(job, options.timeout), jobs)):
            outcomes[job.name] = outcome
            good = outcome.verdict == expected
            failures += not good
            print(f"{job.name:<44} {job.proof['method']:<10} {outcome.length:>5} "
                  f"{outcome.verdict:<10} {outcome.seconds:>7.1f}{'' if good else '  <- FAILED'}",
                  flush=True)
            if not good and (options.verbose or outcome.verdict == "error"):
                print("\n".join(outcome.text.splitlines()[-60:]))
    print(f"{len(jobs)} runs, {failures} not {expected}, {time.monotonic() - begin:.0f} s")
    return failures, outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--fast", action="store_true", help="leave the slow ones out")
    parser.add_argument("--only", metavar="TEXT", help="proofs whose name contains TEXT")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=3600, metavar="S", help="for one proof")
    parser.add_argument("--verbose", action="store_true", help="print yosys' words of a failure")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                        help="write proofs and what they refute; runs both")
    options = parser.parse_args()

    proofs = [proof for proof in load_proofs()
              if not (options.fast and proof.get("slow"))
              and (options.only is None or options.only in proof["name"])]
    if options.markdown:
        holds, proved = run_all(jobs_of(proofs, False), "proved", options)
        fails, refuted = run_all(jobs_of(proofs, True), "refuted", options)
        if not holds and not fails:
            options.markdown.write_text(report(proofs, proved, refuted), encoding="utf-8")
        return 1 if holds or fails else 0
    failures, _ = run_all(jobs_of(proofs, options.selftest),
                          "refuted" if options.selftest else "proved", options)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
