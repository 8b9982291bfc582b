"""Liberty files: cells with their areas, pins, capacitances and internal energies."""

import dataclasses
import gzip
import pathlib
import re


@dataclasses.dataclass
class Pin:
    direction: str = ""
    capacitance: float = 0.0  # in the library's unit
    internal_energy: list = dataclasses.field(default_factory=list)  # table entries, rise and fall


@dataclasses.dataclass
class Cell:
    area: float = 0.0
    leakage: float = 0.0
    pins: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Library:
    name: str
    voltage: float
    capacitance_farad: float  # the unit of capacitances
    energy_joule: float       # the unit of internal energies
    cells: dict


class Group:
    """A group `kind(name) { attributes, groups }`."""

    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.attributes, self.groups = {}, []

    def of(self, kind):
        return [group for group in self.groups if group.kind == kind]


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.+\-*/\[\]!\']+|[(){};:,=]', re.S)


def read_text(path):
    path = pathlib.Path(path)
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    return path.read_text()


def parse(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    tokens = TOKEN.findall(text)
    position = 0

    def body(group):
        nonlocal position
        while position < len(tokens) and tokens[position] != "}":
            name = tokens[position]
            position += 1
            if name in ";,":
                continue
            if position >= len(tokens):
                return
            if tokens[position] == ":":
                position += 1
                words = []
                while tokens[position] not in ";}":
                    # A value without its semicolon ends before the next statement.
                    if words and position + 1 < len(tokens) and tokens[position + 1] in ":(":
                        break
                    words.append(tokens[position])
                    position += 1
                group.attributes[name] = " ".join(words).strip('"')
            elif tokens[position] == "(":
                position += 1
                values = []
                while tokens[position] != ")":
                    if tokens[position] != ",":
                        values.append(tokens[position].strip('"'))
                    position += 1
                position += 1
                if position < len(tokens) and tokens[position] == "{":
                    position += 1
                    child = Group(name, values[0] if values else "")
                    body(child)
                    position += 1
                    group.groups.append(child)
                else:
                    group.attributes[name] = values
    root = Group("", "")
    body(root)
    return root.of("library")[0]


def numbers(values):
    return [float(x) for value in values for x in re.split(r"[,\s]+", value.strip()) if x]


def internal_energies(pin):
    found = []
    for power in pin.of("internal_power"):
        for table in power.of("rise_power") + power.of("fall_power") + power.of("power"):
            found.append(numbers(table.attributes.get("values", [])))
    return [sum(table) / len(table) for table in found if table]


def load(path):
    root = parse(read_text(path))
    unit = root.attributes.get("capacitive_load_unit", ["1", "pf"])
    capacitance = float(unit[0]) * {"pf": 1e-12, "ff": 1e-15}[unit[1].lower()]
    # Liberty's energy unit: capacitance times voltage squared.
    library = Library(root.name, float(root.attributes.get("nom_voltage", 1.8)), capacitance,
                      capacitance, {})
    for group in root.of("cell"):
        cell = Cell(float(group.attributes.get("area", 0)),
                    float(group.attributes.get("cell_leakage_power", 0)))
        for pin in group.of("pin"):
            cell.pins[pin.name] = Pin(pin.attributes.get("direction", ""),
                                      float(pin.attributes.get("capacitance", 0)),
                                      internal_energies(pin))
        library.cells[group.name] = cell
    return library
