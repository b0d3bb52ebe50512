"""Writes what the documentation takes from the program, and checks it.

    python docs/generate.py            write
    python docs/generate.py --check    compare only; what differs is named, and the exit status is 1

- `docs/algorithms/`: a page for every algorithm, out of the head of its source file and the
  catalogue, and the index of these pages.
- `docs/scenario.md`: everything between `<!-- generated: ROOM -->` and `<!-- end -->` comes from
  the catalogue. Between `<!-- keys: SECTION -->` and `<!-- end -->` names, what they take, and
  literal defaults come from the program; meanings, and defaults that are put in words, are written
  by hand and kept.
- `docs/stepping.md`: the table of signals, between `<!-- generated: signals -->` and
  `<!-- end -->`, comes from the catalogue.
- `docs/comparison.md`: what every sharing policy costs, between `<!-- generated: cost -->` and
  `<!-- end -->`, comes from the catalogue.
- `docs/results.md`: the names in the tables behind `<!-- names: TABLE -->` are compared with those
  of a run.
- Everywhere: links lead somewhere, and the scenario in `docs/scenario.md` is one.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import spillway
from spillway import _core
from spillway.tables import changing

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SWITCH = ROOT / "crates/spillway-switch/src"
NET = ROOT / "crates/spillway-net/src"

ROOMS = {
    "sharing": ("Sharing the buffer", "switch.sharing", SWITCH / "sharing"),
    "aqm": ("Marking and early drops", "switch.aqm", SWITCH / "aqm"),
    "scheduling": ("Scheduling", "switch.scheduling", SWITCH / "scheduling"),
    "transport": ("Transports", "transport.kind", NET / "transport"),
    "tagging": ("Tagging packets at hosts", "transport.tagging", NET / "tagging"),
}
"""The rooms whose algorithms have pages: heading, key, folder of the sources."""

Json = dict[str, Any]


# Source files ------------------------------------------------------------------------------------


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
    if room in ("transport", "tagging"):
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


# Markdown ----------------------------------------------------------------------------------------


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
        return f"[{match[1]}]({seen_from_page(DOCS / match[1])})"

    text = re.sub(r"(?<!\]\()(?<![\w/\[])docs/([\w/-]+\.md)", to_page, text)
    for crate in ("spillway-net", "spillway-switch"):
        for test in (ROOT / "crates" / crate / "tests").glob("*.rs"):
            name = f"`tests/{test.name}`"
            text = text.replace(name, f"[{name}]({seen_from_page(test)})")
    return text


# Pages of algorithms -----------------------------------------------------------------------------


def algorithm_pages(catalogue: Json) -> dict[Path, str]:
    """A page for every algorithm, and the index."""
    pages: dict[Path, str] = {}
    index = ["# Algorithms", "", INDEX_HEAD]
    for room, (heading, key, _) in ROOMS.items():
        rows = []
        for entry in catalogue[room]:
            page = DOCS / "algorithms" / page_name(room, entry["id"])
            if page in pages:
                raise SystemExit(f"two algorithms of {room} are called {entry['id']}")
            pages[page] = algorithm_page(room, entry, page)
            rows.append([f"[`{entry['id']}`]({page.name})", sentence(entry["summary"])])
        index += ["", f"## {heading}: `{key}`", "", table(["id", ""], rows)]
        if room in LEFT_OUT:
            index += ["", LEFT_OUT[room]]
    pages[DOCS / "algorithms" / "README.md"] = "\n".join(index) + "\n"
    return pages


INDEX_HEAD = """\
A page for every algorithm: what it does, where it was published, its rule with the symbols of the
paper, where we depart from it, and how it was checked. The pages are the heads of the source
files, written out by `docs/generate.py`; `spillway list` prints the parameters."""

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

[All AQMs side by side](../aqms.md) compares those that are, under three transports in three
networks.""",
}
"""What a room's list is followed by: what it lacks, and where it is compared."""


def page_name(room: str, id: str) -> str:
    """The file of an algorithm's page; with the room's name where several rooms have the id."""
    rooms = [other for other in ROOMS if any(entry["id"] == id for entry in CATALOGUE[other])]
    return f"{id}.md" if rooms == [room] else f"{id}-{room}.md"


def algorithm_page(room: str, entry: Json, page: Path) -> str:
    """The page of one algorithm."""
    file = source_of(room, entry["id"])
    inside = file.relative_to(ROOT)
    told = parts(head(file))
    title, _, lead = told.pop("").partition(":")
    title += "" if title.lower() == entry["id"] else f" (`{entry['id']}`)"
    lines = [
        f"<!-- Written by docs/generate.py out of {inside}: change that file. -->",
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
    lines += ["", "## Parameters", ""]
    if room == "transport":
        own = own_keys(entry["id"])
        if own:
            lines += [key_table(key for key in entry["keys"] if key["name"] in own), ""]
        keys = "All other keys" if own else "Its keys"
        lines += [f"{keys}: [`[transport]`](../scenario.md#transport)."]
    else:
        lines += [key_table(entry["keys"])]
        if entry.get("changes"):
            lines += ["", f"{changing(entry, code)} See docs/stepping.md."]
    return linked("\n".join(lines), page) + "\n"


def own_keys(id: str) -> set[str]:
    """The keys of a transport that no other one has."""
    kinds = {
        entry["id"]: {key["name"] for key in entry["keys"]} for entry in CATALOGUE["transport"]
    }
    others = set().union(*(keys for kind, keys in kinds.items() if kind != id))
    return kinds[id] - others


# Blocks of docs/scenario.md ----------------------------------------------------------------------


def policies(room: str) -> str:
    """The ids of a room, with links to their pages."""
    rows = [
        [
            f"[`{entry['id']}`](algorithms/{page_name(room, entry['id'])})",
            sentence(entry["summary"]),
            ", ".join(code(key["name"]) for key in entry["keys"]) or "none",
        ]
        for entry in CATALOGUE[room]
    ]
    return table(["id", "", "parameters"], rows)


def transports() -> str:
    """A table for the keys that many transports share, then one for those of each transport."""
    entries = CATALOGUE["transport"]
    keys: dict[str, tuple[Json, dict[str, str]]] = {}
    own: dict[tuple[str, str], Json] = {}
    for entry in entries:
        for key in entry["keys"]:
            known, defaults = keys.setdefault(key["name"], (key, {}))
            if key["name"] in DIFFERENT:
                own[entry["id"], key["name"]] = key
            elif {**known, "default": None} != {**key, "default": None}:
                raise SystemExit(f"transports differ about {key['name']}")
            defaults[entry["id"]] = default_of(key)

    def key_rows(names: Iterable[str], kinds: list[str]) -> str:
        rows = []
        for name in names:
            key, defaults = keys[name]
            key = own.get((kinds[0], name), key)
            values = {kind: defaults[kind] for kind in kinds}
            if len(set(values.values())) > 1:
                told = ", ".join(f"{value} ({kind})" for kind, value in values.items())
            else:
                told = next(iter(values.values()))
            taken = takes({**key, **IN_GENERAL.get(("transport", name), {})}["takes"])
            rows.append([code(name), taken, told, sentence(key["meaning"])])
        return table(["key", "takes", "default", "meaning"], rows)

    sharers: dict[tuple[str, ...], list[str]] = {}
    for name, (_, defaults) in keys.items():
        if name not in DIFFERENT:
            sharers.setdefault(tuple(defaults), []).append(name)
    shared = {
        kinds: names
        for kinds, names in sharers.items()
        if len(kinds) > 1 and len(names) >= SHARED_KEYS
    }
    ids = [entry["id"] for entry in entries]
    blocks = []
    for kinds, names in sorted(shared.items(), key=lambda each: -len(each[0])):
        blocks += [f"#### {in_words(kinds, ids)}", key_rows(names, list(kinds))]
    common = {name for names in shared.values() for name in names}
    for entry in entries:
        names = [key["name"] for key in entry["keys"] if key["name"] not in common]
        blocks += [f"#### `{entry['id']}`", sentence(entry["summary"])]
        blocks += [key_rows(names, [entry["id"]])] if names else ["It has no keys of its own."]
    return "\n\n".join(blocks)


def kinds_of_transport() -> str:
    """The ids of all transports, with links to their pages; the default is the first."""
    entries = CATALOGUE["transport"]
    page = {entry["id"]: page_name("transport", entry["id"]) for entry in entries}
    ids = [f"[`{id}`](algorithms/{name})" for id, name in page.items()]
    listed = f"{ids[0]} (the default), {', '.join(ids[1:-1])} and {ids[-1]}"
    return textwrap.fill(f"`kind` is one of {listed}.", 116, break_on_hyphens=False)


DIFFERENT = ("preset", "rate_step", "hyper_after", "window", "base_rtt", "pace_from")
"""Keys that take or mean something else in some transports, or list their values otherwise."""

SHARED_KEYS = 4
"""This many keys that the same transports have are a table; fewer stand with each of them."""


def in_words(kinds: Iterable[str], ids: Iterable[str]) -> str:
    """These transports, by those that are missing where that is shorter."""
    there = list(kinds)
    missing = [id for id in ids if id not in there]
    if not missing:
        return "All transports"
    names = missing if len(missing) < len(there) else there
    listed = " and ".join(filter(None, [", ".join(map(code, names[:-1])), code(names[-1])]))
    return f"All transports except {listed}" if names is missing else listed


def described(room: str, folder: Path, skip: Iterable[str] = ()) -> str:
    """Every kind of a room: what the head of its file says, and its keys."""
    blocks = []
    for entry in CATALOGUE[room]:
        file = folder / f"{FILES.get(entry['id'], entry['id'].replace('-', '_'))}.rs"
        told = parts(head(file))
        # The first paragraph is the summary's.
        text = [told[""].partition("\n\n")[2]]
        text += [body for heading, body in told.items() if heading not in ("", "Cost")]
        keys = [
            {**key, **IN_GENERAL.get((entry["id"], key["name"]), {})}
            for key in entry["keys"]
            if key["name"] not in skip
        ]
        blocks += [
            f"#### `{entry['id']}`",
            sentence(entry["summary"]),
            *filter(None, text),
            key_table(keys),
        ]
    return linked("\n\n".join(blocks), DOCS / "scenario.md")


FILES = {"flows": "flow_list"}
"""Kinds whose file has another name."""

IN_GENERAL: dict[tuple[str, str], Json] = {
    ("incast", "queries_per_host_per_s"): {"default": "none"},
    ("permutation", "shift"): {"takes": "a whole number from 1 to the number of hosts less one"},
    ("transport", "min_window"): {"takes": 'a length such as "2pkt" or "3KB"'},
}
"""Where the catalogue tells what holds for the example that it reads the keys with."""


def sizes() -> str:
    """The distributions of flow sizes."""
    rows = [
        [code(entry["id"]), f"{entry['mean_bytes']:,.0f}", entry["citation"]]
        for entry in CATALOGUE["sizes"]
    ]
    return table(["name", "mean, bytes", "source"], rows)


GENERATED: dict[str, Callable[[], str]] = {
    **{room: partial(policies, room) for room in ("sharing", "aqm", "scheduling", "tagging")},
    "transport": transports,
    "transport.kind": kinds_of_transport,
    "traffic": lambda: described("traffic", NET / "traffic", skip=("priority", "bound")),
    "topology": lambda: described("topology", NET / "topology"),
    "sizes": sizes,
}


# What policies cost ------------------------------------------------------------------------------

COST = {
    "queue": "for every queue",
    "port": "for every port",
    "switch": "once",
    "others": "for what else",
    "arrival": "arrival",
    "departure": "departure",
    "at_times": "at other times",
    "needs": "needs",
}
"""The columns of the table of costs, by the parts that the catalogue has."""


def costs(page: Path) -> str:
    """What sharing policies ask of a switch, seen from a page."""
    rows = []
    for entry in CATALOGUE["sharing"]:
        file = Path(os.path.relpath(source_of("sharing", entry["id"]), page.parent)).as_posix()
        parts = (entry["cost"][part] or "-" for part in COST)
        rows.append([f"[`{entry['id']}`]({file})", *parts])
    return table(["", *COST.values()], rows)


def signals() -> str:
    """What a run can be asked for."""
    rows = [
        [code(row["id"]), row["each"], "yes" if row["is_since"] else "", row["meaning"]]
        for row in CATALOGUE["signals"]
    ]
    return table(["signal", "a number for each", "since the last look", ""], rows)


def with_table(page: Path, name: str, written: str) -> str:
    """The page with its one generated table written anew."""
    block = re.compile(rf"(<!-- generated: {name} -->).*?(<!-- end -->)", re.DOTALL)
    text = page.read_text(encoding="utf-8")
    renewed, number = block.subn(lambda m: f"{m[1]}\n\n{written}\n\n{m[2]}", text)
    if number != 1:
        raise SystemExit(f"{page} has {number} blocks <!-- generated: {name} -->")
    return renewed


# Sections whose keys the program is asked for ----------------------------------------------------

UNKNOWN = "z" * 40
"""A key so far from every other that an error lists them all."""
WRONG = [[]]  # type: ignore[var-annotated]
"""A value that no key takes."""


@dataclass(frozen=True)
class Section:
    """A section of a scenario: what has to be given in it, and where it stands."""

    build: Callable[[Json], Json]
    given: tuple[Json, ...] = ({},)
    """What must be given; several where a section has several kinds."""
    skip: tuple[str, ...] = ()
    """Keys that stand in another table."""
    most: Json = field(default_factory=dict)
    """What must be given for the others to take all that they can."""
    resolved: Callable[[Json], Json] = lambda whole: whole

    def keys(self) -> dict[str, tuple[str, str]]:
        """For every key what it takes, and its default."""
        found: dict[str, tuple[str, str]] = {}
        for given in self.given:
            for name in self._names(given):
                if name not in self.skip and name not in found:
                    found[name] = (self._takes(given, name), self._default(given, name))
        return found

    def _names(self, given: Json) -> list[str]:
        hint = refusal(self.build({**given, UNKNOWN: 1})).hint or ""
        return hint.removeprefix("valid here: ").split(", ")

    def _takes(self, given: Json, name: str) -> str:
        problem = str(refusal(self.build({**given, **self.most, name: WRONG}))).splitlines()[0]
        return takes(problem.partition("expected ")[2])

    def _default(self, given: Json, name: str) -> str:
        others = {key: value for key, value in given.items() if key != name}
        try:
            whole = spillway.Scenario(self.build(others)).resolved
        except spillway.ScenarioError as error:
            if "missing" in str(error):
                return "required"
            raise
        section = self.resolved(whole)
        return code(toml(section[name])) if name in section else "none"


def refusal(scenario: Json) -> spillway.ScenarioError:
    """How a wrong scenario is refused."""
    try:
        spillway.Scenario(scenario).read()
    except spillway.ScenarioError as error:
        return error
    raise SystemExit(f"this should be wrong: {scenario}")


def toml(value: Any) -> str:
    """A value as a scenario has it; a policy without parameters as its id."""
    if isinstance(value, dict) and set(value) == {"kind"}:
        value = value["kind"]
    return json.dumps(value)


BASE: Json = {"duration": "1ms", "topology": {"kind": "star"}}


def within(name: str, base: Json = BASE, **more: Any) -> dict[str, Any]:
    """A section with a table of its own."""
    return {
        "build": lambda values: {**base, name: values},
        "resolved": lambda whole: whole[name],
        **more,
    }


def graph(tables: str, /, **given: Any) -> Section:
    """A table of a topology of kind `graph`."""
    link = {"rate": "10Gbps", "delay": "1us"}
    whole: Json = {
        "kind": "graph",
        "switch": [{"name": "s"}, {"name": "t"}],
        "host": [{"name": host, "switch": "s", **link} for host in ("a", "b")],
        "link": [{"a": "s", "b": "t", **link}],
    }

    def build(values: Json) -> Json:
        return {**BASE, "topology": {**whole, tables: [*whole[tables], values]}}

    return Section(build, (given,), resolved=lambda whole: whole["topology"][tables][-1])


EVENT = {"a": "leaf0", "b": "host0", "at": "1us"}
SET = {"kind": "set", "key": "switch.aqm.threshold", "value": "9pkt", "at": "1us"}

SECTIONS: dict[str, Section] = {
    "run": Section(
        lambda values: {"topology": {"kind": "star"}, **values},
        ({"duration": "1ms"},),
        (
            "topology",
            "transport",
            "routing",
            "switch",
            "nic",
            "traffic",
            "event",
            "record",
            "limits",
        ),
    ),
    "topology": Section(
        **within("topology", given=({"kind": "star"},), skip=("hosts", "host_rate", "link_delay"))
    ),
    "topology.switch": graph("switch", name="u"),
    "topology.host": graph("host", name="c", switch="s", rate="10Gbps", delay="1us"),
    "topology.link": graph("link", a="s", b="t", rate="10Gbps", delay="1us"),
    "routing": Section(**within("routing")),
    "switch": Section(**within("switch", skip=("leaf",), most={"queues_per_port": 64})),
    "switch.pfc": Section(
        lambda values: {**BASE, "switch": {"buffer": "100MB", "pfc": values}},
        ({"kind": "static", "ends": "quanta"}, {"kind": "dynamic"}),
        resolved=lambda whole: whole["switch"]["pfc"],
    ),
    "nic": Section(**within("nic", most={"queues": 64})),
    "event": Section(
        lambda values: {**BASE, "switch": {"aqm": "ecn"}, "event": [values]},
        ({"kind": "link-down", **EVENT}, {"kind": "link-loss", **EVENT}, SET),
        resolved=lambda whole: whole["event"][0],
    ),
    "record": Section(**within("record")),
    "limits": Section(**within("limits")),
}

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


# Names in docs/results.md ------------------------------------------------------------------------

NAMES = re.compile(r"<!-- names: (?P<table>\w+) -->\n(?P<rows>(?:\n|\|.*\n)+)")

EVERYTHING: Json = {
    "duration": "1ms",
    "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2},
    "switch": {
        "buffer": "20KB",
        "sharing": "lqd",
        "aqm": "pred",
        "spine": {
            "sharing": {"kind": "smartbuf", "sigma": 20.0},
            "buffer": "200KB",
            "pfc": {"kind": "static", "threshold": "3KB"},
        },
    },
    "traffic": [
        {
            "name": "x",
            "kind": "incast",
            "interval": "1ms",
            "burst": "90KB",
            "fan_in": 3,
            "senders": "any",
        },
        {"name": "y", "kind": "all-reduce", "size": "9KB"},
    ],
    "record": {
        "queue_interval": "1us",
        "decisions": 9,
        "oracle_trace": True,
        "windows": [0],
        "link_interval": "1us",
        "port_interval": "1us",
        "aqm_interval": "1us",
        "bursts": "3KB",
        "pauses": True,
    },
}
"""A scenario with which every table has rows."""


def names_of_a_run() -> dict[str, list[str]]:
    """The columns of all tables, and the keys of the summary."""
    result = spillway.run(EVERYTHING)
    names = {name: list(result.table(name).schema.names) for name in _core.Simulation.tables()}
    summary = result.summary
    names["summary"] = list(summary)
    names["slowdown"] = list(summary["fct_slowdown"]["all"])
    names["occupancy"] = list(summary["buffer_occupancy"])
    names["load"] = list(summary["load"])
    names["repairs"] = list(summary["repairs"]["all"])
    names["run"] = list(summary["run"])
    names["job"] = list(summary["job_us"]["all"])
    names["pausing"] = list(summary["pauses"])
    return names


def check_names(text: str, problems: list[str]) -> None:
    """Notes the names that a table lacks, or has too many."""
    actual = names_of_a_run()
    told = {
        match["table"]: re.findall(r"^\| `([\w]+)`", match["rows"], re.MULTILINE)
        for match in NAMES.finditer(text)
    }
    for name in actual:
        if sorted(told.get(name, [])) != sorted(actual[name]):
            problems.append(
                f"docs/results.md: {name} has {', '.join(actual[name])}; "
                f"told are {', '.join(told.get(name, [])) or 'none'}"
            )


# Links -------------------------------------------------------------------------------------------

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are made of them."""
    headings = re.findall(
        r"^#+ (.*)", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def check_links(problems: list[str]) -> None:
    """Notes the links that lead nowhere."""
    for page in [*ROOT.glob("*.md"), *DOCS.glob("**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, anchor in LINK.findall(text):
            file = page.parent / target if target else page
            if not file.exists():
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}#{anchor}")


# -------------------------------------------------------------------------------------------------

CATALOGUE: Json = json.loads(_core.catalogue())


def main(arguments: list[str]) -> int:
    """Writes all pages, or compares them."""
    warnings.simplefilter("ignore", spillway.ScenarioWarning)
    problems: list[str] = []
    pages = algorithm_pages(CATALOGUE)
    reference = DOCS / "scenario.md"
    comparison, stepping = DOCS / "comparison.md", DOCS / "stepping.md"
    pages[comparison] = with_table(comparison, "cost", costs(comparison))
    pages[stepping] = with_table(stepping, "signals", signals())
    pages[reference] = scenario_page(reference.read_text(encoding="utf-8"), problems)
    check_names((DOCS / "results.md").read_text(encoding="utf-8"), problems)
    stale = set((DOCS / "algorithms").glob("*.md")) - set(pages)
    problems += [f"{page.relative_to(ROOT)} is of no algorithm" for page in sorted(stale)]
    for page, text in pages.items():
        if page.is_file() and page.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            problems.append(f"{page.relative_to(ROOT)} is not up to date: python docs/generate.py")
        else:
            page.write_text(text, encoding="utf-8")
    for entry in CATALOGUE["transport"]:
        if f"(algorithms/{page_name('transport', entry['id'])})" not in pages[reference]:
            problems.append(f"docs/scenario.md does not name the transport {entry['id']}")
    check_links(problems)
    for block in re.findall(r"```toml\n(.*?)```", pages[reference], re.DOTALL):
        if "duration" in block:
            spillway.Scenario(block).read()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
