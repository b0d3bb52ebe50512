"""Details of predictions that the text leaves open: each is changed once."""

from spillway_studies.claims import Figure, Point, Variants, choice, product
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.figure8 import MEAN
from spillway_studies.smartbuf.figures.setup import DEMANDS, LEAF, SMARTBUF
from spillway_studies.smartbuf.figures.where import FIGURE as MAP


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

FIGURE = Figure(
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
