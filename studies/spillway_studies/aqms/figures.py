"""Every AQM under every transport that reacts to marks.

In the networks of Credence and PRED, in one without oversubscription, and with three queues.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spillway_studies.claims import Figure, Point, Run, Scale, Scheme, along
from spillway_studies.pred.figures.setup import WEBSEARCH

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

    def numbers(self, *assignments: str) -> Run:
        """Runs of which only numbers are kept."""
        return Run(self.scenario, ("record.drops=false", *assignments), keeps_flows=False)


_GAINS = {"alpha": 0.125, "beta": 1.25}
"""PIE's gains per second in RFC 8033."""


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
"""The beginnings of the paths of numbers that the page shows of single runs."""


# Networks, at two loads each ----------------------------------------------------------------------

MESSAGES = replace(WEBSEARCH, flows=2_000)
"""As in PRED's figures, but a fifth of their flows."""


def scales(
    quick: str, page: str, full: str, seeds: tuple[int, ...] = (1, 2, 3)
) -> dict[str, Scale]:
    """How much is run at each scale; `seeds` are those of the scale `page`."""
    return {
        "quick": Scale((1, 2), (quick,)),
        "page": Scale(seeds, (page,)),
        "full": Scale((1, 2, 3), (full,)),
    }


def _network(
    name: str, network: Network, points: tuple[Point, ...], sizes: Mapping[str, Scale]
) -> Figure:
    return Figure(
        name=f"aqms/{name}",
        title=f"All AQMs under transports that react to marks: {name}",
        source=f"none: the scenario {network.scenario}",
        about=ABOUT,
        measure=network.numbers(),
        points=points,
        schemes=network.schemes,
        scales=sizes,
        told_by="marks",
        tells=TOLD,
    )


def _loads(*values: float) -> tuple[Point, ...]:
    sets = "traffic.websearch.load={}"
    return along("load", values, sets, label="load {:.0%}", tick="{:.0%}")


# The text's load has a second. At 80% that would take as long as all other runs together.
_NETWORKS = (
    _network(
        "credence",
        CREDENCE,
        _loads(0.4),
        scales("duration=20ms", "duration=1s", "duration=1s", seeds=(1, 2)),
    ),
    _network(
        "credence-80",
        CREDENCE,
        _loads(0.8),
        scales("duration=10ms", "duration=100ms", "duration=1s"),
    ),
    _network(
        "leaf-spine-128",
        LEAF_SPINE,
        _loads(0.6, 0.8),
        scales("duration=5ms", "duration=50ms", "duration=365ms"),
    ),
    _network(
        "pred",
        PRED,
        (MESSAGES.at(0.5), MESSAGES.at(0.9)),
        scales(
            "traffic.messages.flows=400",
            "traffic.messages.flows=2000",
            "traffic.messages.flows=2000",
        ),
    ),
)


# MQ-ECN beside ECN where a round robin serves three queues ----------------------------------------

QUEUES = 3
"""Queues of data, of equal weights; acks have one of their own."""


def _point(load: float) -> Point:
    """A third of the load for every queue."""
    sections = ", ".join(
        f'{{ name = "queue{number}", kind = "poisson", sizes = "websearch", '
        f'load = {load / QUEUES:g}, load_of = "host", destinations = "other-rack", '
        f"priority = {number} }}"
        for number in range(1, QUEUES + 1)
    )
    words, tick = {"load": f"load {load:.0%}"}, {"load": f"{load:.0%}"}
    return Point({"load": load}, (f"traffic=[{sections}]",), words, tick)


AQMS = {
    "ecn": LEAF_SPINE.aqms["ecn"],
    # A queue that has the line to itself is marked from the same K on.
    "mq-ecn": (f"rtt={LEAF_SPINE.wait_us:g}us", "not_ect=pass"),
}

_QUEUES = Figure(
    name="aqms/queues",
    title="MQ-ECN and ECN with three queues under a round robin",
    source=f"none: the scenario {LEAF_SPINE.scenario}",
    about=ABOUT,
    measure=LEAF_SPINE.numbers(
        f"switch.queues_per_port={QUEUES + 1}",
        "switch.ack_queue=0",
        "switch.data_queue=1",
        "switch.scheduling=dwrr",
    ),
    points=(_point(0.6), _point(0.8)),
    schemes=tuple(
        scheme(transport, aqm, *parameters)
        for transport in REACTING
        for aqm, parameters in AQMS.items()
    ),
    scales=scales("duration=5ms", "duration=50ms", "duration=365ms"),
    told_by="marks",
    tells=TOLD,
)

FIGURES = (*_NETWORKS, _QUEUES)
