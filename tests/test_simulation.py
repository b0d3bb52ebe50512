"""Runs in steps: however they are cut and copied, their results are those of `spillway.run`."""

from __future__ import annotations

import copy
import gc
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import spillway
from spillway import Simulation
from spillway.plugins import Aqm, CongestionControl, Sharing, Tagger, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillway.plugins import Ack, Arrival, Buffer, Packet, Switch, Window

SHORT = ["duration=1ms", "traffic.websearch.load=0.5"]


def same(one: spillway.Result, other: spillway.Result) -> None:
    """Everything but the time that it took."""
    first, second = ({**result.summary, "run": None} for result in (one, other))
    assert json.dumps(first) == json.dumps(second)
    assert one.names() == other.names()
    for name in one.names():
        assert one.table(name).equals(other.table(name)), name


@pytest.fixture(scope="module")
def whole() -> spillway.Result:
    return spillway.run("leaf-spine-128", set=SHORT)


def test_a_run_in_steps_comes_to_the_same(whole: spillway.Result) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    assert (simulation.now, simulation.status) == (0, "begun")
    for us in (0, 3, 3, 200, 900):
        assert simulation.run_until(f"{us}us")
        assert (simulation.now, simulation.status) == (us * 1_000_000, "halted")
    assert repr(simulation) == ("<Simulation of 'leaf-spine-128', seed 1: halted at 900000000 ps>")
    same(simulation.finish(), whole)
    assert simulation.status == "complete"
    with pytest.raises(spillway.Error, match="cannot go on: it has been finished"):
        simulation.run_until("2ms")


def test_a_time_after_the_end_is_the_end(whole: spillway.Result) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    assert not simulation.run_until("1s")
    assert simulation.status == "complete"
    assert not simulation.run_until("1s")
    same(simulation.finish(), whole)


def test_copies_meet_the_same_future(whole: spillway.Result) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    draw = random.Random(1)
    copies = []
    for moment in sorted(draw.randrange(1_100_000_000) for _ in range(5)):
        simulation.run_until(moment)
        copies.append(simulation.copy())
    same(simulation.finish(), whole)
    for each in (*copies, copy.copy(copies[0]), copy.deepcopy(copies[1])):
        same(each.finish() if each.status != "complete" else whole, whole)


def test_a_folder_is_that_of_a_run_in_one_go(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"set": [*SHORT, "record.queue_interval=1us"]}
    spillway.run("leaf-spine-128", out=tmp_path / "whole", **arguments)
    simulation = Simulation("leaf-spine-128", out=tmp_path / "steps", **arguments)
    for us in range(0, 1_000, 130):
        simulation.run_until(f"{us}us")
        assert not (tmp_path / "steps").exists()
    assert simulation.finish().folder == tmp_path / "steps"
    for file in sorted((tmp_path / "whole").iterdir()):
        if file.suffix in (".parquet", ".toml"):
            assert file.read_bytes() == (tmp_path / "steps" / file.name).read_bytes(), file.name


def test_a_run_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT, out=tmp_path / "out")
    simulation.run_until("10us")
    with pytest.raises(spillway.Error, match=r"writes to a folder.*cannot be copied"):
        simulation.copy()
    assert (tmp_path / "out.partial").is_dir()
    del simulation
    assert not list(tmp_path.iterdir())


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    class Never(Counts):
        """Cannot start at the second switch: a scenario is read with the first."""

        id = "never"

        def start(self, switch: Switch) -> None:
            if switch.number == 1:
                raise OSError("not today")

    settings = [*SHORT, "switch.sharing=never"]
    with pytest.raises(spillway.PluginError, match="the plug-in never has failed"):
        Simulation("leaf-spine-128", set=settings, plugins=[Never], out=tmp_path / "out")
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("time", "problem"),
    [
        ("soon", 'time: "soon" is not valid'),
        ("-1us", 'time: "-1us" must not be negative'),
        (-1, "-1 is no time"),
        (1.5, "1.5 is no time"),
        (True, "True is no time"),
        (2**63, "is no time"),
        ("9us", "'9us' has passed: the run is at 10000000 ps"),
    ],
)
def test_times_that_are_none(time: Any, problem: str) -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    simulation.run_until("10us")
    with pytest.raises(spillway.ScenarioError) as raised:
        simulation.run_until(time)
    assert problem in str(raised.value)
    assert simulation.run_until("11us")


def test_ctrl_c_leaves_a_run_that_goes_on(whole: spillway.Result) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    simulation = Simulation("leaf-spine-128", set=SHORT)
    with pytest.raises(KeyboardInterrupt):
        simulation.run_until("900us", progress=interrupt)
    assert simulation.status == "interrupted"
    copied = simulation.copy()
    assert simulation.run_until("950us")
    same(simulation.finish(), whole)
    same(copied.finish(), whole)


class Counts(Sharing):
    """Refuses every hundredth packet that finds its port busy, which it counts."""

    id = "counts"

    def start(self, switch: object) -> None:
        self.switch = switch
        self.seen = [0]

    def admit(self, arrival: Arrival, buffer: Buffer) -> bool:
        self.seen[0] += 1
        return bool(self.seen[0] % 100)

    def counters(self) -> dict[str, int]:
        return {"seen": self.seen[0]}


class Marks(Aqm):
    """Marks every seventh packet."""

    id = "marks"

    def start(self, switch: object) -> None:
        self.seen = 0

    def on_arrival(self, arrival: Arrival, buffer: Buffer) -> Verdict:
        self.seen += 1
        return Verdict.PASS if self.seen % 7 else Verdict.MARK


class Grows(CongestionControl):
    """Keeps its window, and remembers what it was told."""

    id = "grows"

    def start(self, window: Window, access: object) -> None:
        self.window, self.access, self.acks = window, access, 0

    def on_ack(self, window: Window, ack: Ack) -> None:
        assert window is self.window
        self.acks += 1
        window.cwnd = window.mss * (2 + self.acks % 5)


OWN = [*SHORT, "switch.sharing=counts", "switch.aqm=marks", "transport.kind=grows"]


def test_plug_ins_are_copied_with_what_they_remember() -> None:
    plugins = (Counts, Marks, Grows)
    whole = spillway.run("leaf-spine-128", set=OWN, plugins=plugins)
    simulation = Simulation("leaf-spine-128", set=OWN, plugins=plugins)
    simulation.run_until("300us")
    first = simulation.copy()
    simulation.run_until("700us")
    second = simulation.copy()
    for each in (first, second, simulation):
        same(each.finish(), whole)


def test_a_copy_s_plug_in_fails_alone() -> None:
    class Fails(Counts):
        """Fails where it is told to."""

        id = "fails"
        fuse: ClassVar = [10**9]

        def admit(self, arrival: Arrival, buffer: Buffer) -> bool:
            if arrival.now_ps >= self.fuse[0]:
                raise ValueError("blown")
            return True

    settings = [*SHORT, "switch.sharing=fails"]
    simulation = Simulation("leaf-spine-128", set=settings, plugins=[Fails])
    simulation.run_until("300us")
    copied = simulation.copy()
    Fails.fuse[0] = 400_000_000
    with pytest.raises(spillway.PluginError, match="the plug-in fails has failed"):
        copied.finish()
    Fails.fuse[0] = 10**12
    with pytest.raises(spillway.Error, match="cannot go on: it has failed"):
        copied.run_until("900us")
    assert simulation.finish().status == "complete"


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (lambda run: run.now, "the time of this run is not known: it is running"),
        (lambda run: run.observe("marks"), "this run cannot go on: it is running"),
    ],
)
def test_a_hook_that_looks_at_its_own_run_is_told_so(
    look: Callable[[Simulation], object], text: str
) -> None:
    runs: list[Simulation] = []

    class Looks(Sharing):
        """Looks at the run that asks it."""

        id = "looks"

        def admit(self, arrival: Arrival, buffer: Buffer) -> bool:
            look(runs[0])
            return True

    settings = [*SHORT, "switch.sharing=looks"]
    runs.append(Simulation("leaf-spine-128", set=settings, plugins=[Looks]))
    with pytest.raises(spillway.PluginError, match="the plug-in looks has failed") as raised:
        runs[0].finish()
    assert isinstance(raised.value.__cause__, spillway.Error)
    assert text in str(raised.value.__cause__)


def test_what_is_told_of_progress_may_look_at_the_time() -> None:
    simulation = Simulation("leaf-spine-128", set=SHORT)
    times: list[int] = []
    simulation.run_until("1ms", progress=lambda _: times.append(simulation.now))
    assert times
    assert times == sorted(times)


def test_what_cannot_be_copied_is_refused() -> None:
    class Holds(Counts):
        """Holds what cannot be copied."""

        id = "holds"

        def start(self, switch: object) -> None:
            super().start(switch)
            self.generator = (each for each in [1])

    simulation = Simulation("leaf-spine-128", set=[*SHORT, "switch.sharing=holds"], plugins=[Holds])
    simulation.run_until("300us")
    with pytest.raises(spillway.PluginError, match=r"in copy\.deepcopy at leaf0") as raised:
        simulation.copy()
    assert raised.value.hook == "copy.deepcopy"
    assert simulation.finish().status == "complete"


def test_a_tagger_is_not_copied() -> None:
    class Best(Tagger):
        """Gives all the best level."""

        id = "best"
        levels = 2

        def level(self, packet: Packet) -> int:
            return 1

    queues = ["switch.queues_per_port=3", "switch.scheduling=strict", "nic.queues=3"]
    settings = [*SHORT, *queues, "transport.tagging=best"]
    simulation = Simulation("leaf-spine-128", set=settings, plugins=[Best])
    simulation.run_until("300us")
    with pytest.raises(spillway.Error, match="best"):
        simulation.copy()
