"""Comparison with Linux: its TCP over its own queueing disciplines, without jitter."""

from __future__ import annotations

import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from spillway.base import parquet
from spillway.base.threads import all_of
from spillway.run.simulation import Simulation
from spillway.scenario.scenario import Scenario
from spillway.tasks.run import Report
from spillway_studies.references.files import Floats
from spillway_studies.references.linux_files import (
    OF_TRANSFERS,
    WINDOW_S,
    Run,
    Setting,
    numbers_of,
    numbers_of_transfers,
    runs,
)
from spillway_studies.references.numbers import Json, Verdict, bootstrap, compared, judged
from spillway_studies.references.tables import interval, judgement, shown_table, texts
from spillway_studies.references.validation import Validation, validation

_NUMBERS = {
    "goodput": ("Mbit/s", 0.01),
    "mean queue": ("packets", 0.05),
    "p99 of the queue": ("packets", 0.1),
    "drops": ("a second", 0.15),
    "marks": ("a second", 0.15),
    "median": ("ms", 0.05),
    "p99": ("ms", 0.15),
}
"""The units of numbers, and how far ours may be from the kernel's, as a share of it."""
_SHARES = ", ".join(f"{name} within {100 * share:g}%" for name, (_, share) in _NUMBERS.items())
_RULE = f"{_SHARES}, or within the kernel's own seeds"
_FRAME, _ACK, _MSS = 1514, 66, 1448
_HOST_MBPS = 1_000
"""The senders' line."""
_PORT = "switch.leaf0.port.1"
"""The bottleneck."""
_SAMPLE = "10ms"
_CHUNK_S = 5
_PATIENCE = 3
"""Transfers are given up after so many times the kernel's time."""


def linux(folder: Path, *, jobs: int = 2) -> Validation:
    """Linux's TCP over its own queueing disciplines, one bottleneck, without jitter.

    `folder` holds runs.csv, queue.parquet, tcp.parquet and fct.parquet. Every run is repeated here,
    and the means over the seeds of a setting are compared.
    """
    found, left_out = runs(folder)
    with TemporaryDirectory() as place:
        ours = all_of(lambda run, report: _measured(run, Path(place), report), found, jobs)
    content: Json = {}
    for setting in dict.fromkeys(run.setting for run in found):
        pairs = [(run, own) for run, own in zip(found, ours, strict=True) if run.setting == setting]
        rows = _rows(pairs)
        content[setting.name] = {**vars(setting), "seeds": len(pairs), "rows": rows}
    return validation(
        {**content, "left_out": left_out},
        [*(_table(*each) for each in content.items()), *texts(left_out)],
        (one for name, each in content.items() for one in judged(name, each["rows"], "name")),
        _RULE,
    )


def _rows(pairs: list[tuple[Run, dict[str, float]]]) -> list[Json]:
    """The numbers of a setting: the means over the kernel's seeds, and over ours.

    A number within the range of the kernel's own seeds is near, too. If there is one run of
    transfers, their percentiles have 95% bootstrap intervals.
    """
    rows = []
    for name in pairs[0][0].numbers:
        there, here = zip(*((run.numbers[name], own[name]) for run, own in pairs), strict=True)
        seeds, ends = (min(there), max(there)), None
        if name in OF_TRANSFERS and len(pairs) == 1:
            ends = bootstrap(pairs[0][0].recv_ms, OF_TRANSFERS[name])
        reference, ours = sum(there) / len(there), sum(here) / len(here)
        row = {"name": name, "reference": reference, "seeds": seeds, "interval": ends, "ours": ours}
        otherwise = (Verdict.near, ours, seeds), (Verdict.undecided, ours, ends)
        if reference or ours:
            rows.append(compared(row, _NUMBERS[name][1], *otherwise))
    return rows


def _table(name: str, found: Json) -> Table:
    """What agrees and what does not, of one setting."""
    count = found["seeds"]
    return shown_table(
        f"{name}: {'1 seed' if count == 1 else f'{count} seeds'}",
        ["count", "unit", "kernel", "its seeds", "ours", "difference", ""],
        (
            [
                row["name"],
                _NUMBERS[row["name"]][0],
                f"{row['reference']:,.2f}",
                interval(row["seeds"]),
                f"{row['ours']:,.2f}",
                *judgement(row),
            ]
            for row in found["rows"]
        ),
    )


# Scenario ----------------------------------------------------------------------------------------

_CODEL = {"kind": "codel", "target": "5ms", "interval": "100ms"}
_AQMS: Json = {
    "pfifo": "none",
    "red": {
        "kind": "red",
        "min": "45420B",
        "max": "136260B",
        "max_probability": 0.1,
        "weight": 1 / 32,
        "spacing": "uniform",
    },
    "codel": _CODEL,
    "fqcodel": _CODEL,
    "pie": {
        "kind": "pie",
        "target": "15ms",
        "update_interval": "15ms",
        "alpha": 0.125,
        "beta": 1.25,
        "burst": "150ms",
        "mark_up_to": 0.1,
    },
}
_TRANSPORT: Json = {
    "preset": "linux",
    "mss": f"{_MSS}B",
    "header": f"{_FRAME - _MSS}B",
    "ack_size": f"{_ACK}B",
    "initial_window": "10pkt",
}


def forward_ps(setting: Setting) -> int:
    """The propagation delay of each way: full segments on an idle path have the kernel's RTT.

    The kernel delays acks alone, and its bottleneck lets a frame go when its transmission starts.
    """

    def line(size: int, mbps: int) -> int:
        return size * 8 * 1_000_000 // mbps

    there = line(_FRAME, _HOST_MBPS) + round(setting.rtt_ms * 1e9)
    ours = 2 * line(_FRAME + _ACK, _HOST_MBPS) + line(_FRAME + _ACK, setting.rate_mbps)
    return (there - ours) // 2


def scenario(run: Run, place: Path) -> Scenario:
    """The run as a scenario. A list of transfers is written into `place`."""
    setting = run.setting
    is_fair = setting.aqm.startswith("fqcodel")
    begin, end = WINDOW_S
    if setting.size:
        begin, end = 0, _limit_s(run)
    return Scenario(
        {
            "name": setting.name,
            "seed": run.seed,
            "warmup": f"{begin}s",
            "duration": f"{end}s",
            "stop": f"{end}s",
            "topology": {
                "kind": "dumbbell",
                "clocks": "exact",
                "senders": 1,
                "receivers": 1,
                "host_rate": f"{_HOST_MBPS}Mbps",
                "bottleneck_rate": f"{setting.rate_mbps}Mbps",
                "link_delay": "0us",
                "bottleneck_delay": f"{forward_ps(setting)}ps",
            },
            "switch": _switch(setting, is_fair),
            "nic": {"queues": 1},
            "traffic": _traffic(run, is_fair, place),
            "record": {"queue_interval": _SAMPLE, "empty_queues": True, "drops": False}
            if not setting.size
            else {"drops": False},
        }
    )


def _switch(setting: Setting, is_fair: bool) -> Json:
    kind = re.split(r"[\d-]", setting.aqm)[0]
    limit = setting.aqm.removeprefix("pfifo") if kind == "pfifo" else "1000"
    switch = {"buffer": "unlimited", "queue_limit": f"{limit}pkt", "aqm": _AQMS[kind]}
    if is_fair:
        # A queue for each flow, served in turn. Linux's serves new flows first.
        queues = {"queues_per_port": setting.flows + 2, "ack_queue": 0}
        turns = {"kind": "dwrr", "quantum": f"{_FRAME}B"}
        switch |= queues | {"queue_limit": "10240pkt", "scheduling": turns}
    return switch


def _traffic(run: Run, is_fair: bool, place: Path) -> list[Json]:
    setting, draw = run.setting, random.Random(run.seed)
    drawn = [draw.uniform(0, 1_000) for _ in range(setting.flows)]
    kinds = setting.controls
    traffic = [
        {
            "name": f"flow{flow}",
            "kind": "persistent",
            "pairs": [[0, 1]],
            "start": f"{start:.6f}ms",
            **_sender(setting, kinds[flow * len(kinds) // setting.flows]),
            **({"priority": flow + 1} if is_fair else {}),
        }
        for flow, start in enumerate(run.starts_ms or drawn)
    ]
    if setting.size:
        transfers = {
            "name": "transfers",
            "kind": "flows",
            "file": str(_listed(run, place).resolve()),
            **_sender(setting, kinds[0]),
            **({"priority": setting.flows + 1} if is_fair else {}),
        }
        traffic.append(transfers)
    return traffic


def _sender(setting: Setting, control: str) -> Json:
    sender = {"transport": control, "ecn": setting.aqm.endswith("-ecn"), **_TRANSPORT}
    if control == "cubic" and not setting.has_hystart:
        sender["hystart"] = "none"
    return sender


def _limit_s(run: Run) -> int:
    """When the transfers are given up."""
    pauses = sum(run.pauses_ms) + len(run.recv_ms) * run.setting.rtt_ms
    return int(run.first_s + _PATIENCE * (run.recv_ms.sum() + pauses) / 1e3) + _CHUNK_S


def _listed(run: Run, place: Path) -> Path:
    """The transfers, one after the other, with the kernel's pauses.

    In the kernel the answer takes an RTT to come back. Ours is complete half an RTT later.
    """
    count = len(run.recv_ms)
    after = [[], *([flow] for flow in range(count - 1))]
    half = run.setting.rtt_ms * 5e5
    delays = [0, *(round(half + pause * 1e6) for pause in run.pauses_ms)]
    table = pa.table(
        {
            "src": pa.array([0] * count, pa.int64()),
            "dst": pa.array([1] * count, pa.int64()),
            "size_bytes": pa.array([run.setting.size] * count, pa.int64()),
            "start_ns": pa.array([round(run.first_s * 1e9)] * count, pa.int64()),
            "after": pa.array(after, pa.list_(pa.int64())),
            "delay_ns": pa.array(delays, pa.int64()),
        }
    )
    file = place / f"{run.setting.name}_{run.seed}.parquet"
    parquet.write(table, file)
    return file


# What is measured --------------------------------------------------------------------------------


def _measured(run: Run, place: Path, report: Report) -> dict[str, float]:
    """Our numbers of a run."""
    simulation = Simulation(scenario(run, place))
    if run.setting.size:
        return numbers_of_transfers(_transfers(run, simulation, report))
    begin, end = WINDOW_S
    names = [f"{_PORT}.dropped_packets", f"{_PORT}.marked_packets", "delivered_bytes"]
    simulation.run_until(f"{begin}s", progress=report)
    simulation.observe(names)
    simulation.run_until(f"{end * 1000 - 1}ms", progress=report)
    drops, marks, delivered = (values.sum() for values in simulation.observe(names).values())
    seconds = end - begin - 0.001
    lengths = _lengths(simulation.finish().queues)
    rates = (float(each / seconds) for each in (drops, marks))
    return numbers_of(float(delivered * 8e-6 / seconds), lengths, *rates)


def _lengths(queues: pa.Table) -> Floats:
    """The packets at the bottleneck, all of its queues together, at every sample."""
    here = pc.and_(pc.equal(queues["switch"], "leaf0"), pc.equal(queues["port"], 1))
    table = queues.filter(here)
    times, places = np.unique(table["time_ps"].to_numpy(), return_inverse=True)
    lengths = np.bincount(places, table["packets"].to_numpy(), len(times))
    return np.asarray(lengths, np.float64)


def _transfers(run: Run, simulation: Simulation, report: Report) -> Floats:
    """The times of the transfers in the order of their ends, infinite if they have not ended.

    Data comes later than the kernel's by the delay of the way there, which the kernel does not
    have.
    """
    name, count = "traffic.transfers.fct_ps", len(run.recv_ms)
    found: list[float] = []
    simulation.observe([name])
    for second in range(_CHUNK_S, _limit_s(run) + _CHUNK_S, _CHUNK_S):
        goes_on = simulation.run_until(f"{min(second, _limit_s(run))}s", progress=report)
        found += simulation.observe([name])[name].tolist()
        if len(found) == count or not goes_on:
            break
    late = forward_ps(run.setting)
    times = [(time - late) / 1e9 for time in found]
    return np.array(times + [np.inf] * (count - len(times)))
