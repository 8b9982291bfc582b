"""Accuracy against simulated energy and time of a token, in one picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "santasim"  # the same bytes for the same numbers

from matplotlib import pyplot

from .energy import Cost


def draw(costs: list[Cost], path: Path) -> None:
    """A row of two axes for each model and task; the band is that of PyTorch's attention."""
    columns = sorted({cost.column for cost in costs})
    figure, axes = pyplot.subplots(len(columns), 2, figsize=(10, 4 * len(columns)), squeeze=False,
                                   sharey="row", layout="constrained")
    for pair, column in zip(axes, columns):
        mine = [cost for cost in costs if cost.column == column]
        for axis, name, values in ((pair[0], "energy of attention a token, pJ",
                                    [cost.energy_pj for cost in mine]),
                                   (pair[1], "time of attention a token, ns",
                                    [cost.time_ns for cost in mine])):
            if mine[0].sdpa is not None:
                axis.axhspan(mine[0].sdpa.low, mine[0].sdpa.high, alpha=0.15, label="sdpa, 95 %")
            for cost, value in zip(mine, values):
                estimate = cost.accuracy
                axis.errorbar([value], [estimate.mean], capsize=3, marker="o", label=cost.row,
                              yerr=[[estimate.mean - estimate.low], [estimate.high - estimate.mean]])
            axis.set_xscale("log")
            axis.set_xlabel(name)
            axis.grid(True, alpha=0.3)
        pair[0].set_ylabel(f"accuracy, %\n{column}")
        pair[1].legend(fontsize="x-small")
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
