"""What the paper leaves open: each is changed once."""

from collections.abc import Iterable

from spillway_studies.claims import Figure, Point, Variants, choice, product
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.figure8 import MEAN
from spillway_studies.smartbuf.figures.setup import CS, DEMANDS, DT, EDT, LEAF, SMARTBUF
from spillway_studies.smartbuf.figures.where import FIGURE as MAP

# The experiment -----------------------------------------------------------------------------------


_WITH_ALPHA = (DT, EDT, SMARTBUF, DEMANDS)


def _each(*assignments: str) -> dict[str, tuple[str, ...]]:
    """The same assignments for all schemes with thresholds of DT."""
    return {scheme.name: assignments for scheme in _WITH_ALPHA}


def _sizes(short: str, long: str) -> Iterable[str]:
    """Sizes of all three sections, equally likely within these ranges."""
    for name, sizes in (("short", short), ("incast", short), ("long", long)):
        yield f"traffic.{name}.sizes={sizes}"
        yield f"traffic.{name}.sizes_within={sizes}"


_MARKS = '{ kind = "ecn", threshold = "20pkt", not_ect = "pass" }'

_CHOICES = (
    choice("as in the scenario"),
    choice("alpha 1", of=_each(f"{LEAF}.alpha=1.0")),
    choice("alpha 8", of=_each(f"{LEAF}.alpha=8.0")),
    choice("fan-in 30 to 100", "traffic.incast.fan_in=30..100"),
    choice("fan-in 150 to 300", "traffic.incast.fan_in=150..300"),
    choice("answers within 100 us", "traffic.incast.jitter=100us"),
    choice("answers within 1 ms", "traffic.incast.jitter=1ms"),
    choice("all sizes equally likely", *_sizes("1KB..32KB", "1MB..10MB")),
    choice("no single short flows", "traffic.short.load=0.0001", "traffic.incast.load=0.16"),
    choice("a tenth of the incasts", "traffic.short.load=0.152", "traffic.incast.load=0.008"),
    choice("short flows begin at once", "traffic.incast.initial_window=flow"),
    choice(
        "marks from 20 packets",
        *(f"switch.{tier}.aqm={_MARKS}" for tier in ("leaf", "spine")),
    ),
    choice("NewReno, no marks", "transport.kind=newreno"),
    choice("handshakes", "transport.handshake=true"),
    choice("min RTO 1 ms", "transport.recovery.min_rto=1ms", "transport.recovery.initial_rto=1ms"),
    choice("EDT up to the whole buffer", of={EDT.name: (f"{LEAF}.limit=whole",)}),
    choice("EDT until 100 packets fewer", of={EDT.name: (f"{LEAF}.drain_packets=100",)}),
)

FIGURE = Figure(
    name="smartbuf/choices",
    title="What the text leaves open of the experiment",
    source="Smartbuf (IWQoS 2021), section IV-A",
    about="Load 80%; of one thing at a time another choice is made.",
    measure=setup.RUN,
    points=product((setup.HIGH,), _CHOICES),
    schemes=(CS, DT, EDT, SMARTBUF, DEMANDS),
    scales=setup.SCALES,
    plot=Variants((setup.SHORT, setup.LONG, setup.DROPS), "choice"),
    is_of_paper=False,
)


# Predictions --------------------------------------------------------------------------------------


def _option(name: str, *parameters: str) -> Point:
    return choice(name, *(f"{LEAF}.{parameter}" for parameter in parameters))


_OPTIONS = (
    _option("as in the other figures"),
    _option("never below DT", "floor=dt"),
    _option("the largest of the K", "estimate=quantile"),
    _option("the median of the K", "estimate=quantile", "quantile=0.5"),
    _option("its own quantum is among them", "own_quantum=true"),
    _option("the first threshold stays", "lookup=detection"),
    _option("each port has a history", "learn_from=own-port"),
)

OPTIONS = Figure(
    name="smartbuf/options",
    title="What the text leaves open of a prediction",
    source="Smartbuf (IWQoS 2021), section III",
    about="Load 80%; one thing at a time is chosen another way, in the scenario's traffic and in "
    "that of `smartbuf/claim`. " + setup.ABOUT,
    measure=setup.BURSTS,
    points=product((setup.AS_IN_SCENARIO, setup.PLAUSIBLE), _OPTIONS),
    schemes=(SMARTBUF, DEMANDS),
    scales=MAP.scales,
    plot=Variants((setup.SHORT, setup.TIMEOUTS, MEAN, setup.MEAN_FIRST, setup.DROPS), "choice"),
    is_of_paper=False,
)
