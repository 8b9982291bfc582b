#!/usr/bin/env python3
"""Mutation score: changes single gates of the unit and counts the changes that co-simulation finds.

  tools/mutate_rtl.py --build build-mutants [--mutants 500] [--markdown docs/mutation.md]
  tools/mutate_rtl.py --build build-mutants --only 17,203 --verbose
  tools/mutate_rtl.py --build build-mutants --so-far --markdown docs/mutation.md

yosys elaborates the unit of tiny-test and draws the mutants (`mutate -list`): an inverted or constant
bit at a port of a cell, spread over modules, cells, wires and source lines. The unit is flattened
first but for its lanes, and its queues become registers, so that what no other block uses is gone; a
mutant of a lane is in all its instances. All are in one verilated model, where SANTA_MUTANT chooses
one; 0 is the unit as it is and must pass. RTL assertions are not in the model.

A mutant goes through four stages while it is alive: a few short scenarios, `santasim cosim --seeds`, a
proof that no input tells it from the unit (mutant_proof.py), and `santasim cosim --long`. It is killed
when a scenario ends with a difference, a broken bus rule or a stall. A mutant with a proof is none: another is drawn in
its place. Anything else counts. Each run tries the proof on killed mutants too and fails
if it succeeds. Verdicts are kept in the build folder: a run that was stopped goes on where it was. After
a change of co-simulation, --retry tries it again on those that it had left alive.
Exit code 1 below --bound percent.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

import mutant_proof
import mutant_unit
import yosys_flow as flow
from mutant_unit import ROOT, describe, source_of

SHORT_SCENARIOS = (4, 6, 8, 0)  # the first three kill two of three for a twentieth of the cost of all
LAST_STAGE = "long contexts"
SELFTEST_PROOFS = 6  # killed mutants that must not be proved


def call(*command):
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        sys.exit(f"mutate_rtl: failed: {' '.join(map(str, command))}")


def build(options, folder, target):
    call("cmake", "-G", "Ninja", "-S", ROOT, "-B", options.build, "-DCMAKE_BUILD_TYPE=Release",
         "-DSANTA_BUILD_TESTS=OFF", f"-DSANTA_COSIM_CONFIGS={options.config}",
         "-DSANTA_RTL_OPTIMIZE=-O1", f"-DSANTA_RTL_MUTANTS={folder}", *options.cmake)
    call("cmake", "--build", options.build, "--parallel", options.jobs, "--target", target)


def cosimulate(options, number, scenarios):
    """killed, survived, or what went wrong; and the program's sentence."""
    command = [options.build.resolve() / "bin" / "santasim", "cosim", "--config", options.config,
               *scenarios]
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        # Of a processor, so that a busy machine kills none.
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, env={**os.environ, "SANTA_MUTANT": str(number)}) as run:
            resource.prlimit(run.pid, resource.RLIMIT_CPU, (options.timeout, options.timeout + 5))
            words = run.communicate()[1].strip()
    if run.returncode == -signal.SIGXCPU:
        return "killed", "no end"
    if run.returncode == 0:
        return "survived", ""
    if run.returncode == 1:
        return "killed", words.splitlines()[-1] if words else ""
    return f"exit code {run.returncode}", words


class Verdicts:
    """What each stage has found about each mutant of this unit, a JSON line each."""

    def __init__(self, folder, unit, retry=False):
        """With `retry` nothing has survived a scenario yet."""
        self.path, self.unit, self.known = folder / "verdicts.jsonl", unit, {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # cut off by whoever stopped the run
            if entry.get("unit") == unit and not (retry and entry["verdict"] == "survived"):
                self.known[entry["mutant"], entry["stage"]] = (entry["verdict"], entry["words"])

    def stage(self, mutant, name, decide):
        """The verdict of a stage, decided now if it is not known."""
        if (mutant.line, name) not in self.known:
            verdict, words = decide()
            if verdict not in ("killed", "survived", "equivalent", "unproved"):
                sys.exit(f"mutate_rtl: mutant {mutant.number}: {verdict}: {words}")
            entry = {"unit": self.unit, "mutant": mutant.line, "stage": name, "verdict": verdict,
                     "words": words}
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(entry))
            self.known[mutant.line, name] = verdict, words
        return self.known[mutant.line, name]

    def recall(self, mutants):
        """Gives each mutant what is known of it for good: killed, equivalent, or nothing."""
        ends = {line: end for (line, _), end in self.known.items()
                if end[0] in ("killed", "equivalent")}
        for mutant in mutants:
            mutant.verdict, mutant.words = ends.get(mutant.line, ("", ""))

    def so_far(self, mutants):
        """The same, and who survived all stages."""
        self.recall(mutants)
        for mutant in mutants:
            if not mutant.verdict:
                mutant.verdict, _ = self.known.get((mutant.line, LAST_STAGE), ("", ""))


class Judge:
    """Takes mutants through the stages."""

    def __init__(self, options, verdicts, work, seen):
        self.options, self.verdicts, self.work, self.seen = options, verdicts, work, seen

    def run(self, mutants, wanted):
        """The first `wanted` of the mutants that no proof takes out, and those before them that one
        does."""
        todo, counted, equivalent = list(mutants), [], []
        while todo and len(counted) < wanted:
            share = math.ceil(1.2 * (wanted - len(counted)))
            batch, todo = todo[:share], todo[share:]
            self.verdicts.recall(batch)
            self._scenarios(batch)
            self._proofs(batch)
            self._each(batch, LAST_STAGE, lambda mutant: cosimulate(self.options, mutant.number,
                                                                         ["--long"]))
            for mutant in batch:
                if len(counted) == wanted:
                    break
                (equivalent if mutant.verdict == "equivalent" else counted).append(mutant)
        return counted, equivalent

    def _each(self, mutants, name, decide):
        """A stage of those that are still alive."""
        alive = [mutant for mutant in mutants if mutant.verdict in ("", "survived", "unproved")]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            results = pool.map(lambda mutant: self.verdicts.stage(
                mutant, name, lambda: decide(mutant)), alive)
            for mutant, (verdict, words) in zip(alive, results):
                mutant.verdict, mutant.words = verdict, words
                if self.options.verbose or name.startswith("proof"):
                    print(f"{mutant.number}: {name}: {verdict}: {describe(mutant.line)} {words}",
                          flush=True)

    def _scenarios(self, mutants):
        for scenario in SHORT_SCENARIOS:
            self._each(mutants, f"scenario {scenario}", lambda mutant, scenario=scenario: cosimulate(
                self.options, mutant.number, ["--seed", str(scenario)]))
        seeds = str(self.options.seeds)
        self._each(mutants, f"scenarios to {seeds}", lambda mutant: cosimulate(
            self.options, mutant.number, ["--seeds", seeds]))

    def _proofs(self, mutants):
        name = f"proof {self.options.proof_seconds} s"
        killed = [mutant for mutant in mutants if mutant.verdict == "killed"]
        sample = killed[::max(len(killed) // SELFTEST_PROOFS, 1)][:SELFTEST_PROOFS]
        alive = [mutant for mutant in mutants if mutant.verdict == "survived"]
        tried = alive + sample
        if all((mutant.line, name) in self.verdicts.known for mutant in tried):
            netlist = None
        else:
            netlist = mutant_unit.read_netlist(tried, self.work, self.seen)
        with mutant_proof.Pool(netlist, self.options.proof_seconds, self.options.jobs) as pool:
            def decide(mutant):
                proof = pool.prove(mutant.control)
                return ("equivalent", proof.kind) if proof.kind else ("unproved", "")
            for mutant in sample:
                verdict, words = self.verdicts.stage(mutant, name,
                                                     lambda mutant=mutant: decide(mutant))
                if verdict != "unproved":
                    sys.exit(f"mutate_rtl: mutant {mutant.number} was killed and is proved to be no "
                             f"mutant: {mutant.words}: {words}")
            self._each(alive, name, decide)


def report(options, counted, equivalent, whole=True):
    """Markdown, the table and the percentage. A run that is not whole has mutants without a verdict."""
    undecided = [mutant for mutant in counted if not mutant.verdict]
    counted = [mutant for mutant in counted if mutant.verdict]
    modules = collections.defaultdict(lambda: [0, 0, 0])
    for mutant in counted + equivalent:
        count = modules[source_of(mutant.line)[0] or "(none)"]
        count[2 if mutant.verdict == "equivalent" else 1 if mutant.verdict == "killed" else 0] += 1
    killed = sum(mutant.verdict == "killed" for mutant in counted)
    # What is killed is known sooner than what survives: an unfinished run has no percentage.
    score = 100 * killed / len(counted) if whole else 0.0
    share = f" ({score:.1f} %)" if whole else ""
    table = ("| module | mutants | killed | proved to be none |\n|---|---:|---:|---:|\n" +
             "".join(f"| `{name}` | {a + k} | {k} | {e} |\n"
                     for name, (a, k, e) in sorted(modules.items())) +
             f"| all | {len(counted)} | {killed}{share} | {len(equivalent)} |\n")
    def listed(mutants, with_words):
        return "".join(f"- {m.number}: {describe(m.line)}{' — ' + m.words if with_words else ''}\n"
                       for m in mutants) or "- none\n"
    survivors = [mutant for mutant in counted if mutant.verdict != "killed"]
    command = ("`make mutation` (`tools/mutate_rtl.py`)" if whole else
               "`tools/mutate_rtl.py --so-far`")
    every = len(counted) + len(undecided)
    state = "" if whole else (
        f"\n**Unfinished: {len(undecided)} of {every} mutants have no verdict yet**, so there is no score; "
        f"of these {every} it lies\nbetween {100 * killed / every:.1f} and "
        f"{100 * (killed + len(undecided)) / every:.1f} %.\n")
    text = ("# Mutants of the RTL\n" + state + "\n"
            f"Written by {command}: single bits at the ports of cells of "
            f"the unit of {options.config},\ninverted or constant, each against `santasim cosim "
            f"--seeds {options.seeds}` and `--long`. Mutants that are proved to\nbe indistinguishable "
            "from the unit do not count; others were drawn in their place.\n\n" + table +
            "\nSurvivors, without a proof:\n\n" + listed(survivors, False) +
            ("" if whole else "\nWithout a verdict:\n\n" + listed(undecided, False)) +
            "\nProved, and how far the proof had to look:\n\n" + listed(equivalent, True))
    return text, table, score


def report_so_far(options, verdicts, mutants):
    """The exit code is 1 while what is killed is below the bound: what is not known yet counts as alive."""
    verdicts.so_far(mutants)
    equivalent = [mutant for mutant in mutants if mutant.verdict == "equivalent"]
    counted = [mutant for mutant in mutants if mutant.verdict != "equivalent"][:options.mutants]
    text, table, _ = report(options, counted, equivalent, whole=False)
    print(table)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    killed = sum(mutant.verdict == "killed" for mutant in counted)
    return 0 if 100 * killed >= options.bound * len(counted) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--config", default="tiny-test")
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1, help="of the mutants")
    parser.add_argument("--seeds", type=int, default=10, help="random scenarios for each")
    parser.add_argument("--only", help="numbers, separated by commas")
    parser.add_argument("--so-far", action="store_true",
                        help="judge nothing, report what an unfinished run has found; exit code 1 "
                             "while that is below the bound")
    parser.add_argument("--retry", action="store_true",
                        help="scenarios again for survivors, after a change of co-simulation")
    parser.add_argument("--bound", type=float, default=95.0, help="percent killed, at least")
    parser.add_argument("--timeout", type=int, default=1200, metavar="S",
                        help="of a processor, for one run of a mutant that does not end")
    parser.add_argument("--proof-seconds", type=int, default=60, metavar="S",
                        help="of a processor, for the solver in the proof of one mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="every mutant with its end")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT")
    options = parser.parse_args()

    folder = (options.build / "mutants").resolve()
    work = folder / "yosys"
    work.mkdir(parents=True, exist_ok=True)
    build(options, folder, "santa_rtl_config")
    try:
        wrapper, seen = mutant_unit.read_wrapper()
        unit = mutant_unit.elaborate(options, work, seen)
        mutants = mutant_unit.read_mutants(work / "list.ys")
        verdicts = Verdicts(folder, unit, options.retry)
        if options.so_far:
            return report_so_far(options, verdicts, mutants)
        mutant_unit.write_mutants(mutants, work, folder, wrapper)
        build(options, folder, "santasim")
        for scenarios in (["--seeds", str(options.seeds)], ["--long"]):
            verdict, words = cosimulate(options, 0, scenarios)
            if verdict != "survived":
                sys.exit(f"mutate_rtl: the unit itself does not pass: {verdict}: {words}")
        wanted = options.mutants
        if options.only:
            numbers = {int(number) for number in options.only.split(",")}
            mutants = [mutant for mutant in mutants if mutant.number in numbers]
            wanted = len(mutants)
        judge = Judge(options, verdicts, work, seen)
        counted, equivalent = judge.run(mutants, wanted)
    except (flow.FlowError, subprocess.CalledProcessError) as error:
        sys.exit(f"mutate_rtl: {error}")
    if len(counted) < wanted and not options.only:
        sys.exit(f"mutate_rtl: only {len(counted)} of {wanted} mutants are left; draw more")
    text, table, score = report(options, counted, equivalent)
    print(table)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    return 0 if score >= options.bound else 1


if __name__ == "__main__":
    sys.exit(main())
