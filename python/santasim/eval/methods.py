"""How a model's attention is computed in one row of a table."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import InputError

_KEYS = ("values", "samples", "scores", "bernoulli", "key_bits", "value_bits", "backend")
_NUMBERS = ("bernoulli", "key_bits", "value_bits")
_ALLOWED = ("sdpa, eager, cuda:samples=N, or golden:values=V,samples=N,scores=Q,bernoulli=B,key_bits=8,"
            "value_bits=8,backend=cpu, of which any key may be left out")


@dataclasses.dataclass(frozen=True)
class Method:
    """`attention` is the name of transformers; the rest is for ours alone."""

    text: str
    attention: str
    values: str = "sys"
    samples: tuple[int, ...] = (256,)  # one, or one for each layer
    scores: str = "exact"
    bernoulli: int = 8
    key_bits: int | None = None  # other than the unit's
    value_bits: int | None = None
    backend: str = "cpu"  # of the golden attention; decides no number

    @property
    def overrides(self) -> dict[str, object]:
        """Keys of the hardware description that this method changes."""
        widths = {"system.key_bits": self.key_bits, "system.value_bits": self.value_bits}
        return {key: bits for key, bits in widths.items() if bits is not None}

    @property
    def golden(self) -> bool:
        return self.attention == "santasim_golden"

    def configuration(self) -> dict[str, Any]:
        """What decides the numbers, for the hash: of the unit's options those that have an effect."""
        found: dict[str, Any] = {"attention": self.attention}
        if self.golden or self.attention == "santasim_cuda":
            found["values"] = self.values
            if self.values != "dense":
                found["samples"] = list(self.samples)
            found["scores"] = self.scores
            if self.scores != "exact":
                found["bernoulli"] = self.bernoulli
            for name in ("key_bits", "value_bits"):
                if getattr(self, name) is not None:
                    found[name] = getattr(self, name)
            if self.backend != "cpu":
                found["backend"] = self.backend
        return found


def seed_of_prompt(seed: int, index: int) -> int:
    """Prompts draw apart, whatever shard they are in; index is below 10**6."""
    return seed * 2**20 + index


def label(configuration: dict[str, Any]) -> str:
    """The text of a Method.configuration(), for a row of a table."""
    if "values" not in configuration:
        return str(configuration["attention"])
    parts = [configuration["values"]]
    if "samples" in configuration:
        budgets = configuration["samples"]
        parts.append(f"S={budgets[0]}" if len(budgets) == 1 else
                     f"S by layer, mean {sum(budgets) / len(budgets):g}")
    if "bernoulli" in configuration:
        parts.append(f"{configuration['scores']} B={configuration['bernoulli']}")
    parts += [f"{name[0].upper()}{configuration[name]}" for name in ("key_bits", "value_bits")
              if name in configuration]
    if "backend" in configuration:
        parts.append(f"({configuration['backend']})")
    name = " ".join(parts)
    return name if configuration["attention"] == "santasim_golden" else f"{name} (cuda)"


def parse_method(text: str) -> Method:
    """Raises InputError; whether a scheme or budget exists is left to the unit's own message."""
    def refuse(what: str, allowed: str = _ALLOWED) -> InputError:
        return InputError(f'--method: {text}: got "{what}"; allowed: {allowed}')

    name, colon, rest = text.partition(":")
    names = {"sdpa": "sdpa", "eager": "eager", "golden": "santasim_golden", "cuda": "santasim_cuda"}
    if name not in names or (colon and name in ("sdpa", "eager")):
        raise refuse(text)
    options: dict[str, Any] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = part.partition("=")
        if key not in _KEYS or not equals or key in options:
            raise refuse(part)
        if key == "samples" or key in _NUMBERS:
            numbers = value.split("+")
            if not all(number.isascii() and number.isdigit() for number in numbers):
                raise refuse(part, f"{key}={'N' if key in _NUMBERS else 'N or N+N+..., one for each layer'}")
            options[key] = tuple(map(int, numbers))
        else:
            options[key] = value
    for key in _NUMBERS:
        if key in options:
            if len(options[key]) != 1:
                raise refuse(rest, f"{key}=N")
            options[key] = options[key][0]
    if name == "cuda" and (set(options) - {"samples"} or len(options.get("samples", (1,))) != 1):
        raise refuse(rest, "samples=N")
    return Method(text, names[name], **options)
