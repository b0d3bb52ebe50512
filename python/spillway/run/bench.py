"""The simulator's speed on this machine.

Every run is a process of its own, so that its CPU time and memory can be measured. Cases take
turns, round after round, so that slow minutes of the machine affect all of them alike.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import core
from spillway.base.arguments import meant
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.run.run import Running, Streamed, peak_rss_bytes, read_with_inputs
from spillway.scenario.scenario import Scenario

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Case:
    """A scenario, and `key=value` assignments that make it short enough."""

    name: str
    scenario: str
    settings: tuple[str, ...]
    """Assignments for a run of a second or a few seconds."""
    quick: tuple[str, ...]
    """Assignments for a run of about a tenth of that."""
    counted: tuple[str, ...] = ()
    """Assignments for a run whose instructions are counted, fifty times as slow; empty for none."""


CASES = (
    Case(
        "leaf-spine-128",
        "leaf-spine-128",
        settings=("duration=50ms",),
        quick=("duration=2ms",),
        counted=("duration=1ms",),
    ),
    Case(
        "credence",
        "credence",
        settings=("duration=50ms",),
        quick=("duration=5ms",),
        counted=("duration=2ms",),
    ),
    Case(
        "incast-star",
        "incast-star",
        settings=("duration=2s", "stop=2s"),
        quick=("duration=100ms", "stop=100ms"),
        counted=("warmup=0us", "duration=50ms", "stop=50ms"),
    ),
    Case(
        "rdma-leaf-spine",
        "rdma-leaf-spine",
        settings=("duration=10ms",),
        quick=("duration=1ms",),
        counted=("duration=500us",),
    ),
    Case(
        "rdma-leaf-spine-2MB",
        "rdma-leaf-spine",
        settings=("duration=10ms", "switch.buffer=2MB"),
        quick=("duration=1ms", "switch.buffer=2MB"),
        counted=("duration=500us", "switch.buffer=2MB"),
    ),
)
"""What `spillway bench` runs: the last one with pauses."""


SHAPES = {128: (16, 8, 8), 1_024: (64, 16, 16), 8_192: (256, 32, 32)}
"""Leaf-spine networks without oversubscription, by their hosts: leaves, hosts per leaf, spines."""


def _network(hosts: int, gbps: int) -> tuple[str, ...]:
    leaves, hosts_per_leaf, spines = SHAPES[hosts]
    return (
        f"topology.leaves={leaves}",
        f"topology.hosts_per_leaf={hosts_per_leaf}",
        f"topology.spines={spines}",
        f"topology.host_rate={gbps}Gbps",
        f"topology.fabric_rate={gbps}Gbps",
    )


def _filled() -> Iterable[Case]:
    """Networks that carry 60% of the capacity of hosts' lines, from the first round trips on.

    Flows of 100 KB send everything at once, as long as the case lasts. Flows of web search would be
    in slow start for longer: within a millisecond they load lines to only 5%.
    """
    for hosts, gbps, us in (
        (128, 10, 25_000),
        (1_024, 10, 4_000),
        (8_192, 10, 1_000),
        (128, 400, 1_000),
    ):
        traffic = (
            *_network(hosts, gbps),
            "traffic.websearch.load=0.6",
            "traffic.websearch.sizes=100KB",
            "traffic.websearch.initial_window=flow",
        )
        yield Case(
            f"{hosts:,} hosts, {gbps} Gbps, filled",
            "leaf-spine-128",
            settings=(*traffic, f"duration={us}us", f"stop={us}us"),
            quick=(*traffic, f"duration={us // 4}us", f"stop={us // 4}us"),
        )


def _growth() -> Iterable[Case]:
    """Larger and faster networks that are nearly empty: only the first few thousand flows.

    About 9,000 packet-hops each.
    """
    for hosts, flows in ((128, 500), (1_024, 2_000), (8_192, 4_000)):
        for gbps in (10, 100, 400):
            network = (*_network(hosts, gbps), "duration=1s", "stop=20s")
            yield Case(
                f"{hosts:,} hosts, {gbps} Gbps",
                "leaf-spine-128",
                settings=(*network, f"traffic.websearch.flows={flows}"),
                quick=(*network, f"traffic.websearch.flows={flows // 10}"),
            )


GROWTH = (*_filled(), *_growth())
"""What `spillway bench --growth` runs."""


def _policies() -> Iterable[Case]:
    """`credence` with every sharing policy, but `pfabric`, which is no policy for this network."""
    for row in json.loads(core.catalogue())["sharing"]:
        if (name := row["id"]) != "pfabric":
            sharing = f"switch.sharing={name}"
            yield Case(
                name,
                "credence",
                settings=(sharing, "duration=50ms"),
                quick=(sharing, "duration=2ms"),
                counted=(sharing, "duration=4ms"),
            )


POLICIES = tuple(_policies())
"""What `spillway bench --policies` runs."""


def _leaf_spine(name: str, settings: Iterable[str]) -> Case:
    """`leaf-spine-128` at 60%, with something else in it."""
    return Case(
        name,
        "leaf-spine-128",
        settings=(*settings, "duration=50ms"),
        quick=(*settings, "duration=2ms"),
        counted=(*settings, "duration=5ms"),
    )


def _aqms() -> Iterable[Case]:
    """`leaf-spine-128` at 60%, with every AQM in turn; `mq-ecn`, and `ecn` again, under DWRR.

    AQMs that decide when a packet leaves may drop it then, unless it only is marked.
    """
    two_queues = ("switch.queues_per_port=2", "switch.scheduling=dwrr")
    ids = [row["id"] for row in json.loads(core.catalogue())["aqm"]]
    assignments = {name: (f"switch.aqm={name}",) for name in ids if name not in ("ecn", "mq-ecn")}
    cases = {
        "none": assignments.pop("none"),
        "ecn": (),
        **assignments,
        "codel that only marks": ("switch.aqm.kind=codel", "switch.aqm.not_ect=pass"),
        "ecn under dwrr": two_queues,
        "mq-ecn under dwrr": (*two_queues, "switch.aqm=mq-ecn"),
    }
    return [_leaf_spine(name, settings) for name, settings in cases.items()]


AQMS = tuple(_aqms())
"""What `spillway bench --aqms` runs."""


def _taggers() -> Iterable[Case]:
    """`leaf-spine-128` at 60% with taggers: one level in one queue, then eight priorities.

    Acks are in the queue of the first priority, or in a ninth before it.
    """
    bound = "traffic.websearch.bound={kind='uniform',least=0.5}"
    eight = ("switch.queues_per_port=8", "switch.scheduling=strict", "nic.queues=8")
    nine = ("switch.queues_per_port=9", "switch.scheduling=strict", "nic.queues=9")
    one = "transport.tagging={{kind='{}',thresholds=[],acks='with-first'}}"
    with_first = "transport.tagging={{kind='{}',acks='with-first'}}"
    cases = {
        "fixed": (),
        "pias, one level": (one.format("pias"),),
        "qclimb, one level": (one.format("qclimb"), bound),
        "pias, eight queues": (*eight, with_first.format("pias")),
        "qclimb, eight queues": (*eight, with_first.format("qclimb"), bound),
        "fixed, nine queues": nine,
        "pias, nine queues": (*nine, "transport.tagging=pias"),
        "qclimb, nine queues": (*nine, "transport.tagging=qclimb", bound),
        "qclimb, losses per priority": (
            *(*nine, "transport.tagging=qclimb", bound),
            "transport.recovery=per-priority",
        ),
    }
    return [_leaf_spine(name, settings) for name, settings in cases.items()]


TAGGERS = tuple(_taggers())
"""What `spillway bench --tagging` runs."""


def named(cases: Iterable[Case], names: Iterable[str]) -> list[Case]:
    """The cases with these names."""
    by_name = {case.name: case for case in cases}
    for name in names:
        if name not in by_name:
            raise ScenarioError(
                f"there is nothing to measure called {name!r}",
                meant(name, by_name, f"there are {', '.join(by_name)}"),
            )
    return [by_name[name] for name in names]


def measure(
    cases: Sequence[Case],
    *,
    runs: int,
    quick: bool = False,
    say: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Runs every case several times and returns the costs. `say` is told what comes next."""
    before = machine()
    found: dict[str, list[dict[str, Any]]] = {case.name: [] for case in cases}
    for turn in range(runs):
        for case in cases:
            say(f"{case.name}, run {turn + 1} of {runs}")
            found[case.name].append(
                run_apart(case.scenario, case.quick if quick else case.settings)
            )
    rows = {
        case.name: _row(case, case.quick if quick else case.settings, found[case.name])
        for case in cases
    }
    instructions = "not asked for"
    counted = [] if quick else [case for case in cases if case.counted]
    if counted:
        has_valgrind = shutil.which("valgrind") is not None
        instructions = "counted by valgrind" if has_valgrind else "valgrind is not installed"
        for case in counted:
            say(f"{case.name}, counting instructions")
            rows[case.name]["instructions_per_packet_hop"] = (
                _instructions(case) if has_valgrind else None
            )
    return {
        "version": core.__version__,
        "machine": before,
        "runs": runs,
        "quick": quick,
        "instructions": instructions,
        "cases": rows,
    }


def table(document: Mapping[str, Any]) -> RenderableType:
    """The results of `measure`, for people."""
    from rich.console import Group
    from rich.text import Text

    from spillway.show.tables import count, wide_grid

    cases = document["cases"]
    is_counted = any("instructions_per_packet_hop" in row for row in cases.values())
    headings = [
        "events",
        "packet-hops",
        "events\nper hop",
        "load on\nthe lines",
        "user CPU\ns",
        "ns\nper hop",
        "M packet-hops\nper CPU s",
    ]
    headings += [*(["instructions\nper hop"] * is_counted), "peak\nMB"]
    grid = wide_grid("", numbers=headings)
    for name, row in cases.items():
        cells = [
            count(row["events"]),
            count(row["packet_hops"]),
            f"{row['events_per_packet_hop']:.3f}",
            "-" if row["load_on_wire"] is None else f"{row['load_on_wire']:.0%}",
            _range(row["user_cpu_s"], 1, 3),
            _range(row["ns_per_packet_hop"], 1, 0),
            _range(row["packet_hops_per_cpu_s"], 1e-6, 2),
        ]
        if is_counted:
            cells.append(count(row.get("instructions_per_packet_hop")))
        grid.add_row(name, *cells, f"{row['peak_rss_mb']['median']:.0f}")
    machine = document["machine"]
    load = "unknown" if machine["load"] is None else f"{machine['load']:.1f}"
    notes = [
        f"{machine['cpu']}, {machine['cores']} cores, load {load} at the start; "
        f"median of {document['runs']} runs, least and most in brackets",
    ]
    if document["instructions"] == "valgrind is not installed":
        notes.append("instructions are not counted: valgrind is not installed")
    if document["quick"]:
        notes.append("quick: the runs are too short for more than a first look")
    return Group(grid, *(Text(note, "dim") for note in notes))


def _range(row: Mapping[str, float], scale: float, places: int) -> str:
    median, least, most = (f"{row[key] * scale:.{places}f}" for key in ("median", "min", "max"))
    return f"{median} [{least} {most}]"


def run_apart(
    scenario: str, settings: Iterable[str] = (), *, parts: int = 1, threads: int = 1
) -> dict[str, Any]:
    """Runs a scenario in a process of its own, without keeping tables, and returns its cost.

    User CPU time counts making the network and running it. It counts neither the interpreter's
    start nor reading the scenario and its files.
    """
    return _measured(_command(scenario, settings, parts, threads))[0]


def _command(scenario: str, settings: Iterable[str], parts: int = 1, threads: int = 1) -> list[str]:
    asked = {"scenario": scenario, "settings": list(settings), "parts": parts, "threads": threads}
    request = json.dumps(asked)
    return [sys.executable, "-m", "spillway.run.bench", request]


def _row(case: Case, settings: Iterable[str], runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = {(run["events"], run["packet_hops"]) for run in runs}
    if len(counts) != 1:
        raise SpillwayError(f"{case.name}: equal runs differ: {sorted(counts)}")
    ((events, packet_hops),) = counts
    return {
        "scenario": case.scenario,
        "settings": list(settings),
        "status": runs[0]["status"],
        "events": events,
        "packet_hops": packet_hops,
        "events_per_packet_hop": round(events / packet_hops, 4),
        "load_on_wire": runs[0]["load_on_wire"],
        "user_cpu_s": spread([run["user_cpu_s"] for run in runs], 6),
        "ns_per_packet_hop": spread([1e9 * run["user_cpu_s"] / packet_hops for run in runs], 2),
        "packet_hops_per_cpu_s": spread([packet_hops / run["user_cpu_s"] for run in runs], 0),
        "peak_rss_mb": spread([run["peak_rss_mb"] for run in runs], 1),
    }


def spread(values: Sequence[float], places: int) -> dict[str, float]:
    """Median, least and greatest, rounded."""
    found = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {key: round(value, places or None) for key, value in found.items()}


# The loop over events, by the name of its symbol in the core.
_LOOP = "spillway_net::simulation::Simulation::handle_events*"


def _instructions(case: Case) -> float | None:
    """Instructions of the loop over events per packet-hop; None if the loop was not found."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = [
            "valgrind",
            "--tool=callgrind",
            "--collect-atstart=no",
            f"--toggle-collect={_LOOP}",
            f"--callgrind-out-file={Path(folder) / 'callgrind.out'}",
        ]
        run, said = _measured([*valgrind, *_command(case.scenario, case.counted)])
    collected = re.search(r"Collected : (\d+)", said)
    instructions = int(collected[1]) if collected else 0
    return round(instructions / run["packet_hops"], 1) if instructions else None


def _measured(command: Sequence[str]) -> tuple[dict[str, Any], str]:
    """The measurements of a child process, and its messages."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr.strip() or "no message").splitlines()
        # A hint follows the message that it belongs to.
        said = [line for line in lines if not line.startswith("hint: ")]
        raise SpillwayError(f"a run to be measured has failed: {said[-1]}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured, done.stderr


def _child(request: str) -> None:
    """Runs one case in this process and prints its cost as JSON."""
    asked = json.loads(request)
    scenario = Scenario.load(asked["scenario"]).set(*asked["settings"])
    read, inputs = read_with_inputs(scenario)
    before = _clocks()
    running = Running(
        read, inputs, Streamed(), core.Simulation(read, asked["threads"], asked["parts"])
    )
    began = time.perf_counter()
    running.go()
    wall = time.perf_counter() - began
    windows = running.simulation.windows()
    summary = running.result().summary
    measured = {
        "status": summary["status"],
        "windows": windows,
        "wall_s": wall,
        "events": summary["events"],
        "packet_hops": summary["packet_hops"],
        "load_on_wire": summary["load"]["on_wire"],
        "user_cpu_s": _user_seconds(before, _clocks()),
        "peak_rss_mb": peak_rss_bytes() * 1e-6,
    }
    json.dump(measured, sys.stdout)


def _clocks() -> tuple[float, float]:
    """This process's CPU time: in user mode, as the kernel samples it, and in total."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.process_time()


def _user_seconds(before: tuple[float, float], after: tuple[float, float]) -> float:
    """The time in user mode; the total if no sample was taken, as in a run of milliseconds."""
    user, whole = (end - begin for begin, end in zip(before, after, strict=True))
    return user if user > 0 else whole


def machine() -> dict[str, Any]:
    """The machine, and how busy it is."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    try:
        load: float | None = round(os.getloadavg()[0], 2)
    except OSError:
        load = None
    return {
        "cpu": model[1] if model else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": load,
    }


if __name__ == "__main__":
    _child(sys.argv[1])
