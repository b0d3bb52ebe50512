"""What a page of the documentation asks a reader to type, as a script that can be run."""

from __future__ import annotations

import re
from dataclasses import dataclass

RUN = ("python", "sh", "toml")
"""The kinds of blocks that are run, or read."""
_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})\s*(.*?)\s*$")
_BEFORE = r"((?:[A-Z_]+=\S+\s)*)(?:\.venv/bin/)?"
"""Variables, and the folder that a page may name."""
_INDENTED = re.compile(rf"    (?:\$ )?{_BEFORE}((?:cargo|git|make|pip|spillway)\b.*)$")
_SPAN = re.compile(rf"(?<!`)`{_BEFORE}((?:make|pip|spillway)\s(?:[^`\n]|\n(?!\n))+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    kind: str
    text: str
    line: int
    """The line of the page on which its text begins, from 1."""


@dataclass(frozen=True)
class Page:
    """A page, taken apart."""

    script: str
    """A script for bash: each command stands on its line of the page, and so does a call
    `block N` for each block in another language."""
    blocks: tuple[Block, ...]
    spans: tuple[tuple[int, str], ...]
    """Commands within sentences and tables, and their lines. They may have placeholders."""


def taken_apart(text: str) -> Page:
    """The page with this text."""
    script: list[str] = []
    prose: list[str] = []
    blocks: list[Block] = []
    fence: re.Match[str] | None = None
    body: list[str] = []
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        found = _FENCE.match(line)
        command = words = ""
        if fence is None and found:
            fence, body = found, []
        elif fence is not None and line.strip() == fence[2]:
            start = number - len(body)
            if fence[3] != "sh":
                script[start - 2] = f"block {len(blocks)}"
            blocks.append(Block(fence[3], "\n".join(body) + "\n", start))
            fence = None
        elif fence is not None:
            body.append(line.removeprefix(fence[1]))
            command = body[-1] if fence[3] == "sh" else ""
        elif goes_on:
            command = line
        elif indented := _INDENTED.match(line):
            command = indented[1] + indented[2]
        else:
            words = line
        goes_on = fence is None and command.endswith("\\")
        script.append(command)
        prose.append(words)
    if fence is not None:
        raise ValueError("the last fenced block has no end")
    rest = "\n".join(prose)
    spans = tuple((rest.count("\n", 0, each.start()) + 1, each[2]) for each in _SPAN.finditer(rest))
    return Page("\n".join(script) + "\n", tuple(blocks), spans)
