"""Pages with their blocks, which the catalogue and the program fill."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from generator.blocks import GENERATED
from generator.catalogue import ROOT
from generator.keys import SECTIONS
from generator.markdown import code, table

PATTERNS = ("*.md", "docs/**/*.md", "bench/*/*.md", "studies/**/*.md")


def committed() -> dict[Path, str]:
    """All pages of the repository."""
    files = sorted(file for pattern in PATTERNS for file in ROOT.glob(pattern))
    return {file: file.read_text(encoding="utf-8") for file in files}


BLOCK = re.compile(r"(<!-- (generated|keys): ([\w.-]+) -->).*?\n(<!-- end -->)", re.DOTALL)
ROW = re.compile(r"\| `(?P<name>[\w]+)` \| .*? \| (?P<default>.*?) \| (?P<meaning>.*) \|")
INDEX = ("generated", "keys")
"""The block that `index.py` fills, when all others are there."""


def kept_table(page: Path, section: str, block: str, problems: list[str]) -> str:
    """A table of keys, with the meanings that were there."""
    old = {match["name"]: match for match in ROW.finditer(block)}
    rows = []
    for name, (taken, default) in SECTIONS[section].keys().items():
        row = old.get(name)
        meaning = row["meaning"].strip() if row else ""
        if not meaning:
            place = page.relative_to(ROOT)
            problems.append(f"{place}: {section} has a key {name}: write what it means")
        in_words = row is not None and not re.match(r"`|required$|none$|$", row["default"])
        rows.append([code(name), taken, row["default"] if row and in_words else default, meaning])
    return table(["key", "takes", "default", "meaning"], rows)


def filled(page: Path, text: str, problems: list[str]) -> str:
    """A page with its blocks written anew, except the index of keys."""

    def block(match: re.Match[str]) -> str:
        opening, how, name, closing = match.groups()
        if how == "keys" and name in SECTIONS:
            body = kept_table(page, name, match[0], problems)
        elif how == "generated" and name in GENERATED:
            body = GENERATED[name](page)
        else:
            return match[0]
        return f"{opening}\n\n{body}\n\n{closing}"

    return BLOCK.sub(block, text)


def missing_blocks(pages: Mapping[Path, str]) -> Iterable[str]:
    """What is wrong with the number of blocks: each stands on one page, and is known."""
    there = Counter(match.group(2, 3) for text in pages.values() for match in BLOCK.finditer(text))
    wanted = {("generated", name) for name in GENERATED} | {("keys", name) for name in SECTIONS}
    for how, name in sorted({*wanted, INDEX, *there}):
        if (how, name) not in {*wanted, INDEX}:
            yield f"nothing fills the block <!-- {how}: {name} -->"
        elif there[how, name] != 1:
            yield f"pages have {there[how, name]} blocks <!-- {how}: {name} -->, not one"
