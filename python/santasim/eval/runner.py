"""One run: every prompt of a task with every method, answers that are there left alone."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from santasim import Unit, huggingface

from . import generate, models, traces
from .access import Access
from .errors import InputError
from .methods import Method, seed_of_prompt
from .questions import READERS, question_task
from .ruler import RULER
from .store import Record, Store, write_atomically
from .tasks import Prompt, Task


@dataclasses.dataclass(frozen=True)
class Options:
    """What a run is asked for; program.py says what each means."""

    model: Path
    gguf_file: str | None
    dtype: str
    device: str
    task: str
    length: int | None
    prompts: int | None
    data: Path | None
    style: str
    data_seed: int
    methods: list[Method]
    hardware: str
    overrides: dict[str, str]
    prefill: str
    sampling: str
    max_new_tokens: int | None
    seed: int
    out: Path
    shard: int
    shards: int
    traces: int


@dataclasses.dataclass(frozen=True)
class _Work:
    task: Task
    description: Record
    count: int
    prompt: Callable[[int], Prompt]


def _ruler_work(options: Options, model: models.Model) -> _Work:
    task = RULER[options.task]
    assert options.length is not None and options.prompts is not None
    length, seed = options.length, options.data_seed

    def count(prompt: Prompt) -> int:
        return len(model.tokens(prompt))

    def prompt(index: int) -> Prompt:
        return task.sized(seed, index, length, count)

    for index in range(options.prompts):
        task.check(seed, index, length, count)
    return _Work(task, {"name": task.name, "length": length, "data_seed": seed}, options.prompts,
                 prompt)


def _question_work(options: Options) -> _Work:
    task = question_task(options.task, options.style)
    assert options.data is not None
    records = READERS[options.task](options.data)
    count = len(records) if options.prompts is None else options.prompts
    if count > len(records):
        raise InputError(f"--prompts: got {count}; allowed: up to {len(records)}, the questions of "
                         f"{options.data}")
    digest = hashlib.sha256(options.data.read_bytes()).hexdigest()
    return _Work(task, {"name": task.name, "style": task.style, "data": digest}, count,
                 lambda index: task.prompt(records[index]))


def _unit(options: Options) -> Unit:
    try:
        return Unit(options.hardware, overrides=options.overrides)
    except ValueError as error:
        raise InputError(str(error)) from error


class _Attention:
    """Puts a method's attention into the model."""

    def __init__(self, options: Options, network: Any, unit: Unit) -> None:
        self._options = options
        self._network = network
        self._unit = unit

    def use(self, method: Method, index: int, observer: huggingface.Observer | None) -> None:
        """For prompt `index`, whose draws are its own."""
        network, options = self._network, self._options
        if method.golden:
            samples = method.samples[0] if len(method.samples) == 1 else method.samples
            huggingface.attach(network, self._unit, values=method.values, scores=method.scores,
                               samples=samples, bernoulli=method.bernoulli,
                               seed=seed_of_prompt(options.seed, index), prefill=options.prefill,
                               observer=observer)
            return
        if method.attention == "santasim_cuda":
            try:
                import santa_gpu.huggingface
            except ImportError as error:
                raise InputError(f"--method: {method.text}: santa_gpu is not installed") from error
            santa_gpu.huggingface.register(samples=method.samples[0],
                                           seed=seed_of_prompt(options.seed, index))
        network.set_attn_implementation(method.attention)

    def check(self, method: Method) -> None:
        """Refuses what the model or the unit cannot do before anything is computed."""
        try:
            self.use(method, 0, None)
        except ValueError as error:
            raise InputError(f"--method: {method.text}: {error}") from error


def _configuration(options: Options, work: _Work, model: models.Model, method: Method, unit: Unit,
                   max_new_tokens: int) -> Record:
    """All that decides the numbers."""
    found: Record = {
        "task": work.description, "max_new_tokens": max_new_tokens, "sampling": options.sampling,
        "seed": options.seed, "method": method.configuration(),
        "model": {"name": options.model.resolve().name, "fingerprint": model.fingerprint,
                  "dtype": options.dtype, "device": options.device},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__}}
    if method.golden:
        found["unit"] = {"name": unit.name, "hash": unit.hash}
        found["prefill"] = options.prefill
    return found


def _check_lengths(options: Options, work: _Work, model: models.Model, max_new_tokens: int) -> None:
    """Refuses a context that the model does not hold."""
    if options.length is not None:
        longest, name = options.length, f"--length: got {options.length}"
    else:
        lengths = [len(model.tokens(work.prompt(index))) for index in range(work.count)]
        longest = max(lengths)
        name = f"--data: {options.data}: prompt {lengths.index(longest)} has {longest} tokens"
    if longest + max_new_tokens > model.limit:
        raise InputError(f"{name}; allowed: up to {model.limit - max_new_tokens}, for {options.model} "
                         f"holds {model.limit} with {max_new_tokens} new ones")


def run(options: Options) -> None:
    """Adds what is missing to the files of options.out."""
    unit = _unit(options)
    question = None if options.task in RULER else _question_work(options)  # before a model is read
    model = models.load(options.model, gguf_file=options.gguf_file, dtype=options.dtype,
                        device=options.device)
    work = question or _ruler_work(options, model)
    max_new_tokens = options.max_new_tokens or work.task.max_new_tokens
    _check_lengths(options, work, model, max_new_tokens)
    attention = _Attention(options, model.network, unit)
    for method in options.methods:
        attention.check(method)
    configurations = [_configuration(options, work, model, method, unit, max_new_tokens)
                      for method in options.methods]
    for place, method in enumerate(options.methods):
        if configurations[place] in configurations[:place]:
            raise InputError(f"--method: {method.text}: is there twice; allowed: each method once")
    stores: list[Store] = []
    try:
        for method, configuration in zip(options.methods, configurations):
            stores.append(Store(options.out, configuration, f"{options.shard}of{options.shards}"))
            if method.golden:  # for `energy`, which simulates this very unit
                write_atomically(options.out / f"{stores[-1].name}.yaml", unit.canonical_yaml)
        for index in range(options.shard, work.count, options.shards):
            missing = [(method, store) for method, store in zip(options.methods, stores)
                       if index not in store.done
                       or (_traced(options, method, index) and not store.trace(index).exists())]
            if missing:
                _one_prompt(options, work, model, attention, max_new_tokens, index, missing)
    finally:
        for store in stores:
            store.close()


def _traced(options: Options, method: Method, index: int) -> bool:
    return method.golden and index < options.traces


def _one_prompt(options: Options, work: _Work, model: models.Model, attention: _Attention,
                max_new_tokens: int, index: int, missing: list[tuple[Method, Store]]) -> None:
    """Asks one prompt with each method; a prefill that methods have in common is computed once."""
    prompt = work.prompt(index)
    tokens = model.tokens(prompt)
    network = model.network
    shared: generate.Prefilled | None = None
    for method, store in missing:
        first_step = len(tokens) if options.prefill == "sampled" else 0
        access = Access(method.values == "dense", first_step) if method.golden else None
        last = traces.LastStep()
        observer = None
        if access is not None:
            observer = traces.both(access, last) if _traced(options, method, index) else access
        attention.use(method, index, observer)
        # The dense prefill of the golden method is PyTorch's own.
        common = method.attention == "sdpa" or (method.golden and options.prefill == "dense")
        if common and shared is None:
            shared = generate.prefill(network, tokens)
        start = shared if common and shared is not None else generate.prefill(network, tokens)
        answer = generate.answer(
            network, start, max_new_tokens=max_new_tokens, end=model.end,
            sampling=options.sampling, seed=options.seed, index=index)
        text = model.text(answer.tokens)
        score = work.task.grade(text, prompt.gold)
        if last.steps:
            traces.write(store.trace(index), last, model=options.model.resolve().name,
                         text=work.description["name"])
        store.add({"index": index, "score": score, "answer": text,
                   "prompt_tokens": len(tokens), "new_tokens": len(answer.tokens),
                   "ended": answer.ended,
                   "access": access.record() if access is not None else None})
        print(f"{work.description['name']} {index}: {method.text}: {score:g}", file=sys.stderr,
              flush=True)
