"""Tables and figure of docs/gpu.md, from a made-up result."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKS = "before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n"


def row(kernel, us, requests=1, length=32768, samples=0, kind="bf16", spread=1, **more):
    made = {"kernel": kernel, "type": kind, "requests": requests, "length": length,
            "samples": samples, "spread": spread, **more}
    if us is not None:
        made.update(median_us=us, p5_us=us - 1, p95_us=us + 1)
    return made


def result():
    rows = []
    for length, scale in ((8192, 1), (32768, 3)):
        rows += [row("plain read of keys", 9 * scale, length=length),
                 row("plain read of keys and values", 14 * scale, length=length),
                 row("decode", 12.5 * scale, length=length, samples=256, scheme="systematic"),
                 row("decode", 99 * scale, length=length, samples=256, scheme="stratified"),
                 row("decode", 20 * scale, length=length, samples=1024, scheme="systematic"),
                 row("SDPA cuDNN", 25 * scale, length=length),
                 row("SDPA flash", 24 * scale, length=length),
                 row("FlashAttention-3", None, length=length, not_run="not installed"),
                 row("published SANTA-prop", 50 * scale, length=length, samples=256)]
    rows += [row("decode", 40, samples=256, spread=8, scheme="systematic", scores="exact"),
             row("decode", 36, samples=256, scheme="systematic", scores="bernoulli-group"),
             row("plain read of keys", 14, kind="fp8"),
             row("decode", 18, samples=256, kind="fp8", scheme="systematic", energy={
                 "step_mj": 12.34, "mean_w": 456.7, "step_us": 27.0, "seconds": 1.3}),
             row("FlashInfer batch decode", 36, kind="fp8", setting="page 16")]
    return {"device": {"name": "A GPU", "driver": "1.2", "toolkit": "CUDA 13.0",
                       "sm_clock_max_mhz": 1980, "memory_clock_max_mhz": 3201},
            "date": "2026-01-02", "commit": "abc", "idle_w": 120.0, "empty_launch_us": 2.75,
            "peers": {"PyTorch": "2.11"},
            "protocol": {"cold_cache": "rewritten", "clock": "events", "runs": 40, "warm_up": 10},
            "shape": {"query_heads": 32, "kv_heads": 8, "head_dimension": 128}, "rows": rows}


class GpuResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "result.json"
        self.document = self.folder / "document.md"
        self.write(result())
        self.document.write_text(MARKS, encoding="utf-8")

    def write(self, content):
        self.file.write_text(json.dumps(content), encoding="utf-8")

    def tool(self, name, *words):
        return subprocess.run([sys.executable, str(ROOT / "tools" / name), str(self.file),
                               *map(str, words)], capture_output=True, text=True, check=False)

    def test_table(self):
        self.assertEqual(self.tool("gpu_table.py", self.document, "--check").returncode, 1)
        done = self.tool("gpu_table.py", self.document)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = self.document.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        # 72 us of the faster dense kernel over 37.5, not over the slower scheme's.
        self.assertIn("| 1 x 32k | 27.0 | 42.0 | 72.0 (SDPA flash) | 37.5 | 1.92 | 60.0 | 1.20 |",
                      text)
        # fp8 against fp8, and against bf16.
        self.assertIn("| 1 x 32k | 14.0 | - | 36.0 (FlashInfer batch decode) | 18.0 | 2.00 | 4.00 |",
                      text)
        self.assertIn("A GPU, clocks up to 1980 MHz, memory 3201 MHz, driver 1.2", text)
        self.assertIn("| systematic | exact, bf16 | 8 | 256 | 1 x 32k | 40.0 | 1.80 |", text)
        self.assertIn("| systematic | bernoulli-group, bf16 | 1 | 256 | 1 x 32k | 36.0 | 2.00 |", text)
        self.assertIn("Not run: FlashAttention-3 (not installed).", text)
        self.assertIn("| published SANTA-prop, bf16 | 256 | 1 x 32k | 150.0 | 37.5 | 4.00 |", text)
        self.assertIn("| 1 x 32k, fp8 | decode | 256 | 12.3 | 457 | 27.0 |", text)
        self.assertIn("the idle board draws 120 W", text)
        self.assertEqual(self.tool("gpu_table.py", self.document, "--check").returncode, 0)

    def test_what_is_no_result_is_refused(self):
        for content in ("[]", "{", '{"rows": []}'):
            self.file.write_text(content, encoding="utf-8")
            for name, place in (("gpu_table.py", self.document),
                                ("gpu_figure.py", self.folder / "f.svg")):
                done = self.tool(name, place)
                self.assertEqual(done.returncode, 2, content)
                self.assertIn(str(self.file), done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_figure(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("matplotlib is not installed (tools/setup.sh figures)")
        figures = [self.folder / name for name in ("a.svg", "b.svg")]
        for figure in figures:
            done = self.tool("gpu_figure.py", figure)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        drawing = figures[0].read_text(encoding="utf-8")
        self.assertEqual(drawing, figures[1].read_text(encoding="utf-8"))
        for text in ("SDPA cuDNN", "sampled, S = 256", "sampled, S = 1024", "1.92x",
                     "published SANTA-prop", "tokens in the cache"):
            self.assertIn(text, drawing)
        self.assertNotIn("FlashAttention-3", drawing)


if __name__ == "__main__":
    unittest.main()
