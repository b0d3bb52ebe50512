"""The common parts of the comparison of AQMs: a network's thresholds, the AQMs, the transports."""

from __future__ import annotations

from dataclasses import dataclass

from spillway_studies.claims.axes import Scheme
from spillway_studies.claims.point import Run
from spillway_studies.comparison.figures.setup import Numbers

PACKET_US = 1.2
"""What a full packet of 1500 bytes takes at 10 Gbps, the rate of all lines here."""

REACTING: dict[str, tuple[str, ...]] = {
    "dctcp": (),
    "cubic": ("transport.kind=cubic", "transport.ecn=true"),
    "newreno": ("transport.kind=newreno", "transport.ecn=true"),
}
"""Transports that react to marks. Keys that a kind shares with DCTCP stay the scenario's."""

THETA = "theta-powertcp"
"""The contrast: it heeds no marks, so every AQM that only marks is `none` to it."""

BOUNDED = "pred, min to K"
"""PRED whose `min` rises to the threshold at most. Its paper names no bound."""
WHY_BOUNDED = "the bound of min, since without one it rises to max, at light loads with most seeds"


@dataclass(frozen=True)
class Network:
    """A scenario whose switches mark by one threshold, and what else follows from it."""

    scenario: str
    packets: int
    """The threshold K."""
    rtt_us: float
    """The base RTT."""

    @property
    def wait_us(self) -> float:
        """T, the wait of a packet that finds K packets of full size."""
        return PACKET_US * self.packets

    @property
    def aqms(self) -> dict[str, tuple[str, ...]]:
        """The parameters of every AQM that looks at one queue. All only mark."""
        k, t, rtt = self.packets, self.wait_us, self.rtt_us
        # As in Adaptive RED's paper max is three times min; K lies halfway.
        ramp = (f"min={k // 2}pkt", f"max={3 * k // 2}pkt", "max_probability=0.1")
        # As in PRED's figures the target is an eighth of the wait that is marked at once. A wait is
        # persistent after a round trip through a queue of K.
        persistent = (f"target={_us(t / 8)}", f"interval={_us(rtt + t)}")
        # The gains times the target are those of the RFC, whose target is 15 ms.
        gains = tuple(f"{name}={gain * 15_000 / t:.6g}" for name, gain in _GAINS.items())
        # As the other AQMs with a probability, PIE hits packets independently of each other.
        passes, independent = "not_ect=pass", "derandomize=false"
        return {
            "none": (),
            "ecn": (f"threshold={k}pkt", passes),
            "red": (*ramp, passes),
            "ared": (*ramp, f"interval={_us(5 * rtt)}", f"time_constant={_us(10 * rtt)}", passes),
            "codel": (*persistent, passes),
            "pie": (f"target={_us(t)}", f"update_interval={_us(t)}", *gains, independent, passes),
            "tcn": (f"threshold={_us(t)}",),
            "ecn-sharp": (f"instant={_us(t)}", *persistent),
            "pred": ("preset=paper", passes),
            BOUNDED: ("preset=paper", f"min_max={k}pkt", passes),
        }

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Every AQM under every transport that reacts to marks, and the contrast."""
        found = [
            scheme(transport, aqm, *parameters)
            for transport in REACTING
            for aqm, parameters in self.aqms.items()
        ]
        contrast = ("switch.aqm=none", f"transport.kind={THETA}")
        return (*found, Scheme(name(THETA, "none"), contrast))

    def numbers(self, *assignments: str) -> Numbers:
        """Runs of which only numbers are kept."""
        return Numbers(Run(self.scenario, ("record.drops=false", *assignments)))


_GAINS = {"alpha": 0.125, "beta": 1.25}
"""PIE's, per second, in RFC 8033."""


def name(transport: str, aqm: str) -> str:
    """The name of a scheme."""
    return f"{transport}: {aqm}"


def scheme(transport: str, aqm: str, *parameters: str) -> Scheme:
    """An AQM of all switches under a transport of all senders."""
    kind = aqm.partition(",")[0]
    return Scheme(
        name(transport, aqm),
        (
            f"switch.aqm={kind}",
            *(f"switch.aqm.{parameter}" for parameter in parameters),
            *REACTING[transport],
        ),
        exploratory=WHY_BOUNDED if aqm == BOUNDED else "",
    )


def _us(value: float) -> str:
    return f"{value:.6g}us"


# DCTCP's threshold at 10 Gbps, and about one bandwidth-delay product. Both are their scenarios'.
CREDENCE = Network("credence", 65, 25.2)
LEAF_SPINE = Network("leaf-spine-128", 70, 81.2)
PRED = Network("pred", 70, 81.2)

ABOUT = (
    "All AQMs of a network follow from one threshold, and sharing is the scenario's own. Losses, "
    "marks and timeouts are those of whole runs."
)

TOLD = ("fct_slowdown.", "drops.", "marks")
"""How the numbers begin that the page tells of single runs."""
