"""The exporter's command line: its options and the checks that need no model."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from pathlib import Path
from typing import NoReturn

VERSION = "1.0.0"
EXIT_BAD_INPUT = 2
DESCRIPTION = """\
Runs a Hugging Face causal language model over a text, decodes one token, and writes what the
attention of the chosen layers saw at that step (queries, keys and values after the rotary
embedding) as a safetensors file that `santasim run --trace` reads. The format is docs/traces.md.
Works for grouped-query models: Llama, Mistral, Qwen2, Qwen3, Gemma 2 and Gemma 3 among them."""
EXAMPLES = """\
examples:
  # three layers of a model folder (config.json, weights, tokenizer), 8,192 keys of context
  export_trace.py --model ~/models/my-llama --text book.txt --context 8192 --layers 0,15,31 \\
      --model-licence "Llama 3.1 Community" --text-licence "public domain" -o my-llama.safetensors

  # a quantised GGUF file inside the folder, one KV head with its group of query heads
  export_trace.py --model ~/models/qwen --gguf-file qwen-q4_k_m.gguf --text book.txt \\
      --context 4096 --layers all --kv-heads 0 --model-licence Apache-2.0 \\
      --text-licence "public domain" -o qwen.safetensors

exit codes: 0 written; 2 bad input or no room to write (one line says what; no file is left)"""


class InputError(Exception):
    """Input the exporter refuses; the text is one line that names the option and the remedy."""


def fail(message: str) -> NoReturn:
    """Ends the export with one line for the user."""
    raise InputError(message)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Prints the line and exits with the documented code."""
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)


def index_list(text: str) -> list[int] | None:
    """`all` as None, or distinct comma-separated integers from 0, sorted."""
    if text == "all":
        return None
    parts = text.split(",")
    if not all(part.isdecimal() for part in parts) or len(set(map(int, parts))) != len(parts):
        raise argparse.ArgumentTypeError(
            f"{text!r}; allowed: 'all' or distinct integers from 0 with commas, as in 0,13,27"
        )
    return sorted(map(int, parts))


def positive(text: str) -> int:
    """An integer from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: an integer from 1")
    return int(text)


def iso_date(text: str) -> str:
    """A date as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: a date as YYYY-MM-DD") from None


def build_parser() -> Parser:
    """The command line."""
    parser = Parser(
        prog="export_trace.py",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--model", type=Path, required=True, metavar="DIR", help="folder of the model")
    add("--gguf-file", metavar="NAME", help="GGUF file in that folder, dequantised on loading")
    add("--text", type=Path, required=True, metavar="FILE", help="UTF-8 text to run over")
    add(
        "--context",
        type=positive,
        required=True,
        metavar="N",
        help="keys at the decode step, the current token included (2 or more)",
    )
    add("--layers", type=index_list, required=True, metavar="LIST", help="as in 0,13,27, or 'all'")
    add(
        "--kv-heads",
        type=index_list,
        default=None,
        metavar="LIST",
        help="KV heads to keep, each with its query heads (default: all)",
    )
    add(
        "--dtype",
        choices=["f32", "f16", "bf16"],
        default="f16",
        help="how keys and values are stored; queries and outputs are f32 (default: %(default)s)",
    )
    add(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the trace to write; an existing file is replaced once the new one is complete",
    )
    about = parser.add_argument_group("what the trace states about itself")
    about.add_argument("--model-licence", required=True, metavar="TEXT")
    about.add_argument("--text-licence", required=True, metavar="TEXT")
    about.add_argument("--model-name", metavar="TEXT", help="default: the folder's name")
    about.add_argument(
        "--model-source",
        default="not stated",
        metavar="TEXT",
        help="where the weights came from and how they are quantised",
    )
    about.add_argument("--text-title", metavar="TEXT", help="default: the text file's name")
    about.add_argument(
        "--date",
        type=iso_date,
        default=datetime.date.today().isoformat(),
        help="written as 'created' (default: today)",
    )
    run = parser.add_argument_group("how the model runs")
    run.add_argument(
        "--compute-dtype",
        choices=["f32", "bf16"],
        default="f32",
        help="arithmetic of the model (default: %(default)s)",
    )
    run.add_argument(
        "--chunk",
        type=positive,
        default=512,
        metavar="N",
        help="tokens of prefill at a time; fewer need less memory (default: 512)",
    )
    run.add_argument("--threads", type=positive, metavar="N", help="default: torch's choice")
    run.add_argument(
        "--perplexity",
        action="store_true",
        help="also measure the text's perplexity, as a check that the model is sound",
    )
    run.add_argument(
        "--allow-softcap",
        action="store_true",
        help="export a model that soft-caps attention logits (Gemma 2): the cap is "
        "recorded, not applied, and the model's output is left out",
    )
    run.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="torch's seed; matters only to a model that draws random numbers",
    )
    parser.add_argument("--version", action="version", version=f"export_trace.py {VERSION}")
    return parser


def check_paths(options: argparse.Namespace) -> None:
    """Refuses missing files and folders before anything heavy is loaded."""
    if not options.model.is_dir():
        fail(f"--model: {options.model} is not a folder; give the model's local folder")
    if options.gguf_file and not (options.model / options.gguf_file).is_file():
        fail(f"--gguf-file: {options.gguf_file} is not a file in {options.model}")
    if not options.gguf_file and not (options.model / "config.json").is_file():
        fail(f"--model: {options.model} has no config.json; for a GGUF file add --gguf-file NAME")
    if not options.text.is_file():
        fail(f"--text: {options.text} is not a file")
    folder = options.output.parent
    if not folder.is_dir():
        fail(f"--output: the folder {folder} does not exist; create it first")
    if options.output.is_dir() or not os.access(folder, os.W_OK):
        fail(f"--output: {options.output} cannot be written; give a file in a writable folder")
    if options.context < 2:
        fail(f"--context: {options.context}; allowed: 2 or more")


def read_text(path: Path) -> str:
    """The text, which must be UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        fail(f"--text: {path} is not UTF-8 (byte {error.start}); convert it first")
    except OSError as error:
        fail(f"--text: {path}: {error.strerror}")


def check_indices(option: str, chosen: list[int] | None, count: int, what: str) -> list[int]:
    """The chosen indices, all of them for None; refuses one that the model does not have."""
    if chosen is None:
        return list(range(count))
    if chosen[-1] >= count:
        fail(f"{option}: {chosen[-1]}; the model has {count} {what}, allowed: 0..{count - 1}")
    return chosen
