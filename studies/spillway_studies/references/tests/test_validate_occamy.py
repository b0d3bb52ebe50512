"""Comparing with Occamy's simulation: every packet's fate and time, and a wrong folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from support import change

# Ten packets of 1000 bytes come for a port within 10 ns, and 15,000 bytes are free. The first
# leaves at once. With alpha = 1, eight wait: 7000 + 1000 <= 15,000 - 7000. The last is refused.
COUNT = 10
SENT = [0, *(800 * number - number for number in range(1, 9))]
"""How long packets wait in ns: each takes 800 ns on the line."""
# Now 8000 are over T = 7000. The first packet has cost 5 tokens of the 8 that came at 1000 ns, and
# the tick at 1150 ns makes them 8: the head of the queue, which came at 1001 ns, is expelled.
EXPELLED = [0, 149, *(800 * (number - 1) - number for number in range(2, 9))]
RUNS = {
    1: ("DT", [4] * 9 + [2], [*SENT, 0]),
    2: ("RR", [4, 3] + [4] * 7 + [2], [*EXPELLED, 0]),
    3: ("LONG", [4, 3] + [4] * 7 + [1], [*EXPELLED, 0]),
    4: ("PUSHOUT", [4] * 10, [0] * 10),
}
ROW = {"list": "a-15k-fix-q1", "alpha": 1, "buffer_bytes": 15_000, "queues": 1, "sched": "-"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"run": run, "scheme": scheme, **ROW} for run, (scheme, *_) in RUNS.items()]
    pa.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "runs.csv")
    packets = [
        {"list": ROW["list"], "id": n, "time_ns": 1_000 + n, "port": 2, "queue": 0, "bytes": 1_000}
        for n in range(COUNT)
    ]
    pq.write_table(pa.Table.from_pylist(packets), tmp_path / "arrivals.parquet")
    fates = [
        {"run": run, "id": number, "fate": fate, "wait_ns": wait}
        for run, (_, *columns) in RUNS.items()
        for number, (fate, wait) in enumerate(zip(*columns, strict=True))
    ]
    pq.write_table(pa.Table.from_pylist(fates), tmp_path / "fates.parquet")
    return tmp_path


def test_every_packet_has_its_fate_at_its_time(command, folder):
    found = command("validate", "occamy", folder, "--json")
    assert found.status == 0
    rows = {row["scheme"]: row for row in found.json["groups"]}
    assert {*rows} == {"DT", "RR", "LONG"}
    for scheme, row in rows.items():
        assert (row["packets"], row["fates"], row["times"]) == (COUNT, 0, 0), scheme
        assert row["expelled"] == (scheme != "DT")
    assert found.json["left_out"] == ["runs under push-out, whose victims are others: 1"]


def test_another_fate_and_another_time_differ(command, folder):
    fates = pq.read_table(folder / "fates.parquet")
    waits = fates["wait_ns"].to_pylist()
    # A nanosecond is the precision of the reference, two are not.
    waits[11], waits[12] = waits[11] + 1, waits[12] + 2
    change(folder / "fates.parquet", "wait_ns", waits)
    codes = fates["fate"].to_pylist()
    codes[9] = 3
    change(folder / "fates.parquet", "fate", codes)
    found = command("validate", "occamy", folder)
    assert found.status == 1
    assert "DT fix, queues 1 (-): 1 of 10 packets" in " ".join(found.out.split())
    assert "RR fix, queues 1 (-): 1 of 10 packets" in " ".join(found.out.split())


@pytest.mark.parametrize(
    ("file", "problem"),
    [("runs.csv", "there is no file"), ("arrivals.parquet", "there is no file")],
)
def test_a_file_that_is_missing(command, folder, file, problem):
    (folder / file).unlink()
    found = command("validate", "occamy", folder)
    assert found.status == 2 and problem in found.err and file in found.err


def test_fates_of_other_packets(command, folder):
    change(folder / "fates.parquet", "id", [0] * COUNT * len(RUNS))
    found = command("validate", "occamy", folder)
    assert found.status == 2
    assert "run 1: arrivals and fates are not of the same packets" in found.err
