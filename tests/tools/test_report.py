"""`santasim report` of runs: the page in a browser without a window, its figures and its numbers."""

import copy
import json
import math
import re
import shutil
import statistics
import unittest

from report_pages import SMALL, Page, Pages, run

SECTIONS = ["energy-parts", "latency-phases", "roofline", "gather-knee", "pareto", "power",
            "sensitivity", "seeds", "runs"]
SWEEP = """
name: spread & <cost>
fixed: {config: tiny-test, synthetic: gaussian, query-heads: 2, kv-heads: 1, head-dimension: 8,
        context: 64}
grid: {samples: [3, 8, 32], seed: [1, 2, 3, 4]}
"""


def set_time(report, ns):
    """Another latency, with the numbers that follow from it."""
    clock_mhz = report["configuration"]["clock_mhz"]
    for unit in (report, *report.get("baselines", {}).values()):
        unit["latency"] = {"cycles": math.ceil(ns * clock_mhz / 1000 - 1e-9), "ns": ns}
        for name, total in unit["energy"]["total_pj"].items():
            unit["energy"]["average_power_mw"][name] = total / ns
        for block in unit["blocks"].values():
            block["busy_cycles"] = min(block["busy_cycles"], unit["latency"]["cycles"])


class Report(Pages):
    SECTIONS = SECTIONS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.result = cls.path / "result.json"
        done = run("run", *SMALL, "--json", cls.result)
        assert done.returncode == 0, done.stderr
        (cls.path / "sweep.yaml").write_text(SWEEP)
        done = run("sweep", cls.path / "sweep.yaml", "--out", cls.path / "sweep")
        assert done.returncode == 2, done.stderr  # samples: 3 is refused

    def test_every_figure_of_one_run(self):
        page = self.open(self.make(self.result))
        self.check_drawn(page, ["gather-knee", "seeds"])
        report = json.loads(self.result.read_text())
        rows = page.sections["energy-parts"]["rows"]
        self.assertEqual(rows[0][1:], ["sys S=256", "dense int8", "dense fp16", "top-k k=256"])
        units = [report, *(report["baselines"][name] for name in ("dense", "dense_fp16", "topk"))]
        for cell, unit in zip(rows[-1][1:], units):
            self.assertAlmostEqual(float(cell) / unit["energy"]["total_pj"]["mid"], 1, delta=1e-3)

    def test_flips_are_where_two_units_cost_the_same(self):
        page = self.open(self.make(self.result))
        report = json.loads(self.result.read_text())
        price = {}
        for line in page.sections["sensitivity"]["rows"][1:]:
            price[(line[0], line[1])] = line[3]

        def cost(unit, pj_per_bit):
            lines = unit["energy"]["operations"]
            per_bit = ("dram_read", "dram_write", "dram_io")
            # Counts of bytes that are read and written: each crosses the interface once.
            moved = 8 * sum(line["count"] for line in lines
                            if line["part"] in ("dram_read", "dram_write"))
            rest = sum(line["total_pj"] for line in lines if line["part"] not in per_bit)
            rest += sum(line["total_pj"] for line in unit["energy"]["static"])
            return rest + moved * pj_per_bit

        flips = 0
        for name, label in (("dense", "dense int8"), ("dense_fp16", "dense fp16"),
                            ("topk", "top-k k=256")):
            flip = price[("DRAM, pJ a bit", label)]
            own, other = report, report["baselines"][name]
            if flip:
                flips += 1
                self.assertAlmostEqual(cost(own, float(flip)) / cost(other, float(flip)), 1,
                                       delta=2e-3)
            else:
                for pj_per_bit in (0, 1e9):
                    self.assertEqual(cost(own, pj_per_bit) < cost(other, pj_per_bit),
                                     cost(own, 5) < cost(other, 5))
        self.assertGreater(flips, 0)

    def test_sweep_with_seeds_and_failed_points(self):
        page = self.open(self.make(self.path / "sweep"))
        self.check_drawn(page, ["gather-knee"])
        self.assertIn("4 points failed", page.sections["runs"]["text"])
        points = [json.loads(line) for line in
                  (self.path / "sweep/results.jsonl").read_text().splitlines()]
        rows = page.sections["seeds"]["rows"][1:]
        self.assertEqual(len(rows), 2)
        for row, samples in zip(rows, ("8", "32")):
            errors = [p["result"]["accuracy"]["relative_l2"] for p in points
                      if p["settings"]["samples"] == samples]
            self.assertEqual(row[3], "4")
            self.assertAlmostEqual(float(row[4]), statistics.mean(errors), delta=1e-4)
            self.assertAlmostEqual(float(row[5]), statistics.stdev(errors), delta=1e-4)
        # Eight sampled points, and baselines once each: two top-k, two dense.
        self.assertEqual(len(page.sections["pareto"]["rows"]) - 1, 8 + 2 + 2)

    def test_gather_knee_of_the_dram_model(self):
        report = json.loads(self.result.read_text())
        files = []
        for timing, knee in (("hbm2", 64), ("ddr4-3200", 128)):
            for row in (16, 32, 64, 128, 256):
                point = copy.deepcopy(report)
                point["configuration"]["memory"].update(model="dram", timing=timing)
                point["provenance"]["configuration_hash"] = timing
                point["input"]["head_dimension"] = row
                point["samples"]["row_reads"] = 1000
                set_time(point, 1000 * max(row, knee) / 40)
                for stream in point["traffic"]:
                    point["traffic"][stream] = 0
                point["traffic"]["value_bytes"] = point["traffic"]["total_bytes"] = 1000 * row
                files.append(self.path / f"{timing}-{row}.json")
                files[-1].write_text(json.dumps(point))
        page = self.open(self.make(*files))
        self.check_drawn(page, ["seeds"])
        section = page.sections["gather-knee"]
        self.assertIn("ddr4-3200 128 bytes, hbm2 64 bytes", section["text"])
        self.assertEqual(len(section["rows"]), 11)
        # 1,000 rows of 16 bytes in the time of 64 bytes each, of two channels of 25.6 GB/s.
        row = next(row for row in section["rows"] if row[:2] == ["hbm2", "16"])
        self.assertAlmostEqual(float(row[3]), 40 * 16 / 64, delta=1e-3)
        self.assertAlmostEqual(float(row[2]), 40 * 16 / 64 / 51.2, delta=1e-3)

    def test_rows_of_narrow_values_have_their_own_bytes(self):
        result = self.path / "narrow.json"
        done = run("run", *SMALL, "--no-baselines", "--samples", "4096", "--json", result,
                   *(word for setting in ("memory.model=dram", "memory.channels=1",
                                          "unit.merge_rows=none", "system.value_bits=4")
                     for word in ("--set", setting)))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(result.read_text())
        row = self.open(self.make(result)).sections["gather-knee"]["rows"][1]
        self.assertEqual(row[:2], ["ddr4-3200", "16"])  # 32 features of 4 bits
        speed = report["samples"]["row_reads"] * 16 / report["latency"]["ns"]
        self.assertAlmostEqual(float(row[3]) / speed, 1, delta=1e-3)

    def test_narrow_page_fits_another_run_is_chosen_and_a_table_is_copied(self):
        body = self.open_narrow(self.make(self.path / "sweep"), 5, "energy-parts")
        self.assertTrue(body["data-chosen"].startswith("sys S=32 "), body["data-chosen"])

    def test_page_needs_nothing_but_itself(self):
        text = self.make(self.result).read_text()
        own = re.sub(r"<script>.*?</script>", "", text, count=1, flags=re.DOTALL)  # plotly.js
        self.assertNotRegex(own, r"https?://")
        self.assertEqual([link for link in Page(own).links if not link.startswith("#")], [])
        self.assertEqual(self.make(self.result).read_text(), text)

    def test_sweep_that_is_not_whole_is_refused(self):
        page = self.path / "refused.html"
        damaged = self.path / "damaged"
        shutil.copytree(self.path / "sweep", damaged)
        table, manifest = damaged / "results.jsonl", damaged / "sweep.json"
        lines = table.read_text().splitlines(keepends=True)

        def refused(parts, content):
            table.write_text("".join(content))
            self.refused(parts, damaged, "-o", page)
            table.write_text("".join(lines))

        refused(["results.jsonl: has 11 lines", "allowed: 12"], lines[:-1])
        refused(["results.jsonl: has 0 lines", "allowed: 12"], [])
        refused(["results.jsonl:3: index: is no line", "allowed: 2"], lines[:2] + lines[3:])
        refused(["results.jsonl:13: index"], [*lines, lines[-1]])
        refused(["results.jsonl:12: is no line of this sweep"], [*lines[:-1], lines[-1][:50]])
        refused(["has other keys and settings"],
                [lines[0].replace('"seed":"1"', '"seed":"2"'), *lines[1:]])
        refused(["results.jsonl:5: status", "done, failed"],
                [*lines[:4], lines[4].replace('"done"', '"gone"'), *lines[5:]])
        text = manifest.read_text()
        for bad, part in (("{", "name"), (text.replace('"points"', '"point"'), "points")):
            manifest.write_text(bad)
            self.refused([f"sweep.json: {part}: is missing or damaged"], damaged, "-o", page)
        manifest.write_text(text)
        point = damaged / "points" / (json.loads(lines[4])["key"] + ".json")
        good = point.read_text()
        for bad in ("", good.replace('"cycles": ', '"cycles": 1')):
            point.write_text(bad)
            self.refused([point.name, "is not the result that was written"], damaged, "-o", page)
        point.unlink()
        self.refused([point.name, "is missing"], damaged, "-o", page)
        point.write_text(good)
        self.make(damaged)

    def test_bad_input_is_refused(self):
        page = self.path / "refused.html"
        text = self.path / "text.json"
        text.write_text("{}")
        empty = self.path / "empty"
        empty.mkdir(exist_ok=True)
        self.refused(["text.json", "is no result of a run"], text, "-o", page)
        self.refused(["none.json", "cannot be read"], self.path / "none.json", "-o", page)
        self.refused(["empty", "has no results.jsonl"], empty, "-o", page)
        (self.path / "bad").mkdir(exist_ok=True)
        (self.path / "bad/results.jsonl").write_text('{"key": "x"}\n')
        self.refused(["sweep.json", "cannot be read"], self.path / "bad", "-o", page)
        self.refused(["folder beside other results"], empty, self.result, "-o", page)
        self.refused(["--output", "is the input file"], self.result, "-o", self.result)
        self.refused(["--output", "No such file"], self.result, "-o", empty / "none/page.html")
        self.refused(["--plotly", "is not plotly.js"], self.result, "-o", page, "--plotly", text)
        self.refused(["--plotly", "cannot be read"], self.result, "-o", page, "--plotly", empty)
        self.refused(["--output"], self.result)
        self.refused(["IN"], "-o", page)
        self.refused(["No space left"], self.result, "-o", "/dev/full")
        self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main()
