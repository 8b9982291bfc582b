#!/usr/bin/env python3
"""Mutation score: changes single gates of the unit and counts the changes that co-simulation finds.

  tools/mutate_rtl.py --build build-mutants [--mutants 500] [--markdown docs/mutation.md]
  tools/mutate_rtl.py --build build-mutants --only 17,203 --verbose

yosys elaborates the unit of tiny-test and draws the mutants (`mutate -list`): an inverted or constant
bit at a port of a cell, spread over modules, cells, wires and source lines. The unit is flattened
first but for its lanes, and its queues become registers, so that what no other block uses is gone; a
mutant of a lane is in all its instances. All are in one verilated model, where SANTA_MUTANT chooses
one; 0 is the unit as it is and must pass. RTL assertions are not in the model.

A mutant goes through three stages while it is alive: a few short scenarios, `santasim cosim --seeds`,
and a proof that no input tells it from the unit (mutant_proof.py). It is killed when a scenario ends
with a difference, a broken bus rule or a stall. A mutant with a proof is none: another is drawn in
its place. Anything else counts. Each run tries the proof on killed mutants too and fails
if it succeeds. Verdicts are kept in the build folder: a run that was stopped goes on where it was.
Exit code 1 below --bound percent.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mutant_proof
import yosys_flow as flow

ROOT = flow.ROOT
MONITORED = ROOT / "rtl" / "dv" / "attention_unit_monitored.sv"
SELECT, SELECT_BITS = "santa_mutant", 16
LANES = ("gather_lane", "weight_lane", "sampler_lane", "value_lane", "exponential_table")
# Not drawn. A clock inverted at one register moves it by half a period, which a simulation without
# delays shows only by chance; a clock that stands still is a constant output, which is drawn. The
# resets are of read ports that have none.
PORTS_LEFT_OUT = re.compile(r"-port (C|CLK|WR_CLK|RD_CLK|clk_i|RD_ARST|RD_SRST) ")
SHORT_SCENARIOS = (4, 6, 8)  # kill three of four, at a fiftieth of the cost of all
MORE_DRAWN = 1.4  # mutants drawn for each that is judged, since some are proved to be none
SELFTEST_PROOFS = 6  # killed mutants that must not be proved
# In front of the unit in its wrapper.
CHOICE = f"""import "DPI-C" function int santa_mutant_number();
  logic [{SELECT_BITS - 1}:0] {SELECT};
  initial {SELECT} = {SELECT_BITS}'(santa_mutant_number());

  attention_unit u_unit (
    .{SELECT},"""


@dataclasses.dataclass
class Mutant:
    number: int  # SANTA_MUTANT
    line: str    # for yosys, without what chooses it
    verdict: str = ""
    words: str = ""

    @property
    def control(self):
        return f"{SELECT}_{self.number}"


def call(*command):
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        sys.exit(f"mutate_rtl: failed: {' '.join(map(str, command))}")


def unit_parameters(program, config):
    done = subprocess.run([program, config], capture_output=True, text=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines())


def flat_name(name):
    """A signal of a block once the unit is flat."""
    return name.replace(".", "__")


def read_wrapper():
    """The wrapper of the mutated unit, and the signals of the unit that it looks at."""
    wrapper, found = re.subn(r"attention_unit #\(.*?\n  \) u_unit \(", lambda _: CHOICE,
                             MONITORED.read_text(), count=1, flags=re.S)
    if not found:
        raise flow.FlowError(f"{MONITORED.name} is not as expected")
    seen = sorted(set(re.findall(r"u_unit\.(\w+(?:\.\w+)?)", wrapper)))
    return re.sub(r"u_unit\.(\w+\.\w+)", lambda name: "u_unit." + flat_name(name[1]), wrapper), seen


def read_mutants(path):
    """Those of yosys' list that are drawn, by the number that it gave them."""
    mutants = []
    for line in path.read_text().splitlines():
        found = re.match(rf"mutate -ctrl {SELECT} {SELECT_BITS} (\d+) (.*)", line)
        if found and not PORTS_LEFT_OUT.search(line):
            mutants.append(Mutant(int(found[1]), found[2]))
    return mutants


def elaborate(options, work, seen):
    """unit.il, the unit before a mutant is in it, and list.ys, what is drawn; unless they are there."""
    parameters = unit_parameters(options.build / "bin" / "santa_rtl_config", options.config)
    parameters["ConfigHash"] = "64'h" + parameters["ConfigHash"]
    chosen = "".join(f" -chparam {key} {value}" for key, value in parameters.items())
    names = flow.sources("attention_unit", work)
    script = (f"read_verilog -sv -DSYNTHESIS {' '.join(map(str, names))}\n"
              f"hierarchy -check -top attention_unit{chosen}\n"
              "proc; opt_clean\nrename -top attention_unit\n"
              f"setattr -mod -set keep_hierarchy 1 {' '.join(f'*{lane}*' for lane in LANES)}\n"
              "flatten\ncd attention_unit\n" +
              "".join(f"rename {name} {flat_name(name)}\n" for name in seen if "." in name) +
              "".join(f"setattr -set keep 1 w:{flat_name(name)}\n" for name in seen) +
              # Constant and unused bits go: their mutants would all survive.
              "cd ..\nmemory_collect\nselect -set queues t:$mem_v2 a:src=*fifo_sync* %i\n"
              "memory_map @queues\n"
              # Registers and multiplexers bit by bit, so that the unused bits of a word go too.
              "simplemap t:$*dff* t:$mux\nopt; opt_clean\nwrite_rtlil unit.il\n"
              f"mutate -list {math.ceil(MORE_DRAWN * options.mutants)} -seed {options.seed} "
              f"-ctrl {SELECT} {SELECT_BITS} 1 -o list.ys\n")
    key = fingerprint(script, *((work / name).read_text() for name in names))
    if not same_as_before(work / "unit.key", key):
        flow.yosys(script, work)
        (work / "unit.key").write_text(key)
    return key


def fingerprint(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def same_as_before(path, key):
    return path.exists() and path.read_text() == key


def write_mutants(mutants, work, folder, wrapper):
    """attention_unit.sv with all mutants."""
    lines = [f"mutate -ctrl {SELECT} {SELECT_BITS} {mutant.number} {mutant.line}"
             for mutant in mutants]
    key = fingerprint(*lines, (work / "unit.key").read_text())
    if not same_as_before(work / "mutated.key", key):
        (work / "mutants.ys").write_text("\n".join(lines) + "\n")
        flow.yosys("read_rtlil unit.il\nscript mutants.ys\nwrite_verilog -noattr mutated.v\n", work)
        (folder / "attention_unit.sv").write_text("/* verilator lint_off WIDTH */\n" +
                                                  (work / "mutated.v").read_text())
        (work / "mutated.v").unlink()
        (work / "mutated.key").write_text(key)
    target = folder / "attention_unit_monitored.sv"
    if not same_as_before(target, wrapper):
        target.write_text(wrapper)


def read_netlist(mutants, work, seen):
    """The flat unit in gates, with an input for each of the mutants."""
    lines = [f"mutate -ctrl {mutant.control} 1 1 {mutant.line}" for mutant in mutants]
    key = fingerprint(*lines, (work / "unit.key").read_text())
    if not same_as_before(work / "netlist.key", key):
        (work / "proofs.ys").write_text("\n".join(lines) + "\n")
        flow.yosys("read_rtlil unit.il\nsetattr -unset src *\nscript proofs.ys\n"
                   "hierarchy -top attention_unit\nsetattr -mod -unset keep_hierarchy *\n"
                   "select -set tables t:$mem_v2 r:WR_PORTS=0 %i\nmemory_map @tables\n"
                   # Before the lanes are many.
                   "simplemap; techmap; simplemap; dfflegalize -cell $_DFF_P_ x\n"
                   "opt_clean; aigmap; opt_clean; flatten; opt_clean\n"
                   "write_json netlist.json\n", work)
        (work / "netlist.key").write_text(key)
    return mutant_proof.Netlist(work / "netlist.json", [mutant.control for mutant in mutants],
                                [flat_name(name) for name in seen])


def source_of(line):
    """Module and line of a line of list.ys: of its cell, or the first that is named."""
    places = re.findall(r"-src (\w+)\.sv:(\d+)", line)
    cell = re.search(r"-cell (\S+)", line)
    own = re.search(r"\$(\w+)\.sv:(\d+)\$", cell[1]) if cell else None
    return (own[1], int(own[2])) if own else (places[0][0], int(places[0][1])) if places else ("", 0)


def describe(line):
    words = dict(re.findall(r"-(mode|port|portbit|wire|wirebit) (\S+)", line))
    module, number = source_of(line)
    text = ""
    if number:
        text = (ROOT / "rtl" / f"{module}.sv").read_text().splitlines()[number - 1].strip()
    wire = f" wire {words['wire']}[{words.get('wirebit', '')}]" if "wire" in words else ""
    place = f"{module}.sv:{number}: " if module else ""
    return f"{place}{words.get('mode')} {words.get('port')}[{words.get('portbit')}]{wire}: {text}"


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
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "SANTA_MUTANT": str(number)},
                                  timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return "killed", "no end"
    if done.returncode == 0:
        return "survived", ""
    if done.returncode == 1:
        return "killed", done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    return f"exit code {done.returncode}", done.stderr.strip()


class Verdicts:
    """What each stage has found about each mutant of this unit, a JSON line each."""

    def __init__(self, folder, unit):
        self.path, self.unit, self.known = folder / "verdicts.jsonl", unit, {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # cut off by whoever stopped the run
            if entry.get("unit") == unit:
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
            self._scenarios(batch)
            self._proofs(batch)
            for mutant in batch:
                if len(counted) == wanted:
                    break
                (equivalent if mutant.verdict == "equivalent" else counted).append(mutant)
        return counted, equivalent

    def _each(self, mutants, name, decide):
        """A stage of those that are still alive."""
        alive = [mutant for mutant in mutants if mutant.verdict in ("", "survived")]
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
            prover = None
        else:
            prover = mutant_proof.Prover(read_netlist(tried, self.work, self.seen),
                                         self.options.proof_seconds)
        def decide(mutant):
            proof = prover.prove(mutant.control)
            return ("equivalent", proof.kind) if proof.kind else ("unproved", "")
        for mutant in sample:
            if self.verdicts.stage(mutant, name, lambda mutant=mutant: decide(mutant))[0] != "unproved":
                sys.exit(f"mutate_rtl: mutant {mutant.number} was killed and is proved to be no "
                         f"mutant: {mutant.words}")
        jobs, self.options.jobs = self.options.jobs, 1  # one graph for all
        self._each(alive, name, decide)
        self.options.jobs = jobs


def report(options, counted, equivalent):
    """Markdown, and the percentage."""
    modules = collections.defaultdict(lambda: [0, 0, 0])
    for mutant in counted + equivalent:
        count = modules[source_of(mutant.line)[0] or "(none)"]
        count[2 if mutant.verdict == "equivalent" else 1 if mutant.verdict == "killed" else 0] += 1
    killed = sum(mutant.verdict == "killed" for mutant in counted)
    score = 100 * killed / len(counted)
    table = ("| module | mutants | killed | proved to be none |\n|---|---:|---:|---:|\n" +
             "".join(f"| `{name}` | {a + k} | {k} | {e} |\n"
                     for name, (a, k, e) in sorted(modules.items())) +
             f"| all | {len(counted)} | {killed} ({score:.1f} %) | {len(equivalent)} |\n")
    def listed(mutants, with_words):
        return "".join(f"- {m.number}: {describe(m.line)}{' — ' + m.words if with_words else ''}\n"
                       for m in mutants) or "- none\n"
    survivors = [mutant for mutant in counted if mutant.verdict != "killed"]
    text = ("# Mutants of the RTL\n\n"
            "Written by `make mutation` (`tools/mutate_rtl.py`): single bits at the ports of cells of "
            f"the unit of {options.config},\ninverted or constant, each against `santasim cosim "
            f"--seeds {options.seeds}`. Mutants that are proved to be\nindistinguishable from the unit "
            "do not count; others were drawn in their place.\n\n" + table +
            "\nSurvivors, without a proof:\n\n" + listed(survivors, False) +
            "\nProved, and how far the proof had to look:\n\n" + listed(equivalent, True))
    return text, table, score


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--config", default="tiny-test")
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1, help="of the mutants")
    parser.add_argument("--seeds", type=int, default=10, help="random scenarios for each")
    parser.add_argument("--only", help="numbers, separated by commas")
    parser.add_argument("--bound", type=float, default=95.0, help="percent killed, at least")
    parser.add_argument("--timeout", type=float, default=900, metavar="S", help="of one mutant")
    parser.add_argument("--proof-seconds", type=int, default=60, metavar="S",
                        help="for the proof of one mutant")
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
        wrapper, seen = read_wrapper()
        unit = elaborate(options, work, seen)
        mutants = read_mutants(work / "list.ys")
        write_mutants(mutants, work, folder, wrapper)
        build(options, folder, "santasim")
        verdict, words = cosimulate(options, 0, ["--seeds", str(options.seeds)])
        if verdict != "survived":
            sys.exit(f"mutate_rtl: the unit itself does not pass: {verdict}: {words}")
        wanted = options.mutants
        if options.only:
            numbers = {int(number) for number in options.only.split(",")}
            mutants = [mutant for mutant in mutants if mutant.number in numbers]
            wanted = len(mutants)
        judge = Judge(options, Verdicts(folder, unit), work, seen)
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
