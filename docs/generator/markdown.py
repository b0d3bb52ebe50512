"""Markdown: tables, keys in them, and links."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from generator.catalogue import ROOT, Json


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose cells may hold bars."""
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def code(text: str) -> str:
    """In code font, unless it is empty."""
    return f"`{text}`" if text else ""


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def takes(text: str) -> str:
    """What a key takes, its great numbers as powers."""
    return re.sub(r"9223372036854775807|4294967295", lambda n: POWERS[n[0]], text)


POWERS = {"9223372036854775807": "2^63 - 1", "4294967295": "2^32 - 1"}


def default_of(key: Json) -> str:
    """A key's default as tables show it."""
    written = str(key["default"])
    if written in ("", "none"):
        return "none" if written else "required"
    return code(written)


def key_table(keys: Iterable[Json]) -> str:
    """A table of keys as the catalogue has them."""
    rows = [
        [code(key["name"]), takes(key["takes"]), default_of(key), sentence(key["meaning"])]
        for key in keys
    ]
    return table(["key", "takes", "default", "meaning"], rows) if rows else "No parameters."


def linked(text: str, page: Path) -> str:
    """Text in which the repository's pages and tests are links, seen from a page."""

    def seen_from_page(file: Path) -> str:
        return Path(os.path.relpath(file, page.parent)).as_posix()

    def to_page(match: re.Match[str]) -> str:
        return f"[{Path(match[0]).name}]({seen_from_page(ROOT / match[0])})"

    text = re.sub(r"(?<!\]\()(?<![\w/\[])(?:docs|studies)/[\w/-]+\.md", to_page, text)
    for crate in ("spillway-net", "spillway-switch"):
        for test in (ROOT / "crates" / crate / "tests").glob("*.rs"):
            name = f"`tests/{test.name}`"
            text = text.replace(name, f"[{name}]({seen_from_page(test)})")
    return text
