"""What the decode steps of a run cost: each kept step goes through the simulator with its own draws."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from . import report
from .errors import InputError
from .methods import seed_of_prompt
from .packed import cost_path, runs
from .store import Conflict, Record, configurations, write_atomically

_ROUNDING = 1e-9
"""Two sums in double precision in different orders."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Attention of one new token, all layers, mean over the kept steps of one method."""

    column: str  # model and task
    row: str  # method
    steps: int
    energy_pj: float
    time_ns: float
    accuracy: report.Estimate  # percent
    sdpa: report.Estimate | None


def _command(program: str, trace: Path, unit: Path, method: Record, seed: int, step: str,
             layers: Sequence[str], samples: int | None) -> list[str]:
    words = [program, "run", "--trace", str(trace), "--config", str(unit), "--layers",
             ",".join(layers), "--values", method["values"], "--no-baselines", "--json", "-"]
    if method["values"] == "topk":
        words += ["--top-k", str(samples)]
    elif method["values"] != "dense":
        words += ["--samples", str(samples), "--scores", method["scores"], "--seed", str(seed),
                  "--step", step]
    if "bernoulli" in method:
        words += ["--bernoulli", str(method["bernoulli"])]
    return words


def run_simulator(words: list[str]) -> Any:
    """The JSON that a `santasim` command prints; InputError with its words where it fails."""
    try:
        outcome = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"--program: {words[0]}: {error.strerror}") from error
    if outcome.returncode != 0:
        raise InputError(f"{' '.join(words)}: {outcome.stderr.strip()}")
    return json.loads(outcome.stdout)


def _relative_error(trace: Any, layers: Sequence[str], scale: float) -> float:
    """Of the model's attention to the exact one, over layers: as `accuracy.relative_l2` of a run."""
    error = norm = 0.0
    for layer in layers:
        query, key, value, output = (trace.get_tensor(f"layers.{layer}.{name}").astype(np.float64)
                                     for name in ("query", "key", "value", "output"))
        groups = query.reshape(len(key), -1, query.shape[-1])
        scores = scale * groups @ key.transpose(0, 2, 1)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        exact = (weights / weights.sum(axis=-1, keepdims=True)) @ value
        error += float(((exact - output.reshape(exact.shape)) ** 2).sum())
        norm += float((exact ** 2).sum())
    return float(np.sqrt(error / norm))


def step_cost(program: str, path: Path, unit: Path, configuration: Record) -> tuple[float, float]:
    """Energy in pJ and time in ns of one kept step. A budget that differs between layers takes a run
    for each. Conflict where the simulator's draws are not the model's."""
    from safetensors import safe_open  # packed files are read without it

    index = int(path.name.split(".")[1])
    method = configuration["method"]
    seed = seed_of_prompt(configuration["seed"], index)
    energy = time = 0.0
    with safe_open(path, "np") as trace:
        metadata = trace.metadata()
        layers = metadata["layers"].split(",")
        budgets = method.get("samples", [None])
        parts = ([(layers, budgets[0])] if len(budgets) == 1 else
                 [([layer], budget) for layer, budget in zip(layers, budgets)])
        for part, samples in parts:
            found = run_simulator(
                _command(program, path, unit, method, seed, metadata["step"], part, samples))
            energy += found["energy"]["total_pj"]["mid"]
            time += found["latency"]["ns"]
            # Other draws have another error; then this is not the energy of that answer.
            simulated = found["accuracy"]["relative_l2"]
            model = _relative_error(trace, part, float(metadata["softmax_scale"]))
            if abs(simulated - model) > _ROUNDING * model:
                raise Conflict(f"{path}: layers {','.join(part)}: the simulator's output has the error "
                               f"{simulated}, the model's {model}; with the same draws they are equal")
    return energy, time


def _one_step(work: tuple[str, Path, Record, Path]) -> None:
    program, unit, configuration, trace = work
    energy_pj, time_ns = step_cost(program, trace, unit, configuration)
    write_atomically(_cost_of(trace),
                     json.dumps({"energy_pj": energy_pj, "time_ns": time_ns}) + "\n")


def simulate(folder: Path, program: str, jobs: int) -> None:
    """Writes the cost of every kept step that has none, on the unit that answered; `jobs` at a time."""
    waiting = [(program, folder / f"{name}.yaml", configuration, trace)
               for name, configuration in configurations(folder).items()
               for trace in sorted(folder.glob(f"{name}.*.safetensors"))
               if not _cost_of(trace).exists()]
    if jobs == 1:
        for work in waiting:
            _one_step(work)
        return
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(_one_step, waiting))


def _cost_of(trace: Path) -> Path:
    name, index = trace.name.split(".")[:2]
    return cost_path(trace.parent, name, int(index))


def costs(results: Path) -> list[Cost]:
    """Of each golden method with simulated steps, in a folder or a packed file."""
    accuracies = report.cells(results)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for run in runs(results):
        if run.costs:
            key = report.column(run.configuration), report.row(run.configuration)
            found.setdefault(key, []).extend(run.costs)
    if not found:
        raise InputError(f"{results}: no kept steps; allowed: the folder of a run with --traces, or a "
                         "packed file with costs")
    joined = []
    for (column, row), steps in sorted(found.items()):
        dense = accuracies.get((column, "sdpa"))
        joined.append(Cost(column, row, len(steps), float(np.mean([energy for energy, _ in steps])),
                           float(np.mean([time for _, time in steps])),
                           accuracies[column, row].accuracy(),
                           None if dense is None else dense.accuracy()))
    return joined


def table(costs: list[Cost]) -> str:
    """Markdown."""
    lines = ["| model, task | attention | steps | nJ a token | µs a token | accuracy % [95 %] |",
             "|---|---|--:|--:|--:|--:|"]
    lines += [f"| {cost.column} | {cost.row} | {cost.steps} | {cost.energy_pj / 1e3:.1f} | "
              f"{cost.time_ns / 1e3:.2f} | {cost.accuracy} |" for cost in costs]
    return "\n".join(lines)
