"""Tables of what a folder holds, with bootstrap intervals over prompts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from santasim.eval.errors import InputError
from santasim.eval.report import Estimate, bootstrap
from santasim.eval.store import Record

from .records import configuration, stored
from .schedule import Schedule, probabilities, unit_schedule
from .work import Fixed, Training

FIXED = tuple(f"{kind}-{measure}" for kind in ("ablate", "compare") for measure in ("follow", "answers"))
MEASURES = {"logprob": "log-probability a token", "agreement": "agreement, %", "accuracy": "accuracy, %"}


@dataclasses.dataclass(frozen=True)
class Rows:
    """Schedules by prompts."""

    name: str
    configuration: Record
    measures: dict[str, NDArray[np.float64]]
    """By name [schedules, prompts]: shares as percent, `values read, %` and, if simulated, energy."""
    dense: NDArray[np.float64] | None
    """Accuracy of PyTorch's attention on the same prompts, percent."""

    @property
    def schedules(self) -> list[str]:
        return [name for name, _ in self.configuration["schedules"]]

    def samples(self, place: int) -> list[int]:
        return list(self.configuration["schedules"][place][1])


@dataclasses.dataclass(frozen=True)
class Trained:
    """A training as far as it is."""

    configuration: Record
    rewards: NDArray[np.float64]  # [iterations, episodes]
    measured: NDArray[np.float64]  # the same, without the energy's part
    schedule: Schedule
    probabilities: NDArray[np.float64]

    @property
    def done(self) -> bool:
        return len(self.rewards) == int(self.configuration["iterations"])


def trained(folder: Path) -> Trained | None:
    """None where the folder has no training."""
    found = configuration(folder, "train")
    if found is None:
        return None
    try:
        plan = Training(**{field.name: found[field.name] for field in dataclasses.fields(Training)})
        measure = found["reward"]
    except KeyError as error:
        raise InputError(f"{folder / 'train.json'}: {error.args[0]}: missing; allowed: the file that a "
                         "run wrote") from error
    records = stored(folder, "train", plan.check)
    logits = plan.logits(records)
    whole = range((len(logits) - 1) * plan.episodes)
    chances = probabilities(logits[-1])

    def table(name: str) -> NDArray[np.float64]:
        return np.array([_number(folder, "train", records[number], name) for number in whole]
                        ).reshape(-1, plan.episodes)

    return Trained(found, table("reward"), table(measure), unit_schedule(plan.total * chances, plan.total),
                   chances)


def _number(folder: Path, name: str, record: Record, key: str) -> float:
    """A measured number of a record."""
    found = record.get(key)
    if not isinstance(found, (int, float)) or not np.isfinite(found):
        raise InputError(f"{folder / name}.jsonl: task {record['task']}: {key}: got {found!r}; allowed: a number")
    return float(found)


def _share(folder: Path, name: str, record: Record) -> float:
    """Value rows read, percent."""
    found = record.get("values_read")
    if not (isinstance(found, list) and len(found) == 2 and 0 <= found[0] <= found[1]):
        raise InputError(f"{folder / name}.jsonl: task {record['task']}: values_read: got {found!r}; allowed: "
                         "rows read and rows there")
    return 100 * float(found[0]) / max(float(found[1]), 1)


def learned_schedule(folder: Path) -> Schedule:
    """Of a training that is complete."""
    found = trained(folder)
    if found is None:
        raise InputError(f"--schedule: learned: {folder / 'train.json'}: missing; allowed: the folder of "
                         "a training")
    if not found.done:
        raise InputError(f"--schedule: learned: {folder}: {len(found.rewards)} iterations are done; allowed: "
                         f"a training with all {found.configuration['iterations']}")
    return found.schedule


def rows(folder: Path, name: str) -> Rows | None:
    """Of a kind of work in FIXED; None where it is not there or not complete."""
    found = configuration(folder, name)
    if found is None:
        return None
    try:
        schedules, first, prompts = found["schedules"], found["first_prompt"], found["prompts"]
        plan = Fixed(tuple(tuple(budgets) for _, budgets in schedules), first, prompts, found["seed"])
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{folder / name}.json: not of this work; allowed: the file that a run "
                         "wrote") from error
    records = stored(folder, name, plan.check)
    if plan.open_tasks(records):
        return None
    ordered = [[records[prompt * len(schedules) + place] for prompt in range(prompts)]
               for place in range(len(schedules))]
    measures = {}
    for key in MEASURES:
        if key in ordered[0][0]:
            scale = 1 if key == "logprob" else 100
            measures[key] = scale * np.array([[_number(folder, name, record, key) for record in line]
                                              for line in ordered])
    measures["values read, %"] = np.array([[_share(folder, name, record) for record in line]
                                           for line in ordered])
    dense = None
    if "accuracy" in measures:
        plan = Fixed((None,), first, prompts, found["seed"])
        source = f"dense-{first}-{prompts}"
        answers = stored(folder, source, plan.check)
        if plan.open_tasks(answers):
            raise InputError(f"{folder / source}.jsonl: {len(answers)} answers; allowed: {prompts}, which "
                             f"{name} needs")
        dense = np.array([100 * _number(folder, source, answers[prompt], "accuracy")
                          for prompt in range(prompts)])
    return Rows(name, found, measures, dense)


def energies(folder: Path) -> dict[str, list[list[float]]]:
    """What `simulate` stored: by schedule [prompt, nanojoules, nanoseconds] of each kept step."""
    path = folder / "energy.json"
    if not path.exists():
        return {}
    try:
        found: dict[str, list[list[float]]] = json.loads(path.read_text(encoding="utf-8"))["steps"]
        for steps in found.values():
            np.array(steps, float).reshape(-1, 3)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not energies; allowed: the file that santasim.budgets simulate "
                         "wrote") from error
    return found


def _interval(estimate: Estimate, digits: int) -> str:
    return f"{estimate.mean:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _table(found: Rows) -> list[str]:
    """A row a schedule, differences of the same prompts to the first one."""
    names = [key for key in found.measures if key in MEASURES]
    base = found.schedules[0]
    lines = [f"### {found.name}: {found.configuration['prompts']} prompts", "",
             "| schedule | samples | " + " | ".join(f"{MEASURES[key]} | less {base}'s" for key in names)
             + " | values read, % |", "|---|--:|" + "--:|" * (2 * len(names) + 1)]
    if found.dense is not None:
        difference = _interval(bootstrap(found.dense - found.measures["accuracy"][0]), 1)
        lines.append(f"| PyTorch's attention | – | {_interval(bootstrap(found.dense), 1)} | {difference} | 100 |")
    for place, name in enumerate(found.schedules):
        cells = []
        for key in names:
            digits = 3 if key == "logprob" else 1
            values = found.measures[key]
            cells.append(_interval(bootstrap(values[place]), digits))
            cells.append("–" if place == 0 else _interval(bootstrap(values[place] - values[0]), digits))
        read = float(found.measures["values read, %"][place].mean())
        lines.append(f"| {name} | {sum(found.samples(place))} | {' | '.join(cells)} | {read:.1f} |")
    return [*lines, ""]


def _energy_table(found: dict[str, list[list[float]]]) -> list[str]:
    if not found:
        return []
    base = next(iter(found))
    lines = ["### energy and time of the attention of a token, simulated", "",
             f"| schedule | steps | µJ | less {base}'s | µs | less {base}'s |", "|---|--:|--:|--:|--:|--:|"]
    first = np.array(found[base], float)
    for name, steps in found.items():
        mine = np.array(steps, float)
        cells = []
        for column in (1, 2):
            cells.append(_interval(bootstrap(1e-3 * mine[:, column]), 2))
            cells.append("–" if name == base else
                         _interval(bootstrap(1e-3 * (mine[:, column] - first[:, column])), 2))
        lines.append(f"| {name} | {len(mine)} | {' | '.join(cells)} |")
    return [*lines, ""]


def _training_table(found: Trained) -> list[str]:
    settings = found.configuration
    tenth = max(1, len(found.rewards) // 10)
    lines = [f"### train: {len(found.rewards)} of {settings['iterations']} iterations of "
             f"{settings['episodes']} episodes", "",
             f"| {settings['reward']} of drawn schedules | mean [95 %] over iterations |", "|---|--:|"]
    if len(found.rewards):
        for name, part in ((f"first {tenth} iterations", found.measured[:tenth]),
                           (f"last {tenth} iterations", found.measured[-tenth:])):
            lines.append(f"| {name} | {_interval(bootstrap(part.mean(axis=1)), 3)} |")
    return [*lines, "", f"Learned schedule, {sum(found.schedule)} of {settings['total']} samples: "
            f"`{'+'.join(map(str, found.schedule))}`", ""]


def tables(folder: Path) -> str:
    """Markdown of all that is there and complete."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; allowed: the folder of --out of a run")
    lines: list[str] = []
    training = trained(folder)
    if training is not None:
        lines += _training_table(training)
    for name in FIXED:
        found = rows(folder, name)
        if found is not None:
            lines += _table(found)
    lines += _energy_table(energies(folder))
    if not lines:
        raise InputError(f"{folder}: no results; allowed: the folder of --out of a run that is complete")
    return "\n".join(lines)


def document(folder: Path) -> str:
    """The tables as a file of their own."""
    return (f"# Layer budgets: results\n\nWritten by `python -m santasim.budgets report {folder} --markdown "
            "FILE`; [budgets.md](budgets.md) says what they are.\n\n" + tables(folder).rstrip("\n") + "\n")
