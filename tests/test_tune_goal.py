"""Goals, constraints and fronts, by numbers that can be worked out by hand."""

import json

import pytest

import spillway
from spillway import Scenario, ScenarioError, _core
from spillway.tuning.expression import UndefinedError, comparison, expression
from spillway.tuning.goal import Aims, MissingError, front
from support import TINY


@pytest.fixture(scope="module")
def example() -> dict:
    """The summary of a run of the tiny scenario that has not begun."""
    return json.loads(_core.Simulation(Scenario.of(TINY).read()).summary())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", 6),
        ("a - b", 4),
        ("a-b.c", None),
        ("2 + 3 * a", 20),
        ("(2 + 3) * a", 30),
        ("a - b - 1", 3),
        ("a / b / 3", 1),
        ("-a + 1.5e1", 9),
        ("--a * -b", -12),
        ("p99.9.x - .5", 3.5),
        ("`my section.p99` * b", 14),
        ("goodput.web-search + 1.", 11),
    ],
)
def test_arithmetic_binds_as_usual(text, value):
    values = {"a": 6, "b": 2, "p99.9.x": 4, "my section.p99": 7, "goodput.web-search": 10}
    found = expression(text)
    if value is None:
        # A minus without spaces is part of a name.
        assert found.names == ("a-b.c",)
        return
    assert found.evaluate(values) == value
    assert found.text == text


def test_names_are_told_once():
    assert expression("a * (b + a) - 2").names == ("a", "b")
    with pytest.raises(UndefinedError):
        expression("a / (b - 2)").evaluate({"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it ends where a metric or a number is expected"),
        ("a +", "it ends where a metric or a number is expected"),
        ("* a", "'* a' stands where a metric or a number is expected"),
        ("(a", "a bracket is not closed"),
        ("a)", "')' is not expected there"),
        ("a b", "'b' is not expected there"),
        ("a ** b", "'* b' stands where"),
        ("__import__('os')", "\"('os')\" is not expected there"),
        ("a if b else c", "'if b else c' is not expected there"),
        ("[a]", "'[a]' stands where"),
        ("3 * 4", "there is no metric in it"),
        ("2 * default", "default stands in --subject-to only"),
        ("(" * 100 + "a" + ")" * 100, "it is nested too deeply"),
        ("-" * 100 + "a", "it is nested too deeply"),
        (3, "3 is no expression"),
    ],
)
def test_what_is_no_expression_is_refused(text, problem):
    with pytest.raises(ScenarioError) as raised:
        expression(text)
    assert problem in str(raised.value)
    assert raised.value.hint == "for one: fct_slowdown.incast.p99"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a", "it compares two sides by <= or >="),
        ("a < 1", "it compares two sides by <= or >="),
        ("a == 1", "it compares two sides by <= or >="),
        ("a <= 1 <= b", "'<= b' is not expected there"),
        ("default <= default", "default stands on one side"),
        ("a + default <= default", "default stands on one side"),
        ("1 <= 2", "there is no metric in it"),
        ("default >= 2", "there is no metric in it"),
        ("a / default >= 0.98", "default is the other side's value in the unchanged scenario"),
        ("0 <= default - a", "default is the other side's value in the unchanged scenario"),
    ],
)
def test_what_is_no_comparison_is_refused(text, problem):
    with pytest.raises(ScenarioError) as raised:
        comparison(text)
    assert problem in str(raised.value)
    assert raised.value.hint == "for one: goodput_gbps.all >= 0.98 * default"


def test_metrics_are_named_as_in_compare_or_by_their_path_in_the_summary(example, tiny):
    pairs = {
        "incast.p99": "fct_slowdown.incast.p99",
        "short.p99.9": "fct_slowdown.short.p99.9",
        "short.p99.9 + 0": "fct_slowdown.short.p99_9",
        "goodput": "goodput_gbps.all",
        "goodput.queries": "goodput_gbps.queries",
        "buffer.p99.99": "buffer_occupancy.p99.99",
        "timeouts": "timeouts + 0",
    }
    for short, path in pairs.items():
        found = Aims([short, path], (), (), example)
        one, other = found.values(found.readings([tiny.summary]))
        assert one == other > 0, short


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("fct_slowdown.incast.p90", "did you mean `fct_slowdown.incast.p99`?"),
        ("fct_slowdown.incast", "did you mean"),
        ("incast.p99-1", "a minus has spaces around it: incast.p99 - 1"),
        ("xyzzy", "docs/results.md names all metrics"),
        ("run.cpu_s", None),
        ("seed", None),
        ("drops.full", None),
    ],
)
def test_an_unknown_metric_is_refused(example, name, hint):
    with pytest.raises(ScenarioError) as raised:
        Aims(name, (), (), example)
    assert str(raised.value) == f"there is no metric {name!r}"
    assert hint is None or hint in raised.value.hint


def test_reasons_for_which_nothing_was_lost_count_as_0(example, tiny):
    aims = Aims("drops.over_threshold + 1000 * drops.aqm", (), "drops.headroom <= 0", example)
    assert tiny.summary["drops"] == {"over_threshold": 262}
    nothing = {**tiny.summary, "drops": {}}
    assert aims.readings([tiny.summary, nothing]) == {
        "drops.over_threshold": [262, 0],
        "drops.aqm": [0, 0],
        "drops.headroom": [0, 0],
    }
    with pytest.raises(ScenarioError) as raised:
        Aims("drops.over_treshold", (), (), example)
    assert raised.value.hint == "did you mean `drops.over_threshold`?"


def test_a_deadlock_is_no_number(example):
    lossless = {**example, "pauses": {"pauses": 0, "deadlock": None}}
    assert Aims("pauses.pauses", (), (), lossless).names == ["pauses.pauses"]
    with pytest.raises(ScenarioError, match=r"there is no metric 'pauses\.deadlock'"):
        Aims("pauses.deadlock", (), (), lossless)


JOBS = (
    "name=jobs",
    "warmup=1ms",
    "stop=2ms",
    "duration=2ms",
    'traffic=[{ name = "ring", kind = "all-reduce", size = "90KB", hosts = "0..3" }]',
)


def test_jobs_that_begin_in_the_warm_up_count_as_none_and_have_no_times(example):
    scenario = Scenario.of(TINY).set(*JOBS)
    summary = spillway.run(scenario).summary
    assert "ring" not in summary["job_us"]
    start = json.loads(_core.Simulation(scenario.set("warmup=0us").checked()).summary())
    counts = Aims("job_us.ring.count + iteration_us.ring.unfinished", (), (), start)
    assert [*counts.readings([summary]).values()] == [[0], [0]]
    with pytest.raises(MissingError, match=r"has no iteration_us\.ring\.p99"):
        Aims("iteration_us.ring.p99", (), (), start).readings([summary])
    # The search knows such names whatever the warm-up is.
    with pytest.raises(spillway.SpillwayError, match=r"has no iteration_us\.ring\.p99"):
        spillway.tune(scenario, over="switch.buffer=50KB,70KB", minimize="iteration_us.ring.p99")
    # There is no such class of jobs.
    for name in ("job_us.queries.count", "job_us.ring.p90"):
        with pytest.raises(ScenarioError, match="there is no metric"):
            Aims(name, (), (), start)
    with pytest.raises(ScenarioError, match="there is no metric"):
        Aims("job_us.ring.count", (), (), example)


def test_there_are_goals_and_none_twice(example):
    with pytest.raises(ScenarioError, match="there is no goal"):
        Aims((), (), "drops <= 3", example)
    with pytest.raises(ScenarioError, match="drops is a goal twice"):
        Aims("drops", "drops", (), example)


def test_a_goal_is_the_mean_over_seeds_of_its_expression(example):
    aims = Aims("drops / timeouts", (), (), example)
    # 10/5 and 12/2: the mean of 2 and 6, and not 22/7.
    assert aims.values({"drops": [10, 12], "timeouts": [5, 2]}) == [4]


@pytest.mark.parametrize(
    ("text", "sides", "violation"),
    [
        # The mean is 9 where the default's is 10.
        ("goodput >= 0.98 * default", (9, 9.8), 0.8 / 9.8),
        ("goodput >= 0.9 * default", (9, 9), 0),
        ("goodput >= default - 3", (9, 7), -2 / 7),
        ("goodput <= 6", (9, 6), 0.5),
        ("default * 0.98 <= goodput", (9.8, 9), 0.8 / 9),
        ("2 * goodput <= default", (18, 20), -0.1),
        ("goodput - drops >= default", (5, 9), 4 / 9),
        ("drops >= 0.5 * default + goodput", (4, 9.5), 5.5 / 9.5),
        ("drops - 4 <= 0", (0, 0), 0),
        ("drops <= 0", (4, 0), 4),
    ],
)
def test_a_constraint_compares_means_and_default_is_the_other_side_s(
    example, text, sides, violation
):
    aims = Aims("drops", (), text, example)
    readings = {"goodput": [8, 10], "drops": [3, 5]}
    default = {"goodput": [11, 9], "drops": [1, 1]}
    (only,) = aims.constraints
    assert only.sides(readings, default) == pytest.approx(sides)
    assert aims.violations(readings, default) == {text: pytest.approx(violation)}


def test_runs_without_a_number_have_failed(example, tiny):
    summary = dict(tiny.summary)
    aims = Aims("incast.p99", (), (), example)
    none = {**summary, "fct_slowdown": {**summary["fct_slowdown"], "incast": {"p99": None}}}
    with pytest.raises(MissingError, match=r"seed 7 has no incast\.p99: no flow counts"):
        aims.readings([summary, none])
    with pytest.raises(MissingError, match="seed 7 ended in a deadlock"):
        aims.readings([{**summary, "status": "deadlock"}])
    for text in ("timeouts / (drops - 262)", "1 / (drops - drops)"):
        with pytest.raises(MissingError, match="divides by zero"):
            Aims(text, (), (), example).readings([summary])
    with pytest.raises(MissingError, match="divides by zero"):
        Aims("drops", (), "1 / (drops - 262) <= 4", example).readings([summary])


def test_a_front_has_what_nothing_dominates(example):
    # Few drops, and much goodput.
    aims = Aims("drops", "goodput", (), example)
    points = [
        (5, 5),
        (3, 4),
        (4, 4),  # as much goodput as the one before, and more drops
        (1, 1),
        (5, 5),  # again
        (6, 9),
        (6, 8),  # less goodput than the one before
        (2, 0.5),  # worse than (1, 1) in both
    ]
    assert front(aims, points) == [0, 1, 3, 5]
    assert front(aims, points[:1]) == [0] and front(aims, []) == []


def test_a_front_of_three_goals(example):
    aims = Aims(["drops", "timeouts", "marks"], (), (), example)
    points = [(1, 2, 3), (3, 2, 1), (2, 2, 2), (2, 2, 3), (1, 2, 4)]
    assert front(aims, points) == [0, 1, 2]
