#!/usr/bin/env python3
"""Prints what a trace file states and how its attention is distributed, as Markdown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

try:
    import numpy as np
    import numpy.typing as npt
    from trace_file import Layer, TraceError, read_trace
except ImportError as missing:
    if __name__ != "__main__":
        raise
    print(f"describe_trace.py: error: {missing.name} is not installed", file=sys.stderr)
    sys.exit(2)

Float64 = npt.NDArray[np.float64]

EXIT_BAD_INPUT = 2
LEGEND = """\
Each range is the smallest, median and largest query head. Effective keys: exp(entropy) of the
attention probabilities, in keys. Largest probability: the heaviest key's share. First key: the
share of the oldest key in the file. Largest |key|, |value|: over all heads. Output error:
relative L2 distance between softmax(scale q k) v, in float64 from the stored tensors, and the
model's own output in the file; the largest head."""
COLUMNS = (
    "layer",
    "keys",
    "effective keys",
    "largest probability",
    "first key",
    "largest \\|key\\|",
    "largest \\|value\\|",
    "output error",
)


@dataclass(frozen=True)
class HeadStatistics:
    """Per query head of one layer, each [query_heads]; output_error is None without an output."""

    effective_keys: Float64
    largest_probability: Float64
    first_key: Float64
    output_error: Float64 | None


def attention(layer: Layer, scale: float) -> tuple[Float64, Float64]:
    """Probabilities [query_heads, token] and output [query_heads, feature], in float64."""
    group = layer.query.shape[0] // layer.key.shape[0]
    key = np.repeat(layer.key.astype(np.float64), group, axis=0)
    value = np.repeat(layer.value.astype(np.float64), group, axis=0)
    scores = scale * np.einsum("hd,hnd->hn", layer.query.astype(np.float64), key)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    return probabilities, np.einsum("hn,hnd->hd", probabilities, value)


def head_statistics(layer: Layer, scale: float) -> HeadStatistics:
    """The attention statistics of every query head of a layer."""
    probabilities, output = attention(layer, scale)
    logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    error = None
    if layer.output is not None:
        stored = layer.output.astype(np.float64)
        error = np.linalg.norm(output - stored, axis=1) / np.linalg.norm(stored, axis=1)
    return HeadStatistics(
        effective_keys=np.exp(-(probabilities * logs).sum(axis=1)),
        largest_probability=probabilities.max(axis=1),
        first_key=probabilities[:, 0],
        output_error=error,
    )


def spread(values: Float64, digits: str) -> str:
    """The smallest, median and largest of per-head values."""
    numbers = (values.min(), np.median(values), values.max())
    return " / ".join(f"{number:{digits}}" for number in numbers)


def row(layer: Layer, scale: float) -> tuple[str, ...]:
    """One layer's cells of the table."""
    heads = head_statistics(layer, scale)
    return (
        str(layer.index),
        str(layer.key.shape[1]),
        spread(heads.effective_keys, ".1f"),
        spread(heads.largest_probability, ".4f"),
        spread(heads.first_key, ".4f"),
        f"{np.abs(layer.key).max():.2f}",
        f"{np.abs(layer.value).max():.3f}",
        "not in the file" if heads.output_error is None else f"{heads.output_error.max():.1e}",
    )


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="describe_trace.py",
        description=__doc__,
        epilog="example: describe_trace.py traces/NAME.safetensors; "
        "exit codes: 0 ok; 2 the file is missing or not a trace",
    )
    parser.add_argument("trace", type=Path, metavar="FILE", help="a trace in safetensors form")
    options = parser.parse_args(arguments)
    try:
        trace = read_trace(options.trace)
        scale = softmax_scale(trace.metadata, options.trace)
    except TraceError as error:
        print(f"describe_trace.py: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    for name in sorted(trace.metadata):
        print(f"{name}: {trace.metadata[name]!r}")
    print(f"\n{LEGEND}\n\n{table(row(layer, scale) for layer in trace.layers)}")
    return 0


def softmax_scale(metadata: dict[str, str], path: Path) -> float:
    """The stated scale of the scores."""
    stated = metadata.get("softmax_scale", "")
    try:
        scale = float(stated)
    except ValueError:
        scale = 0.0
    if not 0.0 < scale < float("inf"):
        raise TraceError(f"{path}: softmax_scale {stated!r}; needs a positive number")
    return scale


if __name__ == "__main__":
    sys.exit(main())
