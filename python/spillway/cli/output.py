"""What commands print, and with what status they end."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

FAILED, WRONG, INTERRUPTED, CUT_OFF = 1, 2, 130, 141

# Controls but for the tab and the line feed, marks that turn the direction of writing, separators
# of lines, halves of characters: what would have a terminal do, or show, something else.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    r"""A text as it may reach a terminal, whoever has chosen the names in it.

    >>> clean("\x1b[31mred\x07 \u202e")
    '␛[31mred␇ �'
    """
    return _UNSAFE.sub(lambda match: _picture(match[0]), text)


def _picture(character: str) -> str:
    """What stands for a character that is not shown."""
    if character < " ":
        return chr(0x2400 + ord(character))
    return "\u2421" if character == "\x7f" else "\ufffd"


def say(text: str) -> None:
    """Prints a line beside the results."""
    print(clean(text), file=sys.stderr)


def console(file: TextIO) -> Console:
    """Where tables and bars are printed, their texts cleaned."""
    from rich.console import Console
    from rich.segment import Segment

    class Cleaned(Console):
        # The last step, so that what is measured before fits: the library has no public one.
        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            plain = (
                part if part.control else Segment(clean(part.text), part.style) for part in buffer
            )
            return super()._render_buffer(plain)

    made = Cleaned(file=file, highlight=False, markup=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 140
    return made


def display(
    document: Mapping[str, Any], people: RenderableType, as_json: bool, closing: str = ""
) -> None:
    """Prints what a command has found out: to people, and as JSON where that is asked for.

    People are told `closing` in the last line, which is one however long it is.
    """
    file = sys.stderr if as_json else sys.stdout
    console(file).print(people)
    if closing:
        print(clean(closing), file=file)
    if as_json:
        text = json.dumps(document, indent=2, ensure_ascii=False)
        print(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
