"""The forms of the files of an evaluation, as JSON Schemas, and reading JSON that should have one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import fastjsonschema

from .errors import InputError

Form = Callable[[Any], Any]
Schema = dict[str, Any]

_COUNT: Schema = {"type": "integer", "minimum": 0}
_POSITIVE: Schema = {"type": "integer", "minimum": 1}
_TEXT: Schema = {"type": "string", "minLength": 1}
_SCORE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_ACCESS: Schema = {"type": "object", "additionalProperties":
                   {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}}  # read, possible


def _object(needed: Schema, **more: Schema) -> Schema:
    return {"type": "object", "required": list(needed), "properties": {**needed, **more}}


_CONFIGURATION = _object({
    "task": {**_object({"name": _TEXT}, length=_POSITIVE, style=_TEXT),
             "anyOf": [{"required": ["length"]}, {"required": ["style"]}]},
    "method": _object({"attention": _TEXT}, values=_TEXT, scores=_TEXT, backend=_TEXT,
                      samples={"type": "array", "items": _POSITIVE, "minItems": 1},
                      bernoulli=_POSITIVE, key_bits=_POSITIVE, value_bits=_POSITIVE),
    "model": _object({"name": _TEXT}), "seed": _POSITIVE},
    unit=_object({"name": _TEXT}), prefill=_TEXT)
_RUN: Schema = {**_object({
    "configuration": _CONFIGURATION,
    "scores": {"type": "array", "items": _SCORE, "minItems": 1},
    "new_tokens": _COUNT, "access": _ACCESS,
    "costs": {"type": "array", "items": {
        "type": "array", "minItems": 2, "maxItems": 2,  # pJ, ns
        "items": {"type": "number", "exclusiveMinimum": 0}}}},
    prompts={"type": "array", "items": _COUNT, "uniqueItems": True}), "additionalProperties": False}

FORMAT = "santasim-eval-1"


def _form(schema: Schema) -> Form:
    compiled: Form = fastjsonschema.compile({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    return compiled


CONFIGURATION = _form(_CONFIGURATION)
ANSWER = _form(_object({
    "index": _COUNT, "score": _SCORE, "answer": {"type": "string"}, "ended": {"type": "boolean"},
    "tokens": {"type": "array", "items": _COUNT}, "new_tokens": _COUNT,
    "access": {"oneOf": [{"type": "null"}, _ACCESS]}}))
COST = _form(_object({name: {"type": "number", "exclusiveMinimum": 0}
                      for name in ("energy_pj", "time_ns")}))
PACKED = _form(_object({"format": {"const": FORMAT}, "runs": {"type": "array", "items": _RUN}}))


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _refuse(place: str, what: str, allowed: str) -> InputError:
    return InputError(f"{place}: {what}; allowed: {allowed}")


def _difference(error: fastjsonschema.JsonSchemaValueException) -> str:
    """The key, what is there, and what the form wants."""
    name = error.name.removeprefix("data").lstrip(".")
    missing = ([key for key in error.definition["required"] if key not in error.value]
               if error.rule == "required" else [])
    if missing:
        return f"{name}{'.' if name else ''}{missing[0]}: missing"
    found = json.dumps(error.value)
    found = found if len(found) <= 60 else f"{found[:57]}..."
    return f"{name or 'content'}: got {found}, {error.message.removeprefix(error.name).strip()}"


def read(text: str | bytes, place: str, form: Form, allowed: str) -> Any:
    """What a JSON text says. Raises InputError where it is none, or not of the form."""
    try:
        content = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _refuse(place, "not JSON", allowed) from error
    try:
        form(content)
    except fastjsonschema.JsonSchemaValueException as error:
        raise _refuse(place, _difference(error), allowed) from error
    return content


def read_file(path: Path, form: Form, allowed: str) -> Any:
    """The same of a file."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _refuse(str(path), error.strerror or "cannot be read", allowed) from error
    return read(text, str(path), form, allowed)


def check_access(access: dict[str, list[int]] | None, place: str, allowed: str) -> None:
    """Nothing is read that was not possible."""
    for kind, (found, possible) in (access or {}).items():
        if found > possible:
            raise _refuse(f"{place}.{kind}", f"got {[found, possible]}", f"read of possible; {allowed}")
