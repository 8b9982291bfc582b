"""Numbers and markers of the document that tools/model_report.py writes."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import model_report  # noqa: E402


class Numbers(unittest.TestCase):
    def test_significant_digits(self) -> None:
        for value, text in ((0, "0"), (1234567, "1,235,000"), (41.996672, "42.00"),
                            (0.0123456, "0.01235"), (999.96, "1,000.0"), (9.99996, "10.000")):
            self.assertEqual(model_report.significant(value), text)

    def test_interval_is_left_out_where_nothing_is_estimated(self) -> None:
        self.assertEqual(model_report.interval({"value": 2e6, "ci95": 0.0}, 1e-6), "2.000")
        self.assertEqual(model_report.interval({"value": 2e6, "ci95": 5123.0}, 1e-6),
                         "2.000 ± 0.0051")
        self.assertEqual(model_report.interval({"value": 2e6, "ci95": None}, 1e-6),
                         "2.000 ± unknown")


class Markers(unittest.TestCase):
    TEXT = ("a\n<!-- tools/model_report.py x -->\nold\n<!-- end -->\nb\n"
            "<!-- tools/model_report.py y -->\n<!-- end -->\n")

    def test_only_the_named_part_is_replaced(self) -> None:
        self.assertEqual(model_report.replace(self.TEXT, "x", "new\n"),
                         self.TEXT.replace("old", "new"))
        self.assertEqual(model_report.replace(self.TEXT, "y", "new"),
                         self.TEXT.replace("y -->\n", "y -->\nnew\n"))

    def test_an_unknown_part_is_a_fault(self) -> None:
        with self.assertRaises(ValueError):
            model_report.replace(self.TEXT, "z", "new")

    def test_the_document_has_both_parts(self) -> None:
        text = model_report.DOCUMENT.read_text(encoding="utf-8")
        for name in ("tables", "cost"):
            self.assertIn("new", model_report.replace(text, name, "new"))


class Points(unittest.TestCase):
    def test_layers_are_sampled_where_the_table_says_so(self) -> None:
        self.assertNotIn("--sample-layers", model_report.options_of("edge-lpddr5", 32768, 1))
        self.assertEqual(model_report.options_of("edge-lpddr5", 1048576, 16)[-2:],
                         ["--sample-layers", "2"])


if __name__ == "__main__":
    unittest.main()
