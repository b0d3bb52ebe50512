"""Claims and figures as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from spillway.reproduce.figure import Figure

STYLES = {
    "holds": "green",
    "partly": "yellow",
    "does not hold": "red",
    "not comparable": "dim",
}


def figures(every: Iterable[Figure]) -> RenderableType:
    """What there is to reproduce."""
    table = _grid()
    for heading in ("figure", "", "source"):
        table.add_column(heading, overflow="fold")
    for figure in every:
        table.add_row(figure.name, figure.title, figure.source)
    return table


def claims(summary: Mapping[str, Any], folder: Path | None) -> RenderableType:
    """What has become of a figure's claims, from its summary."""
    seeds = ", ".join(map(str, summary["seeds"]))
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
        first = next((row["variant"] for row in summary["claims"] if row["variant"]), "")
        shown = [
            row
            for row in summary["claims"]
            if row["variant"] in ("", first) or row.get("flips", False)
        ]
        parts.append(_claims(shown))
        if len(shown) < len(summary["claims"]):
            left = len(summary["claims"]) - len(shown)
            parts.append(Text(f"{left} more have the same verdict as under {first!r}", "dim"))
    else:
        parts.append(Text("the paper states no number about it", "dim"))
    if folder is not None:
        parts.append(Text(f"written to {folder}\n", "dim"))
    return Group(*parts)


def _claims(rows: Iterable[Mapping[str, Any]]) -> Table:
    table = _grid()
    table.add_column("claim", overflow="fold", max_width=44)
    table.add_column("number", overflow="fold", max_width=40)
    for heading in ("paper", "ours", "95%", "seeds"):
        table.add_column(heading, justify="right")
    table.add_column("timeouts\nbehind", justify="right")
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
            told(row["paper"], row["is_change"]),
            told(row["ours"], row["is_change"]),
            interval(row["interval"], row["is_change"]),
            spread(row["by_seed"], row["is_change"]),
            behind(row["behind"]),
            Text(row["verdict"], STYLES[row["verdict"]]),
        )
    return table


def _grid() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def told(value: float | None, is_change: bool) -> str:
    """A change in percent; any other number to four digits.

    >>> told(0.9553, True), told(-0.02, True), told(15.948, False), told(None, False)
    ('95.5%', '-2.0%', '15.95', '-')
    """
    if value is None:
        return "-"
    return f"{100 * value:.1f}%" if is_change else f"{value:.4g}"


def interval(ends: Iterable[float] | None, is_change: bool) -> str:
    """Both ends."""
    return "-" if ends is None else " to ".join(told(end, is_change) for end in ends)


def spread(by_seed: Mapping[str, float | None], is_change: bool) -> str:
    """The least and the greatest of the seeds' own numbers."""
    known = [value for value in by_seed.values() if value is not None]
    if len(known) < 2:
        return "-"
    return f"{told(min(known), is_change)} to {told(max(known), is_change)}"


def behind(schemes: Mapping[str, Mapping[str, int]]) -> str:
    """For each scheme, flows with a timeout among those at or beyond the percentile."""
    return "\n".join(
        f"{scheme} {each['with_timeout']:,}/{each['flows']:,}" for scheme, each in schemes.items()
    )
