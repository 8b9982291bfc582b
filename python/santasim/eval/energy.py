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
             ",".join(layers), "--values", method["values"], "--scores", method["scores"],
             "--seed", str(seed), "--step", step, "--no-baselines", "--json", "-"]
    if samples is not None:
        words += ["--samples", str(samples)]
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


def _step(program: str, trace: Path, unit: Path, configuration: Record) -> tuple[float, float]:
    """Energy and time of one step. A budget that differs between layers takes a run for each."""
    with safe_open(trace, "np") as file:
        metadata = file.metadata()
    index = int(trace.name.split(".")[1])
    method = configuration["method"]
    layers = metadata["layers"].split(",")
    budgets = method.get("samples", [None])
    parts = ([(layers, budgets[0])] if len(budgets) == 1 else
             [([layer], budget) for layer, budget in zip(layers, budgets)])
    energy = time = 0.0
    rows = features = 0
    for part, samples in parts:
        found = _run(_command(program, trace, unit, method, seed_of_prompt(configuration["seed"], index), metadata["step"],
                              part, samples))
        energy += found["energy"]["total_pj"]["mid"]
        time += found["latency"]["ns"]
        rows += found["samples"]["unique_rows"] or 0
        features += found["samples"]["features_needed"] or 0
    # The same draws, or this is not the energy of that answer.
    if method["values"] not in ("dense", "topk"):
        model = int(metadata["read_rows"]), int(metadata["read_features"])
        if (rows, features) != model:
            raise Conflict(f"{trace}: the simulator read {rows} rows and {features} features, the "
                           f"model {model[0]} and {model[1]}")
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
