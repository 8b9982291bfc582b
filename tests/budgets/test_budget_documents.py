"""The stored results of layer budgets are what docs say."""

from pathlib import Path

import pytest

pytest.importorskip("scipy")

from santasim.budgets import report

ROOT = Path(__file__).resolve().parents[2]


def test_the_tables_are_those_of_the_stored_results(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = report.document(Path("python/results/budgets"))
    assert found == Path("docs/budgets_results.md").read_text(encoding="utf-8"), "make budgets-docs"


def test_the_learned_schedule_beats_the_uniform_one_of_equal_total():
    for name, measure in (("compare-answers", "accuracy"), ("compare-follow", "logprob")):
        found = report.rows(ROOT / "python/results/budgets", name)
        uniform, learned = map(found.schedules.index, ("uniform", "learned"))
        assert sum(found.samples(learned)) == sum(found.samples(uniform))
        values = found.measures[measure]
        assert report.bootstrap(values[learned] - values[uniform]).low > 0
