"""The shared folder: for each kind of work NAME.json, all that decides its numbers, and NAME.jsonl.

A line of NAME.jsonl is one finished task. Lines are appended whole, under a lock, so that any number
of processes write one file, and one that is killed leaves at most a torn last line, which nobody
reads and the next writer removes. Nothing else is state: whoever reads the lines knows how far the
work is. NAME.claims is an empty file whose byte ranges are locked by the tasks that are being done;
the system releases the locks of a process that ends, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from santasim.eval.errors import InputError
from santasim.eval.store import Conflict, Record, canonical, write_atomically

_BEGINNING = 1 << 40
"""Byte of the claims that a process locks while it begins; tasks are far below."""

Check = Callable[[Record], bool]
"""Whether a record is of the form that its kind of work has; `task` is checked already."""


def _differences(found: Record, wanted: Record, prefix: str = "") -> list[str]:
    """Keys with other values, as text."""
    names = []
    for key in sorted(set(found) | set(wanted)):
        mine, other = found.get(key), wanted.get(key)
        if isinstance(mine, dict) and isinstance(other, dict):
            names += _differences(mine, other, f"{prefix}{key}.")
        elif mine != other:
            names.append(f"{prefix}{key}: there {json.dumps(mine)}, here {json.dumps(other)}"[:200])
    return names


def configuration(folder: Path, name: str) -> Record | None:
    """The content of NAME.json; None where there is none."""
    path = folder / f"{name}.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error.__class__.__name__}; allowed: the JSON file that a run "
                         "wrote") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: not an object; allowed: the JSON file that a run wrote")
    return found


def _parsed(path: Path, text: bytes, first_line: int, check: Check) -> list[Record]:
    found = []
    for number, line in enumerate(text.splitlines(), first_line):
        try:
            record = json.loads(line)
            task = record["task"]
            good = isinstance(task, int) and not isinstance(task, bool) and task >= 0 and check(record)
        except (ValueError, KeyError, TypeError, IndexError):
            good = False
        if not good:
            raise InputError(f"{path}:{number}: not a record of this work: got "
                             f"{line[:60].decode(errors='replace')!r}; allowed: a line that a run wrote")
        found.append(record)
    return found


def _add(records: dict[int, Record], found: list[Record], path: Path) -> None:
    for record in found:
        if records.setdefault(record["task"], record) != record:
            raise Conflict(f"{path}: task {record['task']} is there twice with other numbers")


def stored(folder: Path, name: str, check: Check) -> dict[int, Record]:
    """All records, by task, for somebody who only reads."""
    path = folder / f"{name}.jsonl"
    text = path.read_bytes() if path.exists() else b""
    records: dict[int, Record] = {}
    _add(records, _parsed(path, text[:text.rfind(b"\n") + 1], 1, check), path)
    return records


class Folder:
    """One kind of work in a folder, for a process that takes part in it."""

    def __init__(self, folder: Path, name: str, wanted: Record, check: Check) -> None:
        """Raises InputError where the folder holds the same kind of work of another configuration."""
        self.records: dict[int, Record] = {}
        self._check = check
        self._path = folder / f"{name}.jsonl"
        self._read_bytes = self._read_lines = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._claims = os.open(folder / f"{name}.claims", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"--out: {folder}: {error.strerror}; allowed: a folder to write in") from error
        try:
            self._begin(folder, name, wanted)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                self.refresh()
            except BaseException:
                os.close(self._file)
                raise
        except BaseException:
            os.close(self._claims)  # with its locks
            raise

    def _begin(self, folder: Path, name: str, wanted: Record) -> None:
        """Writes the configuration, or compares it with the one that is there; one process at a time."""
        fcntl.lockf(self._claims, fcntl.LOCK_EX, 1, _BEGINNING)
        found = configuration(folder, name)
        if found is None:
            write_atomically(folder / f"{name}.json", json.dumps(wanted, indent=1, sort_keys=True) + "\n")
        elif canonical(found) != canonical(wanted):
            raise InputError(f"{folder / name}.json: {_differences(found, wanted)[0]}; allowed: the "
                             "options that this folder was begun with, or another folder")
        fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, _BEGINNING)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        os.close(self._file)
        os.close(self._claims)

    def refresh(self) -> None:
        """Reads the lines that others have added."""
        size = os.fstat(self._file).st_size
        if size < self._read_bytes:
            raise InputError(f"{self._path}: has become shorter; allowed: files that only grow")
        text = os.pread(self._file, size - self._read_bytes, self._read_bytes)
        text = text[:text.rfind(b"\n") + 1]
        found = _parsed(self._path, text, self._read_lines + 1, self._check)
        _add(self.records, found, self._path)
        self._read_bytes += len(text)
        self._read_lines += len(found)

    def claim(self, task: int) -> bool:
        """Whether this process may do a task now; no other will until it ends or releases it."""
        try:
            fcntl.lockf(self._claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, task)
        except OSError:
            return False
        self.refresh()
        if task in self.records:  # done since we last looked
            self.release(task)
            return False
        return True

    def release(self, task: int) -> None:
        fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, task)

    def add(self, record: Record) -> None:
        """Appends a finished task; one that is there already must be the same."""
        line = (json.dumps(record, sort_keys=True) + "\n").encode()
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            self.refresh()
            task = record["task"]
            if task in self.records:
                if self.records[task] != json.loads(line):
                    raise Conflict(f"{self._path}: task {task} has other numbers now")
                return
            os.ftruncate(self._file, self._read_bytes)  # what a killed writer left
            if os.write(self._file, line) != len(line):
                raise OSError("the disk took half a record")
            os.fsync(self._file)
            self.refresh()
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
