"""The tables and the plot of all sharing policies side by side."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial

from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway.show.tables import FEW
from spillway_studies.claims import Drawing
from spillway_studies.claims.side_by_side import (
    NOTE,
    PERCENTILES,
    Json,
    Number,
    Results,
    at,
    below_each_other,
    caption,
    cell,
    dots,
    greatest,
    in_pairs,
    load,
    lost,
    markdown,
    ratios,
    regret_of,
    regret_table,
    spread,
    times,
    with_timeout,
)
from spillway_studies.claims.write import Published
from spillway_studies.comparison import figures

CLASSES = {
    "credence": ("short", "long", "incast"),
    "cbm": ("cubic", "dctcp", "incast"),
    "smartbuf": ("short", "long", "incast"),
}
"""The classes that tables distinguish, by network."""
SWEEPS = ("load", "burst", "buffer")
FIGURES = {figure.short_name: figure for figure in figures.FIGURES}

BASE = "dt"
"""The policy that the others are compared with in a network, seed by seed."""
BEST = "lqd"
"""The same in a sweep: this policy has nearly the fewest flows with a timeout everywhere."""


def query_ms(percentile: str) -> Number:
    """How long queries took, from their beginning to the end of their last answer."""
    return lambda row: None if (us := row.get(f"query_us.{percentile}")) is None else us / 1000


# Tables ------------------------------------------------------------------------------------------


def table(results: Results, classes: Sequence[str]) -> str:
    """Mean and deviation of every policy."""
    heads = [
        "",
        *(f"{name} {p.replace('_', '.')}" for name in classes for p in PERCENTILES),
        "queries, mean, ms",
        "p99",
        "goodput, Gbps",
        "flows with a timeout, %",
        "packets lost",
    ]
    rows = []
    for policy in results.schemes:
        mark = FEW if results.is_few(policy, "query_us", "p99") else ""
        others = (at("goodput_gbps.all"), with_timeout, lost("lost."))
        rows.append(
            [
                f"`{policy}`",
                *(cell(results, policy, name, p) for name in classes for p in PERCENTILES),
                spread(results.each(policy, query_ms("mean"))),
                spread(results.each(policy, query_ms("p99")), mark),
                *(spread(results.each(policy, of)) for of in others),
            ]
        )
    return markdown(heads, rows)


def pairs(results: Results, classes: Sequence[str]) -> str:
    """Every policy's 99th percentiles over those of the base with the same flows."""
    rows = [
        [f"`{policy}`", *(ratios(results, policy, BASE, of) for of in classes)]
        for policy in results.schemes
        if policy != BASE
    ]
    return markdown(["", *(f"{name} p99" for name in classes)], rows)


def regrets(networks: Mapping[str, Results]) -> str:
    """The regrets of every policy, network by network; last its greatest one."""
    columns = {
        f"{name}: {of} p99": partial(regret_of, results, f"fct_slowdown.{of}", "p99")
        for name, results in networks.items()
        for of in CLASSES[name]
    } | {
        f"{name}: queries, mean": partial(regret_of, results, "query_us", "mean")
        for name, results in networks.items()
    }
    policies = dict.fromkeys(name for each in networks.values() for name in each.schemes)
    return regret_table(columns, policies)


def sweep(points: Mapping[str, Results]) -> str:
    """Incasts' tail and flows with a timeout at every point; last the greatest regret."""
    classes = CLASSES["credence"]
    heads = [
        "",
        *(f"incast p99, {label}" for label in points),
        *(f"flows with a timeout, %, {label}" for label in points),
        "regret at worst",
    ]
    first = next(iter(points.values()))
    rows = []
    for policy in first.schemes:
        found = [
            regret_of(each, f"fct_slowdown.{of}", "p99", policy)
            for each in points.values()
            for of in classes
        ]
        rows.append(
            [
                f"`{policy}`",
                *(cell(results, policy, "incast", "p99") for results in points.values()),
                *(spread(results.each(policy, with_timeout)) for results in points.values()),
                times(greatest(found)),
            ]
        )
    return markdown(heads, rows)


def pairs_of_sweep(points: Mapping[str, Results]) -> str:
    """Flows with a timeout, minus those under `BEST` with the same flows, seed by seed."""
    first = next(iter(points.values()))
    rows = [
        [f"`{policy}`", *(more_timeouts(results, policy) for results in points.values())]
        for policy in first.schemes
        if policy != BEST
    ]
    return markdown(["", *points], rows)


def more_timeouts(results: Results, policy: str) -> str:
    """The mean of the seeds' differences in percentage points, the least and the greatest."""
    found = [new - old for new, old in in_pairs(results, policy, BEST, with_timeout)]
    if not found:
        return "-"
    return f"{statistics.mean(found):+.2f} ({min(found):+.2f} to {max(found):+.2f})"


# Results -----------------------------------------------------------------------------------------


def size(summary: Json) -> str:
    """How it was made, and what that can show."""
    few = "So few seeds tell two policies apart only where every seed's pair agrees."
    return f"{caption(summary)} {few}"


def block(name: str) -> str:
    """The page's block about a network or a sweep."""
    published = Published(FIGURES[name])
    points = load(published)
    if name in SWEEPS:
        return (
            f"{size(published.summary)}\n\n{sweep(points)}\n\n"
            f"In pairs: flows with a timeout, in percentage points more than under `{BEST}` "
            "with the same flows, seed by seed; their mean, the least and the greatest.\n\n"
            f"{pairs_of_sweep(points)}"
        )
    (results,) = points.values()
    return (
        f"{size(published.summary)}\n\n{table(results, CLASSES[name])}\n\n"
        f"In pairs: 99th percentiles over those under `{BASE}` with the same flows, seed by seed; "
        f"their mean, the least and the greatest.\n\n{pairs(results, CLASSES[name])}"
    )


def _networks() -> dict[str, Results]:
    return {name: next(iter(load(Published(FIGURES[name])).values())) for name in CLASSES}


def regret() -> str:
    """What the page says of all networks together."""
    return regrets(_networks())


def plot() -> Drawing:
    """A column for each network, a row for each class: the 99th percentile of all policies."""
    networks = _networks()
    with drawing_of(11.2, 9.6) as drawing:
        axes = drawing.subplots(3, len(networks), squeeze=False)
        for column, (name, results) in enumerate(networks.items()):
            for row, of in enumerate(CLASSES[name]):
                axis = axes[row, column]
                for place, policy in enumerate(results.schemes):
                    colour = COLOURS[place % len(COLOURS)]
                    dots(axis, place, results, policy, of, "p99", colour)
                axis.set_title(f"{name}: {of} flows, p99", fontsize=9)
                below_each_other(axis, results.schemes)
        drawing.supxlabel(NOTE, fontsize=7.5)
    return drawing
