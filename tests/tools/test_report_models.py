"""`santasim report` of whole models: the page in a browser without a window, figures and numbers."""

import copy
import json
import unittest

from report_pages import SMALL, Pages, run

SECTIONS = ["model-methods", "model-energy", "model-time", "model-traffic", "model-memory",
            "model-context", "model-batch", "model-sensitivity", "model-layers",
            "model-designs", "model-runs"]
MODEL = """
name: small
source: a test
licence: none
layers: 6
query_heads: 4
kv_heads: 2
head_dimension: 16
max_context: 1000
softmax_scale: inverse_sqrt_head_dimension
"""
MODEL_SWEEP = """
name: steps & <cost>
command: model
fixed: {model: MODEL, config: tiny-test, synthetic: gaussian, sample-layers: 3}
grid: {context: [100, 200, 0], batch: [1, 2]}
"""


class ModelReport(Pages):
    SECTIONS = SECTIONS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        model = cls.path / "small.yaml"
        model.write_text(MODEL)
        small = ["model", model, "--config", "tiny-test", "--synthetic", "gaussian", "--context",
                 "200", "--batch", "2"]
        cls.result, cls.sampled = cls.path / "all.json", cls.path / "sampled.json"
        for file, more in ((cls.result, ["--set", "memory.model=dram"]),
                           (cls.sampled, ["--sample-layers", "3"])):
            done = run(*small, *more, "--json", file)
            assert done.returncode == 0, done.stderr
        (cls.path / "sweep.yaml").write_text(MODEL_SWEEP.replace("MODEL", str(model)))
        done = run("sweep", cls.path / "sweep.yaml", "--out", cls.path / "sweep")
        assert done.returncode == 2, done.stderr  # context: 0 is refused

    def near(self, cell, value):
        self.assertAlmostEqual(float(cell) / value, 1, delta=1e-3)

    def test_every_figure_of_one_step(self):
        page = self.open(self.make(self.result))
        self.check_drawn(page, ["model-context", "model-batch", "model-layers"])
        report = json.loads(self.result.read_text())
        methods = list(report["methods"].values())
        rows = page.sections["model-methods"]["rows"][1:]
        self.assertEqual([row[0] for row in rows], [method["title"] for method in methods])
        for row, method in zip(rows, methods):
            step = method["step"]
            self.near(row[1], 2e9 / step["latency_ns"]["value"])
            self.near(row[4], step["energy_pj"]["total"]["mid"]["value"] / 2)
            self.assertEqual(row[2:4] + row[5:6], ["0", "0", "0"])  # all layers: no interval
            self.assertEqual(row[10:12], [method["limit"], method["busiest"]["name"]])
        total = page.sections["model-energy"]["rows"][-1]
        for cell, method in zip(total[1::2], methods):
            self.near(cell, method["energy_pj_per_token"])
        busy = {(row[0], row[1]): float(row[2]) for row in page.sections["model-time"]["rows"][1:]}
        for method in methods:
            own = {name: value for (title, name), value in busy.items() if title == method["title"]}
            self.near(max(own.values()), method["busiest"]["busy_fraction"])
            self.near(own[method["busiest"]["name"]], method["busiest"]["busy_fraction"])

    def test_intervals_where_layers_were_left_out(self):
        page = self.open(self.make(self.sampled))
        self.check_drawn(page, ["model-context", "model-batch", "model-memory"])
        report = json.loads(self.sampled.read_text())
        self.assertIn("3 of 6 layers, 12 of 24 heads", page.sections["model-layers"]["text"])
        self.assertEqual(len(page.sections["model-layers"]["rows"]) - 1, 3 * 5)
        for row, method in zip(page.sections["model-methods"]["rows"][1:],
                               report["methods"].values()):
            time = method["step"]["latency_ns"]
            if time["ci95"]:
                self.near(row[2], 2e9 / (time["value"] - time["ci95"]) - 2e9 / time["value"])
                self.near(row[5], method["step"]["energy_pj"]["total"]["mid"]["ci95"] / 2)
        self.assertTrue(any(float(row[2]) > 0
                            for row in page.sections["model-methods"]["rows"][1:]))

    def test_flips_are_where_two_methods_cost_the_same(self):
        page = self.open(self.make(self.result))
        report = json.loads(self.result.read_text())
        by_title = {method["title"]: method["step"] for method in report["methods"].values()}

        def cost(step, pj_per_bit):
            parts = step["energy_pj"]["parts"]
            rest = sum(part["value"] for name, part in parts.items()
                       if name not in ("dram_read", "dram_write", "dram_io"))
            return rest + 8 * step["traffic_bytes"]["total"]["value"] * pj_per_bit

        flips = 0
        rows = [row for row in page.sections["model-sensitivity"]["rows"] if row[0].startswith("DRAM")]
        self.assertEqual(len(rows), 4)
        for row in rows:
            own, other = by_title["sampled"], by_title[row[1]]
            self.near(row[2], (cost(own, 0) - own["energy_pj"]["total"]["mid"]["value"]) /
                      -8 / own["traffic_bytes"]["total"]["value"])
            if row[3]:
                flips += 1
                self.assertAlmostEqual(cost(own, float(row[3])) / cost(other, float(row[3])), 1,
                                       delta=2e-3)
            else:
                self.assertEqual(cost(own, 0) < cost(other, 0), cost(own, 1e9) < cost(other, 1e9))
        self.assertGreater(flips, 0)

    def test_sweep_scales_with_context_and_batch(self):
        page = self.open(self.make(self.path / "sweep"))
        self.check_drawn(page, ["model-memory"])
        self.assertIn("2 points failed", page.sections["model-runs"]["text"])
        points = [json.loads(line) for line in
                  (self.path / "sweep/results.jsonl").read_text().splitlines()]
        for section, key, fixed in (("model-context", "context", "batch"),
                                    ("model-batch", "batch", "context")):
            rows = page.sections[section]["rows"][1:]
            self.assertEqual(len(rows), 2 * 5)  # beside the first point, which is chosen
            like_first = [p for p in points if p["status"] == "done" and
                          p["settings"][fixed] == points[0]["settings"][fixed]]
            for row in rows:
                result = next(p["result"] for p in like_first if p["settings"][key] == row[1])
                method = next(m for m in result["methods"].values() if m["title"] == row[0])
                self.near(row[2], method["tokens_per_s"])
                self.near(row[5], method["energy_pj_per_token"])
        self.assertEqual(len(page.sections["model-designs"]["rows"]) - 1, 5)
        self.assertEqual(len(page.sections["model-runs"]["rows"]) - 1, 4 * 5)

    def test_narrow_page_fits_and_another_point_is_chosen(self):
        body = self.open_narrow(self.make(self.path / "sweep"), 3, "model-layers")
        self.assertIn("12 of 24 heads", body["data-chosen"])  # of a batch of two

    def test_bad_results_are_refused(self):
        page = self.path / "refused.html"
        run_result = self.path / "run.json"
        self.assertEqual(run("run", *SMALL, "--json", run_result).returncode, 0)
        self.refused(["run.json", "is a result of santasim run beside one of santasim model"],
                     self.result, run_result, "-o", page)
        good = json.loads(self.result.read_text())
        bad = self.path / "bad.json"
        for place, value, parts in (
                (("methods", "dense", "step", "blocks"), None, ["step.blocks: missing"]),
                (("methods", "dense", "limit"), 5, ["methods.dense.limit: got 5", "a text"]),
                (("methods", "topk", "tokens_per_s"), 1, ["topk.tokens_per_s: got 1", "latency_ns"]),
                (("methods", "topk", "layers", "energy_pj"), [1], ["layers.energy_pj", "6 numbers"]),
                (("requests", "lengths"), [1], ["requests.lengths", "2 numbers"]),
                (("methods", "sampled", "step", "energy_pj", "parts", "adders", "value"), 1e12,
                 ["sampled.step.energy_pj.total.mid.value", "follows from"]),
                (("methods", "dense", "step", "traffic_bytes", "key", "value"), 1,
                 ["dense.step.traffic_bytes.total.value", "follows from"]),
                (("methods",), {}, ["methods: got a list or an object", "with members"])):
            report = copy.deepcopy(good)
            target = report
            for name in place[:-1]:
                target = target[name]
            if value is None:
                del target[place[-1]]
            else:
                target[place[-1]] = value
            bad.write_text(json.dumps(report))
            self.refused(["bad.json", "so it is no result of a model", *parts], bad, "-o", page)
        self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main()
