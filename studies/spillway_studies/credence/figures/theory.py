"""The theorems, and on how many small random instances each of them fails."""

from collections.abc import Callable, Mapping
from typing import Any

from spillway_studies.claims import (
    AtMost,
    Claim,
    Computed,
    Figure,
    Number,
    Plain,
    Scale,
    Scheme,
    along,
    basis,
)

_KEYS: dict[str, dict[str, Any]] = {
    "Credence": {},
    "no safeguard": {"safeguard": False},
    "eviction first": {"count_arrival": False, "tie": "lowest-index"},
}
SCHEMES = tuple(Scheme(name, style=style) for name, style in zip(_KEYS, (3, 5, 6), strict=True))

LEMMA_1, PERFECT, THEOREM_1, THEOREM_2 = (
    Number(path, name, "instances", over_seeds="largest")
    for path, name in (
        ("lemma1", "instances with Credence < LQD / eta"),
        ("perfect", "instances with Credence < LQD, predictions perfect"),
        ("theorem1", "instances with OPT / Credence > min(1.707 eta, N)"),
        ("theorem2", "instances with eta above its bound, one drop not predicted"),
    )
)


@basis.results(1, on=("slotted", "sharing."))
def point(
    report: Callable[[None], object],
    *,
    most_ports: int,
    scheme: str,
    seed: int,
    instances: int,
) -> Mapping[str, float]:
    """The number of instances of one seed that contradict what the paper proves."""
    from spillway.theory.slotted import lemma1

    found = lemma1(
        instances=instances,
        most_ports=int(most_ports),
        seed=seed,
        keys=_KEYS[scheme],
        follow=lambda _: report(None),
    )
    return {
        "lemma1": found["lemma1"]["fails"],
        "perfect": found["perfect"]["fails"],
        "theorem1": found["theorem1_fails"],
        "theorem2": found["theorem2"]["fails"],
    }


def _never(says: str, source: str, metric: Number) -> Claim:
    return Claim(says, source, Plain(metric, "Credence"), AtMost(0.0))


FIGURE = Figure(
    name="credence/theory",
    title="Instances on which a theorem fails",
    source="Credence (NSDI 2024), sections 3.1 and 3.3, appendix C",
    about="The slotted model: up to 5 ports, buffers of 12 and 40 slots, drawn as "
    "`spillway slotted lemma1` draws them; numbers are those of the seed with most. Credence as it "
    "is, without its safeguard, and with the other way to choose the longest queue. One instance "
    "refutes a claim: the smallest known are in the page of its theory.",
    measure=Computed(f"{__name__}:point"),
    points=along("most_ports", (5,), label="up to {} ports"),
    schemes=SCHEMES,
    scales={
        "quick": Scale((1, 2, 3), parameters={"instances": 20_000}),
        "full": Scale((1, 2, 3), parameters={"instances": 200_000}),
    },
    claims=(
        _never("Credence sends LQD / eta at least", "Lemma 1", LEMMA_1),
        _never("OPT / Credence is at most min(1.707 eta, N)", "Theorem 1", THEOREM_1),
        _never("The closed form is an upper bound of eta", "Theorem 2", THEOREM_2),
        _never("With perfect predictions Credence sends what LQD sends", "section 3.1", PERFECT),
    ),
    is_of_paper=False,
)
