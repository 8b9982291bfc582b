"""Values of signals in each cycle of a waveform in VCD or FST."""

import subprocess


class WaveError(Exception):
    """The waveform lacks a signal."""


def open_text(path):
    """Lines of the VCD; an FST goes through fst2vcd (Debian: gtkwave)."""
    if path.suffix == ".fst":
        return subprocess.Popen(["fst2vcd", str(path)], stdout=subprocess.PIPE, text=True).stdout
    return open(path, encoding="ascii")


def find_codes(lines, ends):
    """{code: [names]} of the signals whose path ends with one of `ends`, up to $enddefinitions."""
    scopes, codes, missing = [], {}, set(ends)
    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var" and words[1] != "parameter":
            path = "." + ".".join([*scopes, words[4]])
            parts = path.rsplit(".", 9)
            for depth in range(1, len(parts)):
                end = ".".join(parts[-depth:])
                if end in ends:
                    codes.setdefault(words[3], []).append(end)
                    missing.discard(end)
        elif words[0] == "$enddefinitions":
            break
    if missing:
        raise WaveError("not in the waveform: " + ", ".join(sorted(missing)))
    return codes


def read_cycles(path, signals, clock="clk_i"):
    """One {signal: value} for each rising edge of the clock: values right before it. A signal is the
    end of its path, `u_lane.add_i`."""
    lines = open_text(path)
    with lines:
        codes = find_codes(lines, {*signals, clock})
        values = dict.fromkeys([*signals, clock], 0)
        changes, cycles = {}, []

        def settle():
            if changes.get(clock) == 1 and values[clock] == 0:
                cycles.append({name: values[name] for name in signals})
            values.update(changes)
            changes.clear()
        for line in lines:
            kind = line[0]
            if kind == "#":
                settle()
            elif kind in "01xz":
                if names := codes.get(line[1:].rstrip()):
                    for name in names:
                        changes[name] = int(kind == "1")
            elif kind == "b":
                value, _, code = line[1:].partition(" ")
                if names := codes.get(code.rstrip()):
                    number = int(value.replace("x", "0").replace("z", "0"), 2)
                    for name in names:
                        changes[name] = number
        settle()
    return cycles
