"""Sequences of arrivals: generated, or from lists, files, or a packet-level run."""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import ArrayLike, NDArray

from spillway.base import checksums, core, csv_file, parquet
from spillway.base.arguments import LARGEST_SEED, integer, items
from spillway.base.errors import FileError, ScenarioError, ScenarioWarning
from spillway.base.folder import check_file, whole_file
from spillway.scenario import fates
from spillway.scenario.flow_export import column_names
from spillway.scenario.scenario import Scenario

MOST_PORTS = 1 << 16
MOST_BUFFER = 1 << 31
MOST_PACKETS = 1 << 30
LONGEST_SLOT_NS = 1e15
LARGEST_UNIT = 1 << 31

_DECISIONS = "decisions.parquet"


class Arrivals:
    """A sequence of packets of one size, slot after slot, each for a port. It is immutable.

    Args:
        ports: Ports (N), from 1 to 65,536.
        slot: The slot of every packet, from 0 and never decreasing: whole numbers, shape (P,).
            Packets of one slot arrive in the order given here.
        port: The port that each is for, from 0: whole numbers, shape (P,).
        slots: The number of slots; by default one more than the last packet's slot.

    Raises:
        ScenarioError: A column does not hold whole numbers, the columns differ in length, or a
            number is out of range.
    """

    def __init__(
        self, ports: int, slot: ArrayLike, port: ArrayLike, slots: int | None = None
    ) -> None:
        check_switch(ports, 1)
        of_slot, of_port = _whole("slot", slot), _whole("port", port)
        if len(of_slot) != len(of_port):
            raise ScenarioError(
                f"there are {len(of_slot)} slots and {len(of_port)} ports: each packet has one of "
                "both"
            )
        if slots is None:
            slots = int(of_slot[-1]) + 1 if len(of_slot) else 0
        if np.any(of_port >= 2**32):
            raise ScenarioError(f"there are ports beyond {ports}")
        self._core = core.Arrivals(ports, of_slot, of_port.astype(np.uint32), slots)

    @classmethod
    def of_slots(cls, ports: int, slots: Sequence[Sequence[int]]) -> Self:
        """The sequence given by a list of ports for every slot.

        >>> Arrivals.of_slots(2, [[0, 0], [], [1]])
        <3 packets in 3 slots for 2 ports>

        Args:
            ports: Ports (N).
            slots: For every slot, the ports of its packets, in the order in which these arrive.

        Raises:
            ScenarioError: A number is out of range, or is no whole number.
        """
        hint = "for one: [[0, 0], [], [1]]"
        listed = [list(items(packets, "ports", hint)) for packets in items(slots, "slots", hint)]
        slot = [number for number, packets in enumerate(listed) for _ in packets]
        return cls(ports, slot, [port for packets in listed for port in packets], len(listed))

    @classmethod
    def generate(
        cls,
        kind: str,
        *,
        ports: int,
        buffer: int,
        seed: int = 1,
        keys: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Self:
        """The sequence that a generator makes.

        >>> Arrivals.generate("bernoulli", ports=4, buffer=16, slots=100, load=1.0)
        <400 packets in 100 slots for 4 ports>

        Args:
            kind: The generator: `spillway slotted list`.
            ports: The ports (N) of the switch that they are made for.
            buffer: The packets that its buffer holds (B).
            seed: The seed of random choices.
            keys: The generator's own parameters in a dict, whatever their names.
            **more: The same by name, such as `slots` or `load`.

        Raises:
            ScenarioError: There is no such generator, or a key or its value is wrong.
        """
        check_switch(ports, buffer)
        given = {**(keys or {}), **more}
        made = cls.__new__(cls)
        made._core = core.Arrivals.generate(kind, given, ports, buffer, check_seed(seed))
        return made

    @classmethod
    def read(cls, file: str | Path, ports: int | None = None) -> Self:
        """Reads a CSV or Parquet file with the columns `slot` and `port`, a row for every packet.

        Args:
            file: Its name ends in .csv or .parquet.
            ports: The number of ports (N); by default the one that `write` has recorded, or the
                least that the ports in the file require.

        Raises:
            ScenarioError: The file cannot be read, or does not hold such columns, or has a port
                beyond `ports`.
        """
        table = _table(Path(file), ("slot", "port"))
        slot, port = (_column(file, table, name) for name in ("slot", "port"))
        greatest = int(port.max(initial=0))
        noted = (table.schema.metadata or {}).get(b"spillway.ports")
        if ports is None:
            ports = int(noted) if noted else greatest + 1
        elif greatest >= ports:
            text = (
                f"{file}: there is a port {greatest}, and of {ports} ports {ports - 1} is the last"
            )
            enough = greatest + 1
            raise ScenarioError(
                text,
                f"with ports={enough}, or more, it has a place",
                typed=f"with --ports {enough}, or more, it has a place",
            )
        slots = (table.schema.metadata or {}).get(b"spillway.slots")
        try:
            return cls(ports, slot, port, int(slots) if slots else None)
        except ScenarioError as error:
            raise FileError(f"{file}: {error}", error.hint) from error

    @classmethod
    def of_packets(
        cls,
        source: str | Path,
        *,
        switch: str,
        slot_ns: float,
        unit_bytes: int = 1500,
        ports: int | None = None,
    ) -> Self:
        """Converts the arrivals at one switch of a packet-level run to slots and equal packets.

        A slot should last as long as a port needs for a packet of `unit_bytes`: 1200 ns for 1500
        bytes at 10 Gbps. The bytes that arrive for a port are added up. Whenever the sum reaches
        another multiple of `unit_bytes` there is a packet, in the slot of that arrival. So no byte
        is lost or counted twice, and a port's packets never run ahead of its bytes.

        Args:
            source: A result's folder, of which the oracle's trace is used or, failing that, the
                decisions; or a Parquet or CSV file with the columns `time_ps`, `switch`, `port` and
                `size_bytes`. Every row is an arrival. Samples are refused, and decisions that end
                early give a warning.
            switch: The switch's name as in the table, such as `leaf3`.
            slot_ns: The length of a slot in nanoseconds. The first slot begins with the first
                arrival.
            unit_bytes: The size of a packet of the model, in bytes.
            ports: The number of ports (N); by default that of the switch in the scenario.toml
                beside the file or, failing that, the least that the ports in the file require.

        Raises:
            ScenarioError: There are no such arrivals, they are samples, a number is out of its
                range, or there are too many packets.
        """
        path = _of_result(Path(source))
        table = _table(path, ("time_ps", "switch", "port", "size_bytes"), ("weight", "arrival"))
        _check_whole(path, table)
        if not 0.001 <= slot_ns <= LONGEST_SLOT_NS:
            raise ScenarioError(
                f"a slot of {slot_ns:g} ns is not possible",
                f"it may last from 0.001 to {LONGEST_SLOT_NS:g} ns",
            )
        if not 1 <= unit_bytes <= LARGEST_UNIT:
            raise ScenarioError(
                f"a packet of {unit_bytes} bytes is not possible",
                f"it may have from 1 to {LARGEST_UNIT:,}",
            )
        names = np.asarray(table["switch"].cast("string").to_pylist(), dtype=object)
        here = names == switch
        if not here.any():
            seen = ", ".join(sorted({str(name) for name in names})) or "none: it has no rows"
            raise FileError(f"{path}: nothing arrives at a switch {switch!r}", f"seen: {seen}")
        time, port, size = (
            _column(path, table, name)[here].astype(np.int64)
            for name in ("time_ps", "port", "size_bytes")
        )
        # Rows of a trace are in the order of known fates; `arrival` orders packets of one instant.
        has_order = "arrival" in table.column_names
        later = _column(path, table, "arrival")[here] if has_order else np.arange(len(time))
        order = np.lexsort((later, time))
        time, port, size = time[order], port[order], size[order]
        packets = np.zeros(len(time), dtype=np.int64)
        for one in np.unique(port):
            whole = np.cumsum(size[port == one]) // unit_bytes
            packets[port == one] = np.diff(whole, prepend=0)
        if packets.sum() > MOST_PACKETS:
            raise FileError(
                f"{path}: there are {packets.sum():,} packets of {unit_bytes} bytes",
                f"{MOST_PACKETS:,} are the most: make them larger",
            )
        slot = (time - time[0]) // max(1, round(slot_ns * 1000))
        if ports is None:
            ports = ports_of(path, switch) or int(port.max()) + 1
        return cls(ports, np.repeat(slot, packets), np.repeat(port, packets), int(slot[-1]) + 1)

    def write(
        self, file: str | Path, notes: Mapping[str, Any] | None = None, *, force: bool = True
    ) -> None:
        """Writes a CSV or Parquet file that `read` reads, completely or not at all.

        Parquet records the numbers of ports and slots in its schema's metadata; CSV cannot.

        Args:
            file: Its name ends in .csv or .parquet.
            notes: Further information, stored as JSON under `spillway.notes` in Parquet, and not at
                all in CSV.
            force: Whether an existing file is replaced.

        Raises:
            ScenarioError: The name ends otherwise, or the file is there or cannot be written.
        """
        path = Path(file)
        check_kind(path)
        check_file(path)
        table = pa.table({"slot": self.slot, "port": self.port})
        noted = {"spillway.ports": str(self.ports), "spillway.slots": str(self.slots)}
        if notes is not None:
            noted["spillway.notes"] = json.dumps(notes, allow_nan=False)
        with whole_file(path, force) as partial:
            if path.suffix == ".csv":
                pa.csv.write_csv(table, partial)
            else:
                parquet.write(table.replace_schema_metadata(noted), partial)

    @property
    def ports(self) -> int:
        """The number of ports (N)."""
        return self._core.ports

    @property
    def slots(self) -> int:
        """The number of slots."""
        return self._core.slots

    @cached_property
    def slot(self) -> NDArray[np.uint64]:
        """The slot of every packet: shape (P,), read-only."""
        return np.frombuffer(memoryview(self._core.slot), dtype=np.uint64)

    @cached_property
    def port(self) -> NDArray[np.uint32]:
        """The port of every packet: shape (P,), read-only."""
        return np.frombuffer(memoryview(self._core.port), dtype=np.uint32)

    @property
    def most_in_a_slot(self) -> int:
        """The most packets that arrive in one slot; appendix A allows N."""
        return int(np.unique(self.slot, return_counts=True)[1].max(initial=0))

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arrivals):
            return NotImplemented
        return (
            (self.ports, self.slots) == (other.ports, other.slots)
            and np.array_equal(self.slot, other.slot)
            and np.array_equal(self.port, other.port)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} packets in {self.slots} slots for {self.ports} ports>"


def generators() -> list[dict[str, Any]]:
    """All generators: id, summary, citation, the policy that they are aimed at, and their keys."""
    listed: list[dict[str, Any]] = json.loads(core.generators())
    return listed


def ports_of(source: str | Path, switch: str) -> int | None:
    """The ports of a switch in a packet-level run, if the scenario beside its tables gives them."""
    folder = _of_result(Path(source)).parent
    if not (folder / "scenario.toml").is_file():
        return None
    for tier in Scenario.load(folder).facts["tiers"]:
        if fates.tier_of(switch) == tier["tier"]:
            return int(sum(tier["ports_by_gbps"].values()))
    return None


def check_switch(ports: int, buffer: int) -> None:
    """Refuses an impossible number of ports or size of buffer."""
    if not 1 <= (integer(ports) or 0) <= MOST_PORTS:
        raise ScenarioError(
            f"{ports!r} ports are not possible", f"there may be 1 to {MOST_PORTS:,}"
        )
    if not 1 <= (integer(buffer) or 0) <= MOST_BUFFER:
        raise ScenarioError(
            f"a buffer of {buffer!r} packets is not possible",
            f"it may have room for 1 to {MOST_BUFFER:,} packets",
        )


def check_seed(seed: int) -> int:
    """Refuses an invalid seed."""
    number = integer(seed)
    if number is None or not 0 <= number <= LARGEST_SEED:
        raise ScenarioError(f"{seed!r} is not a seed", "a whole number from 0 is")
    return number


def check_kind(file: Path) -> None:
    """Refuses a file whose name ends neither in .csv nor in .parquet."""
    if file.suffix not in (".csv", ".parquet"):
        raise ScenarioError(
            f"{file} is neither .csv nor .parquet", "the end of its name says what a file holds"
        )


def is_list(file: Path) -> bool:
    """Whether a file is a list of arrivals, by its columns."""
    return {"slot", "port"} <= {*column_names(file)}


def _whole(name: str, given: ArrayLike) -> NDArray[np.uint64]:
    numbers = np.asarray(given)
    if numbers.size == 0:
        return np.zeros(0, dtype=np.uint64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ScenarioError(f"{name} must be a column of whole numbers")
    if numbers.min() < 0:
        raise ScenarioError(f"{name} has {numbers.min()}, which is below 0")
    return np.ascontiguousarray(numbers, dtype=np.uint64)


def _of_result(place: Path) -> Path:
    """The table of a result's folder that contains its arrivals."""
    if not place.is_dir():
        return place
    for name in (fates.FILE, _DECISIONS):
        if (place / name).is_file():
            return place / name
    raise ScenarioError(
        f"{place} has no arrivals: neither {fates.FILE} nor {_DECISIONS}",
        "record them with record.oracle_trace = true, or with record.decisions = N",
    )


def _check_whole(path: Path, table: pa.Table) -> None:
    """Refuses a table that omits arrivals on purpose, and warns about one that ends early."""
    if "weight" in table.column_names:
        fates.check_whole(path, table)
    scenario = path.with_name("scenario.toml")
    if path.name != _DECISIONS or not scenario.is_file():
        return
    checksums.check(path.parent, scenario.name)
    record = tomllib.loads(scenario.read_text(encoding="utf-8")).get("record", {})
    for key in ("decisions_flow", "decisions_port", "decisions_queue"):
        if key in record:
            raise FileError(
                f"{path}: its decisions are some only, by record.{key}",
                f"record them without record.{key}",
            )
    if table.num_rows >= record.get("decisions", np.inf):
        text = f"{path}: it has all {table.num_rows:,} rows that record.decisions asked for"
        warnings.warn(ScenarioWarning(f"{text}: later arrivals are missing"), stacklevel=3)


def _table(path: Path, wanted: Sequence[str], more: Sequence[str] = ()) -> pa.Table:
    """The columns in `wanted`, and those in `more` that exist."""
    check_kind(path)
    if not path.is_file():
        raise FileError(f"{path}: there is no such file")
    try:
        table = csv_file.read(path) if path.suffix == ".csv" else parquet.read(path)
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path}: cannot be read: {error}") from error
    parquet.check_names(path, table.column_names)
    for name in wanted:
        if name not in table.column_names:
            raise FileError(
                f"{path}: there is no column {name}",
                f"it must have the columns {', '.join(wanted)}",
            )
    return table.select([*wanted, *(name for name in more if name in table.column_names)])


def _column(file: str | Path, table: pa.Table, name: str) -> NDArray[np.uint64]:
    column = table[name]
    if column.null_count:
        raise FileError(f"{file}: column {name} has rows without a value")
    try:
        return _whole(name, column.to_numpy())
    except ScenarioError as error:
        raise FileError(f"{file}: {error}") from error
