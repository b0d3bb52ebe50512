"""The folder of runs of the public RDMA simulator (HPCC's, on ns-3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from spillway import parquet
from spillway.columns import taken
from spillway.errors import ScenarioError, UncheckedWarning
from spillway.rdma.config import Config, read_config, text_of
from spillway.rdma.flows import FlowList, read_flows
from spillway.rdma.source import Source
from spillway.rdma.topology import read_topology
from spillway.validate.rdma_network import Network, hop_order, network_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

INPUTS = "inputs"
_CONFIG = ".config.txt"
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
    """Infinite for a flow that is not complete."""
    ideal_ns: Floats
    """What the simulator takes for the time of the flow alone."""

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
    configs = sorted(folder.glob(f"*/*{_CONFIG}"))
    if not configs:
        raise ScenarioError(f"{folder}: there are no runs", _LAYOUT)
    found = Runs([], [], [])
    for file in configs:
        name = f"{file.parent.name}/{file.name.removesuffix(_CONFIG)}"
        try:
            config = read_config(file)
            inputs = [folder / INPUTS / config.text(key) for key in ("TOPOLOGY_FILE", "FLOW_FILE")]
            missing = [f"{INPUTS}/{path.name}" for path in inputs if not path.is_file()]
            if missing:
                found.missing.append(f"{name}: there is no {' and no '.join(missing)}")
            else:
                found.read.append(_reference(name, config, *inputs))
        except ScenarioError as error:
            found.wrong.append(f"{name}: {error}")
    return found


def _reference(name: str, config: Config, topology_file: Path, flow_file: Path) -> Reference:
    topology = read_topology(topology_file)
    network = network_of(topology, topology_file)
    told = read_flows(flow_file, topology)
    source, flows = Source(config, topology, topology_file, told, flow_file), _flows(told)
    stem = config.file.name.removesuffix(_CONFIG)

    def beside(kind: str) -> Path | None:
        """The file of this kind of output, be it Parquet or CSV."""
        paths = (config.file.parent / f"{stem}.{kind}.{form}" for form in ("parquet", "csv"))
        return next((path for path in paths if path.is_file()), None)

    files = {kind: beside(kind) for kind in ("q", "rate", "fct", "pfc")}
    unfinished = beside("unfinished")
    lacks = []
    if files["fct"] is None and unfinished is None:
        lacks.append("there is no fct.parquet or fct.csv: completion times are not compared")
    if files["rate"] is None and files["fct"] is None:
        lacks.append("there is no rate.parquet: rates are not compared")
    if files["q"] is None:
        lacks.append("there is no q.parquet: the queue is not compared")
    order, routes = "ascending", config.file.parent.parent / INPUTS
    if network.has_choices:
        listed = routes / f"routes_{Path(network.source).stem}.csv"
        if listed.is_file():
            order = hop_order(listed)
        else:
            lacks.append(f"there is no {INPUTS}/{listed.name}: next hops are taken in order")
    completed = None if files["fct"] is None else _completed(files["fct"], flows)
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
        None if files["q"] is None else _queue(files["q"], config, network),
        None if files["rate"] is None else _progress(files["rate"], flows),
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
        from pyarrow import csv

        try:
            return csv.read_csv(file)
        except pa.ArrowException as error:
            raise ScenarioError(f"{file}: cannot be read as CSV: {error}") from error
    with warnings.catch_warnings():
        # All files of a reference run come from another program.
        warnings.simplefilter("ignore", UncheckedWarning)
        return parquet.read(file)


def _queue(file: Path, config: Config, network: Network) -> Queue | None:
    """The queue of one port; none if the file has those of several."""
    table = _table(file)
    if "port" in table.column_names:
        return None
    # A key of the programs that made such runs, which the public one does not have.
    words = config.unknown.get("REF_Q_PORTS", "").split()
    whole = [int(word) for word in words if word.isdecimal()]
    if len(words) != 3 or len(whole) != 3 or whole[0] != 1 or whole[1] not in network.switches:
        raise ScenarioError(
            f"{config.file}: REF_Q_PORTS names not one port of a switch",
            "it is 1, the switch, and its port, counted from 1 in the order of links",
        )
    _, node, port = whole
    if not 1 <= port <= len(network.ports[node]):
        raise ScenarioError(f"{config.file}: REF_Q_PORTS: switch {node} has no port {port}")
    columns = taken(table, {"time_ns": "int64", "queue_bytes": "double"}, str(file))
    time, length = (column.to_numpy() for column in columns.values())
    steps = {int(step) for step in time[1:] - time[:-1]}
    if len(time) < 2 or len(steps) != 1 or min(steps) <= 0:
        if len(time) < 3:
            # A run that was not meant to record its queue has two samples at most.
            return None
        raise ScenarioError(f"{file}: its times are not at equal distances")
    return Queue(time, length, node, network.ports[node][port - 1].neighbour)


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


def _progress(file: Path, flows: Listed) -> Progress:
    """What flows have sent. The file names senders and ports; each such flow must be one only."""
    import numpy as np

    names = ("time_ns", "src", "sport", "snd_una")
    columns = taken(_table(file), dict.fromkeys(names, "int64"), str(file))
    time, src, sport, acked = (column.to_numpy() for column in columns.values())
    by_sender: dict[tuple[int, ...], int]
    by_sender = {(name[0], name[2]): place for name, place in _named(flows).items()}
    if len(by_sender) != len(flows.src):
        raise ScenarioError(f"{file}: two flows have the same sender and port")
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


def _completed(file: Path, flows: Listed) -> Completed:
    import numpy as np

    table = _table(file)
    place = _order(table, flows, file)
    if sorted(place.tolist()) != list(range(len(flows.src))):
        raise ScenarioError(f"{file}: its flows are not those of the list, each once")
    types = {"size_bytes": "int64", "fct_ns": "double", "ideal_fct_ns": "double"}
    columns = taken(table, types, str(file), may_be_unknown=("fct_ns", "ideal_fct_ns"))
    size, fct, ideal = (
        column.fill_null(unknown).to_numpy()
        for column, unknown in zip(columns.values(), (0, np.inf, np.inf), strict=True)
    )
    if (size != flows.size_bytes[place]).any() or (fct <= 0).any() or (ideal <= 0).any():
        raise ScenarioError(f"{file}: sizes are not those of the list, or times not above 0")
    order = np.argsort(place)
    return Completed(fct[order], ideal[order])


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
