"""The output of commands, and their exit status."""

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

# Characters that would make a terminal do or show something else: control characters except tab and
# line feed, marks that change the direction of writing, line separators, halves of characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    r"""A text that is safe to print on a terminal, whoever has chosen the names in it.

    >>> clean("\x1b[31mred\x07 \u202e")
    '␛[31mred␇ �'
    """
    return _UNSAFE.sub(lambda match: _picture(match[0]), text)


def _picture(character: str) -> str:
    """The visible replacement of a character that must not be printed."""
    if character < " ":
        return chr(0x2400 + ord(character))
    return "\u2421" if character == "\x7f" else "\ufffd"


def say(text: str) -> None:
    """Prints a line that is not a part of the results."""
    print(clean(text), file=sys.stderr)


def console(file: TextIO) -> Console:
    """A console for tables and bars, which cleans all texts."""
    from rich.console import Console
    from rich.segment import Segment

    class Cleaned(Console):
        # Cleaned in the last step, so that the measured widths are right. The library offers no
        # public method for that.
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
    """Prints a command's result: for people, or as JSON if that is asked for.

    For people `closing` is printed last, as a single line however long it is.
    """
    file = sys.stderr if as_json else sys.stdout
    console(file).print(people)
    if closing:
        print(clean(closing), file=file)
    if as_json:
        text = json.dumps(document, indent=2, ensure_ascii=False)
        print(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
