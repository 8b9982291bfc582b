"""The command line. Exit codes: 0; 1 answers that contradict each other; 2 bad input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .arguments import DTYPES, Parser, integer
from .errors import InputError, of_system
from .methods import parse_method
from .questions import READERS, STYLES
from .ruler import RULER
from .store import Conflict, compare, merge, write_atomically

SAMPLINGS = ("greedy", "paper")
PREFILLS = ("dense", "sampled")


def _shard(text: str) -> tuple[int, int]:
    index, slash, count = text.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f'got "{text}"; allowed: I/N with I from 0 to N - 1')
    return int(index), int(count)


def _parser() -> Parser:
    parser = Parser(prog="python -m santasim.eval", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="ask a model and store its answers", allow_abbrev=False)
    add = run.add_argument
    add("--model", type=Path, required=True, help="folder of weights, config.json and tokenizer")
    add("--gguf-file", help="name of a GGUF file in it, whose weights are dequantised")
    add("--dtype", choices=DTYPES, default="float32")
    add("--device", default="cpu", help="of PyTorch")
    add("--task", choices=[*RULER, *READERS], required=True)
    add("--length", type=integer(1, 2**31), help="tokens of a prompt: " + ", ".join(RULER))
    add("--prompts", type=integer(1, 10**6), help="how many; of a data set the first")
    add("--data", type=Path, help="file of questions: " + ", ".join(READERS))
    add("--style", choices=STYLES, default=STYLES[0], help="whose prompts for such questions")
    add("--data-seed", type=integer(0, 2**63), default=1, help="of generated prompts")
    add("--method", action="append", required=True, metavar="METHOD",
        help="sdpa, eager, golden:values=sys,samples=64,scores=exact,bernoulli=8,key_bits=8,"
             "value_bits=8,backend=cpu or cuda:samples=256; may be given again; samples=64+32+... is "
             "a budget for each layer")
    add("--hardware", default="edge-lpddr5", help="preset or file of the golden method's unit")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="changes a key of it")
    add("--prefill", choices=PREFILLS, default=PREFILLS[0], help="of the golden method")
    add("--sampling", choices=SAMPLINGS, default=SAMPLINGS[0], help="paper: temperature 0.6, "
        "top-p 0.95, repetition penalty 1.1")
    add("--max-new-tokens", type=integer(1, 10**6), help="64, or 512 and 4096 for questions of the "
        "two styles, where not given")
    add("--seed", type=integer(1, 2**32), default=1, help="of all draws")
    add("--shard", type=_shard, default=(0, 1), metavar="I/N", help="only prompts I, I + N, ...")
    add("--traces", type=integer(0, 10**6), default=0, metavar="N", help="keep the last decode step "
        "of the first N prompts, for the energy of golden methods")
    add("--batch", type=integer(1, 1024), default=1, metavar="N", help="decode a prompt with N golden "
        "methods at a time")
    add("--out", type=Path, required=True, help="folder of the answers; those there are kept")
    report = commands.add_parser("report", help="tables of stored answers", allow_abbrev=False)
    report.add_argument("results", type=Path, help="folder of answers, or a packed file")
    report.add_argument("--markdown", type=Path, help="file to write instead of the output")
    joined = commands.add_parser("merge", help="join folders of shards", allow_abbrev=False)
    joined.add_argument("out", type=Path)
    joined.add_argument("results", type=Path, nargs="+")
    packed = commands.add_parser("pack", help="write what tables and plots need as one small file",
                                 allow_abbrev=False)
    packed.add_argument("results", type=Path)
    packed.add_argument("out", type=Path)
    check = commands.add_parser("check", help="whether the answers of two folders are the same, token "
                                "for token, whatever backend and device", allow_abbrev=False)
    check.add_argument("first", type=Path)
    check.add_argument("second", type=Path)
    energy = commands.add_parser("energy", help="simulate the kept steps", allow_abbrev=False)
    energy.add_argument("results", type=Path, help="folder of answers, or a packed file with costs")
    energy.add_argument("--program", default="santasim", help="the simulator")
    energy.add_argument("--jobs", type=integer(1, 1024), default=1, help="steps simulated at a time")
    energy.add_argument("--plot", type=Path, help="SVG of accuracy against energy and time")
    return parser


def _run(arguments: argparse.Namespace) -> None:
    generated = arguments.task in RULER
    for name, given, wanted in (("--length", arguments.length, generated),
                                ("--data", arguments.data, not generated)):
        if (given is not None) != wanted:
            raise InputError(f"{name}: {'needed' if wanted else 'has no effect'} with --task "
                             f"{arguments.task}")
    if generated and arguments.prompts is None:
        raise InputError(f"--prompts: needed with --task {arguments.task}")
    methods = [parse_method(text) for text in arguments.method]
    overrides = {}
    for assignment in arguments.set:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f'--set: got "{assignment}"; allowed: KEY=VALUE')
        overrides[key] = value
    os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1")  # read where transformers is imported
    try:
        from . import runner
    except ImportError as error:
        raise InputError(f"{error}; needed: pip install './python[eval]'") from error
    fields = {**vars(arguments), "methods": methods, "overrides": overrides,
              "shard": arguments.shard[0], "shards": arguments.shard[1]}
    for name in ("command", "method", "set"):
        del fields[name]
    runner.run(runner.Options(**fields))


def _report(arguments: argparse.Namespace) -> None:
    from .report import document, table
    if arguments.markdown is None:
        print(table(arguments.results))
    else:
        write_atomically(arguments.markdown, document(arguments.results))


def _energy(arguments: argparse.Namespace) -> None:
    from .energy import costs, simulate, table
    if arguments.results.is_dir():
        simulate(arguments.results, arguments.program, arguments.jobs)
    found = costs(arguments.results)
    print(table(found))
    if arguments.plot is not None:
        from .plot import draw
        draw(found, arguments.plot)


def main(words: Sequence[str]) -> int:
    """Runs one command."""
    try:
        arguments = _parser().parse_args(words)
        if arguments.command == "run":
            _run(arguments)
        elif arguments.command == "report":
            _report(arguments)
        elif arguments.command == "energy":
            _energy(arguments)
        elif arguments.command == "pack":
            from .packed import pack
            write_atomically(arguments.out, pack(arguments.results))
        elif arguments.command == "check":
            print(compare(arguments.first, arguments.second))
        else:
            for name, count in merge(arguments.out, arguments.results).items():
                print(f"{name}: {count} answers")
    except InputError as error:
        print(f"santasim.eval: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"santasim.eval: {of_system(error)}", file=sys.stderr)
        return 2
    except Conflict as error:
        print(f"santasim.eval: {error}", file=sys.stderr)
        return 1
    return 0
