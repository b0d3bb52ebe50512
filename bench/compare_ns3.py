"""Spillway beside stock ns-3 and the yardstick: the same flows on the same paths.

`make bench-ns3` runs it. Speed is measured on a list of flows, or the first of it, the programs
taking turns; completion times are compared on the whole list, for which each runs once, since equal
runs are equal. How much of a difference is chance shows where Spillway runs the list again with
every start moved by less than a microsecond.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import spillway
from spillway.base import core
from spillway.base.documents import write_json
from spillway.run import bench
from spillway.scenario import flow_export
from spillway.scenario.scenario import Scenario

HERE = Path(__file__).parent
COLUMNS = ("src", "dst", "size_bytes", "start_ns", "path", "ack_path")
SPINES = 8
# What ns-3 puts on the wire: 2 bytes of PPP more for every packet. Its SYNs have 58 bytes, here 54.
WIRE = ("transport.header=54B", "transport.ack_size=54B", "transport.handshake=true")
# As its sockets behave: no bound on the window of a flow that its own NIC slows down, and recovery
# by proportional rate reduction.
SOCKETS = ("transport.host_backlog=unlimited", "transport.recovery.reduction=proportional-ns3")
# As the queue discs of switches' ports, where ns-3's hosts have them too (`--hosts-mark`).
HOSTS = ("nic.aqm={ kind = 'ecn', threshold = '70pkt' }", "nic.queue_limit=1000pkt")
# Beside the yardstick: all that leaf-spine-128 has. ns-3 would need an hour.
BARE_FLOWS = 20_000
# Long enough for any list.
LONG = ("duration=10s", "stop=20s")
STATISTICS = ("mean", "p50", "p99")


@dataclass(frozen=True)
class Hosts:
    """What the hosts' NICs are: options of ns-3's driver, settings here, and another choice."""

    title: str
    options: tuple[str, ...]
    settings: tuple[str, ...]
    other_title: str
    other: tuple[str, ...]


OPEN = Hosts("NICs without limit or marks", (), (*WIRE, *SOCKETS), "windows rest, as bundled", WIRE)
MARKING = Hosts(
    "NICs that mark",
    ("--hosts-mark",),
    (*WIRE, *SOCKETS, *HOSTS),
    "no marks there",
    (*WIRE, *SOCKETS),
)


def main() -> None:
    """Measures, prints, and writes the results."""
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        say(f"drawing {options.flows} flows")
        flows = draw(work, options.flows)
        timed = write_flows(work / "timed", flows[: options.timed])
        speed = compare_speed(options, timed)
        document = {
            **speed,
            "incast_star": incast_star(options),
            "leaf_spine_128": completion_times(options, work, flows, OPEN),
            "leaf_spine_128_hosts_mark": completion_times(options, work, flows, MARKING),
        }
    print_tables(document)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.out, document)
    print(f"written to {options.out}")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--flows", type=int, default=800, help="flows whose completion times are compared")
    add("--timed", type=int, help="flows, the first of them, for speed beside ns-3; default: all")
    add("--runs", type=int, default=3, help="runs of each program for speed")
    add("--moved", type=int, default=10, help="runs of Spillway with moved starts")
    add("--ns3", type=Path, default=HERE / "ns3/build/spillway-ns3", help="the driver of ns-3")
    yardstick = HERE / "yardstick/target/release/spillway-yardstick"
    add("--yardstick", type=Path, default=yardstick, help="the yardstick")
    add("--out", type=Path, default=HERE / "results/ns3.json", help="where results go")
    options = parser.parse_args()
    options.timed = min(options.timed or options.flows, options.flows)
    return options


def say(text: str) -> None:
    """Tells what is going on."""
    print(text, file=sys.stderr, flush=True)


def draw(work: Path, count: int) -> list[list[int]]:
    """The first flows of leaf-spine-128, each with a path and a path for its acks."""
    file = work / "drawn.csv"
    scenario = Scenario.load("leaf-spine-128").set(f"traffic.websearch.flows={count}")
    flow_export.write(scenario.set(*LONG).read(), file)
    chosen = random.Random(1)
    with file.open(newline="") as lines:
        return [
            [*(int(row[name]) for name in COLUMNS[:4]), *(chosen.randrange(SPINES) for _ in "ab")]
            for row in csv.DictReader(lines)
        ]


def write_flows(
    folder: Path, flows: Sequence[Sequence[int]], settings: Sequence[str] = (*WIRE, *SOCKETS)
) -> Path:
    """Writes a list of flows, and beside it leaf-spine-128 with this list as its traffic."""
    folder.mkdir()
    with (folder / "flows.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(flows)
    bundled = dict(core.bundled())["leaf-spine-128"]
    traffic = '[[traffic]]\nname = "list"\nkind = "flows"\nfile = "flows.csv"\n'
    text = core.assign(bundled.split("[[traffic]]")[0] + traffic, [*LONG, *settings])
    (folder / "scenario.toml").write_text(text)
    return folder


def compare_speed(options: argparse.Namespace, timed: Path) -> dict[str, Any]:
    """Packet-hops per CPU second of all three."""
    machine = bench.machine()
    listed = [options.ns3, "leaf-spine-128", "--flows", timed / "flows.csv"]
    say(f"ns-3, counting packet-hops of {options.timed} flows")
    counted = run_json([*listed, "--count-hops"])
    # The yardstick cannot read the list: each of the two draws flows of its own, alike and more.
    bare = [options.yardstick, "--flows", BARE_FLOWS]
    as_many = ["stop=20s", "duration=10s", f"traffic.websearch.flows={BARE_FLOWS}"]
    programs: dict[str, Callable[[], dict[str, Any]]] = {
        "spillway": lambda: bench.run_apart(str(timed / "scenario.toml")),
        "yardstick": lambda: run_json(bare),
        "beside_yardstick": lambda: bench.run_apart("leaf-spine-128", as_many),
        "ns3": lambda: {**counted, "cpu_s": run_json(listed)["cpu_s"]},
    }
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in programs}
    for turn in range(options.runs):
        for name, run in programs.items():
            say(f"speed, run {turn + 1} of {options.runs}, {name}")
            runs[name].append(run())
    rows: dict[str, Any] = {name: speed_row(each) for name, each in runs.items()}
    rows["ns3"]["version"] = "3.37"
    rows["spillway"]["flows"] = rows["ns3"]["flows"] = options.timed
    rows["yardstick"]["flows"] = rows["beside_yardstick"]["flows"] = BARE_FLOWS
    speeds = {name: row["packet_hops_per_cpu_s"] for name, row in rows.items()}
    rows["yardstick"]["spillway"] = rows.pop("beside_yardstick")
    return {
        "machine": machine,
        **rows,
        "ratio": round(speeds["spillway"] / speeds["ns3"], 1),
        "ratio_to_yardstick": round(speeds["beside_yardstick"] / speeds["yardstick"], 3),
    }


def speed_row(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a program's runs took."""
    hops = runs[0]["packet_hops"]
    seconds = [run.get("user_cpu_s", run.get("cpu_s")) for run in runs]
    rates = bench.spread([hops / each for each in seconds], 0)
    return {
        "packet_hops": hops,
        "events": runs[0]["events"],
        "events_per_packet_hop": round(runs[0]["events"] / hops, 4),
        "user_cpu_s": bench.spread(seconds, 3),
        "packet_hops_per_cpu_s": rates["median"],
        "packet_hops_per_cpu_s_spread": rates,
        "peak_rss_mb": bench.spread([run["peak_rss_mb"] for run in runs], 1),
    }


def run_json(command: Iterable[object]) -> dict[str, Any]:
    """The JSON object that a program prints."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def incast_star(options: argparse.Namespace) -> dict[str, Any]:
    """Goodput and the receiver's queue when sixteen flows never end."""
    say("incast-star")
    theirs = run_json([options.ns3, "incast-star"])
    result = spillway.run("incast-star", set=(*WIRE, *SOCKETS))
    samples = result.queues.to_pydict()
    ports, packets = np.array(samples["port"]), np.array(samples["packets"])
    # The receiver is host 0, on port 0.
    queue = np.sort(packets[ports == 0])
    return {
        "spillway": {
            "goodput_gbps": result.summary["goodput_gbps"]["all"],
            "queue_mean_pkts": round(float(queue.mean()), 2),
            "queue_p99_pkts": int(queue[math.ceil(0.99 * len(queue)) - 1]),
            "queue_max_pkts": int(queue[-1]),
            "drops": sum(result.summary["drops"].values()),
            "timeouts": result.summary["timeouts"],
        },
        "ns3": {
            key: theirs[key]
            for key in (
                "goodput_gbps",
                "queue_mean_pkts",
                "queue_p99_pkts",
                "queue_max_pkts",
                "drops",
                "timeouts",
            )
        },
    }


def completion_times(
    options: argparse.Namespace, work: Path, flows: Sequence[Sequence[int]], hosts: Hosts
) -> dict[str, Any]:
    """Completion times of the same flows in both."""
    work = Path(tempfile.mkdtemp(dir=work))

    def folder(
        name: str, listed: Sequence[Sequence[int]] = flows, settings: Sequence[str] = hosts.settings
    ) -> Path:
        return write_flows(work / name, listed, settings)

    whole = folder("whole")
    say(f"ns-3, {hosts.title}, {options.flows} flows: a minute for every 300")
    listed = ["leaf-spine-128", "--flows", whole / "flows.csv"]
    theirs = run_json([options.ns3, *listed, *hosts.options])
    say(f"Spillway, {options.flows} flows, and {options.moved} times with moved starts")
    ours = summary_of(whole)
    other = summary_of(folder("other", settings=hosts.other))
    moved = []
    for turn in range(options.moved):
        by = random.Random(turn)
        later = [[*row[:3], row[3] + by.randrange(1000), *row[4:]] for row in flows]
        moved.append(summary_of(folder(f"moved-{turn}", later)))
    found: dict[str, Any] = {
        "flows": options.flows,
        "hosts": hosts.title,
        "otherwise": hosts.other_title,
    }
    for name, own_name in (("small", "short"), ("all", "all")):
        row: dict[str, Any] = {
            "count": ours["fct_us"][own_name]["count"],
            "spillway": {},
            "ns3": {},
            "spillway_over_ns3": {},
            "spillway_with_moved_starts": {},
            "spillway_otherwise": {},
        }
        for key in STATISTICS:
            own, its = ours["fct_us"][own_name][key], theirs[f"fct_{name}_{key}_us"]
            row["spillway"][f"fct_{key}_us"] = round(own, 1)
            row["ns3"][f"fct_{key}_us"] = round(its, 1)
            row["spillway_over_ns3"][f"fct_{key}"] = round(own / its, 3)
            otherwise = other["fct_us"][own_name][key]
            row["spillway_otherwise"][f"fct_{key}_us"] = round(otherwise, 1)
            if moved:
                values = [each["fct_us"][own_name][key] for each in moved]
                row["spillway_with_moved_starts"][f"fct_{key}_us"] = bench.spread(values, 1)
        found[name] = row
    for name, run in (("spillway", ours), ("ns3", theirs)):
        drops = run["drops"] if name == "ns3" else sum(run["drops"].values())
        found[name] = {"drops": drops, "timeouts": run["timeouts"], "marks": run["marks"]}
    unfinished = ours["flows"]["started"] - ours["flows"]["completed"]
    if unfinished or theirs["completed"] != options.flows:
        raise SystemExit("not every flow has finished: completion times cannot be compared")
    return found


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a run of this folder's scenario."""
    return spillway.run(folder / "scenario.toml").summary


def print_tables(document: Mapping[str, Any]) -> None:
    """Prints it side by side."""

    def line(label: str, cells: Iterable[str]) -> None:
        print(f"{label:28}" + "".join(f"{cell:>14}" for cell in cells))

    bare = document["yardstick"]
    print()
    line("speed", ("Spillway", "ns-3", "Spillway", "yardstick"))
    programs = [document["spillway"], document["ns3"], bare["spillway"], bare]
    line("flows", (f"{row['flows']:,}" for row in programs))
    line("packet-hops", (f"{row['packet_hops']:,}" for row in programs))
    for key in ("median", "min", "max"):
        rates = (row["packet_hops_per_cpu_s_spread"][key] for row in programs)
        line(f"  per CPU second, {key}", (f"{rate:,.0f}" for rate in rates))
    line("events per hop", (f"{row['events_per_packet_hop']:.3f}" for row in programs))
    line("peak MB", (f"{row['peak_rss_mb']['median']:.0f}" for row in programs))
    print(
        f"Spillway is {document['ratio']:.0f} times as fast as ns-3, "
        f"and has {document['ratio_to_yardstick']:.2f} of the yardstick's speed"
    )
    star = document["incast_star"]
    print(f"\n{'incast-star':28}{'Spillway':>14}{'ns-3':>14}")
    for key in star["spillway"]:
        line(key, (f"{star[name][key]:,.4g}" for name in ("spillway", "ns3")))
    print_fabric(document["leaf_spine_128"])
    print_fabric(document["leaf_spine_128_hosts_mark"])
    print()


def print_fabric(fabric: Mapping[str, Any]) -> None:
    """Prints completion times side by side."""
    print(f"\nleaf-spine-128, {fabric['flows']} flows, {fabric['hosts']}")
    last = f"with moved starts; {fabric['otherwise']}"
    print(f"{'':28}{'Spillway':>14}{'ns-3':>14}{'ratio':>14}   {last}")
    for name in ("small", "all"):
        row = fabric[name]
        for key in STATISTICS:
            own, other = (row[each][f"fct_{key}_us"] for each in ("spillway", "ns3"))
            moved = row["spillway_with_moved_starts"].get(f"fct_{key}_us")
            span = f"   {moved['min']:,.0f} to {moved['max']:,.0f}" if moved else ""
            span += f"; {row['spillway_otherwise'][f'fct_{key}_us']:,.0f}"
            cells = (f"{own:,.1f}", f"{other:,.1f}", f"{own / other:.3f}{span}")
            print(f"{f'{name} FCT {key}, us':28}{cells[0]:>14}{cells[1]:>14}{'':>9}{cells[2]}")


if __name__ == "__main__":
    main()
