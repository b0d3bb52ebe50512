"""Draws docs/images/acc-learning.png out of the learning curves that `make rl` has left.

    make rl
    python docs/acc.py rl

A line for each agent, NAME-1.csv, NAME-2.csv, ...; dashed: settings that never change, on the same
seeds, which `spillway acc best-action --confirm-seeds 101..108 --json` has written to
best-action.json.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from spillway.show.palette import COLOURS, FONTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGE = Path(__file__).resolve().parent / "images" / "acc-learning.png"
PANELS = {
    "pred-same": "on one trace",
    "pred-other": "on 32 other traces",
    "pred-myopic": "on one trace, myopic (gamma = 0)",
}


def curve(file: Path) -> tuple[list[float], list[float]]:
    """Decisions in thousands, and rewards without exploration."""
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return [int(row["steps"]) / 1000 for row in rows], [float(row["reward"]) for row in rows]


def draw(axes: Axes, folder: Path, name: str) -> None:
    """The curves of one kind of agent."""
    for number, file in enumerate(sorted(folder.glob(f"{name}-*.csv"))):
        steps, rewards = curve(file)
        axes.plot(steps, rewards, color=COLOURS[number], linewidth=1.2, label=f"agent {number + 1}")
    found = json.loads((folder / "best-action.json").read_text(encoding="utf-8"))["actions"]
    if name == "pred-other":
        # Agents are evaluated on the first four seeds of their training, 101 to 104.
        levels = {"best setting": max(np.mean(each["confirmed"][:4] or 0) for each in found)}
    else:
        means = [float(np.mean(each["rewards"])) for each in found]
        levels = {"best setting": max(means), "median setting": float(np.median(means))}
    for text, value in levels.items():
        axes.axhline(value, color="#555555", linestyle="--", linewidth=0.8)
        place = {"va": "bottom", "ha": "right", "fontsize": 7, "color": "#555555"}
        axes.text(200, value, text, bbox={"color": "white", "alpha": 0.8, "pad": 1}, **place)
    axes.set_title(PANELS[name], fontsize=9)
    axes.set_xlabel("thousand decisions")
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draws the figure."""
    folder = Path(sys.argv[1])
    with mpl.rc_context(FONTS):
        figure, row = plt.subplots(1, len(PANELS), figsize=(12, 3.6), layout="constrained")
        for axes, name in zip(row, PANELS, strict=True):
            draw(axes, folder, name)
        row[0].set_ylabel("reward without exploration")
        row[0].legend(fontsize=7, frameon=False, loc="lower left")
        figure.savefig(IMAGE, dpi=150)


if __name__ == "__main__":
    main()
