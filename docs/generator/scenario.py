"""docs/scenario.md with all its blocks."""

from __future__ import annotations

import re

from generator.blocks import GENERATED
from generator.keys import SECTIONS
from generator.markdown import code, table

ROW = re.compile(r"\| `(?P<name>\w+)` \| .*? \| (?P<default>.*?) \| (?P<meaning>.*) \|")


def kept_table(section: str, block: str, missing: list[str]) -> str:
    """A table of keys, with the meanings that were there."""
    old = {match["name"]: match for match in ROW.finditer(block)}
    rows = []
    for name, (taken, default) in SECTIONS[section].keys().items():
        row = old.get(name)
        meaning = row["meaning"].strip() if row else ""
        if not meaning:
            missing.append(f"docs/scenario.md: {section} has a key {name}: write what it means")
        in_words = row is not None and not re.match(r"`|required$|none$|$", row["default"])
        rows.append([code(name), taken, row["default"] if row and in_words else default, meaning])
    return table(["key", "takes", "default", "meaning"], rows)


BLOCK = re.compile(r"(<!-- (generated|keys): ([\w.]+) -->).*?\n(<!-- end -->)", re.DOTALL)


def scenario_page(text: str, problems: list[str]) -> str:
    """The reference with all blocks written anew."""

    def block(match: re.Match[str]) -> str:
        opening, how, name, closing = match.groups()
        body = GENERATED[name]() if how == "generated" else kept_table(name, match[0], problems)
        return f"{opening}\n\n{body}\n\n{closing}"

    there = {(match[2], match[3]) for match in BLOCK.finditer(text)}
    wanted = {("generated", name) for name in GENERATED} | {("keys", name) for name in SECTIONS}
    for how, name in sorted(wanted - there):
        problems.append(f"docs/scenario.md: there is no block <!-- {how}: {name} -->")
    return BLOCK.sub(block, text)
