"""Long-context tasks in the manner of RULER: needle with four values, frequent words, questions.

A prompt is a pure function of task, seed, index and size; sized() chooses the size that fills a
number of tokens. Grading is that of the paper's Table 22. Texts are generated from words.py.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Sequence

from .errors import InputError
from .tasks import CountTokens, Prompt
from .words import ADJECTIVES, NOUNS, PLACES, SENTENCES, distinct

NEEDLES = 4
FREQUENT = 3
_ZIPF = 2.0  # exponent of the frequencies of words
_FEWEST_WORDS = 60  # from here on the third is more frequent than the fourth


def _needle(source: random.Random, size: int) -> Prompt:
    """Four numbers of one key among `size` other sentences."""
    key = f"{source.choice(ADJECTIVES)} {source.choice(NOUNS)}"
    numbers = [str(number) for number in source.sample(range(1_000_000, 10_000_000), NEEDLES)]
    lines = [source.choice(SENTENCES) for _ in range(size)]
    for number in numbers:
        lines.insert(source.randrange(len(lines) + 1),
                     f"One of the special numbers of the {key} is {number}.")
    user = ("Some special numbers are hidden in the text below. Remember them: the question at its "
            f"end is about them.\n\n{' '.join(lines)}\n\nWhat are all the special numbers of the "
            f"{key} that the text mentions?")
    return Prompt(user, numbers,
                  answer_prefix=f"The special numbers of the {key} that the text mentions are")


def _frequent_words(source: random.Random, size: int) -> Prompt:
    """`size` invented words whose frequencies fall as 1 / rank ** 2; which three are most frequent?"""
    vocabulary = distinct(source, 40)
    weights = [rank ** -_ZIPF for rank in range(1, len(vocabulary) + 1)]
    total = sum(weights)
    text = [word for word, weight in zip(vocabulary, weights)
            for _ in range(round(size * weight / total))]
    gold = vocabulary[:FREQUENT]
    source.shuffle(text)
    user = ("Below are coded words. Count how often each of them appears.\n\n"
            f"{' '.join(text)}\n\nWhich {FREQUENT} coded words appear most often?")
    return Prompt(user, gold,
                  answer_prefix=f"The {FREQUENT} coded words that appear most often are:")


def _facts(source: random.Random, size: int) -> list[tuple[str, str, str]]:
    """`size` times a person, the place of work and the town of that place, all distinct."""
    names = [f"{word.capitalize()} {other.capitalize()}" for word, other in
             zip(distinct(source, size), distinct(source, size))]
    towns = [word.capitalize() for word in distinct(source, size, syllables=3)]
    places = [f"{source.choice(ADJECTIVES).capitalize()} {noun.capitalize()} {place}"
              for noun, place in _pairs(source, size)]
    return list(zip(names, places, towns))


def _pairs(source: random.Random, count: int) -> list[tuple[str, str]]:
    """Distinct names of places: the nouns and kinds that there are, numbered on when used up."""
    every = [(noun, place) for noun in NOUNS for place in PLACES]
    source.shuffle(every)
    return [(f"{every[i % len(every)][0]}{'' if i < len(every) else f' {i // len(every) + 1}'}",
             every[i % len(every)][1]) for i in range(count)]


def _documents(source: random.Random, facts: Sequence[Sequence[str]]) -> str:
    lines = [line for fact in facts for line in fact]
    source.shuffle(lines)
    return "\n".join(f"Document {number}: {line}" for number, line in enumerate(lines, 1))


_INSTRUCTION = ("Answer the question from the documents below. Give only the answer and no other "
                "words.\n\n")


def _single_hop(source: random.Random, size: int) -> Prompt:
    """Documents that each hold one fact; the question needs one of them."""
    facts = _facts(source, max(size, 1))
    _, place, town = source.choice(facts)
    text = _documents(source, [[f"The {where} stands in the town of {which}. "
                                f"{source.choice(SENTENCES)}"] for _, where, which in facts])
    return Prompt(f"{_INSTRUCTION}{text}\n\nQuestion: In which town does the {place} stand?", town,
                  answer_prefix="Answer:")


def _multi_hop(source: random.Random, size: int) -> Prompt:
    """The same, but the question needs two documents."""
    facts = _facts(source, max(size, 1))
    person, _, town = source.choice(facts)
    text = _documents(source, [[f"{who} works at the {where}.",
                                f"The {where} stands in the town of {which}."]
                               for who, where, which in facts])
    return Prompt(f"{_INSTRUCTION}{text}\n\nQuestion: In which town does {person} work?", town,
                  answer_prefix="Answer:")


def grade_needle(answer: str, gold: Sequence[str]) -> float:
    """Share of the gold numbers among the first four different integers."""
    numbers = list(dict.fromkeys(re.findall(r"\d+", answer)))[:NEEDLES]
    return sum(number in gold for number in numbers) / NEEDLES


def grade_frequent_words(answer: str, gold: Sequence[str]) -> float:
    """Share of the gold words that occur as words, whatever their case."""
    words = set(re.findall(r"[a-z]+", answer.lower()))
    return sum(word.lower() in words for word in gold) / FREQUENT


def grade_question(answer: str, gold: str) -> float:
    """Whether the gold answer occurs anywhere, whatever its case."""
    return float(gold.lower() in answer.lower())


@dataclasses.dataclass(frozen=True)
class RulerTask:
    """One task; 64 new tokens, as in the paper."""

    name: str
    build: Callable[[random.Random, int], Prompt]
    grade: Callable[..., float]
    least_size: int = 1
    max_new_tokens: int = 64

    def prompt(self, seed: int, index: int, size: int) -> Prompt:
        """`size` counts sentences, words or facts."""
        return self.build(random.Random(f"{self.name} {seed} {index}"), size)

    def check(self, seed: int, index: int, length: int, count: CountTokens) -> None:
        """Refuses a length that the smallest prompt does not fit."""
        tokens = count(self.prompt(seed, index, self.least_size))
        if tokens > length:
            raise InputError(f"--length: got {length}; allowed: at least {tokens} tokens for prompt "
                             f"{index} of {self.name}")

    def sized(self, seed: int, index: int, length: int, count: CountTokens) -> Prompt:
        """The largest prompt of at most `length` tokens, found by bisection."""
        def fits(size: int) -> bool:
            return count(self.prompt(seed, index, size)) <= length

        self.check(seed, index, length, count)
        least = self.least_size
        most = 2 * least
        while fits(most):
            most *= 2
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if fits(middle) else (least, middle)
        return self.prompt(seed, index, least)


RULER = {task.name: task for task in (
    RulerTask("niah", _needle, grade_needle),
    RulerTask("fwe", _frequent_words, grade_frequent_words, least_size=_FEWEST_WORDS),
    RulerTask("qa1", _single_hop, grade_question),
    RulerTask("qa2", _multi_hop, grade_question))}
