"""Traces of fates: what packets found at an LQD switch, and whether it dropped them."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from spillway.base.documents import documents
from spillway.base.errors import FileError, ScenarioError, ScenarioWarning, SpillwayError
from spillway.base.folder import path_of
from spillway.scenario.fates import COLUMNS_OF, FILE, QUEUE_CLASS, file_of, read, tier_of
from spillway.scenario.scenario import Scenario, facts


@dataclass(frozen=True)
class Place:
    """A switch in a trace.

    Attributes:
        name: its tier and its number there.
        ports: the number of its ports.
        rates: the rates of its ports, in bits per second; empty if they are unknown.
    """

    name: str
    ports: int
    rates: frozenset[int] = frozenset()

    @property
    def tier(self) -> str:
        """Its tier."""
        return tier_of(self.name)


@dataclass(frozen=True)
class Trace:
    """Packets whose fate is known. Every array has one value per packet.

    Attributes:
        time_ps: the time of arrival.
        features: for every name in `COLUMNS_OF` what the packet found, lengths in bytes.
        buffer_bytes: the switch's buffer.
        dropped: whether LQD dropped it.
        weight: the number of packets that it stands for.
        switch: the index of its switch in `places`.
        places: the switches.
        origin: scenario, seed, version, and the kind of averages.
        without_fate: the number of rows left out because their fate is unknown.
    """

    time_ps: npt.NDArray[np.uint64]
    features: dict[str, npt.NDArray[np.float64]]
    buffer_bytes: npt.NDArray[np.float64]
    dropped: npt.NDArray[np.bool_]
    weight: npt.NDArray[np.float64]
    switch: npt.NDArray[np.int32]
    places: tuple[Place, ...]
    origin: dict[str, Any] = field(default_factory=dict)
    without_fate: int = 0

    def __len__(self) -> int:
        return len(self.dropped)

    @property
    def ports(self) -> int:
        """The greatest number of ports of any switch."""
        return max(place.ports for place in self.places)

    @property
    def rates(self) -> frozenset[int]:
        """The rates of all ports in bits per second; empty if some are unknown."""
        known = all(place.rates for place in self.places)
        return frozenset().union(*(place.rates for place in self.places)) if known else frozenset()

    @property
    def tiers(self) -> list[str]:
        """The tiers of the switches."""
        return sorted({place.tier for place in self.places})

    @property
    def drops(self) -> float:
        """The number of packets that LQD dropped."""
        return float(self.weight[self.dropped].sum())

    def inputs(self, features: Sequence[str], units: str) -> npt.NDArray[np.float32]:
        """The inputs of a model: a row for every packet, a column for every feature.

        `units` is "fraction" (of the switch's buffer) or "bytes".
        """
        unit = self.buffer_bytes if units == "fraction" else 1.0
        columns = [
            self.features[name] / (1.0 if name == QUEUE_CLASS else unit) for name in features
        ]
        return np.column_stack([column.astype(np.float32) for column in columns])

    def where(self, chosen: npt.NDArray[np.bool_]) -> Trace:
        """The trace with only these packets."""
        return replace(
            self,
            time_ps=self.time_ps[chosen],
            features={name: values[chosen] for name, values in self.features.items()},
            buffer_bytes=self.buffer_bytes[chosen],
            dropped=self.dropped[chosen],
            weight=self.weight[chosen],
            switch=self.switch[chosen],
            without_fate=0,
        )

    def at(self, tier: str | None = None, switches: Collection[str] = ()) -> Trace:
        """The trace with only the packets at a tier, or at some switches, by their names.

        Raises:
            ScenarioError: for a tier or a switch that is not in the trace.
        """
        if tier is not None and tier not in self.tiers:
            raise ScenarioError(f"there is no tier {tier!r}", f"it has {', '.join(self.tiers)}")
        names = [place.name for place in self.places]
        if unknown := [name for name in switches if name not in names]:
            raise ScenarioError(
                f"there is no switch {unknown[0]!r}", f"it has {', '.join(dict.fromkeys(names))}"
            )
        kept = [
            number
            for number, place in enumerate(self.places)
            if tier in (None, place.tier) and (not switches or place.name in switches)
        ]
        if not kept:
            raise ScenarioError(f"no such switch is of the tier {tier!r}")
        numbers = np.full(len(self.places), -1, np.int32)
        numbers[kept] = np.arange(len(kept), dtype=np.int32)
        chosen = self.where(numbers[self.switch] >= 0)
        places = tuple(self.places[number] for number in kept)
        return replace(chosen, switch=numbers[chosen.switch], places=places)


def load(place: str | Path, tier: str | None = None, switches: Collection[str] = ()) -> Trace:
    """The trace in a result's folder, or in a Parquet file.

    With only the packets at a tier or at some switches, if these are named.
    """
    file = file_of(path_of(place))
    trace = whole(file)
    try:
        chosen = trace if tier is None and not switches else trace.at(tier, switches)
    except ScenarioError as error:
        raise FileError(f"{file}: {error}", error.hint) from error
    if not len(chosen):
        raise FileError(f"{file}: it has no packet whose fate is known")
    return chosen


def whole(file: Path) -> Trace:
    """The trace in a Parquet file. It may be empty."""
    table = read(file)
    rows = table.num_rows
    table = table.filter(pc.and_(table["dropped"].is_valid(), table["buffer_bytes"].is_valid()))

    def column(name: str) -> Any:
        return table[name].to_numpy()

    switch = table["switch"].unify_dictionaries().combine_chunks()
    numbers = switch.indices.to_numpy().astype(np.int32)
    ports = np.zeros(len(switch.dictionary), int)
    ports[numbers] = column("ports")
    rates = _rates(file.parent)
    places = tuple(
        Place(name, int(count), rates.get(tier_of(name), frozenset()))
        for name, count in zip(switch.dictionary.to_pylist(), ports, strict=True)
    )
    return Trace(
        time_ps=column("time_ps"),
        features={
            name: column(of).astype(np.float64, copy=False) for name, of in COLUMNS_OF.items()
        },
        buffer_bytes=column("buffer_bytes").astype(np.float64),
        dropped=column("dropped").astype(bool),
        weight=column("weight").astype(np.float64),
        switch=numbers,
        places=places,
        origin=_origin(file),
        without_fate=rows - table.num_rows,
    )


def join(traces: Iterable[Trace]) -> Trace:
    """All packets of several traces."""
    parts = list(traces)
    starts = np.cumsum([0, *(len(part.places) for part in parts[:-1])])
    moved = [part.switch + start for part, start in zip(parts, starts, strict=True)]
    return Trace(
        np.concatenate([part.time_ps for part in parts]),
        {
            name: np.concatenate([part.features[name] for part in parts])
            for name in parts[0].features
        },
        np.concatenate([part.buffer_bytes for part in parts]),
        np.concatenate([part.dropped for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate(moved).astype(np.int32),
        tuple(place for part in parts for place in part.places),
        {"traces": [part.origin for part in parts]},
        sum(part.without_fate for part in parts),
    )


def find(places: Iterable[str | Path]) -> list[Path]:
    """The files of traces: a result's folder has one, a sweep's folder one for every run."""
    found = []
    for place in map(path_of, places):
        inside = sorted(place.glob(f"**/{FILE}")) if place.is_dir() else []
        found += inside or [file_of(place)]
    return found


def _rates(folder: Path) -> dict[str, frozenset[int]]:
    """The rates of every tier's ports in bits per second.

    They come from the scenario beside a trace; empty if there is none, or it cannot be read.
    """
    try:
        _, scenario = documents(folder)
        if scenario is None:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScenarioWarning)
            told = facts(Scenario.load(folder).read(), 0)["tiers"]
    except (OSError, SpillwayError):
        return {}
    return {
        tier["tier"]: frozenset(round(float(gbps) * 1e9) for gbps in tier["ports_by_gbps"])
        for tier in told
    }


def _origin(file: Path) -> dict[str, Any]:
    """What the documents beside a trace say about the run; empty if there are none."""
    try:
        summary, scenario = documents(file.parent)
        if scenario is None:
            return {"file": file.name}
        record = tomllib.loads(scenario)["record"]
        return {
            "scenario": summary["scenario"],
            "seed": summary["seed"],
            "version": summary["version"],
            "average": record["oracle_trace_average"],
            "resolved": scenario,
        }
    except FileNotFoundError:
        return {"file": file.name}
    except ScenarioError as error:
        raise FileError(f"what lies beside {file} is no run's: {error}", error.hint) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"what lies beside {file} is no run's: {error!r}",
            "a trace stays in the folder of its run",
        ) from error
