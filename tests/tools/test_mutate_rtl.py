"""Tests of tools/mutate_rtl.py and of the proofs that a mutant is none, on a circuit of a few gates.

Run: python3 -m unittest discover -s tests/tools -v
"""

from __future__ import annotations

import contextlib
import io
import itertools
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutant_proof  # noqa: E402  (found through the path above)
import mutant_unit  # noqa: E402
import mutate_rtl  # noqa: E402
from and_graph import FALSE, TRUE, AndGraph  # noqa: E402

# Each m_* is a mutant: what it adds is 0 in the unit.
UNIT = """
module unit(input clk_i, input rst_ni, input go, input [3:0] data, output [3:0] y, output z,
            input m_gates, m_range, m_unseen, m_memory_off, m_seen, m_late, m_reset, m_write, m_tie,
            m_sum);
  reg [2:0] count;  // 0 to 4
  always @(posedge clk_i)
    if (!rst_ni) count <= 0;
    else if (go) count <= (count == 4) ? 0 : count + 1;
  reg [3:0] held, shown;
  always @(posedge clk_i) shown <= data ^ {4{(m_range & count[2] & count[1])}};
  always @(posedge clk_i) held <= m_unseen ? ~data : data;
  reg once;
  always @(posedge clk_i) if (!rst_ni & !m_reset) once <= 0; else once <= once | (count == 3);
  reg [3:0] memory [0:3];
  reg [3:0] word;
  always @(posedge clk_i) begin
    if (go | m_write) memory[data[1:0]] <= data ^ {4{m_memory_off & !go}};
    word <= memory[data[3:2]];
  end
  wire floating;  // no driver
  reg [1:0] delay;
  always @(posedge clk_i) delay <= {delay[0], go ^ m_late};
  assign y = ((count == 7) ? held : shown) ^ {3'b0, m_gates & data[0] & !data[0]}
           ^ {3'b0, m_seen & (count == 4)}
           ^ {3'b0, m_sum & ((data[1:0] + 2'd1) > {1'b0, data[1:0]} + 3'd1)};
  assign z = once ^ word[0] ^ delay[1] ^ (m_tie & data[0])
           ^ (floating & go);
endmodule
"""
NONE = ("m_range", "m_unseen", "m_memory_off", "m_gates", "m_sum")
MUTANTS = ("m_seen", "m_late", "m_reset", "m_write", "m_tie")


class Graphs(unittest.TestCase):
    def test_gates_compute_what_they_are_named_for(self):
        graph = AndGraph()
        a, b, c = graph.variable(), graph.variable(), graph.variable()
        gates = [graph.and_(a, b ^ 1), graph.or_(a, b, c), graph.xor(a, b), graph.mux(a, b, c)]
        for x, y, w in itertools.product((0, 1), repeat=3):
            given = {a >> 1: x, b >> 1: y, c >> 1: w}
            self.assertEqual(graph.values(gates, given),
                             [x & (1 - y), x | y | w, x ^ y, y if x else w])
        self.assertEqual((graph.and_(a, a ^ 1), graph.or_(a, a ^ 1)), (FALSE, TRUE))


@unittest.skipUnless(shutil.which("yosys") and shutil.which("yosys-abc"), "yosys is not installed")
class Proofs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = Path(cls.folder.name)
        (path / "unit.v").write_text(UNIT)
        script = ("read_verilog unit.v; prep -top unit; memory_collect; techmap t:$mem_v2 %n; "
                  "simplemap; dfflegalize -cell $_DFF_P_ x; opt_clean; "
                  "write_json unit.json")
        subprocess.run(["yosys", "-q", "-p", script], cwd=path, check=True)
        cls.netlist = mutant_proof.Netlist(path / "unit.json", NONE + MUTANTS)
        cls.prover = mutant_proof.Prover(cls.netlist, 10)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_what_no_input_can_tell_is_proved(self):
        for name in NONE:
            with self.subTest(name):
                self.assertIsNotNone(self.prover.prove(name).kind)

    def test_a_mutant_is_never_proved(self):
        for name in MUTANTS:
            with self.subTest(name):
                self.assertIsNone(self.prover.prove(name).kind)

    def test_workers_prove_the_same(self):
        with mutant_proof.Pool(self.netlist, 10, 2) as pool:
            kinds = [pool.prove(name).kind for name in ("m_range", "m_seen")]
        self.assertEqual([kind is None for kind in kinds], [False, True])

    def test_reset_is_followed(self):
        begin = self.prover.begin
        self.assertIn(0, begin.values())
        self.assertIn(None, begin.values())  # of the memory's word
        without = self.netlist.changed(self.prover.reset, {self.netlist.controls["m_reset"]: 1},
                                       mutant_proof.KNOWN)
        self.assertNotEqual(begin, {flop: without[data] for flop, data in self.netlist.flops.items()})


class Lists(unittest.TestCase):
    LINE = ("mutate -ctrl santa_mutant 16 {} -mode inv -module lfsr -cell $auto$ff.cc:266:slice$1 "
            "-port {} -portbit 0 -src lfsr.sv:20.5-24.8\n")

    def test_clocks_are_left_out_and_numbers_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list.ys"
            ports = ["D", "C", "Q", "WR_CLK", "clk_i", "E"]
            path.write_text("".join(self.LINE.format(i, p) for i, p in enumerate(ports, 1)))
            mutants = mutant_unit.read_mutants(path)
        self.assertEqual([mutant.number for mutant in mutants], [1, 3, 6])
        self.assertNotIn("-ctrl", mutants[0].line)
        self.assertTrue(mutant_unit.describe(mutants[0].line).startswith("lfsr.sv:20: inv D[0]"))


class FakeVerdicts:
    """Stages with known ends."""

    def __init__(self, ends):
        self.ends, self.known = ends, {}

    def recall(self, mutants):
        pass

    def stage(self, mutant, name, decide):
        if name.startswith("proof") and mutant.number in self.ends["proved"]:
            return "equivalent", "gates"
        if name.startswith("proof"):
            return "unproved", ""
        killed = name.startswith("scenario ") and mutant.number in self.ends["short"]
        killed = killed or mutant.number in self.ends["whole"] and name.startswith("scenarios")
        killed = killed or mutant.number in self.ends.get("long", ()) and name == "long contexts"
        return ("killed", "") if killed else ("survived", "")


def inverted(count):
    return [mutant_unit.Mutant(n, f"-mode inv -port D -portbit {n}") for n in range(1, count + 1)]


class Judging(unittest.TestCase):
    def judge(self, ends, wanted, total=20):
        options = type("Options", (), {"jobs": 1, "seeds": 10, "proof_seconds": 1, "verbose": False,
                                       "config": "tiny-test"})()
        mutants = inverted(total)
        judge = mutate_rtl.Judge(options, FakeVerdicts(ends), None, [])
        mutant_unit.read_netlist = lambda *_: None
        return (*judge.run(mutants, wanted), options)

    def test_proved_ones_are_replaced_and_survivors_count(self):
        ends = {"short": {1, 2, 5, 6, 7, 8, 9, 10, 11, 12}, "proved": {3}, "whole": set()}
        counted, equivalent, options = self.judge(ends, 10)
        self.assertEqual([m.number for m in counted], [1, 2, 4, 5, 6, 7, 8, 9, 10, 11])
        self.assertEqual([m.number for m in equivalent], [3])
        text, _, score = mutate_rtl.report(options, counted, equivalent)
        self.assertEqual(score, 90.0)
        self.assertIn("| all | 10 | 9 (90.0 %) | 1 |", text)

    def test_all_scenarios_follow_the_short_ones(self):
        ends = {"short": {1, 2}, "proved": set(), "whole": {3}}
        counted, _, _ = self.judge(ends, 4, total=4)
        self.assertEqual([m.verdict for m in counted], ["killed", "killed", "killed", "survived"])

    def test_long_contexts_are_for_those_without_a_proof(self):
        ends = {"short": {1}, "proved": {2}, "whole": set(), "long": {2, 3}}
        counted, equivalent, _ = self.judge(ends, 3, total=4)
        self.assertEqual([m.verdict for m in counted], ["killed", "killed", "survived"])
        self.assertEqual([m.number for m in equivalent], [2])

    def test_survivors_are_tried_again_and_ends_are_kept(self):
        mutants = inverted(3)
        with tempfile.TemporaryDirectory() as folder:
            verdicts = mutate_rtl.Verdicts(Path(folder), "unit")
            verdicts.stage(mutants[0], "scenario 4", lambda: ("survived", ""))
            verdicts.stage(mutants[1], "scenario 4", lambda: ("killed", "difference"))
            verdicts.stage(mutants[2], "proof 60 s", lambda: ("equivalent", "gates"))
            again = mutate_rtl.Verdicts(Path(folder), "unit", retry=True)
        self.assertNotIn((mutants[0].line, "scenario 4"), again.known)
        again.recall(mutants)
        self.assertEqual([m.verdict for m in mutants], ["", "killed", "equivalent"])

    def test_a_proof_of_a_killed_mutant_ends_the_run(self):
        ends = {"short": {1, 2, 3}, "proved": {1}, "whole": set()}
        with self.assertRaises(SystemExit):
            self.judge(ends, 3, total=3)

    def test_an_unfinished_run_has_no_score(self):
        mutants = inverted(5)
        with tempfile.TemporaryDirectory() as folder:
            verdicts = mutate_rtl.Verdicts(Path(folder), "unit")
            verdicts.stage(mutants[0], "scenario 4", lambda: ("killed", "difference"))
            verdicts.stage(mutants[1], "scenario 4", lambda: ("survived", ""))
            verdicts.stage(mutants[2], "long contexts", lambda: ("survived", ""))
            verdicts.stage(mutants[3], "scenarios to 10", lambda: ("survived", ""))
            verdicts.stage(mutants[3], "proof 60 s", lambda: ("equivalent", "gates"))
            again = mutate_rtl.Verdicts(Path(folder), "unit")
            again.so_far(mutants)
            other = mutate_rtl.Verdicts(Path(folder), "another unit")
        self.assertEqual([m.verdict for m in mutants],
                         ["killed", "", "survived", "equivalent", ""])
        self.assertEqual(other.known, {})
        options = type("Options", (), {"config": "tiny-test", "seeds": 10})()
        text, _, _ = mutate_rtl.report(options, mutants[:3] + mutants[4:], mutants[3:4], whole=False)
        self.assertIn("2 of 4 mutants have no verdict", text)
        self.assertIn("between 25.0 and 75.0 %", text)
        self.assertIn("Without a verdict:\n\n- 2: inv D[2]", text)
        self.assertNotIn("%)", text)

    def test_what_is_killed_so_far_is_held_against_the_bound(self):
        options = type("Options", (), {"config": "tiny-test", "seeds": 10, "mutants": 4, "bound": 75,
                                       "markdown": None})()
        class Known:
            def so_far(self, mutants):
                for mutant, verdict in zip(mutants, ("killed", "equivalent", "killed", "killed", "")):
                    mutant.verdict = verdict
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(mutate_rtl.report_so_far(options, Known(), inverted(5)), 0)
            options.bound = 76
            self.assertEqual(mutate_rtl.report_so_far(options, Known(), inverted(5)), 1)


if __name__ == "__main__":
    unittest.main()
