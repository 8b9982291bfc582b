"""Damaged answers, costs and packed files: one line that names the key, and exit code 2."""

import copy
import json
import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("fastjsonschema")

from santasim.eval import packed, store
from santasim.eval.program import main
from test_results import configuration, filled, record

DELETED = object()


def changed(content, keys, value):
    """A copy with another value at keys, or without the key."""
    found = copy.deepcopy(content)
    place = found
    for key in keys[:-1]:
        place = place[key]
    if value is DELETED:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    return found


def refused(capsys, words, *names):
    """Exit code 2 and one line with these texts."""
    assert main([str(word) for word in words]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1, error
    for name in (*names, "allowed: "):
        assert name in error


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    target = filled(folder, configuration("sys"), [record(0, 1, 10), record(1, 0.5, 30)])
    packed.cost_path(folder, target.name, 0).write_text('{"energy_pj": 2.5, "time_ns": 4}')
    return folder


@pytest.fixture
def small(tmp_path, results):
    path = tmp_path / "small.json"
    assert main(["pack", str(results), str(path)]) == 0
    return path


ANY_FILE = ["{", "[]", "null", "3", '{"format": "santasim-eval-1"}', '{"format": "santasim-eval-2", "runs": []}',
            "[" * 100000, '{"format": "santasim-eval-1", "runs": NaN}', "\xff"]


@pytest.mark.parametrize("text", ANY_FILE)
def test_a_file_that_is_not_packed(tmp_path, capsys, text):
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode("latin-1"))
    for words in (["report", path], ["energy", path], ["pack", path, tmp_path / "out.json"]):
        refused(capsys, words, "bad.json")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("keys, value, name", [
    (["runs"], None, "runs: got null"), (["runs"], [1], "runs[0]: got 1"),
    *[(["runs", 0, key], DELETED, f"runs[0].{key}: missing")
      for key in ("configuration", "scores", "new_tokens", "access", "costs")],
    (["runs", 0, "scores", 1], "x", 'runs[0].scores[1]: got "x"'),
    (["runs", 0, "scores", 1], None, "runs[0].scores[1]: got null"),
    (["runs", 0, "scores", 1], 7, "runs[0].scores[1]: got 7"),
    (["runs", 0, "scores", 0], True, "runs[0].scores[0]: got true"),
    (["runs", 0, "scores"], [], "runs[0].scores: got []"),
    (["runs", 0, "prompts"], [0], "runs[0].prompts: 1 for 2 scores"),
    (["runs", 0, "prompts"], [3, 3], "runs[0].prompts: got [3, 3]"),
    (["runs", 0, "access", "keys_group"], [-5, 1], "runs[0].access.keys_group[0]: got -5"),
    (["runs", 0, "access", "keys_group"], [5, 1], "runs[0].access.keys_group: got [5, 1]"),
    (["runs", 0, "new_tokens"], "many", 'runs[0].new_tokens: got "many"'),
    (["runs", 0, "costs"], [["a"]], "runs[0].costs[0]"),
    (["runs", 0, "costs"], [[1, -2]], "runs[0].costs[0][1]: got -2"),
    (["runs", 0, "other"], 1, "runs[0]: got"),
    (["runs", 0, "configuration", "seed"], "one", "runs[0].configuration.seed"),
    (["runs", 0, "configuration", "task", "length"], DELETED, "runs[0].configuration.task"),
    (["runs", 0, "configuration", "method", "samples"], 64, "runs[0].configuration.method.samples: got 64"),
    (["runs", 0, "configuration", "model"], {}, "runs[0].configuration.model.name: missing"),
])
def test_a_packed_file_with_a_wrong_key(tmp_path, capsys, small, keys, value, name):
    small.write_text(json.dumps(changed(json.loads(small.read_text()), keys, value)))
    refused(capsys, ["pack", small, tmp_path / "out.json"], "small.json", name)


def test_a_run_that_is_there_twice(tmp_path, capsys, small):
    content = json.loads(small.read_text())
    content["runs"].append(content["runs"][0])
    small.write_text(json.dumps(content))
    refused(capsys, ["pack", small, tmp_path / "out.json"], "runs[1].configuration: that of runs[0]")


@pytest.mark.parametrize("key, value", [
    *[(key, DELETED) for key in ("index", "score", "tokens", "ended", "answer", "new_tokens", "access")],
    ("tokens", 5), ("tokens", [-1]), ("tokens", ["a"]), ("index", [1]), ("index", "a"), ("index", None),
    ("index", -1), ("score", "x"), ("score", None), ("score", 1.5), ("new_tokens", "x"), ("access", [1]),
    ("access", {"keys_group": [1]}), ("ended", 1)])
def test_an_answer_with_a_wrong_key(tmp_path, capsys, results, key, value):
    (path,) = results.glob("*.jsonl")
    lines = path.read_text().splitlines()
    lines[1] = json.dumps(changed(json.loads(lines[1]), [key], value))
    path.write_text("\n".join(lines) + "\n")
    for words in (["pack", results, tmp_path / "out.json"], ["check", results, results],
                  ["merge", tmp_path / "all", results]):
        refused(capsys, words, ".jsonl:2: not an answer", key)


def test_more_was_read_than_there_is(tmp_path, capsys):
    filled(tmp_path / "bad", configuration("sys"), [record(0, 1, 101)])
    refused(capsys, ["pack", tmp_path / "bad", tmp_path / "out.json"],
            ".jsonl:1: access.keys_group: got [101, 100]")


@pytest.mark.parametrize("text, name", [("{", "not JSON"), ("{}", "energy_pj: missing"), (
    '{"energy_pj": "x", "time_ns": 1}', 'energy_pj: got "x"'), ('{"energy_pj": 1, "time_ns": -1}', "time_ns: got -1")])
def test_a_cost_that_is_none(tmp_path, capsys, results, text, name):
    (path,) = results.glob("*.cost.json")
    path.write_text(text)
    refused(capsys, ["pack", results, tmp_path / "out.json"], ".0.cost.json", name)


@pytest.mark.parametrize("content", [{"x": 1}, [1], None])
def test_a_configuration_that_is_none(tmp_path, capsys, results, content):
    name = store.hash_of(content)
    (results / f"{name}.json").write_text(json.dumps(content))
    for words in (["pack", results, tmp_path / "out.json"], ["check", results, results]):
        refused(capsys, words, f"{name}.json")


def test_what_is_not_there(tmp_path, capsys):
    for command in (["report"], ["energy"]):
        refused(capsys, [*command, tmp_path / "none"], "none: is not there", "or a packed file")


def test_places_that_cannot_be_written(tmp_path, capsys, results):
    (tmp_path / "folder").mkdir()
    for place in ("nodir/z.json", "folder"):
        refused(capsys, ["pack", results, tmp_path / place], place, "cannot be written")
        refused(capsys, ["report", results, "--markdown", tmp_path / place], place, "cannot be written")
    (tmp_path / "file").write_text("kept")
    refused(capsys, ["merge", tmp_path / "file", results], "file: File exists")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "results"]
    assert (tmp_path / "file").read_text() == "kept"


def test_links_and_devices_stay_what_they_are(tmp_path, capsys, results):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    assert main(["pack", str(results), str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "target").read_text())["runs"]
    full = tmp_path / "full"
    try:
        os.mknod(full, 0o666 | stat.S_IFCHR, os.stat("/dev/full").st_rdev)
    except PermissionError:  # not root, who alone could replace this one
        full = Path("/dev/full")
    refused(capsys, ["pack", results, full], f"{full}: cannot be written")
    assert stat.S_ISCHR(full.lstat().st_mode)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert main(["pack", str(results), str(fifo)]) == 0
    assert json.loads(os.read(reader, 1 << 16))["runs"]
    os.close(reader)
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
