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
MULTIPLYING = ("$mul", "$macc", "$div", "$mod", "$divfloor", "$modfloor", "$pow")


class FlowError(Exception):
    """Synthesis failed, or a check of it did."""


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


def sources(folder):
    package = folder / "santa_registers_pkg.sv"
    write_register_package(package)
    return [RTL / "santa_pkg.sv", package] + sorted(
        path for path in RTL.glob("*.sv") if path.name != "santa_pkg.sv")


def yosys(script, folder):
    path = folder / "flow.ys"
    path.write_text(script)
    done = subprocess.run(["yosys", "-q", "-s", str(path)], cwd=folder, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise FlowError("yosys:\n" + "\n".join(done.stdout.splitlines()[-20:]))
    return done.stdout


def read_lines(folder, library, top, parameters, extra=()):
    files = " ".join(str(path) for path in [*sources(folder), *extra])
    chosen = "".join(f" -chparam {key} {value}" for key, value in parameters.items())
    return (f"read_liberty -lib {library}\n"
            f"read_verilog -sv -DSYNTHESIS {files}\n"
            f"blackbox {MEMORY}\n"
            f"hierarchy -check -top {top}{chosen}\n"
            "proc; opt\n"
            f"write_json {folder}/behaviour.json\n")


def map_lines(library, top, clock_ns, flatten, netlist):
    return (f"synth -top {top}{' -flatten' if flatten else ''} -run {'begin' if flatten else 'coarse'}:\n"
            f"dfflibmap -liberty {library}\n"
            f"abc -D {int(clock_ns * 1000)} -liberty {library}\n"
            "opt_clean -purge\n"
            "check -assert\n"
            f"tee -q -o stat.txt stat -liberty {library}\n"
            f"write_verilog -noattr {netlist}\n")


def check_no_multiplier(path):
    """No product or quotient of data. A product by a constant that only says which part of a vector
    is meant, as in v[i*W +: W], is wiring: it ends in the amount of a shift by whole parts."""
    modules = json.loads(path.read_text())["modules"]
    selections, bad = 0, []
    for module_name, module in modules.items():
        users = collections.defaultdict(list)
        for cell in module["cells"].values():
            for port, bits in cell["connections"].items():
                if cell.get("port_directions", {}).get(port) == "input":
                    for bit in bits:
                        users[bit].append((cell, port))
        for bits in (port["bits"] for port in module["ports"].values()
                     if port["direction"] == "output"):
            for bit in bits:
                users[bit].append((None, "output"))
        for name, cell in module["cells"].items():
            if cell["type"] not in MULTIPLYING:
                continue
            constant = cell["type"] == "$mul" and any(
                all(isinstance(bit, str) for bit in cell["connections"][port]) for port in "AB")
            if constant and only_selects(cell, users):
                selections += 1
            else:
                bad.append(f"{module_name}: {cell['type']} {name}")
    if bad:
        raise FlowError("multipliers or dividers of data:\n  " + "\n  ".join(bad))
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
