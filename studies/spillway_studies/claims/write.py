"""What is written of a figure: its folder, and the numbers that the repository keeps for pages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spillway.base import core, parquet
from spillway.base.documents import write_json
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import SCENARIO, SUMMARY, OutputFolder, whole_file
from spillway.show.drawing import svg
from spillway_studies.claims.claim import Verdict
from spillway_studies.claims.figure import Figure
from spillway_studies.claims.finding import examine, tally
from spillway_studies.claims.metric import Metric, caution
from spillway_studies.claims.point import build
from spillway_studies.claims.results import Results

# A figure's folder: data, plots, and findings -----------------------------------------------------


NUMBERS, SAMPLES = "numbers.parquet", "samples.parquet"


def document(results: Results, scale: str) -> dict[str, Any]:
    """Everything except the data, as JSON."""
    figure = results.figure
    claims = _claims(results)
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


def _claims(results: Results) -> list[dict[str, Any]]:
    """The findings; those of a variant say whether their verdict differs from the first one's."""
    first: dict[str, Verdict] = {}
    rows = []
    for claim in results.figure.claims:
        finding = examine(claim, results)
        plain = first.setdefault(claim.says, finding.verdict)
        flips = {"flips": finding.verdict is not plain} if claim.variant else {}
        rows.append({**finding.document, **flips})
    return rows


def write(results: Results, summary: dict[str, Any], folder: Path, force: bool) -> Path:
    """Writes the figure's folder into a folder of results, whole or not at all."""
    figure = results.figure
    with OutputFolder(folder / figure.name, force) as output:
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


# What figures came to, as the repository keeps it ------------------------------------------------
#
# A figure's numbers are in `results` beside its paper's page: its summary as JSON and, for what a
# plot draws beside metrics, or a page tells of single runs, Parquet.


HOME = Path(__file__).parents[1]


class UnpublishedError(SpillwayError):
    """The repository has no numbers of a figure."""


def place(name: str) -> Path:
    """Where a figure's numbers are, without the ending."""
    paper, _, figure = name.partition("/")
    return HOME / paper / "results" / figure


def check_clone() -> None:
    """Refuses to publish where the studies do not lie in a clone, such as from a wheel.

    Raises:
        ScenarioError: they do not.
    """
    if not (HOME.parent / "pyproject.toml").is_file():
        text = f"--publish: the studies in {HOME} are not in a clone of the repository"
        raise ScenarioError(text, "--out DIR keeps results anywhere")


def check(figure: Figure, scale: str, seeds: tuple[int, ...]) -> None:
    """Refuses to publish a figure at another size than its page shows.

    What nothing is published of must have the scale `page`, and its seeds.

    Raises:
        ScenarioError: the scale or the seeds differ.
    """
    try:
        shown = Published(figure).summary
    except UnpublishedError:
        command = f"spillway reproduce {figure.name} --scale page"
        size = figure.scale("page")
        wanted = size and size.seeds
    else:
        command, size, wanted = shown["command"], figure.scale(shown["scale"]), shown["seeds"]
    if (figure.scale(scale), list(seeds)) != (size, list(wanted or ())):
        raise ScenarioError(
            f"--publish: the page of {figure.name} shows another scale or other seeds",
            f"`{command} --publish` has the page's; --force publishes these",
        )


def publish(results: Results, summary: Mapping[str, Any], command: str) -> Path:
    """Keeps a figure's numbers; the same numbers give the same files."""
    import pyarrow as pa

    figure = results.figure
    file = place(figure.name)
    file.parent.mkdir(exist_ok=True)
    tables = {}
    if figure.plot is not None:
        figure.plot(results)
    if results.drawn:
        names = ("place", "scheme", "seed", "name")
        rows = [
            {**dict(zip(names, curve, strict=True)), "values": values}
            for curve, values in results.drawn.items()
        ]
        tables["curves.parquet"] = pa.Table.from_pylist(rows)
    if figure.tells:
        numbers = results.numbers()
        kept_names = [name for name in numbers.column_names if _is_told(name, figure)]
        tables["runs.parquet"] = numbers.select(kept_names)
    for ending, table in tables.items():
        with whole_file(file.with_name(f"{file.name}.{ending}")) as partial:
            parquet.write(table, partial)
    # The summary comes last, when all that it mentions is there.
    with whole_file(file.with_name(f"{file.name}.json")) as partial:
        partial.write_text(_in_lines({**summary, "command": command}), encoding="utf-8")
    for ending in _ENDINGS - tables.keys():
        file.with_name(f"{file.name}.{ending}").unlink(missing_ok=True)
    return file


_ENDINGS = {"printed.json", "png", "curves.parquet", "runs.parquet"}
"""What may lie beside a summary."""


def _in_lines(document: Mapping[str, Any]) -> str:
    """JSON with a line for every entry, so that a change can be read."""

    def shown(value: object) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return (
                "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in value) + "\n]"
            )
        return json.dumps(value, ensure_ascii=False)

    parts = (f"{json.dumps(key)}: {shown(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _is_told(name: str, figure: Figure) -> bool:
    axes = (*figure.points[0].values, "scheme", "seed")
    return name in axes or name.startswith(figure.tells)


@dataclass(frozen=True)
class _Known:
    """A number that is published, and its 95% interval if it has one."""

    value: float | None
    interval: tuple[float, float] | None


class Published(Results):
    """The published numbers of a figure, which its plot takes for results."""

    def __init__(self, figure: Figure) -> None:
        self.file = place(figure.name)
        try:
            text = self.file.with_name(f"{self.file.name}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            hint = f"spillway reproduce {figure.name} --scale page --publish"
            raise UnpublishedError(f"no numbers of {figure.name} are published", hint) from None
        self.summary: dict[str, Any] = json.loads(text)
        super().__init__(figure, tuple(self.summary["seeds"]), {})
        self._metrics = {each["name"]: each["schemes"] for each in self.summary["metrics"]}

    @property
    def picture(self) -> Path | None:
        """The plot that is kept where only what was printed of a figure is known."""
        is_rounded = self.summary.get("is_rounded", False)
        return self.file.with_name(f"{self.file.name}.png") if is_rounded else None

    def measured(self, metric: Metric, place: int, scheme: str, *_: object, **__: object) -> Any:
        """A metric of a point."""
        row = self._metrics[metric.name][scheme][place]
        ends = self.ends(metric, place, scheme) if row["is_interval"] else None
        return _Known(row["value"], ends)

    def ends(self, metric: Metric, place: int, scheme: str) -> tuple[float, float]:
        """The spread of a known metric."""
        low, high = self._metrics[metric.name][scheme][place]["spread"]
        return low, high

    def is_informative(self, place: int) -> bool:
        """Whether schemes could differ at a point."""
        return bool(self.summary["points"][place]["informative"])

    def curve(self, place: int, scheme: str, seed: int, name: str) -> list[float]:
        """A series of a run."""
        return self._curves[place, scheme, seed, name]

    def step_ms(self, place: int, scheme: str, seed: int) -> float:
        """The time between two values of the series of a run, in milliseconds."""
        return self._curves[place, scheme, seed, "series.step_us"][0] / 1000

    def distribution(self, place: int, scheme: str, name: str) -> tuple[list[float], ...]:
        """Slowdowns of a class, and the shares of flows with at most, and at least, as much."""
        names = (name, f"{name} at most", f"{name} at least")
        return tuple(self._curves[place, scheme, 0, each] for each in names)

    @cached_property
    def _curves(self) -> dict[tuple[int, str, int, str], list[float]]:
        table = parquet.read(self.file.with_name(f"{self.file.name}.curves.parquet"))
        return {
            (row["place"], row["scheme"], row["seed"], row["name"]): row["values"]
            for row in table.to_pylist()
        }

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """The numbers of all runs: a row for each, with its point, scheme and seed."""
        table = parquet.read(self.file.with_name(f"{self.file.name}.runs.parquet"))
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
