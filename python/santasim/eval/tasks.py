"""What a task is: a prompt of any length that somebody can grade."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Protocol


@dataclasses.dataclass(frozen=True)
class Prompt:
    """One question to a model."""

    user: str
    gold: Any  # as the task's grade() takes it, and JSON
    system: str | None = None
    answer_prefix: str = ""  # the first words of the answer, given to the model


class Task(Protocol):
    """`grade` gives 0 to 1 for the text that a model answered."""

    name: str
    max_new_tokens: int

    def grade(self, answer: str, gold: Any) -> float: ...


CountTokens = Callable[[Prompt], int]
