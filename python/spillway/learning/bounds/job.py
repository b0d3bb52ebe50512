"""A job's trace: flows in the order of time, what was known of each, and its size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.errors import ScenarioError
from spillway.learning.bounds.columns import SIZE


@dataclass(frozen=True)
class Job:
    """The flows of one job.

    Attributes:
        kind: one of `columns.FEATURES`; empty if it is not known.
        name: that of its file, with the folder where it was read from one.
        features: a number for every flow, by column.
        size: the flows' sizes in bytes, at least 1.
        is_synthetic: whether it was made up, not measured.
    """

    kind: str
    name: str
    features: dict[str, npt.NDArray[np.float64]]
    size: npt.NDArray[np.int64]
    is_synthetic: bool = False

    def __len__(self) -> int:
        return len(self.size)

    def inputs(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """A row for every flow, with a value for each of these features.

        A feature is a column, such as `cpu`, or a column some flows back, such as `cpu.2`; so are
        the sizes of earlier flows, `flow_size.1`. Before the first flow all values are 0.
        """
        found = np.zeros((len(self), len(names)))
        for place, name in enumerate(names):
            column, back = parted(name)
            if column not in self.features and column != SIZE:
                job = f"a job of kind {self.kind}" if self.kind else "the job"
                hint = f"it has {', '.join(self.features)}"
                raise ScenarioError(f"{self.name}: {job} has no column {column!r}", hint)
            values = self.size if column == SIZE else self.features[column]
            found[back:, place] = values[: max(len(self) - back, 0)]
        return found


def features(columns: Sequence[str], window: int) -> tuple[str, ...]:
    """The features of a window: the columns of a flow, and columns and size of those before it.

    >>> features(["cpu"], 3)
    ('cpu', 'cpu.1', 'cpu.2', 'flow_size.1', 'flow_size.2')
    """
    before = range(1, window)
    names = [*columns, *(f"{column}.{back}" for back in before for column in columns)]
    return (*names, *(f"{SIZE}.{back}" for back in before))


def parted(name: str) -> tuple[str, int]:
    """A feature's column, and how many flows back it is taken.

    >>> parted("cpu"), parted("flow_size.4")
    (('cpu', 0), ('flow_size', 4))
    """
    match = re.fullmatch(r"([^.]+)\.([1-9][0-9]?)", name)
    return (match[1], int(match[2])) if match else (name, 0)
