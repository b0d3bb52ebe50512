"""Counts of claims by verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from spillway_studies.claims.verdict import Verdict

EXPLORATORY = "exploratory"
_FEW = 5


def seeds_in_words(seeds: Sequence[int]) -> str:
    """The seeds of a series; many that follow each other by the first and the last.

    >>> seeds_in_words((1, 2, 7)), seeds_in_words(range(1, 21))
    ('1, 2, 7', '1 to 20')
    """
    if len(seeds) > _FEW and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def first_reading(claims: Iterable[Mapping[str, Any]]) -> str:
    """The first of the readings under which a figure's claims are tested, if there are any."""
    return next((row["variant"] for row in claims if row["variant"]), "")


def tally(claims: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The number of a figure's claims with each verdict, and of exploratory ones.

    A claim counts once, under its first reading. The verdict on an exploratory claim does not
    count.
    """
    claims = list(claims)
    first = first_reading(claims)
    counts = dict.fromkeys([*map(str, Verdict), EXPLORATORY], 0)
    for row in claims:
        if row["variant"] in ("", first) and not row["is_again"]:
            counts[EXPLORATORY if row["exploratory"] else row["verdict"]] += 1
    return counts


def counted(summaries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, int]]]:
    """The counts of each figure with claims, and of all figures that are in papers."""
    total = dict.fromkeys([*map(str, Verdict), EXPLORATORY], 0)
    for summary in summaries:
        if summary["claims"]:
            yield summary["figure"], summary["verdicts"]
        if summary["is_of_paper"]:
            for name, count in summary["verdicts"].items():
                total[name] += count
    yield "figures of papers", total
