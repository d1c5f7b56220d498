"""What the scripts beside the reference pages share: tables between ``<!-- name -->`` and ``<!-- end -->``, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import gridcore as gc

matplotlib.use("Agg")
from matplotlib.figure import Figure

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"


def markdown(heading: list[str], rows: list[list[str]]) -> str:
    """A table; all columns but the first to the right."""
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill(page: str, tables: dict[str, str]) -> None:
    """Put tables into their places in a page."""
    path = HERE / page
    text = path.read_text()
    for name, table in tables.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=table: f"{m[1]}{t}\n{m[2]}", text,
                              flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{path}: no place for '{name}'")
    path.write_text(text)


def filled(page: str, name: str) -> list[list[str]]:
    """The cells of a table in its place in a page, without its heading."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", (HERE / page).read_text(), flags=re.DOTALL)
    if found is None:
        raise SystemExit(f"{HERE / page}: no place for '{name}'")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()[2:]]


def panels(rows: int, columns: int, width: float = 7.2, height: float = 2.6) -> tuple[Figure, Any]:
    """A figure and its axes, (rows, columns)."""
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.ravel():
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="#E4E4E4", linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def draw_parting(ax: Any, title: str, runs: Iterable[tuple[gc.Run, str]]) -> None:
    """How far angles of runs are apart, each in its colour, up to 300 degrees."""
    for run, colour in runs:
        spread = np.degrees(gc.analyses.rotors(run).spread)
        shown = spread < 300
        ax.plot(run.t[shown], spread[shown], color=colour, linewidth=1)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("largest angle apart (deg)")
    ax.set_title(title, fontsize=9)


def save(figure: Figure, name: str) -> None:
    """Write a figure."""
    (HERE / "figures").mkdir(exist_ok=True)
    figure.savefig(HERE / "figures" / name, dpi=130, metadata={"Software": None})
