"""GSM8K and MMLU: data by path, prompts, parsing and grading of the paper's Tables 18 to 21."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from .errors import InputError
from .tasks import Prompt

STYLES = ("llama", "deepseek")
"""Whose prompt: with a system text and the answer on the last line, or with a \\boxed{} answer."""

LETTERS = "ABCD"
_MATHEMATICIAN = ("You are a precise mathematician. Explain your reasoning step by step, then output "
                  "ONLY the final number on a new line.")
_EXPERT = ("You are a knowledgeable and concise subject-matter expert. Work through the problem step "
           "by step. Finally, on a new line, output ONLY the single capital letter (A, B, C, or D) "
           "that corresponds to the correct choice.")
_BOXED_NUMBER = "Please reason step by step, and put your final numeric answer within \\boxed{}."
_BOXED_LETTER = "Answer briefly. Put your final answer as a single letter inside \\boxed{}."
_INTEGER = re.compile(r"-?\d[\d,]*")


def boxed(text: str) -> str | None:
    """What the last \\boxed{...} holds, inner braces balanced; None without a complete one."""
    start = len(text)
    while (start := text.rfind("\\boxed{", 0, start)) >= 0:
        first = start + len("\\boxed{")
        depth = 1
        for place in range(first, len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                return text[first:place]
    return None


def _integer(text: str) -> str | None:
    found = _INTEGER.search(text)
    return found.group() if found else None


def parse_number_llama(answer: str) -> str | None:
    """The first integer of the last line that is not empty, or else of the last 25 words."""
    lines = [line for line in answer.splitlines() if line.strip()]
    if not lines:
        return None
    return _integer(lines[-1]) or _integer(" ".join(answer.split()[-25:]))


def parse_number_deepseek(answer: str) -> str | None:
    """What the last box holds, or else the last 200 characters: the last number there."""
    inside = boxed(answer)
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", answer[-200:] if inside is None else inside)
    return found[-1] if found else None


def parse_letter_llama(answer: str) -> str | None:
    """The first A to D of the last line, or else the last of the last ten words."""
    found = re.search(r"[A-D]", answer[answer.rfind("\n") + 1:], re.IGNORECASE)
    if found:
        return found.group().upper()
    for word in reversed(answer.split()[-10:]):
        if found := re.search(r"[A-D]", word, re.IGNORECASE):
            return found.group().upper()
    return None


def parse_letter_deepseek(answer: str) -> str | None:
    """The last A to D of the last box, or else of the last 300 characters."""
    inside = boxed(answer)
    found = re.findall(r"[A-D]", answer[-300:] if inside is None else inside, re.IGNORECASE)
    return found[-1].upper() if found else None


def _number(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def same_number(first: str | None, second: str) -> bool:
    """Whether two numerals have one value; an answer that is none has no value."""
    value = _number(first)
    return value is not None and value == _number(second)


@dataclasses.dataclass(frozen=True)
class QuestionTask:
    """A data set with one style of prompt."""

    name: str
    style: str
    system: str | None
    suffix: str
    parse: Callable[[str], str | None]
    same: Callable[[str | None, str], bool]
    max_new_tokens: int

    def prompt(self, record: dict[str, Any]) -> Prompt:
        """A record as read_gsm8k() or read_mmlu() gives it."""
        text = "\n".join([record["question"], *record.get("choices", [])])
        return Prompt(text + self.suffix, record["gold"], system=self.system)

    def grade(self, answer: str, gold: str) -> float:
        return float(self.same(self.parse(answer), gold))


def question_task(name: str, style: str) -> QuestionTask:
    """`name` is gsm8k or mmlu, `style` one of STYLES."""
    llama = style == "llama"
    if name == "gsm8k":
        return QuestionTask(name, style, _MATHEMATICIAN if llama else None,
                            "" if llama else f"\n\n{_BOXED_NUMBER}",
                            parse_number_llama if llama else parse_number_deepseek, same_number,
                            512 if llama else 4096)
    return QuestionTask(name, style, _EXPERT if llama else None,
                        "" if llama else f"\n\n{_BOXED_LETTER}",
                        parse_letter_llama if llama else parse_letter_deepseek,
                        lambda found, gold: found == gold, 512 if llama else 4096)


def _records(path: Path, allowed: str) -> Iterator[tuple[str, Any]]:
    """Place and object of each line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(f"--data: {path}: {reason}; allowed: {allowed}") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield f"--data: {path}:{number}", json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"--data: {path}:{number}: not JSON; allowed: {allowed}") from error


def read_gsm8k(path: Path) -> list[dict[str, Any]]:
    """JSON lines with "question" and "answer", which ends in #### and the number."""
    allowed = 'JSON lines with texts "question" and "answer", the answer ending in "#### NUMBER"'
    found = []
    for place, record in _records(path, allowed):
        if not isinstance(record, dict) or not all(isinstance(record.get(key), str)
                                                  for key in ("question", "answer")):
            raise InputError(f"{place}: allowed: {allowed}")
        gold = record["answer"].rpartition("####")
        if not gold[1] or _number(gold[2].strip()) is None:
            raise InputError(f'{place}: answer: no number after "####"; allowed: {allowed}')
        found.append({"question": record["question"], "gold": gold[2].strip()})
    return _not_empty(found, path, allowed)


def read_mmlu(path: Path) -> list[dict[str, Any]]:
    """JSON lines with "question", four "choices" and "answer" 0 to 3, or the older CSV of six columns."""
    allowed = ('JSON lines with "question", four "choices" and "answer" 0 to 3, or CSV (.csv) of '
               "question, four choices and A to D")
    rows = _csv_rows(path, allowed) if path.suffix == ".csv" else _mmlu_lines(path, allowed)
    found = []
    for place, question, choices, letter in rows:
        if (not isinstance(question, str) or not isinstance(choices, list) or len(choices) != 4
                or not all(isinstance(choice, str) for choice in choices)
                or not isinstance(letter, str) or letter not in tuple(LETTERS)):
            raise InputError(f"{place}: allowed: {allowed}")
        found.append({"question": question, "gold": letter,
                      "choices": [f"{name}. {choice}" for name, choice in zip(LETTERS, choices)]})
    return _not_empty(found, path, allowed)


def _mmlu_lines(path: Path, allowed: str) -> Iterator[tuple[str, Any, Any, Any]]:
    for place, record in _records(path, allowed):
        if not isinstance(record, dict):
            raise InputError(f"{place}: allowed: {allowed}")
        answer = record.get("answer")
        whole = isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < 4
        yield place, record.get("question"), record.get("choices"), LETTERS[answer] if whole else None


def _csv_rows(path: Path, allowed: str) -> Iterator[tuple[str, Any, Any, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file, strict=True), 1):
                if len(row) != 6:
                    raise InputError(f"--data: {path}:{number}: got {len(row)} columns; "
                                     f"allowed: {allowed}")
                yield f"--data: {path}:{number}", row[0], row[1:5], row[5]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "not CSV text"
        raise InputError(f"--data: {path}: {reason}; allowed: {allowed}") from error


def _not_empty(found: list[dict[str, Any]], path: Path, allowed: str) -> list[dict[str, Any]]:
    if not found:
        raise InputError(f"--data: {path}: no question; allowed: {allowed}")
    return found


READERS = {"gsm8k": read_gsm8k, "mmlu": read_mmlu}
