"""Schedules, one budget a layer, and the policy that draws them: Algorithm 1 of the paper.

The policy draws counts, which add up to the total budget exactly as in the paper. The unit draws a
power of two, at least one sample, in each layer, so counts become a schedule by one fixed rule. It
belongs to what is rewarded, not to the policy: the gradient is that of the counts, unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_SAMPLES = 4096
"""Of a layer; the unit draws a power of two to this."""

Schedule = tuple[int, ...]


def unit_schedule(shares: Sequence[float] | NDArray[np.float64] | NDArray[np.int64],
                  total: int) -> Schedule:
    """The powers of two, each at least 1, that follow `shares` and add up to at most `total`.

    Each layer starts with one sample; then the layer with the most of its share left per sample (of
    equal ones the first) is doubled as long as a layer can be without exceeding the total. With
    equal shares of a power of two this is the uniform schedule.

    shares  not negative, any scale; total at least their number
    """
    if total < len(shares):
        raise ValueError(f"total: got {total}; allowed: at least {len(shares)}, a sample for each layer")
    found = [1] * len(shares)
    spare = total - len(found)
    while True:
        open_layers = [layer for layer, samples in enumerate(found)
                       if samples <= spare and samples < MOST_SAMPLES]
        if not open_layers:
            return tuple(found)
        layer = max(open_layers, key=lambda place: (shares[place] / found[place], -place))
        spare -= found[layer]
        found[layer] *= 2


def probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def draw(logits: NDArray[np.float64], total: int, seed: int, iteration: int,
         episode: int) -> list[int]:
    """Counts of one episode, which add up to `total`; a function of its arguments alone."""
    random = np.random.default_rng([seed, iteration, episode])
    return [int(count) for count in random.multinomial(total, probabilities(logits))]


def updated(logits: NDArray[np.float64], total: int, counts: NDArray[np.int64],
            rewards: NDArray[np.float64], learning_rate: float) -> NDArray[np.float64]:
    """The logits after one iteration: counts [episodes, layers], rewards [episodes]."""
    advantages = rewards - rewards.mean()
    gradient = (advantages[:, np.newaxis] * (counts - total * probabilities(logits))).mean(axis=0)
    return logits + learning_rate * gradient
