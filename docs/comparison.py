"""Writes the tables and the plot of docs/comparison.md out of what `spillway reproduce` has left.

    spillway reproduce comparison --scale page --out results
    python docs/comparison.py results

The folder has `comparison/NAME` for each of the networks and sweeps of
`spillway.reproduce.comparison`; what is not there is left as it is on the page.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway import parquet
from spillway.palette import COLOURS
from spillway.reproduce.draw import drawing_of, log_scale
from spillway.reproduce.samples import rank
from spillway.reproduce.write import NUMBERS
from spillway.tables import FEW

PAGE = Path(__file__).resolve().parent / "comparison.md"
IMAGE = PAGE.parent / "images" / "comparison.png"

CLASSES = {
    "credence": ("short", "long", "incast"),
    "cbm": ("cubic", "dctcp", "incast"),
    "smartbuf": ("short", "long", "incast"),
}
"""By network, the classes that are told apart."""
SWEEPS = ("load", "burst", "buffer")
PERCENTILES = {"p99": 0.99, "p99_9": 0.999}
ENOUGH = 10
"""A percentile with fewer values beyond it rests on few."""

BASE = "dt"
"""What the others are compared with in a network, seed by seed."""
BEST = "lqd"
"""The same in a sweep: what has nearly the fewest flows with a timeout everywhere."""

Json = dict[str, Any]
Row = Mapping[str, Any]
"""The numbers of a run by their dotted path, and its scheme and seed."""


@dataclass(frozen=True)
class Results:
    """What has come of a network, or of a point of a sweep: runs by policy."""

    runs: Mapping[str, Sequence[Row]]

    @property
    def policies(self) -> list[str]:
        """In their order."""
        return list(self.runs)

    def each(self, policy: str, number: Callable[[Row], float | None]) -> list[float]:
        """A number of every run that has it."""
        found = (number(row) for row in self.runs[policy])
        return [value for value in found if value is not None]

    def mean(self, policy: str, number: Callable[[Row], float | None]) -> float | None:
        """Over the seeds."""
        found = self.each(policy, number)
        return statistics.mean(found) if found else None

    def is_few(self, policy: str, of: str, percentile: str) -> bool:
        """Whether few values lie beyond a percentile in any run."""
        return any(is_few(row.get(f"{of}.count"), percentile) for row in self.runs[policy])

    def regret(self, policy: str, number: Callable[[Row], float | None]) -> float | None:
        """How many times the least of all policies a policy has."""
        own, best = self.mean(policy, number), self.best(number)
        if own is None or best is None:
            return None
        least = self.mean(best, number)
        return own / least if least else None

    def best(self, number: Callable[[Row], float | None]) -> str | None:
        """The policy that has the least; None if no policy has any."""
        means = {policy: self.mean(policy, number) for policy in self.runs}
        known = {policy: mean for policy, mean in means.items() if mean is not None}
        return min(known, key=known.__getitem__) if known else None


def is_few(count: float | None, percentile: str) -> bool:
    """Whether fewer than ten of this many values are beyond a percentile."""
    if not count or percentile not in PERCENTILES:
        return False
    return count - rank(int(count), PERCENTILES[percentile]) < ENOUGH


# Numbers of a run --------------------------------------------------------------------------------


def slowdown(of: str, percentile: str) -> Callable[[Row], float | None]:
    """Of a class."""
    return lambda row: row.get(f"fct_slowdown.{of}.{percentile}")


def query_ms(percentile: str) -> Callable[[Row], float | None]:
    """How long queries took, from their beginning to the end of their last answer."""

    def number(row: Row) -> float | None:
        found = row.get(f"query_us.{percentile}")
        return None if found is None else found / 1000

    return number


def goodput(row: Row) -> float | None:
    """In Gbps."""
    return row["goodput_gbps.all"]


def with_timeout(row: Row) -> float | None:
    """Flows that saw a timeout, in percent."""
    count = row["fct_slowdown.all.count"]
    return 100 * row["fct_slowdown.all.with_timeout"] / count if count else None


def lost(row: Row) -> float:
    """Packets lost for whatever reason while it was measured."""
    return sum(value or 0 for path, value in row.items() if path.startswith("lost."))


# Tables ------------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """Three digits, and commas where there are more."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spread(values: Sequence[float], mark: str = "") -> str:
    """The mean over seeds, and their standard deviation."""
    if not values:
        return "-"
    deviation = f" ± {number(statistics.stdev(values))}" if len(values) > 1 else ""
    return f"{number(statistics.mean(values))}{mark}{deviation}"


def markdown(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
    for policy in results.policies:
        cells = [f"`{policy}`"]
        for name in classes:
            for p in PERCENTILES:
                mark = FEW if results.is_few(policy, f"fct_slowdown.{name}", p) else ""
                cells.append(spread(results.each(policy, slowdown(name, p)), mark))
        mark = FEW if results.is_few(policy, "query_us", "p99") else ""
        cells += [
            spread(results.each(policy, query_ms("mean"))),
            spread(results.each(policy, query_ms("p99")), mark),
            *(spread(results.each(policy, of)) for of in (goodput, with_timeout, lost)),
        ]
        rows.append(cells)
    return markdown(heads, rows)


def pairs(results: Results, classes: Sequence[str]) -> str:
    """Every policy's 99th percentiles over those of the base with the same flows."""
    rows = [
        [f"`{policy}`", *(ratios(results, policy, of) for of in classes)]
        for policy in results.policies
        if policy != BASE
    ]
    return markdown(["", *(f"{name} p99" for name in classes)], rows)


def ratios(results: Results, policy: str, name: str) -> str:
    """The mean of the seeds' ratios, the least and the greatest."""
    of = slowdown(name, "p99")
    base = {row["seed"]: of(row) for row in results.runs[BASE]}
    found = []
    for row in results.runs[policy]:
        new, old = of(row), base[row["seed"]]
        if new is not None and old:
            found.append(new / old)
    if not found:
        return "-"
    few = any(results.is_few(each, f"fct_slowdown.{name}", "p99") for each in (policy, BASE))
    mean = f"{statistics.mean(found):.2f}{FEW if few else ''}"
    return f"{mean} ({min(found):.2f} to {max(found):.2f})"


def regrets(networks: Mapping[str, Results]) -> str:
    """How many times the best policy's, network by network; last the worst of all of them."""
    tails = [
        (f"{name}: {of} p99", results, regret_of_tail(results, of))
        for name, results in networks.items()
        for of in CLASSES[name]
    ]
    queries = [
        (f"{name}: queries, mean", results, regret_of_queries(results))
        for name, results in networks.items()
    ]
    columns = [*tails, *queries]
    rows = []
    for policy in dict.fromkeys(name for each in networks.values() for name in each.policies):
        found = [of(policy) if policy in each.runs else NO_REGRET for _, each, of in columns]
        rows.append([f"`{policy}`", *map(times, found), times(greatest(found))])
    return markdown(["", *(name for name, _, _ in columns), "at worst"], rows)


Regret = tuple[float | None, bool]
"""How many times the best policy's, and whether that rests on few values."""
NO_REGRET: Regret = (None, False)


def regret_of_tail(results: Results, of: str) -> Callable[[str], Regret]:
    """In a class's 99th percentile."""
    number = slowdown(of, "p99")
    best = results.best(number)

    def regret(policy: str) -> Regret:
        compared = (each for each in (policy, best) if each is not None)
        few = any(results.is_few(each, f"fct_slowdown.{of}", "p99") for each in compared)
        return results.regret(policy, number), few

    return regret


def regret_of_queries(results: Results) -> Callable[[str], Regret]:
    """In the mean time that queries take."""
    return lambda policy: (results.regret(policy, query_ms("mean")), False)


def greatest(found: Iterable[Regret]) -> Regret:
    """Of those that are known."""
    known = [each for each in found if each[0] is not None]
    return max(known, key=lambda each: each[0] or 0.0) if known else NO_REGRET


def times(regret: Regret) -> str:
    """How many times."""
    value, few = regret
    if value is None:
        return "-"
    return (f"{value:.2f}" if value < 10 else f"{value:.0f}") + (FEW if few else "")


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
    for policy in first.policies:
        tails = []
        for results in points.values():
            mark = FEW if results.is_few(policy, "fct_slowdown.incast", "p99") else ""
            tails.append(spread(results.each(policy, slowdown("incast", "p99")), mark))
        found = [regret_of_tail(each, of)(policy) for each in points.values() for of in classes]
        rows.append(
            [
                f"`{policy}`",
                *tails,
                *(spread(results.each(policy, with_timeout)) for results in points.values()),
                times(greatest(found)),
            ]
        )
    return markdown(heads, rows)


def pairs_of_sweep(points: Mapping[str, Results]) -> str:
    """Flows with a timeout less those of the best policy with the same flows, seed by seed."""
    first = next(iter(points.values()))
    rows = [
        [f"`{policy}`", *(more_timeouts(results, policy) for results in points.values())]
        for policy in first.policies
        if policy != BEST
    ]
    return markdown(["", *points], rows)


def more_timeouts(results: Results, policy: str) -> str:
    """The mean of the seeds' differences in percentage points, the least and the greatest."""
    base = {row["seed"]: with_timeout(row) for row in results.runs[BEST]}
    found = []
    for row in results.runs[policy]:
        new, old = with_timeout(row), base[row["seed"]]
        if new is not None and old is not None:
            found.append(new - old)
    if not found:
        return "-"
    return f"{statistics.mean(found):+.2f} ({min(found):+.2f} to {max(found):+.2f})"


# Results -----------------------------------------------------------------------------------------


def load(folder: Path, name: str) -> tuple[Json, dict[str, Results]] | None:
    """A figure's summary, and its runs by point; None if it is not there."""
    place = folder / "comparison" / name
    if not place.is_dir():
        return None
    summary: Json = json.loads((place / "summary.json").read_text(encoding="utf-8"))
    rows = parquet.read(place / NUMBERS).to_pylist()
    points = {}
    for point in summary["points"]:
        here = [row for row in rows if all(row[axis] == v for axis, v in point["values"].items())]
        runs: dict[str, list[Row]] = {scheme: [] for scheme in summary["schemes"]}
        for row in here:
            runs[row["scheme"]].append(row)
        points[point["label"]] = Results(runs)
    return summary, points


def caption(summary: Json) -> str:
    """How it was made."""
    seeds = ", ".join(map(str, summary["seeds"]))
    sets = ", ".join(f"`{each}`" for each in summary["scale_sets"])
    return (
        f"Scale `{summary['scale']}`: {sets}; seeds {seeds}; version {summary['version']}, core "
        f"{summary['build'][:8]}. So few seeds tell two policies apart only where every seed's "
        "pair agrees."
    )


def block(summary: Json, results: Results, classes: Sequence[str]) -> str:
    """What the page has of a network."""
    return (
        f"{caption(summary)}\n\n{table(results, classes)}\n\n"
        f"In pairs: 99th percentiles over those under `{BASE}` with the same flows, seed by seed; "
        f"their mean, the least and the greatest.\n\n{pairs(results, classes)}"
    )


def draw(networks: Mapping[str, Results], file: Path) -> None:
    """A column for each network, a row for each class: the 99th percentile of all policies."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "spillway"}), drawing_of(11.2, 9.6) as drawing:
        axes = drawing.subplots(3, len(networks), squeeze=False)
        for column, (name, results) in enumerate(networks.items()):
            for row, of in enumerate(CLASSES[name]):
                axis = axes[row, column]
                for place, policy in enumerate(results.policies):
                    known = results.each(policy, slowdown(of, "p99"))
                    colour = COLOURS[place % len(COLOURS)]
                    axis.plot(known, [place] * len(known), "|", color=colour, markersize=8)
                    if known:
                        few = results.is_few(policy, f"fct_slowdown.{of}", "p99")
                        mean = statistics.mean(known)
                        face = "white" if few else colour
                        axis.plot([mean], [place], "o", color=colour, markerfacecolor=face)
                axis.set_title(f"{name}: {of} flows, p99", fontsize=9)
                axis.set_yticks(range(len(results.policies)), results.policies, fontsize=7)
                axis.set_ylim(len(results.policies) - 0.5, -0.5)
                axis.set_xlabel("slowdown")
                log_scale(axis, "x")
                axis.tick_params(axis="x", labelsize=7)
        drawing.supxlabel(
            "a line for every seed, a dot for their mean, hollow: fewer than 10 flows beyond it in "
            "a run",
            fontsize=7.5,
        )
        drawing.savefig(file, dpi=160)


def blocks(folder: Path) -> tuple[dict[str, str], dict[str, Results]]:
    """The page's blocks by name, and the networks' results."""
    found, networks = {}, {}
    for name, classes in CLASSES.items():
        if loaded := load(folder, name):
            summary, points = loaded
            (networks[name],) = points.values()
            found[name] = block(summary, networks[name], classes)
    if len(networks) == len(CLASSES):
        found["regret"] = regrets(networks)
    for name in SWEEPS:
        if loaded := load(folder, name):
            summary, points = loaded
            found[name] = (
                f"{caption(summary)}\n\n{sweep(points)}\n\n"
                f"In pairs: flows with a timeout, in percentage points more than under `{BEST}` "
                f"with the same flows, seed by seed; their mean, the least and the greatest.\n\n"
                f"{pairs_of_sweep(points)}"
            )
    return found, networks


def written(page: str, found: Mapping[str, str]) -> str:
    """The page with these blocks."""
    for name, body in found.items():
        place = re.compile(f"<!-- table: {name} -->\n.*?<!-- end -->", re.DOTALL)
        text = f"<!-- table: {name} -->\n\n{body}\n\n<!-- end -->"
        page, times = place.subn(lambda _, text=text: text, page)
        if times != 1:
            raise SystemExit(f"the page has {times} places <!-- table: {name} -->")
    return page


def main(folder: Path) -> None:
    """Writes tables and plot."""
    found, networks = blocks(folder)
    if not found:
        raise SystemExit(f"{folder} has no folder comparison/ with results")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    if len(networks) == len(CLASSES):
        draw(networks, IMAGE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
