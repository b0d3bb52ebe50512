"""What experiments say: means, differences in pairs, and the table of all runs."""

import pyarrow.parquet as pq
import pytest

import spillway
from spillway import ScenarioError
from test_cli_errors import refused
from test_experiments import COMPARE, asked, flows


def test_the_frame_has_every_number_of_every_run(tmp_path):
    vary = ["switch.sharing=dt,lqd", "seed=3,4"]
    more = {"vary": vary, "seeds": None, "more": ["duration=10ms"]}
    experiment = asked(tmp_path / "out", **more).run()
    assert len(asked(tmp_path / "out", **more).variants) == 4
    table = experiment.frame().arrow
    assert table == pq.read_table(tmp_path / "out" / "runs.parquet").replace_schema_metadata()
    assert table.column_names[:4] == ["key", "switch.sharing", "seed", "status"]
    rows = table.to_pylist()
    assert [row["switch.sharing"] for row in rows] == ["dt", "dt", "lqd", "lqd"]
    assert [row["seed"] for row in rows] == [3, 4, 3, 4]
    for row, result in zip(
        rows, [run for _, runs in experiment.results for run in runs], strict=True
    ):
        summary = result.summary
        assert row["fct_slowdown.all.p99"] == summary["fct_slowdown"]["all"]["p99"]
        assert row["flows.started"] == summary["flows"]["started"]
        for reason in ("over_threshold", "pushed_out"):
            assert row[f"drops.{reason}"] == summary["drops"].get(reason, 0)
    assert str(table.schema.field("flows.started").type) == "int64"
    assert not any("struct" in str(field.type) for field in table.schema)


def test_pairs_by_hand(tmp_path):
    """Differences seed by seed, and what can be said of them."""
    experiment = asked(tmp_path / "out", seeds="1..6", more=["duration=5ms"]).run()
    (pair,) = experiment.pairs("switch.sharing=dt", "background.mean")
    by_seed = [
        [run.summary["fct_slowdown"]["background"]["mean"] for run in runs]
        for _, runs in experiment.results
    ]
    differences = [lqd - dt for dt, lqd in zip(*by_seed, strict=True)]
    assert (pair.label, pair.against, pair.found.n) == ("sharing=lqd", "sharing=dt", 6)
    assert pair.found.difference == pytest.approx(sum(differences) / 6)
    row = pair.row()
    low, high = row["interval"]
    assert row["told"] == ("none shown" if low < 0 < high else "below" if high < 0 else "above")
    (other,) = experiment.pairs("switch.sharing=lqd", "background.mean")
    assert other.found.difference == pytest.approx(-pair.found.difference)


def test_pairs_on_the_command_line_are_those_of_json(command):
    asked = [*COMPARE[:-2], "--seeds", "1..4", "--metrics", "short.mean,drops"]
    found = command(*asked, "--against", "switch.sharing=dt", "--json")
    rows = found.json["pairs"]
    assert [(row["label"], row["metric"]) for row in rows] == [
        ("sharing=lqd", "short.mean"),
        ("sharing=lqd", "drops"),
    ]
    assert "against sharing=dt" in found.err
    short = f"{abs(100 * rows[0]['relative']):.1f}%"
    assert short in found.err
    refused(
        command(*asked, "--against", "switch.aqm=red"), "switch.aqm is not varied here", "varied"
    )
    refused(command(*asked, "--against", "switch.sharing=cs"), "no variant has", "sharing=lqd")


def test_interval_and_n_are_in_json(command):
    (variant, _) = command(*COMPARE, "--seeds", "1..3", "--json").json["variants"]
    values = [run["fct_slowdown"]["all"]["mean"] for run in variant["runs"]]
    low, high = variant["interval"]["fct_slowdown"]["all"]["mean"]
    assert (low + high) / 2 == pytest.approx(sum(values) / 3)
    assert variant["n"]["fct_slowdown"]["all"]["mean"] == 3


def test_seeds_that_are_one_run_several_times_are_no_evidence(tmp_path):
    flows(tmp_path / "a", 200_000)
    text = (tmp_path / "listed.toml").read_text()
    vary = {"transport.ack_every": [1, 2]}
    same = spillway.experiment(
        text, vary=vary, seeds="1..4", set={"topology.clocks": "exact"}
    ).run()
    assert same.identical == [True, True]
    (pair,) = same.pairs(metrics="fct_us.all.mean")
    assert pair.found.difference != 0 and (pair.found.n, pair.told) == (1, "too few seeds")
    assert "bold green" not in repr(same.table())
    assert not any(row["best"] for row in same.summary["table"])


def test_baselines_are_found_by_what_values_mean(tmp_path):
    out = tmp_path / "out"
    asked(out, vary=["switch.sharing.alpha=0.1,4"]).run()
    more = asked(out).run()
    pairs = {(pair.label, pair.against) for pair in more.pairs("switch.sharing=dt", "drops")}
    assert pairs == {
        ("alpha=0.1 sharing=dt", "alpha=0.5 sharing=dt"),
        ("alpha=4 sharing=dt", "alpha=0.5 sharing=dt"),
        ("alpha=unset sharing=lqd", "alpha=0.5 sharing=dt"),
    }
    by_size = asked(tmp_path / "b", vary=["switch.buffer=60000B,0.12MB"]).run()
    (pair,) = by_size.pairs("switch.buffer=0.06MB", "drops")
    assert pair.label == "buffer=0.12MB"
    zero = asked(tmp_path / "c", more=["routing.hash_seed=0"]).run()
    zero = asked(tmp_path / "c", more=["routing.hash_seed=0"], vary=["routing.hash_seed=5"]).run()
    assert zero.variants[0].label == "sharing=dt hash_seed=0"
    (pair,) = zero.pairs("routing.hash_seed=0", "drops")
    assert (pair.label, pair.against) == ("sharing=dt hash_seed=5", "sharing=dt hash_seed=0")


def test_baselines_that_are_none_or_several(tmp_path):
    several = asked(None, vary=["switch.sharing=dt,lqd", "switch.buffer=60KB,90KB"]).run()
    for wrong, text in (
        ("switch.aqm=red", r"switch\.aqm is not varied here"),
        ("switch.sharing=cs", r"no variant has switch\.sharing=cs"),
        (["switch.sharing=dt", "switch.sharing=lqd"], "is there twice"),
    ):
        with pytest.raises(ScenarioError, match=text):
            several.pairs(wrong)
    assert len(several.pairs("switch.sharing=dt", "drops")) == 2
    with pytest.raises(ScenarioError, match="no run is there yet"):
        asked(None).pairs()
