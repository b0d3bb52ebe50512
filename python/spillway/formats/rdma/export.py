"""Completion times and pauses of a run as the public RDMA simulator writes them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from spillway.base.errors import ScenarioError
from spillway.base.folder import check_new_file, path_of, whole_file
from spillway.base.quantities import quantity
from spillway.formats.rdma.source import USUAL_PORT
from spillway.formats.rdma.topology import Link, Paths, Topology
from spillway.formats.rdma.transports import HEADER_BYTES
from spillway.formats.rdma.units import rate_of, time_ps_of
from spillway.result.result import Result

_NODE, _CLASS = re.compile(r"n(\d+)"), re.compile(r"port(\d+)")
_FIRST_PORT = 10_000
_FCT_LINE = re.compile(rb"[0-9a-f]{8} [0-9a-f]{8}( \d+){6}")
_PFC_LINE = re.compile(rb"\d+ \d+ [01] \d+ [01]")


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        flows: completion times; None if they were not asked for.
        unfinished: flows without a completion time, which the simulator does not write either.
        frames: ends and beginnings of pauses; None if they were not asked for.
    """

    flows: int | None
    unfinished: int
    frames: int | None


def export(
    folder: str | Path,
    *,
    fct: str | Path | None = None,
    pfc: str | Path | None = None,
    force: bool = False,
) -> Exported:
    """Writes the completion times of a result, and its pauses, each to a file.

    Raises:
        ScenarioError: the result is not of a graph, has no pauses, or a file cannot be written.
    """
    run = Run(Result.load(folder))
    fct_file, pfc_file = (None if place is None else path_of(place) for place in (fct, pfc))
    for place, what, line in (
        (fct_file, "a list of completion times", _FCT_LINE),
        (pfc_file, "a list of pauses", _PFC_LINE),
    ):
        if place is not None:
            check_new_file(place, force, what, partial(_begins_with, line))
    if pfc_file is not None:
        run.check_pauses()
    times = None if fct_file is None else _write(fct_file, run.times(), force)
    frames = None if pfc_file is None else _write(pfc_file, run.pauses(), force)
    finished = run.result.summary["flows"]
    return Exported(times, finished["started"] - finished["completed"], frames)


def _write(file: Path, lines: Iterator[str], force: bool) -> int:
    count = 0
    with whole_file(file, force) as made, made.open("w", encoding="ascii") as out:
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count


def _begins_with(line: re.Pattern[bytes], file: Path) -> bool:
    """Whether a file is empty, or its first line is of this kind."""
    with file.open("rb") as content:
        first = content.readline(1 << 12)
    return not first or line.fullmatch(first.rstrip()) is not None


@dataclass(frozen=True)
class Run:
    """A result, seen as one of the simulator's runs."""

    result: Result

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Its scenario, with every value written out."""
        found = tomllib.loads(self.result.scenario)
        if found["topology"]["kind"] != "graph":
            raise ScenarioError(
                f"{self.result.folder}: its topology is no graph, so its nodes have no numbers",
                "`spillway import rdma` makes scenarios whose runs can be written so",
            )
        return found

    @cached_property
    def nodes(self) -> tuple[list[int], list[int]]:
        """The simulator's numbers of hosts and of switches, in the order of the scenario.

        They are the numbers in the names `n0`, `n1`, ...; with other names hosts are counted first.
        """
        graph = self.scenario["topology"]
        names = [[row["name"] for row in graph[kind]] for kind in ("host", "switch")]
        numbers = [[_NODE.fullmatch(name) for name in each] for each in names]
        if all(all(each) for each in numbers):
            hosts, switches = ([int(found[1]) for found in each if found] for each in numbers)
            return hosts, switches
        count = len(names[0])
        return list(range(count)), list(range(count, count + len(names[1])))

    @cached_property
    def topology(self) -> Topology:
        """Its network."""
        graph = self.scenario["topology"]
        hosts, switches = self.nodes
        number = dict(zip((row["name"] for row in graph["switch"]), switches, strict=True))
        links = [
            Link(host, number[row["switch"]], *_line(row), 0.0)
            for host, row in zip(hosts, graph["host"], strict=True)
        ]
        links += [
            Link(number[row["a"]], number[row["b"]], *_line(row), 0.0)
            for row in graph.get("link", ())
        ]
        return Topology(tuple(sorted(hosts)), tuple(sorted(switches)), tuple(links))

    @cached_property
    def begin_ns(self) -> int:
        """The simulator's time at which the run begins."""
        origins = {
            time_ps_of(section.get("origin", "0us")) or 0
            for section in self.scenario["traffic"]
            if section["kind"] == "flows"
        }
        if len(origins) > 1:
            raise ScenarioError(
                f"{self.result.folder}: its lists of flows have several origins",
                "so their times are not of one clock",
            )
        return origins.pop() // 1000 if origins else 0

    def times(self) -> Iterator[str]:
        """Lines of complete flows, in the order in which they were complete.

        Addresses, ports, bytes, start, completion time, and that of the flow alone, in ns.
        """
        payload = quantity(self.scenario["transport"]["mss"])
        paths = Paths(self.topology, payload)
        hosts, _ = self.nodes
        names = ("flow_id", "src", "dst", "size_bytes", "start_ps", "fct_ps", "class")
        table = self.result.flows.select(names)
        table = table.set_column(6, "class", table["class"].cast("string")).sort_by("flow_id")
        sent: Counter[tuple[int, int]] = Counter()
        found = []
        for _, src, dst, size, start_ps, fct_ps, name in zip(
            *(column.to_pylist() for column in table.columns), strict=True
        ):
            port = _FIRST_PORT + sent[src, dst]
            sent[src, dst] += 1
            if fct_ps is None:
                continue
            a, b = hosts[src], hosts[dst]
            match = _CLASS.fullmatch(name)
            start_ns = start_ps // 1000
            fct_ns = (start_ps + fct_ps) // 1000 - start_ns
            alone = paths.pair(a, b).alone_ns(size, payload, HEADER_BYTES)
            line = (
                f"{address_of(a):08x} {address_of(b):08x} {port % 2**16} "
                f"{match[1] if match else USUAL_PORT} {size} {self.begin_ns + start_ns} "
                f"{fct_ns} {alone}"
            )
            found.append((start_ps + fct_ps, line))
        found.sort(key=lambda row: row[0])
        yield from (line for _, line in found)

    def check_pauses(self) -> None:
        """Refuses a result without pauses."""
        if "pauses" not in self.result.names():
            raise ScenarioError(
                f"{self.result.folder}: it has no pauses",
                "run it with --set record.pauses=true, where priorities are lossless",
            )

    def pauses(self) -> Iterator[str]:
        """Lines of the beginnings and ends of pauses, by time.

        Time in ns, node, whether it is a switch, its port from 1 on, and whether it is paused.
        """
        hosts, switches = self.nodes
        places = {f"host{place}": (host, 0) for place, host in enumerate(hosts)}
        counts: Counter[str] = Counter()
        for row, switch in zip(self.scenario["topology"]["switch"], switches, strict=True):
            places[f"{row['tier']}{counts[row['tier']]}"] = (switch, 1)
            counts[row["tier"]] += 1
        table = self.result.pauses.select(("paused", "port", "begin_ps", "end_ps"))
        table = table.set_column(0, "paused", table["paused"].cast("string"))
        found = []
        for name, port, begin_ps, end_ps in zip(
            *(column.to_pylist() for column in table.columns), strict=True
        ):
            node, is_switch = places[name]
            for time_ps, pauses in ((begin_ps, 1), (end_ps, 0)):
                if time_ps is not None:
                    found.append((time_ps, node, is_switch, port + 1, pauses))
        for time_ps, *rest in sorted(found):
            yield " ".join(map(str, (self.begin_ns + time_ps // 1000, *rest)))


def address_of(node: int) -> int:
    """The address of a host: 11.x.y.1 with x = node / 256 and y = node mod 256.

    >>> f"{address_of(0):08x} {address_of(258):08x}"
    '0b000001 0b010201'
    """
    return 0x0B000001 + (node // 256 << 16) + (node % 256 << 8)


def _line(row: Mapping[str, Any]) -> tuple[int, int]:
    """The rate and the delay of a link, in bits per second and ns."""
    return rate_of(row["rate"]) or 0, (time_ps_of(row["delay"]) or 0) // 1000
