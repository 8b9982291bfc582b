"""The stored results of docs are what docs say."""

from pathlib import Path

import pytest

pytest.importorskip("scipy")

from santasim.eval import report

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path("docs/eval_results.json")


def test_the_tables_are_those_of_the_stored_results(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert report.document(RESULTS) == Path("docs/eval_results.md").read_text(encoding="utf-8"), \
        "make eval-docs"


def test_the_picture_is_that_of_the_stored_results(monkeypatch, tmp_path):
    """Its numbers: coordinates depend on the version of Matplotlib, but not which points there are."""
    matplotlib = pytest.importorskip("matplotlib")
    from santasim.eval import energy, plot

    monkeypatch.chdir(ROOT)
    path = Path("docs/images/eval.svg")
    if f"Matplotlib v{matplotlib.__version__}" not in path.read_text(encoding="utf-8"):
        pytest.skip(f"drawn with another Matplotlib than {matplotlib.__version__}")
    plot.draw(energy.costs(RESULTS), tmp_path / "eval.svg")
    assert (tmp_path / "eval.svg").read_bytes() == path.read_bytes(), "make eval-docs"
