"""Liberty files: cells with their areas, pins, capacitances and internal energies."""

import dataclasses
import gzip
import pathlib
import re


@dataclasses.dataclass
class Table:
    """Internal energy by input slope and, for outputs, by load; in the library's units."""

    slopes: list
    loads: list   # empty: of one axis
    values: list  # slope by slope, in it load by load

    def at(self, slope, load):
        low, share = position(self.slopes, slope)
        rows = []
        for i in (low, min(low + 1, len(self.slopes) - 1)):
            width = max(1, len(self.loads))
            row = self.values[i * width:(i + 1) * width]
            j, part = position(self.loads, load) if self.loads else (0, 0.0)
            rows.append(row[j] + part * (row[min(j + 1, len(row) - 1)] - row[j]))
        return rows[0] + share * (rows[1] - rows[0])


def position(axis, value):
    """(index, share of the way to the next) of a value on an axis; beyond its ends, the ends."""
    if value <= axis[0] or len(axis) == 1:
        return 0, 0.0
    for i in range(len(axis) - 1):
        if value < axis[i + 1]:
            return i, (value - axis[i]) / (axis[i + 1] - axis[i])
    return len(axis) - 1, 0.0


@dataclasses.dataclass
class Pin:
    direction: str = ""
    capacitance: float = 0.0  # in the library's unit
    tables: list = dataclasses.field(default_factory=list)  # rises and falls, by related pin

    def internal_energy(self, slope, load):
        """Mean over rise and fall and the pins that may cause the change."""
        return sum(table.at(slope, load) for table in self.tables) / max(1, len(self.tables))


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


def energy_tables(pin, templates):
    found = []
    for power in pin.of("internal_power"):
        for group in power.of("rise_power") + power.of("fall_power") + power.of("power"):
            template = templates.get(group.name)
            axes = []
            for n in ("1", "2"):
                values = numbers(group.attributes.get(f"index_{n}", []))
                variable = template.attributes.get(f"variable_{n}", "") if template else ""
                if template and not values:
                    values = numbers(template.attributes.get(f"index_{n}", []))
                if values:
                    axes.append((variable, values))
            values = numbers(group.attributes.get("values", []))
            if len(axes) == 2 and "capacitance" in axes[0][0]:  # the load outside: exchange
                width = len(axes[1][1])
                values = [values[i * width + j] for j in range(width)
                          for i in range(len(axes[0][1]))]
                axes.reverse()
            if not axes:  # a scalar
                axes = [("", [0.0])]
            if "capacitance" in axes[0][0]:
                found.append(Table([0.0], axes[0][1], values))
            elif values:
                found.append(Table(axes[0][1], axes[1][1] if len(axes) > 1 else [], values))
    return found


def load(path):
    root = parse(read_text(path))
    unit = root.attributes.get("capacitive_load_unit", ["1", "pf"])
    capacitance = float(unit[0]) * {"pf": 1e-12, "ff": 1e-15}[unit[1].lower()]
    # Liberty's energy unit: capacitance times voltage squared.
    library = Library(root.name, float(root.attributes.get("nom_voltage", 1.8)), capacitance,
                      capacitance, {})
    templates = {group.name: group for group in root.of("power_lut_template")}
    for group in root.of("cell"):
        cell = Cell(float(group.attributes.get("area", 0)),
                    float(group.attributes.get("cell_leakage_power", 0)))
        for pin in group.of("pin"):
            cell.pins[pin.name] = Pin(pin.attributes.get("direction", ""),
                                      float(pin.attributes.get("capacitance", 0)),
                                      energy_tables(pin, templates))
        library.cells[group.name] = cell
    return library
