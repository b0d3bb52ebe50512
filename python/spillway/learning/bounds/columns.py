"""The columns of the Flux traces, one CSV file for every job (Flux, NSDI 2019).

A row is a flow; rows are in the order of time. The columns of K-Means are those of the published
files. Those of PageRank and SGD are inferred from the programs beside the files, which are stored
apart from their repository and could not be read.
"""

from __future__ import annotations

from collections.abc import Iterable

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


def kind_of(names: Iterable[str]) -> str | None:
    """The kind of job that has exactly these columns, in any order; None if no kind has.

    >>> kind_of(["index", *FEATURES["sgd"], "flow_size"])
    'sgd'
    """
    given = {*names} - {*INDEX}
    found = (kind for kind, features in FEATURES.items() if given == {*features, SIZE})
    return next(found, None)


def nearest(names: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """The kind of job with the fewest differences: what is missing, and what is not expected."""
    given = {*names} - {*INDEX}

    def differing(kind: str) -> int:
        return len(given ^ {*FEATURES[kind], SIZE})

    kind = min(FEATURES, key=differing)
    expected = {*FEATURES[kind], SIZE}
    return kind, sorted(expected - given), sorted(given - expected)
