"""What a schedule does to a model: answers, or the dense model's own answer under the unit's attention."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from santasim import Unit, huggingface

from santasim.eval import generate, traces
from santasim.eval.access import Access
from santasim.eval.models import Model
from santasim.eval.methods import seed_of_prompt
from santasim.eval.store import Record
from santasim.eval.tasks import Prompt, Task as Question

from .schedule import Schedule
from .work import Task


@dataclasses.dataclass(frozen=True)
class Attention:
    """How the unit draws, the budgets aside."""

    values: str
    scores: str
    bernoulli: int

    def configuration(self) -> Record:
        found: Record = {"values": self.values, "scores": self.scores}
        if self.scores != "exact":
            found["bernoulli"] = self.bernoulli
        return found


@dataclasses.dataclass
class _Prepared:
    prompt: Prompt
    prefilled: generate.Prefilled


def draws_seed(draws: tuple[int, ...], prompt: int) -> int:
    """Of the attention of one prompt: that of `santasim.eval` for one number, else a hash of all."""
    if len(draws) == 1:
        return seed_of_prompt(draws[0], prompt)
    digest = hashlib.sha256(" ".join(map(str, (*draws, prompt))).encode()).digest()
    return int.from_bytes(digest[:7], "little") + 1


class Evaluator:
    """A model with its prompts, each prefilled once by PyTorch's attention and kept."""

    def __init__(self, model: Model, unit: Unit, attention: Attention, prompt: Callable[[int], Prompt],
                 question: Question, new_tokens: int) -> None:
        self.model = model
        self._unit = unit
        self._attention = attention
        self._prompt = prompt
        self._question = question
        self._new_tokens = new_tokens
        self._prepared: dict[int, _Prepared] = {}
        self.references: dict[int, Record] = {}
        """By prompt, what answers() recorded of the dense model."""
        self.traces: Callable[[Task], Path | None] = lambda task: None
        """Where the last decode step of a task is to be kept."""

    @property
    def layers(self) -> int:
        return len(huggingface.attention_layers(self.model.network))

    def check(self, schedule: Schedule | None) -> None:
        """Raises ValueError for what the unit or the model cannot do."""
        self._attach(schedule, 1, None)

    def order(self, worker: int, prompts: Callable[[int], tuple[int, ...]]
              ) -> Callable[[Iterable[int]], list[int]]:
        """Tasks whose prompts are here first, then those from a place of the worker's own on."""
        def key(number: int) -> tuple[bool, int]:
            here = all(prompt in self._prepared for prompt in prompts(number))
            # A multiplicative hash spreads workers over the prompts.
            return not here, (prompts(number)[0] * 7919 + worker * 104729) % 65537
        return lambda numbers: sorted(numbers, key=key)

    def answers(self, task: Task) -> Record:
        """Greedy answers: `accuracy`, the mean grade; of PyTorch's attention the tokens too."""
        grades, texts = [], []
        access = Access(dense_values=False)
        last = traces.LastStep()
        path = self.traces(task)
        for index in task.prompts:
            prepared = self._ready(index)
            self._attach(task.schedule, draws_seed(task.draws, index),
                         access if path is None else traces.both(access, last))
            texts.append(self._answer(prepared.prefilled))
            grades.append(self._question.grade(self.model.text(texts[-1]), prepared.prompt.gold))
        if path is not None and last.steps:
            traces.write(path, last, model=Path(self.model.network.name_or_path).name,
                         text=self._question.name)
        found: Record = {"accuracy": float(np.mean(grades)), **_rows(access)}
        if task.schedule is None:
            (found["tokens"],) = texts
        return found

    @torch.no_grad()
    def _answer(self, prompt: generate.Prefilled) -> list[int]:
        """The most likely tokens behind a prompt, whose cache stays as it was."""
        cache, logits = copy.deepcopy(prompt.cache), prompt.logits
        found: list[int] = []
        while (token := int(logits.argmax())) not in self.model.end:
            found.append(token)
            if len(found) == self._new_tokens:
                break
            outcome = self.model.network(torch.tensor([[token]]), past_key_values=cache, use_cache=True)
            cache, logits = outcome.past_key_values, outcome.logits[:, -1].float()
        return found

    @torch.no_grad()
    def follow(self, task: Task) -> Record:
        """Along the dense model's answers, all of whose tokens but the first the unit decides.

        `logprob`: mean natural logarithm of the probability of its tokens; `agreement`: share of
        them that are the most likely ones here too. Means over tokens, then over prompts. One
        forward pass has all tokens of an answer: the unit sees each as the decode step it is.
        """
        logprobs, agreements = [], []
        access = Access(dense_values=False)
        for index in task.prompts:
            prepared = self._ready(index)
            tokens = self.references[index]["tokens"]
            if len(tokens) < 2:  # the prefill alone has decided it
                logprobs.append(0.0)
                agreements.append(1.0)
                continue
            self._attach(task.schedule, draws_seed(task.draws, index), access, prefill="sampled")
            outcome = self.model.network(torch.tensor([tokens[:-1]]), use_cache=True,
                                         past_key_values=copy.deepcopy(prepared.prefilled.cache))
            wanted = torch.tensor(tokens[1:])
            logits = torch.log_softmax(outcome.logits[0].double(), dim=-1)
            logprobs.append(float(logits.gather(1, wanted[:, None]).mean()))
            agreements.append(float((logits.argmax(dim=-1) == wanted).double().mean()))
        return {"logprob": float(np.mean(logprobs)), "agreement": float(np.mean(agreements)),
                **_rows(access)}

    def _ready(self, index: int) -> _Prepared:
        if index not in self._prepared:
            prompt = self._prompt(index)
            self.model.network.set_attn_implementation("sdpa")
            self._prepared[index] = _Prepared(
                prompt, generate.prefill(self.model.network, self.model.tokens(prompt)))
        return self._prepared[index]

    def _attach(self, schedule: Schedule | None, seed: int, observer: huggingface.Observer | None,
                prefill: str = "dense") -> None:
        network = self.model.network
        if schedule is None:
            network.set_attn_implementation("sdpa")
            return
        huggingface.attach(network, self._unit, values=self._attention.values,
                           scores=self._attention.scores, bernoulli=self._attention.bernoulli,
                           samples=list(schedule), seed=seed, prefill=prefill, observer=observer)


def _rows(access: Access) -> Record:
    """Value rows read and there, for groups of query heads."""
    return {"values_read": [access.group_values, access.possible_values]}
