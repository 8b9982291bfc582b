"""Pictures: learned schedule beside the ablation, and reward over iterations."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "santasim"  # the same bytes for the same numbers

import numpy as np
from matplotlib import pyplot

from santasim.eval.errors import InputError
from santasim.eval.plot import save
from santasim.eval.report import bootstrap

from .report import MEASURES, Rows, Trained, rows, trained

_COLOURS = {"bar": "#4c78a8", "point": "#333333", "band": "#f58518"}


def _ablation(axis: pyplot.Axes, found: Rows, measure: str) -> None:
    estimates = [bootstrap(line) for line in found.measures[measure]]
    base, layers = estimates[0], estimates[1:]
    axis.axhspan(base.low, base.high, alpha=0.3, color=_COLOURS["band"])
    samples = max(found.samples(0))
    axis.axhline(base.mean, color=_COLOURS["band"], label=f"S = {samples} in all layers, 95 %")
    means = np.array([estimate.mean for estimate in layers])
    axis.errorbar(range(len(layers)), means, capsize=2, fmt="o", ms=4, color=_COLOURS["point"],
                  yerr=np.array([[mean - estimate.low, estimate.high - mean]
                                 for mean, estimate in zip(means, layers)]).T,
                  label=f"S = 1 in one layer, {samples} in the others")
    axis.set_ylabel(MEASURES[measure])
    axis.legend(fontsize="small")
    axis.grid(True, alpha=0.3)


def _schedule(axis: pyplot.Axes, found: Trained) -> None:
    layers = len(found.schedule)
    total = int(found.configuration["total"])
    axis.bar(range(layers), found.schedule, color=_COLOURS["bar"],
             label=f"learned schedule, {sum(found.schedule)} samples")
    axis.plot(range(layers), total * found.probabilities, "_", color=_COLOURS["point"], ms=9,
              label="mean of the policy's counts")
    axis.axhline(total / layers, color=_COLOURS["band"], ls="--", label=f"uniform, {total} samples")
    axis.set_ylabel("samples")
    axis.legend(fontsize="small")
    axis.grid(True, axis="y", alpha=0.3)


def draw(folder: Path, target: Path) -> None:
    """Writes what the folder has data for."""
    training = trained(folder)
    ablations = [(found, measure) for name in ("ablate-answers", "ablate-follow")
                 if (found := rows(folder, name)) is not None
                 for measure in ("accuracy", "logprob") if measure in found.measures]
    panels = len(ablations) + (training is not None)
    if not panels:
        raise InputError(f"{folder}: neither ablation nor training; allowed: a folder with one of them")
    target.mkdir(parents=True, exist_ok=True)
    figure, axes = pyplot.subplots(panels, 1, figsize=(9, 2.8 * panels), squeeze=False, sharex=True,
                                   layout="constrained")
    for axis, (found, measure) in zip(axes[:, 0], ablations):
        _ablation(axis, found, measure)
    if training is not None:
        _schedule(axes[-1, 0], training)
    axes[-1, 0].set_xlabel("layer")
    save(figure, target / "budgets-schedule.svg")
    if training is None or not len(training.rewards):
        return
    figure, axis = pyplot.subplots(figsize=(9, 3), layout="constrained")
    iterations = np.arange(len(training.rewards))
    axis.fill_between(iterations, training.measured.min(axis=1), training.measured.max(axis=1), alpha=0.2,
                      color=_COLOURS["bar"], label="episodes, least to most")
    axis.plot(iterations, training.measured.mean(axis=1), color=_COLOURS["bar"],
              label="mean of an iteration's episodes")
    axis.set_xlabel("iteration")
    axis.set_ylabel(MEASURES[training.configuration["reward"]])
    axis.legend(fontsize="small")
    axis.grid(True, alpha=0.3)
    save(figure, target / "budgets-reward.svg")
