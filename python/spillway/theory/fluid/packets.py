"""Models and the packet simulator, side by side, at several settings.

In the packet simulator the same flows run in a star, whose senders share the line to one receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from spillway.base.arguments import LARGEST_SEED, Seeds, seeds_of, whole
from spillway.base.errors import ScenarioError
from spillway.run.run import run
from spillway.theory.fluid.bottleneck import Bottleneck
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.solution import (
    FixedPoint,
    Sender,
    Trajectory,
    fixed_point,
    sender,
    trajectory,
)

MOST_POINTS = 1000
HEADER, ACK = 52, 52
"""Bytes of a packet's headers, and of an ack."""
_QUEUE_SAMPLES_PER_RTT = 4
_LEAST_RTTS, _MOST_RTTS = 400.0, 4000.0
"""How many round trips a run of windows lasts: ten for every packet, within these."""


@dataclass(frozen=True)
class Solved:
    """One model at one setting."""

    model: Sender
    point: FixedPoint
    trajectory: Trajectory


@dataclass(frozen=True)
class Point:
    """All models, and all runs, at one setting.

    Attributes:
        packets: a run for every seed; none without the packet simulator.
    """

    bottleneck: Bottleneck
    solved: list[Solved]
    packets: list[Packets]

    @property
    def measured(self) -> float | None:
        """The mean queue over time and seeds in the packet simulator."""
        return sum(run.mean for run in self.packets) / len(self.packets) if self.packets else None


def compare(
    bottlenecks: Iterable[Bottleneck],
    *,
    kind: str = "dctcp",
    cuts: Sequence[str] = ("paper",),
    g: float = 0.0625,
    whole_packets: bool = False,
    packets: bool = True,
    seeds: Seeds = (1, 2, 3),
    follow: Callable[[int, int], object] | None = None,
) -> list[Point]:
    """Solves and follows models at every setting, and runs the packet simulator there.

    Args:
        bottlenecks: The settings, up to 1,000.
        kind: Whose equations the models are, as `sender` takes it.
        cuts: The ways in which marks cut windows, as `sender` takes one; there is a model for each.
        g: The weight of a new sample in DCTCP's alpha, above 0, at most 1.
        whole_packets: Whether flows send whole packets, as `sender` takes it.
        packets: Whether the packet simulator runs, too.
        seeds: The seeds of its runs: numbers, or a text such as `1..3`.
        follow: Called with the number of settings that are done, and of all.

    Returns:
        A point for each setting, in order.

    Raises:
        ScenarioError: An argument is wrong, a setting is not possible in the packet simulator, or
            the equations have no solution that can be computed there.
        Interrupted: Ctrl-C during a run of the packet simulator.
    """
    models = [sender(kind, each, g=g, whole_packets=whole_packets) for each in dict.fromkeys(cuts)]
    places, runs = list(bottlenecks), seeds_of(seeds)
    if not models or not places:
        raise ScenarioError("there is nothing to compare", "give a setting, and cuts, at least")
    if len(places) > MOST_POINTS:
        raise ScenarioError(
            f"{len(places):,} settings are too many", f"{MOST_POINTS:,} are the most"
        )
    if packets:
        for at in places:
            # Refuses what cannot be before any work is done.
            scenario(at)
    points = []
    for done, at in enumerate(places):
        if follow is not None:
            follow(done, len(places))
        try:
            points.append(_at(at, models, runs if packets else [], g))
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            raise ScenarioError(
                f"the equations have no solution that can be computed there: {error}",
                f"the setting is {at}",
            ) from error
    return points


def _at(at: Bottleneck, models: Sequence[Sender], seeds: Sequence[int], g: float) -> Point:
    found = [(model, fixed_point(model, at)) for model in models]
    solved = [Solved(model, point, trajectory(model, at, point)) for model, point in found]
    like: dict[str, Any] = {"transport": models[0].transport, "g": g, **_length(models[0], at)}
    return Point(at, solved, [measure(at, seed=seed, **like) for seed in seeds])


def _length(model: Sender, at: Bottleneck) -> dict[str, float]:
    """How many round trips a run lasts, and their length."""
    if isinstance(model, Dcqcn):
        rtt_us = fixed_point(model, at).rtt_us
        return {"rtt_us": rtt_us, "rtts": max(_LEAST_RTTS, model.duration_s * 1e6 / rtt_us)}
    # As DCTCP really cuts, which tells best how long a round trip will be.
    told = fixed_point(sender(model.kind, "held", whole_packets=True), at)
    return {"rtt_us": told.rtt_us, "rtts": max(_LEAST_RTTS, min(10 * told.window, _MOST_RTTS))}


@dataclass(frozen=True)
class Packets:
    """What one run of the packet simulator measured from half of its time on.

    Attributes:
        seed: the run's seed.
        mean: the mean queue in packets, without the one in transmission.
        deviation: the standard deviation of its samples in time.
        least: the least of its samples.
        greatest: the greatest of its samples.
        goodput_gbps: the payload of all flows that arrived.
        window: the mean window in packets, or what the mean rate amounts to.
        in_flight: the mean number of a flow's packets in flight.
        window_spread: the standard deviation of one flow's window in time, over its mean.
        together: the variance of the sum of all windows in time, over the sum of their variances: 1
            if they are independent, N if they move together.
        time_s: the times of the samples of the queue.
        queue: the samples, in packets.
    """

    seed: int
    mean: float
    deviation: float
    least: float
    greatest: float
    goodput_gbps: float
    window: float
    in_flight: float
    window_spread: float
    together: float
    time_s: NDArray[np.float64]
    queue: NDArray[np.float64]


def scenario(
    at: Bottleneck,
    *,
    transport: str = "dctcp",
    g: float = 0.0625,
    rtts: float = 400.0,
    rtt_us: float | None = None,
) -> dict[str, Any]:
    """The scenario of a bottleneck's flows.

    The delay of the links is such that the empty network has the bottleneck's round-trip time.

    Args:
        at: The bottleneck.
        transport: The flows' transport: "dctcp", "newreno" (for the model "tcp") or "dcqcn".
        g: The weight of a new sample in DCTCP's alpha, in [0, 1]; others ignore it.
        rtts: The duration in round trips. It is 2 ms at least, and the warm-up is half of it.
        rtt_us: The length of these in microseconds; by default that without queueing.

    Raises:
        ScenarioError: The bottleneck's round-trip time is shorter than sending a packet and an ack
            takes.
    """
    transmissions_us = 2 * 8 * (at.packet_bytes + ACK) / (at.rate_gbps * 1e3)
    link_us = (at.delay_us - transmissions_us) / 4
    if link_us < 0:
        raise ScenarioError(
            f"delay_us: {at.delay_us:g} is not possible in the packet simulator, where sending a "
            f"packet and an ack takes {transmissions_us:.4g} us",
            "take a longer delay, or only the model (packets=False)",
            typed="take a longer delay, or only the model with --no-packets",
        )
    duration_us = max(2_000.0, rtts * (at.delay_us if rtt_us is None else rtt_us))
    senders = at.flows
    red = {
        "kind": "red",
        "form": "point-slope",
        "min": f"{round(at.min_packets * at.packet_bytes)}B",
        "max": f"{max(1, round(at.all_marked * at.packet_bytes))}B",
        "slope": at.slope_per_mb,
    }
    control: dict[str, Any] = {
        "kind": transport,
        "mss": f"{at.packet_bytes - HEADER}B",
        "header": f"{HEADER}B",
        "ack_size": f"{ACK}B",
        # Nothing is lost, so a timeout would only be a mistake about a long queue.
        "recovery": dict.fromkeys(("initial_rto", "min_rto", "max_rto"), "10s"),
    }
    if transport != "dcqcn":
        control["min_window"] = f"{at.min_window:g}pkt"
    if transport == "dctcp":
        control["g"] = float(g)
    if transport == "newreno":
        control["ecn"] = True
    return {
        "name": "fluid",
        "duration": f"{duration_us:.3f}us",
        "stop": f"{duration_us:.3f}us",
        "warmup": f"{duration_us / 2:.3f}us",
        "topology": {
            "kind": "star",
            "hosts": senders + 1,
            "host_rate": f"{at.rate_gbps:.12g}Gbps",
            "link_delay": f"{link_us * 1e6:.0f}ps",
        },
        "switch": {"buffer": "unlimited", "sharing": "cs", "aqm": red},
        "transport": control,
        "traffic": [
            {
                "name": "long",
                "kind": "persistent",
                "pairs": [[host, senders] for host in range(senders)],
                "stagger": f"{at.delay_us / senders * 1e6:.0f}ps",
            }
        ],
        "record": {
            "queue_interval": _interval(at, duration_us),
            "empty_queues": True,
            "windows": list(range(senders)),
            "window_interval": _interval(at, duration_us),
        },
    }


def measure(
    at: Bottleneck,
    *,
    transport: str = "dctcp",
    g: float = 0.0625,
    rtts: float = 400.0,
    rtt_us: float | None = None,
    seed: int = 1,
) -> Packets:
    """Runs the scenario, and measures the second half of its time.

    Args:
        at: The bottleneck.
        transport: The flows' transport, as `scenario` takes it.
        g: The weight of a new sample in DCTCP's alpha, in [0, 1].
        rtts: The duration in round trips.
        rtt_us: The length of these in microseconds; by default that without queueing.
        seed: The seed of the run.

    Raises:
        ScenarioError: As `scenario` raises it, or an argument is wrong.
        Interrupted: Ctrl-C.
    """
    made = scenario(at, transport=transport, g=g, rtts=rtts, rtt_us=rtt_us)
    result = run(made, seed=whole("seed", seed, 0, LARGEST_SEED))
    rows = result.queues.filter(pc.equal(result.queues["port"], at.flows))
    queue = rows["bytes"].to_numpy() / at.packet_bytes
    flows = result.windows["flow_id"].to_numpy()
    order = np.argsort(flows, kind="stable")
    payload = at.packet_bytes - HEADER

    def by_flow(name: str) -> NDArray[np.float64]:
        column: NDArray[np.float64] = result.windows[name].to_numpy()[order]
        return column.reshape(at.flows, -1)

    if transport == "dcqcn":
        # What a rate amounts to, as in the model.
        windows = by_flow("pace_bps") / (8 * at.packet_bytes) * at.rtt_s(float(queue.mean()))
    else:
        windows = by_flow("cwnd_bytes") / payload
    apart = windows.var(axis=1)
    return Packets(
        seed=seed,
        mean=float(queue.mean()),
        deviation=float(queue.std()),
        least=float(queue.min()),
        greatest=float(queue.max()),
        goodput_gbps=float(result.summary["goodput_gbps"]["all"]),
        window=float(windows.mean()),
        in_flight=float(by_flow("in_flight_bytes").mean() / payload),
        window_spread=float((np.sqrt(apart) / windows.mean(axis=1)).mean()),
        together=float(windows.sum(axis=0).var() / apart.sum()) if apart.any() else 0.0,
        time_s=rows["time_ps"].to_numpy() * 1e-12,
        queue=queue,
    )


def _interval(at: Bottleneck, duration_us: float) -> str:
    """The time between samples: a part of a round trip, but not more than 20,000 in all."""
    interval = max(at.delay_us / _QUEUE_SAMPLES_PER_RTT, duration_us / 40_000)
    return f"{interval * 1e6:.0f}ps"
