"""What shows how far runs have come: a bar on a terminal, lines elsewhere."""

import io
import threading

import pytest
from rich.console import Console

import spillway
from spillway import Scenario
from spillway.base.progress import Progress, ProgressBar, shares
from support import TINY


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Lines:
    """What a bar says that has no terminal, with a clock set by hand."""

    def __init__(self, runs: int) -> None:
        self.clock = Clock()
        self.file = io.StringIO()
        self.bar = ProgressBar(Console(file=self.file, force_terminal=False), runs, self.clock)

    @property
    def last(self) -> str:
        """The last line."""
        return self.lines[-1] if self.lines else ""

    @property
    def lines(self) -> list[str]:
        """All lines."""
        return self.file.getvalue().splitlines()


def shown(runs: int, *steps: Progress, seconds: float = 1.0) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=140)
    clock = Clock()
    with ProgressBar(console, runs, clock) as bar:
        report, end = bar.follow("sharing=dt", 1 / runs)
        for step in steps:
            clock.now += seconds
            report(step)
        bar._bar.refresh()
        end()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def step(simulated_ps: int) -> Progress:
    return Progress(simulated_ps, 4_000_000_000, 9_000_000_000, 1000, 800, 20, 15)


def test_simulated_time_speed_and_percentage_are_shown():
    text = shown(1, step(1_000_000_000))
    assert "sharing=dt" in text and "25%" in text
    assert "1 of 4 ms" in text and "M events/s" in text


def test_after_the_duration_what_is_left_is_shown():
    assert "5 flows left" in shown(1, step(4_500_000_000))


def test_several_runs_have_a_line_for_all():
    text = shown(4, step(2_000_000_000), seconds=70)
    assert "4 runs" in text and "12%" in text
    # Of the run half is done, of all an eighth.
    assert "about 1.2 min left" in text and "about 8.2 min left" in text


def test_without_a_terminal_short_runs_say_nothing():
    lines = Lines(1)
    report, end = lines.bar.follow("running")
    report(step(1_000_000_000))
    lines.clock.now = 9.9
    report(step(2_000_000_000))
    end()
    assert lines.lines == []


def test_without_a_terminal_a_line_comes_every_ten_seconds():
    lines = Lines(1)
    report, _ = lines.bar.follow("running")
    for tenth in range(1, 351):
        lines.clock.now = tenth / 10
        report(step(tenth * 10_000_000))
    assert lines.lines == [
        "running, 1 of 4 ms: 25% done, about 30 s left",
        "running, 2 of 4 ms: 50% done, about 20 s left",
        "running, 3 of 4 ms: 75% done, about 10 s left",
    ]
    lines.clock.now = 50
    report(step(4_500_000_000))
    assert lines.last == "running, 4.5 ms, 5 flows left, 9 ms at most"


def test_without_a_terminal_several_runs_have_one_line():
    lines = Lines(3)
    first, end_first = lines.bar.follow("a", 0.5)
    second, _ = lines.bar.follow("b", 0.3)
    lines.clock.now = 10
    first(step(2_000_000_000))
    second(step(1_000_000_000))
    assert lines.lines == ["all 3 runs: 25% done, about 30 s left"]
    lines.clock.now = 20
    end_first()
    assert lines.lines[1:] == ["all 3 runs: 57% done, about 15 s left"]


def test_runs_that_are_over_are_named_where_that_is_asked_for():
    lines = Lines(3)
    for now, share, name in ((10, 0.5, "a"), (30, 0.25, "b"), (40, 0.25, "c")):
        lines.clock.now = now
        _, end = lines.bar.follow(name, share)
        lines.bar._last_line = now
        end()
        lines.bar.finished(name)
    assert lines.lines == [
        "1 of 3: a, about 10 s left",
        "2 of 3: b, about 10 s left",
        "3 of 3: c",
    ]


def test_shares_add_up_to_all():
    assert shares([]) == []
    assert shares([0.0, 0.0]) == [0.5, 0.5] == shares([None, None])
    assert shares([1.0, None, 3.0, 2.0]) == [0.125, 0.25, 0.375, 0.25]


def test_the_packets_of_a_run_are_told_beforehand():
    """Of traffic with a rate what it has on average, of lists theirs, of endless flows the lines.
    Every packet has an ack."""

    def packets(*assignments: str, source: object = TINY) -> float:
        return Scenario.of(source).set(*assignments).read().expected_packets()

    # Without queries 50% of both racks' uplinks, each a link of 10 Gbps, for 4 ms: flows of 1,000
    # bytes have a packet each.
    small = ("traffic.queries=", "traffic.background.sizes=1KB")
    assert packets(*small) == pytest.approx(2 * 0.5 * 20e9 / 8 * 4e-3 / 1_000)
    assert packets() > 0
    assert packets("duration=40ms") == pytest.approx(10 * packets())
    loads = [packets(f"traffic.background.load={load}") for load in (0.2, 0.3, 0.4)]
    assert loads[2] - loads[1] == pytest.approx(loads[1] - loads[0])
    without = {
        "name": "x",
        "duration": "1ms",
        "stop": "5ms",
        "topology": {"kind": "star", "hosts": 4, "host_rate": "8Gbps", "link_delay": "1us"},
        "transport": {"mss": "1400B", "header": "100B"},
    }
    endless = {"name": "e", "kind": "persistent", "senders": "0..1", "receiver": 3}
    listed = {"name": "p", "kind": "permutation", "size": "70KB"}
    assert packets(source={**without, "traffic": [listed]}) == 4 * 50 * 2
    # Two hosts send 1 byte in a nanosecond, for 5 ms.
    expected = 2 * 5e6 / 1_500 * 2
    assert packets(source={**without, "traffic": [endless]}) == pytest.approx(expected)


def test_a_run_of_small_flows_weighs_more_than_one_of_large_flows():
    """At the same load, as shares of all."""
    begun: dict[str, float] = {}
    lock = threading.Lock()

    def follow(label: str, share: float):
        with lock:
            begun[label] = share
        return lambda _: None, lambda: None

    vary = {"traffic.background.sizes": ["keyvalue", "websearch"]}
    short = ("traffic.queries=", "duration=100us", "stop=200us")
    spillway.sweep(TINY, vary=vary, set=short, jobs=1, follow=follow)
    small, large = (begun[f"sizes={name}"] for name in ("keyvalue", "websearch"))
    assert small + large == pytest.approx(1)
    assert small > 7 * large


def test_a_sweep_s_runs_are_weighed_by_their_packets():
    """The time left is right all the way, though the last run has nine times the load of the
    first: with a clock that goes on with the packets."""
    loads = [0.1, 0.5, 0.9]
    begun: dict[str, float] = {}
    lock = threading.Lock()

    def follow(label: str, share: float):
        with lock:
            begun[label] = share
        return lambda _: None, lambda: None

    vary = {"traffic.background.load": loads}
    without_queries = "traffic.queries.queries_per_host_per_s=0.001"
    spillway.sweep(TINY, vary=vary, set=without_queries, seeds=[1, 2], jobs=1, follow=follow)
    assert list(begun) == [f"load={load} seed-{seed}" for seed in (1, 2) for load in loads]
    for (label, share), load in zip(begun.items(), [*loads, *loads], strict=True):
        assert share == pytest.approx(load / 3, rel=1e-3), label
    lines = Lines(6)
    seconds = {label: 300 * share for label, share in begun.items()}
    for label, share in begun.items():
        _, end = lines.bar.follow(label, share)
        lines.clock.now += seconds[label]
        lines.bar._last_line = lines.clock.now
        end()
        lines.bar.finished(label)
    left = [line.partition("about ")[2] for line in lines.lines]
    assert left == [
        *("4.8 min left", "4.0 min left", "2.5 min left", "2.3 min left", "1.5 min left"),
        "",
    ]
