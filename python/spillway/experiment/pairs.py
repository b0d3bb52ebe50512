"""Variants beside a baseline, in pairs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import check_once
from spillway.base.errors import ScenarioError
from spillway.experiment.keys import meaning
from spillway.experiment.manifest import Asked, document
from spillway.experiment.statistics import Measured, Pair, difference, sure
from spillway.result.metrics import Metric
from spillway.scenario.variants import assigned, at

if TYPE_CHECKING:
    from spillway.show.notebook import Shown


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

    def table(self) -> Shown:
        """What the command line shows."""
        from spillway.experiment import tables
        from spillway.show.notebook import Shown

        return Shown(tables.pairs(self.rows, self.metrics))


def paired(
    asked: Asked, against: Sequence[str], columns: Sequence[Measured], identical: Sequence[bool]
) -> Pairs:
    """Every other variant beside the one that differs from it only in the keys of `against`.

    Differences count as sure at 95% for all pairs and metrics together. `identical` tells which
    variants have the same results with all seeds.
    """
    bases, labels = baselines(asked, against), asked.labels()
    pairs = []
    for place, base in bases.items():
        for column in columns:
            own, other = column.values[place], column.values[base]
            common = own.keys() & other.keys()
            pairs.append(
                Pair(
                    place,
                    labels[place],
                    labels[base],
                    column.metric.key,
                    bool(common) and all(own[seed] == other[seed] for seed in common),
                    column.metric.less_is_better,
                    difference(own, other, identical[place] and identical[base]),
                )
            )
    are_sure = sure([pair.found.chance for pair in pairs])
    rows = (
        replace(pair, found=replace(pair.found, is_sure=one))
        for pair, one in zip(pairs, are_sure, strict=True)
    )
    return Pairs(tuple(rows), tuple(column.metric for column in columns))


def baselines(asked: Asked, against: Sequence[str]) -> dict[int, int]:
    """The index of each variant's baseline, by the variant's index; baselines have none.

    Raises `ScenarioError` if there is none, or several.
    """
    entries, varied, labels = asked.entries, asked.varied(), asked.labels()
    given = assigned(against)
    check_once([text.partition("=")[0] for text in against], "against: the key", "it has one value")
    first = assigned(entries[0].assignments)
    wanted = given or first
    unknown = next((key for key in wanted if key not in varied), None)
    if unknown is not None or not wanted:
        hint = f"varied are {', '.join(varied)}" if varied else "vary a key: vary=..."
        typed = hint if varied else "vary a key with --vary"
        raise ScenarioError(f"{unknown or 'nothing'} is not varied here", hint, typed=typed)
    documents = [document(each.text) for each in entries]
    exact = [_has(assigned(each.assignments), wanted) for each in entries]
    like = [all(_is(text, at(values, key)) for key, text in wanted.items()) for values in documents]
    bases = [place for place in range(len(entries)) if (exact if any(exact) else like)[place]]
    told = " ".join(f"{key}={value}" for key, value in wanted.items())
    if not bases:
        raise ScenarioError(f"no variant has {told}", f"there are {', '.join(_named(labels))}")
    beside = [key for key in varied if not any(_is_within(key, each) for each in wanted)]
    found: dict[int, int] = {}
    for place, values in enumerate(documents):
        if place in bases:
            continue
        same = [
            base
            for base in bases
            if all(meaning(at(values, key)) == meaning(at(documents[base], key)) for key in beside)
            and entries[base].fixed_seed == entries[place].fixed_seed
        ]
        # Of several, the one with the fewest assignments.
        fewest = min((len(entries[base].assignments) for base in same), default=0)
        plain = [base for base in same if len(entries[base].assignments) == fewest]
        if len(plain) > 1:
            names = ", ".join(labels[base] for base in plain)
            raise ScenarioError(
                f"several variants have {told}: {names}",
                "name more of its keys: against={...}",
                typed="name more of its keys: --against is repeatable",
            )
        if plain:
            found[place] = plain[0]
    if not found:
        raise ScenarioError(
            f"nothing can be compared with {told}", "no variant is otherwise the same"
        )
    return found


def _named(labels: Sequence[str]) -> list[str]:
    return [*labels[:_MOST_NAMED], *(["..."] if len(labels) > _MOST_NAMED else [])]


_MOST_NAMED = 6


def _has(own: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(own.get(key) == value for key, value in wanted.items())


def _is_within(key: str, above: str) -> bool:
    return key == above or key.startswith(f"{above}.")


def _is(text: str, value: Any) -> bool:
    """Whether a value is what an assignment says; of a policy the kind, or some of its keys."""
    if not text:
        return value is None
    try:
        given = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        given = text
    if not isinstance(value, Mapping):
        return bool(meaning(value) == meaning(given))
    parts = given if isinstance(given, Mapping) else {"kind": given}
    return all(meaning(value.get(key)) == meaning(part) for key, part in parts.items())
