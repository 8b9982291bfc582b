"""Tables of stored answers: accuracy with bootstrap intervals, shares of keys and values read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .errors import InputError
from .methods import label
from .store import Record, answers, canonical, configurations

RESAMPLES = 9999
_ACCESS = {"keys_group": "keys read %", "values_group": "values read %",
           "values_head": "a head %"}


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} [{self.low:.1f}, {self.high:.1f}]"


def bootstrap(values: NDArray[np.float64]) -> Estimate:
    """Of the mean over prompts: percentiles of resamples with a fixed seed."""
    mean = float(values.mean())
    if np.ptp(values) == 0:  # every resample is the same
        return Estimate(mean, mean, mean)
    found = stats.bootstrap((values,), np.mean, n_resamples=RESAMPLES, method="percentile",
                            random_state=np.random.default_rng(1)).confidence_interval
    return Estimate(mean, float(found.low), float(found.high))


@dataclasses.dataclass(frozen=True)
class Cell:
    """One method on one task. Several seeds of a prompt are one value, their mean."""

    scores: dict[int, float]  # percent, by prompt
    access: dict[str, float]  # percent
    new_tokens: float

    def accuracy(self) -> Estimate:
        return bootstrap(np.array(list(self.scores.values())))

    def difference(self, other: Cell) -> Estimate | None:
        """To another method on the prompts that both answered; None without any."""
        common = sorted(set(self.scores) & set(other.scores))
        if not common:
            return None
        return bootstrap(np.array([self.scores[i] - other.scores[i] for i in common]))


def _cell(runs: list[dict[int, Record]]) -> Cell:
    scores: dict[int, list[float]] = {}
    totals: dict[str, list[int]] = {}
    records = [record for run in runs for record in run.values()]
    for record in records:
        scores.setdefault(record["index"], []).append(100 * record["score"])
        for name, (read, possible) in (record["access"] or {}).items():
            total = totals.setdefault(name, [0, 0])
            total[0] += read
            total[1] += possible
    return Cell({index: float(np.mean(scores[index])) for index in sorted(scores)},
                {name: 100 * read / possible for name, (read, possible) in totals.items() if possible},
                float(np.mean([record["new_tokens"] for record in records])))


def column(configuration: Record) -> str:
    """Model and task, over a table."""
    task = configuration["task"]
    detail = task.get("length") or task["style"]
    return f"{configuration['model']['name']}, {task['name']} {detail}"


def row(configuration: Record) -> str:
    """The method, in a table."""
    name = label(configuration["method"])
    if configuration.get("prefill") == "sampled":
        name += ", prefill too"
    return name if "unit" not in configuration else f"{name} ({configuration['unit']['name']})"


def cells(folder: Path) -> dict[tuple[str, str], Cell]:
    """By column (model and task) and row (method)."""
    runs: dict[tuple[str, str], list[dict[int, Record]]] = {}
    identities: dict[tuple[str, str], tuple[str, str]] = {}
    for name, configuration in configurations(folder).items():
        found = answers(folder, name)
        if not found:
            continue
        key = column(configuration), row(configuration)
        same = canonical({**configuration, "seed": None})
        first = identities.setdefault(key, (same, name))
        if first[0] != same:
            raise InputError(f"{folder}: {first[1]}.json and {name}.json would share the row "
                             f'"{key[1]}" of "{key[0]}"; allowed: configurations that differ in '
                             "their seed alone, or a folder for each")
        runs.setdefault(key, []).append(found)
    if not runs:
        raise InputError(f"{folder}: no answers; allowed: the folder of --out of a run")
    return {key: _cell(found) for key, found in runs.items()}


def _order(row: str) -> tuple[object, ...]:
    """sdpa first, then by name, numbers by value."""
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part)
             for part in row.replace("=", " ").split()]
    return (row != "sdpa", *parts)


def table(folder: Path) -> str:
    """Markdown: for each model and task a table of methods."""
    found = cells(folder)
    lines: list[str] = []
    for where in sorted({key[0] for key in found}):
        rows = {name: cell for (place, name), cell in found.items() if place == where}
        dense = rows.get("sdpa")
        lines += [f"### {where}", "",
                  "| attention | prompts | accuracy % [95 %] | less sdpa's [95 %] | "
                  + " | ".join(_ACCESS.values()) + " | new tokens |",
                  "|---|--:|--:|--:|" + "--:|" * (len(_ACCESS) + 1)]
        for name in sorted(rows, key=_order):
            cell = rows[name]
            difference = None if dense is None or name == "sdpa" else cell.difference(dense)
            access = [f"{cell.access[kind]:.1f}" if kind in cell.access else "–" for kind in _ACCESS]
            lines.append(f"| {name} | {len(cell.scores)} | {cell.accuracy()} | "
                         f"{'–' if difference is None else difference} | {' | '.join(access)} | "
                         f"{cell.new_tokens:.1f} |")
        lines.append("")
    return "\n".join(lines)
