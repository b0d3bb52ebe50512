"""What an arena found, as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spillway.contest.tables import ordered, terms
from spillway.show import drawing
from spillway.show.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OWN, _OTHER, _QUIET = COLOURS[1], COLOURS[0], "#555555"
_ROW = 0.24
"""The height of a row in inches."""
_LABEL, _WIDTH = 8, 5.0
"""The size of a label, and the width of its letters, in points."""
_TERMS = 16
"""The most factors and pairs in a picture."""
Document = Mapping[str, Any]


def drawn(found: Document) -> dict[str, bytes]:
    """The figures by name, as SVG."""
    return {name: drawing.svg(figure) for name, figure in figures(found).items()}


def figures(found: Document) -> dict[str, Figure]:
    """The figures by name: `ranks`, and `front` and `effects` where there is something to show."""
    import matplotlib as mpl

    every = {"ranks": _ranks, "front": _front, "effects": _effects}
    with mpl.rc_context({**drawing.PLAIN, "axes.labelsize": 9}):
        made = {name: draw(found) for name, draw in every.items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def _colour(each: Document) -> str:
    return _OWN if each["is_own"] else _OTHER


def _rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    axes.tick_params(labelsize=8)


def _ranks(found: Document) -> Figure | None:
    """Mean ranks with their intervals, and worst cases."""
    rows = [each for each in ordered(found) if each["rank"]["value"] is not None]
    figure, (left, right) = drawing.panels(1, 2, 2, (9.6, 0.9 + _ROW * len(rows)), sharey=True)
    _rows(left, [each["level"] for each in rows])
    for place, each in enumerate(rows):
        rank = each["rank"]
        left.plot([rank["low"], rank["high"]], [place, place], color=_colour(each), linewidth=1.6)
        left.plot(rank["value"], place, "o", color=_colour(each), markersize=5)
        if each["worst"] is not None:
            mean = each["ratio_to_best"]["value"]
            right.plot([mean, 1 + each["worst"]], [place, place], color="#BBBBBB", linewidth=1.2)
            right.plot(mean, place, "o", color=_colour(each), markersize=5)
            right.plot(1 + each["worst"], place, "|", color=_colour(each), markersize=9)
    left.set(xlabel=f"mean rank by {found['metric']}, 95% interval")
    right.set(xlabel="ratio to the best: geometric mean (dot), worst (bar)")
    if any(each["worst"] is not None for each in rows):
        drawing.log_scale(right, "x")
    right.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    return figure


def _front(found: Document) -> Figure | None:
    """Tail against goodput; the area is the state, as far as it is counted."""
    rows = [each for each in found["levels"] if each["ratio_to_best"]["value"] is not None]
    if len(rows) < 2:
        return None
    figure, (axes,) = drawing.panels(1, 1, 1, (6.4, 4.8))
    axes.grid(color="#DDDDDD", linewidth=0.7)
    rows = [each for each in rows if each["goodput"]["value"] is not None]
    points = [(100 * each["goodput"]["value"], each["ratio_to_best"]["value"]) for each in rows]
    for each, (x, y) in zip(rows, points, strict=True):
        size = 18 + 2.0 * (each["state_bits"] or 0) ** 0.4
        alpha = 0.85 if each["on_front"] else 0.3
        axes.scatter([x], [y], s=size, color=_colour(each), alpha=alpha)
    axes.margins(x=0.25)
    axes.ticklabel_format(axis="x", useOffset=False)
    drawing.log_scale(axes)
    axes.set(
        xlabel="goodput, % of the best in the same context",
        ylabel=f"{found['metric']}, ratio to the best",
    )
    figure.draw_without_rendering()
    to_points = 72 / figure.dpi
    placed = [(x * to_points, y * to_points) for x, y in axes.transData.transform(points)]
    lifts = _lifts([each["level"] for each in rows], placed)
    for each, point, lift in zip(rows, points, lifts, strict=True):
        axes.annotate(
            each["level"],
            point,
            (6, lift),
            textcoords="offset points",
            va="center",
            fontsize=_LABEL,
            color="black" if each["on_front"] else _QUIET,
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "#999999"} if lift else None,
        )
    return figure


def _lifts(names: Sequence[str], places: Sequence[tuple[float, float]]) -> list[float]:
    """By how much to lift each label, so that none covers another; all in points.

    >>> _lifts(["a", "b", "c"], [(0.0, 0.0), (1.0, 2.0), (90.0, 0.0)])
    [0.0, 9.0, 0.0]
    """
    taken: list[tuple[float, float, float]] = []
    lifts = [0.0] * len(names)
    for at in sorted(range(len(names)), key=lambda at: places[at][1]):
        x, y = places[at]
        end = x + _WIDTH * len(names[at])
        while any(
            abs(y + lifts[at] - other) < _LABEL and x < last and first < end
            for first, last, other in taken
        ):
            lifts[at] += _LABEL + 1
        taken.append((x, end, y + lifts[at]))
    return lifts


def _effects(found: Document) -> Figure | None:
    """The share of every factor, and of every pair, in the variance of each number."""
    models = found["effects"]
    if not models:
        return None
    rows = terms(found)[:_TERMS]
    figure, panels = drawing.panels(
        1, len(models), len(models), (9.6, 1.1 + _ROW * len(rows)), sharey=True
    )
    for axes, model in zip(panels, models, strict=True):
        _rows(axes, [" x ".join(each) for each in rows])
        axes.set_title(model["metric"], fontsize=9)
        for each in model["shares"]:
            if each["of"] not in rows:
                continue
            place = rows.index(each["of"])
            colour = COLOURS[2] if len(each["of"]) == 1 else COLOURS[5]
            axes.barh(place, 100 * each["value"], color=colour, height=0.6)
            if each["low"] is not None:
                ends = [100 * each["low"], 100 * each["high"]]
                axes.plot(ends, [place, place], color=_QUIET, linewidth=1)
    figure.supxlabel("share of the variance between runs, %, and its 95% interval", fontsize=9)
    return figure
