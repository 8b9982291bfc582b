"""Stored answers, merging, tables and their intervals; no model needed."""

import json

import numpy as np
import pytest

pytest.importorskip("scipy")

from santasim.eval import energy as energy_of
from santasim.eval import packed, report, store
from santasim.eval.errors import InputError
from santasim.eval.program import main


def configuration(values=None, samples=64, seed=1, **more):
    method = {"attention": "sdpa"} if values is None else {
        "attention": "santasim_golden", "values": values, "samples": [samples], "scores": "exact"}
    return {"task": {"name": "niah", "length": 512, "data_seed": 1}, "seed": seed, "method": method,
            "model": {"name": "tiny", "fingerprint": "0"}, **more}


def record(index, score, read=None):
    access = None if read is None else {name: [read, 100] for name in
                                        ("keys_group", "values_group", "values_head")}
    return {"index": index, "score": score, "answer": "", "tokens": [], "ended": True,
            "new_tokens": 4, "access": access}


def filled(folder, configuration_, records, shard="0of1"):
    target = store.Store(folder, configuration_, shard)
    for entry in records:
        target.add(entry)
    target.close()
    return target


def test_a_torn_line_is_removed_and_the_rest_kept(tmp_path):
    target = filled(tmp_path, configuration(), [record(0, 1), record(1, 0)])
    path = tmp_path / f"{target.name}.0of1.jsonl"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        again = store.Store(tmp_path, configuration(), "0of1")
        lines = whole[:length].count(b"\n")
        assert sorted(again.done) == list(range(lines))
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:lines])
        again.close()


def test_a_shard_has_one_writer(tmp_path):
    first = store.Store(tmp_path, configuration(), "0of2")
    with pytest.raises(InputError, match="another process writes it"):
        store.Store(tmp_path, configuration(), "0of2")
    store.Store(tmp_path, configuration(), "1of2").close()
    first.close()
    store.Store(tmp_path, configuration(), "0of2").close()


def test_shards_merge_to_what_one_process_writes(tmp_path):
    records = [record(index, index % 2) for index in range(7)]
    filled(tmp_path / "one", configuration(), records)
    for shard in range(3):
        filled(tmp_path / f"part{shard}", configuration(), records[shard::3], f"{shard}of3")
    parts = [str(tmp_path / f"part{shard}") for shard in range(3)]
    assert main(["merge", str(tmp_path / "all"), *parts]) == 0
    assert report.table(tmp_path / "all") == report.table(tmp_path / "one")
    name = store.hash_of(configuration())
    (tmp_path / "part0" / f"{name}.other.jsonl").write_text(json.dumps(record(6, 0.5)) + "\n")
    with pytest.raises(store.Conflict):
        store.merge(tmp_path / "all", [tmp_path / "part0"])
    assert main(["merge", str(tmp_path / "all"), *parts]) == 1


def test_a_changed_configuration_is_refused(tmp_path):
    target = filled(tmp_path, configuration(), [record(0, 1)])
    path = tmp_path / f"{target.name}.json"
    path.write_text(path.read_text().replace("512", "513"))
    with pytest.raises(InputError, match="its content has the hash"):
        report.table(tmp_path)


def test_another_answer_to_a_prompt_is_not_stored(tmp_path):
    filled(tmp_path, configuration(), [record(0, 1), record(0, 1)])
    with pytest.raises(store.Conflict, match="prompt 0 has another answer now"):
        filled(tmp_path, configuration(), [record(0, 0)])
    assert list(store.answers(tmp_path, store.hash_of(configuration())).values()) == [record(0, 1)]


@pytest.mark.parametrize("line", ["1", "{}", "[]", "{"])
def test_a_line_that_is_no_answer_is_refused(tmp_path, line):
    target = filled(tmp_path, configuration(), [record(0, 1)])
    with (tmp_path / f"{target.name}.0of1.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match="0of1.jsonl:2: not an answer"):
        report.table(tmp_path)


def test_the_interval_is_that_of_the_mean():
    """Of a binomial with n = 400 and p = 1/4 the normal interval is 25 +- 4.24 %."""
    found = report.bootstrap(np.array([100.0] * 100 + [0.0] * 300))
    assert found.mean == 25
    half = 1.96 * 100 * np.sqrt(0.25 * 0.75 / 400)
    # An end is a quantile of 9,999 resamples: its standard error is 0.06 percentage points.
    assert abs(found.low - (25 - half)) < 0.3 and abs(found.high - (25 + half)) < 0.3
    assert found == report.bootstrap(np.array([100.0] * 100 + [0.0] * 300))
    same = report.bootstrap(np.array([50.0, 50.0]))
    assert (same.low, same.high) == (50, 50)


def test_a_table(tmp_path):
    filled(tmp_path, configuration(), [record(0, 1), record(1, 0.5)])
    filled(tmp_path, configuration("sys"), [record(0, 1, 10), record(1, 0, 30)])
    filled(tmp_path, configuration("sys", seed=2), [record(0, 0, 10), record(1, 0, 30)])
    filled(tmp_path, configuration("sys", samples=256), [record(0, 1, 50)])
    lines = report.table(tmp_path).splitlines()
    assert lines[0] == "### tiny, niah 512"
    start = next(place for place, line in enumerate(lines) if "prompts" in line)
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in lines[start + 2:start + 5]]
    assert [row[0] for row in rows] == ["sdpa", "sys S=64", "sys S=256"]
    assert rows[0][1:4] == ["2", "75.0 [50.0, 100.0]", "–"]
    assert rows[0][4:] == ["–", "–", "–", "4.0"]
    assert rows[1][1:3] == ["2", "25.0 [0.0, 50.0]"]
    assert rows[1][3] == "-50.0 [-50.0, -50.0]", "each prompt loses a half"
    assert rows[1][4:] == ["20.0", "20.0", "20.0", "4.0"]


def test_the_least_budget_without_a_loss(tmp_path):
    """A budget counts where all larger ones see no loss either; of 40 prompts sdpa has half right."""
    half = [record(index, index % 2) for index in range(40)]
    none = [record(index, 0, 30) for index in range(40)]
    same = [record(index, index % 2, 30) for index in range(40)]
    filled(tmp_path, configuration(), half)
    for values, samples, records in (("sys", 8, same), ("sys", 16, none), ("sys", 32, same),
                                     ("sys", 64, same), ("strat", 8, same), ("strat", 16, none)):
        filled(tmp_path, configuration(values, samples=samples), records)
    packed.cost_path(tmp_path, store.hash_of(configuration("sys", samples=32)), 0).write_text(
        json.dumps({"energy_pj": 2.5e6, "time_ns": 1500.0}))
    lines = report.table(tmp_path).splitlines()
    assert "| strat | none | – | – | – | – | – |" in lines
    assert "| sys | 32 | 0.0 [0.0, 0.0] | 70.0 | 70.0 | 2.5 | 1.5 |" in lines


def test_configurations_that_differ_in_more_than_their_seed_do_not_share_a_row(tmp_path):
    filled(tmp_path, configuration(), [record(0, 1)])
    filled(tmp_path, configuration(max_new_tokens=3), [record(0, 1)])
    with pytest.raises(InputError, match="would share the row"):
        report.table(tmp_path)


def test_no_results_are_refused(tmp_path, capsys):
    assert main(["report", str(tmp_path / "none")]) == 2
    assert main(["report", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_packed_file_gives_the_same_tables(tmp_path):
    filled(tmp_path / "all", configuration(), [record(0, 1), record(1, 0.5), record(2, 0)])
    filled(tmp_path / "all", configuration("sys"), [record(0, 1, 10), record(1, 0, 30)])
    filled(tmp_path / "all", configuration("sys", seed=2), [record(0, 0, 10), record(1, 0, 30)])
    filled(tmp_path / "all", configuration("strat"), [record(1, 0, 20), record(2, 1, 40)])
    for name, index, energy in ((store.hash_of(configuration("sys")), 0, 5.5),
                                (store.hash_of(configuration("sys", seed=2)), 0, 6.5),
                                (store.hash_of(configuration("strat")), 1, 9.0)):
        packed.cost_path(tmp_path / "all", name, index).write_text(
            json.dumps({"energy_pj": energy, "time_ns": 2.0}))
    file = tmp_path / "packed.json"
    assert main(["pack", str(tmp_path / "all"), str(file)]) == 0
    assert report.table(file) == report.table(tmp_path / "all")
    costs = energy_of.costs(file)
    assert costs == energy_of.costs(tmp_path / "all")
    assert [(cost.row, cost.steps, cost.energy_pj) for cost in costs] == [
        ("strat S=64", 1, 9.0), ("sys S=64", 2, 6.0)]
    assert main(["pack", str(file), str(tmp_path / "again.json")]) == 0
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("content", ["", "[]", '{"format": "another"}'])
def test_another_file_is_no_packed_one(tmp_path, capsys, content):
    (tmp_path / "x.json").write_text(content)
    assert main(["report", str(tmp_path / "x.json")]) == 2
    assert "allowed: the file of `python -m santasim.eval pack`" in capsys.readouterr().err


def test_answers_are_compared_token_for_token(tmp_path, capsys):
    def answered(folder, tokens, backend="cpu", device="cpu", more=()):
        settings = configuration("sys", versions={"torch": device})
        settings["model"]["device"] = device
        if backend != "cpu":
            settings["method"]["backend"] = backend
        filled(tmp_path / folder, settings, [{**record(0, 1), "tokens": tokens}, *more])
        return str(tmp_path / folder)

    first = answered("a", [1, 2, 3])
    assert main(["check", first, answered("b", [1, 2, 3], "cuda", "cuda", [record(1, 1)])]) == 0
    assert capsys.readouterr().out == "the same: 1 answers of 1 pairs of configurations, 3 tokens\n"
    assert main(["check", first, answered("c", [1, 2, 4], "cuda")]) == 1
    assert "prompt 0: tokens: " in capsys.readouterr().err
    filled(tmp_path / "d", configuration("strat"), [record(0, 1)])
    assert main(["check", first, str(tmp_path / "d")]) == 2
    assert main(["check", first, str(tmp_path / "none")]) == 2
