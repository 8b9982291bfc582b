"""Layer budgets without a model: schedules, the policy, the shared folder and its workers."""

import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import budget_worker
from santasim.budgets.program import main
from santasim.budgets.records import Folder, stored
from santasim.budgets.schedule import draw, probabilities, unit_schedule, updated
from santasim.budgets.work import Fixed, work
from santasim.eval.errors import InputError
from santasim.eval.store import Conflict

WORKER = str(Path(budget_worker.__file__))
MPIRUN = ["mpirun", "--oversubscribe", "-n", "3", sys.executable, WORKER]
MPI_ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None or importlib.util.find_spec("mpi4py") is None,
                               reason="needs mpirun and mpi4py")


def test_schedules_are_powers_of_two_within_the_total():
    assert unit_schedule([8] * 30, 240) == (8,) * 30
    assert unit_schedule([1.0] * 30, 120) == (4,) * 30
    assert unit_schedule([12, 0, 0], 14) == (8, 4, 2)
    random = np.random.default_rng(1)
    for _ in range(300):
        layers = int(random.integers(1, 40))
        total = layers + int(random.integers(0, 400))
        counts = random.multinomial(total, random.dirichlet([0.5] * layers))
        schedule = unit_schedule(counts, total)
        assert all(samples >= 1 and samples & (samples - 1) == 0 for samples in schedule)
        assert sum(schedule) <= total
        # No layer could be doubled, and who has a larger share never has fewer samples.
        assert total - sum(schedule) < min(schedule) or max(schedule) == 4096
        order = np.argsort(counts, kind="stable")
        for few, many in zip(order, order[1:]):
            if counts[few] < counts[many]:
                assert schedule[few] <= schedule[many]
    assert unit_schedule([1], 10**6) == (4096,)
    with pytest.raises(ValueError, match="total: got 2; allowed: at least 3"):
        unit_schedule([1, 1, 1], 2)


def test_draws_are_multinomial_and_functions_of_their_place():
    logits = np.array([0.0, 1.0, -1.0, 0.5])
    assert draw(logits, 40, 1, 2, 3) == draw(logits, 40, 1, 2, 3)
    places = [(seed, iteration, episode) for seed in (1, 2) for iteration in range(20) for episode in range(20)]
    drawn = np.array([draw(logits, 40, *place) for place in places])
    assert len(set(map(tuple, drawn))) > 400 and (drawn.sum(axis=1) == 40).all()
    chances = probabilities(logits)
    deviation = np.sqrt(40 * chances * (1 - chances) / len(places))
    assert (abs(drawn.mean(axis=0) - 40 * chances) < 4 * deviation).all()


def test_the_update_is_the_gradient_of_the_log_probability():
    random = np.random.default_rng(2)
    logits, total = random.normal(size=5), 12
    counts = random.multinomial(total, probabilities(logits), size=7)
    rewards = random.normal(size=7)

    def objective(point):
        chances = np.log(probabilities(point))
        return float(((rewards - rewards.mean()) * (counts @ chances)).mean())

    step = 1e-6
    expected = [(objective(logits + step * axis) - objective(logits - step * axis)) / (2 * step)
                for axis in np.eye(5)]
    found = updated(logits, total, counts, rewards, 0.5) - logits
    assert np.allclose(found, 0.5 * np.array(expected), rtol=0, atol=1e-7)
    assert (updated(logits, total, counts, np.full(7, 3.0), 0.5) == logits).all()


def test_a_training_finds_the_layer_that_matters(tmp_path):
    budget_worker.run(tmp_path)
    plan = budget_worker.PLAN
    logits = plan.logits(stored(tmp_path, "train", plan.check))
    assert len(logits) == plan.iterations + 1
    schedule = unit_schedule(plan.total * probabilities(logits[-1]), plan.total)
    uniform = unit_schedule([1] * plan.layers, plan.total)
    assert sum(schedule) <= sum(uniform) == plan.total
    assert int(np.argmax(schedule)) == budget_worker.SENSITIVE
    assert budget_worker.loss(schedule) < 0.7 * budget_worker.loss(uniform)


def records(folder):
    return stored(folder, "train", budget_worker.PLAN.check)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All records of the training, by one process that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    budget_worker.run(folder)
    return records(folder)


def run_and_kill(command, folder, environment=None):
    """Ends a run and its children with SIGKILL when a part of the episodes is there."""
    process = subprocess.Popen([*command, str(folder), "0.02"], env=environment, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path = folder / "train.jsonl"
    while process.poll() is None and not (path.exists() and path.stat().st_size > 500):
        time.sleep(0.005)
    assert process.poll() is None
    if environment is None:
        os.kill(process.pid, signal.SIGKILL)
    else:  # mpirun ends its processes, which are killed, not asked
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def settled(folder):
    """Records when nobody writes any more: orphans of a killed mpirun end by themselves."""
    before = -1
    while before != (now := (folder / "train.jsonl").stat().st_size):
        before = now
        time.sleep(0.3)
    return records(folder)


def test_a_killed_worker_loses_nothing(tmp_path, whole):
    run_and_kill([sys.executable, WORKER], tmp_path)
    part = records(tmp_path)
    assert 0 < len(part) < len(whole) and part.items() <= whole.items()
    with (tmp_path / "train.jsonl").open("ab") as file:
        file.write(b'{"task": 40, "rew')  # killed while it wrote
    budget_worker.run(tmp_path)
    assert records(tmp_path) == whole
    lines = (tmp_path / "train.jsonl").read_text().splitlines()
    assert len(lines) == len(whole) and all(json.loads(line) for line in lines)


def test_processes_that_come_and_go_share_the_work(tmp_path, whole):
    processes = [subprocess.Popen([sys.executable, WORKER, str(tmp_path), "0.01"]) for _ in range(3)]
    run_and_kill([sys.executable, WORKER], tmp_path) if processes[0].poll() is None else None
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert records(tmp_path) == whole
    assert len((tmp_path / "train.jsonl").read_text().splitlines()) == len(whole)  # none was done twice


@needs_mpi
def test_a_killed_mpi_run_resumes_to_the_same_numbers(tmp_path, whole):
    run_and_kill(MPIRUN, tmp_path, MPI_ENVIRONMENT)
    part = settled(tmp_path)
    assert 0 < len(part) and part.items() <= whole.items()
    subprocess.run([*MPIRUN, str(tmp_path), "0"], env=MPI_ENVIRONMENT, check=True, timeout=120)
    assert records(tmp_path) == whole


@needs_mpi
def test_bad_input_under_mpi_is_said_once(tmp_path):
    command = [*MPIRUN[:-1], "-m", "santasim.budgets", "report", str(tmp_path / "none")]
    found = subprocess.run(command, env=MPI_ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120)
    ours = [line for line in found.stderr.splitlines() if "santasim.budgets:" in line]
    assert found.returncode == 2 and len(ours) == 1 and "not a folder" in ours[0]


def test_mpirun_without_mpi4py_is_refused(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise ImportError('no MPI here')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run([sys.executable, "-m", "santasim.budgets", "report", str(tmp_path)],
                           env={**os.environ, "PYTHONPATH": path, "PMI_SIZE": "2"}, capture_output=True,
                           text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.splitlines() == [
        "santasim.budgets: mpi4py: no MPI here; needed under mpirun; without it start processes one by one, "
        "each with its own --worker"]


def open_folder(folder, wanted=None):
    return Folder(folder, "train", wanted or {"kind": "test"}, budget_worker.PLAN.check)


def test_claims_exclude_other_processes_until_they_end(tmp_path):
    code = (f"import sys, time; sys.path.insert(0, {str(Path(WORKER).parent)!r}); import test_budgets, pathlib; "
            f"f = test_budgets.open_folder(pathlib.Path({str(tmp_path)!r})); print(f.claim(5), flush=True); "
            "time.sleep(60)")
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "True\n"
    with open_folder(tmp_path) as folder:
        assert not folder.claim(5) and folder.claim(6)
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        assert folder.claim(5)
        folder.add({"task": 5, **budget_record(5)})
        folder.release(5)
        assert not folder.claim(5)  # done


def budget_record(number):
    task = budget_worker.PLAN.task(number, {})
    return {**task.fields, **budget_worker.evaluate(task)}


def test_one_episode_twice_must_be_the_same(tmp_path):
    with open_folder(tmp_path) as one, open_folder(tmp_path) as other:
        record = {"task": 2, **budget_record(2)}
        one.add(record)
        other.add(record)
        with pytest.raises(Conflict, match="task 2 has other numbers"):
            other.add({**record, "reward": 0.5})
    path = tmp_path / "train.jsonl"
    assert path.read_text().count("\n") == 1
    path.write_text(path.read_text() + json.dumps({**record, "reward": 0.5}) + "\n")
    with pytest.raises(Conflict, match="task 2 is there twice"):
        records(tmp_path)


@pytest.mark.parametrize("line", [
    "nonsense", "[]", "{}", '{"task": 1}', '{"task": -1, "counts": [4, 4, 4, 4, 4, 4], "reward": 0.5}',
    '{"task": 1, "counts": [4, 4, 4, 4, 4, 5], "reward": 0.5}', '{"task": 1, "counts": [24], "reward": 0.5}',
    '{"task": 1, "counts": [28, -4, 0, 0, 0, 0], "reward": 0.5}',
    '{"task": 1, "counts": [4, 4, 4, 4, 4, 4], "reward": NaN}',
    '{"task": 1, "counts": [4, 4, 4, 4, 4, 4], "reward": "x"}',
    '{"task": 96, "counts": [4, 4, 4, 4, 4, 4], "reward": 0.5}', "\x00\x00"])
def test_lines_that_no_run_wrote_are_refused(tmp_path, line):
    good = json.dumps({"task": 0, **budget_record(0)})
    (tmp_path / "train.jsonl").write_text(f"{good}\n{line}\n{good}\n")
    for read in (lambda: records(tmp_path), lambda: open_folder(tmp_path)):
        with pytest.raises(InputError, match=r"train\.jsonl:2: not a record of this work"):
            read()


def test_other_options_in_one_folder_are_refused(tmp_path):
    open_folder(tmp_path, {"kind": "test", "model": {"name": "a"}}).__exit__(None, None, None)
    with pytest.raises(InputError, match='train.json: model.name: there "a", here "b"'):
        open_folder(tmp_path, {"kind": "test", "model": {"name": "b"}})
    (tmp_path / "train.json").write_text("{")
    with pytest.raises(InputError, match="train.json: JSONDecodeError"):
        open_folder(tmp_path)


def test_fixed_work_has_every_prompt_with_every_schedule(tmp_path):
    plan = Fixed(((1, 2), None), first_prompt=10, prompts=3, seed=4)
    with Folder(tmp_path, "compare", {}, plan.check) as folder:
        work(folder, plan, lambda task: {"reward": float(task.prompts[0]), "dense": task.schedule is None,
                                         "draws": list(task.draws)})
        found = folder.records
    assert sorted((record["prompt"], record["dense"]) for record in found.values()) == [
        (prompt, dense) for prompt in (10, 11, 12) for dense in (False, True)]
    assert all(record["draws"] == [4] for record in found.values())


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


MODEL = ["--model", "none", "--task", "niah", "--length", "100", "--prompts", "4", "--out", "out"]


@pytest.mark.parametrize("words, message", [
    (["train", *MODEL], "--total"),
    (["train", *MODEL, "--total", "0"], '--total: got "0"; allowed: an integer from 1'),
    (["train", *MODEL, "--total", "9", "--episodes", "1"], '--episodes: got "1"'),
    (["train", *MODEL, "--total", "9", "--questions", "5"], "--questions: got 5; allowed: up to 4"),
    (["train", *MODEL, "--total", "9", "--energy-weight", "1"], "--energy, --energy-weight: one without"),
    (["train", *MODEL, "--total", "9", "--energy", "x", "--energy-weight", "-1"], 'got "-1"'),
    (["train", *MODEL, "--total", "9", "--learning-rate", "nan"], 'got "nan"; allowed: a decimal number'),
    (["train", *MODEL, "--total", "9", "--reward", "joy"], "--reward"),
    (["train", *MODEL, "--total", "9", "--set", "x"], '--set: got "x"'),
    (["ablate", *MODEL], "--base"),
    (["ablate", *MODEL, "--base", "8192"], '--base: got "8192"'),
    (["compare", *MODEL, "--first-prompt", "4"], "--schedule"),
    (["compare", *MODEL, "--first-prompt", "4", "--schedule", "a=4", "--schedule", "a=8"], "a: is there twice"),
    (["compare", *MODEL, "--first-prompt", "4", "--schedule", "best"], 'got "best"'),
    (["compare", *MODEL, "--first-prompt", "4", "--schedule", "a=4+x"], 'got "a=4+x"'),
    (["compare", *MODEL, "--first-prompt", "4", "--schedule", "a=4", "--traces", "1"], "--traces: has no"),
    (["report", "none"], "none: not a folder"),
    (["dance"], "dance")])
def test_wrong_options_are_refused(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *words)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_results_is_refused(tmp_path, capsys):
    assert "no results" in refused(capsys, "report", str(tmp_path))
    assert math.isfinite(budget_record(0)["reward"])


def test_stored_results_can_be_read(capsys):
    folder = Path(__file__).parents[2] / "python" / "results" / "budgets"
    assert main(["report", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "### ablate-follow: 48 prompts" in text and "| 0 | 465 | -0.598 " in text
