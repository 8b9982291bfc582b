#!/usr/bin/env python3
"""Draws a request of the unit as a timing diagram, from a waveform.

  santasim cosim --seed 3 --waves always        writes cosim-tiny-test-seed-3.fst
  tools/timing_diagram.py cosim-tiny-test-seed-3.fst --request 0 -o docs/images/request.svg

From a submission to the interrupt that announces its completion: the channels of the AXI4 port (a
block of one colour where a word moves, hatched where it waits), the events at each block border, the
interrupt. fst2vcd, of GTKWave, reads the file.
"""

import argparse
import pathlib
import subprocess
import sys
import xml.sax.saxutils

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGISTERS = yaml.safe_load((ROOT / "rtl" / "registers.yaml").read_text(encoding="utf-8"))
SUBMIT_HI = next(register["offset"] for register in REGISTERS["registers"]
                 if register["name"] == "SUBMIT_HI")
# Row, signals that must be 1 for a move, and those for waiting.
ROWS = (
    ("registers", "AXI4-Lite write", ("s_axil_wvalid_i", "s_axil_wready_o"), "s_axil_wvalid_i"),
    ("memory", "AR read address", ("m_axi_arvalid_o", "m_axi_arready_i"), "m_axi_arvalid_o"),
    ("memory", "R read data", ("m_axi_rvalid_i", "m_axi_rready_o"), "m_axi_rvalid_i"),
    ("blocks", "coefficient", ("mon_coefficient_valid_o",), None),
    ("blocks", "scores", ("mon_score_valid_o",), None),
    ("blocks", "weights", ("mon_weight_valid_o",), None),
    ("blocks", "tile done", ("mon_tile_valid_o",), None),
    ("blocks", "head drawn", ("mon_draw_valid_o",), None),
    ("blocks", "row (key, counts)", ("mon_row_valid_o",), None),
    ("blocks", "value word", ("mon_value_valid_o",), None),
    ("blocks", "output", ("mon_output_valid_o",), None),
    ("memory", "AW write address", ("m_axi_awvalid_o", "m_axi_awready_i"), "m_axi_awvalid_o"),
    ("memory", "W write data", ("m_axi_wvalid_o", "m_axi_wready_i"), "m_axi_wvalid_o"),
    ("memory", "B response", ("m_axi_bvalid_i", "m_axi_bready_o"), "m_axi_bvalid_i"),
    ("registers", "interrupt", ("irq_o",), None),
)
COLOURS = {"registers": "#7a5195", "memory": "#2f6f9f", "blocks": "#c8642b"}
LABEL, ROW, TOP, WIDTH = 150, 20, 30, 1100


def read_wave(path):
    """[{signal: value}] of the top level, one a clock cycle: what the rising edge sees."""
    wanted = {name for _, _, names, _ in ROWS for name in names} | {"clk_i", "s_axil_awaddr_i",
                                                                  "s_axil_awvalid_i", "rst_ni"}
    codes, values, cycles, depth = {}, {}, [], 0
    done = subprocess.run(["fst2vcd", str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"timing_diagram: fst2vcd: {done.stderr.strip()}")
    for line in done.stdout.splitlines():
        fields = line.split()
        if not fields:
            continue
        if fields[0] == "$scope":
            depth += 1
        elif fields[0] == "$upscope":
            depth -= 1
        elif fields[0] == "$var":
            if fields[4] in wanted and fields[4] not in codes.values():
                codes[fields[3]] = fields[4]
        elif line[0] in "01" and line[1:] in codes:
            name = codes[line[1:]]
            if name == "clk_i" and line[0] == "1":
                cycles.append(dict(values))  # what was settled while the clock was low
            values[name] = int(line[0])
        elif line[0] == "b" and fields[1] in codes:
            values[codes[fields[1]]] = int(fields[0][1:].replace("x", "0"), 2)
    missing = wanted - set(codes.values())
    if missing:
        sys.exit(f"timing_diagram: {path}: no signal {sorted(missing)[0]}")
    return cycles


def window(cycles, request):
    """First and last cycle: from the address of SUBMIT_HI to two cycles into the interrupt."""
    starts = [i for i, c in enumerate(cycles) if c.get("s_axil_awvalid_i") and
              c.get("s_axil_awaddr_i") == SUBMIT_HI and not
              (i and cycles[i - 1].get("s_axil_awvalid_i") and
               cycles[i - 1].get("s_axil_awaddr_i") == SUBMIT_HI)]
    if request >= len(starts):
        sys.exit(f"timing_diagram: request {request}: the waveform has {len(starts)} submissions")
    first = starts[request]
    for last in range(first, len(cycles)):
        if cycles[last].get("irq_o"):
            return first, last + 2
    sys.exit("timing_diagram: no interrupt after the submission")


def runs(cycles, first, last, names, waiting):
    """(kind, start, end) of neighbouring cycles that move, or wait."""
    found = []
    for i in range(first, min(last, len(cycles))):
        cycle = cycles[i]
        kind = None
        if all(cycle.get(name) for name in names):
            kind = "move"
        elif waiting and cycle.get(waiting):
            kind = "wait"
        if found and found[-1][0] == kind and found[-1][2] == i:
            found[-1][2] = i + 1
        elif kind:
            found.append([kind, i, i + 1])
    return found


def draw(cycles, first, last, title):
    scale = (WIDTH - LABEL - 10) / (last - first)
    height = TOP + ROW * len(ROWS) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="11">',
           '<defs><pattern id="wait" width="4" height="4" patternUnits="userSpaceOnUse" '
           'patternTransform="rotate(45)"><rect width="4" height="4" fill="#fff"/>'
           '<rect width="1.5" height="4" fill="#888"/></pattern></defs>',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           f'<text x="8" y="18" font-size="13">{xml.sax.saxutils.escape(title)}</text>']
    step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**5)
                if (last - first) / s <= 14)
    bottom = TOP + ROW * len(ROWS)
    for cycle in range(0, last - first + 1, step):
        x = LABEL + cycle * scale
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{cycle}</text>')
    out.append(f'<text x="{WIDTH - 10}" y="{bottom + 28}" text-anchor="end">cycles from the '
               'submission</text>')
    for number, (kind, label, names, waiting) in enumerate(ROWS):
        y = TOP + ROW * number
        out.append(f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        out.append(f'<line x1="{LABEL}" x2="{WIDTH - 10}" y1="{y + ROW - 3}" y2="{y + ROW - 3}" '
                   'stroke="#eee"/>')
        for state, start, end in runs(cycles, first, last, names, waiting):
            fill = COLOURS[kind] if state == "move" else "url(#wait)"
            out.append(f'<rect x="{LABEL + (start - first) * scale:.1f}" y="{y + 4}" '
                       f'width="{max((end - start) * scale, 0.8):.1f}" height="{ROW - 8}" '
                       f'fill="{fill}"/>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("waveform", type=pathlib.Path, help="FST file of santasim cosim")
    parser.add_argument("--request", type=int, default=0, help="which submission (0)")
    parser.add_argument("--title", default="One request of tiny-test")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="SVG")
    options = parser.parse_args()
    cycles = read_wave(options.waveform)
    first, last = window(cycles, options.request)
    options.output.write_text(draw(cycles, first, last, options.title), encoding="utf-8")
    print(f"{options.output}: {last - first - 2} cycles from the submission to the interrupt")


if __name__ == "__main__":
    main()
