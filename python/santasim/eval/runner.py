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
from santasim import BACKENDS, Unit, huggingface

from . import generate, models, traces
from .access import Access
from .errors import InputError
from .methods import Method, seed_of_prompt
from .packed import cost_path
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
    batch: int


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


class _Units:
    """The unit of each golden method: that of --hardware with the method's own changes."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._units: dict[str, Unit] = {}
        self._made({}, "cpu")  # --hardware and --set are looked at whatever the methods are

    def __call__(self, method: Method) -> Unit:
        try:
            return self._made(method.overrides, method.backend)
        except ValueError as error:
            raise InputError(f"--method: {method.text}: {error}") from error

    def _made(self, changes: dict[str, object], backend: str) -> Unit:
        name = f"{changes} {backend}"
        if name not in self._units:
            try:
                self._units[name] = Unit(self._options.hardware, backend=backend,
                                         overrides={**self._options.overrides, **changes})
            except ValueError as error:
                if changes or backend != "cpu":
                    raise
                raise InputError(str(error)) from error
        return self._units[name]


class _Attention:
    """Puts a method's attention into the model."""

    def __init__(self, options: Options, network: Any, units: _Units) -> None:
        self._options = options
        self._network = network
        self.unit = units

    def golden(self, method: Method, index: int,
               observer: huggingface.Observer | None) -> huggingface.Attention:
        """For prompt `index`, whose draws are its own."""
        samples = method.samples[0] if len(method.samples) == 1 else method.samples
        return huggingface.Attention(self.unit(method), method.values, method.scores, samples,
                                     method.bernoulli, seed_of_prompt(self._options.seed, index),
                                     observer)

    def use(self, method: Method, index: int, observer: huggingface.Observer | None) -> None:
        """The same, and the model has it from now on."""
        network, options = self._network, self._options
        if method.golden:
            attention = self.golden(method, index, observer)
            fields = {field.name: getattr(attention, field.name)
                      for field in dataclasses.fields(attention)}
            huggingface.attach(network, fields.pop("unit"), prefill=options.prefill, **fields)
            return
        if method.attention == "santasim_cuda":
            _register_cuda(method, seed_of_prompt(options.seed, index))
        network.set_attn_implementation(method.attention)

    def check(self, method: Method) -> None:
        """Refuses what the model or the unit cannot do before anything is computed."""
        if method.attention == "santasim_cuda":
            _check_cuda(self._options, method, self._network)
        try:
            self.use(method, 0, None)
        except ValueError as error:
            raise InputError(f"--method: {method.text}: {error}") from error


def _register_cuda(method: Method, seed: int) -> None:
    import santa_gpu.huggingface
    santa_gpu.huggingface.register(samples=method.samples[0], seed=seed)


def _check_cuda(options: Options, method: Method, network: Any) -> None:
    """santasim_cuda leaves what its kernels cannot do to PyTorch; here that is another method."""
    def refuse(found: str, allowed: str) -> InputError:
        return InputError(f"--method: {method.text}: {found}; allowed: {allowed}")

    try:
        import santa_gpu.huggingface  # noqa: F401
    except ImportError as error:
        raise InputError(f"--method: {method.text}: santa_gpu is not installed") from error
    if network.device.type != "cuda":
        raise refuse(f"--device: got {options.device}", "cuda")
    if options.dtype == "float32":
        raise refuse("--dtype: got float32", "bfloat16, float16")
    config = network.config.get_text_config()
    dimension = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    built = sorted(santa_gpu.head_dimensions())
    if dimension not in built:
        raise refuse(f"the model has heads of {dimension} features",
                     f"{', '.join(map(str, built))}, for which santa_gpu was built")


def _configuration(options: Options, work: _Work, model: models.Model, method: Method,
                   units: _Units, max_new_tokens: int) -> Record:
    """All that decides the numbers."""
    found: Record = {
        "task": work.description, "max_new_tokens": max_new_tokens, "sampling": options.sampling,
        "seed": options.seed, "method": method.configuration(),
        "model": {"name": options.model.resolve().name, "fingerprint": model.fingerprint,
                  "dtype": options.dtype, "device": options.device},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__}}
    if method.golden:
        unit = units(method)
        found["unit"] = {"name": unit.name, "hash": unit.hash}
        found["prefill"] = options.prefill
        if options.batch > 1:  # PyTorch's sums depend on it
            found["batch"] = options.batch
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
    units = _Units(options)
    if options.batch > 1 and options.prefill != "dense":
        raise InputError(f"--batch: got {options.batch} with --prefill {options.prefill}; allowed: 1")
    question = None if options.task in RULER else _question_work(options)  # before a model is read
    model = models.load(options.model, gguf_file=options.gguf_file, dtype=options.dtype,
                        device=options.device)
    work = question or _ruler_work(options, model)
    max_new_tokens = options.max_new_tokens or work.task.max_new_tokens
    _check_lengths(options, work, model, max_new_tokens)
    attention = _Attention(options, model.network, units)
    for method in options.methods:
        attention.check(method)
    configurations = [_configuration(options, work, model, method, units, max_new_tokens)
                      for method in options.methods]
    for place, method in enumerate(options.methods):
        if configurations[place] in configurations[:place]:
            raise InputError(f"--method: {method.text}: is there twice; allowed: each method once")
    stores: list[Store] = []
    try:
        for method, configuration in zip(options.methods, configurations):
            stores.append(Store(options.out, configuration, f"{options.shard}of{options.shards}"))
            if method.golden:  # for `energy`, which simulates this very unit
                write_atomically(options.out / f"{stores[-1].name}.yaml",
                                 units(method).canonical_yaml)
        for index in range(options.shard, work.count, options.shards):
            missing = [(method, store) for method, store in zip(options.methods, stores)
                       if index not in store.done
                       or (_traced(options, method, index) and not store.trace(index).exists()
                           and not cost_path(options.out, store.name, index).exists())]
            if missing:
                _one_prompt(options, work, model, attention, max_new_tokens, index, missing)
    finally:
        for store in stores:
            store.close()


def _traced(options: Options, method: Method, index: int) -> bool:
    return method.golden and index < options.traces


class _Asked:
    """One method that answers a prompt, and what it reads."""

    def __init__(self, options: Options, method: Method, store: Store, index: int,
                 prompt_tokens: int) -> None:
        self.method = method
        self.store = store
        first_step = prompt_tokens if options.prefill == "sampled" else 0
        self.access = Access(method.values == "dense", first_step) if method.golden else None
        self.last = traces.LastStep()
        self.observer: huggingface.Observer | None = self.access
        if self.access is not None and _traced(options, method, index):
            self.observer = traces.both(self.access, self.last)


def _one_prompt(options: Options, work: _Work, model: models.Model, attention: _Attention,
                max_new_tokens: int, index: int, missing: list[tuple[Method, Store]]) -> None:
    """Asks one prompt with each method; a prefill that methods have in common is computed once."""
    prompt = work.prompt(index)
    tokens = model.tokens(prompt)
    network = model.network
    more: dict[str, Any] = {"max_new_tokens": max_new_tokens, "end": model.end,
                            "sampling": options.sampling, "seed": options.seed, "index": index}
    asked = [_Asked(options, method, store, index, len(tokens)) for method, store in missing]
    # The dense prefill of the golden method is PyTorch's own.
    common = [one for one in asked if one.method.attention == "sdpa"
              or (one.method.golden and options.prefill == "dense")]
    shared: generate.Prefilled | None = None
    if common:
        network.set_attn_implementation("sdpa")
        shared = generate.prefill(network, tokens)
    windows = shared is not None and any(layer.is_sliding for layer in shared.cache.layers)
    if windows and options.batch > 1:
        raise InputError(f"--batch: got {options.batch}; allowed: 1, for {options.model} has sliding "
                         "windows")
    held = [] if windows else [one for one in common if one.method.golden]
    for one in asked:
        if one in held:
            continue
        attention.use(one.method, index, one.observer)
        start = shared if one in common and shared is not None else generate.prefill(network, tokens)
        _keep(work, model, options, prompt, index, len(tokens), one,
              generate.answer(network, start, **more))
    for backend in BACKENDS:
        mine = [one for one in held if one.method.backend == backend]
        for first in range(0, len(mine), options.batch):
            assert shared is not None
            some = mine[first:first + options.batch]
            found = _together(options, network, attention, index, shared, some, more)
            for one, answer in zip(some, found):
                _keep(work, model, options, prompt, index, len(tokens), one, answer)


def _together(options: Options, network: Any, attention: _Attention, index: int,
              start: generate.Prefilled, asked: list[_Asked],
              more: dict[str, Any]) -> list[generate.Answer]:
    """Golden methods as one batch, of options.batch rows always: PyTorch's sums depend on it."""
    attentions = [attention.golden(one.method, index, one.observer) for one in asked]
    units: list[Unit | None] = [one.unit for one in attentions]
    idle = options.batch - len(asked)
    cache = huggingface.UnitCache(start.cache, units + [None] * idle)
    huggingface.attach_each(network, attentions + attentions[:1] * idle)
    return generate.answers(network, start, cache, options.batch, **more)[:len(asked)]


def _keep(work: _Work, model: models.Model, options: Options, prompt: Prompt, index: int,
          prompt_tokens: int, asked: _Asked, answer: generate.Answer) -> None:
    text = model.text(answer.tokens)
    score = work.task.grade(text, prompt.gold)
    if asked.last.steps:
        traces.write(asked.store.trace(index), asked.last, model=options.model.resolve().name,
                     text=work.description["name"])
    asked.store.add({"index": index, "score": score, "answer": text, "tokens": answer.tokens,
                     "prompt_tokens": prompt_tokens, "new_tokens": len(answer.tokens),
                     "ended": answer.ended,
                     "access": asked.access.record() if asked.access is not None else None})
    print(f"{work.description['name']} {index}: {asked.method.text}: {score:g}", file=sys.stderr,
          flush=True)
