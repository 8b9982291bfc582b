"""Units of a hardware description, caches in their memory, and decode steps on them."""

from __future__ import annotations

import dataclasses
import os
from functools import cached_property
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _golden
from ._arrays import FLOATS, InputArray, checked, floats, require_shape

_KV_AXES = ("kv_heads", "tokens", "head_dimension")
_CONFIGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "configs")
if os.path.isdir(_CONFIGS):  # an installed package brings the presets along
    _golden.add_config_directory(_CONFIGS)


def preset_names() -> list[str]:
    """Names of the hardware presets."""
    return _golden.preset_names("hardware")


@dataclasses.dataclass(frozen=True)
class Operations:
    """What the algorithm did, in scalar elements: the paper's tables 8 and 10."""

    score_adds: int
    score_multiplies: int
    value_adds: int
    value_multiplies: int
    key_elements_read: int  # each once for a group of query heads
    value_elements_read: int  # for each query head
    scores_written: int
    outputs_written: int


BACKENDS = ("cpu", "cuda")
"""What computes decode steps: this processor, or the golden kernels on a GPU. The bits are the same."""


class Result:
    """One decode step of a layer. Fields are made when they are first asked for."""

    def __init__(self, output: NDArray[np.float32], step: _golden.Step) -> None:
        self.output = output
        """[query_heads, head_dimension], real units."""
        self._step = step

    @cached_property
    def raw_output(self) -> NDArray[np.int16]:
        """[query_heads, head_dimension] as the unit writes it: 8.8, in steps of each value feature."""
        return self._step.raw_output

    @cached_property
    def log_sum_exp(self) -> NDArray[np.float64]:
        """[query_heads], natural logarithm of the sum of exponentials; -inf without keys."""
        return self._step.log_sum_exp

    @cached_property
    def keys(self) -> list[NDArray[np.uint32]]:
        """For each KV head the value rows that some query head drew, ascending; none of dense values."""
        return self._step.keys

    @cached_property
    def counts(self) -> list[NDArray[np.uint16]]:
        """For each KV head [group, rows]: how often. A head's counts add up to `samples`; of top-k, 1."""
        return self._step.counts

    @cached_property
    def features(self) -> list[NDArray[np.uint32]]:
        """For each KV head the key features that were read, ascending."""
        return self._step.features

    @cached_property
    def operations(self) -> Operations:
        """Sums over all heads."""
        heads = self._step.operations
        return Operations(**{field.name: sum(head[field.name] for head in heads)
                             for field in dataclasses.fields(Operations)})

    @property
    def reads(self) -> tuple[int, int, int]:
        """Over all KV heads: features read, rows that some head drew; and rows of each query head."""
        return self._step.reads


class Cache:
    """Keys and values of a layer as the unit's memory holds them; made by Unit.cache()."""

    def __init__(self, golden: _golden.Cache, backend: str = "cpu") -> None:
        self._golden = golden
        self._backend = backend

    @property
    def kv_heads(self) -> int:
        return self._golden.kv_heads

    @property
    def tokens(self) -> int:
        return self._golden.context

    @property
    def head_dimension(self) -> int:
        return self._golden.head_dimension

    def decode(self, query: InputArray, *, values: str = "sys", scores: str = "exact",
               samples: int = 256, bernoulli: int = 8, scale: float | None = None, seed: int = 1,
               request: int = 0, layer: int = 0, step: int = 0) -> Result:
        """Attention of one new token's queries over this cache; the arguments of Unit.decode()."""
        array = floats("query", query, ("query_heads", "head_dimension"))
        heads, features = array.shape
        if features != self.head_dimension:
            require_shape("query", array, (heads, self.head_dimension), "as the keys")
        if heads == 0 or heads % self.kv_heads or heads // self.kv_heads > _golden.MAX_GROUP:
            raise ValueError(
                f"query: query heads: got {heads}; allowed: a multiple of {self.kv_heads} KV heads, "
                f"1 to {_golden.MAX_GROUP} for each")
        options = _options(values, scores, samples, bernoulli)
        return decode_each([self], array[None], [options], [(seed, request, layer, step)],
                           scale=scale)[1][0]

    def append(self, key: InputArray, value: InputArray) -> None:
        """Adds tokens, [kv_heads, tokens, head_dimension] as for Unit.cache().

        The cache is then what Unit.cache() makes of all tokens at once; only features whose scale
        grew are quantised anew. Not for int8 arrays.
        """
        self._require_growing()
        first = floats("key", key, _KV_AXES)
        require_shape("key", first, (self.kv_heads, first.shape[1], self.head_dimension),
                      "as the cache")
        second = floats("value", value, _KV_AXES)
        require_shape("value", second, first.shape, "as the keys")
        if self.tokens + first.shape[1] > _golden.MAX_CONTEXT:
            raise ValueError(f"key: tokens: got {self.tokens + first.shape[1]}; allowed: 0 to "
                             f"{_golden.MAX_CONTEXT}")
        self.append_finite(first, second)

    def append_finite(self, key: NDArray[np.float32], value: NDArray[np.float32]) -> None:
        """The same without a look at the arrays, which are as append() wants them."""
        self._golden.append(key, value)

    def copy(self) -> Cache:
        """Another cache with the same tokens, which grows on its own."""
        return Cache(_golden.Cache(self._golden), self._backend)

    @property
    def key(self) -> NDArray[np.float32]:
        """The keys as they were given, [kv_heads, tokens, head_dimension]. Not of int8 arrays."""
        self._require_growing()
        return self._golden.keys

    @property
    def value(self) -> NDArray[np.float32]:
        """The values as they were given."""
        self._require_growing()
        return self._golden.values

    def _require_growing(self) -> None:
        if not self._golden.grows:
            raise ValueError("cache: got int8 keys and values; allowed: a cache of float32, float16 "
                             "or bfloat16 arrays")


def _options(values: str, scores: str, samples: int, bernoulli: int) -> _golden.Options:
    for name, number in (("--samples", samples), ("--bernoulli", bernoulli)):
        if not -2**63 <= number < 2**63:
            raise ValueError(f'{name}: got "{number}"; allowed: a power of two from 1')
    return _golden.Options(values, scores, int(samples), int(bernoulli))


def decode_each(caches: Sequence[Cache], query: NDArray[np.float32],
                options: Sequence[_golden.Options], places: Sequence[tuple[int, int, int, int]], *,
                scale: float | None = None) -> tuple[NDArray[np.float32], list[Result]]:
    """Cache.decode() of several requests in one call, query [requests, query_heads, head_dimension].

    The caches have one shape, but for their tokens, and one backend; places are seed, request,
    layer and step of each. Returns the outputs, shaped as the query, and a result each.
    """
    for place in places:
        for name, number, least in zip(("--seed", "request", "layer", "--step"), place, (1, 0, 0, 0)):
            if not least <= number < 2**64:
                raise ValueError(f'{name}: got "{number}"; allowed: an integer from {least} to '
                                 f"{2**64 - 1}")
    if scale is None:
        scale = query.shape[2] ** -0.5
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f'--scale: got "{scale}"; allowed: a decimal number from 2.3e-308 to '
                         "1.7e308")
    requests = [_golden.Request(cache._golden, option, *map(int, place))
                for cache, option, place in zip(caches, options, places)]
    output, steps = _golden.decode(requests, query, float(scale), caches[0]._backend == "cuda")
    return output, [Result(mine, step) for mine, step in zip(output, steps)]


class Unit:
    """An attention unit as a hardware description states it.

    `hardware` is a preset ("edge-lpddr5"; preset_names() lists them) or the path of a YAML file;
    `overrides` changes keys of it, as `--set` does: {"unit.tile_keys": 64}. Of the description the
    golden model needs the tile and the widths of keys and values: all else is time and energy.

    `backend` chooses what computes: "cpu", or "cuda", the golden kernels on the current GPU where
    the module was built with CUDA. Keys, values and queries are quantised on the processor either
    way, and every number is the same.

    Raises ValueError with the program's own message.
    """

    def __init__(self, hardware: str | os.PathLike[str] = "edge-lpddr5", *,
                 overrides: Mapping[str, object] | None = None, backend: str = "cpu") -> None:
        if backend not in BACKENDS:
            raise ValueError(f'backend: got "{backend}"; allowed: {", ".join(BACKENDS)}')
        if backend == "cuda" and (obstacle := _golden.cuda_obstacle()):
            raise ValueError(f'backend: got "cuda": {obstacle}; allowed: cpu, or a module built with '
                             "CUDA on a machine with such a device")
        self.backend = backend
        assignments = [f"{key}={value}" for key, value in (overrides or {}).items()]
        self._hardware = _golden.Hardware(os.fspath(hardware), assignments)

    @property
    def name(self) -> str:
        return self._hardware.name

    @property
    def hash(self) -> str:
        """Names the configuration in results; that of `santasim run --json`."""
        return self._hardware.hash

    @property
    def canonical_yaml(self) -> str:
        """Every key, as YAML that reads back to the same description."""
        return self._hardware.canonical_text

    @property
    def tile_keys(self) -> int:
        return self._hardware.tile_keys

    def cache(self, key: InputArray, value: InputArray, *, key_scale: InputArray | None = None,
              value_scale: InputArray | None = None) -> Cache:
        """Quantises keys and values, [kv_heads, tokens, head_dimension].

        int8 arrays are taken over as they are: a key is integer * key_scale, a value
        integer * value_scale, both scales float32 [kv_heads, head_dimension], those of values
        powers of two; 1 where none is given.
        """
        types = (*FLOATS, "int8")
        first = checked("key", key, _KV_AXES, types)
        integers = first.dtype == np.int8
        _check_cache_shape(first)
        second = checked("value", value, _KV_AXES, ("int8",) if integers else FLOATS)
        require_shape("value", second, first.shape, "as the keys")
        hardware = self._hardware
        if integers:
            if hardware.key_bits != 8 or hardware.value_bits != 8:
                raise ValueError("system.key_bits, system.value_bits: got "
                                 f"{hardware.key_bits} and {hardware.value_bits}; allowed: 8, for "
                                 "these arrays hold 8-bit integers")
            scales = [_scales(name, scale, first.shape)
                      for name, scale in (("key_scale", key_scale), ("value_scale", value_scale))]
            return Cache(_golden.Cache(first, second, *scales, hardware.tile_keys), self.backend)
        for name, scale in (("key_scale", key_scale), ("value_scale", value_scale)):
            if scale is not None:
                raise ValueError(f"{name}: has no effect with {first.dtype.name} keys; allowed: "
                                 "with int8 keys and values")
        return Cache(_golden.Cache(floats("key", first, _KV_AXES), floats("value", second, _KV_AXES),
                                   hardware.tile_keys, hardware.key_bits, hardware.value_bits),
                     self.backend)

    def decode(self, query: InputArray, key: InputArray, value: InputArray, *, values: str = "sys",
               scores: str = "exact", samples: int = 256, bernoulli: int = 8,
               scale: float | None = None, seed: int = 1, request: int = 0, layer: int = 0,
               step: int = 0) -> Result:
        """Attention of one new token of a layer, as the unit computes it.

        query   [query_heads, head_dimension]; head h uses KV head h // (query_heads / kv_heads)
        key, value  [kv_heads, tokens, head_dimension], the new token's included; float32, float16
                or bfloat16, or int8 whose integers are the values
        values  "santa" (independent draws), "strat", "sys", "topk" or "dense"
        scores  "exact", "bernoulli", "bernoulli-iid" or "bernoulli-group"; exact for topk and dense
        samples draws a query head, a power of two to 4096; k of topk
        bernoulli  draws a feature, a power of two to 64
        scale   factor of q.k before the softmax, head_dimension ** -0.5 if none is given
        seed, request, layer, step  which random numbers: other ones for each (seed not 0)

        Raises ValueError for anything else; nothing is rounded or clamped to fit.
        """
        return self.cache(key, value).decode(
            query, values=values, scores=scores, samples=samples, bernoulli=bernoulli, scale=scale,
            seed=seed, request=request, layer=layer, step=step)


def _check_cache_shape(key: NDArray[Any]) -> None:
    heads, tokens, features = key.shape
    if heads < 1 or tokens > _golden.MAX_CONTEXT or not 1 <= features <= _golden.MAX_HEAD_DIMENSION:
        raise ValueError(f"key: shape: got {list(key.shape)}; allowed: 1 KV head or more, up to "
                         f"{_golden.MAX_CONTEXT} tokens, 1 to {_golden.MAX_HEAD_DIMENSION} features")


def _scales(name: str, scale: InputArray | None, shape: Sequence[int]) -> NDArray[np.float32]:
    expected = (shape[0], shape[2])
    if scale is None:
        return np.ones(expected, np.float32)
    array = floats(name, scale, ("kv_heads", "head_dimension"))
    require_shape(name, array, expected, "as the keys")
    return array
