"""Captures what one decode step's attention sees, in any Hugging Face causal model.

The model runs with an attention implementation registered through transformers' attention
interface. It delegates the computation to the library's own dense attention and, once armed,
keeps the query, keys, values and output of the chosen layers: after the rotary embedding, after
query and key norms, and after the cache has trimmed what a sliding window hides.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache, PreTrainedModel
from transformers.masking_utils import eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

IMPLEMENTATION = "santasim_capture"
UNSUPPORTED_TERMS = {"s_aux": "attention sinks", "position_bias": "a position bias"}

Progress = Callable[[int, int], None]


class CaptureError(Exception):
    """A model whose attention this exporter cannot represent; one line for the user."""


@dataclass(frozen=True)
class CapturedLayer:
    """One layer's attention at the decode step, float32.

    query and output [query_heads, head_dimension]; key and value [kv_heads, keys,
    head_dimension]; first_position is the text position of the first key kept.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor
    scale: float
    sliding_window: int | None
    softcap: float | None
    first_position: int


@dataclass
class Recorder:
    """The attention function of the model; keeps the layers asked for while `armed`."""

    layers: frozenset[int]
    context: int
    armed: bool = False
    captured: dict[int, CapturedLayer] = field(default_factory=dict)

    def __call__(
        self,
        module: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Dense attention of query [1, H, q, d] over key and value [1, Hkv, n, d]."""
        for term, meaning in UNSUPPORTED_TERMS.items():
            if kwargs.get(term) is not None:
                raise CaptureError(
                    f"the model's attention uses {meaning}, which a trace cannot hold"
                )
        dense = _dense_attention(module, kwargs.get("softcap"))
        output, weights = dense(module, query, key, value, attention_mask, **kwargs)
        index = getattr(module, "layer_idx", None)
        if self.armed and index in self.layers:
            self.captured[index] = self._keep(query, key, value, attention_mask, output, kwargs)
        return output, weights

    def _keep(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        output: torch.Tensor,
        kwargs: dict[str, Any],
    ) -> CapturedLayer:
        """Copies the step's tensors, less the keys that the mask hides."""
        if key.shape[-1] != value.shape[-1]:
            raise CaptureError(
                f"keys have {key.shape[-1]} features and values {value.shape[-1]}; they must agree"
            )
        hidden = _hidden_prefix(mask, key.shape[2])
        scale = kwargs.get("scaling")
        return CapturedLayer(
            query=_copy(query[0, :, 0]),
            key=_copy(key[0, :, hidden:]),
            value=_copy(value[0, :, hidden:]),
            output=_copy(output[0, 0]),
            scale=float(query.shape[-1] ** -0.5 if scale is None else scale),
            sliding_window=kwargs.get("sliding_window"),
            softcap=kwargs.get("softcap"),
            first_position=self.context - (key.shape[2] - hidden),
        )


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous float32 copy on the CPU, free of the cache's storage."""
    return tensor.detach().to("cpu", torch.float32, copy=True).contiguous()


def _dense_attention(module: torch.nn.Module, softcap: float | None) -> Callable[..., Any]:
    """The library's attention: sdpa, or the model's own eager one where logits are soft-capped."""
    if softcap is None:
        dense: Callable[..., Any] = ALL_ATTENTION_FUNCTIONS["sdpa"]
    else:
        dense = importlib.import_module(type(module).__module__).eager_attention_forward
    return dense


def _hidden_prefix(mask: torch.Tensor | None, keys: int) -> int:
    """How many of the oldest keys the decode row of an additive mask [1, 1, 1, n] hides."""
    if mask is None:
        return 0
    visible = mask[0, 0, 0, :keys] == 0
    count = int(visible.sum())
    if count == 0 or not bool(visible[keys - count :].all()):
        raise CaptureError("the model attends to keys that are not the most recent ones in a row")
    return keys - count


def register(recorder: Recorder) -> None:
    """Makes `recorder` the attention of every model loaded or set to IMPLEMENTATION."""
    AttentionInterface.register(IMPLEMENTATION, recorder)
    AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


def run_decode_step(
    model: PreTrainedModel,
    tokens: torch.Tensor,
    recorder: Recorder,
    chunk: int,
    perplexity: bool = False,
    progress: Progress | None = None,
) -> float | None:
    """Prefills all tokens [n] but the last, in chunks, then decodes the last one with capture.

    Returns the text's perplexity under the model when asked for (it costs the output layer at
    every position), else None.
    """
    names = inspect.signature(model.forward).parameters
    cache_name = "past_key_values" if "past_key_values" in names else "cache"
    shared = {cache_name: DynamicCache(config=model.config), "use_cache": True}
    shortened = {} if perplexity or "logits_to_keep" not in names else {"logits_to_keep": 1}
    prefill = tokens.numel() - 1
    negative_log_likelihood = 0.0
    with torch.inference_mode():
        for begin in range(0, prefill, chunk):
            end = min(begin + chunk, prefill)
            logits = model(input_ids=tokens[None, begin:end], **shared, **shortened).logits
            if perplexity:
                targets = tokens[begin + 1 : end + 1]
                loss = torch.nn.functional.cross_entropy(
                    logits[0].float(), targets, reduction="sum"
                )
                negative_log_likelihood += loss.item()
            if progress is not None:
                progress(end, prefill)
        recorder.armed = True
        try:
            model(input_ids=tokens[None, prefill:], **shared, **shortened)
        finally:
            recorder.armed = False
    return math.exp(negative_log_likelihood / prefill) if perplexity else None
