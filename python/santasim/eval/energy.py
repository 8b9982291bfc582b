"""What the decode steps of a run cost: each kept step goes through the simulator with its own draws."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from . import report
from .errors import InputError
from .methods import seed_of_prompt
from .store import Conflict, Record, configurations


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


def _run(words: list[str]) -> Any:
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


def _step(program: str, path: Path, unit: Path, configuration: Record) -> tuple[float, float]:
    """Energy and time of one step. A budget that differs between layers takes a run for each."""
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
            found = _run(_command(program, path, unit, method, seed, metadata["step"], part, samples))
            energy += found["energy"]["total_pj"]["mid"]
            time += found["latency"]["ns"]
            # Other draws have another error; then this is not the energy of that answer.
            simulated = found["accuracy"]["relative_l2"]
            model = _relative_error(trace, part, float(metadata["softmax_scale"]))
            if abs(simulated - model) > _ROUNDING * model:
                raise Conflict(f"{path}: layers {','.join(part)}: the simulator's output has the error "
                               f"{simulated}, the model's {model}; with the same draws they are equal")
    return energy, time


def simulate(folder: Path, program: str) -> list[Cost]:
    """Every kept step of every golden method, on the unit that answered."""
    accuracies = report.cells(folder)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for name, configuration in configurations(folder).items():
        traces = sorted(folder.glob(f"{name}.*.safetensors"))
        if not traces:
            continue
        unit = folder / f"{name}.yaml"
        key = report.column(configuration), report.row(configuration)
        for trace in traces:
            found.setdefault(key, []).append(_step(program, trace, unit, configuration))
    if not found:
        raise InputError(f"{folder}: no kept steps; allowed: the folder of a run with --traces")
    costs = []
    for (column, row), steps in sorted(found.items()):
        dense = accuracies.get((column, "sdpa"))
        costs.append(Cost(column, row, len(steps), float(np.mean([energy for energy, _ in steps])),
                          float(np.mean([time for _, time in steps])),
                          accuracies[column, row].accuracy(),
                          None if dense is None else dense.accuracy()))
    return costs


def table(costs: list[Cost]) -> str:
    """Markdown."""
    lines = ["| model, task | attention | steps | nJ a token | µs a token | accuracy % [95 %] |",
             "|---|---|--:|--:|--:|--:|"]
    lines += [f"| {cost.column} | {cost.row} | {cost.steps} | {cost.energy_pj / 1e3:.1f} | "
              f"{cost.time_ns / 1e3:.2f} | {cost.accuracy} |" for cost in costs]
    return "\n".join(lines)
