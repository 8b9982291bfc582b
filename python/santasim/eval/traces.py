"""Decode steps of a model as traces that `santasim run` simulates (docs/traces.md)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from santasim.huggingface import Observer, Step


class LastStep:
    """Observes decode steps and keeps the last of each layer."""

    def __init__(self) -> None:
        self.steps: dict[int, Step] = {}

    def __call__(self, step: Step) -> None:
        self.steps[step.layer] = step


def both(first: Observer, second: Observer) -> Callable[[Step], None]:
    def observe(step: Step) -> None:
        first(step)
        second(step)
    return observe


def write(path: Path, last: LastStep, *, model: str, text: str) -> None:
    """All layers of a step, with what the unit gave the model as output."""
    steps = [last.steps[layer] for layer in sorted(last.steps)]
    first = steps[0]
    query_heads, features = first.query.shape
    context = max(step.tokens for step in steps)
    tensors = {}
    metadata = {
        "format": "santasim-trace", "format_version": "1", "kind": "captured", "model": model,
        "model_licence": "that of the model", "text": text, "text_licence": "generated",
        "layers": ",".join(str(step.layer) for step in steps), "query_heads": str(query_heads),
        "kv_heads": str(first.cache.kv_heads), "head_dimension": str(features),
        "context_length": str(context), "decode_position": str(context - 1),
        "softmax_scale": repr(float(features ** -0.5 if first.scale is None else first.scale)),
        "rotary": "applied", "step": str(first.step)}
    for step in steps:
        for name in ("query", "key", "value"):
            tensors[f"layers.{step.layer}.{name}"] = np.ascontiguousarray(getattr(step, name))
        tensors[f"layers.{step.layer}.output"] = step.result.output
        if step.tokens != context:
            metadata[f"layers.{step.layer}.context_length"] = str(step.tokens)
            metadata[f"layers.{step.layer}.first_position"] = str(context - step.tokens)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(tensors, temporary, metadata=metadata)
    os.replace(temporary, path)
