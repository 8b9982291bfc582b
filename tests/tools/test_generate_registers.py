"""Tests of tools/register_map.py and tools/generate_registers.py; they need PyYAML.

Run: python3 -m unittest discover -s tests/tools -v
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import generate_registers  # noqa: E402  (found through the path above)
import register_map  # noqa: E402

SMALL = """\
registers:
  - name: ID
    offset: 0x000
    access: ro
    description: Who it is.
    fields:
      - {name: id, bits: [31, 0], reset: 0x12345678, description: constant}
  - name: STATUS_WORD
    offset: 0x010
    access: ro
    description: State.
    fields:
      - {name: busy, bits: 0, reset: unit, description: at work}
      - {name: free_slots, bits: [11, 8], reset: unit, description: room}
  - name: SET
    offset: 0x014
    access: rw
    description: Settings.
    fields:
      - {name: mode, bits: [5, 4], reset: 2, description: how}
counters:
  offset: 0x080
  names:
    - {name: busy_cycles, description: cycles at work}
    - {name: rows, description: rows read}
"""


class GenerateRegisters(unittest.TestCase):
    """The writers and the checks of the description."""

    def setUp(self) -> None:
        """A folder of its own."""
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "map.yaml"

    def run_tool(self, text: str, *arguments: str) -> tuple[int, str]:
        """The exit code and the standard error for a description."""
        self.path.write_text(text, encoding="utf-8")
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = generate_registers.main([str(self.path), *arguments])
        return code, errors.getvalue()

    def refused(self, old: str, new: str, *parts: str) -> None:
        """SMALL with `old` replaced is refused with one line that holds every part."""
        self.assertEqual(SMALL.count(old), 1, f"{old!r} must be in the description once")
        code, errors = self.run_tool(SMALL.replace(old, new))
        self.assertEqual(code, 2, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        for part in ("map.yaml", "allowed: ", *parts):
            self.assertIn(part, errors)

    def test_package(self) -> None:
        """Offsets, fields, resets and counters."""
        package = self.folder / "package.sv"
        self.assertEqual(self.run_tool(SMALL, "--package", str(package)), (0, ""))
        text = package.read_text(encoding="utf-8")
        for line in (
            "package santa_registers_pkg;",
            "  localparam logic [11:0] StatusWordOffset = 12'h010;",
            "  localparam int StatusWordFreeSlotsLsb = 8;",
            "  localparam int StatusWordFreeSlotsBits = 4;",
            "  localparam logic [31:0] StatusWordMask = 32'h00000f01;",
            "  localparam logic [31:0] IdReset = 32'h12345678;",
            "  localparam logic [31:0] SetReset = 32'h00000020;",
            "  localparam logic [11:0] CountersOffset = 12'h080;",
            "  localparam int NumCounters = 2;",
            "  localparam int CounterRows = 1;",
        ):
            self.assertIn(f"{line}\n", text)
        self.assertNotIn("StatusWordReset", text)

    def test_header(self) -> None:
        """The same in C++."""
        header = self.folder / "registers.hpp"
        self.assertEqual(self.run_tool(SMALL, "--header", str(header)), (0, ""))
        text = header.read_text(encoding="utf-8")
        for line in (
            "inline constexpr std::uint32_t kStatusWordOffset = 0x010;",
            "inline constexpr Field kStatusWordFreeSlots{8, 4};",
            '    {"SET", 0x014, Access::kReadWrite, 0x00000030, true, 0x00000020},',
            '    {"STATUS_WORD", 0x010, Access::kReadOnly, 0x00000f01, false, 0x00000000},',
            '    {"rows", 0x088},',
            "inline constexpr std::size_t kCounterRows = 1;",
        ):
            self.assertIn(f"{line}\n", text)

    def test_check_finds_a_difference(self) -> None:
        """--check compares and leaves the file alone."""
        document = self.folder / "registers.md"
        arguments = ("--document", str(document))
        self.assertEqual(self.run_tool(SMALL, *arguments), (0, ""))
        self.assertEqual(self.run_tool(SMALL, *arguments, "--check"), (0, ""))
        document.write_text("edited by hand\n", encoding="utf-8")
        self.assertEqual(self.run_tool(SMALL, *arguments, "--check")[0], 1)
        self.assertEqual(document.read_text(encoding="utf-8"), "edited by hand\n")

    def test_file_errors(self) -> None:
        """What cannot be read or written is exit code 2, one line."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(generate_registers.main([str(self.folder / "none.yaml")]), 2)
        self.assertEqual(errors.getvalue().count("\n"), 1)
        self.assertEqual(self.run_tool(SMALL, "--package", str(self.folder / "no" / "x.sv"))[0], 2)
        self.assertEqual(self.run_tool("a: [", "--check")[0], 2)
        self.assertEqual(self.run_tool("")[0], 2)
        self.assertEqual(self.run_tool("- 1\n")[0], 2)

    def test_keys(self) -> None:
        """Unknown, missing and repeated keys."""
        self.refused("    access: rw\n", "    access: rw\n    wide: 3\n", "registers[2].wide")
        self.refused("    access: rw\n", "", "registers[2].access", "missing key")
        self.refused("    access: rw\n", "    access: rw\n    access: ro\n", "given twice")
        self.refused("bits: 0, ", "", "STATUS_WORD.fields[0].bits", "missing key")
        self.refused("counters:\n", "more: 1\ncounters:\n", "more", "unknown key")
        self.refused("name: rows, ", "", "counters.names[1].name", "missing key")

    def test_names(self) -> None:
        """Names are unique and well formed."""
        self.refused("name: SET\n", "name: ID\n", "ID.name", "given twice")
        self.refused("name: SET\n", "name: set\n", "registers[2].name", "'set'")
        self.refused("name: free_slots", "name: busy", "STATUS_WORD.busy", "given twice")
        self.refused("name: rows", "name: busy_cycles", "counters.names[1].name")
        self.refused("description: how}", "description: a | b}", "SET.fields[0].description")

    def test_offsets(self) -> None:
        """Offsets are aligned, inside 4 KiB, ascending and free."""
        self.refused("offset: 0x014", "offset: 0x010", "SET.offset", "0x010", "STATUS_WORD")
        self.refused("offset: 0x014", "offset: 0x008", "SET.offset", "0x008", "in order")
        self.refused("offset: 0x014", "offset: 0x084", "SET.offset", "counter busy_cycles")
        self.refused("offset: 0x014", "offset: 0x015", "SET.offset", "multiple of 4")
        self.refused("offset: 0x014", "offset: 0x1000", "SET.offset", "0x1000")
        self.refused("offset: 0x014", "offset: yes", "SET.offset", "True")
        self.refused("offset: 0x080", "offset: 0x084", "counters.offset", "multiple of 8")
        self.refused("offset: 0x080", "offset: 0xFF8", "counters.offset", "0xff8")

    def test_fields(self) -> None:
        """Bits and reset values."""
        self.refused("bits: [11, 8]", "bits: [11, 0]", "STATUS_WORD.free_slots.bits", "no bit of")
        self.refused("bits: [11, 8]", "bits: [8, 11]", "STATUS_WORD.fields[1].bits")
        self.refused("bits: [11, 8]", "bits: [32, 8]", "STATUS_WORD.fields[1].bits", "0x20")
        self.refused("bits: [11, 8]", "bits: '11:8'", "STATUS_WORD.fields[1].bits", "'11:8'")
        self.refused("reset: 2", "reset: 4", "SET.fields[0].reset", "0x4", "0x3")
        self.refused("reset: 2", "reset: unit", "SET.mode.reset", "rw")
        self.refused("reset: 2", "reset: none", "SET.fields[0].reset", "'none'")
        self.refused("access: rw", "access: rx", "SET.access", "'rx'", "w1c")


class Description(unittest.TestCase):
    """The shipped description."""

    def test_document_is_current(self) -> None:
        """docs/registers.md is what the tool writes."""
        document = str(ROOT / "docs" / "registers.md")
        self.assertEqual(generate_registers.main(["--document", document, "--check"]), 0)

    def test_counters_have_one_order(self) -> None:
        """Counter offsets follow one another."""
        counters = register_map.read_map(generate_registers.DESCRIPTION).counters
        self.assertEqual([c.offset for c in counters], [0x80 + 8 * i for i in range(len(counters))])


if __name__ == "__main__":
    unittest.main()
