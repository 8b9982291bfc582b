"""Answers on disk: a folder with, for each configuration, HASH.json and lines in HASH.*.jsonl.

A line is one answer, written at once and synchronised, so that a killed run leaves whole lines and
at most one torn one, which the next run removes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from . import forms
from .errors import InputError

Record = dict[str, Any]


_UMASK = os.umask(0o077)
os.umask(_UMASK)


class Conflict(Exception):
    """One prompt of one configuration has two answers."""


def canonical(configuration: Record) -> str:
    return json.dumps(configuration, sort_keys=True, separators=(",", ":"))


def hash_of(configuration: Record) -> str:
    return hashlib.sha256(canonical(configuration).encode()).hexdigest()[:16]


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_UMASK)  # a temporary file is its owner's alone
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def write_atomically(path: Path, text: str) -> None:
    """The old file or the new one, whenever this is interrupted; of a link, the file that it names.
    Devices and pipes are written to. Raises InputError where that cannot be done."""
    try:
        target = path.resolve()
        if not target.exists() or stat.S_ISREG(target.stat().st_mode):
            _replace(target, text)
        else:
            with target.open("w", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}; allowed: a file in a folder to "
                         "write in, on a disk with room") from error


def make_folder(path: Path) -> None:
    """With those above it. Raises InputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; allowed: a folder to write in") from error


_ANSWER = "a line that a run wrote"


def _add(found: dict[int, Record], path: Path) -> None:
    """Adds the whole lines of a file."""
    text = path.read_bytes()
    for number, line in enumerate(text[:text.rfind(b"\n") + 1].splitlines(), 1):
        place = f"{path}:{number}"
        record = forms.read(line, f"{place}: not an answer", forms.ANSWER, _ANSWER)
        forms.check_access(record["access"], f"{place}: access", _ANSWER)
        index = record["index"]
        if found.setdefault(index, record) != record:
            raise Conflict(f"{path}:{number}: prompt {index} has another answer in a file beside it")


def answers(folder: Path, name: str) -> dict[int, Record]:
    """All answers of one configuration, by prompt."""
    found: dict[int, Record] = {}
    for path in sorted(folder.glob(f"{name}.*.jsonl")):
        _add(found, path)
    return found


def configurations(folder: Path) -> dict[str, Record]:
    """By hash, which each file's content is checked against."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; allowed: the folder of --out of a run")
    found = {}
    for path in sorted(path for path in folder.glob("*.json") if path.name.count(".") == 1):
        configuration = forms.read_file(path, forms.CONFIGURATION, "the configuration that a run wrote")
        if hash_of(configuration) != path.stem:
            raise InputError(f"{path}: its content has the hash {hash_of(configuration)}; allowed: "
                             "the configuration that a run wrote")
        found[path.stem] = configuration
    if not found:
        raise InputError(f"{folder}: no results; allowed: the folder of --out of a run")
    return found


class Store:
    """The answers of one configuration while a process adds those of its shard."""

    def __init__(self, folder: Path, configuration: Record, shard: str) -> None:
        make_folder(folder)
        self.name = hash_of(configuration)
        self._folder = folder
        path = folder / f"{self.name}.{shard}.jsonl"
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"{path}: another process writes it; allowed: a shard once") from error
        content = path.read_bytes()
        os.truncate(self._file, content.rfind(b"\n") + 1)
        write_atomically(folder / f"{self.name}.json", json.dumps(configuration, indent=1,
                                                                 sort_keys=True) + "\n")
        self.done = answers(folder, self.name)

    def trace(self, index: int) -> Path:
        """Where the last decode step of a prompt lies."""
        return self._folder / f"{self.name}.{index}.safetensors"

    def add(self, record: Record) -> None:
        """Writes an answer; one that is there already must be the same."""
        index = record["index"]
        if index in self.done:
            if self.done[index] != record:
                raise Conflict(f"{self._folder}: {self.name}: prompt {index} has another answer now")
            return
        line = (json.dumps(record, sort_keys=True) + "\n").encode()
        if os.write(self._file, line) != len(line):
            raise OSError("the disk took half an answer")
        os.fsync(self._file)
        self.done[index] = record

    def close(self) -> None:
        os.close(self._file)


def merge(target: Path, sources: list[Path]) -> dict[str, int]:
    """Joins folders of shards; returns how many answers each configuration has."""
    found: dict[str, dict[int, Record]] = {}
    names: dict[str, Record] = {}
    for source in sources:
        for name, configuration in configurations(source).items():
            names[name] = configuration
            joined = found.setdefault(name, {})
            for index, record in answers(source, name).items():
                if joined.setdefault(index, record) != record:
                    raise Conflict(f"{source}: {name}: prompt {index} has another answer in another "
                                   "folder")
    make_folder(target)
    for name, records in found.items():
        write_atomically(target / f"{name}.json",
                         json.dumps(names[name], indent=1, sort_keys=True) + "\n")
        write_atomically(target / f"{name}.merged.jsonl", "".join(
            json.dumps(records[index], sort_keys=True) + "\n" for index in sorted(records)))
    return {name: len(records) for name, records in found.items()}


def _apart_from_the_machine(configuration: Record) -> str:
    """A configuration without what computed it."""
    method = {key: value for key, value in configuration["method"].items() if key != "backend"}
    model = {key: value for key, value in configuration["model"].items() if key != "device"}
    return canonical({**configuration, "method": method, "model": model, "versions": None})


def compare(first: Path, second: Path) -> str:
    """Compares the answers that two folders have in common, but for backend, device and versions.

    Returns what was compared. Raises Conflict at the first answer that is another.
    """
    sides: list[dict[str, list[str]]] = []
    for folder in (first, second):
        side: dict[str, list[str]] = {}
        for name, configuration in configurations(folder).items():
            side.setdefault(_apart_from_the_machine(configuration), []).append(name)
        sides.append(side)
    pairs = [(mine, other) for key, names in sides[0].items() for mine in names
             for other in sides[1].get(key, [])]
    compared = tokens = 0
    for mine, other in pairs:
        left, right = answers(first, mine), answers(second, other)
        for index in sorted(set(left) & set(right)):
            for field in ("tokens", "ended", "score", "access"):
                if left[index][field] != right[index][field]:
                    raise Conflict(f"prompt {index}: {field}: {first}/{mine} has {left[index][field]}, "
                                   f"{second}/{other} has {right[index][field]}")
            compared += 1
            tokens += len(left[index]["tokens"])
    if compared == 0:
        raise InputError(f"{first}, {second}: no answer to one prompt with one method in both; "
                         "allowed: runs that differ in backend, device or versions alone")
    return f"the same: {compared} answers of {len(pairs)} pairs of configurations, {tokens} tokens"
