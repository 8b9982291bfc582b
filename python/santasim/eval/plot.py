"""Accuracy against simulated energy and time of a token, in one picture."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "santasim"  # the same bytes for the same numbers

from matplotlib import pyplot, ticker
from matplotlib.axes import Axes

from .energy import Cost
from .store import write_atomically

_COLOURS = {"dense": "black", "topk": "tab:green", "santa": "tab:red", "strat": "tab:orange",
            "sys": "tab:blue"}


def _family(row: str) -> tuple[str, int]:
    """A method without its budget, and the budget: points of one family are joined by rising S."""
    found = re.search(r" S=(\d+)", row)
    return (row, 0) if found is None else (row.replace(found[0], ""), int(found[1]))


def _by_numbers(name: str) -> list[str | int]:
    """Sorts B=8 before B=16. Texts and numbers take turns, beginning with a text."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _lines(axis: Axes, costs: list[Cost], value: str, scale: float) -> None:
    families: dict[str, list[tuple[int, Cost]]] = {}
    for cost in costs:
        name, samples = _family(cost.row)
        families.setdefault(name, []).append((samples, cost))
    for name in sorted(families, key=_by_numbers):
        points = [cost for _, cost in sorted(families[name], key=lambda point: point[0])]
        means = [cost.accuracy.mean for cost in points]
        ends = [[cost.accuracy.mean - cost.accuracy.low for cost in points],
                [cost.accuracy.high - cost.accuracy.mean for cost in points]]
        style = "--" if "bernoulli" in name else ":" if re.search(r" [KV]4", name) else "-"
        marker = ("*" if name.startswith("dense") else "s" if "bernoulli-group" in name else
                  "^" if "bernoulli" in name else ".")
        axis.errorbar([getattr(cost, value) * scale for cost in points], means, yerr=ends, capsize=2,
                      marker=marker, markersize=4 if marker in "s^" else None, linestyle=style,
                      linewidth=1, elinewidth=0.4, color=_COLOURS.get(name.split()[0]), label=name)


def _logarithmic(axis: Axes, unit: str) -> None:
    """Few labels, with the unit's prefix, whether the points span a tenth of a decade or several."""
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    if high < 10 * low:
        axis.xaxis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.xaxis.set_major_formatter(ticker.EngFormatter(unit))
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())


def save(figure: pyplot.Figure, path: Path) -> None:
    """As SVG, the same bytes for the same numbers. Raises InputError where it cannot be written."""
    content = io.StringIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    write_atomically(path, content.getvalue())


def draw(costs: list[Cost], path: Path) -> None:
    """A row of two axes for each model and task; the band is that of PyTorch's attention."""
    columns = sorted({cost.column for cost in costs})
    figure, axes = pyplot.subplots(len(columns), 2, figsize=(12, 4.5 * len(columns)), squeeze=False,
                                   sharey="row", layout="constrained")
    for pair, column in zip(axes, columns):
        mine = [cost for cost in costs if cost.column == column]
        for axis, name, value, scale, unit in (
                (pair[0], "energy of attention a token", "energy_pj", 1e-12, "J"),
                (pair[1], "time of attention a token", "time_ns", 1e-9, "s")):
            if mine[0].sdpa is not None:
                axis.axhspan(mine[0].sdpa.low, mine[0].sdpa.high, alpha=0.15, label="sdpa, 95 %")
            _lines(axis, mine, value, scale)
            _logarithmic(axis, unit)
            axis.set_xlabel(name)
            axis.grid(True, alpha=0.3)
        pair[0].set_ylabel(f"accuracy, %\n{column}")
    entries = {}  # of all axes, each once
    for pair in axes:
        entries.update(zip(*reversed(pair[1].get_legend_handles_labels())))
    figure.legend(entries.values(), entries.keys(), loc="outside right upper", fontsize="x-small")
    save(figure, path)
