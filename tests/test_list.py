"""`spillway list`: an overview, rooms, and a search."""

import json

import pytest

import plugins
from spillway import _core
from spillway.scenario.catalogue import ROOMS


@pytest.mark.parametrize("width", ["80", "140"])
def test_list_is_an_overview(command, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    outcome = command("list")
    lines = outcome.out.splitlines()
    assert len(lines) <= 135 and "spillway list ROOM" in outcome.out
    catalogue = json.loads(_core.catalogue())
    for room in (*ROOMS, "scenarios"):
        assert any(line.startswith(room) for line in lines), room
    ids = [entry["id"] for room in ROOMS for entry in catalogue[room]]
    for id in (*ids, *dict(_core.bundled())):
        assert any(line.startswith(f"  {id} ") for line in lines), id
    for sizes in catalogue["sizes"]:
        assert sizes["id"] in outcome.out and sizes["citation"]
    assert set(command("list", "--json").json) == {*ROOMS, "sizes", "scenarios"}


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "signals"])
def test_list_shows_a_room_with_parameters(command, room):
    outcome = command("list", room)
    for entry in json.loads(_core.catalogue())[room]:
        assert f"  {entry['id']}  {entry['summary']}" in outcome.out
        for key in entry["keys"]:
            assert f"    {key['name']} " in outcome.out, (entry["id"], key["name"])


def test_list_finds_algorithms_keys_scenarios_and_signals(command):
    found = command("list", "--find", "QCLIMB", "--json").json
    assert "qclimb" in [row["id"] for row in found["algorithms"]]
    assert "qclimb-testbed" in [row["id"] for row in found["scenarios"]]
    found = command("list", "--find", "min_rto", "--json").json
    assert [row["id"] for row in found["keys"]][:1] == ["transport.recovery.min_rto"]
    assert "rack" in found["keys"][0]["kinds"]
    found = command("list", "--find", "delivered", "--json").json
    assert "delivered_gbps" in [row["id"] for row in found["signals"]]
    assert "hadoop" in [
        row["id"] for row in command("list", "--find", "hadoop", "--json").json["sizes"]
    ]
    people = command("list", "--find", "websearch").out
    for text in ("sizes", "leaf-spine-128", "spillway run NAME"):
        assert text in people
    plugin = f"{plugins.EXAMPLES}/my_dt.py:MyDt"
    assert "sharing my-dt" in command("list", "--find", "my-dt", "--plugin", plugin).out


def test_list_finds_nothing(command):
    outcome = command("list", "--find", "zzz")
    assert outcome.status == 2 and "nothing has 'zzz' in its name or meaning" in outcome.err
    outcome = command("list", "aqm", "--find", "red")
    assert outcome.status == 2 and "--find searches all rooms" in outcome.err


@pytest.mark.parametrize(
    "room",
    ["sharing", "aqm", "scheduling", "transport", "tagging", "protection", "traffic"],
)
def test_list_shows_a_room(command, room):
    outcome = command("list", room)
    assert outcome.status == 0 and outcome.out.startswith(room)
    entries = command("list", room, "--json").json[room]
    for entry in entries:
        told = {"id", "summary", "citation", "keys"}
        if room in ("sharing", "protection"):
            told |= {"cost", "state"}
        if room in ("sharing", "aqm", "scheduling"):
            told |= {"changes", "changes_by_port"}
        assert set(entry) == told
        assert all(set(k) == {"name", "takes", "default", "meaning"} for k in entry["keys"])


def test_policies_tell_what_changes_while_a_run_goes_on(command):
    text = " ".join(command("list", "aqm").out.split())
    red = (
        "While a run goes on min, max, max_probability and slope can change, also at a single port."
    )
    assert red in text


def test_list_shows_signals(command):
    outcome = command("list", "signals")
    assert outcome.status == 0 and outcome.out.startswith("signals")
    entries = command("list", "signals", "--json").json["signals"]
    for entry in entries:
        assert set(entry) == {"id", "each", "is_since", "meaning"}
        when = "since the last look" if entry["is_since"] else "now"
        line = next(line for line in outcome.out.splitlines() if f"  {entry['id']} " in line)
        assert f"  {entry['each']} " in line and f"  {when} " in line, entry
    assert len(entries) == 18


def test_parameters_come_with_units_defaults_and_sources(command):
    (ecn,) = [e for e in command("list", "aqm", "--json").json["aqm"] if e["id"] == "ecn"]
    threshold = ecn["keys"][0]
    assert (threshold["name"], threshold["default"]) == ("threshold", '"65pkt"')
    assert "pkt" in threshold["takes"] and "SIGCOMM 2010" in ecn["citation"]
