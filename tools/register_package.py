"""The generated package santa_registers_pkg.sv, for the tools that read the RTL."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write_register_package(path):
    """Writes the package to `path`; its folder must exist."""
    subprocess.run([sys.executable, ROOT / "tools" / "generate_registers.py",
                    ROOT / "rtl" / "registers.yaml", "--package", path],
                   check=True, stdout=subprocess.DEVNULL)
