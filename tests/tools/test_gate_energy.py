"""Tests of tools/gate_energy.py and what it stands on: waveforms, switching, prices, Liberty.

Run: python3 -m unittest discover -s tests/tools -v
"""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import energy_events  # noqa: E402  (found through the path above)
import gate_energy  # noqa: E402
import liberty  # noqa: E402
import switching  # noqa: E402
import wave_vectors  # noqa: E402

WAVE = """$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk_i $end
$scope module u_a $end
$var wire 1 " on $end
$var wire 4 # word [3:0] $end
$var wire 1 " alias $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
0"
b0 #
#1
1!
1"
b101 #
#2
0!
#3
b110 #
1!
#4
0!
b1 #
#5
1!
"""

LIBRARY = """library (small) {
  nom_voltage : 2.0;
  capacitive_load_unit (1, pf);
  power_lut_template (t) { variable_1 : total_output_net_capacitance;
    variable_2 : input_transition_time; }
  cell (INV) {
    area : 3;
    pin (A) { direction : input; capacitance : 0.5; }
    pin (Y) { direction : output;
      internal_power () { 
        rise_power (t) { index_1 ("0, 2"); index_2 ("0, 0.2"); values ("0, 0.2", "0.4, 0.6"); }
        fall_power (scalar) { values ("0.2"); } } }
  }
}
"""

# An inverter that drives two others: the load of y is 2 x 0.5 pF.
MODULE = {
    "netnames": {"a": {"bits": [2]}, "y": {"bits": [3]}, "z": {"bits": [4, 5]},
                 "alias": {"bits": [3]}},
    "cells": {f"u{i}": {"type": "INV", "connections": {"A": [a], "Y": [y]}}
              for i, (a, y) in enumerate(((2, 3), (3, 4), (3, 5)))}}

CHANGES = """$scope module netlist $end
$var wire 1 ! a $end
$var wire 1 " alias $end
$var wire 1 " y $end
$var wire 2 # z [1:0] $end
$enddefinitions $end
#0
x!
x"
bx #
#1
0!
1"
b0 #
#3
1!
0"
1"
#10
b11 #
0!
0"
#11
1"
"""


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text: str) -> Path:
        path = Path(self.folder.name) / "file.vcd"
        path.write_text(text)
        return path


class Waveforms(Files):
    def test_values_are_those_before_each_rising_edge(self):
        cycles = wave_vectors.read_cycles(self.file(WAVE), ["u_a.on", "u_a.word", "u_a.alias"])
        self.assertEqual([tuple(cycle.values()) for cycle in cycles],
                         [(0, 0, 0), (1, 5, 1), (1, 1, 1)])

    def test_a_missing_signal_is_named(self):
        with self.assertRaisesRegex(wave_vectors.WaveError, "u_b.on"):
            wave_vectors.read_cycles(self.file(WAVE), ["u_b.on"])


class Switching(Files):
    def setUp(self):
        super().setUp()
        self.library = liberty.load(self.file(LIBRARY))
        self.weights = switching.net_weights(MODULE, self.library)

    def test_weights_are_capacitance_and_internal_energy(self):
        # C V^2 / 2 = 1 pJ a pin. Inside, at a slope of 0.1: rise 0.1 + 0.2 x load, fall 0.2.
        self.assertEqual(switching.SLOPE_NS, 0.1)
        for net, weight in {"a": 1.0, "y": 2.25, "z[0]": 0.15, "z[1]": 0.15}.items():
            self.assertAlmostEqual(self.weights[net], weight)
        self.assertNotIn("alias", self.weights)

    def test_tables_are_read_between_and_beyond_their_points(self):
        table = self.library.cells["INV"].pins["Y"].tables[0]
        self.assertAlmostEqual(table.at(0.1, 1.0), 0.3)
        self.assertAlmostEqual(table.at(9.0, 9.0), 0.6)
        self.assertAlmostEqual(table.at(0.0, 0.0), 0.0)

    def test_energy_by_cycle_counts_glitches_apart_and_nothing_from_unknown(self):
        total, settled = switching.energy_by_cycle(self.file(CHANGES), self.weights, 10, 2)
        self.assertAlmostEqual(total[0], 1.0 + 2 * 2.25)  # y falls and rises again
        self.assertAlmostEqual(settled[0], 0.0)  # all nets were unknown before
        self.assertAlmostEqual(total[1], 1.0 + 2 * 0.15 + 2 * 2.25)
        self.assertAlmostEqual(settled[1], 1.0 + 2 * 0.15)

    def test_a_net_without_a_waveform_is_an_error(self):
        with self.assertRaises(ValueError):
            switching.energy_by_cycle(self.file(CHANGES), self.weights | {"lost": 1.0}, 10, 2)


class Prices(unittest.TestCase):
    def setUp(self):
        self.pack = yaml.safe_load(gate_energy.PACK.read_text())

    def price(self, operation: str, width: int) -> float:
        return gate_energy.price(self.pack["operations"][operation]["points"], width, "mid")

    def test_points_between_and_beyond(self):
        self.assertEqual(self.price("add_int", 32), 0.1)
        self.assertAlmostEqual(self.price("add_int", 24), 0.075)
        self.assertAlmostEqual(self.price("add_int", 64), 0.2)
        self.assertAlmostEqual(self.price("add_int", 4), 0.015)
        self.assertAlmostEqual(self.price("register_write", 32), 0.288)

    def test_estimate_has_the_share_for_clock_and_the_scale(self):
        event = energy_events.Event("sum", (), None, (("add_int", 32, 2),))
        found = gate_energy.estimate([event], {"sum": 10}, self.pack, 16.0)
        self.assertAlmostEqual(found["mid"], 10 * 2 * 0.1 * 1.25 * 16)
        self.assertAlmostEqual(found["low"], 10 * 2 * 0.07 * 16)


if __name__ == "__main__":
    unittest.main()
