"""Energy and time of a comparison's kept steps: each goes through the simulator with its own draws."""

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
    steps: dict[str, list[list[float]]] = {}
    attention = {key: value for key, value in found["attention"].items() if key != "unit"}
    for name, schedule in found["schedules"]:
        traces = sorted((folder / "traces").glob(f"{name}.*.safetensors"),
                        key=lambda path: int(path.name.split(".")[1]))
        if not traces:
            raise InputError(f"{folder / 'traces'}: no kept steps of {name}; allowed: the folder of "
                             "compare --reward accuracy --traces N")
        budgets = schedule[:1] if len(set(schedule)) == 1 else schedule
        steps[name] = []
        for trace in traces:
            energy_pj, time_ns = step_cost(
                program, trace, folder / "unit.yaml",
                {"seed": found["seed"], "method": {**attention, "samples": budgets}})
            steps[name].append([int(trace.name.split(".")[1]), round(1e-3 * energy_pj, 6), time_ns])
    prompts = {name: [step[0] for step in found] for name, found in steps.items()}
    if len(set(map(tuple, prompts.values()))) != 1:
        raise InputError(f"{folder / 'traces'}: steps of other prompts for {', '.join(prompts)}; allowed: "
                         "of the same")
    write_atomically(folder / "energy.json", json.dumps(
        {"unit": found["attention"]["unit"], "columns": ["prompt", "energy_nj", "time_ns"],
         "steps": steps}, indent=None, separators=(",", ": ")).replace("]],", "]],\n") + "\n")
