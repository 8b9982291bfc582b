#!/usr/bin/env python3
"""Draws the figures of `santasim paper --out DIR`: DIR/images/NAME.svg for each in DIR/paper.json.

  tools/paper_figures.py docs

`make paper` calls it. The same numbers give the same bytes.
"""

import argparse
import json
import pathlib
import sys

COLOURS = ("#1f6f8b", "#b5651d", "#5b8c3a", "#8b3a62", "#5c5c8a", "#a08a1f")
MARKERS = "osD^vP"


class BadFile(Exception):
    """The file is not one of `santasim paper`."""


def figures_of(path: pathlib.Path) -> list[dict]:
    """All figures of a paper.json."""
    try:
        return [figure for part in json.loads(path.read_text(encoding="utf-8"))["parts"]
                for figure in part["figures"]]
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: not what santasim paper writes: {error!r}") from error


def draw(figure: dict, path: pathlib.Path) -> None:
    """One picture. A curve and its reference, neighbours in the list, share a colour."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "santasim"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot, ticker
    picture, axes = pyplot.subplots(figsize=(6.4, 3.8), layout="constrained")
    own = -1
    for number, series in enumerate(figure["series"]):
        reference = series["reference"]
        own += 0 if reference and own >= 0 and number > 0 else 1
        order = sorted(range(len(series["x"])), key=lambda i: series["x"][i])
        points = {name: [series[name][i] for i in order] for name in ("x", "y")}
        half = [series["half"][i] for i in order] if series["half"] else None
        style = {"color": COLOURS[own % len(COLOURS)], "label": series["name"]}
        if reference:
            style |= {"linestyle": "--", "marker": MARKERS[number % len(MARKERS)],
                      "markerfacecolor": "none", "markersize": 4}
        else:
            style |= {"linestyle": "-", "marker": MARKERS[own % len(MARKERS)], "markersize": 5}
        axes.errorbar(points["x"], points["y"], yerr=half, capsize=2, linewidth=1.2, **style)
    if figure["log_x"]:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}"))
    if figure["log_y"]:
        axes.set_yscale("log")
    axes.set(xlabel=figure["x_label"], ylabel=figure["y_label"])
    axes.grid(color="#dddddd", which="both", linewidth=0.5)
    axes.legend(fontsize="small")
    picture.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(picture)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    try:
        figures = figures_of(folder / "paper.json")
        images = folder / "images"
        images.mkdir(exist_ok=True)
        for figure in figures:
            draw(figure, images / f"{figure['name']}.svg")
    except (OSError, BadFile) as error:
        print(f"paper_figures: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
