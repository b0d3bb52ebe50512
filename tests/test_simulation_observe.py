"""Looks at runs that halt: names, shapes and what they tell.

That they change nothing is tested with many more scenarios in the crates' `tests/observing.rs`.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import spillway
from spillway import Simulation, _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from spillway.plugins import Arrival, Buffer

SHORT = ["duration=300us", "traffic.websearch.load=0.5"]

STAR = """
name = "three"
duration = "1ms"
topology = { kind = "star", hosts = 4, host_rate = "8Gbps", link_delay = "10us", clocks = "exact" }
transport = { kind = "udp", rate = "8Gbps", mss = "960B", header = "40B" }
[[traffic]]
name = "three"
kind = "incast"
start = "0us"
interval = "1s"
burst = "2880B"
fan_in = 3
senders = "any"
receivers = 1
"""
"""Three packets of 1,000 B arrive at the switch at 11 us, for host 1: a byte takes 1 ns. The second
waits until 12 us, the third until 13 us.
"""


def star() -> Simulation:
    simulation = Simulation(spillway.Scenario(STAR))
    simulation.run_until("11us")
    return simulation


def test_a_look_tells_of_this_moment_and_of_the_time_since_the_last_one() -> None:
    simulation = star()
    names = [
        "switch.leaf0.port.1.queue.0.queue_bytes",
        "switch.leaf0.port.1.mean_queue_bytes",
        "switch.occupancy_bytes",
        "switch.leaf0.sent_bytes",
        "delivered_bytes",
        "traffic.three.fct_ps",
        "fct_slowdown",
    ]

    def look(time: str) -> list[Any]:
        simulation.run_until(time)
        return [array.tolist() for array in simulation.observe(names).values()]

    zeros = [0, 0, 0, 0]
    assert look("11us") == [0, [0.0], [0], zeros, 0, [], []]
    assert look("11500ns") == [2_000, [2_000.0], [2_000], [0, 500, 0, 0], 0, [], []]
    # 2,000 B for half a microsecond, then 1,000 B for a microsecond.
    assert look("13us") == [1_000, [4_000 / 3], [1_000], [0, 1_500, 0, 0], 0, [], []]
    assert look("22us") == [0, [0.0], [0], [0, 1_000, 0, 0], 0, [], []]
    sent = [0, [0.0], [0], zeros]
    assert look("22500ns") == [*sent, 960, [22_000_000], [1.0]]
    assert look("25us") == [*sent, 1_920, [23_000_000, 24_000_000], [23 / 22, 24 / 22]]


def test_arrays_are_copies_that_cannot_be_written_to() -> None:
    simulation = star()
    simulation.run_until("11500ns")
    told = simulation.observe(["switch.queue_bytes", "switch.mean_queue_bytes", "fct_ps"])
    assert [array.dtype for array in told.values()] == [np.int64, np.float64, np.int64]
    assert [array.shape for array in told.values()] == [(4, 1), (4, 1), (0,)]
    for array in told.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    simulation.run_until("30us")
    assert told["switch.queue_bytes"][1, 0] == 2_000
    del simulation
    assert told["switch.queue_bytes"].sum() == 2_000


def test_one_name_needs_no_list_and_one_named_twice_is_looked_at_once() -> None:
    simulation = star()
    name = "switch.leaf0.port.1.sent_bytes"
    assert {each: array.shape for each, array in simulation.observe(name).items()} == {name: ()}
    simulation.run_until("12us")
    assert simulation.observe([name, name]) == {name: 1_000}
    assert simulation.observe(each for each in ()) == {}


def test_names_given_at_the_start_count_from_there() -> None:
    name = "flows_started"
    simulation = Simulation(spillway.Scenario(STAR), signals=name)
    simulation.run_until("1us")
    told = simulation.observe([name, "traffic.three.flows_started"])
    assert told == {name: 3, "traffic.three.flows_started": 0}


def test_looks_change_nothing() -> None:
    whole = spillway.run("leaf-spine-128", set=SHORT)
    simulation = Simulation("leaf-spine-128", set=SHORT)
    catalogue = json.loads(_core.catalogue())["signals"]
    names = [
        f"switch.{row['id']}" if row["each"] in ("queue", "port", "switch") else row["id"]
        for row in catalogue
    ]
    assert len(names) == 18
    delivered = simulation.observe(names)["delivered_bytes"].item()
    for us in range(0, 300, 7):
        simulation.run_until(f"{us}us")
        told = simulation.observe(names)
        delivered += told["delivered_bytes"].item()
        assert told["switch.queue_bytes"].sum() == told["switch.occupancy_bytes"].sum()
    simulation.run_until("1s")
    delivered += simulation.observe(names)["delivered_bytes"].item()
    result = simulation.finish()
    assert delivered == sum(result.flows["delivered_bytes"].to_pylist()) > 0
    first, second = ({**each.summary, "run": None} for each in (whole, result))
    assert json.dumps(first) == json.dumps(second)
    assert result.flows.equals(whole.flows)


@pytest.mark.parametrize("copied", [Simulation.copy, copy.copy, copy.deepcopy])
def test_a_copy_has_the_same_last_looks(copied: Callable[[Simulation], Simulation]) -> None:
    simulation = star()
    simulation.observe(["switch.leaf0.port.1.sent_bytes"])
    simulation.run_until("12us")
    other = copied(simulation)
    for each in (simulation, other):
        each.run_until("12500ns")
        told = each.observe(["switch.leaf0.port.1.sent_bytes"])
        assert told == {"switch.leaf0.port.1.sent_bytes": 1_500}


@pytest.mark.parametrize(
    ("signals", "problem", "hint"),
    [
        (["queue_byte"], "queue_byte: there is no signal", "did you mean `queue_bytes`"),
        (["switch.leaf1.sent_bytes"], "no switch or tier", "did you mean `leaf`"),
        (["switch.port.4.sent_bytes"], "no port 4: leaf0 has 4, 0 to 3", None),
        (["delivered_bytes", 3], "3 is no name of a signal", "spillway list signals"),
        ([b"fct_ps"], "b'fct_ps' is no name of a signal", "spillway list signals"),
        (["\ud800"], "it has half a character in it", None),
        (["\u00fc"], "there is no signal", "valid here: queue_bytes"),
        (7, "7 are no names of signals", "spillway list signals"),
    ],
)
def test_what_is_no_signal_is_refused(signals: Any, problem: str, hint: str | None) -> None:
    simulation = Simulation(spillway.Scenario(STAR), signals=["flows_started"])
    simulation.run_until("1us")
    with pytest.raises(spillway.ScenarioError, match=problem) as refused:
        simulation.observe(signals)
    assert hint is None or hint in (refused.value.hint or "")
    with pytest.raises(spillway.ScenarioError, match=problem):
        Simulation(spillway.Scenario(STAR), signals=signals)
    # Nothing has been looked at.
    assert simulation.observe("flows_started") == {"flows_started": 3}


def test_a_run_that_has_been_finished_is_not_looked_at(tmp_path: Path) -> None:
    simulation = Simulation(spillway.Scenario(STAR), out=tmp_path / "out", signals=["fct_ps"])
    assert not simulation.run_until("1s")
    assert simulation.observe("fct_ps")["fct_ps"].tolist() == [22_000_000, 23_000_000, 24_000_000]
    simulation.finish()
    with pytest.raises(spillway.Error, match="it has been finished"):
        simulation.observe("fct_ps")


class Keeps(spillway.plugins.Aqm):
    """Marks everything."""

    id = "keeps"

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> spillway.plugins.Verdict:
        return spillway.plugins.Verdict.MARK


def test_plug_ins_are_observed() -> None:
    settings = ["transport.kind=dctcp", "transport.rate=", "switch.aqm=keeps"]
    simulation = Simulation(spillway.Scenario(STAR), set=settings, plugins=[Keeps])
    names = ["switch.port.1.marked_packets", "switch.port.1.queue_bytes"]
    simulation.observe(names)
    simulation.run_until("11001ns")
    # The first one passes the idle port.
    told = simulation.observe(names)
    assert [array.tolist() for array in told.values()] == [[[3]], [[2_000]]]
    assert simulation.finish().summary["status"] == "complete"
