"""A figure on a page of results."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from spillway.base import checksums
from spillway.base.errors import ScenarioError
from spillway.base.folder import SUMMARY
from spillway.show.drawing import data_uri
from spillway.show.pages import Filters, part
from spillway.show.report import Document, Section
from spillway_studies.claims import finding, tables

_ROOM = "spillway_studies.claims"


def _about(place: Path, document: Document) -> Document:
    if not isinstance(document["figure"], str):
        raise ScenarioError(f"{place / SUMMARY} is no result's summary")
    name = f"{document['figure'].rpartition('/')[2]}.svg"
    plot = None
    if (place / name).is_file():
        checksums.check(place, name)
        plot = data_uri((place / name).read_bytes())
    return {**document, "plot": plot}


def _article(entry: Document) -> Markup:
    filters: Filters = {
        "told": tables.told,
        "interval": tables.interval,
        "spread": tables.spread,
        "first_reading": finding.first_reading,
    }
    return part(_ROOM, "figure.html", filters, entry=entry)


def _verdicts(entries: Sequence[Document]) -> Markup:
    return part(_ROOM, "verdicts.html", {"counted": finding.counted}, figures=entries)


SECTION = Section(
    "figures",
    "figure",
    1,
    lambda document: "figure" in document,
    _article,
    _about,
    title=lambda entry: f"{entry['figure']}: {entry['title']}",
    above=_verdicts,
)
