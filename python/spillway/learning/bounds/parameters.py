"""The parameters of the synthetic jobs: what they do, how much they send, what can be seen of it.

No number here is measured. All were chosen by hand before any model was trained on such jobs: the
order of flows is that of Spark's K-Means, PageRank and SGD, and the amounts are plausible. What
`spillway bounds` says of them, or of a model that was trained on them, calls them synthetic, and so
do the pages with numbers of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Phase:
    """Flows that belong together: they start after the phase before, in every iteration.

    The size of a flow is `share` of the job's `of`, times exp(`sigma` z) with z normal. A part of
    the flows, `partial`, has only a share of that, drawn from `partial_least` to 1: tasks with few
    rows.
    """

    pattern: str
    """Who sends to whom: "broadcast" (driver to workers), "shuffle" (each worker to `fan_out`
    others), "up" (each worker to its aggregator), "top" (each aggregator to the driver), "gather"
    (workers to driver).
    """
    of: str
    """"state" or "partition" of the job, or "fixed", which is 1 byte."""
    share: float
    sigma: float
    compute_ms: float = 0.0
    """How long a worker computes before it sends, for each megabyte of its partition."""
    partial: float = 0.0
    partial_least: float = 1.0


@dataclass(frozen=True)
class Observation:
    """What can be seen of a flow when it starts, and how well."""

    network_window_ms: float = 100.0
    """The time over which bytes and flows on the network are counted."""
    network_noise: float = 0.05
    """Standard deviations; a value v is seen as v exp(noise z), `cpu` as v + noise z."""
    disk_noise: float = 0.10
    memory_noise: float = 0.20
    ram_noise: float = 0.02
    cpu_noise: float = 0.05
    ram_base_bytes: float = 1e9
    """Resident memory without a partition."""
    ram_per_partition: float = 1.5
    socket_bytes: int = 4_194_304
    """The most that waits in a sender's socket buffers."""
    first_call_bytes: int = 65_536
    """The most that the first call writes."""
    header_share: float = 0.3
    """The share of flows whose first call writes only a header of `header_bytes`."""
    header_bytes: int = 21


@dataclass(frozen=True, kw_only=True)
class JobParameters:
    """A kind of job. Ranges are drawn from evenly, those of bytes evenly on the scale of log."""

    jobs: int
    """How many jobs there are, unless another number is asked for."""
    workers: tuple[int, int] = (4, 8)
    iterations: tuple[int, int]
    fan_out: tuple[int, int]
    state_bytes: tuple[float, float]
    """What the driver sends to all workers: centroids, or a model."""
    partition_bytes: tuple[float, float]
    """A worker's part of the input, on average."""
    skew: float
    """Standard deviation of the log of a worker's part."""
    phases: tuple[Phase, ...]
    bytes_per_ms: float = 1_250_000.0
    """The rate of a machine's line, by which its flows follow one another: 10 Gbps."""
    compute_noise: float = 0.10
    """Standard deviation of the log of the time for which a worker computes."""
    pause_ms: float = 0.5
    """The time between two phases."""
    gap_ms: float = 20.0
    """The mean time between the starts of two jobs in a list of flows; exponential."""
    seen: Observation = field(default=Observation())


JOBS = {
    "kmeans": JobParameters(
        jobs=400,
        iterations=(4, 10),
        fan_out=(1, 3),
        state_bytes=(2e3, 2e6),
        partition_bytes=(1e6, 64e6),
        skew=0.3,
        phases=(
            Phase("broadcast", "state", 1.0, 0.02),
            Phase("shuffle", "state", 0.5, 0.15, compute_ms=0.2, partial=0.01, partial_least=0.05),
            Phase("gather", "fixed", 1_800.0, 0.20),
        ),
    ),
    "pagerank": JobParameters(
        jobs=250,
        iterations=(5, 15),
        fan_out=(2, 4),
        state_bytes=(1e3, 1e3),
        partition_bytes=(1e6, 32e6),
        skew=0.5,
        phases=(
            Phase(
                "shuffle", "partition", 0.05, 0.40, compute_ms=0.1, partial=0.02, partial_least=0.02
            ),
            Phase("gather", "fixed", 1_500.0, 0.20),
        ),
    ),
    "sgd": JobParameters(
        jobs=100,
        iterations=(20, 60),
        fan_out=(1, 1),
        state_bytes=(8e3, 8e6),
        partition_bytes=(1e6, 64e6),
        skew=0.2,
        phases=(
            Phase("broadcast", "state", 1.0, 0.01),
            Phase("up", "state", 0.8, 0.10, compute_ms=0.05, partial=0.005, partial_least=0.1),
            Phase("top", "state", 0.8, 0.05),
            Phase("gather", "fixed", 1_200.0, 0.20),
        ),
    ),
}
"""The kinds of jobs, by the names that the command line takes."""
