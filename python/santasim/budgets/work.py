"""What there is to do, and the loop of a worker that does it beside others.

A worker needs the folder alone: it reads what is finished, takes an open task that nobody claims,
does it and appends its record. There is no aggregator to lose: the policy of an iteration is a
function of the records of the earlier ones, which each worker computes for itself.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from santasim.eval.store import Record

from .records import Folder
from .schedule import Schedule, draw, unit_schedule, updated

_WAIT_S = 0.05
"""Until a worker without a task looks again."""


@dataclasses.dataclass(frozen=True)
class Task:
    """One evaluation of one schedule."""

    number: int
    schedule: Schedule | None  # None is PyTorch's attention
    prompts: tuple[int, ...]
    draws: tuple[int, ...]  # which random numbers the attention draws
    fields: Record  # to be stored beside what was measured


class Plan(Protocol):
    """Of one kind of work."""

    def open_tasks(self, records: dict[int, Record]) -> Sequence[int]:
        """Those that can be done now and are not; none where all is done."""

    def task(self, number: int, records: dict[int, Record]) -> Task: ...

    def check(self, record: Record) -> bool: ...


@dataclasses.dataclass(frozen=True)
class Fixed:
    """Every prompt with every schedule; the attention of a prompt draws alike in all of them."""

    schedules: tuple[Schedule | None, ...]
    first_prompt: int
    prompts: int
    seed: int

    def open_tasks(self, records: dict[int, Record]) -> Sequence[int]:
        return [number for number in range(self.prompts * len(self.schedules)) if number not in records]

    def task(self, number: int, records: dict[int, Record]) -> Task:
        prompt, place = divmod(number, len(self.schedules))
        prompt += self.first_prompt
        return Task(number, self.schedules[place], (prompt,), (self.seed,),
                    {"prompt": prompt, "schedule": place})

    def check(self, record: Record) -> bool:
        prompt, place = divmod(record["task"], len(self.schedules))
        return bool(prompt < self.prompts and record["prompt"] == prompt + self.first_prompt
                    and record["schedule"] == place)


@dataclasses.dataclass(frozen=True)
class Training:
    """Algorithm 1: iterations of episodes. An iteration's episodes have their prompts in common."""

    layers: int
    total: int
    iterations: int
    episodes: int
    questions: int  # prompts of an episode, of those that there are
    prompts: int
    learning_rate: float
    seed: int

    def open_tasks(self, records: dict[int, Record]) -> Sequence[int]:
        missing = next((number for number in range(self.iterations * self.episodes)
                        if number not in records), None)
        if missing is None:
            return []
        first = missing - missing % self.episodes
        return [number for number in range(first, first + self.episodes) if number not in records]

    def logits(self, records: dict[int, Record]) -> list[NDArray[np.float64]]:
        """Before the first iteration, and after each one whose episodes are all there."""
        found = [np.zeros(self.layers)]
        for iteration in range(self.iterations):
            numbers = range(iteration * self.episodes, (iteration + 1) * self.episodes)
            if any(number not in records for number in numbers):
                break
            counts = np.array([records[number]["counts"] for number in numbers])
            rewards = np.array([records[number]["reward"] for number in numbers])
            found.append(updated(found[-1], self.total, counts, rewards, self.learning_rate))
        return found

    def task(self, number: int, records: dict[int, Record]) -> Task:
        iteration, episode = divmod(number, self.episodes)
        counts = draw(self.logits(records)[iteration], self.total, self.seed, iteration, episode)
        random = np.random.default_rng([self.seed, iteration])
        prompts = sorted(map(int, random.choice(self.prompts, self.questions, replace=False)))
        return Task(number, unit_schedule(counts, self.total), tuple(prompts),
                    (self.seed, iteration, episode), {"counts": counts})

    def check(self, record: Record) -> bool:
        counts = record["counts"]
        return bool(record["task"] < self.iterations * self.episodes
                    and len(counts) == self.layers and sum(counts) == self.total and min(counts) >= 0
                    and isinstance(record["reward"], float) and np.isfinite(record["reward"]))


Evaluate = Callable[[Task], Record]


def _next(folder: Folder, plan: Plan, order: Callable[[Iterable[int]], list[int]]) -> int | None:
    """Claims an open task; None where others do all that are left now."""
    for number in order(plan.open_tasks(folder.records)):
        if folder.claim(number):
            return number
    return None


def work(folder: Folder, plan: Plan, evaluate: Evaluate,
         order: Callable[[Iterable[int]], list[int]] = list) -> None:
    """Takes part until all is done. `order` says which of the open tasks to try first."""
    while plan.open_tasks(folder.records):
        number = _next(folder, plan, order)
        if number is None:
            time.sleep(_WAIT_S)
            folder.refresh()
            continue
        task = plan.task(number, folder.records)
        folder.add({"task": number, **task.fields, **evaluate(task)})
        folder.release(number)
