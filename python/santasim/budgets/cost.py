"""Simulated energy of a layer at each budget, for rewards: a table, made once.

Every layer of a kept decode step is simulated at each power of two. A schedule's energy is a sum of
entries: the same for every episode with that schedule, without the noise of its few draws, and a
worker needs no simulator. What a comparison reports is the energy of the very steps (simulate.py).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from santasim.eval.energy import run_simulator
from santasim.eval.errors import InputError
from santasim.eval.store import Record, write_atomically

from .schedule import Schedule

FORMAT = "santasim-layer-energy"


@dataclasses.dataclass(frozen=True)
class Table:
    """Picojoules of one decode step: energy_pj[layer][exponent of the budget]."""

    unit_hash: str
    attention: Record
    context: int  # tokens, mean over the steps
    energy_pj: list[list[float]]

    def energy_uj(self, schedule: Schedule) -> float:
        """Attention of one token, all layers."""
        return 1e-6 * sum(row[samples.bit_length() - 1]
                          for row, samples in zip(self.energy_pj, schedule, strict=True))


def _layers(path: Path) -> tuple[list[str], int]:
    try:
        with safe_open(path, "np") as trace:
            metadata = trace.metadata() or {}
        return metadata["layers"].split(","), int(metadata["context_length"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"--trace: {path}: {error.__class__.__name__}; allowed: a trace, as "
                         "santasim.eval run --traces keeps") from error


def measure(program: str, steps: Sequence[Path], unit: Path, attention: Record, most: int) -> Table:
    """Means over the kept steps, each layer alone, of budgets 1, 2, 4 to `most`."""
    budgets = [1 << exponent for exponent in range(most.bit_length())]
    found = []
    contexts = []
    unit_hash = ""
    for path in steps:
        layers, context = _layers(path)
        contexts.append(context)
        if found and len(layers) != len(found[0]):
            raise InputError(f"--trace: {path}: got {len(layers)} layers; allowed: {len(found[0])}, as "
                             "in the first")
        rows = []
        for layer in layers:
            row = []
            for samples in budgets:
                words = [program, "run", "--trace", str(path), "--config", str(unit), "--layers", layer,
                         "--values", attention["values"], "--scores", attention["scores"], "--samples",
                         str(samples), "--no-baselines", "--json", "-"]
                if "bernoulli" in attention:
                    words += ["--bernoulli", str(attention["bernoulli"])]
                outcome = run_simulator(words)
                unit_hash = outcome["provenance"]["configuration_hash"]
                row.append(outcome["energy"]["total_pj"]["mid"])
            rows.append(row)
        found.append(rows)
    return Table(unit_hash, attention, round(float(np.mean(contexts))),
                 [[round(value, 3) for value in row] for row in np.mean(found, axis=0).tolist()])


def write(path: Path, table: Table) -> None:
    write_atomically(path, json.dumps({"format": FORMAT, **dataclasses.asdict(table)}, indent=1) + "\n")


def read(path: Path) -> Table:
    """Raises InputError for anything else than write() wrote."""
    allowed = "allowed: a file that santasim.budgets cost wrote"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format") != FORMAT:
            raise ValueError
        table = Table(**found)
        lengths = {len(row) for row in table.energy_pj}
        if len(lengths) != 1 or not np.all(np.isfinite(np.array(table.energy_pj, float))):
            raise ValueError
    except OSError as error:
        raise InputError(f"--energy: {path}: {error.strerror}; {allowed}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"--energy: {path}: not a table of energies; {allowed}") from error
    return table
