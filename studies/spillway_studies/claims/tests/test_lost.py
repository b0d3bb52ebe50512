"""What figures count as lost: what was lost while it was measured."""

import tomllib

import pytest

import spillway
from spillway_studies import catalogue
from spillway_studies.claims import lost

BURSTS = {"switch.sharing": "sp", "traffic.incast.queries_per_host_per_s": 100}


def run(warmup):
    return spillway.run("credence", set={"duration": "6ms", "warmup": warmup, **BURSTS})


def test_what_was_lost_before_the_warm_up_is_not_counted():
    whole, late = run("0us"), run("3ms")
    # The warm-up changes what is counted, and nothing else.
    assert late.summary["drops"] == whole.summary["drops"]
    assert lost.numbers(whole)["lost.over_threshold"] == whole.summary["drops"]["over_threshold"]
    times = [time for time in late.drops["time_ps"].to_pylist() if time >= 3 * 10**9]
    assert 0 < len(times) < whole.drops.num_rows
    assert sum(lost.numbers(late).values()) == len(times)


def test_a_run_that_lost_nothing_counts_none():
    result = spillway.run("credence", set={"duration": "1ms", "switch.sharing": "lqd"})
    assert result.drops.num_rows == 0
    assert lost.numbers(result) == {"lost.buffer_full": 0}


def test_a_run_that_does_not_record_its_losses_tells_none():
    result = spillway.run("credence", set={"duration": "1ms", "record.drops": False})
    with pytest.raises(ValueError, match="does not tell when packets were lost"):
        lost.numbers(result)


COUNTING = (
    "spillway_studies.claims.lost:numbers",
    "spillway_studies.smartbuf.figures.bursts:numbers",
)


def measure_of(figure):
    return getattr(figure.measure, "run", figure.measure)


@pytest.mark.parametrize(
    "figure",
    [each for each in catalogue.every() if getattr(measure_of(each), "also", "") in COUNTING],
    ids=lambda figure: figure.name,
)
def test_figures_that_count_what_was_lost_have_it_noted(figure):
    measure = measure_of(figure)
    for scale in figure.scales.values():
        scenario = spillway.Scenario.load(measure.scenario).set(
            *measure.assignments, *scale.assignments
        )
        assert tomllib.loads(scenario.read().resolved)["record"]["drops"]
