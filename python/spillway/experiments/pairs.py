"""Variants beside a baseline, in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spillway.errors import ScenarioError
from spillway.experiments.statistics import Difference, difference, measured, sure
from spillway.experiments.variants import assigned
from spillway.metrics import Chosen, Metric, choose, found, of_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spillway.experiments.experiment import Experiment


@dataclass(frozen=True)
class Pair:
    """One metric of a variant, beside the baseline's."""

    label: str
    """The variant."""
    against: str
    """Its baseline."""
    metric: str
    is_identical: bool
    """Whether both came to the same with every seed."""
    less_is_better: bool
    found: Difference

    @property
    def told(self) -> str:
        """What can be said: "below", "above", "identical", "none shown" or "too few seeds"."""
        by = self.found
        if self.is_identical:
            return "identical"
        if by.difference is None or by.half is None:
            return "too few seeds"
        if not by.is_sure:
            return "none shown"
        return "below" if by.difference < 0 else "above"

    def row(self) -> dict[str, Any]:
        """It as a document: differences and intervals in the metric's unit, and as fractions."""
        by = self.found
        ends = None
        if by.difference is not None and by.half is not None:
            ends = (by.difference - by.half, by.difference + by.half)
        return {
            "label": self.label,
            "against": self.against,
            "metric": self.metric,
            "n": by.n,
            "baseline": by.baseline,
            "difference": by.difference,
            "interval": ends,
            "relative": by.relative,
            "told": self.told,
        }


@dataclass(frozen=True)
class Pairs:
    """All variants beside their baselines, one `Pair` for each metric."""

    rows: tuple[Pair, ...]
    metrics: tuple[Metric, ...]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def document(self) -> list[dict[str, Any]]:
        """All rows, as JSON has them."""
        return [pair.row() for pair in self.rows]

    def table(self) -> RenderableType:
        """What the command line shows."""
        from spillway import tables

        return tables.Shown(tables.pairs(self))


def paired(experiment: Experiment, against: Sequence[str], metrics: Chosen = ()) -> Pairs:
    """Every other variant beside the one that differs from it only in the keys of `against`.

    What is sure is so with 95% for all pairs and metrics together.
    """
    results = experiment.results
    bases = baselines(experiment, against)
    witnesses = experiment.witnesses()
    names = choose(metrics, witnesses) if metrics else experiment.metrics
    shown = found(names, witnesses) if names else of_table((), witnesses)
    columns = measured(shown, [runs.summaries() for _, runs in results])
    pairs = []
    for place, base in bases.items():
        for metric, column in zip(shown, columns, strict=True):
            own, other = column.values[place], column.values[base]
            common = own.keys() & other.keys()
            pairs.append(
                Pair(
                    experiment.variants[place].label,
                    experiment.variants[base].label,
                    metric.key,
                    bool(common) and all(own[seed] == other[seed] for seed in common),
                    metric.less_is_better,
                    difference(own, other),
                )
            )
    are_sure = sure([pair.found.chance for pair in pairs])
    rows = (
        replace(pair, found=replace(pair.found, is_sure=one))
        for pair, one in zip(pairs, are_sure, strict=True)
    )
    return Pairs(tuple(rows), tuple(shown))


def baselines(experiment: Experiment, against: Sequence[str]) -> dict[int, int]:
    """By the index of every other variant, that of its baseline.

    Raises `ScenarioError` if there is none.
    """
    values = [experiment.values_of(each) for each in range(len(experiment.variants))]
    asked = assigned(against) if against else {}
    keys = list(asked) or list(assigned(experiment.variants[0].assignments))
    unknown = next((key for key in keys if not all(key in each for each in values)), None)
    if unknown is not None or not keys:
        varied = list(values[0]) if values else []
        hint = f"varied are {', '.join(varied)}" if varied else "vary a key: vary=..."
        typed = hint if varied else "vary a key with --vary"
        raise ScenarioError(f"{unknown or 'nothing'} is not varied here", hint, typed=typed)
    first = experiment.values_of(0)
    wanted = {key: asked.get(key, first[key]) for key in keys}

    def rest(each: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple((key, value) for key, value in each.items() if key not in wanted)

    found = {
        rest(each): place
        for place, each in enumerate(values)
        if all(each[key] == value for key, value in wanted.items())
    }
    told = " ".join(f"{key}={value}" for key, value in wanted.items())
    if not found:
        known = dict.fromkeys(" ".join(f"{key}={each[key]}" for key in keys) for each in values)
        hint = f"there are {', '.join(known)}"
        raise ScenarioError(f"no variant has {told}", hint)
    return {
        place: found[rest(each)]
        for place, each in enumerate(values)
        if found.get(rest(each), place) != place
    }
