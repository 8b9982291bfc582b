#!/usr/bin/env python3
"""Verilator's warnings, all of them, on every module alone and on the unit with several parameter
sets; and each parameter that the unit cannot be built with must stop elaboration with its message.
Waivers are those in the sources, each with its reason. Exit code 1 if something is found."""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

from register_package import write_register_package

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl"
TOP = "attention_unit"

TINY = {"PortBytes": 16, "TileKeys": 16, "GroupHeads": 4, "MaxHeadDimension": 64, "KeyLanes": 16,
        "DigitLanes": 1, "WeightLanes": 4, "ScanLanes": 4, "ValueLanes": 8, "NormalizerLanes": 4,
        "KeyBufferTiles": 2, "RowBufferRows": 4, "StashKib": 4}

# Sets that reach every generate branch: one head, one lane, one word, widest port, several of all.
SETS = {
    "tiny-test": {},
    "smallest": {"GroupHeads": 1, "MaxHeadDimension": 16, "WeightLanes": 1, "ScanLanes": 8,
                 "ValueLanes": 1, "NormalizerLanes": 1, "RowBufferRows": 2, "StashKib": 1},
    "two heads, two digits": {"GroupHeads": 2, "TileKeys": 64, "KeyLanes": 32, "DigitLanes": 2,
                              "WeightLanes": 8, "ScanLanes": 32, "StashKib": 8},
    "full words": {"ValueLanes": 16, "NormalizerLanes": 8, "KeyBufferTiles": 3},
    "wide": {"PortBytes": 64, "TileKeys": 256, "GroupHeads": 8, "MaxHeadDimension": 128,
             "KeyLanes": 256, "DigitLanes": 4, "WeightLanes": 32, "ScanLanes": 32,
             "ValueLanes": 64, "NormalizerLanes": 16, "KeyBufferTiles": 4, "RowBufferRows": 64,
             "StashKib": 256},
    "widest": {"PortBytes": 128, "TileKeys": 1024, "GroupHeads": 8, "MaxHeadDimension": 256,
               "KeyLanes": 128, "DigitLanes": 4, "WeightLanes": 16, "ScanLanes": 128,
               "ValueLanes": 128, "NormalizerLanes": 64, "KeyBufferTiles": 64,
               "RowBufferRows": 256, "StashKib": 1024},
}

# Change of tiny-test, parameter that the message names; None where another error comes first.
ILLEGAL = [
    ({"PortBytes": 8}, "PortBytes"),
    ({"PortBytes": 24}, "PortBytes"),
    ({"PortBytes": 256, "MaxHeadDimension": 256, "TileKeys": 256, "KeyLanes": 256,
      "ScanLanes": 32}, "PortBytes"),
    ({"TileKeys": 8}, "TileKeys"),
    ({"TileKeys": 24}, "TileKeys"),
    ({"TileKeys": 2048, "StashKib": 64}, "TileKeys"),
    ({"GroupHeads": 3}, "GroupHeads"),
    ({"GroupHeads": 16, "ScanLanes": 1, "WeightLanes": 1}, "GroupHeads"),
    ({"MaxHeadDimension": 8}, "MaxHeadDimension"),
    ({"MaxHeadDimension": 48}, "MaxHeadDimension"),
    ({"MaxHeadDimension": 512}, "MaxHeadDimension"),
    ({"MaxHeadDimension": 16, "PortBytes": 32, "TileKeys": 32, "KeyLanes": 32},
     "MaxHeadDimension"),
    ({"KeyLanes": 8}, "KeyLanes"),
    ({"KeyLanes": 32}, "KeyLanes"),
    ({"TileKeys": 64, "KeyLanes": 48}, "KeyLanes"),
    ({"DigitLanes": 0}, None),
    ({"DigitLanes": 3}, "DigitLanes"),
    ({"DigitLanes": 8}, "DigitLanes"),
    ({"WeightLanes": 0}, None),
    ({"WeightLanes": 3}, "WeightLanes"),
    ({"WeightLanes": 8}, "WeightLanes"),
    ({"ScanLanes": 8}, "ScanLanes"),
    ({"ScanLanes": 3, "WeightLanes": 2}, "ScanLanes"),
    ({"ScanLanes": 1, "WeightLanes": 1}, "ScanLanes"),
    ({"ValueLanes": 0}, None),
    ({"ValueLanes": 12}, "ValueLanes"),
    ({"ValueLanes": 32}, "ValueLanes"),
    ({"NormalizerLanes": 0}, "NormalizerLanes"),
    ({"NormalizerLanes": 3}, "NormalizerLanes"),
    ({"NormalizerLanes": 16, "ValueLanes": 16}, "NormalizerLanes"),
    ({"NormalizerLanes": 4, "ValueLanes": 2}, "NormalizerLanes"),
    ({"KeyBufferTiles": 1}, "KeyBufferTiles"),
    ({"KeyBufferTiles": 65}, "KeyBufferTiles"),
    ({"RowBufferRows": 1}, "RowBufferRows"),
    ({"RowBufferRows": 6}, "RowBufferRows"),
    ({"RowBufferRows": 512}, "RowBufferRows"),
    ({"StashKib": 3}, "StashKib"),
    ({"StashKib": 1, "TileKeys": 256, "KeyLanes": 16}, "StashKib"),
]


def verilator(package, top, parameters):
    sources = [RTL / "santa_pkg.sv", package]
    path = next(folder / f"{top}.sv" for folder in (RTL, RTL / "dv")
                if (folder / f"{top}.sv").exists())
    command = ["verilator", "--lint-only", "-Wall", "--assert", "-y", RTL, "-y", RTL / "dv",
               "--top-module", top, *(f"-G{key}={value}" for key, value in parameters.items()),
               *sources, path]
    done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def check_clean(package, name, top, parameters):
    code, text = verilator(package, top, parameters)
    return None if code == 0 and not text.strip() else f"{name}:\n{text.strip()}"


def check_refused(package, change, parameter):
    code, text = verilator(package, TOP, TINY | change)
    if code == 0:
        return f"{change}: elaborates"
    if parameter is None or f"{parameter} must be" in text:
        return None
    return f"{change}: no message about {parameter}:\n{text.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=("modules", "sets", "illegal"))
    options = parser.parse_args()
    modules = sorted(path.stem for folder in (RTL, RTL / "dv") for path in folder.glob("*.sv")
                     if not path.stem.endswith("_pkg"))
    with tempfile.TemporaryDirectory(prefix="lint-rtl-") as folder:
        package = pathlib.Path(folder) / "santa_registers_pkg.sv"
        write_register_package(package)
        tasks = []
        if options.only in (None, "modules"):
            tasks += [(check_clean, name, name, {}) for name in modules]
        if options.only in (None, "sets"):
            tasks += [(check_clean, f"{TOP} {name}", TOP, TINY | change)
                      for name, change in SETS.items()]
        if options.only in (None, "illegal"):
            tasks += [(check_refused, change, parameter) for change, parameter in ILLEGAL]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = [text for text in pool.map(lambda task: task[0](package, *task[1:]), tasks)
                     if text]
    for text in found:
        print(text)
    print(f"lint-rtl: {len(tasks)} runs, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
