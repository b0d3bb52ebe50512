"""The study of all five systems: what it runs, what it keeps, and its tables."""

import math

import numpy as np
import pytest

from spillway_studies.five import factors, kept, run, tables
from spillway_studies.five.effects import interaction, shares
from spillway_studies.five.kept import Cube

pytestmark = pytest.mark.filterwarnings("ignore::spillway.base.errors.ScenarioWarning")

# What is run -------------------------------------------------------------------------------------


EXPECTED = {
    "factorial": 1512,
    "aqms": 360,
    "variants": 204,
    "bursts": 96,
    "protection": 96,
    "told": 56,
    "codel": 18,
}


def test_every_combination_has_a_number_of_its_own():
    for name, of in run.SERIES.items():
        for factor in of:
            assert len({*factor.levels.values()}) == len(factor.levels), (name, factor.name)
        combinations = math.prod(len(factor.levels) for factor in of)
        assert combinations == EXPECTED[name]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small series, and the folder that it was run in."""
    folder = tmp_path_factory.mktemp("five")
    with pytest.MonkeyPatch.context() as patch:
        bursts = ("traffic.incast.burst=2MB", "duration=2ms")
        often = ("traffic.incast.queries_per_host_per_s=40", "traffic.websearch.load=0.4")
        patch.setattr(run, "TRACED", (*run.TRACED, *bursts, *often, "stop=6ms"))
        patch.setattr(run, "ONE_IN", 3)
        patch.setattr(run, "LEARNS", "2ms")
        patch.setattr(run, "RECORD", (*run.RECORD, *bursts, "stop=22ms"))
        patch.setattr(run, "KEPT", folder / "results")
        patch.setattr(kept, "KEPT", folder / "results")
        small = {
            "tiny": (
                factors.SHARING.only(("dt", "credence", "smartbuf")),
                factors.AQM.only(("ecn",)),
                factors.LEVELS.only(("one, rack", "qclimb, counting")),
                factors.RTO.only(("1ms",)),
                factors.LOAD.only(("80%",)),
                factors.BUFFER.only(("5.12KB",)),
            )
        }
        patch.setattr(run, "SERIES", small)
        patch.setattr(kept, "SERIES", small)
        patch.setattr("sys.argv", ["run", str(folder / "out"), "--seeds", "1..2"])
        run.main()
        yield folder / "out"
        kept.runs.cache_clear()


def test_what_is_kept_is_what_the_runs_have(made):
    found = kept.runs("tiny").to_pylist()
    assert [row["levels"] for row in found[:4:2]] == ["one, rack", "qclimb, counting"]
    assert [row["seed"] for row in found] == [1, 2] * 6
    series = run.experiment(made, "tiny", "1..2")
    (_, runs), *_ = series.results
    for row, (seed, summary) in zip(found, runs.summaries(), strict=False):
        every = summary["fct_slowdown"]["all"]
        assert row["seed"] == seed and every["count"] > 10
        assert row["all.mean"] == pytest.approx(every["mean"])
        assert row["all.timeouts"] == pytest.approx(every["with_timeout"] / every["count"])
        tiers = (row[f"{tier}.{level}.lost"] for tier in ("leaf", "spine") for level in run.LEVELS)
        assert sum(tiers) == row["lost"]
    # With levels data waits in all queues, and without them in one.
    for row in found:
        waits = [level for level in run.LEVELS if row[f"leaf.{level}.bytes"] > 0]
        assert waits == ([0, 1] if row["levels"] == "one, rack" else list(run.LEVELS))


def test_what_is_there_is_not_made_again(made, capsys):
    series = run.experiment(made, "tiny", "1..2")
    assert (series.done, series.total) == (12, 12)
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.is_file()}
    run.main()
    after = {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.is_file()}
    assert {*before} == {*after} and "tiny: 12 runs" in capsys.readouterr().err
    models = (factors.MODEL, factors.MODEL_OF_LEVELS, factors.MODEL_THAT_SEES_LEVELS)
    for name in (*models, factors.HISTORY):
        assert before[made / name] == after[made / name]


def test_a_series_that_there_is_not_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["run", str(tmp_path), "factorials"])
    with pytest.raises(SystemExit):
        run.main()
    assert "there is no series 'factorials'; valid here: " in capsys.readouterr().err


@pytest.mark.usefixtures("made")
def test_a_table_has_the_means_over_seeds():
    rows = kept.runs("tiny").to_pylist()
    options = {"table": "cells", "metric": "lost", "columns": "aqm", "levels": "one"}
    with pytest.raises(ValueError, match="not all combinations of sharing, aqm, levels"):
        block("tiny", {**options, "columns": "levels x recovery", "levels": "qclimb"})
    one = [row["lost"] for row in rows if (row["sharing"], row["levels"]) == ("dt", "one, rack")]
    text = block("tiny", {**options, "recovery": "rack"})
    assert text.splitlines()[2].startswith(f"| `dt` | {np.mean(one):,.0f} ± ")


# Tables, by hand ---------------------------------------------------------------------------------


def block(series, options):
    """A table with plain spaces."""
    return tables.block(series, options).replace("\N{NO-BREAK SPACE}", " ")


def told(*given):
    """A number with plain spaces."""
    return tables.told(*given).replace("\N{NO-BREAK SPACE}", " ")


FACTORS = {"sharing": ("dt", "lqd"), "aqm": ("ecn", "none")}
VALUES = np.array([[[1.0, 2.0], [3.0, 2.0]], [[1.0, 4.0], [11.0, 8.0]]])
"""Two policies, two AQMs, two seeds."""


def test_parts_of_a_cube():
    found = Cube(FACTORS, VALUES)
    assert found.where({"aqm": "none"}).values.tolist() == [[[3, 2]], [[11, 8]]]
    assert found.over(["aqm"]).values.tolist() == [[1, 3], [7, 5]]
    assert found.over(["aqm", "sharing"]).values[1].tolist() == [[3, 2], [11, 8]]


def test_shares_of_the_variance_by_hand():
    # Seed 1: mean 4, rows 2 and 6, columns 1 and 7; squares 9 + 1 + 9 + 49 = 68 = 16 + 36 + 16.
    found = shares(Cube(FACTORS, VALUES), as_logarithm=False)
    first = {term: each[0] for term, each in found.items()}
    assert first == pytest.approx(
        {("sharing",): 16 / 68, ("aqm",): 36 / 68, ("sharing", "aqm"): 16 / 68}
    )


def test_interactions_by_hand():
    # Seed 1: 1 - 2 - 1 + 4 = 2, and the same with both signs elsewhere.
    off = interaction(Cube(FACTORS, VALUES), as_logarithm=False)
    assert off.values[..., 0].tolist() == [[2, -2], [-2, 2]]
    # Seed 2: the ratio of ratios is (2 x 8) / (2 x 4), of which each cell has the fourth root.
    ratios = interaction(Cube(FACTORS, VALUES), as_logarithm=True).values[..., 1]
    assert ratios[0, 0] == pytest.approx(2**0.25) and ratios[0, 1] == pytest.approx(2**-0.25)


def test_effects_of_levels_by_hand(monkeypatch):
    monkeypatch.setattr(kept, "metric", lambda *_: Cube(FACTORS, VALUES))
    text = block("any", {"table": "effects", "metrics": "mean, timeouts"}).splitlines()
    # DT has 2 and 2 of means 4 and 4; no AQM has 7 and 5.
    assert text[2] == "| sharing dt | 0.50 ± 0.00 | -2.0 ± 0.0 |"
    half = 12.706 * 0.5
    assert text[5] == f"| aqm none | 1.50 ± {half / 2:.2f} | +2.0 ± {2 * half:.1f} |"


def test_a_mean_with_its_interval():
    # The deviation is sqrt(2), the error 1; Student's t for one degree of freedom is 12.706.
    assert told([1.0, 3.0]) == "2 ± 12.7"
    assert told([2.0]) == "2"


def test_schemes_against_the_base_by_hand(monkeypatch):
    others = {"aqm": ("ecn",), "levels": ("pias",), "recovery": ("rack",)}
    contexts = {"rto": ("1ms", "10ms"), "load": ("80%",), "buffer": ("5.12KB",)}
    whole = {"sharing": ("lqd", "dt"), **others, **contexts}
    # The base has 2 and 4 with seed 1, and 1 and 1 with seed 2; DT has ratios of 2 and 8, 3 and 3.
    means = np.array([[[2, 1], [4, 1]], [[4, 3], [32, 3]]], float).reshape(2, 1, 1, 1, 2, 1, 1, 2)
    monkeypatch.setattr(kept, "metric", lambda *_: Cube(whole, means))
    options = {"table": "against", "metrics": "mean, timeouts", "rows": "2"}
    text = block("factorial", options)
    (first, second) = text.splitlines()[2:]
    assert first == "| 1. lqd, ecn, pias, rack | 1.00 ± 0.00 | 0.0 ± 0.0 | 1.00 |"
    # Ratios of 4 and 3; differences of 15 and 2. At 10 ms, the worst, the ratio is sqrt(8 x 3).
    half = 12.706 * 0.5
    assert second.startswith(f"| 2. dt, ecn, pias, rack | 3.50 ± {half:.2f} | 8.5 ± ")
    assert second.endswith(" | 4.90 |")


def test_policies_beside_others_by_hand(monkeypatch):
    monkeypatch.setattr(kept, "metric", lambda *_: Cube(FACTORS, VALUES))
    monkeypatch.setattr(tables, "BESIDE", {"any": (("lqd", "dt"), ("dt", "dt"))})
    options = {"table": "beside", "columns": "aqm"}
    # 1 / 1 and 4 / 2, 11 / 3 and 8 / 2; 1 - 1 and 4 - 2, 11 - 3 and 8 - 2. Of two seeds the half
    # interval is 12.706 times half of their difference.
    ratios = block("any", {**options, "metric": "mean"}).splitlines()
    assert ratios[2:] == [
        "| `lqd / dt` | 1.50 ± 6.35 | 3.83 ± 2.12 |",
        "| `dt / dt` | 1.00 ± 0.00 | 1.00 ± 0.00 |",
    ]
    off = block("any", {**options, "metric": "timeouts"}).splitlines()
    assert off[2] == "| `lqd / dt` | +1.00 ± 12.71 | +7.00 ± 12.71 |"
