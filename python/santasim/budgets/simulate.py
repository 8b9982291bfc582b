"""Energy and time of a comparison's kept steps: each goes through the simulator with its own draws.

Layers are simulated one by one, whatever their budgets, so that sums compare.
"""

from __future__ import annotations

import json
from pathlib import Path

from santasim.eval.energy import step_cost
from santasim.eval.errors import InputError
from santasim.eval.store import write_atomically

from .records import configuration


def simulate(folder: Path, program: str) -> None:
    """Writes energy.json. Raises Conflict where the simulator's draws are not the model's."""
    found = configuration(folder, "compare-answers")
    if found is None:
        raise InputError(f"{folder / 'compare-answers.json'}: missing; allowed: the folder of compare "
                         "--reward accuracy --traces N")
    schedules = dict(found["schedules"])
    kept = {name: {int(path.name.split(".")[1]): path
                   for path in (folder / "traces").glob(f"{name}.*.safetensors")} for name in schedules}
    prompts = sorted(set().union(*kept.values()))
    for name, traces in kept.items():
        if not prompts or sorted(traces) != prompts:
            raise InputError(f"{folder / 'traces'}: {name}: steps of prompts {sorted(traces)}; allowed: of "
                             "the same ones for each schedule, at least one; compare --traces N keeps them")
    attention = {key: value for key, value in found["attention"].items() if key != "unit"}
    steps: dict[str, list[list[float]]] = {}
    for name, schedule in schedules.items():
        steps[name] = []
        for prompt in prompts:
            energy_pj, time_ns = step_cost(
                program, kept[name][prompt], folder / "unit.yaml",
                {"seed": found["seed"], "method": {**attention, "samples": schedule}})
            steps[name].append([prompt, round(1e-3 * energy_pj, 6), time_ns])
    write_atomically(folder / "energy.json", json.dumps(
        {"unit": found["attention"]["unit"], "columns": ["prompt", "energy_nj", "time_ns"],
         "steps": steps}, separators=(",", ": ")).replace("]],", "]],\n") + "\n")
