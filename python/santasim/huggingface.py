"""The golden model as the attention of a Hugging Face causal model.

    from santasim import Unit, huggingface
    huggingface.attach(model, Unit("edge-lpddr5"), samples=256, seed=1)
    model.generate(**inputs)

A step with one new token goes through the unit's arithmetic, bit for bit as Unit.decode() has it.
A prefill goes through PyTorch's scaled_dot_product_attention, as in the paper's section 3, or, with
prefill="sampled", token by token through the unit, as in its section 4.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import CacheLayerMixin
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from . import _golden
from .unit import Cache, Result, Unit, decode_each

NAME = "santasim_golden"
"""Of the attention implementation."""

PREFILLS = ("dense", "sampled")


@dataclasses.dataclass(frozen=True)
class Step:
    """What one layer did for one new token of one request."""

    layer: int
    request: int
    step: int  # the numbers that chose the draws
    query: np.ndarray  # float32 [query_heads, features]
    cache: Cache  # that of the layer, which may have grown since
    tokens: int  # keys that the token attended to: the first of the cache
    scale: float | None
    result: Result

    @property
    def key(self) -> np.ndarray:
        """float32 [kv_heads, tokens, features]."""
        return self.cache.key[:, :self.tokens]

    @property
    def value(self) -> np.ndarray:
        """The same."""
        return self.cache.value[:, :self.tokens]


Observer = Callable[[Step], None]


@dataclasses.dataclass(frozen=True)
class Attention:
    """How requests are decoded; the fields are the arguments of attach()."""

    unit: Unit
    values: str = "sys"
    scores: str = "exact"
    samples: int | Sequence[int] = 256
    bernoulli: int = 8
    seed: int = 1
    observer: Observer | None = None

    def options(self, layers: int) -> list[_golden.Options]:
        """Of each layer. Raises ValueError: options that are wrong do not wait for a text."""
        budgets = ([self.samples] * layers if isinstance(self.samples, int) else list(self.samples))
        if len(budgets) != layers:
            raise ValueError(f"samples: got {len(budgets)} budgets; allowed: one, or one for each of "
                             f"{layers} layers")
        empty = np.zeros((1, 0, 1), np.float32)
        self.unit.decode(np.zeros((1, 1), np.float32), empty, empty, values=self.values,
                         scores=self.scores, samples=budgets[0], bernoulli=self.bernoulli,
                         seed=self.seed)
        return [_golden.Options(self.values, self.scores, budget, self.bernoulli)
                for budget in budgets]


_SETTINGS = "_santasim_golden"
_REFUSED = {"softcap": "soft-capped logits", "s_aux": "attention sinks",
            "position_bias": "a position bias"}


@dataclasses.dataclass
class _Layer:
    """What one attention layer of a model draws with."""

    attentions: list[Attention]  # one of all requests, or one of each
    options: list[_golden.Options]  # the same
    prefill: str
    step: int = 0  # tokens that went through the unit since the sequence began

    def of_request(self, request: int) -> tuple[Attention, _golden.Options, int]:
        """The last is the number that its draws have."""
        if len(self.attentions) == 1:
            return self.attentions[0], self.options[0], request
        return self.attentions[request], self.options[request], 0


def attention_layers(model: torch.nn.Module) -> list[torch.nn.Module]:
    """The attention modules of a model, by layer."""
    layers = [module for module in model.modules()
              if hasattr(module, "layer_idx") and hasattr(module, "scaling")]
    return sorted(layers, key=lambda module: module.layer_idx)


def attach(model: torch.nn.Module, unit: Unit, *, values: str = "sys", scores: str = "exact",
           samples: int | Sequence[int] = 256, bernoulli: int = 8, seed: int = 1,
           prefill: str = "dense", observer: Observer | None = None) -> None:
    """Makes `unit` the attention of every layer of `model` from its next token on.

    samples  one budget, or one for each layer
    seed     of all draws; layer, head, request and step each have their own stream
    prefill  "dense": PyTorch's attention; "sampled": each token of a prompt as if it were decoded,
             with the keys and values up to its own, so that a prompt in one piece or in many is the
             same. This costs as much as decoding the prompt.
    observer called with each Step
    Other arguments are those of Unit.decode(). Keys and values are quantised anew at each step, as
    a cache that holds them all would be. A layer with a sliding window keeps it, and a token that
    is masked out, as padding is, is no key. A sequence begins, and its steps are counted from 0,
    where no earlier key is in the cache, and at each call of attach().

    Raises ValueError for a model whose attention the unit does not compute.
    """
    _attach(model, [Attention(unit, values, scores, samples, bernoulli, seed, observer)], prefill)


def attach_each(model: torch.nn.Module, attentions: Sequence[Attention]) -> None:
    """The same with an attention of its own for each request of a batch, each as if it were alone.

    A prefill is PyTorch's. The units of all have one backend.
    """
    _attach(model, list(attentions), "dense")


def _attach(model: torch.nn.Module, attentions: list[Attention], prefill: str) -> None:
    layers = attention_layers(model)
    if not layers:
        raise ValueError(f"model: got {type(model).__name__}; allowed: a model of transformers "
                         "whose attention goes through its attention interface")
    if prefill not in PREFILLS:
        raise ValueError(f'prefill: got "{prefill}"; allowed: {", ".join(PREFILLS)}')
    if len({attention.unit.backend for attention in attentions}) != 1:
        raise ValueError("attentions: got units of several backends; allowed: one for a batch")
    options = [attention.options(len(layers)) for attention in attentions]
    model.set_attn_implementation(NAME)
    for place, layer in enumerate(layers):
        setattr(layer, _SETTINGS, _Layer(attentions, [mine[place] for mine in options], prefill))


class UnitCache(transformers.Cache):
    """A cache that the unit holds: keys and values are quantised as they come, and only once.

    It serves decode steps behind a prompt, one new token of each request at a time, without masks.
    """

    def __init__(self, prompt: transformers.Cache, units: Sequence[Unit | None]) -> None:
        """Copies of a prompt's cache, batch of one, for a request of each unit; None is no request."""
        super().__init__(layers=[_UnitLayer(layer, units) for layer in prompt.layers])

    def stop(self, request: int) -> None:
        """From now on the attention of a request is 0: its tokens mean nothing."""
        for layer in self.layers:
            layer.caches[request] = None

    def stopped(self, request: int) -> bool:
        return self.layers[0].caches[request] is None


class _UnitLayer(CacheLayerMixin):
    """Keys and values of one layer. What a step adds waits for the queries, in one copy."""

    is_sliding = False

    def __init__(self, prompt: Any, units: Sequence[Unit | None]) -> None:
        super().__init__()
        if prompt.is_sliding or prompt.keys.shape[0] != 1:
            raise ValueError(f"cache: got {type(prompt).__name__} of {prompt.keys.shape[0]} requests; "
                             "allowed: one request, all its tokens")
        self.is_initialized = True
        self.tokens = prompt.keys.shape[2]
        quantised: dict[tuple[str, str], Cache] = {}
        self.caches: list[Cache | None] = []
        for unit in units:
            if unit is None:
                self.caches.append(None)
                continue
            name = unit.hash, unit.backend
            if name not in quantised:
                quantised[name] = unit.cache(_array(prompt.keys[0]), _array(prompt.values[0]))
            self.caches.append(quantised[name].copy())

    def lazy_initialization(self, *_: Any) -> None:
        pass

    def update(self, key: torch.Tensor, value: torch.Tensor, *_: Any,
               **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        if key.shape[2] != 1 or key.shape[0] != len(self.caches):
            raise ValueError(f"cache: got {key.shape[2]} new tokens of {key.shape[0]} requests; "
                             f"allowed: 1 of {len(self.caches)}")
        self.tokens += 1
        key._santasim_layer = self  # for the attention function, which is not given the cache
        return key, value

    def take(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> np.ndarray:
        """Adds the step's token to the caches; queries as [requests, heads, features]."""
        together = _array(torch.cat([query, key, value], dim=1)[:, :, 0])
        if not np.isfinite(together).all():
            raise ValueError("query, key, value: got nan or inf; allowed: finite numbers")
        heads, kv_heads = query.shape[1], key.shape[1]
        for cache, mine in zip(self.caches, together):
            if cache is not None:
                cache.append_finite(mine[heads:heads + kv_heads, None], mine[heads + kv_heads:, None])
        return together[:, :heads]

    def get_seq_length(self, *_: Any) -> int:
        return self.tokens

    def get_mask_sizes(self, query: Any) -> tuple[int, int]:
        new = query if isinstance(query, int) else query.shape[0]
        return self.tokens + new, 0

    def get_max_length(self) -> int:
        return -1

    get_max_cache_shape = get_max_length  # its name before transformers 5.20


def _visible(mask: torch.Tensor | None, request: int, row: int, position: int,
             window: int | None) -> np.ndarray | slice:
    """Which of the keys the token of a row attends to; `position` is its own key."""
    if mask is None:
        return slice(0 if window is None else max(0, position + 1 - window), position + 1)
    seen = mask[request if mask.shape[0] > 1 else 0, 0, row, :position + 1]
    return np.flatnonzero((seen if seen.dtype == torch.bool else seen == 0).cpu().numpy())


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float32).cpu().numpy()


@dataclasses.dataclass
class _Work:
    """One token of one request."""

    request: int
    row: int  # of the new tokens
    step: int
    query: np.ndarray  # [heads, features]
    cache: Cache


def _decode(layer: _Layer, number: int, work: list[_Work], scaling: float | None) -> np.ndarray:
    """[work, heads, features] of layer `number`."""
    attentions, options, requests = zip(*(layer.of_request(one.request) for one in work))
    places = [(attention.seed, request, number, one.step)
              for attention, request, one in zip(attentions, requests, work)]
    outputs, results = decode_each([one.cache for one in work], np.stack([one.query for one in work]),
                                   options, places, scale=scaling)
    for attention, place, one, result in zip(attentions, places, work, results):
        if attention.observer is not None:
            attention.observer(Step(number, place[1], one.step, one.query, one.cache,
                                    one.cache.tokens, scaling, result))
    return outputs


def _from_tensors(layer: _Layer, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                  mask: torch.Tensor | None, window: int | None) -> Iterator[_Work]:
    """Tokens over keys and values that are quantised anew; request by request, token by token."""
    rows, tokens = query.shape[2], key.shape[2]
    for request in range(query.shape[0]):
        unit = layer.of_request(request)[0].unit
        queries, keys, values = _array(query[request]), _array(key[request]), _array(value[request])
        if not np.isfinite(queries).all():
            raise ValueError("query: got nan or inf; allowed: finite numbers")
        cache: Cache | None = None
        for row in range(rows):
            position = tokens - rows + row
            if cache is not None and mask is None and window is None:  # one key more
                cache.append(keys[:, position:position + 1], values[:, position:position + 1])
            else:
                visible = _visible(mask, request, row, position, window)
                cache = unit.cache(keys[:, visible], values[:, visible])
            yield _Work(request, row, layer.step + row, queries[:, row], cache)


def santasim_golden(module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor,
                    value: torch.Tensor, attention_mask: torch.Tensor | None,
                    scaling: float | None = None, dropout: float = 0.0,
                    **more: Any) -> tuple[torch.Tensor, None]:
    """The attention function: query [batch, heads, tokens, features], keys and values alike."""
    layer: _Layer | None = getattr(module, _SETTINGS, None)
    if layer is None:
        raise ValueError(f"model: has the attention {NAME} without settings; allowed: after "
                         "santasim.huggingface.attach(model, unit)")
    for name, what in _REFUSED.items():
        if more.get(name) is not None:
            raise ValueError(f"model: got {what}; allowed: attention without, for the unit does "
                             "not compute it")
    rows, tokens = query.shape[2], key.shape[2]
    if rows == tokens and not hasattr(key, "_santasim_layer"):
        layer.step = 0
    if rows != 1 and layer.prefill == "dense":
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout=dropout,
                                      scaling=scaling, **more)
    if attention_mask is None and tokens < rows:
        raise ValueError(f"model: got {tokens} keys for {rows} new tokens; allowed: a cache that "
                         "holds them")
    held: _UnitLayer | None = getattr(key, "_santasim_layer", None)
    if held is None:
        tensors = query, key, value, attention_mask, more.get("sliding_window")
        work = _from_tensors(layer, *tensors)
        groups = [list(work)] if rows == 1 else ([one] for one in work)
    else:
        if attention_mask is not None or more.get("sliding_window") is not None:
            raise ValueError("cache: got a UnitCache with a mask or a window; allowed: without")
        queries = held.take(query, key, value)
        groups = [[_Work(request, 0, layer.step, queries[request], cache)
                   for request, cache in enumerate(held.caches) if cache is not None]]
    outputs = np.zeros((query.shape[0], rows, query.shape[1], query.shape[3]), np.float32)
    for group in groups:
        if group:
            places = [one.request for one in group], [one.row for one in group]
            outputs[places] = _decode(layer, module.layer_idx, group, scaling)
    layer.step += rows
    return torch.from_numpy(outputs).to(query.device, query.dtype), None


AttentionInterface.register(NAME, santasim_golden)
AttentionMaskInterface.register(NAME, sdpa_mask)
