"""What plug-ins may see and do is told as their base classes have it."""

import inspect

import pytest

import spillway
from spillway.base import core
from spillway.plugins import hooks
from spillway.plugins.base import ROOMS
from spillway.scenario.explain import explain

TOLD = list(dict.fromkeys(name for room in ROOMS.values() for name in hooks.told(room.base)))


def test_the_simulator_looks_for_the_hooks_that_there_are():
    declared = {hook for room in ROOMS.values() for hook in hooks.hooks_of(room.base)}
    # `start` is called when an object is made.
    assert declared == {*core.HOOKS, "start"}
    assert len(core.HOOKS) == len({*core.HOOKS})


@pytest.mark.parametrize("room", ROOMS)
def test_every_hook_and_attribute_is_explained(room):
    base = ROOMS[room].base
    told = explain(f"plugin.{base.__name__}")
    names = {row["name"].split("(")[0].split(":")[0] for row in told["has"]}
    flags = {name for name, value in inspect.getmembers(base) if isinstance(value, (bool, int))}
    assert names >= {*hooks.hooks_of(base), *flags, *ROOMS[room].needed} - {"__hash__"}
    for row in told["has"]:
        name = row["name"].split("(")[0].split(":")[0]
        (one,) = explain(f"plugin.{base.__name__.lower()}.{name}")["has"]
        assert one == row and row["meaning"]


@pytest.mark.parametrize("name", TOLD)
def test_all_that_hooks_are_told_is_explained(name):
    kind = getattr(core, name)
    told = explain(f"plugin.{name}")["has"]
    names = {row["name"].split("(")[0].split(":")[0] for row in told}
    assert names == {each for each in dir(kind) if not each.startswith("_")}
    assert all(row["meaning"] for row in told) and explain(f"plugin.{name}")["meaning"]


def test_what_is_told_of_a_hook():
    told = explain("plugin.scheduler")
    assert told["path"] == "plugin.Scheduler" and told["page"] == "docs/plugins.md"
    assert "`switch.scheduling`" in told["meaning"] and "`select` or `choose`" in told["meaning"]
    assert told["told"] == ["plugin.Switch", "plugin.Backlog", "plugin.Waiting"]
    names = [row["name"] for row in told["has"]]
    assert "select(port, backlog) -> int" in names and "keeps_account: bool = False" in names
    ack = [row["name"] for row in explain("plugin.Ack")["has"]]
    assert {"hops: list[Hop]", "rtt_ps: int"} <= {*ack}
    assert "plugin.Hop" in explain("plugin.CongestionControl")["told"]
    assert [row["name"] for row in explain("plugin")["has"]][: len(ROOMS)] == [
        room.base.__name__ for room in ROOMS.values()
    ]


@pytest.mark.parametrize(
    ("path", "error", "hint"),
    [
        ("plugin.schedule", "plugin has no schedule", "did you mean `Scheduler`?"),
        ("plugin.Aqm.on_arival", "plugin.Aqm has no on_arival", "did you mean `on_arrival`?"),
        ("plugin.arrival.xyz", "plugin.Arrival has no xyz", "there are now_ps, queue, "),
    ],
)
def test_a_wrong_path_gets_the_nearest(path, error, hint):
    with pytest.raises(spillway.ScenarioError) as raised:
        explain(path)
    assert str(raised.value) == error
    assert hint in (raised.value.hint or "")


def test_the_command_tells_people_and_programs(command):
    people = command("explain", "plugin.Scheduler")
    for text in ("choose(waiting) -> int", "hooks are told of plugin.Switch", "docs/plugins.md"):
        assert text in people.out
    assert command("explain", "plugin.Buffer", "--json").json == explain("plugin.Buffer")
