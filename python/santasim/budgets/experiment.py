"""Commands that evaluate a model: each opens its kind of work in the folder and takes part in it."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import torch
import transformers
from santasim import Unit

from santasim.eval import models
from santasim.eval.errors import InputError
from santasim.eval.ruler import RULER
from santasim.eval.store import Record, canonical, hash_of, write_atomically
from santasim.eval.tasks import Prompt

from . import cost
from .evaluate import Attention, Evaluator
from .parallel import Processes
from .records import Folder, configuration
from .report import learned_schedule
from .schedule import Schedule
from .work import Fixed, Plan, Task, Training, work


@dataclasses.dataclass(frozen=True)
class _Setting:
    """A model on a task, with the unit."""

    evaluator: Evaluator
    unit: Unit
    description: Record  # of model, task and threads: what decides the dense model's answers
    attention: Record  # of the unit


def _setting(options: argparse.Namespace) -> _Setting:
    torch.set_num_threads(options.threads)
    try:
        unit = Unit(options.hardware, overrides=options.overrides)
    except ValueError as error:
        raise InputError(str(error)) from error
    model = models.load(options.model, gguf_file=options.gguf_file, dtype=options.dtype, device="cpu")
    task = RULER[options.task]

    def count(prompt: Prompt) -> int:
        return len(model.tokens(prompt))

    for index in range(options.first_prompt, options.first_prompt + options.prompts):
        task.check(options.data_seed, index, options.length, count)
    if options.length + options.new_tokens > model.limit:
        raise InputError(f"--length: got {options.length}; allowed: up to "
                         f"{model.limit - options.new_tokens}, as the model holds {model.limit} tokens and "
                         f"an answer has {options.new_tokens}")
    attention = Attention(options.values, options.scores, options.bernoulli)
    evaluator = Evaluator(model, unit, attention,
                          lambda index: task.sized(options.data_seed, index, options.length, count),
                          task, options.new_tokens)
    description: Record = {
        "task": {"name": task.name, "length": options.length, "data_seed": options.data_seed},
        "new_tokens": options.new_tokens, "threads": options.threads,
        "model": {"name": options.model.resolve().name, "fingerprint": model.fingerprint,
                  "dtype": options.dtype},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__}}
    used = {**attention.configuration(), "unit": {"name": unit.name, "hash": unit.hash}}
    return _Setting(evaluator, unit, description, used)


def _check_schedules(evaluator: Evaluator, schedules: dict[str, Schedule | None]) -> None:
    for name, schedule in schedules.items():
        try:
            evaluator.check(schedule)
        except ValueError as error:
            raise InputError(f"schedule {name}: {error}") from error


def _references(options: argparse.Namespace, setting: _Setting, first: int, prompts: int) -> None:
    """The dense model's answers: of prompts that this kind of work needs, done once for all kinds."""
    plan = Fixed((None,), first, prompts, options.seed)
    # One file for each range of prompts.
    name = f"dense-{first}-{prompts}"
    with _folder(options, name, {"kind": "dense", **setting.description}, plan) as folder:
        _work(folder, plan, options, setting, setting.evaluator.answers)
        for record in folder.records.values():
            if not isinstance(record.get("tokens"), list):
                raise InputError(f"{options.out / name}.jsonl: task {record['task']}: tokens: missing; allowed: "
                                 "the tokens that the model answered")
            setting.evaluator.references[record["prompt"]] = record


def _work(folder: Folder, plan: Plan, options: argparse.Namespace, setting: _Setting,
          evaluate: Callable[[Task], Record]) -> None:
    worker = options.processes.rank + options.worker

    @functools.cache
    def prompts(number: int) -> tuple[int, ...]:
        return plan.task(number, folder.records).prompts

    order = setting.evaluator.order(worker, prompts) if isinstance(plan, Fixed) else list
    work(folder, plan, evaluate, order)
    _agree(options.processes, folder)


def _agree(processes: Processes, folder: Folder) -> None:
    """Every process has the same records, so the same policy."""
    hashes = processes.gather(hash_of({str(task): record for task, record in folder.records.items()}))
    if len(set(hashes)) != 1:
        raise InputError("--out: processes see other records; allowed: a folder that all share")


def _begin(options: argparse.Namespace, prepare: Callable[[_Setting], None]) -> _Setting:
    """Model and unit, checked by `prepare`; every process learns of bad input of any."""
    def begin() -> _Setting:
        setting = _setting(options)
        prepare(setting)
        return setting

    setting: _Setting = options.processes.together(begin)
    return setting


def _folder(options: argparse.Namespace, name: str, wanted: Record, plan: Plan) -> Folder:
    folder: Folder = options.processes.together(lambda: Folder(options.out, name, wanted, plan.check))
    return folder


def _fixed(options: argparse.Namespace, kind: str, schedules: Callable[[int], dict[str, Schedule | None]]
           ) -> None:
    """Prompts with several schedules."""
    setting = _begin(options, lambda setting: _check_schedules(
        setting.evaluator, schedules(setting.evaluator.layers)))
    named = schedules(setting.evaluator.layers)
    plan = Fixed(tuple(named.values()), options.first_prompt, options.prompts, options.seed)
    _references(options, setting, options.first_prompt, options.prompts)
    answers = options.reward == "accuracy"
    wanted = {"kind": kind, **setting.description, "attention": setting.attention, "seed": options.seed,
              "first_prompt": options.first_prompt, "prompts": options.prompts,
              "measure": "answers" if answers else "follow",
              "schedules": [[name, list(schedule or ())] for name, schedule in named.items()]}
    name = f"{kind}-{wanted['measure']}"
    if answers and options.traces:
        traces = options.out / "traces"
        traces.mkdir(parents=True, exist_ok=True)
        write_atomically(options.out / "unit.yaml", setting.unit.canonical_yaml)
        setting.evaluator.traces = lambda task: (
            traces / f"{list(named)[task.fields['schedule']]}.{task.prompts[0]}.safetensors"
            if task.prompts[0] < options.first_prompt + options.traces else None)
    with _folder(options, name, wanted, plan) as folder:
        _work(folder, plan, options, setting,
              setting.evaluator.answers if answers else setting.evaluator.follow)


def ablate(options: argparse.Namespace) -> None:
    """One sample in one layer, the base budget in the others."""
    def schedules(layers: int) -> dict[str, Schedule | None]:
        found: dict[str, Schedule | None] = {"base": (options.base,) * layers}
        for layer in range(layers):
            found[str(layer)] = tuple(1 if place == layer else options.base for place in range(layers))
        return found

    _fixed(options, "ablate", schedules)


def compare(options: argparse.Namespace) -> None:
    """Schedules beside each other on prompts that none of them was learned on."""
    def schedules(layers: int) -> dict[str, Schedule | None]:
        found: dict[str, Schedule | None] = {}
        for name, budgets in options.schedule:
            if name == "learned" and budgets is None:
                budgets = learned_schedule(options.out)
            found[name] = budgets * layers if len(budgets) == 1 else budgets
        return found

    training = configuration(options.out, "train")
    if training is not None and options.first_prompt < training["prompts"] \
            and training["task"]["data_seed"] == options.data_seed:
        raise InputError(f"--first-prompt: got {options.first_prompt}; allowed: from "
                         f"{training['prompts']}, behind the prompts of the training in {options.out}")
    _fixed(options, "compare", schedules)


def train(options: argparse.Namespace) -> None:
    """Algorithm 1."""
    table: cost.Table | None = None

    def prepare(setting: _Setting) -> None:
        nonlocal table
        layers = setting.evaluator.layers
        if options.total < layers:
            raise InputError(f"--total: got {options.total}; allowed: at least {layers}, a sample for each "
                             "layer of the model")
        _check_schedules(setting.evaluator, {"of one sample a layer": (1,) * layers})
        if options.energy is None:
            return
        table = cost.read(options.energy)
        if len(table.energy_pj) != layers:
            raise InputError(f"--energy: {options.energy}: got {len(table.energy_pj)} layers; allowed: "
                             f"{layers}, as the model has")
        if table.unit_hash != setting.unit.hash:
            raise InputError(f"--energy: {options.energy}: of the unit {table.unit_hash}; allowed: "
                             f"{setting.unit.hash}, that of --hardware and --set")
        mine = {key: value for key, value in setting.attention.items() if key != "unit"}
        if canonical(table.attention) != canonical(mine):
            raise InputError(f"--energy: {options.energy}: of {canonical(table.attention)}; allowed: "
                             f"{canonical(mine)}")
        largest = 1 << (options.total - layers + 1).bit_length() - 1
        if len(table.energy_pj[0]) < largest.bit_length():
            raise InputError(f"--energy: {options.energy}: ends with {1 << len(table.energy_pj[0]) - 1} "
                             f"samples; allowed: to {largest}, which a schedule of --total "
                             f"{options.total} may have")

    setting = _begin(options, prepare)
    evaluator = setting.evaluator
    plan = Training(evaluator.layers, options.total, options.iterations, options.episodes,
                    options.questions, options.prompts, options.learning_rate, options.seed)
    if options.reward != "accuracy":
        _references(options, setting, 0, options.prompts)
    measure: Any = evaluator.answers if options.reward == "accuracy" else evaluator.follow

    def episode(task: Task) -> Record:
        found: Record = measure(task)
        found["reward"] = found[options.reward]
        if table is not None and task.schedule is not None:
            found["energy_uj"] = table.energy_uj(task.schedule)
            found["reward"] -= options.energy_weight * found["energy_uj"]
        return found

    wanted = {"kind": "train", **setting.description, "attention": setting.attention,
              **dataclasses.asdict(plan), "reward": options.reward,
              "energy": None if table is None else
              {"weight_per_uj": options.energy_weight, "table": hash_of(dataclasses.asdict(table))}}
    with _folder(options, "train", wanted, plan) as folder:
        _work(folder, plan, options, setting, episode)
