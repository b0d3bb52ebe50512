"""Figure 26: lambda over time as the workload changes, by the length of QLA's trials."""

import tomllib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spillway.result.result import Result
from spillway_studies.claims import (
    Apart,
    Between,
    Claim,
    Figure,
    Number,
    Over,
    Plain,
    Reduction,
    basis,
    choice,
)
from spillway_studies.pred.figures import star
from spillway_studies.pred.figures.figure4 import LARGE, SENDERS, SMALL, regular, rounds

_PHASE_MS, _STEP_US = 1000, 10_000
_CYCLE_MS = 32
"""Four trials of any length here, or a number of times four: what lambda is tried around."""
_SECTION = "appendix D.5, Figure 26"

FALL = Number("lambda.fall", "fall of lambda until 500 ms", "per 100 KB")
RISE = Number("lambda.rise", "rise of lambda from 1 s to 1.5 s", "per 100 KB")
TIME = Number("lambda.half_ms", "until half of the change after 1 s is made", "ms")
WHOLE = Number("lambda.whole_ms", "until the whole change after 2 s is made, to a step", "ms")
UNREST = Number("lambda.deviation", "standard deviation of lambda, 1.5 s to 2 s", "per 100 KB")


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """How lambda moves as the workload changes."""
    time, values = star.column(result, "lambda")
    ms = time / 1000

    def mean(begin: float, end: float) -> float:
        return float(values[(ms >= begin) & (ms < end)].mean())

    rules = tomllib.loads(result.scenario)["switch"]["aqm"]
    cycles = [
        (begin, mean(begin, begin + _CYCLE_MS))
        for begin in range(0, 3 * _PHASE_MS - _CYCLE_MS + 1, _CYCLE_MS)
    ]

    def after(change_ms: float, is_made: Callable[[float], bool]) -> float | None:
        """Milliseconds from a change of the workload to the end of the first such cycle."""
        made = (begin for begin, value in cycles if begin >= change_ms and is_made(value))
        begin = next(made, None)
        return None if begin is None else begin + _CYCLE_MS - change_ms

    before, late, last = mean(900, 1000), mean(1500, 2000), mean(2500, 3000)
    sign, half = np.sign(late - before), (before + late) / 2
    return {
        "lambda.fall": rules["lambda"] - mean(400, 500),
        "lambda.rise": mean(1400, 1500) - before,
        "lambda.half_ms": after(_PHASE_MS, lambda value: sign * (value - half) >= 0),
        "lambda.whole_ms": after(2 * _PHASE_MS, lambda value: abs(value - last) <= rules["delta"]),
        # To a billionth: lambda that rests at its least number has none.
        "lambda.deviation": float(
            np.std([value for begin, value in cycles if 1500 <= begin < 2000 - _CYCLE_MS]).round(9)
        ),
        "aqm.min": float(star.column(result, "min_bytes")[1].mean() / star.PACKET),
        **star.over_time(result, 0, 3000.0 * _PHASE_MS, _STEP_US),
    }


def _phases(small: str, large: str, again: str) -> str:
    return star.traffic(small, large, again)


_AT_RANDOM = "60% of the line, at random times"
_TRAFFIC = (
    choice(
        _AT_RANDOM,
        _phases(
            rounds("small", SMALL, stop="1s"),
            rounds("large", LARGE, start="1s", stop="2s"),
            rounds("again", SMALL, start="2s"),
        ),
    ),
    replace(
        choice(
            "a round for each round trip",
            _phases(
                regular("small", SMALL, "80us", stop="1s"),
                regular("large", LARGE, "5ms", start="1s", stop="2s"),
                regular("again", SMALL, "80us", start="2s"),
            ),
        ),
        exploratory="the traffic: of what was tried it comes nearest to the text",
    ),
)


def _trial(times: int) -> str:
    return f"{times} RTT"


_TIMES = (2, 5, 20, 100)
_SHORTEST, _LONGEST = _trial(_TIMES[0]), _trial(_TIMES[-1])


def _claims(over: Over, variant: str) -> tuple[Claim, ...]:
    claims = (
        Claim("With small messages lambda falls", _SECTION, Plain(FALL, _trial(5)), Apart(), over),
        Claim(
            "As large messages come lambda rises", _SECTION, Plain(RISE, _trial(5)), Apart(), over
        ),
        Claim(
            "To adapt wholly to small messages after large ones takes 200 ms at least",
            "appendix B",
            Plain(WHOLE, _trial(5)),
            Between(200),
            over,
        ),
        Claim(
            "Shorter trials adapt sooner",
            _SECTION,
            Reduction(TIME, new=_SHORTEST, old=_LONGEST),
            Apart(),
            over,
        ),
        Claim(
            "Shorter trials are less stable",
            _SECTION,
            Reduction(UNREST, new=_LONGEST, old=_SHORTEST),
            Apart(),
            over,
        ),
    )
    return tuple(
        replace(claim, variant=variant, is_again=variant != _AT_RANDOM) for claim in claims
    )


FIGURE = Figure(
    name="pred/figure26",
    title="Lambda over time as the workload changes",
    source="PRED (NSDI 2025), Figure 26, appendix D.5",
    about="18 senders that send a message each at once, 10 Gbps, 20 us for each link: the text's "
    "round trip of 80 us. Messages of 3 to 6 KB, from 1 s on of 30 to 600 KB, from 2 s on small "
    "again; each has a connection of its own. The text says nothing of their number.",
    measure=star.run("figure26:numbers", *star.network(SENDERS, "20us", sample="1ms")),
    points=_TRAFFIC,
    schemes=tuple(
        star.aqm(_trial(times), "pred", f"t_qla={times * star.ROUND_TRIP_US}us", style=place)
        for place, times in enumerate(_TIMES)
    ),
    scales={
        "quick": star.lasting(0, 3000, (1, 2, 3)),
        "full": star.lasting(0, 3000),
    },
    plot=star.Overlaid(
        (star.Series("lambda", "per 100 KB", "lambda"), star.Series("min", "packets", "min")),
        (FALL, RISE, TIME, WHOLE, UNREST, star.LEAST),
    ),
    claims=tuple(
        claim
        for point in _TRAFFIC
        for claim in _claims(Over(dict(point.values)), str(point.values["choice"]))
    ),
    told_by="anything",
)
