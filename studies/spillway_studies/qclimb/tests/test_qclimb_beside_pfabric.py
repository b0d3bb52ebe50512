"""Figures about the distance to pFabric: each choice changes what it says, of one scheme alone."""

from dataclasses import dataclass

import pytest

from cells import Settings, changes, flat, resolved, run_of, tiers
from spillway_studies.catalogue import find

SENDERS = "traffic.websearch"
RTO = f"{SENDERS}.rto"


PFABRIC_KEYS = {
    "as in the other figures": {},
    "timeout six round trips": {RTO: "6rtt"},
    "timeout ten round trips": {RTO: "10rtt"},
    "timeout 2 ms, the others' least": {RTO: "2ms"},
    "windows of one BDP at most": {f"{SENDERS}.max_window": "1bdp"},
    "windows of two BDPs from the beginning": {
        f"{SENDERS}.initial_window": "2bdp",
        f"{SENDERS}.max_window": "2bdp",
    },
    "ports of one BDP": tiers("sharing.limit", "1bdp"),
    "ports of four BDPs": tiers("sharing.limit", "4bdp"),
    "NICs of one BDP": {"nic.queue_limit": "128KB"},
    "NICs that hold all": {"nic.queue_limit": "unlimited"},
    "remaining size is what is unsent": {f"{SENDERS}.remaining": "unsent"},
    "senders know what has arrived": {f"{SENDERS}.knows_receiver": True},
    "no probes": {f"{SENDERS}.probe_after": 0},
    "timeout ten round trips, NICs that hold all": {RTO: "10rtt", "nic.queue_limit": "unlimited"},
}

# 2 MB times 350 ^ (k / 6), the last of which is 700 MB.
LEVELS = {
    f"{SENDERS}.tagging.thresholds": [
        f"{size}B"
        for size in (2000000, 5309350, 14094597, 37416574, 99328839, 263685774, 700000000)
    ]
}
LATE = {f"{SENDERS}.recovery.initial_rto": "200ms", f"{SENDERS}.recovery.min_rto": "200ms"}
ECN = ("threshold", "at_threshold", "scope", "marks_at", "not_ect")
UNMARKED = tiers("aqm", "none") | tiers("buffer", "unlimited")
UNMARKED |= {name: None for key in ECN for name in tiers(f"aqm.{key}", None)}
WINDOWS = {
    "as in the other figures": {},
    "long flows in levels": LEVELS,
    "timeouts from 200 ms on": LATE,
    "no marks": UNMARKED,
    "long flows in levels, timeouts from 200 ms on": LEVELS | LATE,
    "long flows in levels, no marks": LEVELS | UNMARKED,
    "timeouts from 200 ms on, no marks": LATE | UNMARKED,
    "long flows in levels, timeouts from 200 ms on, no marks": LEVELS | LATE | UNMARKED,
}


@dataclass(frozen=True)
class Told:
    """What is said of a figure."""

    name: str
    of: str
    """The scheme that is changed."""
    testbed: str
    """The figure that has the runs of the first choice."""
    loads: set[float]
    choices: dict[str, Settings]
    """What each choice changes."""


TOLD = (
    Told("pfabric-choices", "pFabric", "testbed", {0.6, 0.8}, PFABRIC_KEYS),
    Told("levels-and-windows", "QCLIMB", "testbed-datamining", {0.8}, WINDOWS),
)
each = pytest.mark.parametrize("told", TOLD, ids=lambda told: told.name)


def figure_of(name):
    (found,) = find(f"qclimb/{name}")
    return found


def cell(figure, scheme, point):
    """All keys of a run."""
    return flat(resolved(run_of(figure, scheme, point, "quick")))


@each
def test_each_choice_changes_one_scheme_as_it_says(told):
    figure = figure_of(told.name)
    assert [scheme.name for scheme in figure.schemes] == ["QCLIMB", "pFabric"]
    plain = {}
    found = {}
    for point in figure.points:
        choice, load = point.values["choice"], point.values["load"]
        runs = {scheme.name: cell(figure, scheme, point) for scheme in figure.schemes}
        before = plain.setdefault(load, runs)
        (other,) = {*runs} - {told.of}
        assert runs[other] == before[other], f"{other}: {choice}"
        found.setdefault(load, {})[choice] = changes(before[told.of], runs[told.of])
    assert set(found) == told.loads
    for load, changed in found.items():
        assert changed == told.choices, load


@each
def test_the_first_choice_has_the_runs_of_the_testbed(told):
    figure, testbed = figure_of(told.name), figure_of(told.testbed)
    by_load = {point.values["load"]: point for point in testbed.points}
    for point in figure.points:
        if point.values["choice"] == "as in the other figures":
            load = point.values["load"]
            for scheme in figure.schemes:
                assert cell(figure, scheme, point) == cell(testbed, scheme, by_load[load])


@each
def test_every_choice_is_judged_by_both_claims(told):
    claims = figure_of(told.name).claims
    judged = {(claim.over.where["choice"], claim.formula.metric) for claim in claims}
    assert len(judged) == len(claims) == 2 * len(told.choices)
    assert {choice for choice, _ in judged} == {*told.choices}
