#!/usr/bin/env python3
"""Writes the measured parts of docs/models.md, and docs/images/models.svg.

  tools/model_report.py build/bin/santasim            simulates, then writes (minutes)
  tools/model_report.py build/bin/santasim --quick    the 32k tables alone, to standard output
  tools/model_report.py build/bin/santasim --only buffer    one of tables, buffer, cost

`make models` calls it. Every figure of the document comes from the commands that it prints.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/models.md"
FIGURE = ROOT / "docs/images/models.svg"
MODEL = "llama-3.1-8b"
HARDWARE = ("edge-lpddr5", "server-hbm3")
CONTEXTS = (32768, 131072, 1048576)
BATCHES = (1, 16)
# Layers simulated of 32, where not all are: a layer of batch 16 holds 128 heads.
SAMPLED_LAYERS = {(131072, 1): 16, (1048576, 1): 8, (32768, 16): 8, (131072, 16): 4,
                  (1048576, 16): 2}
BUFFERS_KIB = (512, 2048)  # of the top-k unit: the preset's, and room for the scores of 32k tokens
COST_CONTEXTS = (32768, 131072, 262144, 524288, 786432, 1048576)


class Run:
    """One santasim model with its result, time and memory."""

    def __init__(self, program: str, options: list[str]) -> None:
        self.command = "santasim model " + " ".join(options)
        start = time.monotonic()
        process = subprocess.Popen([program, "model", *options, "--json", "-"],
                                   stdout=subprocess.PIPE, text=True)
        text, _ = process.communicate()
        if process.returncode != 0:
            sys.exit(f"model_report: exit code {process.returncode}: {self.command}")
        self.seconds = time.monotonic() - start
        self.result = json.loads(text)


def cost_of(program: str, options: list[str]) -> tuple[float, float, float]:
    """Seconds, MiB of the largest process, and seconds of processor time of one run."""
    start = time.monotonic()
    pid = os.posix_spawn(program, [program, "model", *options], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)  # of it and of the processes that it waited for
    if status != 0:
        sys.exit(f"model_report: status {status}: santasim model {' '.join(options)}")
    return time.monotonic() - start, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def options_of(hardware: str, context: int, batch: int) -> list[str]:
    """Options of a point of the table: all layers, or a sample of them where that is long."""
    options = [MODEL, "--config", hardware, "--context", str(context), "--batch", str(batch)]
    if (context, batch) in SAMPLED_LAYERS:
        options += ["--sample-layers", str(SAMPLED_LAYERS[context, batch])]
    return options


def interval(estimate: dict, scale: float) -> str:
    """'1,234' or '1,234 ± 5' of a sum with its 95 % interval."""
    value = estimate["value"] * scale
    half = estimate["ci95"]
    text = significant(value)
    if half is None:
        return f"{text} ± unknown"
    return f"{text} ± {significant(half * scale, 2)}" if half else text


def significant(value: float, digits: int = 4) -> str:
    """A number with so many significant digits, grouped."""
    if value == 0:
        return "0"
    decimals = digits - 1 - int(f"{value:e}".split("e")[1])
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


def point_table(run: Run) -> str:
    """Methods of one point, a line each."""
    result = run.result
    batch = result["requests"]["batch"]
    lines = ["| | step, ms | tokens/s | energy, pJ/token | traffic, MB/token | bandwidth used "
             "| time | energy | traffic |", "|---" * 9 + "|"]
    for method in result["methods"].values():
        step = method["step"]
        ratios = method["relative_to_dense"]
        energy = step["energy_pj"]["total"]["mid"]
        half = f" ± {100 * energy['ci95'] / energy['value']:.2g} %" if energy["ci95"] else ""
        lines.append("| " + " | ".join([
            method["title"], interval(step["latency_ns"], 1e-6),
            significant(method["tokens_per_s"]),
            f"{method['energy_pj_per_token']:.3e}{half}",
            interval(step["traffic_bytes"]["total"], 1e-6 / batch),
            f"{100 * method['bandwidth_fraction']:.0f} %",
            f"{ratios['latency']:.3f}", f"{ratios['energy']:.3f}", f"{ratios['traffic']:.3f}",
        ]) + " |")
    return "\n".join(lines)


def point_text(run: Run) -> str:
    """Heading, command and table of one point."""
    result = run.result
    simulated = result["simulated"]
    request = result["requests"]
    return (f"### {request['lengths'][0]:,} tokens, batch {request['batch']}, "
            f"{result['configuration']['name']}\n\n`{run.command}`: "
            f"{significant(request['cache_bytes'] / 1e9, 3)} GB of keys and values; "
            f"{len(simulated['layers'])} of {result['model']['layers']} layers, "
            f"{simulated['heads']:,} of {simulated['heads_total']:,} heads simulated in "
            f"{run.seconds:.0f} s.\n\n{point_table(run)}\n")


def buffer_section(program: str) -> str:
    """Top-k where its scores fit into its buffer, beside a sampled unit that is unchanged."""
    options = [MODEL, "--config", "edge-lpddr5", "--methods", "topk,sampled"]
    lines = []
    for kib in BUFFERS_KIB:
        run = Run(program, [*options, "--set", f"baselines.buffer_kib={kib}"])
        for name, method in run.result["methods"].items():
            if name == "sampled" and kib != BUFFERS_KIB[0]:
                continue
            step = method["step"]
            lines.append("| " + " | ".join([
                method["title"] + (f", buffer of {kib} KiB" if name == "topk" else ""),
                interval(step["latency_ns"], 1e-6), f"{method['energy_pj_per_token']:.3e}",
                interval(step["traffic_bytes"]["total"], 1e-6),
                interval(step["traffic_bytes"]["stash"], 1e-6)]) + " |")
    return "\n".join([f"`santasim model {' '.join(options)} --set baselines.buffer_kib=N`:", "",
                      "| | step, ms | energy, pJ/token | traffic, MB/token | of it spilled |",
                      "|---" * 5 + "|", *lines])


def machine() -> str:
    """Processor and cores that the times are of."""
    name = next((line.split(":")[1].strip() for line in
                 pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                 if line.startswith("model name")), "unknown processor")
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def cost_section(program: str) -> tuple[str, list[tuple[int, float, float]]]:
    """Time and memory against context, one layer, and of the whole 32k step."""
    options = [MODEL, "--context", "32768"]
    seconds, mib, processor = cost_of(program, options)
    lines = [f"On {machine()}, `santasim model {' '.join(options)}`, all layers and methods: "
             f"{seconds:.1f} s, {processor:.1f} s of processor time; the largest process takes "
             f"{mib:.0f} MiB, and there are as many as cores and one more.", "",
             "| context | processor time of one layer, all methods, s | us a token | "
             "largest process, MiB |", "|---|---|---|---|"]
    points = []
    for context in COST_CONTEXTS:
        options = [MODEL, "--context", str(context), "--sample-layers", "1", "--jobs", "1"]
        _, mib, processor = cost_of(program, options)
        points.append((context, processor, mib))
        lines.append(f"| {context:,} | {processor:.2f} | {1e6 * processor / context:.2f} | "
                     f"{mib:.0f} |")
    command = " ".join([MODEL, "--context", "N", "--sample-layers", "1", "--jobs", "1"])
    lines += ["", f"(`santasim model {command}`)"]
    return "\n".join(lines), points


def draw(points: list[tuple[int, float, float]]) -> None:
    """Cost against context."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "santasim"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    contexts = [context / 1024 for context, _, _ in points]
    seconds = [processor for _, processor, _ in points]
    axes.plot(contexts, seconds, "o-", color="#1f6f8b", label="processor time, s")
    axes.set(xlabel="context, Ki tokens", ylabel="processor time of one layer, s",
             xlim=(0, None), ylim=(0, None))
    axes.grid(color="#dddddd")
    memory = axes.twinx()
    memory.plot(contexts, [mib for _, _, mib in points], "s--", color="#b5651d",
                label="largest process, MiB")
    memory.set(ylabel="largest process, MiB", ylim=(0, None))
    lines = axes.get_lines() + memory.get_lines()
    axes.legend(lines, [line.get_label() for line in lines], loc="upper left")
    figure.savefig(FIGURE, metadata={"Date": None, "Creator": None})


def replace(text: str, name: str, body: str) -> str:
    """`text` with the part between the markers of `name` replaced."""
    begin, end = f"<!-- tools/model_report.py {name} -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    return head + begin + body.rstrip() + "\n" + rest[rest.index(end):]


def tables_section(program: str, contexts: tuple[int, ...]) -> str:
    """The tables of all points of these contexts."""
    parts = []
    for context in contexts:
        for batch in BATCHES:
            for hardware in HARDWARE:
                run = Run(program, options_of(hardware, context, batch))
                print(f"{run.seconds:6.1f} s  {run.command}", file=sys.stderr)
                parts.append(point_text(run))
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="build/bin/santasim")
    parser.add_argument("--quick", action="store_true", help="the 32k tables, to standard output")
    parser.add_argument("--only", choices=("tables", "buffer", "cost"), help="this part alone")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.quick:
        print(tables_section(program, CONTEXTS[:1]))
        return
    text = DOCUMENT.read_text(encoding="utf-8")
    if arguments.only in (None, "tables"):
        text = replace(text, "tables", tables_section(program, CONTEXTS))
    if arguments.only in (None, "buffer"):
        text = replace(text, "buffer", buffer_section(program))
    if arguments.only in (None, "cost"):
        cost, points = cost_section(program)
        draw(points)
        text = replace(text, "cost", cost)
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
