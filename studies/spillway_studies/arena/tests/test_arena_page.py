"""The arenas of the page: what is kept of them, its tables and its pictures."""

import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest

from spillway.show.drawing import svg
from spillway_studies.arena import run, tables
from support import TINY

pytestmark = pytest.mark.filterwarnings("ignore::spillway.base.errors.ScenarioWarning")
TRANSPORTS = {"transport": "dctcp,cubic,newreno", **dict.fromkeys(("levels", "recovery"), "own")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small arena, and the folder that it was run in."""
    folder = tmp_path_factory.mktemp("arena")
    small = {
        "scenarios": [TINY],
        "factors": {"sharing": "dt,lqd,sp", "aqm": "none,ecn,codel", **TRANSPORTS},
        "set": ["switch.buffer=20KB"],
        "seeds": [1, 2],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "KEPT", folder / "results")
        patch.setattr(run, "ARENAS", {"small": small})
        patch.setattr("sys.argv", ["run", str(folder / "out")])
        run.main()
        yield folder
        tables.summary.cache_clear()


def test_what_is_kept_is_what_the_arena_has(made):
    kept = pq.read_table(made / "results/small.parquet").to_pylist()
    whole = pq.read_table(made / "out/small/arena.parquet").to_pylist()
    assert len(kept) == len(whole) == 9 * 3 * 2
    for row, own in zip(kept, whole, strict=True):
        numbers = [own.pop(name) for name in run.NUMBERS]
        assert [row.pop(name) for name in run.NUMBERS] == pytest.approx(numbers, rel=1e-6)
        assert row.items() <= own.items()
    assert tables.summary("small") == json.loads((made / "out/small/arena.json").read_text())


def test_ratios_by_scenario_are_those_of_the_runs(made):
    levels, scenarios, ratios = tables.by_scenario("small")
    rows = pq.read_table(made / "results/small.parquet").to_pylist()
    logs = {name: [] for name in levels}
    for own in rows:
        unit = own["context"], own["seed"]
        beside = (row for row in rows if (row["context"], row["seed"]) == unit)
        best = min(row["rank.all.p99"] for row in beside)
        logs[own["sharing"]].append(math.log(own["rank.all.p99"] / best))
    expected = [math.exp(np.mean(logs[name])) for name in levels]
    assert scenarios == ["tiny"]
    assert ratios[:, 0] == pytest.approx(expected)
    assert ratios.max() > 1.05


@pytest.mark.usefixtures("made")
def test_the_page_has_its_tables_and_pictures():
    for kind in tables.TABLES:
        text = tables.block("small", {"table": kind})
        assert text.count("\n| dt |") == (kind != "effects")
    assert "| ecn |" in tables.block("small", {"table": "levels", "factor": "aqm"})
    assert "| `small` | 9 of 9 | 3 | 2 | 54 |" in tables.block("small", {"table": "size"})
    for of in ("ranks", "front", "effects", "scenarios"):
        title, drawn = tables.block("small", {"table": "plot", "of": of})
        assert title == f"Arena small: {of}" and b"<svg" in svg(drawn)


def test_an_arena_that_there_is_not_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["run", str(tmp_path), "everything"])
    with pytest.raises(SystemExit):
        run.main()
    assert "there is no arena 'everything'; valid here: " in capsys.readouterr().err
