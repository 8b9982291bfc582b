#!/usr/bin/env python3
"""Mutation score: changes single gates of the unit and counts the changes that co-simulation finds.

  tools/mutate_rtl.py --build build-mutants [--mutants 500] [--markdown docs/mutation.md]
  tools/mutate_rtl.py --build build-mutants --only 17,203 --verbose

yosys elaborates the unit of tiny-test and draws the mutants (`mutate -list`): an inverted or constant
bit at a port of a cell, spread over modules, cells, wires and source lines. The unit is flattened
first but for its lanes, and its queues become registers, so that what no other block uses is gone; a
mutant of a lane is in all its instances. All are in one verilated model, where SANTA_MUTANT chooses one; 0 is the unit as it is and must pass. A mutant is killed when
`santasim cosim` ends with a difference, a broken bus rule or a stall. RTL assertions are not in the
model. Survivors that no input can tell from the unit count against the score. Verdicts are kept in
the build folder: a run that was stopped goes on where it was, as long as the mutants are the same.
Exit code 1 below --bound percent.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yosys_flow as flow

ROOT = flow.ROOT
MONITORED = ROOT / "rtl" / "dv" / "attention_unit_monitored.sv"
SELECT, SELECT_BITS = "santa_mutant", 16
LANES = ("gather_lane", "weight_lane", "sampler_lane", "value_lane", "exponential_table")
# In front of the unit in its wrapper.
CHOICE = f"""import "DPI-C" function int santa_mutant_number();
  logic [{SELECT_BITS - 1}:0] {SELECT};
  initial {SELECT} = {SELECT_BITS}'(santa_mutant_number());

  attention_unit u_unit (
    .{SELECT},"""


def call(*command):
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False).returncode:
        sys.exit(f"mutate_rtl: failed: {' '.join(map(str, command))}")


def unit_parameters(program, config):
    done = subprocess.run([program, config], capture_output=True, text=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines())


def flat_name(name):
    """A signal of a block once the unit is flat."""
    return name.replace(".", "__")


def write_mutants(options, folder):
    """attention_unit.sv with all mutants, and list.ys that says what each of them is."""
    parameters = unit_parameters(options.build / "bin" / "santa_rtl_config", options.config)
    parameters["ConfigHash"] = "64'h" + parameters["ConfigHash"]
    chosen = "".join(f" -chparam {key} {value}" for key, value in parameters.items())
    work = folder / "yosys"
    work.mkdir(exist_ok=True)
    files = " ".join(str(path) for path in flow.sources("attention_unit", work))
    wrapper, found = re.subn(r"attention_unit #\(.*?\n  \) u_unit \(", lambda _: CHOICE,
                             MONITORED.read_text(), count=1, flags=re.S)
    if not found:
        raise flow.FlowError(f"{MONITORED.name} is not as expected")
    seen = sorted(set(re.findall(r"u_unit\.(\w+(?:\.\w+)?)", wrapper)))
    flow.yosys(f"read_verilog -sv -DSYNTHESIS {files}\n"
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
               "simplemap t:$*dff* t:$mux\nopt; opt_clean\n"
               f"mutate -list {options.mutants} -seed {options.seed} "
               f"-ctrl {SELECT} {SELECT_BITS} 1 -o list.ys\n"
               "script list.ys\nwrite_verilog -noattr mutated.v\n", work)
    text = (work / "mutated.v").read_text()
    (folder / "attention_unit.sv").write_text("/* verilator lint_off WIDTH */\n" + text)
    wrapper = re.sub(r"u_unit\.(\w+\.\w+)", lambda name: "u_unit." + flat_name(name[1]), wrapper)
    (folder / "attention_unit_monitored.sv").write_text(wrapper)


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
    if module:
        text = (ROOT / "rtl" / f"{module}.sv").read_text().splitlines()[number - 1].strip()
    return (f"{module}.sv:{number}: {words.get('mode')} {words.get('port')}[{words.get('portbit')}]"
            f" wire {words.get('wire', '')}[{words.get('wirebit', '')}]: {text}")


def build(options, folder, target):
    call("cmake", "-G", "Ninja", "-S", ROOT, "-B", options.build, "-DCMAKE_BUILD_TYPE=Release",
         "-DSANTA_BUILD_TESTS=OFF", f"-DSANTA_COSIM_CONFIGS={options.config}",
         "-DSANTA_RTL_OPTIMIZE=-O1", f"-DSANTA_RTL_MUTANTS={folder}", *options.cmake)
    call("cmake", "--build", options.build, "--parallel", options.jobs, "--target", target)


def judge(options, number):
    """killed, survived, or what went wrong; and the program's sentence."""
    command = [options.build.resolve() / "bin" / "santasim", "cosim", "--config", options.config,
               "--seeds", str(options.seeds)]
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
    """Verdicts of these mutants and scenarios, a JSON line each."""

    def __init__(self, folder, key):
        self.path, self.key, self.known = folder / "verdicts.jsonl", key, {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue  # cut off by whoever stopped the run
                if entry["key"] == key:
                    self.known[entry["mutant"]] = (entry["verdict"], entry["words"])

    def judge(self, options, number):
        if number not in self.known:
            self.known[number] = judge(options, number)
            verdict, words = self.known[number]
            entry = {"key": self.key, "mutant": number, "verdict": verdict, "words": words}
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(entry))
        return self.known[number]


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
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="every mutant with its end")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT")
    options = parser.parse_args()

    folder = (options.build / "mutants").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    build(options, folder, "santa_rtl_config")
    try:
        write_mutants(options, folder)
    except (flow.FlowError, subprocess.CalledProcessError) as error:
        sys.exit(f"mutate_rtl: {error}")
    build(options, folder, "santasim")
    lines = (folder / "yosys" / "list.ys").read_text().splitlines()
    lines = [line for line in lines if line.startswith("mutate ")]
    verdict, words = judge(options, 0)
    if verdict != "survived":
        sys.exit(f"mutate_rtl: the unit itself does not pass: {verdict}: {words}")
    key = hashlib.sha256("\n".join(lines).encode() + (folder / "attention_unit.sv").read_bytes() +
                         f"{options.config} {options.seeds}".encode()).hexdigest()[:16]
    verdicts = Verdicts(folder, key)
    numbers = [int(n) for n in options.only.split(",")] if options.only else range(
        1, len(lines) + 1)
    killed, survivors, by_module = 0, [], collections.defaultdict(lambda: [0, 0])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, (verdict, words) in zip(numbers, pool.map(
                lambda number: verdicts.judge(options, number), numbers)):
            line = lines[number - 1]
            count = by_module[source_of(line)[0] or "(none)"]
            count[1] += 1
            if verdict not in ("killed", "survived"):
                sys.exit(f"mutate_rtl: mutant {number}: {verdict}: {words}")
            if verdict == "killed":
                killed += 1
                count[0] += 1
            else:
                survivors.append(f"{number}: {describe(line)}")
            if options.verbose or verdict == "survived":
                print(f"{number}: {verdict}: {describe(line)} {words}", flush=True)
    score = 100 * killed / len(numbers)
    rows = "\n".join(f"| `{module}` | {count[1]} | {count[0]} |"
                     for module, count in sorted(by_module.items()))
    table = ("| module | mutants | killed |\n|---|---:|---:|\n" + rows +
             f"\n| all | {len(numbers)} | {killed} ({score:.1f} %) |")
    print(table)
    if options.markdown:
        options.markdown.write_text(
            "# Mutants of the RTL\n\n"
            "Written by `make mutation` (`tools/mutate_rtl.py`): single bits at the ports of cells "
            f"of the unit of {options.config},\ninverted or constant, each against `santasim cosim "
            f"--seeds {options.seeds}`.\n\n" + table + "\n\nSurvivors:\n\n" +
            "\n".join(f"- {text}" for text in survivors) + "\n", encoding="utf-8")
    return 0 if score >= options.bound else 1


if __name__ == "__main__":
    sys.exit(main())
