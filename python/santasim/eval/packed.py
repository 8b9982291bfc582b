"""Results in one small file: what tables and plots need of a folder of answers, without its texts.

JSON: `format`, and `runs`, of which each has the `configuration` of a run, `scores` of its prompts by
ascending number (`prompts` says which, where they are not 0, 1, 2, ...), `new_tokens` and `access`
summed over them, and `costs`: energy in pJ and time in ns of each step that was simulated.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from . import forms
from .errors import InputError
from .store import Record, answers, canonical, configurations

Cost = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Run:
    """One configuration with its answers, as far as tables need them."""

    name: str  # the configuration's hash, or its place in the file
    configuration: Record
    scores: dict[int, float]  # 0 to 1, by prompt
    new_tokens: int  # of all prompts
    access: dict[str, list[int]]  # read and possible, of all prompts
    costs: list[Cost]  # pJ, ns


def cost_path(folder: Path, name: str, index: int) -> Path:
    """Where the simulated cost of a prompt's last step lies."""
    return folder / f"{name}.{index}.cost.json"


def _costs(folder: Path, name: str) -> list[Cost]:
    found = []
    for path in sorted(folder.glob(f"{name}.*.cost.json")):
        cost = forms.read_file(path, forms.COST, "the file of `python -m santasim.eval energy`")
        found.append((cost["energy_pj"], cost["time_ns"]))
    return found


def _of_folder(folder: Path) -> list[Run]:
    found = []
    for name, configuration in configurations(folder).items():
        records = answers(folder, name)
        access: dict[str, list[int]] = {}
        for record in records.values():
            for kind, (read, possible) in (record["access"] or {}).items():
                total = access.setdefault(kind, [0, 0])
                total[0] += read
                total[1] += possible
        found.append(Run(name, configuration,
                         {index: records[index]["score"] for index in sorted(records)},
                         sum(record["new_tokens"] for record in records.values()), access,
                         _costs(folder, name)))
    return found


def _of_file(path: Path) -> list[Run]:
    allowed = "the file of `python -m santasim.eval pack`"
    found: list[Run] = []
    places: dict[str, int] = {}
    for place, run in enumerate(forms.read_file(path, forms.PACKED, allowed)["runs"]):
        prompts = run.get("prompts", range(len(run["scores"])))
        if len(prompts) != len(run["scores"]):
            raise InputError(f"{path}: runs[{place}].prompts: {len(prompts)} for {len(run['scores'])} "
                             f"scores; allowed: {allowed}")
        forms.check_access(run["access"], f"{path}: runs[{place}].access", allowed)
        first = places.setdefault(canonical(run["configuration"]), place)
        if first != place:
            raise InputError(f"{path}: runs[{place}].configuration: that of runs[{first}]; allowed: "
                             f"{allowed}")
        found.append(Run(f"runs[{place}]", run["configuration"], dict(zip(prompts, run["scores"])),
                         run["new_tokens"], run["access"], [tuple(cost) for cost in run["costs"]]))
    return found


def runs(results: Path) -> list[Run]:
    """Of a folder of answers or of a packed file; those without answers are left out."""
    if not results.exists():
        raise InputError(f"{results}: is not there; allowed: the folder of --out of a run, or a packed "
                         "file")
    found = _of_folder(results) if results.is_dir() else _of_file(results)
    found = [run for run in found if run.scores]
    if not found:
        raise InputError(f"{results}: no answers; allowed: the folder of --out of a run, or a packed "
                         "file")
    return found


def pack(results: Path) -> str:
    """The content of a packed file."""
    lines = []
    for run in sorted(runs(results), key=lambda run: json.dumps(run.configuration, sort_keys=True)):
        scores = [int(score) if score == int(score) else score for score in run.scores.values()]
        entry: Record = {"configuration": run.configuration, "scores": scores,
                         "new_tokens": run.new_tokens, "access": run.access, "costs": run.costs}
        if list(run.scores) != list(range(len(scores))):
            entry["prompts"] = list(run.scores)
        lines.append(json.dumps(entry, sort_keys=True, separators=(",", ":")))
    head = f'{{"format": "{forms.FORMAT}", "runs": [\n'
    return head + ",\n".join(lines) + "\n]}\n"
