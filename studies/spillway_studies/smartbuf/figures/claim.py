"""The abstract's factor of 8 and error of 6%, with the traffic that comes nearest to them."""

import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from spillway.run.run import run
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import (
    Claim,
    Computed,
    Figure,
    Near,
    Number,
    Plain,
    Reduction,
    Scale,
    Scheme,
    Variants,
    Within,
    basis,
    samples,
)
from spillway_studies.smartbuf.figures import bursts, setup
from spillway_studies.smartbuf.figures.figure8 import MEAN
from spillway_studies.smartbuf.figures.setup import CS, DEMANDS, DT, EQUAL_SHARES, LEAF, SMARTBUF

_TRAFFIC = "the traffic: of all that was tried it comes nearest to the paper's numbers"
LQD = setup.scheme("LQD", "lqd", style=2)


def _claims(scheme: Scheme) -> tuple[Claim, ...]:
    return (
        *(
            Claim(
                f"At high load, the tail is an eighth of that under {other.name}",
                "abstract, section IV-B",
                Reduction(setup.SHORT, new=scheme.name, old=other.name),
                Near(1 - 1 / 8),
                variant=scheme.name,
                exploratory=_TRAFFIC,
            )
            for other in (EQUAL_SHARES, CS, DT)
        ),
        Claim(
            "The error is 6% on average",
            "abstract",
            Plain(MEAN, scheme.name),
            Within(6),
            variant=scheme.name,
            exploratory=_TRAFFIC,
        ),
    )


FIGURE = Figure(
    name="smartbuf/claim",
    title="A factor of 8, and an error of 6%",
    source="Smartbuf (IWQoS 2021), abstract, section IV-B",
    about="Load 80%: 64% long flows, 13% single short ones, and 3% incasts of 120 answers of "
    "14,480 bytes, ten packets, which are 43% of a leaf's buffer. " + setup.ABOUT,
    measure=setup.BURSTS,
    points=(setup.PLAUSIBLE,),
    schemes=(EQUAL_SHARES, CS, DT, LQD, SMARTBUF, DEMANDS),
    scales={
        "quick": Scale((1, 2, 3, 4, 5), ("warmup=20ms", "duration=50ms")),
        "full": Scale((1, 2, 3, 4, 5), ("warmup=200ms", "duration=500ms")),
    },
    plot=Variants((setup.SHORT, setup.TIMEOUTS, MEAN, setup.COLLISIONS, setup.DROPS), "queries"),
    claims=(*_claims(SMARTBUF), *_claims(DEMANDS)),
    is_of_paper=False,
)


LEARNED = replace(
    FIGURE,
    name="smartbuf/claim-learned",
    title="The same after 600 ms of learning",
    about="As in `smartbuf/claim`, but Smartbuf learns for as long as in Figures 3 and 8.",
    scales={
        "quick": Scale((1, 2, 3), ("warmup=600ms", "duration=630ms")),
        "full": Scale((1, 2, 3, 4, 5), ("warmup=600ms", "duration=900ms")),
    },
)


@basis.results(1, on=basis.EVERYTHING)
def from_unbounded(
    report: Callable[[object], object],
    *,
    seed: int,
    scheme: str,
    learned: str,
    warmup: str,
    duration: str,
    **_: object,
) -> dict[str, float | None]:
    """The same if leaves begin with the history of a run in which they lose nothing.

    That run lasts for `learned`, with another seed and buffers of 1 GB. What counts as a burst is
    the same as with 4 MB: more than 800 KB. Nothing is predicted in it.
    """
    (chosen,) = (each for each in FIGURE.schemes if each.name == scheme)
    scenario = Scenario.load(setup.SCENARIO).set(
        *setup.PLAUSIBLE.assignments, *chosen.assignments, "record.drops=false"
    )
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "learned"
        run(
            scenario.set(
                f"seed={seed + 1000}",
                f"duration={learned}",
                "switch.leaf.buffer=1GB",
                f"{LEAF}.sigma=1250",
                f"{LEAF}.learning_period={learned}",
            ),
            out=history,
            progress=report,
        )
        found = run(
            scenario.set(
                f"seed={seed}",
                f"warmup={warmup}",
                f"duration={duration}",
                "record.bursts=20%",
                f"{LEAF}.history={history}",
            ),
            progress=report,
        )
    flows = samples.of(found.flows, tomllib.loads(found.scenario), found.summary)
    late = samples.select(flows, "short+incast", "with_timeout")
    return {
        **bursts.numbers(found),
        "p99": samples.percentile(samples.select(flows, "short+incast"), 0.99),
        "with_timeout": float(late.mean()),
    }


UNBOUNDED = Figure(
    name="smartbuf/claim-unbounded",
    title="The same with what leaves without losses have learned",
    source="Smartbuf (IWQoS 2021), section IV-E",
    about="As in `smartbuf/claim`, but leaves begin with the history of a run of 50 ms with "
    "another seed, in which leaves have 1 GB and lose nothing.",
    measure=Computed("spillway_studies.smartbuf.figures.claim:from_unbounded"),
    points=FIGURE.points,
    schemes=(SMARTBUF, DEMANDS),
    scales={
        name: Scale((1, 2, 3, 4, 5), parameters={"learned": "50ms", **times})
        for name, times in (
            ("quick", {"warmup": "20ms", "duration": "50ms"}),
            ("full", {"warmup": "200ms", "duration": "500ms"}),
        )
    },
    plot=Variants(
        (
            Number("p99", setup.SHORT.name, setup.SHORT.unit),
            Number("with_timeout", setup.TIMEOUTS.name, setup.TIMEOUTS.unit, 100),
            MEAN,
        ),
        "queries",
    ),
    is_of_paper=False,
)
