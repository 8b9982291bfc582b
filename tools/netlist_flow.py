"""Netlists of single blocks: synthesis, simulation of vectors in Icarus Verilog.

A bench gives a netlist one vector a cycle right after the rising edge and compares its outputs right
before the next one. Cells have one unit of delay, so glitches are in the waveform.
"""

import json
import re
import subprocess

import yosys_flow as flow

PERIOD = 1000  # units of time; a cell takes one


def synthesize(name, library, folder, files=None):
    """netlist.v and netlist.json with the same names, and cells.v, the library's cells."""
    flow.yosys(flow.read_lines(folder, library, name, flow.BLOCKS.get(name, {}), files) +
               flow.map_lines(name, 5.0, True, "netlist.v") +
               f"rename -top {name}_netlist\nwrite_verilog -noattr netlist.v\n"
               f"design -reset\nread_liberty -lib cells.lib\nread_verilog netlist.v\n"
               f"hierarchy -top {name}_netlist\nwrite_json netlist.json\n"
               f"design -reset\nread_liberty -ignore_miss_func cells.lib\n"
               "proc; write_verilog -noattr cells.v\n", folder)
    cells = re.sub(r"\bassign (?!_)", "assign #1 ", (folder / "cells.v").read_text())
    (folder / "cells.v").write_text("`timescale 1ns/1ns\n" + cells)


def netlist_module(name, folder):
    return json.loads((folder / "netlist.json").read_text())["modules"][f"{name}_netlist"]


def ports_of(name, folder):
    """({input: bits}, {output: bits}) without the clock."""
    ports = netlist_module(name, folder)["ports"]
    ways = {"input": {}, "output": {}}
    for port, value in ports.items():
        if port != "clk_i":
            ways[value["direction"]][port] = len(value["bits"])
    return ways["input"], ways["output"]


def pack(values, widths):
    word, low = 0, 0
    for port, width in widths.items():
        word |= (values[port] & ((1 << width) - 1)) << low
        low += width
    return f"{word:x}"


def wires(widths, vector, suffix=""):
    lines, low = [], 0
    for port, width in widths.items():
        source = f" = {vector}[{low} +: {width}]" if vector else ""
        lines.append(f"  wire [{width - 1}:0] {port}{suffix}{source};")
        low += width
    return lines


def write_bench(name, folder, vectors, expected):
    """`expected`: outputs of each vector, or None to compare with the RTL beside the netlist."""
    inputs, outputs = ports_of(name, folder)
    width_in, width_out = sum(inputs.values()), sum(outputs.values())
    (folder / "vectors.hex").write_text("\n".join(pack(v, inputs) for v in vectors) + "\n")
    has_clock = "clk_i" in netlist_module(name, folder)["ports"]
    common = [".clk_i(clk_i)"] * has_clock + [f".{port}({port})" for port in inputs]
    count = len(vectors)
    lines = ["`timescale 1ns/1ns", "module bench;",
             f"  reg [{width_in - 1}:0] vectors [0:{count - 1}], vector;",
             f"  reg [{width_out - 1}:0] results [0:{count - 1}], result;",
             "  reg clk_i = 0;", "  integer cycle, differences = 0, compared = 0;",
             *wires(inputs, "vector"), *wires(outputs, None),
             *wires(outputs, None if expected is None else "result", "_wanted"),
             f"  {name}_netlist netlist ("
             + ", ".join(common + [f".{port}({port})" for port in outputs]) + ");"]
    if expected is None:
        parameters = ", ".join(f".{key}({value})" for key, value in flow.BLOCKS[name].items())
        lines.append(f"  {name} {f'#({parameters}) ' if parameters else ''}rtl ("
                     + ", ".join(common + [f".{port}({port}_wanted)" for port in outputs]) + ");")
    else:
        (folder / "results.hex").write_text("\n".join(pack(v, outputs) for v in expected) + "\n")
    lines += ["  initial begin", '    $readmemh("vectors.hex", vectors);',
              *(['    $readmemh("results.hex", results);'] if expected is not None else []),
              '    $dumpfile("netlist.vcd"); $dumpvars(1, netlist);',
              f"    for (cycle = 0; cycle < {count}; cycle = cycle + 1) begin",
              "      #1 vector = vectors[cycle]; result = results[cycle];",
              f"      #{PERIOD // 2 - 1} clk_i = 0;", f"      #{PERIOD // 2 - 1};"]
    # What the netlist or the RTL has not defined yet is not compared: registers begin with anything.
    for port in outputs:
        lines += [f"      if ((^{{{port}, {port}_wanted}}) !== 1'bx) begin",
                  "        compared = compared + 1;",
                  f"        if ({port} !== {port}_wanted) begin",
                  "          differences = differences + 1;",
                  f'          if (differences < 4) $display("cycle %0d: {port} is %h, not %h", cycle, '
                  f"{port}, {port}_wanted);", "        end", "      end"]
    lines += ["      #1 clk_i = 1;", "    end",
              '    $display("compared %0d differences %0d", compared, differences);',
              "    $finish;", "  end", "endmodule"]
    (folder / "bench.v").write_text("\n".join(lines) + "\n")
    return count * len(outputs)


def simulate(name, folder, vectors, expected=None):
    """Share of outputs compared; raises if one differs, or too few are known. Leaves netlist.vcd."""
    total = write_bench(name, folder, vectors, expected)
    rtl = flow.sources(name, folder) if expected is None else []
    built = subprocess.run(["iverilog", "-g2012", "-DSYNTHESIS", "-s", "bench", "-o", "bench.vvp",
                            "bench.v", "netlist.v", "cells.v", *map(str, rtl)], cwd=folder,
                           check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode:
        raise flow.FlowError(f"iverilog: {built.stdout[-400:]}")
    done = subprocess.run(["vvp", "bench.vvp"], cwd=folder, capture_output=True, text=True,
                          check=False)
    found = re.search(r"compared (\d+) differences (\d+)", done.stdout)
    against = "RTL" if expected is None else "the run's waveform"
    if not found or found[2] != "0":
        raise flow.FlowError(f"{name}: netlist and {against} differ:\n{done.stdout[-400:]}")
    if 2 * int(found[1]) < total:
        raise flow.FlowError(f"{name}: only {found[1]} of {total} outputs compared")
    return int(found[1]) / total
