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
from typing import Any, Callable, Sequence

import numpy as np
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from .unit import Result, Unit

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
    key: np.ndarray  # float32 [kv_heads, tokens, features], those that the token attended to
    value: np.ndarray  # the same
    scale: float | None
    result: Result

    @property
    def tokens(self) -> int:
        return self.key.shape[1]


Observer = Callable[[Step], None]

_SETTINGS = "_santasim_golden"
_REFUSED = {"softcap": "soft-capped logits", "s_aux": "attention sinks",
            "position_bias": "a position bias"}


@dataclasses.dataclass
class _Layer:
    """What one attention layer of a model draws with."""

    unit: Unit
    values: str
    scores: str
    samples: int
    bernoulli: int
    seed: int
    prefill: str
    observer: Observer | None
    step: int = 0  # tokens that went through the unit since the sequence began


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
    layers = attention_layers(model)
    if not layers:
        raise ValueError(f"model: got {type(model).__name__}; allowed: a model of transformers "
                         "whose attention goes through its attention interface")
    if prefill not in PREFILLS:
        raise ValueError(f'prefill: got "{prefill}"; allowed: {", ".join(PREFILLS)}')
    budgets = [samples] * len(layers) if isinstance(samples, int) else list(samples)
    if len(budgets) != len(layers):
        raise ValueError(f"samples: got {len(budgets)} budgets; allowed: one, or one for each of "
                         f"{len(layers)} layers")
    # Options that are wrong are refused here and not in the middle of a text.
    for budget in set(budgets):
        empty = np.zeros((1, 0, 1), np.float32)
        unit.decode(np.zeros((1, 1), np.float32), empty, empty, values=values, scores=scores,
                    samples=budget, bernoulli=bernoulli, seed=seed)
    model.set_attn_implementation(NAME)
    for layer, budget in zip(layers, budgets):
        setattr(layer, _SETTINGS, _Layer(unit, values, scores, budget, bernoulli, seed, prefill,
                                         observer))


def _visible(mask: torch.Tensor | None, request: int, row: int, position: int,
             window: int | None) -> np.ndarray | slice:
    """Which of the keys the token of a row attends to; `position` is its own key."""
    if mask is None:
        return slice(0 if window is None else max(0, position + 1 - window), position + 1)
    seen = mask[request if mask.shape[0] > 1 else 0, 0, row, :position + 1]
    return np.flatnonzero((seen if seen.dtype == torch.bool else seen == 0).cpu().numpy())


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float32).cpu().numpy()


def _one_request(layer: _Layer, module: torch.nn.Module, request: int, query: np.ndarray,
                 key: np.ndarray, value: np.ndarray, mask: torch.Tensor | None,
                 scaling: float | None, window: int | None) -> np.ndarray:
    """Attention of query [heads, rows, features]; [rows, heads, features]."""
    rows, tokens = query.shape[1], key.shape[1]
    outputs = []
    for row in range(rows):
        visible = _visible(mask, request, row, tokens - rows + row, window)
        step = layer.step + row
        tensors = query[:, row], key[:, visible], value[:, visible]
        result = layer.unit.decode(
            *tensors, values=layer.values, scores=layer.scores, samples=layer.samples,
            bernoulli=layer.bernoulli, scale=scaling, seed=layer.seed, request=request,
            layer=module.layer_idx, step=step)
        if layer.observer is not None:
            layer.observer(Step(module.layer_idx, request, step, *tensors, scaling, result))
        outputs.append(result.output)
    return np.stack(outputs)


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
    if rows == tokens:
        layer.step = 0
    if rows != 1 and layer.prefill == "dense":
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout=dropout,
                                      scaling=scaling, **more)
    if attention_mask is None and tokens < rows:
        raise ValueError(f"model: got {tokens} keys for {rows} new tokens; allowed: a cache that "
                         "holds them")
    outputs = [_one_request(layer, module, request, _array(query[request]), _array(key[request]),
                            _array(value[request]), attention_mask, scaling,
                            more.get("sliding_window")) for request in range(query.shape[0])]
    layer.step += rows
    return torch.from_numpy(np.stack(outputs)).to(query.device, query.dtype), None


AttentionInterface.register(NAME, santasim_golden)
AttentionMaskInterface.register(NAME, sdpa_mask)
