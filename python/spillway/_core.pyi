"""The simulator: what `crates/spillway-py` exports."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np

__all__ = [
    "Arrivals",
    "Column",
    "Flows",
    "Forest",
    "Scenario",
    "Simulation",
    "__version__",
    "assign",
    "catalogue",
    "default_model",
    "flipped",
    "generators",
    "limit",
    "prediction_error",
    "shipped",
    "slotted_optimum",
    "slotted_run",
]

__version__: str

_Numbers: TypeAlias = np.ndarray[Any, Any]

class _Buffer:
    """The buffer protocol, which Python has a method for from 3.12 on only."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Column(_Buffer):
    """Numbers under the buffer protocol; `names` is what they stand for, by place."""

    @property
    def dtype(self) -> str: ...
    @property
    def validity(self) -> Column | None: ...
    @property
    def null_count(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    def __len__(self) -> int: ...

@final
class Flows:
    """The flows that a scenario would send, from the first."""

    def take(self, most: int) -> dict[str, Column]: ...

@final
class Forest:
    """A forest, read from the bytes of a model file."""

    def __new__(cls, content: bytes) -> Forest: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def trees(self) -> int: ...
    @property
    def depth(self) -> int: ...
    def metadata(self, key: str) -> str | None: ...
    def predict(self, rows: Any) -> Column: ...

@final
class Scenario:
    """A scenario that has been read: valid, and with every default filled in."""

    def __new__(
        cls,
        given: str | Mapping[str, Any],
        folder: str | PathLike[str],
        assignments: Sequence[str],
        load: Callable[[str, str], dict[str, Any] | None],
        fates: Callable[[str, str, list[str]], bytes],
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def resolved(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def duration_ps(self) -> int: ...
    @property
    def stop_ps(self) -> int: ...
    @property
    def switches(self) -> list[str]: ...
    def facts(self, most_flows: int) -> str: ...
    def flows(self) -> Flows: ...

@final
class Simulation:
    """A run of a scenario, which it uses up."""

    def __new__(cls, scenario: Scenario) -> Simulation: ...
    def run(
        self,
        report: Callable[[int, int, int, int, int], object] | None = None,
        interval: float = 0.1,
        drain: Callable[[], object] | None = None,
        rows: int = ...,
    ) -> str: ...
    @staticmethod
    def tables() -> list[str]: ...
    def take(self, table: str) -> dict[str, Column]: ...
    def summary(self) -> str: ...

def assign(text: str, assignments: Sequence[str]) -> str: ...
def catalogue() -> str: ...
def shipped() -> list[tuple[str, str]]: ...
def default_model() -> bytes: ...

@final
class Arrivals:
    """A sequence of arrivals in the slotted model."""

    def __new__(cls, ports: int, slot: _Numbers, port: _Numbers, slots: int) -> Arrivals: ...
    @staticmethod
    def generate(
        id: str, given: Mapping[str, Any], ports: int, buffer: int, seed: int
    ) -> Arrivals: ...
    @property
    def ports(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def slot(self) -> Column: ...
    @property
    def port(self) -> Column: ...
    def __len__(self) -> int: ...

def generators() -> str: ...
def limit(id: str, ports: int, buffer: int) -> float | None: ...
def slotted_run(
    arrivals: Arrivals,
    buffer: int,
    id: str,
    given: Mapping[str, Any],
    seed: int,
    predictions: _Numbers | None,
) -> tuple[int, dict[str, int], Column, list[tuple[str, int]]]: ...
def slotted_optimum(arrivals: Arrivals, buffer: int) -> int: ...
def prediction_error(
    arrivals: Arrivals, buffer: int, predicted: _Numbers, rule: Mapping[str, Any]
) -> tuple[int, int, float, float, list[int]]: ...
def flipped(labels: _Numbers, probability: float, seed: int) -> Column: ...
