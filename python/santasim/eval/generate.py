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


@torch.no_grad()
def answer(network: Any, prompt: Prefilled, *, max_new_tokens: int, end: frozenset[int],
           sampling: str, seed: int, index: int) -> Answer:
    """Tokens behind a prompt, whose cache stays as it was.

    sampling  "greedy", the most likely token, or "paper": temperature 0.6, top-p 0.95, repetition
              penalty 1.1, drawn by `seed` and `index`
    """
    cache, logits = copy.deepcopy(prompt.cache), prompt.logits
    processors = _processors() if sampling == "paper" else LogitsProcessorList()
    generator = _generator(seed, index)
    found: list[int] = []
    while True:
        history = torch.tensor([prompt.tokens + found], device=logits.device)
        scores = processors(history, logits)
        if sampling == "paper":
            chances = torch.softmax(scores, dim=-1).cpu()
            token = int(torch.multinomial(chances, 1, generator=generator))
        else:
            token = int(scores.argmax())
        if token in end:
            return Answer(found, True)
        found.append(token)
        if len(found) == max_new_tokens:
            return Answer(found, False)
        outcome = network(torch.tensor([[token]], device=network.device), past_key_values=cache,
                          use_cache=True)
        cache, logits = outcome.past_key_values, outcome.logits[:, -1].float()
