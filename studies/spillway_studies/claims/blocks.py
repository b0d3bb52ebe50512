"""Tables of a figure in Markdown, out of its published numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from spillway_studies.claims.metric import seeds_in_words
from spillway_studies.claims.side_by_side import markdown
from spillway_studies.claims.tables import asked, behind, interval, spread, told

NO_VARIANT = "no variant"
"""How a page asks for the claims that belong to no variant."""


class Block(NamedTuple):
    """What a page shows of a figure."""

    size: str
    """How much was run for it, which a page says once."""
    text: str


Summary = Mapping[str, Any]
Row = Mapping[str, Any]


def claims(summary: Summary, variant: str = "") -> Block:
    """The claims, or those of a variant."""
    wanted = "" if variant == NO_VARIANT else variant
    rows = _found(summary, "claims", lambda row: not variant or row["variant"] == wanted)
    head = ["claim", "paper", "ours", "95%", "seeds", "flows with a timeout", "verdict"]
    lines = []
    for row in rows:
        is_change = row["is_change"]
        whose = "" if row["variant"] in ("", wanted) else f"{row['variant']}: "
        star = r"\*" if row["exploratory"] else ""
        lines.append(
            [
                f"{whose}{row['claim']}: {row['metric']}, {row['formula']} ({row['over']})",
                asked(row).replace("\n", "; "),
                told(row["ours"], is_change),
                interval(row["interval"], is_change),
                spread(row["by_seed"], is_change),
                behind(row["behind"]).replace("\n", "; "),
                row["verdict"] + star,
            ]
        )
    return _with_size(summary, rows, markdown(head, lines))


def choices(summary: Summary, **at: str) -> Block:
    """The same claims under each choice, a row for each choice; with `at` only those at a point."""
    rows = _found(
        summary,
        "claims",
        lambda row: all(str(row["at"].get(axis)) == value for axis, value in at.items()),
    )
    note = "In brackets the least and the greatest of the seeds; bold: not the first row's verdict."
    columns: dict[tuple[str, str], list[str]] = {}
    by_choice: dict[str, dict[tuple[str, str], Row]] = {}
    for row in rows:
        ranges = columns.setdefault((row["metric"], row["formula"]), [])
        if (range_ := interval(row["range"], row["is_change"])) not in ranges:
            ranges.append(range_)
        own = by_choice.setdefault(_choice(row), {})
        own[row["metric"], row["formula"]] = row
    first = next(iter(by_choice.values()))
    lines = [["*what bears the claim out*", *(f"*{'; '.join(each)}*" for each in columns.values())]]
    for choice, own in by_choice.items():
        cells = []
        for column in columns:
            row = own[column]
            number = told(row["ours"], row["is_change"])
            if (of_seeds := spread(row["by_seed"], row["is_change"])) != "-":
                number += f" ({of_seeds})"
            is_other = row["verdict"] != first[column]["verdict"]
            cells.append(f"**{number}**" if is_other else number)
        lines.append([choice, *cells])
    return _with_size(
        summary, rows, markdown(["", *(", ".join(column) for column in columns)], lines), note
    )


def grid(summary: Summary, metric: str, formula: str) -> Block:
    """A claim over two coordinates: a column for each value of the first, a row for the second."""
    wanted = (metric, formula)
    rows = _found(summary, "claims", lambda row: (row["metric"], row["formula"]) == wanted)
    note = f"{metric}: {formula}. Bold: not what is claimed, by its interval."
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        column, line = (f"{value:g}" for value in row["at"].values())
        number = told(row["ours"], row["is_change"])
        own = cells.setdefault(line, {})
        own[column] = number if row["verdict"] == "holds" else f"**{number}**"
    across, down = rows[0]["at"]
    columns = dict.fromkeys(column for own in cells.values() for column in own)
    lines = [[line, *(own[column] for column in columns)] for line, own in cells.items()]
    return _with_size(summary, rows, markdown([rf"{down} \ {across}", *columns], lines), note)


def numbers(summary: Summary, metric: str = "", rows: str = "schemes") -> Block:
    """Metrics of every scheme at every point, with their spread."""
    found = _found(summary, "metrics", lambda each: metric in ("", each["name"]))
    labels = [point["label"] for point in summary["points"]]
    parts = []
    for each in found:
        cells = [[_spread(row) for row in column] for column in each["schemes"].values()]
        names = list(each["schemes"])
        if rows == "points":
            cells, names, heads = list(map(list, zip(*cells, strict=True))), labels, names
        else:
            heads = labels
        unit = f", {each['unit']}" if each["unit"] else ""
        lines = [[name, *line] for name, line in zip(names, cells, strict=True)]
        parts.append(f"*{each['name']}{unit}*\n\n{markdown(['', *heads], lines)}")
    return _with_size(summary, [], "\n\n".join(parts))


def _spread(row: Row) -> str:
    value, ends = row["value"], row["spread"]
    if value is None or ends is None or ends[0] == ends[1]:
        return told(value, False)
    return f"{told(value, False)} ({interval(ends, False)})"


def _found(summary: Summary, of: str, is_asked: Callable[[Row], bool]) -> list[Row]:
    found = [row for row in summary[of] if is_asked(row)]
    if not found:
        raise ValueError(f"{summary['figure']} has nothing of what is asked for")
    return found


def _with_size(summary: Summary, rows: Sequence[Row], table: str, note: str = "") -> Block:
    if any(row["exploratory"] for row in rows):
        note += r" \* exploratory: something of it was chosen after its numbers were seen."
    return Block(_size(summary), f"{note.strip()}\n\n{table}".strip())


def _size(summary: Summary) -> str:
    times = [f"`{each}`" for each in summary["scale_sets"] if not each.startswith("record.")]
    size = ", ".join([*times, f"seeds {seeds_in_words(summary['seeds'])}"])
    cost = f"{_cpu(summary['cpu_s'])} (version {summary['version']}, core {summary['build'][:8]})"
    parts = [f"Scale `{summary['scale']}`: {size}; {cost}."]
    if summary["caution"]:
        parts.append(f"{summary['caution'][0].upper()}{summary['caution'][1:]}.")
    return " ".join(parts)


def _cpu(seconds: float) -> str:
    """CPU time as people say it.

    >>> _cpu(42.0), _cpu(1_000.0), _cpu(10_000.0)
    ('42 s of CPU time', '17 minutes of CPU time', '2.8 hours of CPU time')
    """
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s of CPU time"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes of CPU time"
    return f"{seconds / 3600:.1f} hours of CPU time"


def _choice(row: Row) -> str:
    """What is chosen, without the scheme that a variant may name first: it has its own column."""
    variant, over = row["variant"], row["over"]
    return str(over if not variant or variant.endswith(f", {over}") else variant)
