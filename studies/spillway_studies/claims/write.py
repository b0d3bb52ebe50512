"""Writing a figure's folder: data, plots, and findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spillway.base import core, parquet
from spillway.base.documents import write_json
from spillway.base.folder import SCENARIO, SUMMARY, OutputFolder
from spillway.show.drawing import svg
from spillway_studies.claims.claim import Verdict
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.finding import Finding, examine, tally
from spillway_studies.claims.metric import Metric, caution
from spillway_studies.claims.point import build
from spillway_studies.claims.results import Results

NUMBERS, SAMPLES = "numbers.parquet", "samples.parquet"


def place(folder: Path, figure: Figure) -> Path:
    """The folder of a figure within a folder of results."""
    return folder / figure.name


def findings(results: Results) -> list[Finding]:
    """The findings on the figure's claims."""
    return [examine(claim, results) for claim in results.figure.claims]


def document(results: Results, found: list[Finding], scale: str) -> dict[str, Any]:
    """Everything except the data, as JSON."""
    figure = results.figure
    claims = _claims(found)
    return {
        "figure": figure.name,
        "is_of_paper": figure.is_of_paper,
        "title": figure.title,
        "source": figure.source,
        "about": figure.about,
        "version": core.__version__,
        "build": build(),
        "scale": scale,
        "seeds": list(results.seeds),
        "cpu_s": round(results.cpu_s, 1),
        "caution": caution(len(results.seeds)),
        "scale_sets": list(size.assignments) if (size := figure.scale(scale)) else [],
        "schemes": {scheme.name: list(scheme.assignments) for scheme in figure.schemes},
        "points": [
            {
                "label": point.label,
                "values": dict(point.values),
                "set": list(point.assignments),
                "set_for": {name: list(sets) for name, sets in point.of_scheme.items()},
                "informative": results.is_informative(number),
            }
            for number, point in enumerate(figure.points)
        ],
        "metrics": [_values(metric, results) for metric in figure.metrics],
        "claims": claims,
        "verdicts": tally(claims),
    }


def _values(metric: Metric, results: Results) -> dict[str, Any]:
    """A metric of every scheme, point by point, with its spread."""
    schemes = {}
    for scheme in results.figure.schemes:
        rows = []
        for place in range(len(results.figure.points)):
            found = results.measured(metric, place, scheme.name)
            ends = None if found.value is None else results.ends(metric, place, scheme.name)
            is_interval = found.interval is not None
            rows.append({"value": found.value, "spread": ends, "is_interval": is_interval})
        schemes[scheme.name] = rows
    return {"name": metric.name, "unit": metric.unit, "schemes": schemes}


def _claims(found: list[Finding]) -> list[dict[str, Any]]:
    """The findings; those of a variant say whether their verdict differs from the first one's."""
    first: dict[str, Verdict] = {}
    rows = []
    for finding in found:
        plain = first.setdefault(finding.claim.says, finding.verdict)
        flips = {"flips": finding.verdict is not plain} if finding.claim.variant else {}
        rows.append({**finding.document, **flips})
    return rows


def write(results: Results, summary: dict[str, Any], folder: Path, force: bool) -> Path:
    """Writes the figure's folder, completely or not at all, and returns its path."""
    figure = results.figure
    with OutputFolder(place(folder, figure), force) as output:
        parquet.write(results.numbers(), output.partial / NUMBERS)
        samples = results.samples()
        if samples is not None:
            parquet.write(samples, output.partial / SAMPLES)
        if figure.plot is not None:
            drawing = figure.plot(results)
            name = output.partial / figure.short_name
            # Names may contain dots.
            name.with_name(f"{name.name}.svg").write_bytes(svg(drawing))
            drawing.savefig(name.with_name(f"{name.name}.png"), dpi=200)
        first = results.at(0, figure.schemes[0].name)[results.seeds[0]]
        if first.scenario:
            (output.partial / SCENARIO).write_text(first.scenario, encoding="utf-8")
        write_json(output.partial / SUMMARY, summary)
    return output.place
