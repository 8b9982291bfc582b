"""Answers of a model: prefill, then one token at a time."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from transformers import (LogitsProcessorList, RepetitionPenaltyLogitsProcessor,
                          TemperatureLogitsWarper, TopPLogitsWarper)


@dataclasses.dataclass(frozen=True)
class Prefilled:
    """A prompt in the cache, and what the model would say next."""

    tokens: list[int]
    cache: Any
    logits: torch.Tensor  # [1, vocabulary]


@dataclasses.dataclass(frozen=True)
class Answer:
    tokens: list[int]  # without the one that ended it
    ended: bool  # by the model, and not by the limit


@torch.no_grad()
def prefill(network: Any, tokens: Sequence[int]) -> Prefilled:
    """The whole prompt with the attention that the model has now."""
    ids = torch.tensor([list(tokens)], device=network.device)
    outcome = network(ids, use_cache=True, logits_to_keep=1)
    return Prefilled(list(tokens), outcome.past_key_values, outcome.logits[:, -1].float())


def _processors() -> LogitsProcessorList:
    return LogitsProcessorList([
        RepetitionPenaltyLogitsProcessor(1.1), TemperatureLogitsWarper(0.6),
        TopPLogitsWarper(0.95)])


def _generator(seed: int, index: int) -> torch.Generator:
    digest = hashlib.sha256(f"{seed} {index}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


class _Chooser:
    """The next tokens of a batch from their logits."""

    def __init__(self, sampling: str, seed: int, index: int, rows: int) -> None:
        self._paper = sampling == "paper"
        self._processors = _processors()
        self._generators = [_generator(seed, index) for _ in range(rows)]

    def __call__(self, logits: torch.Tensor, histories: list[list[int]]) -> list[int]:
        if not self._paper:
            return list(logits.argmax(dim=-1).tolist())
        tokens = []
        for row, (history, generator) in enumerate(zip(histories, self._generators)):
            ids = torch.tensor([history], device=logits.device)
            chances = torch.softmax(self._processors(ids, logits[row:row + 1]), dim=-1).cpu()
            tokens.append(int(torch.multinomial(chances, 1, generator=generator)))
        return tokens


@torch.no_grad()
def answers(network: Any, prompt: Prefilled, cache: Any, rows: int, *, max_new_tokens: int,
            end: frozenset[int], sampling: str, seed: int, index: int) -> list[Answer | None]:
    """Tokens behind a prompt, one answer for each of `rows` requests of a batch.

    cache     holds the prompt for each; where it has stop(), a row that ended needs no attention,
              and a row that is stopped already is filled up with tokens that nobody asked for: None
    sampling  "greedy", the most likely token, or "paper": temperature 0.6, top-p 0.95, repetition
              penalty 1.1, drawn by `seed` and `index`
    """
    chooser = _Chooser(sampling, seed, index, rows)
    stop = getattr(cache, "stop", lambda row: None)
    idle = getattr(cache, "stopped", lambda row: False)
    found: list[list[int]] = [[] for _ in range(rows)]
    done: list[Answer | None] = [None] * rows
    going = [row for row in range(rows) if not idle(row)]
    logits = prompt.logits.expand(rows, -1)
    while True:
        tokens = chooser(logits, [prompt.tokens + mine for mine in found])
        for row in list(going):
            token = tokens[row]
            if token not in end:
                found[row].append(token)
            if token in end or len(found[row]) == max_new_tokens:
                done[row] = Answer(found[row], token in end)
                stop(row)
                going.remove(row)
        if not going:
            return done
        outcome = network(torch.tensor(tokens, device=network.device)[:, None], past_key_values=cache,
                          use_cache=True)
        cache, logits = outcome.past_key_values, outcome.logits[:, -1].float()


def answer(network: Any, prompt: Prefilled, **more: Any) -> Answer:
    """That of one request; the prompt's cache stays as it was."""
    (found,) = answers(network, prompt, copy.deepcopy(prompt.cache), 1, **more)
    assert found is not None
    return found
