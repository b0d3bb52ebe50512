"""The output of commands, and their exit status."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.text import Text

from spillway.base.texts import escaped, printable

FAILED, WRONG, INTERRUPTED, CUT_OFF = 1, 2, 130, 141


def say(text: str) -> None:
    """Prints a line that is not a part of the results."""
    print(printable(text), file=sys.stderr)


@contextmanager
def interruptible() -> Iterator[None]:
    """A context in which Ctrl-C ends the command, with the exit status of an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def console(file: TextIO) -> Console:
    """A console for tables and bars, which cleans all texts."""

    class Cleaned(Console):
        # Cleaned in the last step, so that the measured widths are right. The library offers no
        # public method for that.
        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            plain = (
                part if part.control else Segment(printable(part.text), part.style)
                for part in buffer
            )
            return super()._render_buffer(plain)

    made = Cleaned(file=file, highlight=False, markup=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 140
    return made


def display(
    document: Mapping[str, Any],
    people: RenderableType,
    as_json: bool,
    closing: str = "",
    written: Iterable[Path | None] = (),
) -> None:
    """Prints a command's result: for people, or as JSON if that is asked for.

    For people `closing` is printed last, as a single line however long it is. At the end it is said
    to which files or folders the result was written.
    """
    file = sys.stderr if as_json else sys.stdout
    # A text alone is not broken into lines: it may be a document.
    console(file).print(people, soft_wrap=isinstance(people, Text))
    if closing:
        print(printable(closing), file=file)
    if as_json:
        # Part by part: a document of many runs need not be in memory as a whole.
        parts = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(document)
        while text := "".join(itertools.islice(parts, 10_000)):
            sys.stdout.write(escaped(text))
        print()
    for place in written:
        if place is not None:
            console(sys.stderr).print(f"written to {place}", style="dim")
