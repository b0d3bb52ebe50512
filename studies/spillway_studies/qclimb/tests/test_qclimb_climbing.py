"""The figure about climbing runs what the testbed's figure runs, and is told of what it shows."""

import pytest

import spillway
from cells import flat, resolved, run_of
from spillway_studies.catalogue import find
from spillway_studies.claims import Outcome
from spillway_studies.claims import point as points
from spillway_studies.qclimb.figures import comparison, setup


def test_its_runs_are_those_of_the_testbed_and_record_climbing():
    (testbed,) = find("qclimb/testbed")
    (scheme,) = comparison.CLIMBING.schemes
    for point, other in zip(comparison.CLIMBING.points, testbed.points, strict=True):
        runs = flat(resolved(run_of(comparison.CLIMBING, scheme, point)))
        plain = flat(resolved(run_of(testbed, scheme, other)))
        assert runs.pop("record.climbing") is True
        assert runs == plain
    assert [point.label for point in comparison.CLIMBING.points][::4] == ["load 50%", "load 90%"]


def test_a_run_tells_shares_in_percent_and_seeds_count_alike():
    sets = ["record.climbing=true", "duration=3ms", "stop=1s"]
    runs = [spillway.run("qclimb-testbed", set=[*sets, f"seed={seed}"]) for seed in (1, 2)]
    shares = []
    for each in runs:
        rows = each.flows.to_pylist()
        assert all(row["climbed_ps"] <= row["fct_ps"] for row in rows)
        short = [row for row in rows if row["size_bytes"] <= 100_000]
        whole = sum(row["fct_ps"] for row in short)
        shares.append(sum(row["climbed_ps"] for row in short) / whole)
    assert shares[0] != shares[1] and all(0.5 < share < 1 for share in shares)
    outcomes = {seed: Outcome(dict(points.flat(each.summary))) for seed, each in enumerate(runs, 1)}
    measured = setup.SHORT_CLIMBING.measured(outcomes).value
    assert measured == pytest.approx(100 * sum(shares) / 2)
    assert setup.ALL_CLIMBING.measured(outcomes).value != measured
