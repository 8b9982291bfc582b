#!/usr/bin/env python3
"""Captures one decode step's queries, keys and values of a language model as a trace file."""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trace_options import (
    EXIT_BAD_INPUT,
    VERSION,
    InputError,
    build_parser,
    check_indices,
    check_paths,
    fail,
    read_text,
)

if TYPE_CHECKING:
    from trace_capture import CapturedLayer


def report(line: str) -> None:
    """A line of progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


class PrefillProgress:
    """Shows tokens done and the time left while the text is prefilled."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Reports `done` of `total` tokens."""
        elapsed = time.monotonic() - self._start
        left = elapsed * (total - done) / done
        report(f"prefill {done}/{total} tokens, {elapsed:.0f} s, about {left:.0f} s left")


@dataclass(frozen=True)
class Export:
    """Everything the file states: the step's layers, the model's shape and the measurements."""

    layers: dict[int, CapturedLayer]
    kv_heads: list[int]
    model_kv_heads: int
    context: int
    text_sha256: str
    decode_token: str
    perplexity: float | None
    versions: str


def load(options: argparse.Namespace, kind: Any, **extra: Any) -> Any:
    """`kind.from_pretrained` on the model's folder, offline; any failure becomes one line."""
    if options.gguf_file:
        extra["gguf_file"] = options.gguf_file
    try:
        return kind.from_pretrained(str(options.model), local_files_only=True, **extra)
    except Exception as error:  # transformers raises whatever a broken folder provokes
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        fail(f"--model: {options.model}: {kind.__name__} cannot load it: {first_line}")


def run_export(options: argparse.Namespace) -> Export:
    """Loads, checks and runs the model; returns the decode step of the chosen layers."""
    try:
        import torch
        import transformers
        from trace_capture import CaptureError, Recorder, register, run_decode_step
    except ImportError as error:
        fail(f"{error.name} is not installed; run: pip install -r tools/requirements.txt")
    quieten(transformers)
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
    report("reading the tokenizer")
    text = read_text(options.text)
    tokenizer = load(options, transformers.AutoTokenizer)
    tokens = tokenizer(text, verbose=False)["input_ids"]
    config = load(options, transformers.AutoConfig)
    layers, kv_heads, model_kv_heads = check_shape(options, config, len(tokens))
    recorder = Recorder(frozenset(layers), options.context)
    register(recorder)
    report("loading the weights")
    model = load_model(options, transformers, torch)
    step = torch.tensor(tokens[: options.context])
    try:
        perplexity = run_decode_step(
            model, step, recorder, options.chunk, options.perplexity, PrefillProgress()
        )
    except CaptureError as error:
        fail(f"--model: {options.model}: {error}")
    check_captured(options, layers, recorder.captured)
    return Export(
        layers=recorder.captured,
        kv_heads=kv_heads,
        model_kv_heads=model_kv_heads,
        context=options.context,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        decode_token=tokenizer.decode(tokens[options.context - 1]),
        perplexity=perplexity,
        versions=f"torch {torch.__version__}, transformers {transformers.__version__}",
    )


def quieten(transformers: Any) -> None:
    """Leaves the screen to this program's own progress and errors."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def load_model(options: argparse.Namespace, transformers: Any, torch: Any) -> Any:
    """The model in evaluation mode with the capturing attention; refuses missing weights."""
    from trace_capture import IMPLEMENTATION

    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[options.compute_dtype]
    model, info = load(
        options,
        transformers.AutoModelForCausalLM,
        dtype=dtype,
        attn_implementation=IMPLEMENTATION,
        output_loading_info=True,
    )
    missing = sorted(info["missing_keys"])
    if missing:
        fail(f"--model: {options.model} lacks {len(missing)} weights, the first is {missing[0]}")
    return model.eval()


def check_shape(
    options: argparse.Namespace, config: Any, text_tokens: int
) -> tuple[list[int], list[int], int]:
    """The layers and KV heads to keep and the model's KV heads; refuses what does not fit."""
    config = config.get_text_config()
    limit = getattr(config, "max_position_embeddings", None)
    if options.context > text_tokens:
        fail(
            f"--context: {options.context}; {options.text} has {text_tokens} tokens, "
            f"allowed: 2..{text_tokens}"
        )
    if limit and options.context > limit:
        fail(f"--context: {options.context}; the model holds {limit} tokens, allowed: 2..{limit}")
    layers = check_indices("--layers", options.layers, config.num_hidden_layers, "layers")
    model_kv_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    kv_heads = check_indices("--kv-heads", options.kv_heads, model_kv_heads, "KV heads")
    softcap = getattr(config, "attn_logit_softcapping", None)
    if softcap and not options.allow_softcap:
        fail(
            f"--model: {options.model} soft-caps its attention logits at {softcap:g}, which the "
            "unit does not do; add --allow-softcap to export without the cap"
        )
    return layers, kv_heads, model_kv_heads


def check_captured(
    options: argparse.Namespace, layers: list[int], captured: dict[int, CapturedLayer]
) -> None:
    """Every layer was seen, and all of them have one shape and one scale."""
    for index in layers:
        if index not in captured:
            fail(f"--layers: {index} has no attention with keys and values of its own to capture")
        first, other = captured[layers[0]], captured[index]
        shape, expected = (
            (len(c.query), len(c.key), c.key.shape[-1], c.scale) for c in (other, first)
        )
        if shape != expected:
            fail(
                f"--layers: {index} has (query heads, KV heads, head dimension, scale) {shape} and "
                f"layer {layers[0]} has {expected}; export them to separate files"
            )


def describe_export(options: argparse.Namespace, export: Export) -> dict[str, str]:
    """The file's metadata."""
    first = next(iter(export.layers.values()))
    group = len(first.query) // export.model_kv_heads
    metadata = {
        "format": "santasim-trace",
        "format_version": "1",
        "kind": "captured",
        "model": options.model_name or options.model.resolve().name,
        "model_licence": options.model_licence,
        "model_source": options.model_source,
        "text": options.text_title or options.text.name,
        "text_licence": options.text_licence,
        "text_sha256": export.text_sha256,
        "layers": ",".join(map(str, sorted(export.layers))),
        "query_heads": str(group * len(export.kv_heads)),
        "kv_heads": str(len(export.kv_heads)),
        "kv_head_indices": ",".join(map(str, export.kv_heads)),
        "head_dimension": str(first.key.shape[-1]),
        "context_length": str(export.context),
        "decode_position": str(export.context - 1),
        "decode_token": export.decode_token,
        "softmax_scale": repr(first.scale),
        "rotary": "applied",
        "compute_dtype": options.compute_dtype,
        "exporter": f"export_trace.py {VERSION}",
        "exporter_versions": export.versions,
        "seed": str(options.seed),
        "created": options.date,
    }
    if export.perplexity is not None:
        metadata["text_perplexity"] = f"{export.perplexity:.4f}"
    for index, layer in export.layers.items():
        metadata |= describe_layer(index, layer, export.context)
    return metadata


def describe_layer(index: int, layer: CapturedLayer, context: int) -> dict[str, str]:
    """What one layer states beyond the common metadata."""
    metadata = {}
    if layer.sliding_window is not None:
        metadata[f"layers.{index}.sliding_window"] = str(layer.sliding_window)
    if layer.key.shape[1] != context:
        metadata[f"layers.{index}.context_length"] = str(layer.key.shape[1])
        metadata[f"layers.{index}.first_position"] = str(layer.first_position)
    if layer.softcap is not None:
        metadata[f"layers.{index}.logit_softcap"] = repr(float(layer.softcap))
    return metadata


def write(options: argparse.Namespace, export: Export) -> int:
    """Writes the trace; returns its size in bytes."""
    from trace_file import DEFAULT_AXES, TraceError, encode, write_tensors

    stored = options.dtype.upper()
    tensors = {}
    try:
        for index, layer in export.layers.items():
            group = len(layer.query) // export.model_kv_heads
            rows = [head * group + g for head in export.kv_heads for g in range(group)]
            parts = {
                "query": (layer.query[rows], "F32"),
                "key": (layer.key[export.kv_heads], stored),
                "value": (layer.value[export.kv_heads], stored),
            }
            if layer.softcap is None:
                parts["output"] = (layer.output[rows], "F32")
            for role, (values, dtype) in parts.items():
                name = f"layers.{index}.{role}"
                tensors[name] = encode(values.numpy(), dtype, name)
        metadata = describe_export(options, export)
        metadata |= {f"axes.{role}": axes for role, axes in DEFAULT_AXES.items()}
        return write_tensors(options.output, tensors, metadata)
    except TraceError as error:
        fail(f"--output: {error}")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    options = build_parser().parse_args(arguments)
    if not sys.stderr.isatty():
        os.environ["TQDM_DISABLE"] = "1"  # read by the libraries' progress bars
    try:
        check_paths(options)
        export = run_export(options)
        size = write(options, export)
    except InputError as error:
        report("")
        print(f"export_trace.py: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    report("")
    print(f"{options.output}: {size} bytes, {len(export.layers)} layers of {export.context} tokens")
    if export.perplexity is not None:
        print(f"perplexity of the first {export.context} tokens: {export.perplexity:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
