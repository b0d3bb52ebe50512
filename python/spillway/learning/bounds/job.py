"""A job's trace: flows in the order of time, what was known of each, and its size.

The columns are those of the Flux traces, one CSV file for every job (Flux, NSDI 2019). A row is a
flow; rows are in the order of time. The columns of K-Means are those of the published files. Those
of PageRank and SGD are inferred from the programs beside the files, which are stored apart from
their repository and could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.errors import ScenarioError

SIZE = "flow_size"
"""The flow's size in bytes: what is to be predicted."""
TIME = "time"
"""The flow's start in milliseconds since the job began."""
INDEX = ("", "index", "Unnamed: 0")
"""Names under which programs write the numbers of rows. Such a column is ignored."""
_NETWORK = ("agg_net_out", "agg_net_in", "agg_net_out_per_machine", "agg_net_in_per_machine")

FEATURES = {
    "kmeans": (
        TIME,
        "previous_flow_time",
        *_NETWORK,
        "tcp_queue",
        "machine",
        "cpu",
        "ram",
        "disk_write",
        "memory_read",
        "memory_write",
        "first_call",
    ),
    "pagerank": (TIME, "flow_frequency", *_NETWORK, "machine"),
    "sgd": (TIME, "first_call", "machine", *_NETWORK, "flow_frequency"),
}
"""What is known of a flow when it starts, by the kind of job."""


@dataclass(frozen=True)
class Job:
    """The flows of one job.

    Attributes:
        kind: one of `FEATURES`; empty if it is not known.
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
                raise ScenarioError(
                    f"{self.name}: {job} has no column {column!r}",
                    f"it has {', '.join(self.features)}",
                )
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


def nearest(names: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """The kind of job with the fewest differences: what is missing, and what is not expected.

    >>> nearest(["index", *FEATURES["sgd"], "flow_size"])
    ('sgd', [], [])
    """
    given = {*names} - {*INDEX}
    expected = {kind: {*features, SIZE} for kind, features in FEATURES.items()}
    kind = min(FEATURES, key=lambda kind: len(given ^ expected[kind]))
    return kind, sorted(expected[kind] - given), sorted(given - expected[kind])
