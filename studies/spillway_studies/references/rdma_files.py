"""The folder of runs of the public RDMA simulator (HPCC's, on ns-3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from spillway.base import csv_file
from spillway.base.arguments import plain_int
from spillway.base.errors import ScenarioError
from spillway.formats.rdma.config import Config, read_config
from spillway.formats.rdma.source import Source, read_flows
from spillway.formats.rdma.switches import tiers_of
from spillway.formats.rdma.topology import Topology, read_topology
from spillway_studies.references.files import check_folder
from spillway_studies.references.rdma_output import (
    Completed,
    Flows,
    Progress,
    Queue,
    read_completed,
    read_pauses,
    read_progress,
    read_queue,
)

_INPUTS = "inputs"
_CONFIG = ".config.txt"
_OUTPUT = ("q", "rate", "fct", "pfc")
_FORMS = (".parquet", ".csv")
_LAYOUT = "folders with RUN.config.txt and its output, and inputs/ with topologies and flows"
_LEVELS = 3


@dataclass(frozen=True)
class Reference:
    """A run of the simulator: what it was given, and what it has left."""

    name: str
    """Such as A/dcqcn_paper_n20_slope2."""
    source: Source
    """The settings, topology and flows, as `spillway import rdma` reads them."""
    flows: Flows
    hop_order: str
    """In which order a switch counts next hops: ascending, descending or neither."""
    queue: Queue | None
    progress: Progress | None
    completed: Completed | None
    pauses: list[tuple[int, int]] | None
    """The nodes that were paused, and how long, in ns."""
    lacks: list[str]
    """Files that are not there, in words."""

    @property
    def topology(self) -> Topology:
        """Hosts, numbered from 0, then switches."""
        return self.source.topology

    @cached_property
    def tiers(self) -> dict[int, str]:
        """The tier of each switch, by its distance from the hosts."""
        return tiers_of(self.topology)

    @cached_property
    def begin_ns(self) -> int:
        """The simulator's time that is the start of our run."""
        starts = [int(self.flows["start_ns"].min())]
        if self.queue is not None:
            starts.append(int(self.queue.time_ns[0]))
        return min(starts)

    @property
    def stop_ns(self) -> int:
        """When the simulator ended."""
        return self.source.config.seconds("SIMULATOR_STOP_TIME")

    @cached_property
    def window_ns(self) -> tuple[int, int]:
        """The time in which queues and rates are compared.

        The second half of a run whose flows do not end, or all of it where links lose packets:
        recoveries come from the first round trip on. Otherwise from the start to the end of the
        last flow that is complete.
        """
        if self.completed is not None:
            ends = self.flows["start_ns"] + self.completed.fct_ns
            ends = ends[np.isfinite(ends)]
            if len(ends):
                return self.begin_ns, int(ends.max())
        times = [found.time_ns for found in (self.queue, self.progress) if found is not None]
        end = int(min(time[-1] for time in times)) if times else self.stop_ns
        usual = self.source.config.number("ERROR_RATE_PER_LINK")
        if any(link.loss or usual for link in self.topology.links):
            return self.begin_ns, end
        half = (end - self.begin_ns) // 2
        return self.begin_ns + half, self.begin_ns + 2 * half


def runs(folder: Path) -> tuple[list[Reference], list[str], list[str]]:
    """The runs in the folder, what is missing of others, and which have a wrong file, in words.

    Raises:
        ScenarioError: there is none.
    """
    check_folder(folder, _LAYOUT)
    # Folders of runs may be links, which the search at all depths does not follow.
    configs = sorted({*folder.glob(f"*/*{_CONFIG}"), *folder.rglob(f"*{_CONFIG}")})
    if not configs:
        raise ScenarioError(f"{folder}: there are no runs", _LAYOUT)
    found: list[Reference] = []
    left_out, wrong = [], []
    for file in configs:
        name = str(file.relative_to(folder)).removesuffix(_CONFIG)
        try:
            config = read_config(file)
            named = [config.text(key) for key in ("TOPOLOGY_FILE", "FLOW_FILE")]
            inputs = [folder / _INPUTS / Path(each).name for each in named]
            missing = [f"{_INPUTS}/{path.name}" for path in inputs if not path.is_file()]
            if missing:
                left_out.append(f"{name}: there is no {' and no '.join(missing)}")
            else:
                found.append(_reference(name, config, *inputs))
        except ScenarioError as error:
            wrong.append(f"{name}: {error}")
    # Then those that have output and no settings.
    files = [file for kind in _OUTPUT for file in folder.glob(f"*/*.{kind}.*")]
    stems = {file.with_suffix("").with_suffix("") for file in files if file.suffix in _FORMS}
    left_out.extend(
        f"{stem.relative_to(folder)}: there is no {stem.name}{_CONFIG}"
        for stem in sorted(stems)
        if not stem.with_name(stem.name + _CONFIG).is_file()
    )
    return found, left_out, wrong


def _reference(name: str, config: Config, topology_file: Path, flow_file: Path) -> Reference:
    topology = network_of(topology_file)
    told = read_flows(flow_file, topology)
    source = Source(config, topology, topology_file, told, flow_file)
    rows = [(each.src, each.dst, each.size_bytes, each.start_ns) for each in told.flows]
    columns = ("src", "dst", "size_bytes", "start_ns")
    flows = dict(zip(columns, np.array(rows, dtype=np.int64).T, strict=True))
    stem = config.file.name.removesuffix(_CONFIG)

    def beside(kind: str) -> Path | None:
        """The file of this kind of output, be it Parquet or CSV."""
        paths = (config.file.parent / f"{stem}.{kind}{form}" for form in _FORMS)
        return next((path for path in paths if path.is_file()), None)

    queue, rate, fct, pfc = (beside(kind) for kind in _OUTPUT)
    unfinished = beside("unfinished")
    order, routes = "ascending", topology_file.with_name(f"routes_{topology_file.stem}.csv")
    has_order = topology.has_choices and routes.is_file()
    missing = {
        "fct.parquet or fct.csv: completion times are not compared": not (fct or unfinished),
        "rate.parquet: rates are not compared": not (rate or fct),
        "q.parquet: the queue is not compared": not queue,
        f"{_INPUTS}/{routes.name}: next hops are taken in order": (
            topology.has_choices and not has_order
        ),
    }
    lacks = [f"there is no {what}" for what, is_missing in missing.items() if is_missing]
    if has_order:
        order = hop_order(routes)
    completed = None if fct is None else read_completed(fct, unfinished, flows, lacks)
    if completed is not None and np.isfinite(completed.fct_ns).any():
        # Rates are not compared.
        rate = None
    counts = config.file.with_name(f"{stem}.summary.txt")
    pauses = read_pauses(pfc, counts, config, topology, lacks)
    return Reference(
        name,
        source,
        flows,
        order,
        None if queue is None else read_queue(queue, config, topology, flows, lacks),
        None if rate is None else read_progress(rate, flows, lacks),
        completed,
        pauses,
        lacks,
    )


def network_of(file: Path) -> Topology:
    """A topology whose switches come behind its hosts.

    Raises:
        ScenarioError: they do not, or there are more levels of switches than are known here.
    """
    topology = read_topology(file)
    if topology.hosts[-1] >= len(topology.hosts):
        raise ScenarioError(f"{file}: the nodes must be hosts, from 0 on, and then switches")
    if max(topology.levels.values()) > _LEVELS:
        raise ScenarioError(f"{file}: a switch is not within {_LEVELS} links of a host")
    return topology


def hop_order(file: Path) -> str:
    """Whether next hops are listed in ascending or descending order: "neither" if it varies."""
    choices = []
    for line, row in csv_file.rows(file):
        try:
            hops = [plain_int(hop) for hop in row["next_hops_in_order"].split()]
        except (KeyError, ValueError, AttributeError) as error:
            problem = "next_hops_in_order is not a list of nodes"
            raise ScenarioError(f"{file}: line {line}: {problem}") from error
        if len(hops) > 1:
            choices.append(hops)
    for name, reverse in (("ascending", False), ("descending", True)):
        if all(hops == sorted(hops, reverse=reverse) for hops in choices):
            return name
    return "neither"
