"""Processes of one run: those of mpirun, or this one alone.

MPI starts workers, tells them apart and makes them agree on errors and on the result. It carries no
task and no record: those are in the shared folder, where workers outside of this run take part too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from santasim.eval.errors import InputError

Result = TypeVar("Result")
_STARTED_BY_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")


class Processes:
    """Of MPI where mpirun or its like started this process."""

    def __init__(self) -> None:
        self._world: Any = None
        self._met = False
        self._error: str | None = None
        if any(name in os.environ for name in _STARTED_BY_MPI):
            try:
                from mpi4py import MPI
            except (ImportError, RuntimeError) as error:
                raise InputError(f"mpi4py: {error}; needed under mpirun; without it start processes "
                                 "one by one, each with its own --worker") from error
            self._world = MPI.COMM_WORLD
        self.rank: int = 0 if self._world is None else self._world.Get_rank()
        self.size: int = 1 if self._world is None else self._world.Get_size()

    def gather(self, value: Any) -> list[Any]:
        """One value of each process, in each process."""
        return [value] if self._world is None else self._world.allgather(value)

    def together(self, action: Callable[[], Result]) -> Result:
        """`action` in each process; where it refuses in any, all raise the first one's InputError."""
        result: Result | None = None
        message = None
        try:
            result = action()
        except InputError as error:
            message = str(error)
        self._error = self._first(message)
        if self._error is not None:
            raise InputError(self._error)
        self._met = True
        return cast(Result, result)

    def _first(self, message: str | None) -> str | None:
        return next(filter(None, self.gather(message)), None)

    def end(self, text: str, code: int) -> None:
        """Says an error, once where all processes have it, before this process ends.

        Where others may still work, as they do behind together(), they are ended.
        """
        alone = self._world is None or (self._met and self._error is None)
        if not alone and self._error is None:
            self._error = self._first(text)
        if alone or self.rank == 0:
            print(f"santasim.budgets: {text if alone else self._error}", file=sys.stderr, flush=True)
        if self._world is not None:
            if alone:
                self._world.Abort(code)
            self.gather(None)  # nobody ends before rank 0 has said it
