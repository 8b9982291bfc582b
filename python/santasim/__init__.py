"""The golden model of an adder-only sampled-attention unit on NumPy arrays.

    import numpy as np, santasim
    unit = santasim.Unit("edge-lpddr5")
    result = unit.decode(query, key, value, samples=256, seed=1)
    result.output, result.keys, result.counts

Every number is the one that the program `santasim` computes, bit for bit.
"""

from ._arrays import InputArray
from ._golden import SCORE_SCHEMES, VALUE_SCHEMES
from .unit import BACKENDS, Cache, Operations, Result, Unit, preset_names

__all__ = ["BACKENDS", "Cache", "InputArray", "Operations", "Result", "SCORE_SCHEMES", "Unit",
           "VALUE_SCHEMES", "preset_names"]
__version__ = "0.1.0"
