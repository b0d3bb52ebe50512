"""The folder of runs of the public RDMA simulator (HPCC's, on ns-3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base import csv_file
from spillway.base.columns import taken
from spillway.base.errors import ScenarioError
from spillway.formats.rdma.config import Config, read_config, text_of
from spillway.formats.rdma.flows import FlowList, read_flows
from spillway.formats.rdma.source import Source
from spillway.formats.rdma.topology import read_topology
from spillway_studies.references.files import foreign
from spillway_studies.references.rdma_network import Network, hop_order, network_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

INPUTS = "inputs"
_CONFIG = ".config.txt"
_OUTPUT = ("q", "rate", "fct", "pfc")
_FORMS = (".parquet", ".csv")
_LAYOUT = "folders with RUN.config.txt and its output, and inputs/ with topologies and flows"


@dataclass(frozen=True)
class Listed:
    """The flows of a run, in the order of its file."""

    src: Whole
    dst: Whole
    size_bytes: Whole
    start_ns: Whole
    """In the simulator's time, which cuts decimals of a second to whole nanoseconds."""
    priorities: frozenset[int]
    receiving_ports: frozenset[int]


@dataclass(frozen=True)
class Queue:
    """The queue of one port, at regular times."""

    time_ns: Whole
    queue_bytes: Floats
    node: int
    """The switch."""
    neighbour: int
    """The node that the port leads to."""


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
    """Infinite for a flow that is not complete, and no number for one of which nothing is told."""
    ideal_ns: Floats
    """What the simulator takes for the time of the flow alone."""

    @property
    def is_known(self) -> Booleans:
        """Of which flows something is told."""
        import numpy as np

        return ~np.isnan(self.fct_ns)

    @property
    def has_any(self) -> bool:
        """Whether some flow is complete."""
        import numpy as np

        return bool(np.isfinite(self.fct_ns).any())


@dataclass(frozen=True)
class Pauses:
    """The pauses of a run: one for each time that a port was paused."""

    node: Whole
    """The node that was paused."""
    time_ns: Floats
    """How long."""
    open_at_end: int
    """How many more had not ended when the run did."""


@dataclass(frozen=True)
class Reference:
    """A run of the simulator: what it was given, and what it has left."""

    name: str
    """Such as A/dcqcn_paper_n20_slope2."""
    source: Source
    """The settings, topology and flows, as `spillway import rdma` reads them."""
    network: Network
    flows: Listed
    hop_order: str
    """In which order a switch counts next hops: ascending, descending or neither."""
    queue: Queue | None
    progress: Progress | None
    completed: Completed | None
    pauses: Pauses | None
    lacks: list[str]
    """Files that are not there, in words."""

    @cached_property
    def begin_ns(self) -> int:
        """The simulator's time that is the start of our run."""
        starts = [int(self.flows.start_ns.min())]
        if self.queue is not None:
            starts.append(int(self.queue.time_ns[0]))
        return min(starts)

    @property
    def stop_ns(self) -> int:
        """When the simulator ended."""
        return self.source.config.seconds("SIMULATOR_STOP_TIME")

    @property
    def loses(self) -> bool:
        """Whether links lose packets at random."""
        usual = self.source.config.number("ERROR_RATE_PER_LINK")
        return any(link.loss or usual for link in self.source.topology.links)

    @cached_property
    def window_ns(self) -> tuple[int, int]:
        """The time in which queues and rates are compared.

        The second half of a run whose flows do not end, or all of it where links lose packets:
        recoveries come from the first round trip on. Otherwise from the start to the end of the
        last flow that is complete.
        """
        import numpy as np

        if self.completed is not None:
            ends = (self.flows.start_ns + self.completed.fct_ns)[np.isfinite(self.completed.fct_ns)]
            if len(ends):
                return self.begin_ns, int(ends.max())
        times = [found.time_ns for found in (self.queue, self.progress) if found is not None]
        end = int(min(time[-1] for time in times)) if times else self.stop_ns
        if self.loses:
            return self.begin_ns, end
        half = (end - self.begin_ns) // 2
        return self.begin_ns + half, self.begin_ns + 2 * half


@dataclass(frozen=True)
class Runs:
    """What a folder has."""

    read: list[Reference]
    missing: list[str]
    """Runs that cannot be read for want of files, in words."""
    wrong: list[str]
    """Runs of which a file is not what it should be, in words."""


def runs(folder: Path) -> Runs:
    """The runs in the folder.

    Raises:
        ScenarioError: there is none.
    """
    if not folder.is_dir():
        raise ScenarioError(f"there is no folder {folder}", _LAYOUT)
    # Folders of runs may be links, which the search at all depths does not follow.
    configs = sorted({*folder.glob(f"*/*{_CONFIG}"), *folder.rglob(f"*{_CONFIG}")})
    if not configs:
        raise ScenarioError(f"{folder}: there are no runs", _LAYOUT)
    found = Runs([], [], [])
    for file in configs:
        name = str(file.relative_to(folder)).removesuffix(_CONFIG)
        try:
            config = read_config(file)
            named = [config.text(key) for key in ("TOPOLOGY_FILE", "FLOW_FILE")]
            inputs = [folder / INPUTS / Path(each).name for each in named]
            missing = [f"{INPUTS}/{path.name}" for path in inputs if not path.is_file()]
            if missing:
                found.missing.append(f"{name}: there is no {' and no '.join(missing)}")
            else:
                found.read.append(_reference(name, config, *inputs))
        except ScenarioError as error:
            found.wrong.append(f"{name}: {error}")
    found.missing.extend(_without_settings(folder))
    return found


def _without_settings(folder: Path) -> list[str]:
    """Runs that have output and no settings, in words."""
    files = [file for kind in _OUTPUT for file in folder.glob(f"*/*.{kind}.*")]
    stems = {file.with_suffix("").with_suffix("") for file in files if file.suffix in _FORMS}
    return [
        f"{stem.relative_to(folder)}: there is no {stem.name}{_CONFIG}"
        for stem in sorted(stems)
        if not stem.with_name(stem.name + _CONFIG).is_file()
    ]


def _reference(name: str, config: Config, topology_file: Path, flow_file: Path) -> Reference:
    topology = read_topology(topology_file)
    network = network_of(topology, topology_file)
    told = read_flows(flow_file, topology)
    source, flows = Source(config, topology, topology_file, told, flow_file), _flows(told)
    stem = config.file.name.removesuffix(_CONFIG)

    def beside(kind: str) -> Path | None:
        """The file of this kind of output, be it Parquet or CSV."""
        paths = (config.file.parent / f"{stem}.{kind}{form}" for form in _FORMS)
        return next((path for path in paths if path.is_file()), None)

    files = {kind: beside(kind) for kind in _OUTPUT}
    unfinished = beside("unfinished")
    lacks = []
    if files["fct"] is None and unfinished is None:
        lacks.append("there is no fct.parquet or fct.csv: completion times are not compared")
    if files["rate"] is None and files["fct"] is None:
        lacks.append("there is no rate.parquet: rates are not compared")
    if files["q"] is None:
        lacks.append("there is no q.parquet: the queue is not compared")
    order, routes = "ascending", topology_file.parent
    if network.has_choices:
        listed = routes / f"routes_{Path(network.source).stem}.csv"
        if listed.is_file():
            order = hop_order(listed)
        else:
            lacks.append(f"there is no {INPUTS}/{listed.name}: next hops are taken in order")
    completed = None if files["fct"] is None else _completed(files["fct"], unfinished, flows, lacks)
    if completed is not None and completed.has_any:
        # Rates are not compared.
        files["rate"] = None
    counts = config.file.parent / f"{stem}.summary.txt"
    pauses = _pauses(files["pfc"], counts, config, network)
    if config.flag("PFC_ON") and pauses is None:
        lacks.append("there is no pfc.csv or pfc.parquet: pauses are not compared")
    if pauses is not None and pauses.open_at_end:
        count = pauses.open_at_end
        open_ones = "1 pause does" if count == 1 else f"{count} pauses do"
        lacks.append(f"{open_ones} not end in the list: left out, there and here")
    return Reference(
        name,
        source,
        network,
        flows,
        order,
        None if files["q"] is None else _queue(files["q"], config, network, flows, lacks),
        None if files["rate"] is None else _progress(files["rate"], flows, lacks),
        completed,
        pauses,
        lacks,
    )


def _flows(listed: FlowList) -> Listed:
    """The flows by columns."""
    import numpy as np

    rows = [(each.src, each.dst, each.size_bytes, each.start_ns) for each in listed.flows]
    src, dst, size, start = np.array(rows, dtype=np.int64).T
    return Listed(src, dst, size, start, frozenset(listed.groups), frozenset(listed.ports))


def _table(file: Path) -> pa.Table:
    """A table of the reference."""
    if file.suffix == ".csv":
        import pyarrow as pa

        try:
            return csv_file.read(file)
        except pa.ArrowException as error:
            raise ScenarioError(f"{file}: cannot be read as CSV: {error}") from error
    return foreign(file)


def _queue(
    file: Path, config: Config, network: Network, flows: Listed, lacks: list[str]
) -> Queue | None:
    """The queue of one port; none if the file has those of several, or next to no samples."""
    table = _table(file)
    if "port" in table.column_names:
        lacks.append(f"{file.name} names ports, of which there may be several: it is not compared")
        return None
    if (port := _sampled(config, network, flows)) is None:
        lacks.append(f"no REF_Q_PORTS tells the port of {file.name}: the queue is not compared")
        return None
    columns = taken(table, {"time_ns": "int64", "queue_bytes": "double"}, str(file))
    time, length = (column.to_numpy() for column in columns.values())
    if len(time) < 3:
        # A run that was not meant to record its queue has two samples at most.
        lacks.append(f"{file.name} has less than three samples: the queue is not compared")
        return None
    steps = {int(step) for step in time[1:] - time[:-1]}
    if len(steps) != 1 or min(steps) <= 0:
        raise ScenarioError(f"{file}: its times are not at equal distances")
    return Queue(time, length, *port)


def _sampled(config: Config, network: Network, flows: Listed) -> tuple[int, int] | None:
    """The switch whose queue was sampled, and the node that its port leads to.

    Without a word about it that is the port to the only receiver; none if there are several.
    """
    # A key of the programs that made such runs, which the public one does not have.
    told = config.unknown.get("REF_Q_PORTS")
    if told is None:
        receivers = {int(node) for node in flows.dst}
        receiver = receivers.pop()
        return None if receivers else (network.ports[receiver][0].neighbour, receiver)
    words = told.split()
    whole = [int(word) for word in words if word.isdecimal()]
    if len(words) != 3 or len(whole) != 3 or whole[0] != 1 or whole[1] not in network.switches:
        raise ScenarioError(
            f"{config.file}: REF_Q_PORTS names not one port of a switch",
            "it is 1, the switch, and its port, counted from 1 in the order of links",
        )
    _, node, port = whole
    if not 1 <= port <= len(network.ports[node]):
        raise ScenarioError(f"{config.file}: REF_Q_PORTS: switch {node} has no port {port}")
    return node, network.ports[node][port - 1].neighbour


def _order(table: pa.Table, flows: Listed, file: Path) -> Whole:
    """The place of each row's flow in the list: the k-th of a pair has the port 10,000 + k."""
    columns = taken(table, dict.fromkeys(("src", "dst", "sport"), "int64"), str(file))
    wanted = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    return _places(wanted, _named(flows), file)


def _named(flows: Listed) -> dict[tuple[int, ...], int]:
    """The place of each flow, by sender, receiver and source port."""
    counts: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, ...], int] = {}
    for place, pair in enumerate(zip(flows.src.tolist(), flows.dst.tolist(), strict=True)):
        number = counts.get(pair, 0)
        counts[pair] = number + 1
        found[(*pair, 10_000 + number)] = place
    return found


def _places(
    wanted: Iterable[tuple[int, ...]], named: Mapping[tuple[int, ...], int], file: Path
) -> Whole:
    """The places of flows that are named."""
    import numpy as np

    found = []
    for name in wanted:
        if name not in named:
            raise ScenarioError(f"{file}: it has a flow that is not listed: {name}")
        found.append(named[name])
    return np.array(found, dtype=np.int64)


def _progress(file: Path, flows: Listed, lacks: list[str]) -> Progress | None:
    """What flows have sent; none if no flow is told, or several have the sender and port told."""
    import numpy as np

    names = ("time_ns", "src", "sport", "snd_una")
    columns = taken(_table(file), dict.fromkeys(names, "int64"), str(file))
    time, src, sport, acked = (column.to_numpy() for column in columns.values())
    by_sender: dict[tuple[int, ...], int]
    by_sender = {(name[0], name[2]): place for name, place in _named(flows).items()}
    reason = None
    if not len(time):
        reason = "has no rows"
    elif len(by_sender) != len(flows.src):
        reason = "tells flows by sender and port, which two have in common"
    if reason is not None:
        lacks.append(f"{file.name} {reason}: rates are not compared")
        return None
    place = _places(zip(src.tolist(), sport.tolist(), strict=True), by_sender, file)
    times = np.unique(time)
    found = np.full((len(flows.src), len(times)), np.nan)
    found[place, np.searchsorted(times, time)] = acked
    # A flow that has ended is not told any more: it is complete.
    for row, size in zip(found, flows.size_bytes.tolist(), strict=True):
        known = np.flatnonzero(~np.isnan(row))
        if len(known):
            row[known[-1] + 1 :] = size
            row[: known[0]] = 0
    return Progress(times, np.nan_to_num(found))


def _completed(
    file: Path, unfinished: Path | None, flows: Listed, lacks: list[str]
) -> Completed | None:
    """Completion times; none if the file has no flows.

    Flows that it does not have are not complete if the other file has them, and else not known.
    """
    import numpy as np

    table = _table(file)
    place = _order(table, flows, file)
    if len(set(place.tolist())) < len(place):
        raise ScenarioError(f"{file}: a flow is in it twice")
    types = {"size_bytes": "int64", "fct_ns": "double", "ideal_fct_ns": "double"}
    columns = taken(table, types, str(file), may_be_unknown=("fct_ns", "ideal_fct_ns"))
    size, fct, ideal = (
        column.fill_null(unknown).to_numpy()
        for column, unknown in zip(columns.values(), (0, np.inf, np.inf), strict=True)
    )
    if (size != flows.size_bytes[place]).any() or (fct <= 0).any() or (ideal <= 0).any():
        raise ScenarioError(f"{file}: sizes are not those of the list, or times not above 0")
    found = Completed(*(np.full(len(flows.src), np.nan) for _ in range(2)))
    if unfinished is not None:
        found.fct_ns[_order(_table(unfinished), flows, unfinished)] = np.inf
    found.fct_ns[place], found.ideal_ns[place] = fct, ideal
    known = int(found.is_known.sum())
    if not known:
        lacks.append(f"{file.name} has no flows: completion times are not compared")
        return None
    if known < len(flows.src):
        lacks.append(
            f"{file.name} has {known} of {len(flows.src)} flows: the others are not compared"
        )
    if open_ones := int(np.isinf(found.fct_ns).sum()):
        lacks.append(
            f"{open_ones} of {known} flows are not complete there: how many are is compared, "
            "and not their times"
        )
    return found


def _pauses(file: Path | None, counts: Path, config: Config, network: Network) -> Pauses | None:
    """The pauses of a run that have ended. Without a list there are none, if no frame was sent."""
    import numpy as np

    if not config.flag("PFC_ON"):
        return None
    if file is None:
        frames = _count(counts, "link_tx_pfc")
        return Pauses(np.array([], dtype=np.int64), np.array([]), 0) if frames == 0 else None
    names = ("time_ns", "node", "port", "pause")
    columns = taken(_table(file), dict.fromkeys(names, "int64"), str(file))
    begun: dict[tuple[int, int], int] = {}
    node_of, lasted = [], []
    rows = zip(*(c.to_pylist() for c in columns.values()), strict=True)
    for row, (time, node, port, pause) in enumerate(rows, 1):
        if node not in network.ports:
            raise ScenarioError(f"{file}: row {row}: the topology has no node {node}")
        if pause:
            begun.setdefault((node, port), time)
        elif (node, port) in begun:
            node_of.append(node)
            lasted.append(time - begun.pop((node, port)))
    return Pauses(np.array(node_of, dtype=np.int64), np.array(lasted, dtype=float), len(begun))


def _count(file: Path, name: str) -> int | None:
    """A count of a run's summary, if there is one."""
    if not file.is_file():
        return None
    for line in text_of(file).splitlines():
        words = line.split()
        if words[:1] == [name] and len(words) > 1 and words[1].isdigit():
            return int(words[1])
    return None
