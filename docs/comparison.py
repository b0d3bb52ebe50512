"""Writes the tables and the plot of docs/comparison.md out of what `spillway compare` has left.

    python docs/comparison.py FOLDER

FOLDER has a result of `spillway compare` for each scenario, and `trained`, that of Credence with a
forest trained in Smartbuf's, as docs/comparison.md makes them.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from spillway.palette import COLOURS
from spillway.reproduce.draw import drawing_of, log_scale
from spillway.tables import FEW, rests_on_few

DOCS = Path(__file__).resolve().parent
CLASSES = {
    "credence": ("short", "long", "incast"),
    "cbm": ("cubic", "dctcp", "incast"),
    "smartbuf": ("short", "long", "incast"),
}
"""By scenario, the classes that are told apart."""

Json = dict[str, Any]


def number(value: float | None) -> str:
    """Three digits, and commas where there are more."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def slowdown(variant: Json, name: str, percentile: str) -> str:
    """A percentile of a class; marked where it rests on few flows in a run."""
    mark = FEW if is_few(variant, name, percentile) else ""
    return spread(variant, "fct_slowdown", name, percentile, mark=mark)


def is_few(variant: Json, name: str, percentile: str) -> bool:
    """Whether few flows lie beyond a percentile in any run."""
    return rests_on_few((run["fct_slowdown"][name] for run in variant["runs"]), percentile)


def spread(variant: Json, *path: str, scale: float = 1.0, mark: str = "") -> str:
    """The mean over seeds, and their standard deviation."""
    values = []
    for taken in ("mean", "std"):
        found: Any = variant[taken]
        for step in path:
            found = found[step]
        values.append(None if found is None else scale * found)
    return f"{number(values[0])}{mark} ± {number(values[1])}"


def lost(variant: Json) -> str:
    """Packets lost for whatever reason."""
    each = [sum(run["drops"].values()) for run in variant["runs"]]
    return f"{number(statistics.mean(each))} ± {number(statistics.stdev(each))}"


def policy(variant: Json) -> str:
    """Its id."""
    return str(variant["label"]).rpartition("=")[2]


def table(summary: Json, classes: tuple[str, ...]) -> str:
    """Mean and deviation of every policy."""
    heads = [
        "",
        *(f"{name} {p}" for name in classes for p in ("p95", "p99")),
        "flows with a timeout",
        "packets lost",
        "buffer p99, %",
    ]
    rows = [heads, ["---"] * len(heads)]
    for variant in summary["variants"]:
        rows.append(
            [
                f"`{policy(variant)}`",
                *(slowdown(variant, name, p) for name in classes for p in ("p95", "p99")),
                spread(variant, "fct_slowdown", "all", "with_timeout"),
                lost(variant),
                spread(variant, "buffer_occupancy", "p99", scale=100),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


BASE = "dt"
"""What the others are compared with, seed by seed."""


def pairs(summary: Json, classes: tuple[str, ...]) -> str:
    """Every policy's 99th percentiles over those of the base with the same flows."""
    variants = {policy(variant): variant for variant in summary["variants"]}
    base = variants.pop(BASE)
    rows = [["", *(f"{name} p99" for name in classes)], ["---"] * (len(classes) + 1)]
    for name, variant in variants.items():
        rows.append([f"`{name}`", *(ratios(variant, base, of) for of in classes)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def ratios(variant: Json, base: Json, name: str) -> str:
    """The mean of the seeds' ratios, the least and the greatest."""
    found = []
    for run, other in zip(variant["runs"], base["runs"], strict=True):
        new, old = (each["fct_slowdown"][name]["p99"] for each in (run, other))
        if new is not None and old:
            found.append(new / old)
    if not found:
        return "-"
    mark = FEW if any(is_few(each, name, "p99") for each in (variant, base)) else ""
    return f"{statistics.mean(found):.2f}{mark} ({min(found):.2f} to {max(found):.2f})"


def block(name: str, summary: Json) -> str:
    """What the page has of a scenario."""
    classes = CLASSES[name]
    return (
        f"{table(summary, classes)}\n\n"
        f"In pairs: 99th percentiles over those under `{BASE}` with the same flows, seed by seed; "
        f"their mean, the least and the greatest.\n\n{pairs(summary, classes)}"
    )


def draw(summaries: dict[str, Json], file: Path) -> None:
    """A column for each scenario, a row for each class: the 99th percentile of all policies."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "spillway"}), drawing_of(9.6, 8.4) as drawing:
        axes = drawing.subplots(3, len(summaries), sharey=True)
        for column, (name, summary) in enumerate(summaries.items()):
            variants = summary["variants"]
            places = range(len(variants))
            for row, of in enumerate(CLASSES[name]):
                axis = axes[row, column]
                for place, variant in zip(places, variants, strict=True):
                    each = [run["fct_slowdown"][of]["p99"] for run in variant["runs"]]
                    known = [value for value in each if value is not None]
                    colour = COLOURS[place % len(COLOURS)]
                    axis.plot(known, [place] * len(known), "|", color=colour, markersize=8)
                    if known:
                        face = "white" if is_few(variant, of, "p99") else colour
                        mean = statistics.mean(known)
                        axis.plot([mean], [place], "o", color=colour, markerfacecolor=face)
                axis.set_title(f"{name}: {of} flows, p99")
                axis.set_yticks(places, [policy(variant) for variant in variants])
                axis.set_ylim(len(variants) - 0.5, -0.5)
                axis.set_xlabel("slowdown")
                log_scale(axis, "x")
        drawing.supxlabel(
            "a line for every seed, a dot for their mean, hollow: fewer than 10 flows beyond it in "
            "a run; "
            "the forest trained in Smartbuf's network was asked there only",
            fontsize=7.5,
        )
        drawing.savefig(file, dpi=160)


def main() -> None:
    """Writes both."""
    folder = Path(sys.argv[1])
    summaries = {
        name: json.loads((folder / name / "summary.json").read_text(encoding="utf-8"))
        for name in CLASSES
    }
    trained = json.loads((folder / "trained" / "summary.json").read_text(encoding="utf-8"))
    for variant in trained["variants"]:
        summaries["smartbuf"]["variants"].append({**variant, "label": "=credence, trained"})
    draw(summaries, DOCS / "images" / "comparison.png")
    page = DOCS / "comparison.md"
    text = page.read_text(encoding="utf-8")
    for name, summary in summaries.items():
        place = re.compile(f"<!-- table: {name} -->\n.*?<!-- end -->", re.DOTALL)
        written = f"<!-- table: {name} -->\n\n{block(name, summary)}\n\n<!-- end -->"
        text = place.sub(lambda _, written=written: written, text)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
