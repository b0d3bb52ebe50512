"""Forests that a run's own switches teach, window by window."""

import json

import numpy as np
import pytest

import spillway
from spillway.learning import oracle
from spillway.learning.oracle import windows as by_window
from spillway.learning.oracle.trace import load
from support import TINY, names, without_cost

# The bundled forest is asked in a network that is not its own.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*it was trained:spillway.base.errors.ScenarioWarning",
    "ignore:.*asked about packets outside:spillway.base.errors.ScenarioWarning",
)

MS = 1_000_000_000
SMALL = ("switch.buffer=25KB", "switch.aqm.threshold=unlimited", "switch.sharing=credence")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("online") / "found"
    return oracle.online(TINY, every="1ms", out=folder, set=SMALL, sample=3)


def test_every_window_has_the_forest_that_the_last_one_taught(found):
    files = [None, *(f"models/window-{number}.safetensors" for number in (1, 2, 3))]
    assert [window.model for window in found.windows] == ["default", *files[1:]]
    assert [window.taught for window in found.windows] == [*files[1:], None]
    assert [window.begin_ps for window in found.windows] == [0, MS, 2 * MS, 3 * MS]
    again = spillway.run(found.folder / "result")
    assert without_cost(again.summary) == without_cost(found.result.summary)
    given = again.scenario.split("[switch.sharing]")[1]
    assert [f'at = "{at}ms"' in given for at in (1, 2, 3)] == [True] * 3
    # Apart from the forests, it is the run without them up to the first change.
    static = spillway.run(TINY, set=SMALL)
    assert lost_before(static, MS) == lost_before(again, MS) == found.windows[0].lost
    assert static.drops != again.drops


def lost_before(result, time_ps):
    return int((np.array(result.drops["time_ps"]) < time_ps).sum())


def test_scores_are_those_of_the_windows_arrivals(found):
    trace = load(found.folder / "result")
    for window in found.windows:
        part = trace.where((trace.time_ps >= window.begin_ps) & (trace.time_ps < window.end_ps))
        of = "default" if window.model == "default" else found.folder / window.model
        assert window.scores == oracle.evaluate(oracle.Model.load(of), part)
        assert window.first == oracle.evaluate(oracle.Model.load("default"), part)
        assert window.scores.drops > 0
    assert sum(window.lost for window in found.windows) == lost_before(found.result, 4 * MS)
    document = json.loads((found.folder / "online.json").read_text())
    assert document == json.loads(json.dumps(found.document))


def test_a_forest_is_trained_on_what_was_known_at_the_end_of_its_window(found, tmp_path):
    """Before the first change the run is that of the first forest alone."""
    record = ("record.oracle_trace=true", "record.oracle_trace_sample=3")
    spillway.run(TINY, set=(*SMALL, *record), out=tmp_path / "whole")
    trace = load(tmp_path / "whole")
    told = oracle.Model.load(found.folder / "models/window-1.safetensors").training
    before = trace.where(trace.time_ps < MS)
    # Only packets that the virtual LQDs still held at 1 ms are missing.
    assert 0.98 * before.drops <= told["drops"] <= before.drops
    assert 0.98 * before.weight.sum() <= told["packets"] <= before.weight.sum()


def test_the_same_again_gives_the_same_forests(found, tmp_path):
    again = oracle.online(TINY, every="1ms", out=tmp_path / "again", set=SMALL, sample=3)
    for name in names(found.folder / "models"):
        files = [folder / "models" / name for folder in (found.folder, again.folder)]
        assert files[0].read_bytes() == files[1].read_bytes()
    more = oracle.online(
        TINY, every="1ms", out=tmp_path / "more", set=SMALL, sample=3, windows=3, trees=2
    )
    trained = [oracle.Model.load(more.folder / window.taught) for window in more.windows[:-1]]
    assert all(model.trees == 2 for model in trained)
    drops = [model.training["drops"] for model in trained]
    assert drops[0] < drops[1] < drops[2]


def test_a_window_without_a_loss_teaches_nothing(command, tmp_path):
    """The first packet is lost after 90 us."""
    sets = [f"--set={each}" for each in (*SMALL, "duration=170us")]
    asked = ["oracle", "online", str(TINY), "--every", "80us", "--out", str(tmp_path / "out")]
    done = command(*asked, *sets)
    assert "before the end of window 1, 2: no new forest" in done.out
    document = command(*asked, *sets, "--force", "--json").json
    assert [window["model"] for window in document["windows"]] == ["default"] * 3
    assert names(tmp_path / "out" / "models") == []
    assert "is there already" in command(*asked, *sets).err


def test_only_switches_that_ask_forests_teach_them(tmp_path):
    """Spines are under LQD, and have rows of their own in the trace."""
    sets = (*SMALL, "switch.spine.sharing=lqd", "duration=2ms")
    found = oracle.online(TINY, every="1ms", out=tmp_path / "out", set=sets)
    trace = load(found.folder / "result")
    assert trace.at("spine").weight.sum() > 0
    seen = [window.scores.document["packets"] for window in found.windows]
    within = trace.at("leaf").time_ps < 2 * MS
    assert sum(seen) == trace.at("leaf").weight[within].sum()


@pytest.mark.parametrize(
    ("sets", "options", "problem"),
    [
        (["switch.sharing=lqd"], {}, 'no switch has sharing = "credence"'),
        (["switch.sharing.thresholds=code"], {}, "none knows what LQD would have done"),
        (["switch.sharing.oracle=always-accept"], {}, "no switch has"),
        (
            ['switch.sharing.model={ leaf = "default", spine = "default" }'],
            {},
            "begins with one model for all",
        ),
        ([], {"every": "4ms"}, "leaves no window to learn for: traffic lasts 4ms"),
        ([], {"every": "0ms"}, "leaves no window to learn for"),
        ([], {"every": "1us"}, "makes 4,000 windows; 1,000 at most"),
        ([], {"every": "soon"}, "soon"),
        ([], {"trees": 0}, "trees"),
        ([], {"windows": 0}, "windows"),
        ([], {"sample": 0}, "sample"),
        ([], {"features": ["colour"]}, "colour"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(monkeypatch, tmp_path, sets, options, problem):
    monkeypatch.setattr(by_window, "_until", lambda *_: pytest.fail("it runs"))
    given = {"every": "1ms", **options}
    with pytest.raises(spillway.ScenarioError, match=problem):
        oracle.online(TINY, out=tmp_path / "out", set=(*SMALL, *sets), **given)
    assert names(tmp_path) == []


def test_nothing_is_left_of_an_interrupted_run(monkeypatch, tmp_path):
    until = by_window._until

    def interrupted(scenario, end_ps, report):
        if end_ps > MS:
            raise KeyboardInterrupt
        return until(scenario, end_ps, report)

    monkeypatch.setattr(by_window, "_until", interrupted)
    with pytest.raises(KeyboardInterrupt):
        oracle.online(TINY, every="1ms", out=tmp_path / "out", set=SMALL)
    assert names(tmp_path) == []
