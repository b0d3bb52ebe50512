"""Claims and figures as tables for people."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway_studies.claims.figure import Figure
from spillway_studies.claims.finding import counted, first_reading
from spillway_studies.claims.metric import seeds_in_words

STYLES = {
    "holds": "green",
    "does not hold": "red",
    "undecided": "yellow",
    "not comparable": "dim",
}


def figures(every: Iterable[Figure]) -> RenderableType:
    """The figures that can be reproduced."""
    table = _grid()
    for heading in ("figure", "", "source"):
        table.add_column(heading, overflow="fold")
    for figure in every:
        table.add_row(figure.name, figure.title, figure.source)
    return table


def claims(summary: Mapping[str, Any], folder: Path | None) -> RenderableType:
    """The findings on a figure's claims, from its summary."""
    seeds = seeds_in_words(summary["seeds"])
    title = Text.assemble(
        (summary["figure"], "bold"),
        f"  {summary['title']}  ",
        (f"{summary['scale']}, seeds {seeds}", "dim"),
    )
    parts: list[RenderableType] = [title]
    quiet = [point["label"] for point in summary["points"] if not point["informative"]]
    if quiet:
        parts.append(Text(f"nothing was lost under any scheme: {'; '.join(quiet)}", "yellow"))
    if summary["claims"]:
        first = first_reading(summary["claims"])
        shown = [
            row
            for row in summary["claims"]
            if row["variant"] in ("", first) or row.get("flips", False)
        ]
        parts.append(_claims(shown))
        if len(shown) < len(summary["claims"]):
            left = len(summary["claims"]) - len(shown)
            parts.append(Text(f"{left} more have the same verdict as under {first!r}", "dim"))
        if any(row["exploratory"] for row in shown):
            parts.append(Text("* something of it was chosen after its numbers were seen", "dim"))
        if summary["caution"]:
            parts.append(Text(summary["caution"], "dim"))
    else:
        parts.append(Text("nothing is claimed about it: it has no verdicts", "dim"))
    if folder is not None:
        parts.append(Text(f"written to {folder}\n", "dim"))
    return Group(*parts)


def _claims(rows: Iterable[Mapping[str, Any]]) -> Table:
    table = _grid()
    table.add_column("claim", overflow="fold", max_width=44)
    table.add_column("number", overflow="fold", max_width=40)
    for heading in ("paper", "ours", "95%", "seeds"):
        table.add_column(heading, justify="right")
    table.add_column("flows with\na timeout", justify="right")
    table.add_column("verdict")
    variant = None
    for row in rows:
        if row["variant"] != variant:
            variant = row["variant"]
            table.add_section()
            table.add_row(Text(variant, "bold"))
        table.add_row(
            row["claim"],
            f"{row['metric']}: {row['formula']}" + ("" if variant else f", {row['over']}"),
            asked(row),
            told(row["ours"], row["is_change"]),
            interval(row["interval"], row["is_change"]),
            spread(row["by_seed"], row["is_change"]),
            behind(row["behind"]),
            Text(row["verdict"] + "*" * bool(row["exploratory"]), STYLES[row["verdict"]]),
        )
    return table


def verdicts(summaries: Iterable[Mapping[str, Any]]) -> Table:
    """The number of claims with each verdict, by figure."""
    table = _grid()
    table.add_column("claims")
    for heading in (*STYLES, "exploratory"):
        table.add_column(heading, justify="right")
    *figures, total = counted(summaries)
    for name, counts in figures:
        table.add_row(name, *map(str, counts.values()))
    table.add_section()
    table.add_row(total[0], *map(str, total[1].values()))
    return table


def _grid() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def told(value: float | None, is_change: bool) -> str:
    """A change in percent; any other number with four digits, and large ones as whole numbers.

    >>> told(0.9553, True), told(-0.02, True), told(15.948, False), told(None, False)
    ('95.5%', '-2.0%', '15.95', '-')
    >>> told(9_999.4, False), told(58_740.6, False)
    ('9999', '58,741')
    """
    if value is None:
        return "-"
    if is_change:
        return f"{100 * value:.1f}%"
    return f"{value:.4g}" if abs(value) < 9_999.5 else f"{value:,.0f}"


def interval(ends: Sequence[float | None] | None, is_change: bool) -> str:
    """Both ends, or the only one.

    >>> interval((0.3, 0.5), True), interval((0.3, None), False), interval((0.0, None), True)
    ('30.0% to 50.0%', '0.3 or more', 'above 0')
    >>> interval((None, 0.1), True), interval((None, 0.0), False)
    ('10.0% or less', 'below 0')
    """
    if ends is None:
        return "-"
    low, high = ends
    if high is None:
        return f"{told(low, is_change)} or more" if low else "above 0"
    if low is None:
        return f"{told(high, is_change)} or less" if high else "below 0"
    return f"{told(low, is_change)} to {told(high, is_change)}"


def asked(row: Mapping[str, Any]) -> str:
    """The paper's number, if it gives one, and the numbers that confirm the claim, if any can."""
    range_ = interval(row["range"], row["is_change"])
    if row["paper"] is None:
        return range_
    number = told(row["paper"], row["is_change"])
    return number if row["range"] is None else f"{number}\n{range_}"


def spread(by_seed: Mapping[str, float | None], is_change: bool) -> str:
    """The least and the greatest number of the seeds."""
    known = [value for value in by_seed.values() if value is not None]
    if len(known) < 2:
        return "-"
    return f"{told(min(known), is_change)} to {told(max(known), is_change)}"


def behind(schemes: Mapping[str, Mapping[str, int]]) -> str:
    """For each scheme, the flows with a timeout among those at or beyond the percentile."""
    return "\n".join(
        f"{scheme} {each['with_timeout']:,}/{each['flows']:,}" for scheme, each in schemes.items()
    )
