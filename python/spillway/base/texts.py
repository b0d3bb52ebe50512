"""Texts that others have chosen, such as names in scenarios, made safe to be shown."""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that would make a terminal do or show something else: control characters except tab
and line feed, marks that change the direction of writing, line separators, halves of characters.
"""


def printable(text: str) -> str:
    r"""A text that is safe on a terminal and on a page, whoever has chosen the names in it.

    >>> printable("\x1b[31mred\x07 \u202e")
    '␛[31mred␇ �'
    """
    return UNSAFE.sub(lambda match: _picture(match[0]), text)


def escaped(text: str) -> str:
    r"""The same within a string of JSON or TOML.

    >>> escaped('"\u202e"')
    '"\\u202e"'
    """
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _picture(character: str) -> str:
    """The visible replacement of a character that must not be printed."""
    if character < " ":
        return chr(0x2400 + ord(character))
    return "\u2421" if character == "\x7f" else "\ufffd"
