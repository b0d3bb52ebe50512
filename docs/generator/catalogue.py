"""The catalogue of the program, and the source files that it was made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spillway.base import core

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
ALGORITHMS = DOCS / "algorithms"
SCENARIO = DOCS / "scenario"
SWITCH = ROOT / "crates/spillway-switch/src"
TRANSPORT = ROOT / "crates/spillway-transport/src"

ROOMS = {
    "sharing": ("Sharing the buffer", "switch.sharing", SWITCH / "sharing"),
    "aqm": ("Marking and early drops", "switch.aqm", SWITCH / "aqm"),
    "scheduling": ("Scheduling", "switch.scheduling", SWITCH / "scheduling"),
    "transport": ("Transports", "transport.kind", TRANSPORT),
    "recovery": ("Loss recovery", "transport.recovery", TRANSPORT / "recovery"),
    "tagging": ("Tagging packets at hosts", "transport.tagging", TRANSPORT / "tagging"),
    "protection": (
        "Protecting packets from loss",
        "transport.protection",
        TRANSPORT / "protection",
    ),
}
"""The rooms whose algorithms have pages: heading, key, folder of the sources."""

Json = dict[str, Any]

CATALOGUE: Json = json.loads(core.catalogue())


def head(file: Path) -> str:
    """The documentation at the head of a Rust file."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    return "\n".join(lines).strip()


def source_of(room: str, id: str) -> Path:
    """The file of an algorithm: the one that says its id, or is named after it."""
    folder = ROOMS[room][2]
    named = folder / f"{id.replace('-', '_')}.rs"
    if room in ("transport", "recovery", "tagging", "protection"):
        return named
    says = f'const ID: &\'static str = "{id}";'
    found = [file for file in folder.glob("*.rs") if says in file.read_text(encoding="utf-8")]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} files in {folder} say {says}")
    return found[0]


def parts(text: str) -> dict[str, str]:
    """The paragraphs below each heading of a file's head; those before the first below ""."""
    found = {"": ""}
    heading = ""
    is_code = False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if line.startswith("# ") and not is_code:
            heading = line.removeprefix("# ")
            found[heading] = ""
        else:
            found[heading] += f"{line}\n"
    return {heading: body.strip() for heading, body in found.items()}


def page_name(room: str, id: str) -> str:
    """The file of an algorithm's page; with the room's name where several rooms have the id."""
    rooms = [other for other in ROOMS if any(entry["id"] == id for entry in CATALOGUE[other])]
    return f"{id}.md" if rooms == [room] else f"{id}-{room}.md"
