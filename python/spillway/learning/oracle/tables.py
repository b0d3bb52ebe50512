"""Scores and models as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.learning.oracle.model import Model
from spillway.learning.oracle.training import Scores, Training
from spillway.learning.oracle.windows import Online
from spillway.show.tables import Row, count, open_grid, properties

_SCORES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "inverse_eta": "1/eta (Thm 2)",
}


def scores(
    found: Mapping[str, Scores], by_tier: Mapping[str, Mapping[str, Scores]] | None = None
) -> RenderableType:
    """A row for every trace on which a model was tested, and below it one for every tier."""
    rows: list[tuple[str, Scores]] = []
    for name, each in found.items():
        parts = (by_tier or {}).get(name, {})
        rows += [(name, each), *((f"  {tier}", part) for tier, part in parts.items())]
    table = _table("tested on", rows)
    notes = [note for name, each in found.items() if (note := _outside(name, each))]
    empty = [name for name, each in found.items() if not each.drops]
    if empty:
        notes.append(f"in {', '.join(empty)} nothing was dropped: such scores say nothing")
    return Group(table, *(Text(note, "dim") for note in notes))


def _outside(name: str, found: Scores) -> str:
    """The number of packets outside the training range of a model."""
    counts = found.outside
    if counts is None:
        return f"whether {name} lies outside of what the model was trained on is unknown"
    if not counts["any"]:
        return ""
    packets = found.document["packets"]
    features = [
        f"{feature} of {count:,.0f}"
        for feature, count in counts.items()
        if count and feature != "any"
    ]
    share = f"{counts['any']:,.0f} packets ({counts['any'] / packets:.2%})"
    return f"in {name} {share} lie outside of what the model was trained on: {', '.join(features)}"


def each(found: Mapping[str, Training]) -> RenderableType:
    """A row for every model of a switch or tier, with its test scores or training data."""
    heads = ("trained on packets", "drops", "precision", "recall", "F1")
    table = open_grid("model", numbers=heads)
    for name, training in found.items():
        told = {} if training.scores is None else training.scores.document
        table.add_row(
            name,
            f"{training.balance['packets']:,.0f}",
            f"{training.balance['drops']:,.0f}",
            *(_number(told.get(score)) for score in ("precision", "recall", "f1")),
        )
    return table


def sweep(found: Iterable[tuple[int, Scores]]) -> Table:
    """A row for every number of trees."""
    return _table("trees", ((str(count), each) for count, each in found))


def online(found: Online) -> RenderableType:
    """A row for every window: the forest in use, and beside it the one that the run began with."""
    heads = ("dropped by LQD", "recall", "precision", "recall, first", "precision, first", "lost")
    table = open_grid("window", "forest", numbers=heads)
    for window in found.windows:
        told = [
            _number(score)
            for scores in (window.scores, window.first)
            for score in (scores.recall, scores.precision)
        ]
        table.add_row(
            f"{window.begin_ps * 1e-9:g} to {window.end_ps * 1e-9:g} ms",
            Path(window.model).name,
            f"{window.scores.drops:,.0f}",
            *told,
            count(window.lost),
        )
    kept = [str(n) for n, each in enumerate(found.windows[:-1], 1) if each.taught is None]
    note = f"nothing was dropped by LQD before the end of window {', '.join(kept)}: no new forest"
    return Group(table, *([Text(note, "dim")] if kept else []))


def _table(first: str, rows: Iterable[tuple[str, Scores]]) -> Table:
    table = open_grid(first, numbers=("packets", "drops", *_SCORES.values()))
    table.columns[0].overflow = "fold"
    for name, each in rows:
        told = each.document
        table.add_row(
            name,
            f"{told['packets']:,.0f}",
            f"{told['drops']:,.0f}",
            *(_number(told[score]) for score in _SCORES),
        )
    return table


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"


def balance(training: Training) -> Text:
    """The data on which a model was trained."""
    packets, drops = training.balance["packets"], training.balance["drops"]
    return Text(
        f"trained on {packets:,.0f} packets in {training.balance['rows']:,.0f} rows, of which "
        f"{drops:,.0f} were dropped: {drops / packets:.3%}\n"
    )


def model(chosen: Model) -> Table:
    """The properties of a model."""
    training, seen = chosen.training, chosen.seen
    ranges = [
        f"{name} {least:.4g} to {greatest:.4g}"
        for name, least, greatest in zip(chosen.features, seen.least, seen.greatest, strict=False)
    ]
    rows: list[Row] = [
        ("forest", f"{chosen.trees} trees, depth {chosen.depth}"),
        ("looks at", f"{', '.join(chosen.features)}, in units of {_UNITS[chosen.units]}"),
        ("averages", _AVERAGES[chosen.average]),
        ("has seen", ", ".join(ranges) or "unknown"),
        ("buffers", " or ".join(f"{n:,} bytes" for n in seen.buffers) or "unknown"),
        ("lines", " and ".join(f"{n * 1e-9:g} Gbps" for n in seen.rates) or "unknown"),
    ]
    if training:
        share = f"{training['drops'] / training['packets']:.3%}"
        rows += [
            ("trained on", f"{training['packets']:,.0f} packets, of which {share} were dropped"),
            ("split", f"{training['split']}, seed {training['seed']}"),
        ]
        for trace in training["traces"]:
            name = trace.get("scenario", trace.get("file", "a trace"))
            rows.append(("trace", f"{name}, seed {trace.get('seed', 'unknown')}"))
        versions = ", ".join(f"{name} {number}" for name, number in training["versions"].items())
        rows.append(("versions", versions))
        resolved = training["traces"][0].get("resolved", "").strip()
        if resolved:
            rows.append(("scenario", Text(resolved, style="dim")))
    return properties(rows)


_UNITS = {"fraction": "the buffer", "bytes": "a byte"}
_AVERAGES = {
    "time": "over one base RTT, weighted by time",
    "code": "over one base RTT, moving at departures only",
}
