"""Tables of the slotted model's commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from spillway.show.tables import count, wide_grid


def run(document: Mapping[str, Any]) -> RenderableType:
    """Policies compared with the optimum: over several seeds, the mean and the worst ratio."""
    sequences = document["arrivals"]
    lines = [
        f"{document['source']}: N = {document['ports']}, B = {document['buffer']}, "
        f"{_several(row['packets'] for row in sequences)} packets in "
        f"{_several(row['slots'] for row in sequences)} slots, "
        f"at most {max(row['most_in_a_slot'] for row in sequences)} in one",
        f"the optimum sends {_several(row['optimum'] for row in sequences)}",
    ]
    if len(sequences) > 1:
        lines.append(f"means over {len(sequences)} seeds, with the worst ratio beside theirs")
    worst = ["worst"] if len(sequences) > 1 else []
    table = wide_grid("", numbers=("sent", "OPT / ALG", *worst))
    table.add_column("drops")
    for policy, found in document["policies"].items():
        runs = found["runs"]
        ratios = [_ratio(row["ratio"]) for row in runs]
        cells = [policy, _several(row["transmitted"] for row in runs), _number(_mean(ratios))]
        if len(sequences) > 1:
            cells.append(_number(max(ratios)))
        table.add_row(*cells, _drops(runs))
    parts: list[RenderableType] = [*(Text(line) for line in lines), table]
    for policy, found in document["policies"].items():
        predicted = [row["predictions"] for row in found["runs"] if "predictions" in row]
        if predicted:
            parts.append(Text(f"{policy}'s predictions: {_predictions(predicted)}"))
    return Group(*parts)


def table1(found: Mapping[str, Any]) -> RenderableType:
    """Table 1, with measured ratios."""
    ports, buffer = found["ports"], found["buffer"]
    heads = (f"at N = {ports}", "worst measured", "over", "of the bound")
    table = wide_grid("", "bound", numbers=heads)
    table.columns[4].justify = "left"
    for row in found["rows"]:
        at, worst = (_number(row[key]) if row[key] is not None else "-" for key in ("at", "worst"))
        used = "-" if row["used"] is None else f"{row['used']:.1%}"
        table.add_row(row["algorithm"], row["bound"], at, worst, row["arrivals"], used)
    text = f"N = {ports}, B = {buffer}; {found['sequences']} sequences, at most N packets in a slot"
    return Group(Text(text), table)


def lemma1(found: Mapping[str, Any]) -> RenderableType:
    """How often Credence sends less than it should."""
    heads = ("fail", "packets short", "most", "worst ratio")
    table = wide_grid(f"of {count(found['instances'])}", numbers=heads)
    names = {"lemma1": "Credence < LQD / eta", "perfect": "perfect predictions, Credence < LQD"}
    for key, name in names.items():
        row = found[key]
        table.add_row(
            name,
            count(row["fails"]),
            _number(row["mean_packets"]),
            count(row["most_packets"]),
            _number(row["worst"]),
        )
    theorem2 = found["theorem2"]
    text = (
        f"OPT / Credence above min(1.707 eta, N): {count(found['theorem1_fails'])}\n"
        f"eta above Theorem 2's bound, one drop of {count(theorem2['instances'])} not predicted: "
        f"{count(theorem2['fails'])}, at worst by {theorem2['worst'] - 1:.1%}"
    )
    return Group(table, Text(text))


def _drops(runs: Sequence[Mapping[str, Any]]) -> str:
    causes = sorted({cause for row in runs for cause in row["drops"]})
    means = {cause: _mean([row["drops"].get(cause, 0) for row in runs]) for cause in causes}
    return ", ".join(f"{count(mean)} {cause}" for cause, mean in means.items()) or "none"


def _predictions(rows: Sequence[Mapping[str, Any]]) -> str:
    bounds = [_ratio(row["eta_bound"]) for row in rows]
    names = ("true_positives", "false_positives", "true_negatives", "false_negatives")
    counts = ", ".join(f"{_several(row[name] for row in rows)} {name}" for name in names)
    eta = _mean([_ratio(row["eta"]) for row in rows])
    return f"eta {_number(eta)}, Theorem 2 {_number(_mean(bounds))}; {counts}".replace("_", " ")


def _several(numbers: Iterable[float]) -> str:
    return count(_mean(list(numbers)))


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _ratio(given: float | None) -> float:
    return float("inf") if given is None else given


def _number(value: float) -> str:
    return "infinite" if value == float("inf") else f"{value:.4f}"
