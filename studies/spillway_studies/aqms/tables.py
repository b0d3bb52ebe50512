"""The tables and the plot of all AQMs side by side."""

from collections.abc import Mapping, Sequence
from functools import partial

from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway_studies.aqms import figures
from spillway_studies.aqms.figures import REACTING, THETA
from spillway_studies.claims import Axes, Drawing
from spillway_studies.claims.side_by_side import (
    NOTE,
    Results,
    at,
    below_each_other,
    caption,
    cell,
    dots,
    load,
    lost,
    markdown,
    number,
    ratios,
    regret_of,
    regret_table,
    slowdown,
    spread,
    with_timeout,
)
from spillway_studies.claims.write import Published

NETWORKS = {
    "credence": "Credence",
    "credence-80": "Credence",
    "leaf-spine-128": "leaf-spine-128",
    "pred": "PRED",
}
"""The figures of all AQMs, and their networks in words."""
FIGURES = {figure.short_name: figure for figure in figures.FIGURES}

SLOWDOWNS = (("short", "p99"), ("short", "mean"), ("long", "mean"), ("all", "mean"))
"""The classes, and the numbers of each, that tables show."""
INCAST = ("incast", "p99")
"""What tables also show where there are incasts."""
COMPARED = (("short", "p99"), ("long", "mean"))
"""The numbers that an AQM is judged by: a gain in one may cost the other."""

BASE = "ecn"
"""The AQM that the others are compared with, seed by seed."""
PAIRS = (
    f"In pairs: over that under `{BASE}` with the same flows and transport, seed by seed; their "
    "mean, the least and the greatest."
)

Points = Mapping[str, Results]
"""Results of several points, by their name."""


# Tables ------------------------------------------------------------------------------------------


def table(results: Results) -> str:
    """Mean and deviation of every AQM under every transport."""
    rows = (row for own in results.runs.values() for row in own)
    has_incasts = any(row.get("fct_slowdown.incast.count") for row in rows)
    slowdowns = (*SLOWDOWNS, INCAST) if has_incasts else SLOWDOWNS
    counts = {
        "lost": lost("drops."),
        "marked": at("marks"),
        "flows with a timeout, %": with_timeout,
    }
    return markdown(
        ["", *(" ".join(each) for each in slowdowns), *counts],
        (
            [
                f"`{scheme}`",
                *(cell(results, scheme, *each) for each in slowdowns),
                *(spread(results.each(scheme, count)) for count in counts.values()),
            ]
            for scheme in results.schemes
        ),
    )


def under(results: Results, transport: str) -> Results:
    """The runs under a transport, by AQM."""
    start = f"{transport}: "
    return Results(
        {
            scheme.removeprefix(start): rows
            for scheme, rows in results.runs.items()
            if scheme.startswith(start)
        }
    )


def regrets(points: Points, transport: str) -> str:
    """The regrets of every AQM under a transport; last its greatest one over all points."""
    own = {name: under(results, transport) for name, results in points.items()}
    columns = {
        f"{name}: {of} {percentile}": partial(regret_of, results, f"fct_slowdown.{of}", percentile)
        for name, results in own.items()
        for of, percentile in COMPARED
    }
    return regret_table(columns, next(iter(own.values())).schemes)


def pairs(results: Results) -> str:
    """Every AQM's numbers over those of the base with the same flows, under each transport."""
    own = {transport: under(results, transport) for transport in REACTING}
    aqms = [aqm for aqm in own[next(iter(own))].schemes if aqm != BASE]
    return markdown(
        ["", *(f"{transport}: {' '.join(each)}" for transport in own for each in COMPARED)],
        (
            [
                f"`{aqm}`",
                *(ratios(runs, aqm, BASE, *each) for runs in own.values() for each in COMPARED),
            ]
            for aqm in aqms
        ),
    )


def block(name: str) -> str:
    """The page's block about a figure."""
    published = Published(FIGURES[name])
    tables = [
        f"**{label.capitalize()}**\n\n{table(each)}\n\n{PAIRS}\n\n{pairs(each)}"
        for label, each in load(published).items()
    ]
    cost = f"It took {number(published.summary['cpu_s'] / 60)} minutes of CPU time."
    return "\n\n".join([f"{caption(published.summary)} {cost}", *tables])


def _networks() -> dict[str, Results]:
    """All points of the networks, by network and point."""
    return {
        f"{network}, {label}": results
        for name, network in NETWORKS.items()
        for label, results in load(Published(FIGURES[name])).items()
    }


def regret() -> str:
    """What the page says of all networks together."""
    points = _networks()
    return "\n\n".join(f"**{each}**\n\n{regrets(points, each)}" for each in REACTING)


# Plot --------------------------------------------------------------------------------------------


def plot() -> Drawing:
    """For every point short flows' tail and long flows' mean: AQMs below each other."""
    points, across = _networks(), 2
    rows = -(-len(points) // across)
    with drawing_of(13.6, 2.9 * rows + 0.7) as image:
        axes = image.subplots(rows, across * len(COMPARED), squeeze=False)
        panels = [(name, each, what) for name, each in points.items() for what in COMPARED]
        for axis, (name, results, what) in zip(axes.flat, panels, strict=True):
            _panel(axis, results, *what)
            axis.set_title(f"{name}: {' '.join(what)}", fontsize=9)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        image.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        image.supxlabel(NOTE, fontsize=7.5)
    return image


def _panel(axis: Axes, results: Results, of: str, percentile: str) -> None:
    aqms: Sequence[str] = ()
    for row, transport in enumerate(REACTING):
        aqms = under(results, transport).schemes
        shift = 0.22 * (row - (len(REACTING) - 1) / 2)
        for place, aqm in enumerate(aqms):
            scheme, colour = f"{transport}: {aqm}", COLOURS[row]
            dots(axis, place + shift, results, scheme, of, percentile, colour)
        axis.plot([], [], "o", color=COLOURS[row], label=transport)
    contrast = results.mean(f"{THETA}: none", slowdown(of, percentile))
    if contrast is not None:
        axis.axvline(contrast, color=COLOURS[len(REACTING)], linestyle="--", label=THETA)
    below_each_other(axis, aqms)
