"""Layer budgets of a tiny model with random weights; skipped without torch and transformers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import tiny_model
from santasim.budgets.program import main
from santasim.budgets.report import rows, trained

needs_simulator = pytest.mark.skipif("SANTASIM" not in os.environ, reason="needs the simulator: SANTASIM")


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny_model.write(folder)
    return folder


def words(command, model, out, *more):
    found = [command, "--model", str(model), "--task", "qa1", "--length", "400", "--new-tokens", "4", "--out",
             str(out), *more]
    if "--prompts" not in more:
        found += ["--prompts", "3"]
    return found


TRAIN = ["--total", "12", "--iterations", "3", "--episodes", "3", "--questions", "2", "--learning-rate", "1"]


def records(folder, name):
    lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    return sorted(lines, key=lambda record: record["task"])


@pytest.fixture(scope="session")
def training(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    assert main(words("train", model, folder, *TRAIN)) == 0
    return folder


def test_a_killed_training_resumes_to_the_same_numbers(model, training, tmp_path):
    command = [sys.executable, "-m", "santasim.budgets", *words("train", model, tmp_path, *TRAIN)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    path = tmp_path / "train.jsonl"
    while process.poll() is None and not (path.exists() and path.stat().st_size):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = len(records(tmp_path, "train"))
    assert main(words("train", model, tmp_path, *TRAIN, "--worker", "5")) == 0
    assert done < 9 and records(tmp_path, "train") == records(training, "train")


def test_rewards_are_those_of_the_measure(model, training, tmp_path):
    found = records(training, "train")
    assert all(record["reward"] == record["logprob"] < 0 <= record["agreement"] <= 1 for record in found)
    assert all(0 < record["values_read"][0] < record["values_read"][1] for record in found)
    assert main(words("train", model, tmp_path / "a", *TRAIN, "--reward", "agreement")) == 0
    again = records(tmp_path / "a", "train")
    assert all(record["reward"] == record["agreement"] for record in again)
    assert [record["counts"] for record in again[:3]] == [record["counts"] for record in found[:3]]
    assert main(words("train", model, tmp_path / "b", *TRAIN, "--reward", "accuracy")) == 0
    assert all(record["reward"] == record["accuracy"] for record in records(tmp_path / "b", "train"))


def test_dense_attention_agrees_with_itself(model, tmp_path):
    """Along the dense model's answer, the unit with all samples of a few tokens is nearly dense attention."""
    more = ["--first-prompt", "9", "--prompts", "4", "--schedule", "few=1", "--schedule", "many=4096"]
    assert main(words("compare", model, tmp_path, *more)) == 0
    found = rows(tmp_path, "compare-follow")
    few, many = found.measures["logprob"].mean(axis=1)
    assert few < many  # the dense model's most likely tokens


def test_ablation_and_comparison_name_their_schedules(model, training, tmp_path, capsys):
    folder = tmp_path / "all"
    shutil.copytree(training, folder)
    assert main(words("ablate", model, folder, "--base", "8", "--first-prompt", "5")) == 0
    more = ["--first-prompt", "5", "--schedule", "uniform=4", "--schedule", "learned", "--reward", "accuracy"]
    assert main(words("compare", model, folder, *more)) == 0
    ablation = rows(folder, "ablate-follow")
    assert ablation.schedules == ["base", "0", "1"]
    assert [ablation.samples(place) for place in range(3)] == [[8, 8], [1, 8], [8, 1]]
    read = ablation.measures["values read, %"].mean(axis=1)
    assert read[0] > max(read[1:])
    learned = trained(folder)
    assert learned.done and rows(folder, "compare-answers").samples(1) == list(learned.schedule)
    capsys.readouterr()
    assert main(["report", str(folder)]) == 0
    text = capsys.readouterr().out
    assert f"`{'+'.join(map(str, learned.schedule))}`" in text
    assert "### ablate-follow: 3 prompts" in text and "| PyTorch's attention |" in text


def test_pictures_have_the_same_bytes_for_the_same_numbers(training, tmp_path):
    pytest.importorskip("matplotlib")
    contents = []
    for name in ("a", "b"):
        assert main(["report", str(training), "--plots", str(tmp_path / name)]) == 0
        contents.append([(tmp_path / name / f"budgets-{kind}.svg").read_bytes() for kind in ("schedule", "reward")])
    assert contents[0] == contents[1]


def test_records_without_their_numbers_are_refused(training, tmp_path, capsys):
    folder = tmp_path / "broken"
    shutil.copytree(training, folder)
    path = folder / "train.jsonl"
    whole = path.read_text()
    for old, new in (('"logprob"', '"other"'), ('"logprob": -', '"logprob": "x", "other": -')):
        path.write_text(whole.replace(old, new, 1))
        assert "logprob: got" in refused(capsys, "report", str(folder))


@needs_simulator
def test_energy_is_of_the_very_steps_and_of_the_reward(model, training, tmp_path):
    folder = tmp_path / "compared"
    shutil.copytree(training, folder)
    more = ["--first-prompt", "5", "--schedule", "uniform=4", "--schedule", "other=16+1", "--reward", "accuracy",
            "--traces", "2"]
    assert main(words("compare", model, folder, *more)) == 0
    program = ["--program", os.environ["SANTASIM"]]
    assert main(["simulate", str(folder), *program]) == 0
    steps = json.loads((folder / "energy.json").read_text())["steps"]
    assert list(steps) == ["uniform", "other"]
    assert all([step[0] for step in found] == [5, 6] and min(step[1] for step in found) > 0
               for found in steps.values())
    trace = folder / "traces" / "uniform.5.safetensors"
    table = folder / "layers.json"
    assert main(["cost", "--trace", str(trace), "--unit", str(folder / "unit.yaml"), "--most", "16", *program,
                 "--out", str(table)]) == 0
    weighted = ["--energy", str(table), "--energy-weight", "0.5"]
    assert main(words("train", model, tmp_path / "w", *TRAIN, *weighted)) == 0
    energy = json.loads(table.read_text())["energy_pj"]
    for record in records(tmp_path / "w", "train"):
        assert record["reward"] == record["logprob"] - 0.5 * record["energy_uj"]
        assert sum(map(min, energy)) <= 1e6 * record["energy_uj"] <= sum(map(max, energy))
    # Another step under the name is found out.
    os.replace(folder / "traces" / "uniform.6.safetensors", trace)
    assert main(["simulate", str(folder), *program]) == 2  # no step of prompt 6
    shutil.copy(trace, folder / "traces" / "uniform.6.safetensors")
    assert main(["simulate", str(folder), *program]) == 1


def refused(capsys, *arguments):
    capsys.readouterr()
    assert main(list(arguments)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("command, more, message", [
    ("train", ["--total", "1"], "--total: got 1; allowed: at least 2, a sample for each layer"),
    ("train", ["--total", "9", "--energy", "none", "--energy-weight", "1"], "--energy: none: No such file"),
    ("train", ["--total", "9", "--scores", "best"], 'got "best"'),
    ("train", ["--total", "9", "--hardware", "best"], "best"),
    ("train", ["--total", "9", "--length", "20"], "--length: got 20; allowed: at least"),
    ("train", ["--total", "9", "--length", "2047"], "--length: got 2047; allowed: up to 2044"),
    ("ablate", ["--base", "12"], '"12"'),
    ("compare", ["--first-prompt", "9", "--schedule", "a=4+4+4"], "schedule a: samples: got 3 budgets; allowed: one"),
    ("compare", ["--first-prompt", "9", "--schedule", "a=4+3"], 'schedule a: --samples: got "3"'),
    ("compare", ["--first-prompt", "9", "--schedule", "learned"], "learned: ")])
def test_what_model_or_unit_cannot_do_is_refused(model, tmp_path, monkeypatch, capsys, command, more, message):
    monkeypatch.chdir(tmp_path)
    if command == "train":
        more = [*more, "--questions", "2"]
    assert message in refused(capsys, *words(command, model, tmp_path / "out", *more))
    assert not list(tmp_path.glob("out/*.jsonl"))


def test_a_missing_model_and_wrong_tables_are_refused(model, training, tmp_path, capsys):
    assert "compare-answers.json: missing" in refused(capsys, "simulate", str(training))
    assert "--model: none: not a folder" in refused(capsys, *words("train", "none", tmp_path, *TRAIN))
    table = tmp_path / "table.json"
    for content, message in (("{", "not a table"), ("[]", "not a table"), ('{"format": "x"}', "not a table"),
                             (json.dumps({"format": "santasim-layer-energy", "unit_hash": "x", "attention": {},
                                          "context": 1, "energy_pj": [[1.0]]}), "got 1 layers; allowed: 2")):
        table.write_text(content)
        assert message in refused(capsys, *words("train", model, tmp_path / "out", *TRAIN, "--energy", str(table),
                                                 "--energy-weight", "1"))
    assert "reward: there" in refused(capsys, *words("train", model, training, *TRAIN, "--reward", "agreement"))
    assert "--first-prompt: got 2; allowed: from 3" in refused(
        capsys, *words("compare", model, training, "--first-prompt", "2", "--schedule", "a=4"))
