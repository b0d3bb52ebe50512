"""Bounds and models as tables for people. What comes from synthetic jobs is called so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.learning.bounds.model import Model
from spillway.learning.bounds.training import FAR_BYTES, SMALL_BYTES, Errors, Scores, Training
from spillway.show.tables import Row, open_grid, properties

_SYNTHETIC = "All numbers are synthetic: these jobs are made up, not measured."
_OF_SYNTHETIC = "The model is of synthetic jobs: what it was trained on is made up, not measured."


_METHODS = {
    "least": "the least size in any leaf that a flow reaches",
    "mean": "the mean over the trees of the least size in each leaf",
    "quantile": "a quantile of all sizes in the leaves",
    "point": "the predicted size at face value",
}


def generated(told: Mapping[str, Any]) -> RenderableType:
    """What was made."""
    return Text(
        f"{told['jobs']:,} synthetic jobs of kind {told['kind']}: {told['flows']:,} flows, "
        f"{told['bytes']:,} bytes, between {told['hosts']:,} hosts"
    )


def trained(found: Mapping[int, Training]) -> RenderableType:
    """A row for every depth and way of bounding, and the errors of the predicted sizes."""
    first = next(iter(found.values()))
    flows, training = first.flows, first.models["least"].training
    calibration = f", calibrated on {flows['calibration']:,}" if flows["calibration"] else ""
    head = (
        f"{training['kind']}: trained on {flows['training']:,} flows{calibration}, tested on "
        f"{flows['test']:,}\n"
    )
    table, errors = _scores("depth", "bound"), _errors("depth")
    for depth, training_ in found.items():
        for method, scores in training_.scores.items():
            table.add_row(str(depth), method, *_cells(scores, training_.models[method].factor))
        errors.add_row(str(depth), *_error_cells(training_.errors))
    return _group(Text(head), table, Text(""), errors, is_synthetic=bool(training["synthetic"]))


def evaluated(
    model: Model, scores: Scores, errors: Errors, is_synthetic: bool, kinds: Sequence[str]
) -> RenderableType:
    """How good a model's bounds are, and its predicted sizes.

    `is_synthetic` is said of the jobs, and `kinds` are theirs, without the one on which the model
    was trained.
    """
    table, beside = _scores("bound"), _errors()
    table.add_row(model.method, *_cells(scores, model.factor))
    beside.add_row(*_error_cells(errors))
    notes = [_OF_SYNTHETIC] if model.training.get("synthetic") else []
    if kinds:
        trained, others = model.training["kind"], " and ".join(kinds)
        notes.append(
            f"The model was trained on jobs of kind {trained}; there are jobs of {others}."
        )
    return _group(table, Text(""), beside, is_synthetic=is_synthetic, more=notes)


def _group(*parts: RenderableType, is_synthetic: bool, more: Iterable[str] = ()) -> RenderableType:
    notes = [
        "closeness: the mean of bound / size over bounded flows, and over the small ones of at "
        f"most {SMALL_BYTES // 1000} KB"
    ]
    if is_synthetic:
        notes.append(_SYNTHETIC)
    notes += more
    return Group(*parts, Text(""), *(Text(note, "dim") for note in notes))


def _scores(*first: str) -> Table:
    return open_grid(
        *first, numbers=("factor", "flows", "bounded", "out-bound", "closeness", "of small")
    )


def _cells(scores: Scores, factor: float) -> list[str]:
    return [
        f"{factor:.4g}",
        f"{scores.flows:,}",
        _percent(scores.bounded, scores.flows),
        _percent(scores.out_bound, scores.flows),
        _number(scores.closeness),
        _number(scores.closeness_small),
    ]


def _errors(*first: str) -> Table:
    far = f"predicted sizes off by > {FAR_BYTES // 1000} KB"
    return open_grid(*first, numbers=(far, "too high", "median error"))


def _error_cells(errors: Errors) -> list[str]:
    return [
        _percent(errors.far_off, errors.flows),
        _percent(errors.too_high, errors.flows),
        "-" if errors.median is None else f"{errors.median:.2%}",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.4%}" if whole else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def model(chosen: Model) -> Table:
    """The properties of a model."""
    bound = _METHODS[chosen.method]
    quantile = "" if chosen.quantile is None else f", {chosen.quantile:g}"
    rate = chosen.miss_rate
    told = "not calibrated" if rate is None else f"calibrated for a miss rate of {rate:g}"
    rows: list[Row] = [
        ("forest", f"{chosen.trees} trees, depth {chosen.depth}"),
        ("bound", f"{chosen.method}{quantile}: {bound}"),
        ("factor", f"{chosen.factor:.6g}, {told}"),
        ("window", f"{chosen.window} flows"),
        ("looks at", ", ".join(chosen.columns)),
    ]
    training = chosen.training
    if training:
        adjective = "synthetic jobs" if training["synthetic"] else "jobs"
        flows = f"{training['flows']:,} of the flows of {training['jobs']:,}"
        versions = ", ".join(f"{name} {number}" for name, number in training["versions"].items())
        rows += [
            ("trained on", f"{flows} {adjective} of kind {training['kind']}"),
            ("split", f"{training['split']}, seed {training['seed']}"),
            ("versions", versions),
        ]
    return properties(rows)
