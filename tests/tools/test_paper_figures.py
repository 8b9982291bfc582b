"""tools/paper_figures.py: pictures from numbers, the same bytes each time, and bad files."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/paper_figures.py"


def series(name, reference, half):
    return {"name": name, "reference": reference, "x": [4, 1, 2], "y": [0.25, 1.0, 0.5], "half": half}


class PaperFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self):
        return subprocess.run([sys.executable, str(TOOL), str(self.folder)], capture_output=True,
                              text=True, check=False)

    def write(self, value):
        (self.folder / "paper.json").write_text(json.dumps(value), encoding="utf-8")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_one_picture_a_figure(self):
        figure = {"name": "paper-test", "title": "Test", "x_label": "budget", "y_label": "error",
                  "log_x": True, "log_y": True,
                  "series": [series("golden model", False, [0.01, 0.02, 0.01]),
                             series("float64", True, [])]}
        self.write({"parts": [{"figures": [figure]}, {"figures": []}]})
        outcome = self.run_tool()
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        picture = self.folder / "images/paper-test.svg"
        self.assertEqual([picture], list((self.folder / "images").iterdir()))
        first = picture.read_text(encoding="utf-8")
        for text in ("golden model", "float64", "budget", "error"):
            self.assertIn(text, first)
        self.run_tool()
        self.assertEqual(first, picture.read_text(encoding="utf-8"))

    def test_bad_files_are_named(self):
        self.assertEqual(self.run_tool().returncode, 2)
        for value in ([], {"parts": [{}]}, {"parts": 5}):
            self.write(value)
            outcome = self.run_tool()
            self.assertEqual(outcome.returncode, 2)
            self.assertIn("paper.json: not what santasim paper writes", outcome.stderr)
            self.assertEqual(outcome.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
