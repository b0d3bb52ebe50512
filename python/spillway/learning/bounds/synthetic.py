"""Synthetic jobs with the columns of the Flux traces, whose files cannot be had.

A job is a driver (machine 0) and workers. In every iteration its phases follow one another: each
sender computes, then starts its flows at once, and its line sends them one after the other. The
phase ends when all lines have sent theirs. What is seen of a flow when it starts depends on the
job's state, on the worker's part of the input, and on the flows before, with noise: so it says
something of the flow's size, but not all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.arguments import whole
from spillway.base.errors import ScenarioError
from spillway.learning.bounds.job import FEATURES, TIME, Job
from spillway.learning.bounds.parameters import JOBS, JobParameters, Phase


@dataclass(frozen=True)
class SyntheticJob:
    """A job's trace, and the machines between which its flows are sent."""

    job: Job
    sender: npt.NDArray[np.int64]
    receiver: npt.NDArray[np.int64]


def kind_named(kind: str) -> str:
    """The kind of job of this name.

    Raises:
        ScenarioError: there is no such kind.
    """
    if kind not in JOBS:
        raise ScenarioError(f"{kind!r} is no kind of job", f"known are {', '.join(JOBS)}")
    return kind


def make(
    kind: str, number: int, seed: int = 1, parameters: JobParameters | None = None
) -> SyntheticJob:
    """Makes the job of this number: a function of kind, number, seed and parameters.

    Args:
        kind: "kmeans", "pagerank" or "sgd".
        number: jobs of other numbers are other jobs.
        seed: of the random numbers.
        parameters: those of `parameters.JOBS` by default.
    """
    chosen = JOBS[kind_named(kind)] if parameters is None else parameters
    seed, number = whole("seed", seed, 0, 2**63 - 1), whole("number", number, 0)
    draws = np.random.default_rng([seed, list(JOBS).index(kind), number])
    return _Plan(chosen, draws).seen(kind, f"d_{number}")


_FLOW = np.dtype(
    [
        ("start_ms", np.float64),
        ("sender", np.int64),
        ("end_ms", np.float64),
        ("receiver", np.int64),
        ("size", np.int64),
        # Bytes of the sender that wait for its line.
        ("backlog", np.float64),
        # The share of the phase so far in which the sender computed.
        ("busy", np.float64),
        # Bytes that the sender wrote to its disk in this phase, as seen.
        ("disk", np.float64),
        ("memory_read", np.float64),
        ("memory_write", np.float64),
    ]
)
"""A flow as it is planned, with what its sender does for it."""


class _Plan:
    """One job: its draws, and its flows in the order of their starts."""

    def __init__(self, parameters: JobParameters, draws: np.random.Generator) -> None:
        self.parameters, self.draws = parameters, draws
        self.workers = self._whole(parameters.workers)
        iterations = self._whole(parameters.iterations)
        self.fan_out = min(self._whole(parameters.fan_out), self.workers - 1)
        self.state = self._bytes(parameters.state_bytes)
        mean = self._bytes(parameters.partition_bytes)
        skews = draws.standard_normal(self.workers) * parameters.skew
        self.partitions = [0.0, *(mean * math.exp(skew) for skew in skews)]
        self.receivers = [self._others(worker) for worker in range(1, self.workers + 1)]
        self.free_ms = [0.0] * (self.workers + 1)
        self.flows: list[tuple[float, ...]] = []
        """For each flow the fields of `_FLOW`."""
        clock = 0.0
        for _ in range(iterations):
            for phase in parameters.phases:
                clock = self._run(phase, clock)

    def _whole(self, bounds: tuple[int, int]) -> int:
        return int(self.draws.integers(bounds[0], bounds[1] + 1))

    def _bytes(self, bounds: tuple[float, float]) -> float:
        low, high = map(math.log, bounds)
        return math.exp(low + (high - low) * self.draws.random())

    def _others(self, worker: int) -> list[int]:
        others = [other for other in range(1, self.workers + 1) if other != worker]
        chosen = self.draws.choice(others, self.fan_out, replace=False)
        return sorted(int(other) for other in chosen)

    def pairs(self, pattern: str) -> list[tuple[int, list[int]]]:
        """The senders of a pattern, each with its receivers."""
        workers = range(1, self.workers + 1)
        # The first workers are aggregators; the workers are dealt out to them in turns.
        aggregators = math.isqrt(self.workers - 1) + 1
        up = {worker: (worker - 1) % aggregators + 1 for worker in workers}
        patterns = {
            "broadcast": [(0, list(workers))],
            "shuffle": [(worker, self.receivers[worker - 1]) for worker in workers],
            "up": [(worker, [to]) for worker, to in up.items() if worker != to],
            "top": [(worker, [0]) for worker in range(1, aggregators + 1)],
            "gather": [(worker, [0]) for worker in workers],
        }
        if pattern not in patterns:
            raise ScenarioError(f"{pattern!r} is no pattern of flows")
        return patterns[pattern]

    def _size(self, phase: Phase, sender: int) -> int:
        source = {"state": self.state, "partition": self.partitions[sender], "fixed": 1.0}
        noise = math.exp(phase.sigma * self.draws.standard_normal())
        is_partial, part = self.draws.random() < phase.partial, self.draws.random()
        least = phase.partial_least
        rest = least + (1.0 - least) * part if is_partial else 1.0
        return max(1, round(source[phase.of] * phase.share * noise * rest))

    def _run(self, phase: Phase, clock: float) -> float:
        """Adds the flows of a phase that begins after `clock`; returns its end."""
        rate, seen = self.parameters.bytes_per_ms, self.parameters.seen
        begin = clock + self.parameters.pause_ms
        found, end = [], begin
        for sender, receivers in self.pairs(phase.pattern):
            partition = self.partitions[sender]
            noise = math.exp(self.parameters.compute_noise * self.draws.standard_normal())
            compute = phase.compute_ms * partition / 1e6 * noise
            # As a trace tells it: to the microsecond.
            start = round(begin + compute, 3)
            sizes = [self._size(phase, sender) for _ in receivers]
            planned = sum(sizes)
            read = partition if phase.compute_ms else planned
            disk, memory_read, memory_write = (
                amount * math.exp(deviation * self.draws.standard_normal())
                for amount, deviation in (
                    (planned if phase.pattern == "shuffle" else 0, seen.disk_noise),
                    (read, seen.memory_noise),
                    (planned, seen.memory_noise),
                )
            )
            busy = compute / (compute + self.parameters.pause_ms)
            for receiver, size in zip(receivers, sizes, strict=True):
                free = max(self.free_ms[sender], start)
                backlog = round((free - start) * rate)
                self.free_ms[sender] = free + size / rate
                found.append(
                    (
                        start,
                        sender,
                        self.free_ms[sender],
                        receiver,
                        size,
                        min(backlog, seen.socket_bytes),
                        busy,
                        disk,
                        memory_read,
                        memory_write,
                    )
                )
            end = max(end, start, self.free_ms[sender])
        # All flows of a phase start before the next begins, so the whole list is in order.
        self.flows += sorted(found, key=lambda flow: flow[:2])
        return end

    def seen(self, kind: str, name: str) -> SyntheticJob:
        """The trace: of every flow what can be seen when it starts, and its size."""
        observation, draws = self.parameters.seen, self.draws
        flows = np.array(self.flows, _FLOW)
        start, size, sender, receiver = (
            flows[name].copy() for name in ("start_ms", "size", "sender", "receiver")
        )

        def noisy(values: npt.NDArray[np.float64], deviation: float) -> npt.NDArray[np.float64]:
            noise: npt.NDArray[np.float64] = np.exp(deviation * draws.standard_normal(len(flows)))
            return np.round(values * noise)

        # What is seen of the network is what it has carried in the window before a start, without
        # the window's first instant. A flow counts as sent when it starts, if it comes earlier in
        # the list, and as received when its sender's line has sent it.
        since = start - observation.network_window_ms
        number = np.arange(len(flows))
        first = np.searchsorted(start, since, side="right")
        of_list = (number, first - 1, number - 1)
        of_time = (flows["end_ms"], since, start)
        partitions = np.array(self.partitions)[sender]
        ram = observation.ram_base_bytes + observation.ram_per_partition * partitions
        cpu = flows["busy"] + observation.cpu_noise * draws.standard_normal(len(flows))
        calls = np.minimum(size, observation.first_call_bytes)
        is_header = draws.random(len(flows)) < observation.header_share
        everywhere = np.zeros(len(flows), np.int64)
        loud = observation.network_noise
        columns = {
            TIME: start,
            "previous_flow_time": np.round(np.diff(start, prepend=start[:1]), 3),
            "agg_net_out": noisy(_carried(everywhere, size, everywhere, *of_list), loud),
            "agg_net_in": noisy(_carried(everywhere, size, everywhere, *of_time), loud),
            "agg_net_out_per_machine": noisy(_carried(sender, size, sender, *of_list), loud),
            "agg_net_in_per_machine": noisy(_carried(sender, size, receiver, *of_time), loud),
            "flow_frequency": (number - first) * 1e3 / observation.network_window_ms,
            "tcp_queue": flows["backlog"].copy(),
            "machine": sender.astype(np.float64),
            "cpu": np.round(np.clip(cpu, 0.0, 1.0), 4),
            "ram": noisy(ram, observation.ram_noise),
            "disk_write": np.round(flows["disk"]),
            "memory_read": np.round(flows["memory_read"]),
            "memory_write": np.round(flows["memory_write"]),
            "first_call": np.where(
                is_header, np.minimum(size, observation.header_bytes), calls
            ).astype(np.float64),
        }
        own = {column: columns[column] for column in FEATURES[kind]}
        job = Job(kind, name, own, size, is_synthetic=True)
        return SyntheticJob(job, sender, receiver)


def _carried(
    place: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
    at: npt.NDArray[np.int64],
    when: npt.NDArray[Any],
    since: npt.NDArray[Any],
    until: npt.NDArray[Any],
) -> npt.NDArray[np.float64]:
    """For every flow the bytes that were carried at its place after `since`, up to `until`.

    `size`, `at` and `when` say what is carried: how many bytes, where, and when. Each flow is
    carried in one instant.
    """
    found = np.zeros(len(place))
    for own in np.unique(place):
        (inside,) = np.nonzero(at == own)
        inside = inside[np.argsort(when[inside], kind="stable")]
        sums = np.concatenate([[0], np.cumsum(size[inside])])
        (rows,) = np.nonzero(place == own)
        first, last = (
            np.searchsorted(when[inside], bound[rows], side="right") for bound in (since, until)
        )
        found[rows] = sums[last] - sums[first]
    return found


def make_all(
    kind: str, jobs: int | None = None, seed: int = 1, first: int = 0
) -> Iterable[SyntheticJob]:
    """Makes jobs one after the other, numbered from `first`."""
    count = whole("jobs", JOBS[kind_named(kind)].jobs if jobs is None else jobs, 1, 1_000_000)
    return (make(kind, number, seed) for number in range(first, first + count))
