"""A validation: the runs that it needs, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from rich.console import Group, RenderableType

from spillway.base.threads import all_of
from spillway.tasks.run import Report
from spillway_studies.references.numbers import RULE, Json, Judged, Verdict

Item = TypeVar("Item")
Done = TypeVar("Done")


Outcomes: TypeAlias = tuple[Done, list[Done], dict[str, Done]]
"""Results of runs: ours, those with other draws, and those with one change, by the change."""


def run_each(
    work: Callable[[Item, Report], Done],
    given: Item,
    drawn: Sequence[Item],
    changes: Mapping[str, Item],
    jobs: int,
) -> Outcomes[Done]:
    """Runs everything, on several threads: as the reference has it, drawn anew, and changed."""
    ours, *others = all_of(work, [given, *drawn, *changes.values()], jobs)
    changed = dict(zip(changes, others[len(drawn) :], strict=True))
    return ours, others[: len(drawn)], changed


@dataclass(frozen=True)
class Validation:
    """The outcome of a comparison with a reference."""

    document: Json
    """Everything, as JSON."""
    table: Group
    """Everything, for people."""
    sentence: str
    """How many numbers agree, which do not, and the bounds in words."""
    is_kept: bool
    """Whether some number was compared, none differs, and every run could be read."""


def validation(
    content: Json,
    tables: Iterable[RenderableType],
    judged: Iterable[Judged],
    rule: str = RULE,
    undecided_are: str = "undecided, inside the 95% interval",
    wrong_runs: Sequence[str] | None = None,
) -> Validation:
    """The outcome of comparisons.

    Args:
        content: everything but the bounds, as JSON.
        tables: the same for people.
        judged: the compared numbers. Numbers that are only shown do not count.
        rule: the bounds in words.
        undecided_are: what to call numbers that are beyond the bound and yet do not differ.
        wrong_runs: runs that are left out for a wrong file, if a reference has several runs.
    """
    counted = [each for each in judged if each[2] is not Verdict.told]

    def named(*verdicts: Verdict) -> list[str]:
        return [
            f"{name} {difference if isinstance(difference, str) else f'{difference:+.1%}'}"
            for name, difference, verdict in counted
            if verdict in verdicts
        ]

    undecided, broken = named(Verdict.undecided, Verdict.in_range), named(Verdict.outside)
    bounds = {"compared": len(counted), "undecided": undecided, "broken": broken}
    words = [f"{len(counted) - len(undecided) - len(broken)} agree"]
    for what, names in ((undecided_are, undecided), ("differ", broken)):
        words += [f"{len(names)} {what} ({'; '.join(names)})"] if names else []
    sentence = f"of {len(counted)} numbers {', '.join(words)}; {rule}"
    if not counted:
        sentence = "nothing could be compared"
    if wrong_runs is not None:
        bounds["wrong_runs"] = wrong_runs
    if wrong_runs:
        runs = "1 run is" if len(wrong_runs) == 1 else f"{len(wrong_runs)} runs are"
        sentence += f"; {runs} left out for a wrong file ({', '.join(wrong_runs)})"
    is_kept = bool(counted) and not broken and not wrong_runs
    return Validation({**content, "bounds": bounds}, Group(*tables), sentence, is_kept)
