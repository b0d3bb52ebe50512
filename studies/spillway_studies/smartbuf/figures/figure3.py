"""Figures 2 and 3: what a burst is given, and the tail of completion times."""

from dataclasses import replace

from spillway_studies.claims import (
    Alike,
    Apart,
    AtLeast,
    AtMost,
    Claim,
    Figure,
    Lines,
    Near,
    Number,
    Over,
    Panel,
    Plain,
    Reduction,
    Scheme,
    Tail,
    along,
    product,
)
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.setup import (
    CS,
    DEMANDS,
    DT,
    EDT,
    EQUAL_SHARES,
    FAB,
    RTT_SHARES,
    SHORT,
    SMARTBUF,
)

# Figure 2: the largest part of the buffer that a burst may take -----------------------------------


THRESHOLD = Number(
    "bursts.most_threshold", "most that a burst may hold", "% of the buffer", 100, "largest"
)
PEAK = Number("bursts.most_peak", "most that a burst holds", "% of the buffer", 100, "largest")
DEMAND = Number("bursts.most_demand", "most that a burst wants", "% of the buffer", 100, "largest")

_LOST = replace(setup.DROPS, name="most packets lost with a seed", over_seeds="largest")
_EVERYWHERE = Over(take="each")

MOST = Figure(
    name="smartbuf/figure2",
    title="The most of the buffer that a burst is given",
    source="Smartbuf (IWQoS 2021), Figure 2, section II",
    about="The largest threshold of a port while it was in a burst, which is a port that held more "
    "than a fifth of the buffer until it held less than half of its most. " + setup.ABOUT,
    measure=setup.BURSTS,
    points=setup.LOADS,
    schemes=(setup.DT, setup.EDT, setup.SMARTBUF, setup.DEMANDS),
    scales=setup.SCALES,
    plot=Lines(
        (
            Panel(THRESHOLD, "(a) the largest threshold"),
            Panel(PEAK, "(b) the most held"),
            Panel(DEMAND, "(c) the most wanted"),
            Panel(setup.DROPS, "(d) packets lost"),
        ),
        "load",
        "load of the uplinks",
    ),
    claims=(
        *(
            claim
            for scheme in (setup.SMARTBUF, setup.DEMANDS)
            for claim in (
                Claim(
                    "A burst is given less than half of the buffer, at every load",
                    "section II, Figure 2",
                    Plain(THRESHOLD, scheme.name),
                    AtMost(50),
                    _EVERYWHERE,
                    scheme.name,
                ),
                Claim(
                    "Nothing is lost under Smartbuf",
                    "section II, on Figure 2",
                    Plain(_LOST, scheme.name),
                    AtMost(0),
                    _EVERYWHERE,
                    scheme.name,
                ),
            )
        ),
        Claim(
            "EDT gives a burst the whole buffer, at every load",
            "section II, Figure 2",
            Plain(THRESHOLD, setup.EDT.name),
            AtLeast(100),
            _EVERYWHERE,
        ),
    ),
)


# Figure 3: the tail of completion times over the load, and over the size of the buffer ------------


_LOW, _HIGHEST = Over({"load": 0.2}), Over({"load": 0.9})
_IV_B = "section IV-B, Figure 3"


def _claims(scheme: Scheme) -> tuple[Claim, ...]:
    """The paper's claims about Smartbuf, applied to this reading of it."""
    others = (EQUAL_SHARES, RTT_SHARES, CS, DT, EDT, FAB)
    claims = (
        *(
            Claim(
                f"At the highest load, the tail is an eighth of that under {other.name}",
                "abstract, " + _IV_B,
                Reduction(SHORT, new=scheme.name, old=other.name),
                Near(1 - 1 / 8),
                _HIGHEST,
            )
            for other in others
        ),
        *(
            Claim(
                f"At every load, the tail is below that under {other.name}",
                _IV_B,
                Reduction(SHORT, new=scheme.name, old=other.name),
                Apart(),
                _EVERYWHERE,
            )
            for other in others
        ),
        Claim(
            "At the highest load, nearly nothing is lost of what DT loses",
            "section IV-B",
            Reduction(setup.DROPS, new=scheme.name, old=DT.name),
            Apart(0.9),
            _HIGHEST,
        ),
    )
    return tuple(replace(claim, variant=scheme.name) for claim in claims)


FIGURE = Figure(
    name="smartbuf/figure3",
    title="The tail of completion times",
    source="Smartbuf (IWQoS 2021), Figure 3, section IV-B",
    about="Of N, the long flows at a port, the text says nothing: 1, which is the largest part. "
    + setup.ABOUT,
    measure=setup.RUN,
    points=setup.LOADS,
    schemes=(EQUAL_SHARES, RTT_SHARES, CS, DT, EDT, FAB, SMARTBUF, DEMANDS),
    scales=setup.HEADLINES,
    plot=Lines(setup.PANELS, "load", "load of the uplinks"),
    claims=(
        *_claims(SMARTBUF),
        *_claims(DEMANDS),
        Claim(
            "FAB is close to EDT, at every load",
            "section IV-B",
            Reduction(SHORT, new=FAB.name, old=EDT.name),
            Alike(),
            _EVERYWHERE,
        ),
        Claim(
            "Equal shares have a longer tail than DT, at every load",
            "section IV-B",
            Reduction(SHORT, new=DT.name, old=EQUAL_SHARES.name),
            Apart(),
            _EVERYWHERE,
        ),
        Claim(
            "Complete sharing has a longer tail than DT, at the highest load",
            "section IV-B",
            Reduction(SHORT, new=DT.name, old=CS.name),
            Apart(),
            _HIGHEST,
        ),
        Claim(
            "At low load, EDT is better than DT",
            "section IV-B",
            Reduction(SHORT, new=EDT.name, old=DT.name),
            Apart(),
            _LOW,
        ),
    ),
)

BUFFERS = Figure(
    name="smartbuf/buffers",
    title="Smartbuf in smaller and in larger buffers",
    source="Smartbuf (IWQoS 2021), section IV-B, of which it shows no figure",
    about="Load 80%. The incasts stay as they are. " + setup.ABOUT,
    measure=setup.RUN,
    points=product(
        (setup.HIGH,),
        along(
            "buffer_mb",
            (1, 2, 4, 8, 16),
            "switch.leaf.buffer={}MB",
            label="{} MB",
            tick="{} MB",
        ),
    ),
    schemes=(CS, DT, EDT, SMARTBUF, DEMANDS),
    scales=setup.SCALES,
    plot=Lines(
        (
            Panel(SHORT, "(a) short flows and incasts, p99", is_log=True),
            Panel(Tail("long", 0.99), "(b) long flows, p99"),
        ),
        "buffer_mb",
        "buffer of a leaf",
    ),
    claims=tuple(
        Claim(
            f"With {size} MB, the tail is below that under {other.name}",
            "section IV-B",
            Reduction(SHORT, new=scheme.name, old=other.name),
            Apart(),
            Over({"buffer_mb": size}),
            scheme.name,
            exploratory="which sizes are neither too small nor too large",
        )
        for scheme in (SMARTBUF, DEMANDS)
        for other in (DT, EDT)
        for size in (2, 4, 8)
    ),
    is_of_paper=False,
)

CREDENCE_FORESTS = tuple(
    setup.scheme(name, "credence", "oracle=forest", f"model={model}", style=style)
    for name, model, style in (
        ("Credence, its model", "default", 6),
        ("Credence, trained here", "smartbuf", 7),
    )
)

CREDENCE = replace(
    FIGURE,
    name="smartbuf/figure3-credence",
    title="The same with push-out, and with predictions of it",
    about="LQD, and Credence with two forests: the bundled one, which was trained in "
    "Credence's scenario, and one that was trained in this. " + setup.ABOUT,
    schemes=(
        CS,
        DT,
        SMARTBUF,
        DEMANDS,
        setup.scheme("LQD", "lqd", style=2),
        *CREDENCE_FORESTS,
    ),
    claims=(),
    is_of_paper=False,
)
