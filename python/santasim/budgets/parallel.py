"""Processes of one run: those of mpirun, or this one alone.

MPI starts workers, tells them apart and makes them agree on errors and on the result. It carries no
task and no record: those are in the shared folder, where workers outside of this run take part too.
"""

from __future__ import annotations

import os
from typing import Any

from santasim.eval.errors import InputError

_STARTED_BY_MPI = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")


class Processes:
    """Of MPI where mpirun or its like started this process."""

    def __init__(self) -> None:
        self._world: Any = None
        if any(name in os.environ for name in _STARTED_BY_MPI):
            try:
                from mpi4py import MPI
            except (ImportError, RuntimeError) as error:
                raise InputError(f"mpi4py: {error}; needed under mpirun; without it start processes "
                                 "one by one, each with its own --worker") from error
            self._world = MPI.COMM_WORLD
        self.met = False
        """Whether all processes have begun the work."""
        self.rank: int = 0 if self._world is None else self._world.Get_rank()
        self.size: int = 1 if self._world is None else self._world.Get_size()

    def gather(self, value: Any) -> list[Any]:
        """One value of each process, in each process."""
        return [value] if self._world is None else self._world.allgather(value)

    def abort(self, code: int) -> None:
        """Ends all processes where others may wait for this one."""
        if self.size > 1:
            self._world.Abort(code)
