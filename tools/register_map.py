"""Reads the description of the register map, rtl/registers.yaml, and checks it strictly."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REGISTER_BITS = 32
ADDRESS_BITS = 12
ADDRESS_END = 1 << ADDRESS_BITS
ACCESSES = ("ro", "rw", "wo", "w1c")
FROM_UNIT = "unit"
COUNTER_BYTES = 8
MAX_COUNTERS = 64


class MapError(Exception):
    """A bad description, in one line."""


def map_error(place: str, key: str, found: str, allowed: str) -> MapError:
    """The message: file, key, what was found, what is allowed."""
    return MapError(f"{place}: {key}: {found}; allowed: {allowed}")


@dataclass(frozen=True)
class Field:
    """Bits high:low of a register; reset is None where the value comes from the unit."""

    name: str
    high: int
    low: int
    reset: int | None
    description: str

    @property
    def bits(self) -> int:
        """The width."""
        return self.high - self.low + 1

    @property
    def mask(self) -> int:
        """The bits of the field in its register."""
        return ((1 << self.bits) - 1) << self.low


@dataclass(frozen=True)
class Register:
    """One 32-bit register."""

    name: str
    offset: int
    access: str
    description: str
    fields: tuple[Field, ...]

    @property
    def mask(self) -> int:
        """The bits of all fields."""
        return sum(field.mask for field in self.fields)

    @property
    def reset(self) -> int | None:
        """The value after reset; None where a part comes from the unit."""
        if any(field.reset is None for field in self.fields):
            return None
        return sum((field.reset or 0) << field.low for field in self.fields)


@dataclass(frozen=True)
class Counter:
    """One 64-bit counter."""

    name: str
    offset: int
    description: str


@dataclass(frozen=True)
class RegisterMap:
    """The whole description."""

    registers: tuple[Register, ...]
    counters: tuple[Counter, ...]
    counters_offset: int


class UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, where PyYAML takes the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """The mapping, its keys checked."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                place = f"{key_node.start_mark.name}:{key_node.start_mark.line + 1}"
                raise map_error(place, str(key), "not a text", "a text as key")
            if key in seen:
                place = f"{key_node.start_mark.name}:{key_node.start_mark.line + 1}"
                raise map_error(place, key, "given twice", "each key once")
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


class Reader:
    """Takes values out of the loaded document; every method names the key it refuses."""

    def __init__(self, place: str) -> None:
        self.place = place

    def error(self, key: str, found: str, allowed: str) -> MapError:
        """One refused value."""
        return map_error(self.place, key, found, allowed)

    def mapping(self, value: object, key: str, keys: Collection[str]) -> dict[str, Any]:
        """A mapping with exactly these keys."""
        allowed = ", ".join(keys)
        if not isinstance(value, dict):
            raise self.error(key, f"got {value!r}", f"a mapping with {allowed}")
        prefix = f"{key}." if key else ""
        for name in value:
            if name not in keys:
                raise self.error(f"{prefix}{name}", "unknown key", allowed)
        for name in keys:
            if name not in value:
                raise self.error(f"{prefix}{name}", "missing key", f"all of {allowed}")
        return value

    def sequence(self, value: object, key: str) -> list[Any]:
        """A list that is not empty."""
        if not isinstance(value, list) or not value:
            raise self.error(key, f"got {value!r}", "a list with at least one entry")
        return value

    def integer(self, value: object, key: str, low: int, high: int, step: int = 1) -> int:
        """A whole number from low to high, a multiple of step."""
        multiple = f", a multiple of {step}" if step > 1 else ""
        if isinstance(value, bool) or not isinstance(value, int) or value % step:
            raise self.error(key, f"got {value!r}", f"{low} to {high}{multiple}")
        if not low <= value <= high:
            raise self.error(key, f"got {value:#x}", f"{low:#x} to {high:#x}{multiple}")
        return value

    def name(self, value: object, key: str, pattern: str) -> str:
        """A text that matches a pattern."""
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise self.error(key, f"got {value!r}", f"a text that matches {pattern}")
        return value

    def description(self, value: object, key: str) -> str:
        """A text of one line that may stand in a Markdown table."""
        if not isinstance(value, str) or not value or not value.isprintable() or "|" in value:
            raise self.error(key, f"got {value!r}", "a text of one line without '|'")
        return value


def read_field(reader: Reader, value: object, key: str) -> Field:
    """One field; `bits` is a bit or [highest, lowest]."""
    entry = reader.mapping(value, key, ("name", "bits", "reset", "description"))
    name = reader.name(entry["name"], f"{key}.name", r"[a-z][a-z0-9_]*")
    bits = entry["bits"]
    pair = [bits, bits] if isinstance(bits, int) else bits
    if not isinstance(pair, list) or len(pair) != 2:
        raise reader.error(f"{key}.bits", f"got {bits!r}", "a bit, or [highest, lowest]")
    high = reader.integer(pair[0], f"{key}.bits", 0, REGISTER_BITS - 1)
    low = reader.integer(pair[1], f"{key}.bits", 0, high)
    reset = entry["reset"]
    if reset != FROM_UNIT:
        if not isinstance(reset, int):
            raise reader.error(f"{key}.reset", f"got {reset!r}", f"a number, or {FROM_UNIT}")
        reset = reader.integer(reset, f"{key}.reset", 0, (1 << (high - low + 1)) - 1)
    description = reader.description(entry["description"], f"{key}.description")
    return Field(name, high, low, None if reset == FROM_UNIT else reset, description)


def read_register(reader: Reader, value: object, index: int) -> Register:
    """One register with its fields."""
    key = f"registers[{index}]"
    entry = reader.mapping(value, key, ("name", "offset", "access", "description", "fields"))
    name = reader.name(entry["name"], f"{key}.name", r"[A-Z][A-Z0-9_]*")
    offset = reader.integer(entry["offset"], f"{name}.offset", 0, ADDRESS_END - 4, 4)
    access = entry["access"]
    if access not in ACCESSES:
        raise reader.error(f"{name}.access", f"got {access!r}", ", ".join(ACCESSES))
    description = reader.description(entry["description"], f"{name}.description")
    fields: list[Field] = []
    for number, item in enumerate(reader.sequence(entry["fields"], f"{name}.fields")):
        field = read_field(reader, item, f"{name}.fields[{number}]")
        for other in fields:
            if field.name == other.name:
                raise reader.error(f"{name}.{field.name}", "given twice", "each name once")
            if field.mask & other.mask:
                raise reader.error(
                    f"{name}.{field.name}.bits",
                    f"got [{field.high}, {field.low}]",
                    f"no bit of {other.name}, which has [{other.high}, {other.low}]",
                )
        if access != "ro" and field.reset is None:
            raise reader.error(
                f"{name}.{field.name}.reset", f"got {FROM_UNIT}", f"a number, as access is {access}"
            )
        fields.append(field)
    return Register(name, offset, access, description, tuple(fields))


def read_counters(reader: Reader, value: object) -> tuple[int, tuple[Counter, ...]]:
    """The offset of the first counter, and the counters in their order."""
    entry = reader.mapping(value, "counters", ("offset", "names"))
    names = reader.sequence(entry["names"], "counters.names")
    if len(names) > MAX_COUNTERS:
        raise reader.error("counters.names", f"got {len(names)} entries", f"1 to {MAX_COUNTERS}")
    last = ADDRESS_END - COUNTER_BYTES * len(names)
    start = reader.integer(entry["offset"], "counters.offset", 0, last, COUNTER_BYTES)
    counters: list[Counter] = []
    for index, item in enumerate(names):
        key = f"counters.names[{index}]"
        item = reader.mapping(item, key, ("name", "description"))
        name = reader.name(item["name"], f"{key}.name", r"[a-z][a-z0-9_]*")
        if any(name == other.name for other in counters):
            raise reader.error(f"{key}.name", f"got {name!r}", "each name once")
        description = reader.description(item["description"], f"{key}.description")
        counters.append(Counter(name, start + COUNTER_BYTES * index, description))
    return start, tuple(counters)


def check_registers(
    reader: Reader, registers: list[Register], counters: tuple[Counter, ...]
) -> None:
    """Names and offsets are given once; offsets ascend."""
    owner = {}
    for counter in counters:
        for word in (counter.offset, counter.offset + 4):
            owner[word] = f"counter {counter.name}"
    names: set[str] = set()
    last = -1
    for register in registers:
        offset = f"got {register.offset:#05x}"
        if register.name in names:
            raise reader.error(f"{register.name}.name", "given twice", "each name once")
        if register.offset in owner:
            free = f"an offset that {owner[register.offset]} does not have"
            raise reader.error(f"{register.name}.offset", offset, free)
        if register.offset < last:
            raise reader.error(f"{register.name}.offset", offset, f"above {last:#05x}, in order")
        names.add(register.name)
        owner[register.offset] = register.name
        last = register.offset


def read_map(path: Path) -> RegisterMap:
    """Reads and checks a description. Throws MapError."""
    place = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MapError(f"{place}: cannot be read: {error}") from error
    try:
        loader = UniqueKeyLoader(text)
        loader.name = place
        document = loader.get_single_data()
    except yaml.YAMLError as error:
        raise MapError(f"{place}: not YAML: {' '.join(str(error).split())}") from error
    reader = Reader(place)
    root = reader.mapping(document, "", ("registers", "counters"))
    entries = reader.sequence(root["registers"], "registers")
    registers = [read_register(reader, entry, index) for index, entry in enumerate(entries)]
    offset, counters = read_counters(reader, root["counters"])
    check_registers(reader, registers, counters)
    return RegisterMap(tuple(registers), counters, offset)
