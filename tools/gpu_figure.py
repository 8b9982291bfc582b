#!/usr/bin/env python3
"""Draws the latency of a decode step against the length of the context, as Figure 4 of the paper does.

  tools/gpu_figure.py gpu/results/NAME.json docs/images/gpu_decode.svg

One panel a sample budget: one request, keys and values in bf16. The same bytes for the same results.
"""

import argparse
import pathlib
import sys

from gpu_results import BadFile, GpuResults, OWN, READ, READ_BOTH

MARKED_LENGTH = 32768  # the paper's


def series(results, choose):
    """Lengths in 1024 tokens, and microseconds, of one request."""
    points = [(length / 1024, row["median_us"]) for requests, length in results.steps("bf16")
              if requests == 1 and (row := choose(length)) is not None]
    return zip(*points) if points else None


def draw(results, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "santasim"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    budgets = results.samples()
    figure, panels = pyplot.subplots(1, len(budgets), figsize=(4.6 * len(budgets), 3.6),
                                     sharey=True, squeeze=False, layout="constrained")
    others = [name for name in results.peers() if name != "santa_gpu operator"]
    for axes, budget in zip(panels[0], budgets):
        lines = [(READ, "0.6", ":", lambda n: results.find(READ, "bf16", 1, n)),
                 (READ_BOTH, "0.6", "--", lambda n: results.find(READ_BOTH, "bf16", 1, n))]
        for index, name in enumerate(others):
            lines.append((name, f"C{index + 1}", "-", lambda n, name=name: (
                results.find(name, "bf16", 1, n) or results.find(name, "bf16", 1, n, budget))))
        lines.append((f"sampled, S = {budget}", "C0", "-",
                      lambda n: results.own("bf16", 1, n, budget)))
        for label, color, style, choose in lines:
            points = series(results, choose)
            if points is not None:
                axes.plot(*points, label=label, color=color, linestyle=style, marker=".",
                          linewidth=2 if "sampled" in label else 1.2)
        own, dense = (results.own("bf16", 1, MARKED_LENGTH, budget),
                      results.dense("bf16", 1, MARKED_LENGTH))
        if own and dense:
            faster = dense["median_us"] / own["median_us"]
            axes.annotate(f"{faster:.2f}x", (MARKED_LENGTH / 1024, own["median_us"]),
                          textcoords="offset points", xytext=(6, -12), color="C0")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}k")
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.set_xlabel("tokens in the cache")
        axes.set_title(f"S = {budget}", fontsize=10)
        axes.grid(True, which="major", linewidth=0.4)
        axes.legend(fontsize=7, loc="upper left")
    panels[0][0].set_ylabel("microseconds a step")
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measurements", type=pathlib.Path)
    parser.add_argument("figure", type=pathlib.Path)
    options = parser.parse_args()
    try:
        results = GpuResults(options.measurements)
        if not any(row["kernel"] == OWN and row["requests"] == 1 for row in results.rows):
            raise BadFile(f"{options.measurements}: no row of one request")
        draw(results, options.figure)
    except (OSError, BadFile, KeyError) as error:
        print(f"gpu_figure: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
