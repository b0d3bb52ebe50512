"""The choices of pFabric's own keys: each changes what it says, and pFabric alone."""

import pytest

from cells import flat, resolved, run_of
from spillway.reproduce.catalogue import find

SENDERS = "traffic.websearch"
LIMIT = [f"{tier}.sharing.limit" for tier in ("leaf", "spine")]
CHOICES = {
    "as in the other figures": {},
    "timeout six round trips": {f"{SENDERS}.rto": "6rtt"},
    "timeout ten round trips": {f"{SENDERS}.rto": "10rtt"},
    "timeout 2 ms, the others' least": {f"{SENDERS}.rto": "2ms"},
    "windows of one BDP at most": {f"{SENDERS}.max_window": "1bdp"},
    "windows of two BDPs from the beginning": {
        f"{SENDERS}.initial_window": "2bdp",
        f"{SENDERS}.max_window": "2bdp",
    },
    "ports of one BDP": dict.fromkeys(LIMIT, "1bdp"),
    "ports of four BDPs": dict.fromkeys(LIMIT, "4bdp"),
    "NICs of one BDP": {"nic.queue_limit": "128KB"},
    "NICs that hold all": {"nic.queue_limit": "unlimited"},
    "remaining size is what is unsent": {f"{SENDERS}.remaining": "unsent"},
    "senders know what has arrived": {f"{SENDERS}.knows_receiver": True},
    "no probes": {f"{SENDERS}.probe_after": 0},
    "timeout ten round trips, NICs that hold all": {
        f"{SENDERS}.rto": "10rtt",
        "nic.queue_limit": "unlimited",
    },
}


def cell(figure, scheme, point):
    """All keys of a run."""
    return flat(resolved(run_of(figure, scheme, point, "quick")))


@pytest.fixture
def figure():
    (found,) = find("qclimb/pfabric-choices")
    return found


def test_each_choice_changes_pfabric_as_it_says(figure):
    of_qclimb, of_pfabric = figure.schemes
    assert (of_qclimb.name, of_pfabric.name) == ("QCLIMB", "pFabric")
    plain = {}
    found = {}
    for point in figure.points:
        choice, load = point.values["choice"], point.values["load"]
        runs = [cell(figure, scheme, point) for scheme in figure.schemes]
        plain.setdefault(load, runs)
        assert runs[0] == plain[load][0], f"QCLIMB: {choice}"
        before, after = plain[load][1], runs[1]
        changes = {
            key: after.get(key) for key in before | after if before.get(key) != after.get(key)
        }
        found.setdefault(load, {})[choice] = changes
    assert set(found) == {0.6, 0.8}
    for load, changes in found.items():
        assert changes == CHOICES, load


def test_the_first_choice_has_the_runs_of_the_testbed(figure):
    (testbed,) = find("qclimb/testbed")
    by_load = {point.values["load"]: point for point in testbed.points}
    pfabric = figure.schemes[1]
    for point in figure.points:
        if point.values["choice"] == "as in the other figures":
            load = point.values["load"]
            assert cell(figure, pfabric, point) == cell(testbed, pfabric, by_load[load])


def test_every_choice_is_judged_by_both_claims(figure):
    judged = {(claim.over.where["choice"], claim.formula.metric) for claim in figure.claims}
    assert len(judged) == len(figure.claims) == 2 * len(CHOICES)
    assert {choice for choice, _ in judged} == {*CHOICES}
