#!/usr/bin/env python3
"""Writes what the register map, rtl/registers.yaml, is turned into.

  tools/generate_registers.py --package OUT.sv --header OUT.hpp     for the build
  tools/generate_registers.py --document docs/registers.md          the documentation
  tools/generate_registers.py --document docs/registers.md --check  exit code 1 if it differs

Exit codes: 0 done, 1 --check found a difference, 2 bad description or file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

try:
    from register_map import FROM_UNIT, MapError, Register, RegisterMap, read_map
except ImportError as missing:
    if __name__ != "__main__":
        raise
    print(f"generate_registers.py: error: {missing.name} is not installed", file=sys.stderr)
    sys.exit(2)

EXIT_DIFFERS = 1
EXIT_BAD_INPUT = 2
DESCRIPTION = Path(__file__).resolve().parent.parent / "rtl" / "registers.yaml"
ACCESS_NAMES = {
    "ro": "read only",
    "rw": "read and write",
    "wo": "write only",
    "w1c": "read, write 1 to clear",
}
ENUMERATORS = {"ro": "kReadOnly", "rw": "kReadWrite", "wo": "kWriteOnly", "w1c": "kWriteOneToClear"}


def camel(name: str) -> str:
    """SUBMIT_LO and submit_lo as SubmitLo."""
    return "".join(part.capitalize() for part in name.split("_"))


def package_text(registers: RegisterMap) -> str:
    """The SystemVerilog package."""
    lines = [
        "// Offsets, fields and counters of the register map.",
        "// Written by tools/generate_registers.py from rtl/registers.yaml.",
        "",
        "// A block uses some of it only.",
        "/* verilator lint_off UNUSEDPARAM */",
        "package santa_registers_pkg;",
    ]
    for register in registers.registers:
        prefix = camel(register.name)
        lines += ["", f"  // {register.name}: {ACCESS_NAMES[register.access]}"]
        lines.append(f"  localparam logic [11:0] {prefix}Offset = 12'h{register.offset:03x};")
        lines.append(f"  localparam logic [31:0] {prefix}Mask = 32'h{register.mask:08x};")
        if register.reset is not None:
            lines.append(f"  localparam logic [31:0] {prefix}Reset = 32'h{register.reset:08x};")
        for field in register.fields:
            lines.append(f"  localparam int {prefix}{camel(field.name)}Lsb = {field.low};")
            lines.append(f"  localparam int {prefix}{camel(field.name)}Bits = {field.bits};")
    lines += ["", "  // 64-bit counters: LO, HI, LO, HI, ..."]
    lines.append(f"  localparam logic [11:0] CountersOffset = 12'h{registers.counters_offset:03x};")
    lines.append(f"  localparam int NumCounters = {len(registers.counters)};")
    for index, counter in enumerate(registers.counters):
        lines.append(f"  localparam int Counter{camel(counter.name)} = {index};")
    return "\n".join([*lines, "endpackage", "/* verilator lint_on UNUSEDPARAM */", ""])


def register_row(register: Register) -> str:
    """One entry of the C++ table of registers."""
    access = ENUMERATORS[register.access]
    has_reset = "false" if register.reset is None else "true"
    return (
        f'    {{"{register.name}", 0x{register.offset:03x}, Access::{access}, '
        f"0x{register.mask:08x}, {has_reset}, 0x{register.reset or 0:08x}}},"
    )


HEADER_TYPES = """\
enum class Access { kReadOnly, kReadWrite, kWriteOnly, kWriteOneToClear };

// Bits lsb .. lsb + bits - 1 of a register.
struct Field {
  std::uint32_t lsb;
  std::uint32_t bits;

  constexpr std::uint32_t mask() const {
    return (bits == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1) << lsb;
  }
  constexpr std::uint32_t of(std::uint32_t word) const { return (word & mask()) >> lsb; }
  constexpr std::uint32_t word(std::uint32_t value) const { return (value << lsb) & mask(); }
};

struct Register {
  std::string_view name;
  std::uint32_t offset;
  Access access;
  std::uint32_t mask;  // bits of all fields
  bool has_reset;      // false: the value comes from the unit
  std::uint32_t reset;
};

struct CounterRegister {
  std::string_view name;
  std::uint32_t offset;  // of LO; HI follows
};
"""


def header_text(registers: RegisterMap) -> str:
    """The C++ header."""
    lines = [
        "// Offsets, fields and counters of the register map.",
        "// Written by tools/generate_registers.py from rtl/registers.yaml.",
        "#pragma once",
        "",
        "#include <cstddef>",
        "#include <cstdint>",
        "#include <string_view>",
        "",
        "namespace santa::rtl::registers {",
        "",
        HEADER_TYPES,
    ]
    for register in registers.registers:
        prefix = "k" + camel(register.name)
        lines.append(f"// {register.name}, {ACCESS_NAMES[register.access]}.")
        lines.append(f"inline constexpr std::uint32_t {prefix}Offset = 0x{register.offset:03x};")
        if register.reset is not None:
            lines.append(f"inline constexpr std::uint32_t {prefix}Reset = 0x{register.reset:08x};")
        for field in register.fields:
            name = prefix + camel(field.name)
            lines.append(f"inline constexpr Field {name}{{{field.low}, {field.bits}}};")
        lines.append("")
    lines.append("inline constexpr Register kRegisters[] = {")
    lines += [register_row(register) for register in registers.registers]
    lines += ["};", "", "// Index of each counter in kCounters and in counter_event_i."]
    lines.append(f"inline constexpr std::size_t kNumCounters = {len(registers.counters)};")
    for index, counter in enumerate(registers.counters):
        lines.append(f"inline constexpr std::size_t kCounter{camel(counter.name)} = {index};")
    lines += ["", "inline constexpr CounterRegister kCounters[kNumCounters] = {"]
    for counter in registers.counters:
        lines.append(f'    {{"{counter.name}", 0x{counter.offset:03x}}},')
    return "\n".join([*lines, "};", "", "}  // namespace santa::rtl::registers", ""])


DOCUMENT_HEAD = """\
# Registers

Written by `tools/generate_registers.py --document docs/registers.md` from `rtl/registers.yaml`; a
test compares them. How to use the registers: [rtl.md](rtl.md#programming-sequence).

All registers are 32 bits wide and little endian; bits 1:0 of an address are ignored. Bits without a
field read 0 and ignore writes. A write changes only the bytes whose strobe is set; a command (write
only) takes effect if any strobe is set, its other bytes count as 0. Reading a write-only register,
writing a read-only one and every other address is answered with SLVERR; a refused read returns 0.

`unit` as reset value: the value comes from the unit, a parameter or its state.
"""


def document_text(registers: RegisterMap) -> str:
    """The Markdown page."""
    lines = [DOCUMENT_HEAD, "| offset | register | access | |", "|---|---|---|---|"]
    for register in registers.registers:
        lines.append(
            f"| 0x{register.offset:03X} | [`{register.name}`](#{register.name.lower()}) "
            f"| {ACCESS_NAMES[register.access]} | {register.description} |"
        )
    lines.append(
        f"| 0x{registers.counters_offset:03X} | [counters](#counters) | read only "
        f"| {len(registers.counters)} counters of 64 bits |"
    )
    for register in registers.registers:
        lines += ["", f"## {register.name}", ""]
        access = ACCESS_NAMES[register.access]
        lines += [f"Offset 0x{register.offset:03X}, {access}. {register.description}", ""]
        lines += ["| bits | field | reset | |", "|---|---|---|---|"]
        for field in register.fields:
            bits = f"{field.high}:{field.low}" if field.bits > 1 else f"{field.low}"
            reset = FROM_UNIT if field.reset is None else f"0x{field.reset:X}"
            lines.append(f"| {bits} | `{field.name}` | {reset} | {field.description} |")
    lines += [
        "",
        "## Counters",
        "",
        "64 bits each, 0 after reset and after a write to `COUNTER_CLEAR`. Reading the lower half",
        "keeps the upper half as it is in that cycle; the upper half reads as what was kept last, so",
        "read LO, then HI of the same counter.",
        "",
        "| LO | HI | counter | |",
        "|---|---|---|---|",
    ]
    for counter in registers.counters:
        lines.append(
            f"| 0x{counter.offset:03X} | 0x{counter.offset + 4:03X} | `{counter.name}` "
            f"| {counter.description} |"
        )
    return "\n".join([*lines, ""])


def put(path: Path, text: str, check: bool) -> int:
    """Writes a file, or compares it."""
    if not check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == text:
        return 0
    print(f"generate_registers.py: {path} differs from the description; write it again",
          file=sys.stderr)
    return EXIT_DIFFERS


def main(arguments: list[str]) -> int:
    """Runs the program; returns its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("description", nargs="?", type=Path, default=DESCRIPTION)
    parser.add_argument("--package", type=Path, help="SystemVerilog package to write")
    parser.add_argument("--header", type=Path, help="C++ header to write")
    parser.add_argument("--document", type=Path, help="Markdown page to write")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    try:
        registers = read_map(options.description)
        code = 0
        for path, text in (
            (options.package, package_text),
            (options.header, header_text),
            (options.document, document_text),
        ):
            if path is not None:
                code = max(code, put(path, text(registers), options.check))
    except (MapError, OSError, UnicodeDecodeError) as error:
        print(f"generate_registers.py: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
