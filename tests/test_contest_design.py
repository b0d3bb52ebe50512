"""Designs of arenas: what they cover, what they leave out, and what they refuse."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import spillway
from spillway.contest.design import design, pairs
from spillway.contest.factors import factors
from spillway.contest.grounds import grounds
from spillway.contest.plan import ALL, planned
from spillway.plugins import Sharing
from spillway.plugins.description import describe_all
from support import TINY


def free(row):
    return None


def every_pair(sizes):
    for one, other in itertools.combinations(range(len(sizes)), 2):
        for a, b in itertools.product(range(sizes[one]), range(sizes[other])):
            yield one, a, other, b


# What is covered ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 4, 2), (5, 4, 3, 2), (1, 6, 1, 3), (4,)])
def test_every_pair_occurs_as_often_as_the_design_says(sizes, seed):
    made = design(sizes, free, None, seed)
    counts = Counter(pair for row in made.rows for pair in pairs(row))
    assert set(counts) == set(every_pair(sizes))
    assert made.counts == dict(counts)
    assert made.left_out == 0
    assert not made.impossible
    assert len(set(made.rows)) == len(made.rows)


def test_two_factors_need_each_pair_once():
    made = design((3, 4), free, None, 1)
    assert sorted(made.rows) == list(itertools.product(range(3), range(4)))
    assert set(made.counts.values()) == {1}


def test_a_design_is_far_smaller_than_all_combinations_and_not_smaller_than_the_largest_pair():
    made = design((6, 5, 4, 4), free, None, 1)
    assert made.of == 480
    assert 30 <= len(made.rows) <= 45


def test_the_same_seed_gives_the_same_design():
    assert design((5, 4, 3), free, 25, 7) == design((5, 4, 3), free, 25, 7)


def test_more_rows_even_out_how_often_pairs_occur():
    # 24 rows: each pair of the first two factors (3 x 4) twice, if they are even.
    made = design((3, 4, 2), free, 23, 1)
    assert len(made.rows) == 23
    own = [count for (one, _, other, _), count in made.counts.items() if (one, other) == (0, 1)]
    assert max(own) - min(own) <= 1


def test_fewer_rows_say_how_many_pairs_they_leave_out():
    # A row of three factors has 3 pairs, of 4 + 4 + 4.
    made = design((2, 2, 2), free, 1, 1)
    assert len(made.rows) == 1
    assert made.left_out == 9


def test_all_combinations_are_the_full_factorial():
    made = design((2, 3, 2), free, 12, 1)
    assert sorted(made.rows) == list(itertools.product(range(2), range(3), range(2)))
    # A pair is with every level of the third factor: 2 of the last, or 3 of the middle one.
    assert made.counts[0, 0, 1, 0] == 2
    assert made.counts[0, 0, 2, 0] == 3


@pytest.mark.parametrize("rows", [None, 30])
def test_what_is_refused_is_in_no_row_and_told(rows):
    def refusal(row):
        return "b with c" if row[0] == 1 and row[2] == 1 else None

    made = design((3, 4, 2), refusal, rows, 1)
    assert all(refusal(row) is None for row in made.rows)
    assert made.impossible == {(0, 1, 2, 1): "b with c"}
    counts = Counter(pair for row in made.rows for pair in pairs(row))
    assert set(counts) == set(every_pair((3, 4, 2))) - {(0, 1, 2, 1)}


def test_a_pair_that_only_some_rows_can_have_is_found():
    # (0, 0) with (1, 0) needs the one level in eight of the third factor.
    def refusal(row):
        return "no" if row[:2] == (0, 0) and row[2] != 5 else None

    made = design((3, 3, 8), refusal, None, 1)
    assert (0, 0, 5) in made.rows
    assert (0, 0, 1, 0) in made.counts


# Levels -------------------------------------------------------------------------------------------


class Mine(Sharing):
    """All that fits."""

    id = "mine"

    def admit(self, arrival, buffer):
        return True


def named(given, plugins=()):
    found = factors(given, describe_all(plugins))
    return {factor.name: [level.name for level in factor.levels] for factor in found}


def test_levels_are_those_of_the_catalogue_unless_some_are_named():
    import json

    from spillway.base import core

    told = json.loads(core.catalogue())
    found = named({"aqm": ["ecn", "own"]})
    assert found["sharing"] == [each["id"] for each in told["sharing"]]
    assert found["aqm"] == ["ecn", "own"]
    ids = {each["id"] for room in ("scheduling", "tagging") for each in told[room]}
    assert set(found["levels"]) == ids - {"fixed"}


def test_protection_is_varied_on_request_only():
    every = ["transport", "recovery", "levels", "aqm", "sharing"]
    assert [*named([])] == every
    assert [*named("protection=tlt")] == [*every[:2], "protection", *every[2:]]
    (found,) = (each for each in factors([], ranked="protection") if each.name == "protection")
    assert {level.name: level.assignments for level in found.levels} == {
        "none": ("transport.protection=", "switch.unimportant_limit="),
        "tlt": ("transport.protection=tlt", "switch.unimportant_limit=9%"),
    }


def test_a_plugin_is_a_level_whatever_was_named():
    assert named([], [Mine])["sharing"][-1] == "mine"
    assert named("sharing=dt,lqd", [Mine])["sharing"] == ["dt", "lqd", "mine"]
    assert named("sharing=mine,lqd", [Mine])["sharing"] == ["mine", "lqd"]


def test_one_defines_levels_of_ones_own():
    (level,) = factors("sharing=dt8:switch.sharing={kind='dt',alpha=8}/switch.buffer=1MB")[
        -1
    ].levels
    assert level.name == "dt8"
    assert level.assignments == ("switch.sharing={kind='dt',alpha=8}", "switch.buffer=1MB")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("colour=red", "factors: there is no 'colour'"),
        ("sharing=dtt", "sharing: there is no 'dtt'"),
        ("sharing=", "the factor sharing has no level, or an empty one"),
        ("sharing=dt,,lqd", "the factor sharing has no level, or an empty one"),
        ("sharing=dt,dt", "sharing: the level 'dt' is there twice"),
        (["aqm=ecn", "aqm=red"], "the factor 'aqm' is there twice"),
        ("sharing=dt:switch.sharing=lqd", "sharing: the name 'dt' is taken"),
        (7, "7 are no factors"),
        ({"sharing": 7}, "7 are no levels"),
    ],
)
def test_wrong_factors_are_named(given, message):
    with pytest.raises(spillway.ScenarioError) as error:
        factors(given)
    assert message in str(error.value)


# Scenarios ----------------------------------------------------------------------------------------


def on(*sources, packets=10_000, assignments=(), plugins=()):
    return grounds(sources, assignments, plugins, packets=packets, is_kept=False)


def test_scenarios_are_shortened_to_about_the_same_number_of_packets():
    (found,) = on("credence", packets=100_000)
    assert 90_000 < found.base.checked().expected_packets() < 110_000
    # Flows have 200 ms to end; in the scenario itself they have ten seconds.
    read = found.base.checked()
    assert read.stop_ps == read.duration_ps + 2 * 10**11


def test_flows_without_an_end_are_shortened_too():
    # They go on until `stop`, which is `duration`.
    (found,) = on("incast-star", packets=26_000)
    read = found.base.checked()
    assert read.stop_ps == read.duration_ps
    assert 20_000 < read.expected_packets() < 30_000


def test_a_warmup_is_shortened_too():
    (found,) = on("incast-star", packets=26_000)
    # 2.67 million packets in 100 ms, of which 50 are warm-up: to 26,000 by a factor of 102.
    assert found.base.resolved["warmup"] == "490000ns"
    assert found.base.resolved["duration"] == "980000ns"


def test_a_duration_that_is_set_stays():
    (found,) = on("credence", packets=10, assignments=["duration=2ms"])
    assert found.base.checked().duration_ps == 2 * 10**9


def test_tiers_with_a_policy_of_their_own_get_the_level_too():
    (found,) = on("smartbuf")
    assert found.assigned(["switch.sharing=lqd", "transport.kind=cubic", "switch.aqm=none"]) == (
        "switch.sharing=lqd",
        "switch.spine.sharing=lqd",
        "transport.kind=cubic",
        "switch.aqm=none",
        "switch.spine.aqm=none",
    )
    (without,) = on("credence")
    assert without.assigned(["switch.sharing=lqd"]) == ("switch.sharing=lqd",)


def test_a_preset_goes_with_its_transport_and_nothing_else_does():
    assignments = ("transport.kind=cubic", "transport.preset=")
    (rdma,) = on("rdma-incast")
    assert rdma.assigned(assignments) == assignments
    assert rdma.refusal(assignments) is None
    (own,) = on(TINY)
    assert own.assigned(assignments) == assignments[:1]
    varied = own.varied(own.assigned(assignments)).resolved
    assert varied["transport"]["recovery"]["min_rto"] == "1ms"


def test_without_protection_a_scenario_loses_what_it_has_of_it():
    none, tlt = factors("protection=none,tlt")[2].levels
    (own,) = on(TINY)
    (its,) = on(TINY, assignments=tlt.assignments)
    assert own.read(()).key == own.read(none.assignments).key == its.read(none.assignments).key
    assert own.read(tlt.assignments).key == its.read(()).key != own.read(()).key


def test_two_scenarios_of_one_name_are_refused():
    with pytest.raises(spillway.ScenarioError, match="the scenario 'tiny' is there twice"):
        on(TINY, TINY)


def test_a_wrong_scenario_is_named():
    with pytest.raises(spillway.ScenarioError, match=r"'credence'.*switch\.colour: unknown key"):
        on("credence", assignments=["switch.colour=red"])


# Plans --------------------------------------------------------------------------------------------


def plan(sources=("credence",), ranked="sharing", runs=None, seeds=1, plugins=(), **given):
    given = dict.fromkeys(("aqm", "levels", "transport", "recovery"), "own") | given
    return planned(
        on(*sources, plugins=plugins),
        factors(given, describe_all(plugins)),
        ranked,
        runs=runs,
        seeds=seeds,
        seed=1,
    )


def test_all_levels_that_are_ranked_meet_in_every_context():
    found = plan(sharing="dt,lqd,cs", aqm="none,ecn", transport="dctcp,cubic")
    for context in range(len(found.design.rows)):
        levels = [each.levels[found.place] for each in found.entrants if each.context == context]
        assert levels == [0, 1, 2]


def test_runs_are_about_as_many_as_asked_for():
    # 2 levels x 3 seeds = 6 runs a context: 40 runs are 6 contexts.
    given = {"sharing": "dt,lqd", "aqm": "none,ecn,red", "transport": "dctcp,cubic,powertcp"}
    assert len(plan(runs=40, seeds=3, **given).design.rows) == 6
    assert len(plan(runs=ALL, seeds=3, **given).design.rows) == 9


def test_combinations_that_are_the_same_scenario_are_run_once():
    # The scenario's own AQM is ECN with its defaults.
    found = plan(sharing="dt,lqd", aqm="ecn,own")
    assert len(found.entrants) == 4
    assert found.runs == 2


def test_a_level_that_some_contexts_refuse_is_left_out_there():
    found = plan(sharing="dt,lqd,pfabric", levels="fifo,rr", aqm="none")
    (context,) = {context for context, _ in found.refused}
    assert found.others[2].levels[found.design.rows[context][3]].name == "rr"
    assert "priorities are on the packets" in found.refused[context, 2]


def test_senders_that_cannot_be_protected_are_left_out():
    found = plan(
        ["credence", "incast-star"],
        sharing="dt,lqd",
        protection="none,tlt",
        recovery="sack,selective",
        transport="dctcp,timely,off:transport.offload=64KiB",
    )
    names = ["scenario", *(each.name for each in found.others)]
    place = names.index("protection")
    left_out = {
        (names[one], a): why
        for (one, a, other, b), why in found.design.impossible.items()
        if (other, b) == (place, 1)
    }
    assert [*sorted(left_out)] == [
        ("recovery", 1),
        ("scenario", 1),
        ("transport", 1),
        ("transport", 2),
    ]
    assert all(row[place] == 0 for row in found.design.rows if row[0] == 1)
    assert "where the recovery chooses every segment itself" in left_out["recovery", 1]


def test_warnings_about_combinations_are_counted():
    found = plan(sharing="dt,lqd", levels="srpt,rr")
    assert [count for text, count in found.warned().items() if "overtake" in text] == [2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"sharing": "dt,lqd,pfabric", "levels": "rr"},
            'sharing=pfabric can be had in no context: switch.sharing.kind: "pfabric" is not valid',
        ),
        (
            {"sharing": "dt,lqd", "aqm": "mq-ecn,none", "levels": "fifo"},
            'aqm=mq-ecn can be had in no context: switch.aqm.kind: "mq-ecn" is not valid',
        ),
        (
            {"sharing": "dt,lqd", "transport": "timely", "protection": "none,tlt"},
            "protection=tlt can be had in no context: transport.protection: means nothing where a "
            "pace is set",
        ),
        ({"sharing": "dt"}, "sharing has one level, dt: nothing is ranked"),
        ({"sharing": "pfabric,x:switch.sharing=nix", "levels": "rr"}, "no combination can be had"),
        ({"runs": ALL, "transport": "dctcp,cubic", "seeds": 100_000}, "the design has"),
        ({"runs": 10**9, "sharing": "dt,lqd", "seeds": 60_000}, "the design has 120,000 runs"),
    ],
)
def test_bad_designs_are_named_before_anything_runs(given, message):
    with pytest.raises(spillway.ScenarioError) as error:
        plan(**given)
    assert message in str(error.value)


def test_a_plugin_that_no_context_can_have_is_refused():
    class Never(Mine):
        """Refuses its parameters."""

        id = "never"

        def __init__(self, **keys):
            raise ValueError("not today")

    with pytest.raises(spillway.ScenarioError, match="sharing=never can be had in no context"):
        plan(plugins=[Never], sharing="dt,lqd")
