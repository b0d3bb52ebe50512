"""Inputs beyond all reason: refused with a message, without a traceback."""

import subprocess
import sys

import pytest

import spillway
from spillway import ScenarioError
from spillway.base import threads
from spillway.base.arguments import seeds_of
from spillway.learning.bounds import files
from spillway.learning.gym import NetworkEnv, Table
from spillway.learning.gym.actions import Setter
from spillway.theory.fluid import Bottleneck
from spillway.tuning.expression import expression
from spillway.tuning.space import parameters
from support import TINY


@pytest.mark.parametrize("name", ["slope", "rate_gbps", "delay_us", "min_packets", "min_window"])
def test_fluid_numbers_have_a_range(command, name):
    for number in ("1e-300", "1e300", "nan", "inf", "-1"):
        least = {"min_packets": 0, "min_window": 1}.get(name, 1e-6)
        if float(number) == 1e-300 and name == "min_packets":
            continue
        with pytest.raises(ScenarioError, match=f"{name}: .* a number from {least:g} to 1e"):
            Bottleneck(**{name: float(number)})


@pytest.mark.parametrize("slope", [1e-6, 1e6])
@pytest.mark.parametrize("rate", [1e-6, 1e6])
@pytest.mark.parametrize("delay", [1e-6, 1e6])
def test_fluid_works_at_the_ends_of_its_ranges(command, slope, rate, delay):
    options = ("--slope", slope, "--rate-gbps", rate, "--delay-us", delay)
    for sender in ("dctcp", "dcqcn", "tcp"):
        done = command("fluid", "--no-packets", "--flows", 2, "--sender", sender, *options)
        assert done.status in (0, 2), done.err


def test_a_goal_has_a_bound(command):
    assert len(expression(" + ".join(["short.p99"] * 257)).names) == 1
    for text in ("+".join(["a"] * 5000), "*".join(["a"] * 258)):
        with pytest.raises(ScenarioError, match=r"it has more than 256 operations") as raised:
            expression(text)
        assert len(str(raised.value)) < 300


@pytest.mark.parametrize("run", [["tune", "--over", "switch.sharing.alpha=1..2"], ["compare"]])
def test_jobs_have_a_bound(command, run):
    more = ["--minimize", "drops"] if run[0] == "tune" else ["--vary", "switch.sharing=dt,lqd"]
    done = command(run[0], TINY, *run[1:], *more, "--jobs", 10**9)
    assert done.status == 2 and f"expected a whole number from 1 to {threads.MOST_JOBS}" in done.err


def test_hosts_of_synthetic_jobs_have_a_bound(tmp_path):
    with pytest.raises(ScenarioError, match="hosts: 1000000000 is not valid"):
        files.generate("kmeans", tmp_path, None, 10**9, 1)


@pytest.mark.parametrize(
    ("closed", "status"), [("<&-", 0), ("2>&-", 0), (">&-", 2), (">&- 2>&-", 2)]
)
def test_closed_streams(tmp_path, closed, status):
    line = f"{sys.executable} -m spillway list scenarios {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == status and "Traceback" not in done.stderr
    if closed == ">&-":
        assert "error: standard output is closed" in done.stderr
    elif status == 0:
        assert "leaf-spine-128" in done.stdout


# Arguments of Python ------------------------------------------------------------------------------


def environment(**more):
    return NetworkEnv(
        TINY,
        actions=Table(["switch.sharing.alpha"], [(1.0,), (2.0,)]),
        signals={"q": "switch.leaf0.occupancy_bytes"},
        reward="q",
        interval="10us",
        **more,
    )


def test_half_a_character_is_no_time():
    simulation = spillway.Simulation(TINY)
    with pytest.raises(ScenarioError, match="half a character"):
        simulation.run_until("\ud800")
    with pytest.raises(ScenarioError, match="half a character"):
        environment(begin="\ud800")


def test_an_environment_takes_nothing_twice_and_nothing_beyond_reason():
    with pytest.raises(ScenarioError, match="history: 1000000000 times 1 numbers"):
        environment(history=10**9)
    with pytest.raises(ScenarioError, match="the signal 'q' is there twice"):
        environment(observation=["q", "q"])
    with pytest.raises(ScenarioError, match="the key 'a' is there twice"):
        Table(["a", "a"], [(1, 2)])
    with pytest.raises(ScenarioError, match="the place 'leaf0' is there twice"):
        Setter(Table(["a"], [(1,)]), ["leaf0", "leaf0"])
    with pytest.raises(ScenarioError, match="options: 5 is not valid"):
        environment().reset(options=5)
    with pytest.raises(ScenarioError, match="options: there is no 'sed'"):
        environment().reset(options={"sed": 1})
    with pytest.raises(ScenarioError, match="seed 1 is there twice"):
        environment(seeds=[1, 1])


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("", "switch"),
        ("switch", "switch.leaf0"),
        ("switch.leaf", "switch.leaf0"),
        ("switch.leaf", "switch.leaf.port.1"),
        ("switch.leaf0", "switch.leaf0.port.1"),
    ],
)
def test_a_place_within_another_would_be_set_twice(outer, inner):
    with pytest.raises(ScenarioError, match=f"the place '{inner}' is within '{outer}'"):
        Setter(Table(["a"], [(1,)]), [inner, outer])


def test_places_beside_each_other_may_be_named():
    places = ["switch.leaf0.port.1", "switch.leaf0.port.10", "switch.leaf01", "switch.leaves"]
    assert len(Setter(Table(["a"], [(1,)]), places).paths) == 4


# Numbers in other alphabets, and things twice ----------------------------------------------------


@pytest.mark.parametrize("text", ["a=1..٨", "a=１..8", "a=0.١..8.0", "a=1_0..20", "a=1..2_0"])
def test_ranges_are_written_in_plain_digits(text):
    with pytest.raises(ScenarioError):
        parameters(text)


@pytest.mark.parametrize("text", ["٣ * drops", "1_000 * drops", "drops + 1e٣"])
def test_goals_are_written_in_plain_digits(text):
    with pytest.raises(ScenarioError):
        expression(text)


def test_options_of_a_range_stand_once():
    for text in ("a=1..8:log:log", "a=0..8:step=1:step=2"):
        with pytest.raises(ScenarioError, match="is there twice"):
            parameters(text)


@pytest.mark.parametrize("seeds", ["1,1", "1..3,2", [1, 1], [4, 1, 4]])
def test_a_seed_stands_once(seeds):
    with pytest.raises(ScenarioError, match=r"seed \d is there twice"):
        seeds_of(seeds)


@pytest.mark.parametrize("values", ["1,1.0", "0.5,0.50", "2.0,2"])
def test_a_variant_stands_once(command, values):
    done = command("compare", TINY, "--vary", f"switch.sharing.alpha={values}")
    assert done.status == 2 and "are the same scenario" in done.err


def lone(**more):
    """A star with a permutation over it."""
    traffic = {"name": "p", "kind": "permutation", "size": "5KB"}
    star = {"kind": "star", "hosts": 2}
    return spillway.Scenario({"duration": "100us", "topology": star, "traffic": [traffic], **more})


@pytest.mark.parametrize("key", ["rto", "recovery.rto_low", "recovery.rto_high"])
def test_multiples_of_a_round_trip_that_no_path_has_are_refused(key):
    recovery = {"kind": "selective", key.removeprefix("recovery."): "3rtt"}
    selective = {"kind": "dcqcn", "base_rtt": "network", "recovery": recovery}
    star = {"kind": "star", "hosts": 2, "base_rtt": "1ns"}
    scenario = lone(topology=star, transport={"kind": "pfabric"} if key == "rto" else selective)
    with pytest.raises(ScenarioError, match=rf"transport\.{key}: 3ns is not valid") as raised:
        spillway.run(scenario)
    assert "topology.base_rtt = 1ns" in str(raised.value.hint)


@pytest.mark.filterwarnings("ignore:switch.sharing.kind. it is woken every 100ns, also while")
@pytest.mark.parametrize(
    ("sharing", "record"),
    [
        ({"kind": "abm", "drain": "interval", "update_interval": "100ns"}, {}),
        ("dt", {"queue_interval": "200ns", "empty_queues": True}),
    ],
    ids=["woken", "sampled"],
)
def test_a_run_that_waits_for_a_dead_link_is_bounded(sharing, record):
    """Its stop is 10 s after its duration of 100 us."""
    scenario = lone(
        switch={"buffer": "100KB", "sharing": sharing},
        event=[{"a": "leaf0", "b": "host0", "at": "1us"}],
        limits={"samples": 2000},
        record=record,
    )
    with pytest.raises(spillway.Error, match=r"more often than limits\.samples") as raised:
        spillway.run(scenario)
    assert "set an earlier stop" in str(raised.value.hint)
    assert (raised.value.kind, raised.value.path) == ("limit", "limits.samples")


def test_pages_have_no_control_characters(command, tmp_path):
    name = 'name="\\u001b[31mred\\u0007"'
    assert command("run", TINY, "--set", name, "--out", "out").status == 0
    assert command("report", "out", "--out", "page.html").status == 0
    page = (tmp_path / "page.html").read_bytes()
    assert b"\x1b" not in page and "␛[31mred".encode() in page


VARIED = ("--vary", "switch.sharing=dt,lqd")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["fluid", "--no-packets", "--flows", "2..4,3"], "--flows: the number 3 is there twice"),
        (["fluid", "--no-packets", "--slope", "0.65,0.650"], "--slope: the number 0.65 is"),
        (["slotted", "run", "bursts", "--policies", "lqd, lqd"], "the policy 'lqd' is there twice"),
        (
            ["compare", TINY, *VARIED, "--metrics", "drops,drops"],
            "metrics: the name 'drops' is",
        ),
    ],
)
def test_what_stands_twice_in_a_list_is_refused(command, arguments, problem):
    done = command(*arguments)
    assert done.status == 2 and problem in done.err, done.err
