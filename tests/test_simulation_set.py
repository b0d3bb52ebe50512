"""Numbers that change while a run goes on: by a call, and by an event of the scenario."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import spillway
from spillway import Simulation
from spillway.plugins import Aqm, Verdict

SHORT = [
    "duration=1ms",
    "traffic.websearch.load=0.6",
    "switch.buffer=300KB",
    "switch.sharing=dt",
    "switch.aqm=red",
]
PATH = "switch.leaf.port.3.aqm.min"


def with_event(value: Any, path: str = PATH, at: str = "300us") -> list[Any]:
    return [*SHORT, {"event": [{"kind": "set", "key": path, "value": value, "at": at}]}]


def flows(set: list[Any]) -> Any:
    return spillway.run("leaf-spine-128", set=set).flows


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (PATH, "0pkt"),
        ("switch.aqm.max_probability", 0.75),
        ("switch.aqm.max_probability", 1),
        ("switch.leaf.sharing.alpha", [0.001, 0.002]),
    ],
)
def test_a_call_is_the_event(path: str, value: Any) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    assert simulation.run_until("300us")
    untouched = simulation.copy()
    simulation.set(path, value)
    changed = simulation.finish().flows
    assert changed.equals(flows(with_event(value, path)))
    assert not changed.equals(flows(SHORT))
    assert untouched.finish().flows.equals(flows(SHORT))


def test_numbers_that_go_together_are_set_at_once() -> None:
    together = {"switch.aqm.min": "30pkt", "switch.aqm.max": "40pkt"}
    simulation = Simulation("leaf-spine-128", set=SHORT)
    simulation.run_until("300us")
    with pytest.raises(spillway.ScenarioError, match="15pkt must not be less than min = 30pkt"):
        simulation.set("switch.aqm.min", "30pkt")
    simulation.set(together)
    events = [
        {"kind": "set", "key": key, "value": value, "at": "300us"}
        for key, value in together.items()
    ]
    assert simulation.finish().flows.equals(flows([*SHORT, {"event": events}]))


def test_before_it_begins_it_is_the_scenario_with_that_number() -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    simulation.set("switch.aqm.min", "1pkt")
    assert simulation.finish().flows.equals(flows([*SHORT, "switch.aqm.min=1pkt"]))


def test_a_folder_tells_of_its_events(tmp_path: Path) -> None:
    result = spillway.run("leaf-spine-128", set=with_event("0pkt"), out=tmp_path / "run")
    again = spillway.run(tmp_path / "run" / "scenario.toml")
    assert again.flows.equals(result.flows)
    assert 'key = "switch.leaf.port.3.aqm.min"' in (tmp_path / "run/scenario.toml").read_text()


@pytest.mark.parametrize("key", ["switch.sharing.alpha", "switch.port.0.sharing.alpha"])
@pytest.mark.parametrize(
    "tiers",
    [["switch.leaf.aqm=ecn"], ["switch.leaf.sharing=cs"], ["switch.spine.buffer=200KB"], []],
)
def test_where_tiers_are_written_out_a_change_reaches_the_same(tiers: list[str], key: str) -> None:
    event = {"kind": "set", "key": key, "value": 0.01, "at": "300us"}
    by_event = spillway.run("leaf-spine-128", set=[*SHORT, *tiers, {"event": [event]}])
    assert not by_event.flows.equals(flows([*SHORT, *tiers]))
    simulation = Simulation("leaf-spine-128", set=[*SHORT, *tiers])
    simulation.run_until("300us")
    simulation.set(key, 0.01)
    by_hand = simulation.finish()
    for result in (by_event, by_hand):
        again = spillway.run(tomllib.loads(result.scenario))
        assert again.flows.equals(by_event.flows)
        assert tomllib.loads(again.scenario) == tomllib.loads(result.scenario)


def test_a_folder_tells_of_what_was_set(tmp_path: Path) -> None:
    # The scenario's own change at 300 us comes after what is set there by hand.
    given = with_event("9pkt", "switch.leaf0.aqm.min")

    def stepped(**more: Any) -> Simulation:
        simulation = Simulation("leaf-spine-128", set=given, **more)
        simulation.set("switch.sharing.alpha[0]", 0.125)
        simulation.run_until("300us")
        simulation.set({"switch.aqm.min": "20pkt", "switch.aqm.max": "40pkt"})
        simulation.run_until(400_000_001)
        simulation.set("switch.aqm.max_probability", 1)
        simulation.set("switch.aqm.max_probability", 0.5)
        return simulation

    simulation = stepped()
    copy = simulation.copy()
    copy.set("switch.aqm.max_probability", 0.25)
    expected, other = simulation.finish(), copy.finish()
    assert not expected.flows.equals(other.flows)
    # Of a number that is set twice at a moment, the last value is kept.
    assert expected.scenario.count('key = "switch.aqm.max_probability"') == 1
    streamed = stepped(out=tmp_path / "run").finish()
    assert streamed.scenario == expected.scenario
    for result, folder in [(expected, expected.save(tmp_path / "saved")), (other, None)]:
        source = tmp_path / "scenario.toml" if folder is None else folder / "scenario.toml"
        source.write_text(result.scenario)
        assert spillway.run(source).flows.equals(result.flows)
    assert spillway.run(tmp_path / "run" / "scenario.toml").flows.equals(expected.flows)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("switch.aqm.kind", "ecn", "a policy's kind does not change while a run goes on"),
        ("switch.aqm.mni", 1, "did you mean `min`"),
        ("switch.aqm.spacing", 1, "these do: min, max, max_probability, slope"),
        ("switch.aqm.min", "1KB", "in the same unit"),
        ("switch.aqm.min", None, "is not valid"),
        ("switch.aqm.min", True, "is not valid"),
        ("switch.aqm.max_probability", float("nan"), "is not valid"),
        ("switch.leaf99.aqm.min", "1pkt", 'there is no switch or tier "leaf99"'),
        ("switch.leaf0.port.99.aqm.min", "1pkt", "99 is not a port; there are 16, from 0 to 15"),
        ("transport.g", 0.5, "it cannot change while a run goes on"),
    ],
)
def test_what_cannot_change_is_refused(path: str, value: Any, problem: str) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    simulation.run_until("10us")
    with pytest.raises(spillway.ScenarioError) as caught:
        simulation.set(path, value)
    assert problem in f"{caught.value} {caught.value.hint}"
    if path.startswith("switch") and value is not None and value is not True:
        with pytest.raises(spillway.ScenarioError, match=r"event\.0: "):
            spillway.run("leaf-spine-128", set=with_event(value, path))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (3, 0.5, "3 is no path"),
        (None, 0.5, "None is no path"),
        ("", 0.5, "'' is no path"),
        (" ", 0.5, "' ' is no path"),
        ({PATH: "1pkt", "": "2pkt"}, None, "'' is no path"),
        ("switch.\ud800", 0.5, "half a character"),
        (PATH, "\ud800", "half a character"),
        (PATH, "1pkt\nmore = 2", "has a line break in it"),
        ({PATH: "1pkt"}, "2pkt", "'2pkt' belongs to no path"),
    ],
)
def test_what_is_no_path_or_value_is_refused(path: Any, value: Any, problem: str) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    with pytest.raises(spillway.ScenarioError, match=problem):
        simulation.set(path, value)


def test_nothing_changes_where_a_run_does_not_stand_still() -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    with pytest.raises(KeyboardInterrupt):
        simulation.run_until("900us", progress=_interrupt)
    with pytest.raises(spillway.Error, match="nothing can change where a run is interrupted"):
        simulation.set("switch.aqm.min", "1pkt")
    assert not simulation.run_until("1s")
    with pytest.raises(spillway.Error, match="nothing can change where a run is complete"):
        simulation.set("switch.aqm.min", "1pkt")


def _interrupt(*_numbers: object) -> None:
    raise KeyboardInterrupt


class Never(Aqm):
    """Marks nothing."""

    id = "never"

    def on_arrival(self, *_: object) -> Verdict:
        return Verdict.PASS


def test_a_plug_in_changes_itself_and_what_stands_beside_it_can_change() -> None:
    given = [*SHORT[:4], "switch.aqm=never", "duration=200us"]
    simulation = Simulation("leaf-spine-128", set=given, plugins=[Never])
    simulation.run_until("50us")
    with pytest.raises(spillway.ScenarioError, match='nothing of "never" does'):
        simulation.set("switch.aqm.min", "1pkt")
    simulation.set("switch.sharing.alpha", 0.001)
    event = {"kind": "set", "key": "switch.sharing.alpha", "value": 0.001, "at": "50us"}
    by_event = spillway.run("leaf-spine-128", set=[*given, {"event": [event]}], plugins=[Never])
    assert simulation.finish().flows.equals(by_event.flows)


def test_each_policy_tells_what_can_change() -> None:
    listed = json.loads(spillway._core.catalogue())
    changes = {entry["id"]: entry["changes"] for entry in listed["aqm"] + listed["sharing"]}
    assert changes["red"] == ["min", "max", "max_probability", "slope"]
    assert changes["lqd"] == []
    for entry in listed["aqm"] + listed["sharing"]:
        assert {*entry["changes"]} <= {key["name"] for key in entry["keys"]}, entry["id"]
