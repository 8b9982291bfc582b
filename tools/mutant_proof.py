"""Proofs that no input tells a mutant from the unit.

The unit and the unit with the mutant are one graph of ANDs that share what is equal. To prove: in
every cycle, each register takes the same value and each output and each port of a memory has the
same one. Then both stay in the same state for ever. That is a property of one machine, the unit, in
the states that it can reach, and yosys-abc's `pdr` (property directed reachability) finds the
invariants that it takes. Where a register may differ and nobody may notice, it is there twice: the
property speaks of all other registers.

What is assumed: both begin after a cycle of reset from an unknown state. A register that this leaves
unknown in either is any value, the same in both unless it is known in one of them. Inputs, reset among them,
and what memories give back are anything. Proofs with registers as free inputs (a `depth`) assume less
than that, so they hold as well.
"""

import collections
import concurrent.futures
import heapq
import json
import math
import multiprocessing
import pathlib
import re
import resource
import subprocess
import tempfile

from and_graph import FALSE, TRUE, AndGraph

DEPTHS = (0, 2, 6, None)  # steps back from the mutant that are looked at; None: all
MOST_ROUNDS = 24          # registers that differ are found a few at a time

GATES = {"$_NOT_": "A", "$_AND_": "AB", "$_OR_": "AB", "$_XOR_": "AB", "$_MUX_": "ABS"}


def known_and(a, b):
    return 0 if 0 in (a, b) else None if None in (a, b) else 1


def known_or(a, b):
    return 1 if 1 in (a, b) else None if None in (a, b) else 0


# Of values that are 0, 1 or unknown.
KNOWN = {
    "$_NOT_": lambda a: None if a is None else 1 - a,
    "$_AND_": known_and,
    "$_OR_": known_or,
    "$_XOR_": lambda a, b: None if None in (a, b) else a ^ b,
    "$_MUX_": lambda a, b, s: (b if s else a) if s is not None else a if a == b else None,
}

Proof = collections.namedtuple("Proof", "kind doubled")  # kind: how, or None


class Netlist:
    """A flat module of the simple gates, $_DFF_P_ and $mem_v2, as yosys' write_json has it."""

    def __init__(self, path, controls, seen=(), clock="clk_i", reset="rst_ni"):
        """`controls` are the inputs that choose a mutant, `seen` are wires that count as outputs."""
        (module,) = json.loads(pathlib.Path(path).read_text())["modules"].values()
        ports = module["ports"]
        self.graph = graph = AndGraph()
        self.compute = {"$_NOT_": lambda a: a ^ 1, "$_AND_": graph.and_, "$_OR_": graph.or_,
                        "$_XOR_": graph.xor, "$_MUX_": lambda a, b, s: graph.mux(s, b, a)}
        (clock_bit,), (self.reset,) = ports[clock]["bits"], ports[reset]["bits"]
        self.controls = {name: ports[name]["bits"][0] for name in controls if name in ports}
        self.boot = self.graph.variable()  # 0 in the cycle that loads the first state
        self.free = {"0": FALSE, "1": TRUE}  # literals of what is no cell's output
        self.unknown = {}
        self.gates, self.kinds, self.flops, self.memories = {}, {}, {}, []
        for name, cell in module["cells"].items():
            self._add(name, cell, clock_bit)
        for port in ports.values():
            for bit in port["bits"] if port["direction"] == "input" else ():
                self.free[bit] = self.graph.variable()
        self.outputs = [(name, bit) for name, port in ports.items()
                        if port["direction"] == "output" for bit in port["bits"]]
        self.outputs += [(name, bit) for name in seen for bit in module["netnames"][name]["bits"]]
        self.outputs = [(name, bit) for name, bit in self.outputs if bit not in ("x", "z")]
        self.start = {flop: self.graph.variable() for flop in self.flops}
        for flop in self.flops:
            self.free[flop] = self.graph.variable()
        for bit in self._used() - self.gates.keys() - self.free.keys():
            self.free[bit] = self.graph.variable()  # no driver: any value, the same in both units
        self._sort()

    def _add(self, name, cell, clock_bit):
        bits, kind = cell["connections"], cell["type"]
        if kind in GATES:
            self.gates[bits["Y"][0]] = [self._known(bits[p][0]) for p in GATES[kind]]
            self.kinds[bits["Y"][0]] = kind
        elif kind == "$_DFF_P_" and bits["C"][0] == clock_bit:
            self.flops[bits["Q"][0]] = self._known(bits["D"][0])
        elif kind == "$mem_v2":
            self.memories.append(Memory(name, cell, self._known))
            for bit in bits["RD_DATA"]:
                self.free[bit] = self.graph.variable()
        else:
            raise ValueError(f"{name}: {kind} is not for a proof")

    def _used(self):
        """Bits that something reads."""
        used = {bit for gate in self.gates.values() for bit in gate}
        used.update(self.flops.values(), (bit for _, bit in self.outputs))
        for memory in self.memories:
            used.update(memory.enables, (bit for _, bit in memory.guarded))
            used.update(bit for enables, _ in memory.guarded for bit in enables)
        return used

    def _known(self, bit):
        """An undefined bit is any value, the same in both units."""
        if bit not in ("x", "z"):
            return bit
        name = f"x{len(self.unknown)}"
        self.free[name] = self.unknown[name] = self.graph.variable()
        return name

    def _sort(self):
        self.order, done = [], set()
        for first in self.gates:
            stack = [first]
            while stack:
                bit = stack[-1]
                missing = [b for b in self.gates[bit] if b in self.gates and b not in done]
                if bit in done or not missing:
                    stack.pop()
                    if bit not in done:
                        done.add(bit)
                        self.order.append(bit)
                elif len(stack) > len(self.gates):
                    raise ValueError("a loop of gates")
                else:
                    stack += missing
        self.rank = {bit: i for i, bit in enumerate(self.order)}
        self.readers = collections.defaultdict(list)
        for bit, gate in self.gates.items():
            for source in gate:
                self.readers[source].append(bit)

    def evaluate(self):
        """Literal of every bit of the unit."""
        value = dict(self.free)
        value.update((bit, FALSE) for bit in self.controls.values())
        return self._all(value, self.compute)

    def reset_state(self):
        """Value of every bit in a cycle of reset from an unknown state: 0, 1 or None."""
        value = dict.fromkeys(self.free)
        value.update({"0": 0, "1": 1, self.reset: 0})
        value.update((bit, 0) for bit in self.controls.values())
        return self._all(value, KNOWN)

    def _all(self, value, compute):
        for bit in self.order:
            value[bit] = compute[self.kinds[bit]](*(value[b] for b in self.gates[bit]))
        return value

    def changed(self, unit, new, compute):
        """The values of `unit` with those of `new` for some bits, and what follows from them."""
        value, heap, waiting = dict(unit), [], set()
        def change(bit, word):
            if value[bit] == word:
                return
            value[bit] = word
            for reader in self.readers[bit]:
                if reader not in waiting:
                    waiting.add(reader)
                    heapq.heappush(heap, self.rank[reader])
        for bit, word in new.items():
            change(bit, word)
        while heap:  # in the order of gates: each once
            bit = self.order[heapq.heappop(heap)]
            change(bit, compute[self.kinds[bit]](*(value[b] for b in self.gates[bit])))
        return value


class Memory:
    """Ports of a memory: what it is written with and asked for, where it is."""

    def __init__(self, name, cell, known):
        self.name = name
        bits = {port: [known(bit) for bit in bits] for port, bits in cell["connections"].items()}
        number = {key: int(text, 2) for key, text in cell["parameters"].items()
                  if re.fullmatch("[01]+", str(text))}
        width, address = number["WIDTH"], number["ABITS"]
        self.enables, self.guarded = [], []  # bits; (enables, bit)
        for port in range(number["WR_PORTS"]):
            enables = bits["WR_EN"][port * width:][:width]
            self.enables += enables
            self.guarded += list(zip(([e] for e in enables),
                                     bits["WR_DATA"][port * width:][:width]))
            self.guarded += [(enables, bit) for bit in bits["WR_ADDR"][port * address:][:address]]
        for port in range(number["RD_PORTS"]):
            enable = bits["RD_EN"][port]
            self.enables += [enable, bits["RD_ARST"][port], bits["RD_SRST"][port]]
            self.guarded += [([enable], b) for b in bits["RD_ADDR"][port * address:][:address]]

    def difference(self, graph, unit, mutant):
        words = [graph.xor(unit[bit], mutant[bit]) for bit in set(self.enables)]
        words += [graph.and_(graph.or_(*{unit[e] for e in enables}),
                             graph.xor(unit[bit], mutant[bit]))
                  for enables, bit in self.guarded if unit[bit] != mutant[bit]]
        return graph.or_(*words)


class Prover:
    """Proofs about the mutants of a netlist, each chosen by an input of its own."""

    def __init__(self, netlist, seconds):
        """`seconds` of a processor are for the solver in each proof."""
        self.netlist, self.seconds = netlist, seconds
        self.unit = netlist.evaluate()
        self.reset = netlist.reset_state()
        self.begin = {flop: self.reset[data] for flop, data in netlist.flops.items()}
        self.latches = {netlist.boot >> 1: TRUE}
        for flop in netlist.flops:
            self._latch(self.latches, flop, netlist.free[flop], self.unit, self.begin)

    def _latch(self, latches, flop, literal, value, begin, other=None):
        """A register: its first value, then what the gates say."""
        first = {0: FALSE, 1: TRUE, None: other or self.netlist.start[flop]}[begin[flop]]
        latches[literal >> 1] = self.netlist.graph.mux(self.netlist.boot,
                                                       value[self.netlist.flops[flop]], first)

    def prove(self, mutant):
        """How it is proved that nobody can tell the mutant from the unit; kind None if it is not."""
        graph, end = self.netlist.graph, solver_seconds() + self.seconds
        reset = self.netlist.changed(self.reset, {self.netlist.controls[mutant]: 1}, KNOWN)
        begin = {flop: reset[data] for flop, data in self.netlist.flops.items()}
        # Where reset leaves another value, the two begin apart.
        apart = {flop: graph.variable() for flop in begin if begin[flop] != self.begin[flop]}
        for depth in DEPTHS:
            doubled = {flop: graph.variable() for flop in apart}
            for _ in range(MOST_ROUNDS):
                verdict, differ = self._round(mutant, doubled, depth, begin, apart, end)
                if verdict == "proved":
                    return Proof(self._kind(depth, doubled), len(doubled))
                if not differ or None in differ:
                    break
                doubled.update((flop, graph.variable()) for flop in differ)
        return Proof(None, 0)

    @staticmethod
    def _kind(depth, doubled):
        what = "gates" if depth == 0 else "reachable states"
        return f"{what}, registers that nobody sees" if doubled else what

    def _round(self, mutant, doubled, depth, begin, apart, end):
        """proved, refuted or unknown; and the registers that differ, None for anything else."""
        netlist, graph = self.netlist, self.netlist.graph
        value = netlist.changed(self.unit, {netlist.controls[mutant]: TRUE, **doubled},
                                netlist.compute)
        registers = {flop: graph.xor(self.unit[data], value[data])
                     for flop, data in netlist.flops.items()
                     if flop not in doubled and self.unit[data] != value[data]}
        rest = graph.or_(*(memory.difference(graph, self.unit, value)
                           for memory in netlist.memories),
                         *(graph.xor(self.unit[bit], value[bit])
                           for _, bit in netlist.outputs if self.unit[bit] != value[bit]))
        bad = graph.and_(netlist.boot, graph.or_(*registers.values(), rest))
        if bad == FALSE:
            return "proved", []
        latches = dict(self.latches)
        for flop, literal in doubled.items():
            self._latch(latches, flop, literal, value, begin, apart.get(flop))
        return self._solve(bad, latches, depth, registers, rest, end)

    def _solve(self, bad, latches, depth, registers, rest, end):
        graph, seconds = self.netlist.graph, math.ceil(end - solver_seconds())
        if seconds <= 0:
            return "unknown", []
        with tempfile.TemporaryDirectory(prefix="proof-") as name:
            folder = pathlib.Path(name)
            inputs, held = graph.write_aiger(folder / "miter.aig", bad, latches, depth)
            done = subprocess.run(
                ["yosys-abc", "-c", "read_aiger miter.aig; pdr; write_cex -a miter.cex"],
                cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
            if "Property proved." in done.stdout:
                return "proved", []
            found = re.search(r"was asserted in frame (\d+)", done.stdout)
            if not found or done.returncode < 0:  # ended by its time, maybe within a file
                return "unknown", []
            frames = read_counterexample(folder / "miter.cex", len(held), len(inputs),
                                         int(found[1]) + 1)
        state = dict.fromkeys(held, 0)
        for frame in frames[:-1]:
            given = {**state, **dict(zip(inputs, frame))}
            state = dict(zip(held, graph.values([latches[node] for node in held], given)))
        given = {**state, **dict(zip(inputs, frames[-1]))}
        names = list(registers)
        values = graph.values([registers[name] for name in names] + [rest], given)
        differ = [name for name, value in zip(names, values) if value]
        return "refuted", differ + [None] * values[-1]


def solver_seconds():
    """Of a processor, so that a busy machine gives the same proofs; of all that was started and is
    over."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def read_counterexample(path, latches, inputs, cycles):
    """Values of the inputs, a list for each cycle; the first state is before them."""
    bits = [int(bit == "1") for bit in re.sub(r"\s|#.*", "", path.read_text())][latches:]
    return [bits[cycle * inputs:][:inputs] for cycle in range(cycles)]


_prover = None  # of a worker, which gets it by the fork


def _prove(mutant):
    return _prover.prove(mutant)


class Pool:
    """Proofs about one netlist in several processes, each with a graph of its own."""

    def __init__(self, netlist, seconds, jobs):
        """Without a netlist nothing can be proved."""
        global _prover
        self.workers = None
        if netlist is None:
            return
        _prover = Prover(netlist, seconds)
        self.workers = concurrent.futures.ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("fork"))
        self.workers.submit(int).result()  # forks before there are threads

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.workers is not None:
            self.workers.shutdown()

    def prove(self, mutant):
        """Prover.prove in a worker. May be called from several threads."""
        return self.workers.submit(_prove, mutant).result()
