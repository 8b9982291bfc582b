"""The command line. Exit codes: 0; 1 records that contradict each other; 2 bad input."""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from santasim.eval.arguments import DTYPES, Parser, integer
from santasim.eval.errors import InputError, of_system
from santasim.eval.ruler import RULER
from santasim.eval.store import Conflict, write_atomically

from .parallel import Processes
from .schedule import MOST_SAMPLES

REWARDS = ("logprob", "agreement", "accuracy")


def _decimal(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f'got "{text}"; allowed: a decimal number from 0')
    return number


def _schedule(text: str) -> tuple[str, tuple[int, ...] | None]:
    name, equals, budgets = text.partition("=")
    numbers = budgets.split("+")
    if text == "learned":
        return name, None
    if not (equals and name.isidentifier() and all(part.isascii() and part.isdigit() for part in numbers)):
        raise argparse.ArgumentTypeError(f'got "{text}"; allowed: learned, NAME=S, or NAME=S+S+... with '
                                         "a budget for each layer")
    return name, tuple(map(int, numbers))


def _add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", type=Path, required=True, help="folder of weights, config.json and tokenizer")
    add("--gguf-file", help="name of a GGUF file in it, whose weights are dequantised")
    add("--dtype", choices=DTYPES, default="float32")
    add("--threads", type=integer(1, 1024), default=1, help="of PyTorch in each process")
    add("--task", choices=list(RULER), required=True)
    add("--length", type=integer(1, 2**31), required=True, help="tokens of a prompt")
    add("--data-seed", type=integer(0, 2**63), default=1, help="of the prompts")
    add("--prompts", type=integer(1, 10**5), required=True)
    add("--new-tokens", type=integer(2, 10**6), default=64, help="of an answer, at most")
    add("--hardware", default="edge-lpddr5", help="preset or file of the unit")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="changes a key of it")
    _add_attention(parser)
    add("--reward", choices=REWARDS, default=REWARDS[0], help="logprob and agreement: along the dense "
        "model's answers; accuracy: of answers under the schedule")
    add("--seed", type=integer(1, 2**32), default=1, help="of all draws")
    add("--worker", type=integer(0, 10**6), default=0, help="where this process begins; changes no "
        "result")
    add("--out", type=Path, required=True, help="folder that workers share; what is done is kept")


def _add_attention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--values", choices=("sys", "strat", "santa"), default="sys")
    parser.add_argument("--scores", default="exact", help="as of santasim run")
    parser.add_argument("--bernoulli", type=integer(1, 64), default=8)


def _parser() -> Parser:
    parser = Parser(prog="python -m santasim.budgets", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    ablate = commands.add_parser("ablate", help="one sample in one layer at a time", allow_abbrev=False)
    _add_model(ablate)
    ablate.add_argument("--base", type=integer(1, MOST_SAMPLES), required=True,
                        help="budget of the other layers")
    ablate.add_argument("--first-prompt", type=integer(0, 10**5), default=0)
    train = commands.add_parser("train", help="learn a schedule", allow_abbrev=False)
    _add_model(train)
    add = train.add_argument
    add("--total", type=integer(1, 10**6), required=True, help="samples of all layers")
    add("--iterations", type=integer(1, 10**6), default=150)
    add("--episodes", type=integer(2, 10**6), default=16, help="of an iteration")
    add("--questions", type=integer(1, 10**5), default=4, help="prompts of an episode")
    add("--learning-rate", type=_decimal, default=0.02)
    add("--energy", type=Path, help="file that `cost` wrote")
    add("--energy-weight", type=_decimal, help="taken from the reward for a microjoule of a token")
    compare = commands.add_parser("compare", help="schedules on other prompts", allow_abbrev=False)
    _add_model(compare)
    compare.add_argument("--first-prompt", type=integer(0, 10**5), required=True)
    compare.add_argument("--schedule", type=_schedule, action="append", required=True,
                         metavar="NAME=S+S+...", help="one budget or one for each layer; learned: that of "
                         "the training in the folder; may be given again")
    compare.add_argument("--traces", type=integer(0, 10**5), default=0, metavar="N", help="keep the last "
                         "decode step of the first N prompts, for `simulate`")
    cost = commands.add_parser("cost", help="energy of each layer at each budget", allow_abbrev=False)
    cost.add_argument("--trace", type=Path, nargs="+", required=True, help="kept decode steps")
    cost.add_argument("--unit", type=Path, required=True, help="hardware file")
    _add_attention(cost)
    cost.add_argument("--most", type=integer(1, MOST_SAMPLES), default=256, help="samples of a layer")
    cost.add_argument("--program", default="santasim", help="the simulator")
    cost.add_argument("--out", type=Path, required=True)
    simulate = commands.add_parser("simulate", help="energy of the kept steps", allow_abbrev=False)
    simulate.add_argument("results", type=Path)
    simulate.add_argument("--program", default="santasim", help="the simulator")
    report = commands.add_parser("report", help="tables and pictures of a folder", allow_abbrev=False)
    report.add_argument("results", type=Path)
    report.add_argument("--plots", type=Path, metavar="DIR", help="writes budgets-schedule.svg and "
                        "budgets-reward.svg there")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="the tables as a document, in place of "
                        "the output")
    return parser


def _module(name: str) -> Any:
    """A module of this package, with what it needs from others."""
    try:
        return importlib.import_module(f".{name}", __package__)
    except ImportError as error:
        raise InputError(f"{error}; needed: pip install './python[eval]'") from error


def _evaluate(arguments: argparse.Namespace) -> None:
    arguments.overrides = {}
    for assignment in arguments.set:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f'--set: got "{assignment}"; allowed: KEY=VALUE')
        arguments.overrides[key] = value
    if arguments.command == "train":
        arguments.first_prompt = 0
        if (arguments.energy is None) != (arguments.energy_weight is None):
            raise InputError("--energy, --energy-weight: one without the other; allowed: both or neither")
        if arguments.questions > arguments.prompts:
            raise InputError(f"--questions: got {arguments.questions}; allowed: up to "
                             f"{arguments.prompts}, the prompts")
    if arguments.command == "compare":
        names = [name for name, _ in arguments.schedule]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"--schedule: {name}: is there twice; allowed: each name once")
        if arguments.traces and arguments.reward != "accuracy":
            raise InputError("--traces: has no effect without --reward accuracy")
    else:
        arguments.traces = 0
    os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1")  # read where transformers is imported
    getattr(_module("experiment"), arguments.command)(arguments)


def _cost(arguments: argparse.Namespace) -> None:
    cost = _module("cost")
    attention: dict[str, Any] = {"values": arguments.values, "scores": arguments.scores}
    if arguments.scores != "exact":
        attention["bernoulli"] = arguments.bernoulli
    cost.write(arguments.out, cost.measure(arguments.program, arguments.trace, arguments.unit, attention,
                                           arguments.most))


def _report(arguments: argparse.Namespace) -> None:
    report = _module("report")
    if arguments.markdown is None:
        print(report.tables(arguments.results), end="")
    else:
        write_atomically(arguments.markdown, report.document(arguments.results))
    if arguments.plots is not None:
        _module("plot").draw(arguments.results, arguments.plots)


def _simulate(arguments: argparse.Namespace) -> None:
    _module("simulate").simulate(arguments.results, arguments.program)


def main(words: Sequence[str]) -> int:
    """Runs one command."""
    try:
        processes = Processes()
    except InputError as error:
        print(f"santasim.budgets: {error}", file=sys.stderr)
        return 2
    try:
        arguments = _parser().parse_args(words)
        if arguments.command in ("ablate", "train", "compare"):
            arguments.processes = processes
            _evaluate(arguments)
        else:
            {"cost": _cost, "report": _report, "simulate": _simulate}[arguments.command](arguments)
    except InputError as error:
        processes.end(str(error), 2)
        return 2
    except OSError as error:
        processes.end(of_system(error), 2)
        return 2
    except Conflict as error:
        processes.end(str(error), 1)
        return 1
    return 0
