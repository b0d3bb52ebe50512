"""The metrics by which variants are compared, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from spillway.base.arguments import check_once, items
from spillway.base.errors import ScenarioError
from spillway.base.result_schema import CLASSES
from spillway.result.summary_paths import Summary, at, paths

Chosen: TypeAlias = str | Iterable[str]
"""Names, or a text with names separated by commas."""

_SLOWDOWNS = {
    "mean": "mean",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p99_9",
    "max": "max",
}
_COUNTS = {
    "flows": ("count", "flows"),
    "unfinished": ("unfinished", "un-\nfinished"),
    "with_timeout": ("with_timeout", "with\ntimeout"),
}
"""Keys of a class's row, and their headings."""
_OCCUPANCY = {"mean": "mean", "p99": "p99", "p99.99": "p99_99", "max": "max"}
_TABLE = ("unfinished", "with_timeout", "drops", "buffer.p99", "goodput")


@dataclass(frozen=True)
class Metric:
    """One number of a run."""

    key: str
    """The name by which it is chosen."""
    heading: str
    read: Callable[[Summary], float | None]
    show: str
    """Its format: `number`, `count`, `percent` or `size`."""
    panel: str
    """The panel in which it is drawn."""
    point: str
    """Its label in the panel."""
    unit: str = ""
    kind: str = ""
    """The kind of panel: `slowdown`, `queries`, `buffer`, or empty for any other."""
    less_is_better: bool = False
    is_few: Callable[[Summary], bool] = lambda _: False
    """Whether it rests on few samples."""

    @property
    def name(self) -> str:
        """Its heading in one line."""
        return self.heading.replace("-\n", "").replace("\n", " ")

    @property
    def scale(self) -> float:
        """What its values are multiplied by in the plot."""
        return {"percent": 100.0, "size": 1e-3}.get(self.show, 1.0)


def catalogue(runs: Sequence[Summary]) -> dict[str, Metric]:
    """All metrics of some runs, by name.

    A class whose name is that of another metric has `slowdown.` before its name.
    """
    found = {metric.key: metric for metric in _of_whole_runs(runs)}
    for name in _names(runs, "fct_slowdown"):
        for metric in _of_class(name):
            taken = metric.key in found
            key = f"slowdown.{metric.key}" if taken else metric.key
            found[key] = replace(metric, key=key)
    return found


class UnknownMetricError(ScenarioError):
    """There is no metric called `name`; `known` are the metrics that exist."""

    def __init__(self, name: object, known: Collection[str]) -> None:
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
        super().__init__(
            f"there is no metric {name!r}", f"did you mean `{near[0]}`?" if near else _HINT
        )
        self.name = name
        self.known = known


def found(names: Iterable[object], runs: Sequence[Summary]) -> list[Metric]:
    """Metrics by their names, or any numbers of the summary by their paths.

    Raises `UnknownMetricError`.
    """
    known = catalogue(runs)
    by_path = {path: place for run in runs for path, place in paths(run).items()}

    def one(name: object) -> Metric:
        if isinstance(name, str) and name in known:
            return known[name]
        if isinstance(name, str) and name in by_path:
            return _of_path(by_path[name])
        raise UnknownMetricError(name, [*known, *by_path])

    return [one(name) for name in names]


def _of_path(path: Sequence[str]) -> Metric:
    """A number of the summary as a metric; less is better for slowdowns and times only."""
    *above, last = path
    name = ".".join(path)
    return Metric(
        name,
        name.replace(".", ".\n"),
        lambda run: at(run, path),
        "number",
        ".".join(above) or last,
        last,
        path[0],
        less_is_better=path[0] in _TIMES and last in _SLOWDOWNS.values(),
        is_few=lambda run: last in (_table(run, above).get("few_samples") or ()),
    )


_TIMES = ("fct_slowdown", "without_timeout", "fct_us", "query_us", "job_us", "iteration_us")


def _table(run: Summary, path: Sequence[str]) -> Summary:
    for key in path:
        within = run.get(key)
        run = within if isinstance(within, Mapping) else {}
    return run


def choose(chosen: Chosen, runs: Sequence[Summary]) -> list[str]:
    """The chosen names, all of which must be known: of metrics, or paths in the summary."""
    listed = chosen.split(",") if isinstance(chosen, str) else items(chosen, "metrics", _HINT)
    given = [name.strip() if isinstance(name, str) else name for name in listed]
    names = [metric.key for metric in found(given, runs)]
    if not names:
        raise ScenarioError("no metric is named", _HINT)
    check_once(names, "metrics: the name", "each has one column")
    return names


_HINT = "for one: short.p99,drops,goodput,fct_us.all.p99; docs/results.md names all metrics"


def of_table(chosen: Sequence[str], runs: Sequence[Summary]) -> list[Metric]:
    """The columns of a table: the chosen metrics, or the usual ones."""
    if chosen:
        return found(chosen, runs)
    known = catalogue(runs)
    return [known[key] for key in [*_slowdowns(known, runs, ("p95", "p99")), *_TABLE]]


def of_plot(chosen: Sequence[str], runs: Sequence[Summary]) -> list[Metric]:
    """The metrics of a plot: the chosen ones, or the usual ones."""
    if chosen:
        return found(chosen, runs)
    known = catalogue(runs)
    usual = _slowdowns(known, runs, ("p50", "p95", "p99", "p99.9"))
    return [known[key] for key in [*usual, *(f"buffer.{p}" for p in _OCCUPANCY)]]


def _slowdowns(
    known: Mapping[str, Metric], runs: Sequence[Summary], points: Sequence[str]
) -> list[str]:
    """Slowdowns of the classes that have flows: the common classes, then the scenario's own."""
    own = [name for name in _names(runs, "fct_slowdown") if name not in (*CLASSES, "all")]
    has_flows = {name for run in runs for name, row in run["fct_slowdown"].items() if row["count"]}
    of = {
        (metric.panel, metric.point): key
        for key, metric in known.items()
        if metric.kind == "slowdown"
    }
    return [of[name, p] for name in (*CLASSES, *own) if name in has_flows for p in points]


def _names(runs: Sequence[Summary], table: str) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run[table]))


def _of_class(name: str) -> Iterator[Metric]:
    def row(run: Summary) -> Any:
        return run["fct_slowdown"].get(name, {})

    yield from _points(name, row, "slowdown", "slowdown")
    for point, (key, heading) in _COUNTS.items():
        yield Metric(
            f"{name}.{point}",
            f"{name}\n{heading}",
            _value(row, key),
            "count",
            point.replace("_", " "),
            name,
            "flows",
            less_is_better=point != "flows",
        )


def _points(
    name: str, row: Row, unit: str, kind: str, of: str = "", scale: float = 1.0
) -> Iterator[Metric]:
    """The mean, the percentiles and the maximum in a row of a run."""
    for point, key in _SLOWDOWNS.items():
        yield Metric(
            f"{name}.{point}",
            f"{name}\n{point}{of}",
            _value(row, key, scale),
            "number",
            name,
            point,
            unit,
            kind,
            less_is_better=True,
            is_few=lambda run, key=key: key in row(run).get("few_samples", ()),  # type: ignore[misc]
        )


def _of_whole_runs(runs: Sequence[Summary]) -> Iterator[Metric]:
    for point, (key, heading) in _COUNTS.items():
        panel = point.replace("_", " ")
        read = _value(lambda run: run["fct_slowdown"]["all"], key)
        is_better = point != "flows"
        yield Metric(point, heading, read, "count", panel, "all", "flows", "", is_better)
    whole: dict[str, tuple[str, str, Callable[[Summary], float | None]]] = {
        "timeouts": ("timeouts", "timeouts", lambda run: run.get("timeouts")),
        "marks": ("packets\nmarked", "packets", lambda run: run.get("marks")),
        "retransmitted_packets": (
            *("packets\nsent again", "packets"),
            lambda run: run.get("retransmitted_packets"),
        ),
        "drops": ("packets\nlost", "packets", lambda run: sum(run["drops"].values())),
    }
    for key, (heading, unit, read) in whole.items():
        metric = Metric(key, heading, read, "count", "", "", unit)
        yield replace(metric, panel=metric.name, less_is_better=key == "timeouts")
    yield from _of_buffers(runs)
    times: dict[str, Row] = {"queries": lambda run: run["query_us"]}
    if any("job_us" in run for run in runs):
        times["jobs"] = lambda run: run.get("job_us", {}).get("all", {})
        times["iterations"] = lambda run: run.get("iteration_us", {}).get("all", {})
    for name, row in times.items():
        yield from _points(name, row, "completion time, ms", "queries", ", ms", 1e-3)
    for name in _names(runs, "goodput_gbps"):
        yield Metric(
            "goodput" if name == "all" else f"goodput.{name}",
            "goodput\nGbps" if name == "all" else f"goodput\n{name}, Gbps",
            _value(lambda run: run["goodput_gbps"], name),
            "number",
            "goodput",
            name,
            "Gbps",
        )


def _of_buffers(runs: Sequence[Summary]) -> Iterator[Metric]:
    # An unlimited buffer has no fractions, so it is left out if others are limited.
    is_fraction = any(run["buffer_occupancy"].get("unit") == "fraction" for run in runs)

    def row(run: Summary) -> Summary:
        found: Summary = run["buffer_occupancy"]
        return found if found.get("unit") == ("fraction" if is_fraction else "bytes") else {}

    for point, key in _OCCUPANCY.items():
        yield Metric(
            f"buffer.{point}",
            f"buffer\n{point}",
            _value(row, key),
            "percent" if is_fraction else "size",
            "leaf buffers",
            point,
            "occupancy, %" if is_fraction else "in queues, KB",
            "buffer",
        )


Row = Callable[[Summary], Summary]


def _value(row: Row, key: str, scale: float = 1.0) -> Callable[[Summary], float | None]:
    """The number with this key in a run's row, if it has one."""

    def read(run: Summary) -> float | None:
        value: float | None = row(run).get(key)
        return None if value is None else value * scale

    return read
