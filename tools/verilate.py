#!/usr/bin/env python3
"""Runs Verilator and gathers the C++ files it writes into a fixed number of sources.

  tools/verilate.py --verilator PATH --prefix Vunit --directory OUT --parts N -- VERILATOR_ARGUMENTS

The names of Verilator's files depend on the design; a build needs to know what it compiles. So
OUT/Vunit_fast0.cpp to OUT/Vunit_fast<N-1>.cpp include those that run every cycle, Vunit_slow*.cpp
the rest, in parts of about equal size.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def write_parts(files: list[Path], stem: str, parts: int) -> None:
    """Writes the parts: the largest file goes to the smallest part so far."""
    shares: list[list[str]] = [[] for _ in range(parts)]
    sizes = [0] * parts
    for path in sorted(files, key=lambda file: (-file.stat().st_size, file.name)):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(f'#include "{path.name}"\n')
        sizes[smallest] += path.stat().st_size
    for index, share in enumerate(shares):
        Path(f"{stem}{index}.cpp").write_text("".join(sorted(share)), encoding="utf-8")


def main() -> int:
    """Runs the program; returns Verilator's exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verilator", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--directory", required=True, type=Path)
    parser.add_argument("--parts", required=True, type=int)
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    # Files of an earlier design must not stay behind.
    for old in options.directory.glob(f"{options.prefix}*"):
        old.unlink()
    command = [options.verilator, "--prefix", options.prefix, "--Mdir", str(options.directory)]
    code = subprocess.run([*command, *options.arguments], check=False).returncode
    if code == 0:
        files = list(options.directory.glob(f"{options.prefix}*.cpp"))
        stem = f"{options.directory / options.prefix}"
        slow = [path for path in files if path.stem.endswith(("__Slow", "__Syms"))]
        write_parts([path for path in files if path not in slow], f"{stem}_fast", options.parts)
        write_parts(slow, f"{stem}_slow", options.parts)
    return code


if __name__ == "__main__":
    sys.exit(main())
