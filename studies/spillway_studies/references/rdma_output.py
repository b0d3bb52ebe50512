"""The output of a run of the public RDMA simulator: queue, progress, times and pauses.

What cannot be compared because something is missing is None; a line in `lacks` tells why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from spillway.base.errors import ScenarioError
from spillway.formats.rdma.config import Config, text_of
from spillway.formats.rdma.topology import Topology
from spillway_studies.references.files import Booleans, Floats, Whole, arrays, table

Flows: TypeAlias = dict[str, Whole]
"""The columns `src`, `dst`, `size_bytes` and `start_ns` of a run's flows, in the order of its file.

Starts are in the simulator's time, which cuts decimals of a second to whole nanoseconds.
"""


@dataclass(frozen=True)
class Queue:
    """The queue of one port, at regular times."""

    time_ns: Whole
    queue_bytes: Floats
    node: int
    """The switch."""
    neighbour: int
    """The node that the port leads to."""

    @property
    def step_ns(self) -> int:
        """From each sample to the next."""
        return int(self.time_ns[1] - self.time_ns[0])


@dataclass(frozen=True)
class Progress:
    """What each flow had sent and got acknowledged, at regular times."""

    time_ns: Whole
    acked_bytes: Floats
    """A row for each flow, in the order of the list, and a column for each time."""


@dataclass(frozen=True)
class Completed:
    """The completion times of all flows, in the order of the list."""

    fct_ns: Floats
    """Infinite for a flow that is not complete, and NaN for one that the files do not mention."""
    ideal_ns: Floats
    """The time that the simulator assumes for the flow alone."""

    @property
    def is_known(self) -> Booleans:
        """Which flows the files mention."""
        return ~np.isnan(self.fct_ns)


def read_queue(
    file: Path, config: Config, topology: Topology, flows: Flows, lacks: list[str]
) -> Queue | None:
    """The queue of one port; None if the file has several ports, or hardly any samples."""
    listed = table(file)
    if "port" in listed.column_names:
        lacks.append(f"{file.name} names ports, of which there may be several: it is not compared")
        return None
    if (port := _sampled(config, topology, flows)) is None:
        lacks.append(f"no REF_Q_PORTS tells the port of {file.name}: the queue is not compared")
        return None
    time, length = arrays(listed, {"time_ns": "int64", "queue_bytes": "double"}, file).values()
    if len(time) < 3:
        # A run that was not meant to record its queue has two samples at most.
        lacks.append(f"{file.name} has less than three samples: the queue is not compared")
        return None
    steps = np.diff(time)
    if steps[0] <= 0 or (steps != steps[0]).any():
        raise ScenarioError(f"{file}: its times are not at equal distances")
    return Queue(time, length, *port)


def neighbours(topology: Topology, node: int) -> list[int]:
    """The nodes that a node's ports lead to, in the simulator's order: that of the links."""
    return [link.other(node) for link in topology.links_of[node]]


def _sampled(config: Config, topology: Topology, flows: Flows) -> tuple[int, int] | None:
    """The switch whose queue was sampled, and the node that its port leads to.

    If the settings do not say, that is the port to the only receiver; None if there are several.
    """
    # A key of the programs that made such runs, which the public one does not have.
    told = config.unknown.get("REF_Q_PORTS")
    if told is None:
        receiver, *others = {int(node) for node in flows["dst"]}
        return None if others else (topology.switch(receiver), receiver)
    words = told.split()
    whole = [int(word) for word in words if word.isdecimal()]
    if len(words) != 3 or len(whole) != 3 or whole[0] != 1 or whole[1] not in topology.switch_set:
        raise ScenarioError(
            f"{config.file}: REF_Q_PORTS names not one port of a switch",
            "it is 1, the switch, and its port, counted from 1 in the order of links",
        )
    _, node, port = whole
    found = neighbours(topology, node)
    if not 1 <= port <= len(found):
        raise ScenarioError(f"{config.file}: REF_Q_PORTS: switch {node} has no port {port}")
    return node, found[port - 1]


def _order(listed: pa.Table, flows: Flows, file: Path) -> Whole:
    """The place of each row's flow in the list: the k-th of a pair has the port 10,000 + k."""
    return _places(_rows(listed, ("src", "dst", "sport"), file), _named(flows), file)


def _rows(listed: pa.Table, names: Sequence[str], file: Path) -> Iterator[tuple[int, ...]]:
    """The rows of columns with whole numbers."""
    columns = arrays(listed, dict.fromkeys(names, "int64"), file)
    return zip(*(column.tolist() for column in columns.values()), strict=True)


def _named(flows: Flows) -> dict[tuple[int, ...], int]:
    """The place of each flow, by sender, receiver and source port."""
    counts = Counter[tuple[int, int]]()
    found: dict[tuple[int, ...], int] = {}
    for place, pair in enumerate(zip(flows["src"].tolist(), flows["dst"].tolist(), strict=True)):
        found[(*pair, 10_000 + counts[pair])] = place
        counts[pair] += 1
    return found


def _places(
    wanted: Iterable[tuple[int, ...]], named: Mapping[tuple[int, ...], int], file: Path
) -> Whole:
    """The places of flows that are named."""
    try:
        return np.array([named[name] for name in wanted], dtype=np.int64)
    except KeyError as error:
        raise ScenarioError(f"{file}: it has a flow that is not listed: {error}") from error


def read_progress(file: Path, flows: Flows, lacks: list[str]) -> Progress | None:
    """What flows have sent; None without rows, or if flows share their sender and port."""
    names = ("time_ns", "src", "sport", "snd_una")
    time, src, sport, acked = arrays(table(file), dict.fromkeys(names, "int64"), file).values()
    by_sender: dict[tuple[int, ...], int] = {
        (src, sport): place for (src, _, sport), place in _named(flows).items()
    }
    if not len(time) or len(by_sender) != len(flows["src"]):
        several = "tells flows by sender and port, which two have in common"
        reason = several if len(time) else "has no rows"
        lacks.append(f"{file.name} {reason}: rates are not compared")
        return None
    place = _places(zip(src.tolist(), sport.tolist(), strict=True), by_sender, file)
    times = np.unique(time)
    found = np.full((len(flows["src"]), len(times)), np.nan)
    found[place, np.searchsorted(times, time)] = acked
    # The file no longer mentions a flow that has ended: it is complete.
    for row, size in zip(found, flows["size_bytes"].tolist(), strict=True):
        known = np.flatnonzero(~np.isnan(row))
        if len(known):
            row[known[-1] + 1 :] = size
            row[: known[0]] = 0
    return Progress(times, np.nan_to_num(found))


def read_completed(
    file: Path, unfinished: Path | None, flows: Flows, lacks: list[str]
) -> Completed | None:
    """Completion times; None if the file has no flows.

    Flows that are not in it are incomplete if the other file has them, and otherwise unknown.
    """
    listed = table(file)
    place = _order(listed, flows, file)
    if len(set(place.tolist())) < len(place):
        raise ScenarioError(f"{file}: a flow is in it twice")
    types = {"size_bytes": "int64", "fct_ns": "double", "ideal_fct_ns": "double"}
    unknown = dict.fromkeys(("fct_ns", "ideal_fct_ns"), np.inf)
    size, fct, ideal = arrays(listed, types, file, unknown).values()
    if (size != flows["size_bytes"][place]).any() or (fct <= 0).any() or (ideal <= 0).any():
        raise ScenarioError(f"{file}: sizes are not those of the list, or times not above 0")
    found = Completed(*(np.full(len(flows["src"]), np.nan) for _ in range(2)))
    if unfinished is not None:
        found.fct_ns[_order(table(unfinished), flows, unfinished)] = np.inf
    found.fct_ns[place], found.ideal_ns[place] = fct, ideal
    known = int(found.is_known.sum())
    if not known:
        lacks.append(f"{file.name} has no flows: completion times are not compared")
        return None
    if known < len(flows["src"]):
        lacks.append(
            f"{file.name} has {known} of {len(flows['src'])} flows: the others are not compared"
        )
    if open_ones := int(np.isinf(found.fct_ns).sum()):
        lacks.append(
            f"{open_ones} of {known} flows are not complete there: how many are is compared, "
            "and not their times"
        )
    return found


def read_pauses(
    file: Path | None, counts: Path, config: Config, topology: Topology, lacks: list[str]
) -> list[tuple[int, int]] | None:
    """The pauses of a run that have ended: the node that was paused, and how long, in ns.

    Without a list there are none, if no frame was sent.
    """
    if not config.flag("PFC_ON"):
        return None
    if file is None:
        if _count(counts, "link_tx_pfc") == 0:
            return []
        lacks.append("there is no pfc.csv or pfc.parquet: pauses are not compared")
        return None
    begun: dict[tuple[int, int], int] = {}
    ended = []
    rows = _rows(table(file), ("time_ns", "node", "port", "pause"), file)
    for row, (time, node, port, pause) in enumerate(rows, 1):
        if node not in topology.links_of:
            raise ScenarioError(f"{file}: row {row}: the topology has no node {node}")
        if pause:
            begun.setdefault((node, port), time)
        elif (node, port) in begun:
            ended.append((node, time - begun.pop((node, port))))
    if begun:
        open_ones = "1 pause does" if len(begun) == 1 else f"{len(begun)} pauses do"
        lacks.append(f"{open_ones} not end in the list: left out, there and here")
    return ended


def _count(file: Path, name: str) -> int | None:
    """A count of a run's summary, if there is one."""
    lines = text_of(file).splitlines() if file.is_file() else []
    counts = (words[1] for words in map(str.split, lines) if words[:1] == [name] and words[1:])
    return next((int(count) for count in counts if count.isdigit()), None)
