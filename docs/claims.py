"""Writes the claims and plots of docs/papers out of what `spillway reproduce` has left.

    spillway reproduce credence --scale page --out results
    python docs/claims.py results

On a page, what stands between `<!-- claims: PAPER/FIGURE -->` and `<!-- end -->` is the table of
the figure's claims, and how much was run for it. `<!-- claims: PAPER/FIGURE, VARIANT -->` has the
claims of one variant, and `<!-- claims: PAPER/FIGURE, no variant -->` those that belong to none,
where a figure has both. The plots that a page shows as ../images/PAPER-FIGURE.png go there. Figures
that the folder does not have are left as they are.

`<!-- choices: PAPER/FIGURE, SETTING -->` has the numbers of the same claims about one choice after
another, a row for each; of the claims whose words end with the setting, where one is named.

`<!-- grid: PAPER/FIGURE, WORDS -->` has the numbers of the claims that begin with the words and end
with two coordinates, as ", a = 0.2, p = 0.01": a column for each a, and a row for each p. How much
was run stands above the first grid of a figure.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway_studies.claims.tables import asked, behind, interval, spread, told
from spillway_studies.claims.tally import seeds_in_words

DOCS = Path(__file__).resolve().parent
PLOT = re.compile(r"\(\.\./images/(([a-z]+)-([\w-]+)\.png)\)")
BLOCK = re.compile(
    r"(<!-- (claims|choices|grid): (\S+?)(?:, (.+?))? -->).*?(<!-- end -->)",
    re.DOTALL,
)


NO_VARIANT = "no variant"
"""How a block asks for the claims that belong to no variant."""


def copy_plots(text: str, results: Path, images: Path) -> None:
    """Takes the plots that the page shows from the results, as far as they are there."""
    for name, paper, figure in PLOT.findall(text):
        plot = results / paper / figure / f"{figure}.png"
        if plot.is_file():
            shutil.copyfile(plot, images / name)


def page(text: str, results: Path) -> str:
    """The page with the tables of the figures that there are written anew."""
    told_size: set[str] = set()

    def block(match: re.Match[str]) -> str:
        start, kind, figure, part, end = match.groups()
        file = results / figure / "summary.json"
        if not file.is_file():
            return match[0]
        summary = json.loads(file.read_text(encoding="utf-8"))
        is_part = _PARTS[kind]
        rows = [row for row in summary["claims"] if part is None or is_part(row, part)]
        if not rows:
            raise SystemExit(f"{figure}: no claims of {part!r}")
        table = _table(rows, part) if kind == "claims" else _TABLES[kind](rows)
        notes = [summary["caution"], *([_NOTES[kind]] if kind in _NOTES else [])]
        size = _size(summary, rows, notes)
        if kind == "grid" and figure in told_size:
            return f"{start}\n\n{table}\n\n{end}"
        told_size.add(figure)
        return f"{start}\n\n{size}\n\n{table}\n\n{end}"

    return BLOCK.sub(block, text)


def _of_variant(row: Mapping[str, Any], variant: str) -> bool:
    return bool(row["variant"] == ("" if variant == NO_VARIANT else variant))


def _of_setting(row: Mapping[str, Any], setting: str) -> bool:
    return bool(row["claim"].endswith(f"({setting})"))


def _of_words(row: Mapping[str, Any], words: str) -> bool:
    return bool(row["claim"].startswith(f"{words}, "))


_PARTS = {"claims": _of_variant, "choices": _of_setting, "grid": _of_words}
_NOTES = {
    "choices": "in brackets the least and the greatest of the seeds; bold: not the first row's "
    "verdict",
    "grid": "bold: not what is claimed, by its interval",
}
"""What a reader of such a table must know."""


def _size(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], words: Sequence[str]
) -> str:
    seeds = seeds_in_words(summary["seeds"])
    times = [each for each in summary["scale_sets"] if not each.startswith("record.")]
    size = ", ".join([*(f"`{each}`" for each in times), f"seeds {seeds}"])
    cost = f"{_cpu(summary['cpu_s'])} (version {summary['version']}, core {summary['build'][:8]})"
    notes = [f"Scale `{summary['scale']}`: {size}; {cost}."]
    notes += [f"{each[0].upper()}{each[1:]}." for each in words if each]
    if any(row["exploratory"] for row in rows):
        notes.append(r"\* exploratory: something of it was chosen after its numbers were seen.")
    return " ".join(notes)


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


def _table(rows: Sequence[Mapping[str, Any]], named: str | None) -> str:
    head = ["claim", "paper", "ours", "95%", "seeds", "flows with a timeout", "verdict"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        is_change = row["is_change"]
        variant = "" if row["variant"] in ("", named) else f"{row['variant']}: "
        star = r"\*" if row["exploratory"] else ""
        lines.append(
            [
                f"{variant}{row['claim']}: {row['metric']}, {row['formula']} ({row['over']})",
                asked(row).replace("\n", "; "),
                told(row["ours"], is_change),
                interval(row["interval"], is_change),
                spread(row["by_seed"], is_change),
                behind(row["behind"]).replace("\n", "; "),
                row["verdict"] + star,
            ]
        )
    return _markdown(lines)


def _choices(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each choice, bold where a verdict is another than the first row's."""
    columns: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        ranges = columns.setdefault((row["metric"], row["formula"]), [])
        if (range_ := interval(row["range"], row["is_change"])) not in ranges:
            ranges.append(range_)
    by_choice: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {}
    for row in rows:
        own = by_choice.setdefault(_choice(row), {})
        own[row["metric"], row["formula"]] = row
    first = next(iter(by_choice.values()))
    lines = [
        ["", *(", ".join(column) for column in columns)],
        ["---"] * (1 + len(columns)),
        ["*what bears the claim out*"] + [f"*{'; '.join(ranges)}*" for ranges in columns.values()],
    ]
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
    return _markdown(lines)


def _choice(row: Mapping[str, Any]) -> str:
    """What is chosen; a variant that names a scheme before the choice is told by its column."""
    variant, over = row["variant"], row["over"]
    return str(over if not variant or variant.endswith(f", {over}") else variant)


def _grid(rows: Sequence[Mapping[str, Any]]) -> str:
    """Two coordinates, the first in columns; bold where the claim does not hold."""
    cells: dict[str, dict[str, str]] = {}
    columns: dict[str, None] = {}
    names = ("", "")
    for row in rows:
        *_, across, down = row["claim"].split(", ")
        (name_across, column), (name_down, line) = across.split(" = "), down.split(" = ")
        names = name_down, name_across
        number = told(row["ours"], row["is_change"])
        columns[column] = None
        own = cells.setdefault(line, {})
        own[column] = number if row["verdict"] == "holds" else f"**{number}**"
    lines = [[rf"{names[0]} \ {names[1]}", *columns], ["---"] * (1 + len(columns))]
    lines += [[line, *(own[column] for column in columns)] for line, own in cells.items()]
    return _markdown(lines)


_TABLES = {"choices": _choices, "grid": _grid}


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def main(arguments: Sequence[str]) -> int:
    """Rewrites the pages of papers; returns the status."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        raise SystemExit("usage: python docs/claims.py RESULTS")
    for file in sorted((DOCS / "papers").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        copy_plots(text, Path(arguments[0]), DOCS / "images")
        written = page(text, Path(arguments[0]))
        if written != text:
            file.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
