"""The files of a run of the public RDMA simulator, wherever they lie, and the flows in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.base.errors import FileError
from spillway.formats.rdma.config import Config, read_config, text_of
from spillway.formats.rdma.topology import Topology, read_topology
from spillway.formats.rdma.units import shown, whole_ns, whole_of

CONFIG = "config.txt"
_INPUTS = "inputs"
USUAL_PORT = 100
"""The port that flows go to, unless a list says otherwise."""
LAST_GROUP = 7
"""The last of a switch's queues. Queue 0 has no thresholds, and belongs to pause frames."""
_LAYOUT = (
    "the first line is the number of flows; each other one is: "
    "source destination priority-group port bytes seconds"
)


@dataclass(frozen=True)
class Listed:
    """A flow.

    Attributes:
        group: the priority group: the queue of its packets at switches.
        port: the port that it goes to.
        start_ns: in the simulator's time.
    """

    src: int
    dst: int
    group: int
    port: int
    size_bytes: int
    start_ns: int


@dataclass(frozen=True)
class FlowList:
    """The flows that a run begins with, in the order of the file.

    Attributes:
        left_over: how many flows the file has beyond those that it announces.
    """

    flows: tuple[Listed, ...]
    left_over: int

    @property
    def is_sorted(self) -> bool:
        """Whether flows are in the order of their starts, as the simulator needs them."""
        starts = [flow.start_ns for flow in self.flows]
        return starts == sorted(starts)

    @property
    def groups(self) -> list[int]:
        """The priority groups, those with the most flows first."""
        counts = Counter(flow.group for flow in self.flows)
        return sorted(counts, key=lambda group: (-counts[group], group))

    @property
    def ports(self) -> list[int]:
        """The ports that flows go to."""
        return sorted({flow.port for flow in self.flows})


@dataclass(frozen=True)
class Source:
    """What a run of the simulator is given.

    Attributes:
        config: the settings.
        topology: the network.
        topology_file: the file that it was read from.
        flows: the flows.
        flow_file: the file that they were read from.
    """

    config: Config
    topology: Topology
    topology_file: Path
    flows: FlowList
    flow_file: Path

    @property
    def name(self) -> str:
        """A name for the run: that of its settings, or of their folder."""
        stem = self.config.file.name.removesuffix(".txt").removesuffix(".config")
        if stem in ("config", ""):
            return self.config.file.absolute().parent.name or stem
        return stem


def read_source(
    place: Path,
    topology: Path | None = None,
    flows: Path | None = None,
    *,
    ignore: Sequence[str] = (),
) -> Source:
    """Reads a file of settings, or that of a folder, and the files that it names.

    `topology` and `flows` are read in place of those that it names; keys to `ignore` are passed
    over, as if they were not there.

    Raises:
        ScenarioError: a file is missing, or is not what it should be, or the settings have a key
            that is not known.
    """
    config = read_config(_config_in(place)).without(ignore)
    topology_file = topology or _named(config, "TOPOLOGY_FILE", "--topology")
    flow_file = flows or _named(config, "FLOW_FILE", "--flows")
    config.asked |= {"TOPOLOGY_FILE", "FLOW_FILE"}
    network = read_topology(topology_file)
    return Source(config, network, topology_file, read_flows(flow_file, network), flow_file)


def _config_in(place: Path) -> Path:
    if place.is_file():
        return place
    if not place.is_dir():
        raise FileError(f"there is no {place}", "a folder with a config.txt, or such a file")
    if (place / CONFIG).is_file():
        return place / CONFIG
    others = sorted(file for file in place.glob("*config*.txt") if file.is_file())
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(file.name for file in others[:5]) + (", ..." if len(others) > 5 else "")
        raise FileError(
            f"{place} has several files of settings: {names}",
            f"name one of them, such as {others[0]}",
        )
    raise FileError(f"{place}: there is no {CONFIG}", "name the file of settings itself")


def _named(config: Config, key: str, option: str) -> Path:
    """The file that a key names: as it stands, or seen from the settings' folder and above it.

    The simulator sees names from the folder in which it is started, which is often the one above.
    """
    name = Path(config.text(key))
    here = config.file.parent
    above = here.absolute().parent
    places = [here / name, above / name, here / name.name, above / name.name]
    places += [here / _INPUTS / name.name, above / _INPUTS / name.name]
    for place in places:
        if _is_file(place):
            return place
    looked = ", ".join(dict.fromkeys(str(place) for place in places))
    raise FileError(
        f"{config.file}: {key}: there is no file {name}; looked for: {looked}"
        if shown(str(name)) == str(name)
        else f"{config.file}: {key}: there is no file {shown(str(name))}",
        f"{option} names the file",
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # Its name is too long.
        return False


def read_flows(file: Path, topology: Topology) -> FlowList:
    """Reads a list of flows: their number, and then a line for each.

    Raises:
        ScenarioError: it is no such list, or a flow is not between two hosts.
    """
    lines = [
        (number, words)
        for number, line in enumerate(text_of(file).splitlines(), 1)
        if (words := line.split("#")[0].split())
    ]
    count = whole_of(lines[0][1][0]) if lines and len(lines[0][1]) == 1 else None
    if count is None:
        raise FileError(f"{file}: its first line is not the number of flows", _LAYOUT)
    rows = lines[1 : 1 + count]
    if not count:
        raise FileError(f"{file}: it announces no flows", _LAYOUT)
    hosts = frozenset(topology.hosts)
    flows = tuple(_flow(file, number, words, hosts) for number, words in rows)
    if len(flows) < count:
        raise FileError(f"{file}: it has {len(flows)} flows, and {count} are announced")
    left_over = sum(1 for _, words in lines[1 + count :] if whole_of(words[0]) is not None)
    return FlowList(flows, left_over)


def _flow(file: Path, number: int, words: list[str], hosts: frozenset[int]) -> Listed:
    wrong = f"{file}: line {number}"
    numbers = [value for word in words[:5] if (value := whole_of(word)) is not None]
    try:
        src, dst, group, port, size = numbers
        (seconds,) = words[5:]
        start_ns = whole_ns(seconds)
    except ValueError:
        text = shown(" ".join(words))
        raise FileError(f"{wrong}: {text} is no flow", _LAYOUT) from None
    for host in (src, dst):
        if host not in hosts:
            raise FileError(f"{wrong}: {host} is no host of the topology")
    if src == dst:
        raise FileError(f"{wrong}: the flow leads from host {src} to itself")
    if not 1 <= group <= LAST_GROUP:
        raise FileError(
            f"{wrong}: the priority group {group} is not from 1 to {LAST_GROUP}",
            "packets of group 0 have no thresholds there: they are never marked, and pause none",
        )
    if not 0 <= port < 2**16:
        raise FileError(f"{wrong}: {port} is no port")
    if size < 1 or start_ns < 0:
        raise FileError(f"{wrong}: a flow has at least one byte, and starts at 0 or later")
    return Listed(src, dst, group, port, size, start_ns)
