"""The golden model as the attention of a Hugging Face causal model, in decode steps.

    from santasim import Unit, huggingface
    huggingface.attach(model, Unit("edge-lpddr5"), samples=256, seed=1)
    model.generate(**inputs)

A step with one new token goes through the unit's arithmetic, bit for bit as Unit.decode() has it;
a prefill goes through PyTorch's scaled_dot_product_attention, as in the paper's section 3.
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

NAME = "santa_golden"
"""Of the attention implementation."""

Observer = Callable[[int, int, int, Result], None]
"""Called with layer, request of the batch, step and result of each decode step."""

_SETTINGS = "_santa_golden"
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
    observer: Observer | None
    step: int = 0  # decode steps since the last prefill


def _attention_layers(model: torch.nn.Module) -> list[torch.nn.Module]:
    """The attention modules of a model, by layer."""
    layers = [module for module in model.modules()
              if hasattr(module, "layer_idx") and hasattr(module, "scaling")]
    return sorted(layers, key=lambda module: module.layer_idx)


def attach(model: torch.nn.Module, unit: Unit, *, values: str = "sys", scores: str = "exact",
           samples: int | Sequence[int] = 256, bernoulli: int = 8, seed: int = 1,
           observer: Observer | None = None) -> None:
    """Makes `unit` the attention of every layer of `model` from its next decode step on.

    samples  one budget, or one for each layer
    seed     of all draws; layer, head, request of the batch and step each have their own stream
    Other arguments are those of Unit.decode(). Keys and values are quantised anew at each step, as
    a cache that holds them all would be. A layer with a sliding window keeps it, and a token that
    is masked out, as padding is, is no key.

    Raises ValueError for a model whose attention the unit does not compute.
    """
    layers = _attention_layers(model)
    if not layers:
        raise ValueError(f"model: got {type(model).__name__}; allowed: a model of transformers "
                         "whose attention goes through its attention interface")
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
        setattr(layer, _SETTINGS, _Layer(unit, values, scores, budget, bernoulli, seed, observer))


def _visible(mask: torch.Tensor | None, request: int, tokens: int,
             window: int | None) -> np.ndarray | slice:
    """Which of the keys the new token attends to."""
    if mask is None:
        return slice(None) if window is None else slice(max(0, tokens - window), None)
    row = mask[request if mask.shape[0] > 1 else 0, 0, -1, :tokens]
    return (row if row.dtype == torch.bool else row == 0).cpu().numpy()


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to(torch.float32).cpu().numpy()


def santa_golden(module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor,
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
    if query.shape[2] != 1:
        layer.step = 0
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout=dropout,
                                      scaling=scaling, **more)
    outputs = []
    for request in range(query.shape[0]):
        visible = _visible(attention_mask, request, key.shape[2], more.get("sliding_window"))
        result = layer.unit.decode(
            _array(query[request, :, 0]), _array(key[request])[:, visible],
            _array(value[request])[:, visible], values=layer.values, scores=layer.scores,
            samples=layer.samples, bernoulli=layer.bernoulli, scale=scaling, seed=layer.seed,
            request=request, layer=module.layer_idx, step=layer.step)
        if layer.observer is not None:
            layer.observer(module.layer_idx, request, layer.step, result)
        outputs.append(torch.from_numpy(result.output))
    layer.step += 1
    return torch.stack(outputs)[:, None].to(query.device, query.dtype), None


AttentionInterface.register(NAME, santa_golden)
AttentionMaskInterface.register(NAME, sdpa_mask)
