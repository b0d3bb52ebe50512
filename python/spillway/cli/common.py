"""What commands that run scenarios have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from spillway.base import parquet
from spillway.base.arguments import check_once, seeds_of
from spillway.base.errors import ScenarioError
from spillway.base.result_schema import ALWAYS
from spillway.cli.output import FAILED, INTERRUPTED, say
from spillway.plugins import load
from spillway.result.result import Result
from spillway.scenario.scenario import Scenario

Number = TypeVar("Number", int, float)


def scenario_of(
    source: str, assignments: Iterable[str] | None, plugins: Iterable[str] | None
) -> Scenario:
    """The scenario that a command's arguments name."""
    return Scenario.load(source).plug(*map(load, plugins or ())).set(*(assignments or ()))


def seeds_of_options(seed: int | None, seeds: str | None) -> list[int] | None:
    """The seeds of `--seed` or `--seeds`, of which there may be one."""
    if seed is not None and seeds is not None:
        raise ScenarioError("--seed and --seeds are both there", "choose one of them")
    if seeds is not None:
        return seeds_of(seeds)
    return None if seed is None else [seed]


def numbers_of(
    option: str,
    text: str,
    read: Callable[[str], Number],
    is_one: Callable[[Number], bool],
    what: str,
    example: str,
    hint: str,
) -> list[Number]:
    """The numbers of an option that takes a list of them, each once.

    Args:
        option: The option.
        text: What it is given.
        read: Reads a number, or raises ValueError.
        is_one: Whether a number is within its range.
        what: What it takes a list of, in words.
        example: What might be given.
        hint: Why a number is given once.
    """
    try:
        found = [read(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(map(is_one, found)):
        raise ScenarioError(
            f"{option} {text!r} is not a list of {what}", f"for one: {option} {example}"
        )
    check_once(found, f"{option}: the number", hint)
    return found


def exit_for(status: str) -> None:
    """Ends the program with the exit status of a run that was interrupted or deadlocked."""
    if status == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if status == "deadlock":
        say(
            "deadlock: ports pause each other for ever; `pauses.deadlock` in the summary names them"
        )
        raise typer.Exit(FAILED)


def note_empty(results: Iterable[Result]) -> None:
    """Says which tables that were asked for are empty."""
    empty: dict[str, list[Path]] = {}
    for result in results:
        if result.folder is None:
            continue
        for name in result.names():
            file = result.folder / f"{name}.parquet"
            if name not in ALWAYS and not parquet.rows(file):
                empty.setdefault(name, []).append(file)
    for name, files in empty.items():
        more = f", nor have those of {len(files) - 1} more" if len(files) > 1 else ""
        say(f"note: nothing to record for {name}: {files[0]} has no rows{more}")


def recorded(scenario: Scenario) -> list[str]:
    """The tables that a run records because it is asked to."""
    return sorted(set(scenario.checked().tables).difference(ALWAYS))


def check_sbatch(options: Sequence[str] | None, engine: str) -> None:
    """Refuses options of sbatch for another engine."""
    if options and engine != "slurm":
        raise ScenarioError("--sbatch is for Slurm", "add --on slurm, or leave it out")
