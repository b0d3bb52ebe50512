"""The files of a run of the public RDMA simulator, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.base.errors import ScenarioError
from spillway.formats.rdma.config import Config, read_config
from spillway.formats.rdma.flows import FlowList, read_flows
from spillway.formats.rdma.topology import Topology, read_topology
from spillway.formats.rdma.units import shown

CONFIG = "config.txt"
_INPUTS = "inputs"


@dataclass(frozen=True)
class Source:
    """What a run of the simulator is given."""

    config: Config
    """The settings."""
    topology: Topology
    """The network."""
    topology_file: Path
    """The file that it was read from."""
    flows: FlowList
    """The flows."""
    flow_file: Path
    """The file that they were read from."""

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
        raise ScenarioError(f"there is no {place}", "a folder with a config.txt, or such a file")
    if (place / CONFIG).is_file():
        return place / CONFIG
    others = sorted(file for file in place.glob("*config*.txt") if file.is_file())
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(file.name for file in others[:5]) + (", ..." if len(others) > 5 else "")
        hint = f"name one of them, such as {others[0]}"
        raise ScenarioError(f"{place} has several files of settings: {names}", hint)
    raise ScenarioError(f"{place}: there is no {CONFIG}", "name the file of settings itself")


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
    raise ScenarioError(
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
