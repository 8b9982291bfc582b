"""Synthesis of the RTL with yosys: sources, scripts, cell counts and areas, and what is checked."""

import collections
import json
import pathlib
import re
import subprocess

import liberty
from register_package import write_register_package

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl"
QFLOW = pathlib.Path("/usr/share/qflow/tech")
MEMORY = "ram_1r1w"  # stands for SRAM: left out of the area
REGISTERS = "santa_registers_pkg"
MULTIPLYING = ("$mul", "$macc", "$div", "$mod", "$divfloor", "$modfloor", "$pow")
LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")

# Blocks that are synthesised by themselves, with what they have in tiny-test.
BLOCKS = {
    "lfsr": {},
    "coefficient_lane": {},
    "digit_select": {"Lanes": 1},
    "exponential_table": {},
    "gather_lane": {"DigitLanes": 1, "Slots": 2},
    "value_lane": {"Words": 8},
    "weight_lane": {},
    "sampler_lane": {"ScanLanes": 4},
    "normalizer": {"PortBytes": 16, "GroupHeads": 4, "MaxHeadDimension": 64, "NormalizerLanes": 4},
    "burst_splitter": {"PortBytes": 16},
    "axi_write_port": {"PortBytes": 16},
    "control_registers": {"GroupHeads": 4, "MaxHeadDimension": 64, "TileKeys": 16,
                          "PortBytes": 16},
}


class FlowError(Exception):
    """Synthesis failed, or a check of it did."""


def version():
    done = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def find_liberty(name):
    """A library by its file, or one of qflow's by its name."""
    if pathlib.Path(name).exists():
        return pathlib.Path(name)
    found = sorted((QFLOW / name).glob("*stdcells.lib"))
    if not found:
        raise FlowError(f"no Liberty file '{name}'")
    return found[0]


def unpack_liberty(path, folder):
    """yosys and OpenSTA read plain text."""
    out = folder / path.name.removesuffix(".gz")
    out.write_text(liberty.read_text(path))
    return out


def sources(top, folder):
    """Copies the files of a module and of all that it names to the folder; returns their names.
    Paths are in the names of cells, whose order decides small things: so they are the same anywhere."""
    texts = {path.stem: path.read_text() for path in sorted(RTL.glob("*.sv"))}
    wanted, todo = set(), [top]
    while todo:
        if (name := todo.pop()) in wanted:
            continue
        wanted.add(name)
        code = re.sub(r"//.*", "", texts.get(name, ""))
        todo += [word for word in set(re.findall(r"\w+", code))
                 if word in texts or word == REGISTERS]
    names = ["santa_pkg"] + [REGISTERS] * (REGISTERS in wanted)
    if REGISTERS in wanted:
        write_register_package(folder / f"{REGISTERS}.sv")
    names += sorted(wanted - set(names))
    for name in names:
        if name in texts:
            (folder / f"{name}.sv").write_text(texts[name])
    return [f"{name}.sv" for name in names]


def yosys(script, folder):
    """Runs in the folder; scripts name no other, since yosys' result depends on the paths a little."""
    (folder / "flow.ys").write_text(script)
    done = subprocess.run(["yosys", "-q", "-s", "flow.ys"], cwd=folder, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise FlowError("yosys:\n" + "\n".join(done.stdout.splitlines()[-20:]))
    return done.stdout


def checked_yosys(script, folder):
    """Runs a script that begins with read_lines; returns what check_cells does, whose words come
    before those of a later step that fails."""
    behaviour = folder / "behaviour.json"
    try:
        yosys(script, folder)
    except FlowError:
        if behaviour.exists():
            check_cells(behaviour)
        raise
    return check_cells(behaviour)


def hierarchy_lines(files, top, parameters):
    chosen = "".join(f" -chparam {key} {value}" for key, value in parameters.items())
    return (f"read_verilog -sv -DSYNTHESIS {' '.join(map(str, files))}\n"
            f"hierarchy -check -top {top}{chosen}\n")


def read_lines(folder, library, top, parameters, files=None):
    """The design as written, in behaviour.json; `check` looks for loops and undriven nets in one
    module at a time, so the whole is flattened for it. Puts the library and what abc needs to know
    into the folder, as cells.lib and abc.constr."""
    (folder / "cells.lib").write_bytes(library.read_bytes())
    write_constraints(library, folder / "abc.constr")
    read = hierarchy_lines(files or sources(top, folder), top, parameters)
    empty = "" if MEMORY not in read else f"blackbox {MEMORY}\n"
    return ("read_liberty -lib cells.lib\n" + read.replace("hierarchy ", empty + "hierarchy ") +
            "proc; opt\nwrite_json behaviour.json\n"
            "design -save whole\nflatten; opt_clean; check -assert\ndesign -load whole\n")


def write_constraints(library, path):
    """abc buffers large fan-outs only when it knows a driver and a load: the smallest inverter's."""
    cells = liberty.load(library).cells
    inverters = [(cell.area, name, next(pin.capacitance for pin in cell.pins.values()
                                        if pin.direction == "input"))
                 for name, cell in cells.items() if re.search(r"INVX\d|__inv_\d", name)]
    if not inverters:
        raise FlowError(f"{library.name}: no inverter that is named INVX1 or *__inv_1")
    _, name, capacitance = min(inverters)
    path.write_text(f"set_driving_cell {name}\nset_load {4 * capacitance * 1000} [all_outputs]\n")


def map_lines(top, clock_ns, flatten, netlist):
    run = "-flatten -run begin:" if flatten else "-run coarse:"
    return (f"synth -top {top} {run}\n"
            "dfflibmap -liberty cells.lib\n"
            f"abc -D {int(clock_ns * 1000)} -liberty cells.lib -constr abc.constr\n"
            "opt_clean -purge\n"
            "check -mapped -assert\n"
            "tee -q -o stat.txt stat -liberty cells.lib\n"
            # OpenSTA reads neither parameters nor concatenations on the left.
            f"setparam -unset Width -unset Depth t:{MEMORY}\n"
            f"write_verilog -noattr -simple-lhs {netlist}\n")


def check_cells(path):
    """No latch; no product or quotient of data. A product by a constant that only says which part of
    a vector is meant, as in v[i*W +: W], is wiring: it ends in the amount of a shift by whole parts.
    Returns how many of those there are."""
    modules = json.loads(path.read_text())["modules"]
    selections, bad = 0, []
    for module_name, module in modules.items():
        users = collections.defaultdict(list)
        for cell in module["cells"].values():
            for port, bits in cell["connections"].items():
                if cell.get("port_directions", {}).get(port) == "input":
                    for bit in bits:
                        users[bit].append((cell, port))
        for port in module["ports"].values():
            for bit in port["bits"] if port["direction"] == "output" else ():
                users[bit].append((None, "output"))
        for name, cell in module["cells"].items():
            if cell["type"] in LATCHES:
                bad.append(f"{module_name}: latch {name}")
            if cell["type"] not in MULTIPLYING:
                continue
            constant = cell["type"] == "$mul" and any(
                all(isinstance(bit, str) for bit in cell["connections"][port]) for port in "AB")
            if constant and only_selects(cell, users):
                selections += 1
            else:
                bad.append(f"{module_name}: {cell['type']} {name}")
    if bad:
        raise FlowError("latches, or multipliers or dividers of data:\n  " + "\n  ".join(bad))
    return selections


def only_selects(cell, users):
    todo, seen = [cell], set()
    while todo:
        for bit in todo.pop()["connections"]["Y"]:
            for user, port in users[bit] if not isinstance(bit, str) else ():
                if user is None:
                    return False
                if user["type"] in ("$shift", "$shiftx", "$shl", "$shr", "$sshl", "$sshr"):
                    if port != "B":
                        return False
                elif user["type"] in ("$add", "$sub", "$neg", "$pos"):
                    if id(user) not in seen:
                        seen.add(id(user))
                        todo.append(user)
                else:
                    return False
    return True


def read_stat(path):
    """{module: {"cells": {type: number}, "area": number}}, without what the module instantiates."""
    modules, current = {}, None
    for line in path.read_text().splitlines():
        if match := re.match(r"=== (.*) ===", line):
            current = None
            if match[1] != "design hierarchy":
                current = modules.setdefault(match[1].strip(), {"cells": {}, "area": 0.0})
        elif current is not None:
            if match := re.match(r"\s{5}(\S+)\s+(\d+)$", line):
                current["cells"][match[1]] = int(match[2])
            elif match := re.match(r"\s+Chip area for (?:top )?module '.*': ([\d.]+)", line):
                current["area"] = float(match[1])
    # In the libraries' own words, without the backslash of public names.
    return {name.removeprefix("\\"): module for name, module in modules.items()}


def total_of(modules, name):
    """Cells by type, area and memories of a module with all that it holds."""
    cells, area, memories = collections.Counter(), modules[name]["area"], 0
    for kind, number in modules[name]["cells"].items():
        inner = kind.removeprefix("\\")
        if inner in modules:
            more, more_area, more_memories = total_of(modules, inner)
            for key, value in more.items():
                cells[key] += value * number
            area += more_area * number
            memories += more_memories * number
        elif inner == MEMORY or MEMORY in inner:
            memories += number
        else:
            cells[inner] += number
    return cells, area, memories
