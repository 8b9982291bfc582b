"""Tables of stored answers: accuracy with bootstrap intervals, shares of keys and values read."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .errors import InputError
from .methods import label
from .packed import Run, runs
from .store import Record, canonical

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
    costs: list[tuple[float, float]]  # pJ and ns of each step that was simulated

    def accuracy(self) -> Estimate:
        return bootstrap(np.array(list(self.scores.values())))

    def difference(self, other: Cell) -> Estimate | None:
        """To another method on the prompts that both answered; None without any."""
        common = sorted(set(self.scores) & set(other.scores))
        if not common:
            return None
        return bootstrap(np.array([self.scores[i] - other.scores[i] for i in common]))


def _cell(runs: list[Run]) -> Cell:
    scores: dict[int, list[float]] = {}
    totals: dict[str, list[int]] = {}
    for run in runs:
        for index, score in run.scores.items():
            scores.setdefault(index, []).append(100 * score)
        for name, (read, possible) in run.access.items():
            total = totals.setdefault(name, [0, 0])
            total[0] += read
            total[1] += possible
    answers = sum(len(run.scores) for run in runs)
    return Cell({index: float(np.mean(scores[index])) for index in sorted(scores)},
                {name: 100 * read / possible for name, (read, possible) in totals.items() if possible},
                sum(run.new_tokens for run in runs) / answers,
                [cost for run in runs for cost in run.costs])


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


def cells(results: Path) -> dict[tuple[str, str], Cell]:
    """By column (model and task) and row (method); of a folder or a packed file."""
    found: dict[tuple[str, str], list[Run]] = {}
    identities: dict[tuple[str, str], tuple[str, str]] = {}
    for run in runs(results):
        key = column(run.configuration), row(run.configuration)
        same = canonical({**run.configuration, "seed": None})
        first = identities.setdefault(key, (same, run.name))
        if first[0] != same:
            raise InputError(f"{results}: {first[1]} and {run.name} would share the row "
                             f'"{key[1]}" of "{key[0]}"; allowed: configurations that differ in '
                             "their seed alone, or a folder for each")
        found.setdefault(key, []).append(run)
    return {key: _cell(mine) for key, mine in found.items()}


def _order(row: str) -> tuple[object, ...]:
    """sdpa first, then by name, numbers by value."""
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part)
             for part in row.replace("=", " ").split()]
    return (row != "sdpa", *parts)


def _cost(cell: Cell, unit: int, scale: float) -> str:
    return f"{np.mean([cost[unit] for cost in cell.costs]) * scale:.1f}" if cell.costs else "–"


_SAMPLES = re.compile(r" S=(\d+)")


def _least_samples(rows: dict[str, Cell]) -> list[str]:
    """For each family of methods, the least budget from which on no loss against sdpa is seen."""
    dense = rows["sdpa"]
    families: dict[str, list[tuple[int, Cell]]] = {}
    for name, cell in rows.items():
        if found := _SAMPLES.search(name):
            families.setdefault(name.replace(found[0], ""), []).append((int(found[1]), cell))
    lines = []
    for name in sorted(families, key=_order):
        least: tuple[int, Cell] | None = None
        for samples, cell in sorted(families[name], key=lambda entry: -entry[0]):
            difference = cell.difference(dense)
            if difference is None or difference.high < 0:
                break
            least = samples, cell
        if least is None:
            lines.append(f"| {name} | none | – | – | – | – | – |")
            continue
        samples, cell = least
        read = cell.access.get("values_group")
        lines.append(f"| {name} | {samples} | {cell.difference(dense)} | "
                     + ("– | – | " if read is None else
                        f"{100 - read:.1f} | {100 - cell.access['values_head']:.1f} | ")
                     + f"{_cost(cell, 0, 1e-6)} | {_cost(cell, 1, 1e-3)} |")
    if not lines:
        return []
    return ["Least S from which on the interval of the difference to sdpa reaches 0:", "",
            "| attention | S | less sdpa's [95 %] | value reads saved % | a head % | µJ a token | "
            "µs a token |", "|---|--:|--:|--:|--:|--:|--:|", *lines, ""]


def table(results: Path) -> str:
    """Markdown: for each model and task a table of methods."""
    found = cells(results)
    lines: list[str] = []
    for where in sorted({key[0] for key in found}, key=_order):
        rows = {name: cell for (place, name), cell in found.items() if place == where}
        dense = rows.get("sdpa")
        costs = any(cell.costs for cell in rows.values())
        names = [*_ACCESS.values(), "new tokens", *(["µJ a token", "µs a token"] if costs else [])]
        lines += [f"### {where}", ""]
        if dense is not None:
            lines += _least_samples(rows)
        lines += ["| attention | prompts | accuracy % [95 %] | less sdpa's [95 %] | "
                  + " | ".join(names) + " |", "|---|--:|--:|--:|" + "--:|" * len(names)]
        for name in sorted(rows, key=_order):
            cell = rows[name]
            difference = None if dense is None or name == "sdpa" else cell.difference(dense)
            values = [f"{cell.access[kind]:.1f}" if kind in cell.access else "–" for kind in _ACCESS]
            values.append(f"{cell.new_tokens:.1f}")
            if costs:
                values += [_cost(cell, 0, 1e-6), _cost(cell, 1, 1e-3)]
            lines.append(f"| {name} | {len(cell.scores)} | {cell.accuracy()} | "
                         f"{'–' if difference is None else difference} | {' | '.join(values)} |")
        lines.append("")
    return "\n".join(lines)


def document(results: Path) -> str:
    """The tables as a file of their own."""
    return (f"# Accuracy, reads and energy\n\nWritten by `python -m santasim.eval report {results} "
            "--markdown FILE`; [eval.md](eval.md) says what the columns are.\n\n"
            + table(results).rstrip("\n") + "\n")
