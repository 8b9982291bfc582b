"""Tests of tools/nightly_cosim.py: which units it draws, and its table.

Run: python3 -m unittest discover -s tests/tools -v
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import nightly_cosim as nightly  # noqa: E402  (found through the path above)


def power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


class DrawnUnits(unittest.TestCase):
    def setUp(self):
        self.units = nightly.draw_units(32, 1, 700)

    def test_same_arguments_give_the_same_different_units(self):
        self.assertEqual(self.units, nightly.draw_units(32, 1, 700))
        self.assertNotEqual(self.units, nightly.draw_units(32, 2, 700))
        self.assertEqual(len({tuple(unit.items()) for unit in self.units}), 32)

    def test_rules_of_the_rtl_hold(self):
        for unit in self.units:
            with self.subTest(unit=unit):
                for key in set(nightly.KEYS) - {"key_buffer_tiles"}:
                    self.assertTrue(power_of_two(unit[key]), key)
                port, tile, group = unit["port_bytes"], unit["tile_keys"], unit["group_heads"]
                self.assertIn(port, (16, 32, 64, 128))
                self.assertLessEqual(max(16, port), tile)
                self.assertLessEqual(max(16, port), unit["max_head_dimension"])
                self.assertLessEqual(port, unit["key_lanes"])
                self.assertLessEqual(unit["key_lanes"], tile)
                self.assertLessEqual(port, 2 * unit["scan_lanes"] * group)
                self.assertLessEqual(unit["scan_lanes"] * group, tile)
                self.assertLessEqual(unit["weight_lanes"],
                                     min(unit["scan_lanes"], unit["key_lanes"]))
                self.assertLessEqual(unit["value_lanes"], port)
                self.assertLessEqual(unit["normalizer_lanes"],
                                     min(port // 2, unit["value_lanes"]))
                half = 512 * unit["stash_kib"]
                self.assertGreaterEqual(half, 2 * group * tile)
                self.assertGreaterEqual(half, 2 * 2 * group * unit["scan_lanes"])

    def test_every_port_and_group_is_drawn(self):
        self.assertEqual({unit["port_bytes"] for unit in self.units}, {16, 32, 64, 128})
        self.assertEqual({unit["group_heads"] for unit in self.units}, {1, 2, 4, 8})
        self.assertEqual({unit["digit_lanes"] for unit in self.units}, {1, 2, 4})

    @unittest.skipUnless("SANTA_RTL_CONFIG" in os.environ, "needs SANTA_RTL_CONFIG, the program")
    def test_descriptions_are_those_of_units_that_can_be_built(self):
        with tempfile.TemporaryDirectory() as name:
            for path in nightly.write_configs(self.units, Path(name)):
                done = subprocess.run([os.environ["SANTA_RTL_CONFIG"], path], capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path.read_text())

    def test_files_replace_older_ones(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "old.yaml").write_text("name: old\n", encoding="utf-8")
            paths = nightly.write_configs(self.units[:2], folder)
            self.assertEqual(sorted(folder.glob("*.yaml")), paths)


class Table(unittest.TestCase):
    def test_sums_and_failures(self):
        unit = nightly.draw_units(1, 1, 700)[0]
        rows = [nightly.Row("a", unit, 3, 1000, 0, 5000, 0.021),
                nightly.Row("b", unit, 1, 10, 1, 70, None, "normalizer: wrong")]
        text = nightly.table(rows)
        lines = text.splitlines()
        self.assertIn("| a |", lines[2])
        self.assertIn("| 3 | 1,000 | 0 | 5,000 | 2.1 % |", lines[2])
        self.assertIn("| 4 | 1,010 | 1 | 5,070 | 2.1 % |", lines[4])
        self.assertEqual(lines[-1], "- b: normalizer: wrong")
        self.assertEqual(len({line.count("|") for line in lines[:5]}), 1)


if __name__ == "__main__":
    unittest.main()
