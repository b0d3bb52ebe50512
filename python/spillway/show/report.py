"""Results gathered on one self-contained HTML page."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway import _core
from spillway.base import checksums
from spillway.base.arguments import seeds_told
from spillway.base.errors import ScenarioError
from spillway.base.folder import SUMMARY, check_new_file, whole_file
from spillway.base.texts import printable
from spillway.experiment.asking import load
from spillway.experiment.experiment import Experiment
from spillway.experiment.held import is_one as is_experiment
from spillway.experiment.manifest import FILE as EXPERIMENT
from spillway.result.result import documents
from spillway.show import html, plots, tables
from spillway.tuning import plots as study_plots
from spillway.tuning import tables as studies
from spillway_studies.claims import tables as claims
from spillway_studies.claims import tally

_TEMPLATE = "report.html"
_KINDS = ("figures", "comparisons", "studies", "runs")
_MARK = b"<title>Spillway: results</title>"
"""A text near the beginning of every such page, and of no other file."""


def write(folders: Path | Sequence[Path], file: Path, force: bool = False) -> dict[str, Any]:
    """Writes a page about a folder, or about several, and returns what is on it."""
    places = [folders] if isinstance(folders, Path) else folders
    for folder in places:
        if not folder.is_dir():
            raise ScenarioError(f"there is no folder {folder}", "name one that has results in it")
    check_new_file(file, force, "a report", is_one)
    sections: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
    seen: set[Path] = set()
    for folder in places:
        is_there_already = any(summary.parent.resolve() in seen for summary in _summaries(folder))
        found = gather(folder, is_one_of_several=len(places) > 1, seen=seen)
        if not any(found.values()) and not is_there_already:
            hint = "`spillway reproduce`, `run`, `compare` and `tune` write results with --out"
            raise ScenarioError(f"there are no results in {folder}", hint)
        for kind, entries in found.items():
            sections[kind] += entries
    content = page(sections)
    with whole_file(file, force) as partial:
        partial.write_bytes(content)
    return {"report": str(file), **{kind: len(found) for kind, found in sections.items()}}


def is_one(file: Path) -> bool:
    """Whether a file is such a page."""
    with file.open("rb") as content:
        return _MARK in content.read(4096)


def gather(
    folder: Path, *, is_one_of_several: bool, seen: set[Path]
) -> dict[str, list[dict[str, Any]]]:
    """The results in a folder: figures, comparisons, studies and runs, each ordered by path.

    What was in a folder before (`seen`) is left out. One of several folders stands before the
    path.
    """
    sections: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _KINDS}
    for summary in _summaries(folder):
        place = summary.parent
        if place.resolve() in seen:
            continue
        seen.add(place.resolve())
        name = os.path.relpath(place, folder)
        path = str(place) if is_one_of_several else place.name if name == "." else name
        if is_experiment(place):
            about = {"path": path, "file": str(place), "of": load(place)}
            sections["comparisons"].append(about)
            continue
        try:
            document, scenario = documents(place)
        except OSError as error:
            raise ScenarioError(f"{summary} cannot be read: {error.strerror}") from error
        if not isinstance(document.get("figure", ""), str):
            raise ScenarioError(f"{summary} is no result's summary")
        about = {**document, "path": path, "file": str(summary)}
        about["toml"] = scenario
        if "figure" in document:
            drawing = f"{document['figure'].rpartition('/')[2]}.svg"
            about["plot"] = _data_uri(place, drawing) if (place / drawing).is_file() else None
            sections["figures"].append(about)
        elif "variants" in document:
            hint = "run it again: `spillway compare ... --out DIR`"
            raise ScenarioError(f"{place} is a comparison of an older version", hint)
        elif "goals" in document:
            sections["studies"].append(about)
        elif "fct_slowdown" in document:
            sections["runs"].append(about)
    return sections


def page(sections: Mapping[str, list[dict[str, Any]]]) -> bytes:
    """The page, with all texts from results escaped."""
    try:
        return _rendered(sections)
    except Exception:
        # A defect in a summary may show here in any way; `_check` then finds out which one has it.
        for kind, entries in sections.items():
            for entry in entries:
                _check({**{each: [] for each in sections}, kind: [entry]}, entry["file"])
        raise


def _check(sections: Mapping[str, Any], file: str) -> None:
    """Refuses a summary from which no page can be made."""
    try:
        _rendered(sections)
    except Exception as error:
        hint = "it is damaged, or of another version: write it again with this one"
        raise ScenarioError(f"{file} lacks what a page shows: {error}", hint) from error


def _rendered(sections: Mapping[str, Any]) -> bytes:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("spillway.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        summary=lambda entry: html.of(tables.summary(entry)),
        comparison=lambda entry: html.of(tables.experiment(entry["of"])),
        plot=_plot,
        study=lambda entry: html.of(studies.shown(entry)),
        study_plots=_study_plots,
        dates=_dates,
        number=tables.number,
        count=tables.count,
        percent=tables.percent,
        told=claims.told,
        interval=claims.interval,
        spread=claims.spread,
        seeds=seeds_told,
        first_reading=tally.first_reading,
        counted=tally.counted,
        slug=lambda text: text.replace(" ", "-"),
    )
    text = environment.get_template(_TEMPLATE).render(version=_core.__version__, **sections)
    return printable(text).encode()


def _summaries(folder: Path) -> list[Path]:
    """The summaries of all results, except those of single runs of a comparison."""
    found: list[Path] = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted((name for name in folders if not name.endswith(".partial")), key=_order)
        if mark := next((name for name in (EXPERIMENT, SUMMARY) if name in files), None):
            found.append(Path(here) / mark)
            folders.clear()
    return found


def _order(name: str) -> list[tuple[int, str]]:
    """A sort key by which numbers within names are in numerical order.

    >>> sorted(["figure10", "figure6"], key=_order)
    ['figure6', 'figure10']
    """
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdecimal() else 0, part) for part in parts]


def _plot(entry: Mapping[str, Any]) -> str | None:
    """The plot of a comparison, unless it has too many variants for a figure, or no run."""
    shown: Experiment = entry["of"]
    is_drawn = shown.done and len(shown.variants) <= plots.MOST_VARIANTS
    return _uri(plots.svg(shown)) if is_drawn else None


def _study_plots(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The plots of a study that tell the answer; its own page has the others."""
    drawn = study_plots.drawn(entry)
    return [(name, _uri(drawn[name])) for name in ("confirmation", "front") if name in drawn]


def _dates(entry: Mapping[str, Any]) -> str:
    """The day of a result's runs, or the first and last day; empty for older results."""
    if "of" in entry:
        runs = [run for _, each in entry["of"].results for _, run in each.summaries()]
    else:
        runs = [entry]
    days = sorted({run["run"]["began"][:10] for run in runs if "began" in run["run"]})
    if not days:
        return ""
    return f", run on {days[0]}" if len(days) == 1 else f", run from {days[0]} to {days[-1]}"


def _data_uri(folder: Path, name: str) -> str:
    checksums.check(folder, name)
    return _uri((folder / name).read_bytes())


def _uri(content: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(content).decode()
