"""Comparing with Occamy's simulation: every packet's fate and time, and a wrong folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from support import change

COUNT = 10
FULL, OVER, EXPELLED, SENT = 1, 2, 3, 4

# Ten packets of 1000 bytes come for a port within 10 ns, and 15,000 bytes are free. The first
# leaves at once. With alpha = 1, eight wait: 7000 + 1000 <= 15,000 - 7000. The last is refused.
# A queue of 2000 bytes marks an arrival: 2000 + 998 > 2500.
ONE_QUEUE = [(1_000, 0)] * COUNT
WAITS = [0, *(800 * number - number for number in range(1, 9)), 0]
"""How long packets wait in ns: each takes 800 ns on the line."""
MARKS = [0] * 3 + [1] * 7
# Now 8000 are over T = 7000. The first packet has cost 5 tokens of the 8 that came at 1000 ns, and
# the tick at 1150 ns makes them 8: the head of the queue, which came at 1001 ns, is expelled.
SOONER = [0, 149, *(800 * (number - 1) - number for number in range(2, 9)), 0]
# Five fill a buffer of 5000 bytes. Under push-out each of the last four takes the place of the head
# of the queue, which came 5 ns before.
PUSHED = [0, 5, 5, 5, 5, *(800 * (number - 4) - number for number in range(5, 10))]
# Packets of 1500 bytes: the first and the last five are for queue 0, four for queue 1. DRR starts
# at queue 1, and each passage gives 2000. Queue 0 sends with a credit of 2000, then of 500, and
# owes 1000. So does queue 1. Then each sends one with 1000, and owes 500, and one with 1500. Queue
# 0 has two left.
TWO_QUEUES = [(1_500, 0), *[(1_500, 1)] * 4, *[(1_500, 0)] * 5]
ORDER = [0, 5, 1, 2, 6, 3, 7, 4, 8, 9]
IN_TURN = [1_200 * ORDER.index(number) - number for number in range(COUNT)]
# 51.2 ns and 160.8 ns on the line count as 51 and 161.
ROUNDED = [(64, 0), (201, 0), (64, 0)]

LISTS = {
    "a-15k-fix-q1": ONE_QUEUE,
    "a-60k-fix-q2": TWO_QUEUES,
    "a-15k-mix-q1": ROUNDED,
}
Columns = tuple[list[int], list[int], list[int]]
RUNS: dict[int, tuple[dict[str, object], Columns]] = {
    1: ({"scheme": "DT"}, ([SENT] * 9 + [OVER], WAITS, MARKS)),
    2: ({"scheme": "RR"}, ([SENT, EXPELLED] + [SENT] * 7 + [OVER], SOONER, MARKS)),
    3: ({"scheme": "LONG"}, ([SENT, EXPELLED] + [SENT] * 7 + [OVER], SOONER, MARKS)),
    4: (
        {"scheme": "PUSHOUT", "buffer_bytes": 5_000},
        ([SENT, *[EXPELLED] * 4, *[SENT] * 5], PUSHED, MARKS),
    ),
    5: (
        {"scheme": "DT", "buffer_bytes": 5_000, "alpha": 8},
        ([SENT] * 6 + [FULL] * 4, WAITS[:6] + [0] * 4, MARKS),
    ),
    6: (
        {"scheme": "DT", "list": "a-60k-fix-q2", "buffer_bytes": 60_000, "alpha": 8}
        | {"queues": 2, "sched": "DRR"},
        ([SENT] * COUNT, IN_TURN, [0, 0, 1, 1, 1, 0, 1, 1, 1, 1]),
    ),
    7: ({"scheme": "DT", "list": "a-15k-mix-q1"}, ([SENT] * 3, [0, 50, 210], [0] * 3)),
}
SETTINGS = {"alpha": 1, "buffer_bytes": 15_000, "queues": 1, "sched": "-", "ecn_k": 2_500}
ROW = {"list": "a-15k-fix-q1", "tie_sensitive_packets": 0, **SETTINGS}


def packets(sizes: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Packets for port 2 that come a nanosecond apart, of these sizes and for these queues."""
    return [
        {"id": number, "time_ns": 1_000 + number, "port": 2, "queue": queue, "bytes": size}
        for number, (size, queue) in enumerate(sizes)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"run": run, **ROW, **keys} for run, (keys, _) in RUNS.items()]
    pa.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "runs.csv")
    arrivals = [{"list": name} | each for name, sizes in LISTS.items() for each in packets(sizes)]
    pq.write_table(pa.Table.from_pylist(arrivals), tmp_path / "arrivals.parquet")
    fates = [
        {"run": run, "id": number, "fate": fate, "wait_ns": wait, "ce": ce}
        for run, (_, columns) in RUNS.items()
        for number, (fate, wait, ce) in enumerate(zip(*columns, strict=True))
    ]
    pq.write_table(pa.Table.from_pylist(fates), tmp_path / "fates.parquet")
    return tmp_path


@pytest.fixture
def cases(folder: Path) -> Path:
    """The folder with two small cases: runs 2 and 4, and what their packets find."""
    found = []
    for name, run in {"over": 2, "push": 4}.items():
        keys, columns = RUNS[run]
        settings = {"case": name, **SETTINGS, **keys}
        for each, fate, wait, ce in zip(packets(ONE_QUEUE), *columns, strict=True):
            # One has left at once, and push-out keeps what fits.
            held = min(max(each["id"] - 1, 0) * 1_000, settings["buffer_bytes"])
            out = {"fate": fate, "t_out_ns": each["time_ns"] + wait, "ce": ce}
            seen = {"q_before": held, "used_before": held, "threshold_before": 15_000 - held}
            found.append(settings | each | out | seen)
    pa.csv.write_csv(pa.Table.from_pylist(found), folder / "micro.csv")
    return folder


def test_every_packet_has_its_fate_at_its_time(command, folder):
    found = command("validate", "occamy", folder, "--json")
    assert found.status == 0, found.json["bounds"]
    rows = {
        (row["scheme"], row["list"], row["scheduler"]): (
            row["runs"],
            row["packets"],
            row["expelled"],
        )
        for row in found.json["groups"]
    }
    assert rows == {
        ("DT", "fix", "-"): (2, 20, 0),
        ("DT", "fix", "DRR"): (1, 10, 0),
        ("DT", "mix", "-"): (1, 3, 0),
        ("LONG", "fix", "-"): (1, 10, 1),
        ("PUSHOUT", "fix", "-"): (1, 10, 4),
        ("RR", "fix", "-"): (1, 10, 1),
    }
    differences = ("fates", "times", "marks")
    assert not any(row[name] for row in found.json["groups"] for name in differences)
    assert (found.json["left_out"], found.json["cases"]) == ([], [])


def test_another_fate_another_time_and_another_mark_differ(command, folder):
    changes = {"wait_ns": (11, 150), "fate": (9, FULL), "ce": (25, 0)}
    for column, (place, value) in changes.items():
        values = pq.read_table(folder / "fates.parquet")[column].to_pylist()
        assert values[place] != value
        values[place] = value
        change(folder / "fates.parquet", column, values)
    found = command("validate", "occamy", folder)
    assert found.status == 1
    words = " ".join(found.out.split())
    assert "of 6 numbers 3 agree, 3 differ" in words
    assert "7 of 7 runs, of which 4 agree in every packet; every packet has" in words
    assert "DT fix, queues 1 (-): 1 of 20 packets" in words
    assert "RR fix, queues 1 (-): 1 of 10 packets" in words
    assert "LONG fix, queues 1 (-): 1 of 10 packets" in words


def test_small_cases_also_tell_what_packets_find(command, cases):
    found = command("validate", "occamy", cases, "--json")
    assert found.status == 0, found.json["bounds"]
    none = dict.fromkeys(("fates", "times", "marks", "queue_bytes", "occupancy_bytes"), 0)
    common = {"runs": 1, "packets": COUNT, **none}
    assert found.json["cases"] == [
        {"case": "over", **common, "expelled": 1, "threshold_bytes": 0},
        # Push-out has no threshold.
        {"case": "push", **common, "expelled": 4, "threshold_bytes": None},
    ]
    file = cases / "micro.csv"
    file.write_text(file.read_text().replace(",7000,7000,8000", ",7000,7000,8001"))
    found = command("validate", "occamy", cases)
    assert found.status == 1
    words = " ".join(found.out.split())
    assert "1 differ (over: 1 of 10 packets)" in words
    assert (
        "7 of 7 runs, of which 7 agree in every packet, and 2 of 2 small cases, of which 1" in words
    )


def test_runs_that_depend_on_ties_are_only_shown(command, folder):
    file = folder / "runs.csv"
    table = pa.csv.read_csv(file)
    place = table.column_names.index("tie_sensitive_packets")
    tied = [int(run == 2) for run in table["run"].to_pylist()]
    pa.csv.write_csv(table.set_column(place, "tie_sensitive_packets", [tied]), file)
    waits = pq.read_table(folder / "fates.parquet")["wait_ns"].to_pylist()
    change(
        folder / "fates.parquet", "wait_ns", [wait + (10 < n < 20) for n, wait in enumerate(waits)]
    )
    found = command("validate", "occamy", folder, "--json")
    assert found.status == 0 and found.json["bounds"]["compared"] == 5
    assert [row["times"] for row in found.json["groups"] if row["list"] == "fix, tied"] == [8]


def test_what_cannot_be_repeated_is_left_out(command, folder):
    file = folder / "runs.csv"
    table = pa.csv.read_csv(file)
    for column, value in {"scheme": "ABM", "sched": "WFQ"}.items():
        place = table.column_names.index(column)
        values = table[column].to_pylist()
        values[{"ABM": 0, "WFQ": 5}[value]] = value
        table = table.set_column(place, column, [values])
    pa.csv.write_csv(table, file)
    arrivals = pq.read_table(folder / "arrivals.parquet")
    sizes = [213 if size == 201 else size for size in arrivals["bytes"].to_pylist()]
    change(folder / "arrivals.parquet", "bytes", sizes)
    found = command("validate", "occamy", folder)
    assert found.status == 0
    words = " ".join(found.out.split())
    assert "4 of 7 runs, of which 4 agree in every packet" in words
    for why in (
        "runs under ABM, which is not known here: 1",
        "runs with WFQ, which is not known here: 1",
        "runs with packets whose time on a line would be rounded otherwise: 1",
    ):
        assert why in words


@pytest.mark.parametrize(
    ("file", "problem"),
    [("runs.csv", "there is no file"), ("arrivals.parquet", "there is no file")],
)
def test_a_file_that_is_missing(command, folder, file, problem):
    (folder / file).unlink()
    found = command("validate", "occamy", folder)
    assert found.status == 2 and problem in found.err and file in found.err


def test_fates_of_other_packets(command, folder):
    fates = pq.read_table(folder / "fates.parquet")
    change(folder / "fates.parquet", "id", [0] * len(fates))
    found = command("validate", "occamy", folder)
    assert found.status == 2
    assert "run 1: arrivals and fates are not of the same packets" in found.err


def test_a_small_case_without_its_mark(command, cases):
    table = pa.csv.read_csv(cases / "micro.csv")
    pa.csv.write_csv(table.drop_columns(["ce"]), cases / "micro.csv")
    found = command("validate", "occamy", cases)
    assert found.status == 2 and "micro.csv: it has no ce" in found.err
