"""Figure 14: throughput in time slots as LQD's labels are flipped."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from spillway_studies.claims import (
    Apart,
    Claim,
    Computed,
    Excess,
    Figure,
    Lines,
    Number,
    Over,
    Panel,
    Plain,
    Reduction,
    Scale,
    Scheme,
    Value,
    Within,
    along,
    basis,
)

_POLICIES = {
    "Credence": "credence",
    "DT": "dt",
    "Harmonic": "harmonic",
    "Complete Sharing": "cs",
    "FollowLQD": "followlqd",
    "Blind trust": "blind-trust",
}
SCHEMES = tuple(
    Scheme(name, style=style) for name, style in zip(_POLICIES, (3, 0, 4, 5, 6, 1), strict=True)
)

RATIO = Number("ratio", "throughput of LQD over that of the algorithm", "LQD / ALG")
SENT = Number("sent", "packets sent", "packets")


@basis.results(1, on=("slotted", "sharing."))
def point(
    report: Callable[[None], object],
    *,
    flip_probability: float,
    scheme: str,
    seed: int,
    ports: int,
    buffer: int,
    load: float,
    slots: int,
    arrivals_per_slot: str = "burst",
) -> Mapping[str, float]:
    """LQD / ALG and packets sent, for one algorithm. DT's alpha is that of section 4.1."""
    from spillway.theory.slotted import figure14
    from spillway.theory.slotted.model import PREDICTED

    report(None)
    policy = _POLICIES[scheme]
    predicted = (policy,) if policy in PREDICTED else ()
    found = figure14(
        ports=ports,
        buffer=buffer,
        load=load,
        slots=slots,
        arrivals_per_slot=arrivals_per_slot,
        probabilities=(flip_probability,),
        predicted=predicted,
        policies=() if predicted else (policy,),
        seeds=(seed,),
        keys={"dt": {"alpha": 0.5}},
    )
    ratio = found["predicted"][policy][0][0] if predicted else found["others"][policy][0]
    return {"ratio": ratio, "sent": found["lqd"][0] / ratio}


_SWITCH: dict[str, Value] = {"ports": 16, "buffer": 256}
_QUICK, _FULL = (1, 2, 3, 4, 5), tuple(range(1, 11))
_OVER = {"flip_probability": 1.0}

CLAIMS = (
    Claim(
        "With perfect predictions Credence sends as much as LQD",
        "appendix D, Figure 14",
        Plain(RATIO, "Credence"),
        Within(1.0, 0.01),
        Over({"flip_probability": 0.0}),
    ),
    Claim(
        "With all labels wrong LQD sends this many times as much",
        "appendix D, caption of Figure 14",
        Plain(RATIO, "Credence"),
        Within(2.9),
        Over(_OVER),
        exploratory="the load, which decides it, was chosen when what it does to it was known",
    ),
    Claim(
        "With 70% of the labels wrong Credence still sends more than DT",
        "appendix D, caption of Figure 14",
        Reduction(RATIO, new="Credence", old="DT"),
        Apart(),
        Over({"flip_probability": 0.7}),
    ),
    Claim(
        "Credence sends 1.5 times as much as DT",
        "abstract and section 1, which do not say where",
        Excess(SENT, new="Credence", old="DT"),
        Within(0.5),
        Over({"flip_probability": 0.0}),
    ),
)

FIGURE = Figure(
    name="credence/figure14",
    title="Throughput as the labels of LQD are flipped",
    source="Credence (NSDI 2024), Figure 14, appendix D",
    about="The slotted model: bursts of the buffer's size begin in a Poisson process, whole in "
    "their slot, and every packet's label is flipped with one probability. The paper gives "
    "neither ports, buffer nor load: 16, 256 packets and 5% are ours (credence/figure14-loads has "
    "others). Alpha of DT is 0.5.",
    measure=Computed(f"{__name__}:point"),
    points=along(
        "flip_probability",
        (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        label="flip probability {:g}",
        tick="{:g}",
    ),
    schemes=SCHEMES,
    scales={
        "quick": Scale(_QUICK, parameters={**_SWITCH, "load": 0.05, "slots": 20_000}),
        "full": Scale(_FULL, parameters={**_SWITCH, "load": 0.05, "slots": 200_000}),
    },
    plot=Lines(
        (Panel(RATIO, "Throughput against LQD"),),
        "flip_probability",
        "probability of a flip",
        is_linear=True,
    ),
    claims=CLAIMS,
)


def _loads(arrivals_per_slot: str) -> Figure:
    """The same with all labels flipped and other loads."""
    kept: dict[str, Value] = {
        **_SWITCH,
        "flip_probability": 1.0,
        "arrivals_per_slot": arrivals_per_slot,
    }
    return replace(
        FIGURE,
        points=along(
            "load", (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), label="load {:g}", tick="{:g}"
        ),
        scales={
            "quick": Scale(_QUICK, parameters={**kept, "slots": 20_000}),
            "full": Scale(_FULL, parameters={**kept, "slots": 200_000}),
        },
        plot=Lines((Panel(RATIO, "All labels wrong", is_log=True),), "load", "load of every port"),
        claims=(),
        is_of_paper=False,
    )


LOADS = replace(
    _loads("burst"),
    name="credence/figure14-loads",
    title="Throughput with all labels wrong, over loads",
    about="As Figure 14, with all labels flipped, over the load that the paper does not give.",
)
LOADS_WITHIN_MODEL = replace(
    _loads("ports"),
    name="credence/figure14-ports",
    title="Throughput with all labels wrong, at most N arrivals in a slot",
    about="As credence/figure14-loads, with at most as many arrivals in a slot as there are ports, "
    "which is what the paper's model allows and its experiment does not keep to.",
)
