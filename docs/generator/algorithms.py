"""The pages of algorithms, and their index."""

from __future__ import annotations

import re
from pathlib import Path

from generator.catalogue import (
    ALGORITHMS,
    CATALOGUE,
    ROOMS,
    ROOT,
    Json,
    head,
    page_name,
    parts,
    source_of,
)
from generator.markdown import code, key_table, linked, sentence, table
from generator.transports import own_keys, presets
from spillway.scenario.catalogue import changing


def algorithm_pages() -> dict[Path, str]:
    """A page for every algorithm, and the index."""
    pages: dict[Path, str] = {}
    index = ["# Algorithms", "", INDEX_HEAD]
    for room, (heading, key, _) in ROOMS.items():
        rows = []
        for entry in CATALOGUE[room]:
            page = ALGORITHMS / page_name(room, entry["id"])
            if page in pages:
                raise SystemExit(f"two algorithms of {room} are called {entry['id']}")
            pages[page] = algorithm_page(room, entry, page)
            rows.append([f"[`{entry['id']}`]({page.name})", sentence(entry["summary"])])
        index += ["", f"## {heading}: `{key}`", "", table(["id", ""], rows)]
        if room in LEFT_OUT:
            index += ["", LEFT_OUT[room]]
    pages[ALGORITHMS / "README.md"] = "\n".join(index) + "\n"
    return pages


INDEX_HEAD = """\
A page for every algorithm: what it does, where it was published, its rule with the symbols of the
paper, where we depart from it, and how it was checked. The pages are the heads of the source
files, written out by `docs/build.py`; `spillway list aqm` prints the parameters of AQMs."""

LEFT_OUT = {
    "aqm": """\
Related work on marking that is not here:

- **Feng's adaptive RED** (Feng, Kandlur, Saha, Shin, "A Self-Configuring RED Gateway", INFOCOM
  1999): as `ared`, but the largest probability is multiplied and divided (MIMD) when the average
  queue leaves the range from min to max;
- **AVQ** (Kunniyur, Srikant, SIGCOMM 2001): marks what a virtual queue with less capacity would
  lose;
- **PI** (Hollot, Misra, Towsley, Gong, INFOCOM 2001): a proportional integral controller of the
  queue's length; `pie` is one of its delay;
- **BCC** (Bai, Hu, Chen, Tan, Xiong, IEEE/ACM Transactions on Networking 2021): marks by the port's
  queue, or by the shared buffer while that is well filled;
- **TCD** (Zhang, Liu, Meng, Ren, SIGCOMM 2021): tells congested ports in lossless networks from
  ports that only seem so because others pause them;
- **HULL** (Alizadeh et al., NSDI 2012): marks by phantom queues, which are drained at less than the
  line's rate.

[All AQMs side by side](../../studies/spillway_studies/aqms/paper.md) compares those that are, under
three transports in three networks.""",
}
"""What a room's list is followed by: what it lacks, and where it is compared."""


def algorithm_page(room: str, entry: Json, page: Path) -> str:
    """The page of one algorithm."""
    file = source_of(room, entry["id"])
    inside = file.relative_to(ROOT)
    told = parts(head(file))
    title, _, lead = told.pop("").partition(":")
    title += "" if title.lower() == entry["id"] else f" (`{entry['id']}`)"
    lines = [
        f"<!-- Written by docs/build.py out of {inside}: change that file. -->",
        "",
        f"# {title}",
        "",
        sentence(lead.strip()),
        "",
        f'`{ROOMS[room][1]} = "{entry["id"]}"`, in [{file.name}](../../{inside}).',
    ]
    for heading, body in told.items():
        if heading == "Validation":
            body = re.sub(r"\bbelow\b", "in the tests of that file", body)
        lines += ["", f"## {heading}", "", body]
    lines += ["", "## Parameters", "", key_table(keys_of(room, entry))]
    if entry.get("changes"):
        lines += ["", f"{changing(entry, code)} See docs/stepping.md."]
    if room == "transport":
        lines += ["", f"It also has the {SHARED}."]
        if preset := presets(entry):
            lines += ["", "## Values of presets", "", preset]
    return linked("\n".join(lines), page) + "\n"


SHARED = "[keys that transports share](../scenario/transport.md#keys-that-transports-share)"


def keys_of(room: str, entry: Json) -> list[Json]:
    """The keys on an algorithm's page."""
    keys: list[Json] = own_keys(entry) if room == "transport" else entry["keys"]
    return keys
