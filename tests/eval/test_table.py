"""tools/eval_table.py on a tiny model; skipped without torch and transformers."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

import tiny_model
from santasim.eval.methods import label, parse_method
from santasim.eval.store import answers, configurations

TOOL = Path(__file__).resolve().parents[2] / "tools" / "eval_table.py"
sys.path.insert(0, str(TOOL.parent))
import eval_table


def test_methods_are_there_once():
    for methods in eval_table.METHODS.values():
        labels = [label(parse_method(f"golden:{method}").configuration()) for method in methods()]
        assert len(set(labels)) == len(labels)


def test_a_table_that_was_stopped_continues(tmp_path):
    tiny_model.write(tmp_path / "model")
    words = [sys.executable, str(TOOL), "--model", str(tmp_path / "model"), "--task", "qa1:400",
             "--methods", "few", "--prompts", "3", "--shards", "2", "--traces", "0", "--out",
             str(tmp_path / "out")]
    assert subprocess.run([*words, "--seconds", "0.2"], check=False).returncode == 3
    assert subprocess.run(words, check=False).returncode == 0
    found = configurations(tmp_path / "out")
    assert len(found) == 1 + len(eval_table.few_methods())
    for name, configuration in found.items():
        assert sorted(answers(tmp_path / "out", name)) == [0, 1, 2]
        assert configuration.get("batch") == (eval_table.BATCH if "unit" in configuration else None)


def test_what_a_run_refuses_is_said(tmp_path):
    words = [sys.executable, str(TOOL), "--model", str(tmp_path), "--task", "qa1:400", "--prompts", "1",
             "--shards", "1", "--out", str(tmp_path / "out")]
    outcome = subprocess.run(words, check=False, capture_output=True, text=True)
    assert outcome.returncode == 2
    assert "config.json" in outcome.stderr and len(outcome.stderr.splitlines()) == 1
