"""Mutants of the unit with yosys: what is drawn, the unit with all of them, and it in gates."""

import dataclasses
import hashlib
import math
import re
import subprocess

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
MORE_DRAWN = 1.4  # mutants drawn for each that is judged, since some are proved to be none
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
                   "opt_clean; flatten\n"
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
