"""An experiment on a page of results."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from spillway.base.arguments import seeds_told
from spillway.base.errors import ScenarioError
from spillway.experiment import plots
from spillway.experiment.asking import load
from spillway.experiment.experiment import Experiment
from spillway.experiment.manifest import FILE
from spillway.result.page import dates
from spillway.show import html
from spillway.show.drawing import data_uri
from spillway.show.pages import part
from spillway.show.report import Document, Section


def _about(place: Path, document: Document) -> Document:
    if document:
        raise ScenarioError(
            f"{place} is a comparison of an older version",
            "run it again: `spillway compare ... --out DIR`",
        )
    return {"of": load(place)}


def _article(entry: Document) -> Markup:
    shown: Experiment = entry["of"]
    # Too many variants are in no figure, and without a run there is nothing to draw.
    is_drawn = shown.done and len(shown.variants) <= plots.MOST_VARIANTS
    return part(
        "spillway.experiment",
        "comparison.html",
        {"seeds": seeds_told},
        entry=entry,
        shown=html.of(shown.table().of),
        drawing=data_uri(plots.svg(shown)) if is_drawn else None,
        dates=dates(run for _, each in shown.results for _, run in each.summaries()),
    )


def _is_older(document: Document) -> bool:
    """Whether a summary is that of a comparison; those of today have none."""
    return "variants" in document


SECTION = Section("comparisons", "comparison", 2, _is_older, _article, _about, mark=FILE)
