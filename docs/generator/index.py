"""The index of all keys of a scenario."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from generator.algorithms import keys_of
from generator.catalogue import ALGORITHMS, CATALOGUE, ROOMS, SCENARIO, page_name
from generator.links import FENCE, slug
from generator.markdown import code, default_of, table, takes
from generator.pages import BLOCK, ROW

PAGE = SCENARIO / "keys.md"
PATHS = {
    "run": "",
    "topology.switch": "topology.switch.NAME.",
    "topology.host": "topology.host.NAME.",
    "topology.link": "topology.link.N.",
    "traffic": "traffic.NAME.",
    "bound": "traffic.NAME.bound.",
    "event": "event.N.",
    "transport.keys": "transport.",
}
"""What stands before a block's keys, where it is not the block's name."""
HEADING = re.compile(r"^#+ (.*)", re.MULTILINE)
CELLS = re.compile(r"\| `\w+` \| (.*?) \| ")


class Row(NamedTuple):
    """A key as a page has it."""

    path: str
    takes: str
    default: str
    link: str


def of_pages(pages: Mapping[Path, str]) -> Iterator[Row]:
    """The keys in the blocks of the scenario's pages."""
    for page in sorted(SCENARIO.glob("*.md")):
        text = pages[page]
        headings = FENCE.sub(lambda fence: " " * len(fence[0]), text)
        for block in BLOCK.finditer(text):
            room, _, kind = block[3].partition(".")
            is_kind = block[2] == "generated" and kind in {e["id"] for e in CATALOGUE.get(room, ())}
            before = PATHS.get(block[3], PATHS.get(room, f"{room}.") if is_kind else f"{block[3]}.")
            for row in ROW.finditer(text, *block.span()):
                taken = CELLS.match(row[0])
                heading = HEADING.findall(headings, 0, row.start())[-1]
                link = f"[{kind if is_kind else page.stem}]({page.name}#{slug(heading)})"
                if taken and "| meaning |" in block[0]:
                    yield Row(f"{before}{row['name']}", taken[1], row["default"], link)


def of_algorithms() -> Iterator[Row]:
    """The keys on the algorithms' pages, and the key that chooses a transport."""
    kinds = [entry["id"] for entry in CATALOGUE["transport"]]
    link = "[transport](transport.md#transport)"
    yield Row("transport.kind", f"one of {', '.join(kinds)}", code(f'"{kinds[0]}"'), link)
    for room, (_, path, _) in ROOMS.items():
        before = "transport." if room == "transport" else f"{path}."
        for entry in CATALOGUE[room]:
            page = Path(os.path.relpath(ALGORITHMS / page_name(room, entry["id"]), SCENARIO))
            link = f"[{entry['id']}]({page.as_posix()}#parameters)"
            for key in keys_of(room, entry):
                yield Row(before + key["name"], takes(key["takes"]), default_of(key), link)


def with_index(pages: Mapping[Path, str]) -> dict[Path, str]:
    """The pages, the index among them written anew."""
    links: dict[tuple[str, str, str], list[str]] = {}
    for path, taken, default, link in [*of_pages(pages), *of_algorithms()]:
        links.setdefault((path, taken, default), []).append(link)
    rows = [[code(key[0]), *key[1:], ", ".join(links[key])] for key in sorted(links)]
    body = table(["key", "takes", "default", "page"], rows)

    def block(match: re.Match[str]) -> str:
        is_index = match.group(2, 3) == ("generated", "keys")
        return f"{match[1]}\n\n{body}\n\n{match[4]}" if is_index else match[0]

    return {**pages, PAGE: BLOCK.sub(block, pages[PAGE])}
