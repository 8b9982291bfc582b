#!/usr/bin/env python3
"""Checks the test plan of the RTL and writes it as a table.

  tools/test_plan.py --check                     all evidence of rtl/dv/test_plan.yaml exists, and
                                                 docs/test_plan.md is what it would write
  tools/test_plan.py --write                     writes docs/test_plan.md

Exit code 1 if evidence is missing or the document is not up to date.
"""

import argparse
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAN = ROOT / "rtl" / "dv" / "test_plan.yaml"
DOCUMENT = ROOT / "docs" / "test_plan.md"
KINDS = ("test", "workload", "bin", "proof", "assertion")


def read_all(folder, *patterns):
    return "\n".join(path.read_text(encoding="utf-8") for pattern in patterns
                     for path in sorted((ROOT / folder).rglob(pattern)))


def known_evidence():
    """{kind: names that exist}."""
    tests = read_all("tests", "*.cpp")
    names = {f"{suite}.{name}" for suite, name in re.findall(
        r"\b(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", tests)}
    cmake = read_all("tests", "CMakeLists.txt") + read_all("cosim", "CMakeLists.txt")
    names |= set(re.findall(r"(?:add_test\(NAME|santa_synthesis_test\()\s*(\w+)", cmake))
    models = (ROOT / "cosim" / "models" / "CMakeLists.txt").read_text(encoding="utf-8")
    units = re.search(r'SANTA_COSIM_CONFIGS "([^"]*)"', models)[1].split(";")
    if "cosim_on_${name}" in cmake:
        names |= {f"cosim_on_{unit}" for unit in units}
    directed = (ROOT / "cosim" / "src" / "directed.cpp").read_text(encoding="utf-8")
    coverage = (ROOT / "cosim" / "src" / "coverage.cpp").read_text(encoding="utf-8")
    proofs = yaml.safe_load((ROOT / "rtl" / "formal" / "proofs.yaml").read_text(encoding="utf-8"))
    return {
        "test": names,
        "workload": set(re.findall(r'"([^"\n]+)"', directed)),
        "bin": set(re.findall(r'"([^"\n]+)"', coverage)),
        "proof": {proof["name"] for proof in proofs},
        "assertion": set(re.findall(r"^\s*(\w+_A)\s*:", read_all("rtl", "*.sv"), re.M)),
    }


def faults(plan, known):
    seen = set()
    for section in plan:
        for point in section["points"]:
            name = point["id"]
            if name in seen:
                yield f"{name}: twice"
            seen.add(name)
            for key in set(point) - {"id", "what", *KINDS}:
                yield f"{name}: unknown key '{key}'"
            if not any(point.get(kind) for kind in KINDS):
                yield f"{name}: no evidence"
            for kind in KINDS:
                for item in point.get(kind, []):
                    if item not in known[kind]:
                        yield f"{name}: no {kind} '{item}'"


def document(plan):
    lines = ["# Test plan of the RTL", "",
             "Written by `tools/test_plan.py --write` from `rtl/dv/test_plan.yaml`; the test `test_plan` "
             "checks that all of it exists.", "Workloads are directed requests of scenario 0, bins are "
             "counted by every co-simulation and must all be reached,", "proofs are run by `make formal`."]
    for section in plan:
        lines += ["", f"## {section['section']}", "", "| | what | shown by |", "|---|---|---|"]
        for point in section["points"]:
            shown = [f"{kind} `{item}`" for kind in KINDS for item in point.get(kind, [])]
            lines.append(f"| {point['id']} | {point['what']} | {', '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--check", action="store_true")
    choice.add_argument("--write", action="store_true")
    options = parser.parse_args()
    plan = yaml.safe_load(PLAN.read_text(encoding="utf-8"))
    found = list(faults(plan, known_evidence()))
    text = document(plan)
    if options.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif not DOCUMENT.exists() or DOCUMENT.read_text(encoding="utf-8") != text:
        found.append(f"{DOCUMENT.relative_to(ROOT)} is not up to date: tools/test_plan.py --write")
    for fault in found:
        print(f"test_plan: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
