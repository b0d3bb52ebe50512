"""Variants side by side, and beside their baselines, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from spillway.experiment.statistics import Measured, Pair, mean
from spillway.result.metrics import Metric
from spillway.show.tables import FEW, SHOWN, STATUS_STYLES, SideBySide


def experiment(
    *,
    name: str,
    status: str,
    seeds: Sequence[int],
    labels: Sequence[str],
    counts: Sequence[int],
    total: int,
    columns: Sequence[Measured],
    marked: Sequence[int | None],
    identical: Sequence[bool],
    folder: Path | None,
) -> RenderableType:
    """Variants side by side: the means over their seeds, with intervals.

    Args:
        name: The scenario's name.
        status: The experiment's status.
        seeds: All seeds.
        labels: The labels of all variants; `counts` and `identical` have one entry for each.
        counts: How many runs of the variant are there.
        total: How many runs all variants together should have.
        columns: The metrics.
        marked: For each column the index of the best variant, if there is one.
        identical: Whether all runs of the variant gave the same results.
        folder: The experiment's folder, if it is kept.
    """
    of = _counted(seeds, counts, total)
    title = Text.assemble((name, "bold"), f"  {of}  ", (status, STATUS_STYLES[status]))
    if not sum(counts):
        return title
    if min(counts) != max(counts):
        labels = [f"{each} n={count}" for each, count in zip(labels, counts, strict=True)]
    metrics = [column.metric for column in columns]
    judged = [metric for metric in metrics if metric.less_is_better]
    won = [metric.name for metric, place in zip(metrics, marked, strict=True) if place is not None]
    cells = [
        [
            # Where all seeds give the same results there is no interval.
            _cell(column, place, place == marked[number], is_repeated=identical[place])
            for place in range(len(labels))
        ]
        for number, column in enumerate(columns)
    ]
    parts: list[RenderableType] = [title, SideBySide(labels, metrics, cells)]
    if won:
        sure = "95%" if len(judged) == 1 else f"95% for all {len(judged)} metrics together"
        parts.append(Text(f"bold green ({', '.join(won)}): {_WON} (Student's t, {sure})", "dim"))
    if any(identical):
        which = ", ".join(label for label, one in zip(labels, identical, strict=True) if one)
        parts.append(Text(f"identical in all seeds ({which}): {_SAME}", "dim"))
    if any(any(column.few) for column in columns):
        of = "in a run" if len(seeds) == 1 else "in one of the runs"
        parts.append(Text(f"{FEW} fewer than 10 flows, or queries, beyond it {of}", "dim"))
    if folder is not None:
        parts.append(Text(f"kept in {folder}", "dim"))
    return Group(*parts)


_WON = "below every other variant; no interval of the differences, seed by seed, reaches 0"
_SAME = (
    "nothing is drawn, neither traffic nor clocks; other paths, if there are several, come with "
    "--vary routing.hash_seed=1,2,3"
)


def _counted(seeds: Sequence[int], counts: Sequence[int], total: int) -> str:
    """What was run, and how much of it."""
    if len(seeds) == 1:
        of = f"seed {seeds[0]}"
    elif min(counts) == max(counts):
        of = f"n = {counts[0]} seeds, mean ± 95% interval"
    else:
        of = "n seeds, mean ± 95% interval"
    done = sum(counts)
    return of if done == total else f"{of}, {done} of {total} runs"


def _cell(column: Measured, place: int, is_best: bool, is_repeated: bool) -> Text:
    """A mean and, below it, its interval; if some in a column are marked, all have room for it.

    Where fewer runs have the number than there are, it says how many.
    """
    show = SHOWN[column.metric.show]
    values = list(column.values[place].values())
    own = mean(values[:1] if is_repeated else values)
    mark = (FEW if column.few[place] and own.mean is not None else " ") if any(column.few) else ""
    text = Text.assemble((show(own.mean), "bold green" if is_best else ""), mark)
    if own.half is not None:
        text.append(f"\n±{show(own.half)}{mark and ' '}", "dim not bold")
    if not is_repeated and 0 < own.n < len(values):
        text.append(f"\nn={own.n}{mark and ' '}", "dim not bold")
    return text


def pairs(shown: Sequence[Pair], metrics: Sequence[Metric]) -> RenderableType:
    """Variants beside their baselines: differences, and what can be said of them."""
    against = list(dict.fromkeys(pair.against for pair in shown))
    by_variant: dict[int, list[Pair]] = {}
    for pair in shown:
        by_variant.setdefault(pair.place, []).append(pair)
    labels = [
        each[0].label if len(against) == 1 else f"{each[0].label} against {each[0].against}"
        for each in by_variant.values()
    ]
    most = max((pair.found.n for pair in shown), default=0)
    cells = [
        [_pair_cell(each[number], metric, most) for each in by_variant.values()]
        for number, metric in enumerate(metrics)
    ]
    of = f"against {against[0]}" if len(against) == 1 else "in pairs"
    title = Text.assemble(
        (of, "bold"), f"  n = {most}, differences with the same seeds ± 95% interval"
    )
    count = len(shown)
    sure = "95%" if count == 1 else f"95% for all {count} of them together"
    told = (
        f"green and red: below and above, by Student's t, {sure}; dim: no difference that these "
        "seeds could show"
    )
    return Group(title, SideBySide(labels, metrics, cells), Text(told, "dim"))


def _pair_cell(pair: Pair, metric: Metric, most: int) -> Text:
    """A difference in percent, or in the metric's unit where the baseline is 0.

    Where other pairs have more seeds, it says how many this one has.
    """
    found = pair.found
    if found.difference is None:
        return Text("-")
    if pair.told == "identical":
        return Text("identical", "dim")
    is_part = bool(found.baseline)
    scale = 100.0 / abs(found.baseline) if found.baseline else 1.0

    def show(value: float) -> str:
        return f"{value * scale:.1f}%" if is_part else SHOWN[metric.show](value)

    style = {"below": "bold green", "above": "bold red"}.get(pair.told, "dim")
    if not metric.less_is_better and pair.told in ("below", "above"):
        style = "bold"
    sign = "+" if found.difference > 0 else "-" if found.difference < 0 else ""
    text = Text(f"{sign}{show(abs(found.difference))}", style)
    if found.half is not None:
        text.append(f"\n±{show(found.half)}", "dim not bold")
    if found.n < most:
        text.append(f"\nn={found.n}", "dim not bold")
    return text
