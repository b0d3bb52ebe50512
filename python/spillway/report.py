"""Results gathered into one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spillway import _core, checksums, tables
from spillway.errors import ScenarioError
from spillway.folder import SUMMARY, check_new_file, whole_file
from spillway.reproduce import tables as claims
from spillway.reproduce import tally
from spillway.result import documents

_TEMPLATE = "report.html"


def write(folder: Path, file: Path, force: bool = False) -> dict[str, Any]:
    """Writes the page, and says what is on it."""
    if not folder.is_dir():
        raise ScenarioError(f"there is no folder {folder}", "name one that has results in it")
    check_new_file(file, force)
    sections = gather(folder)
    if not any(sections.values()):
        hint = "`spillway reproduce`, `run` and `compare` write results with --out"
        raise ScenarioError(f"there are no results in {folder}", hint)
    with whole_file(file) as partial:
        partial.write_text(page(sections), encoding="utf-8")
    return {"report": str(file), **{kind: len(found) for kind, found in sections.items()}}


def gather(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What there is in a folder: figures, comparisons and runs, each in the order of its path."""
    sections: dict[str, list[dict[str, Any]]] = {"figures": [], "comparisons": [], "runs": []}
    for summary in _summaries(folder):
        place = summary.parent
        document, scenario = documents(place)
        if not isinstance(document.get("figure", ""), str):
            raise ScenarioError(f"{summary} is no result's summary")
        name = os.path.relpath(place, folder)
        about = {**document, "path": place.name if name == "." else name}
        about["toml"] = scenario
        if "figure" in document:
            drawing = f"{document['figure'].rpartition('/')[2]}.svg"
            about["plot"] = _data_uri(place, drawing) if (place / drawing).is_file() else None
            sections["figures"].append(about)
        elif "variants" in document:
            sections["comparisons"].append(about)
        elif "fct_slowdown" in document:
            sections["runs"].append(about)
    return sections


def page(sections: Mapping[str, Any]) -> str:
    """The page; all that comes from results is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError

    environment = Environment(
        loader=PackageLoader("spillway"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=tables.number,
        count=tables.count,
        percent=tables.percent,
        told=claims.told,
        interval=claims.interval,
        spread=claims.spread,
        first_reading=tally.first_reading,
        counted=tally.counted,
        slug=lambda text: text.replace(" ", "-"),
    )
    try:
        return environment.get_template(_TEMPLATE).render(version=_core.__version__, **sections)
    except UndefinedError as error:
        hint = "write it again with this version"
        raise ScenarioError(f"a result lacks what a page shows: {error}", hint) from error


def _summaries(folder: Path) -> list[Path]:
    """Every result's summary, but not those of a comparison's single runs."""
    found: list[Path] = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted((name for name in folders if not name.endswith(".partial")), key=_order)
        if SUMMARY in files:
            found.append(Path(here) / SUMMARY)
            folders.clear()
    return found


def _order(name: str) -> list[tuple[int, str]]:
    """Numbers within names in the order of numbers.

    >>> sorted(["figure10", "figure6"], key=_order)
    ['figure6', 'figure10']
    """
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdecimal() else 0, part) for part in parts]


def _data_uri(folder: Path, name: str) -> str:
    checksums.check(folder, name)
    content = (folder / name).read_bytes()
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()
