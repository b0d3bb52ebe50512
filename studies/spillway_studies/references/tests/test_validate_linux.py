"""Comparing with Linux's own TCP: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway_studies.references.linux import forward_ps, scenario
from spillway_studies.references.linux_files import Setting, runs
from support import change

LONG = "pfifo100_reno_n1_rtt20_40M_s1"
SHORT = "codel_cubic_n0_rtt20_40M_fct10k_s1"
COMMON = {"rtt": "20", "rate": "40mbit", "seed": "1", "hystart": "1", "bottle": "htb"}
RUNS = [
    {"id": LONG, "aqm": "pfifo100", "cc": "reno", "n": "1", "size": "0"}
    | {"goodput": "38.24", "drops_s": "0", "marks_s": "0"},
    {"id": SHORT, "aqm": "codel", "cc": "cubic", "n": "0", "size": "10000"}
    | {"goodput": "", "drops_s": "", "marks_s": ""},
]
RECV_MS = 21.844
"""What the kernel needs for 10 kB on an idle path."""


def write_runs(folder: Path, rows: list[dict[str, str]]) -> None:
    with (folder / "runs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*RUNS[0], *COMMON])
        writer.writeheader()
        writer.writerows(COMMON | row for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A long flow, and three transfers on an idle path."""
    write_runs(tmp_path, RUNS)
    times = [10_000, 20_000, 29_990]
    queue = {"id": 3 * [LONG], "t_ms": times, "qlen": [70, 70, 100]}
    pq.write_table(pa.table(queue), tmp_path / "queue.parquet")
    tcp = {"id": [LONG, LONG], "t_ms": [100, 200], "flow": [0, 0]}
    pq.write_table(pa.table(tcp), tmp_path / "tcp.parquet")
    # Each begins 10 ms after the answer to the one before.
    starts = [0.5 + number * 0.05212 for number in range(3)]
    fct = {
        "id": 3 * [SHORT],
        "i": [0, 1, 2],
        "t0": starts,
        "recv_ms": 3 * [RECV_MS],
        "done_ms": 3 * [42.12],
    }
    pq.write_table(pa.table(fct), tmp_path / "fct.parquet")
    return tmp_path


def verdicts(found) -> dict[str, str]:
    rows = [row for run in (LONG, SHORT) for row in found.json[run[:-3]]["rows"]]
    return {row["name"]: row["verdict"] for row in rows}


def test_what_is_near_agrees_and_what_is_not_differs(command, folder):
    found = command("validate", "linux", folder, "--json")
    shown = verdicts(found)
    # A line of 40 Mbps carries 40 * 1448 / 1514 = 38.256 Mbps of payload.
    assert (shown["goodput"], shown["p99 of the queue"]) == ("agrees", "agrees")
    assert (shown["median"], shown["p99"]) == ("agrees", "agrees")
    # There were drops, so the kernel's 0 differs; neither has marks.
    assert shown["drops"] == "differs" and "marks" not in shown
    assert found.status == 1
    change(folder / "fct.parquet", "recv_ms", 3 * [1.06 * RECV_MS])
    shown = verdicts(command("validate", "linux", folder, "--json"))
    assert (shown["median"], shown["p99"]) == ("differs", "agrees")


def test_a_number_within_the_kernel_s_seeds_agrees(command, folder):
    other = RUNS[0] | {"id": LONG.replace("_s1", "_s2"), "seed": "2", "goodput": "30"}
    write_runs(folder, [*RUNS, other])
    for file in ("queue.parquet", "tcp.parquet"):
        table = pq.read_table(folder / file)
        here = pa.array([other["id"]] * table.num_rows)
        copy = table.set_column(0, "id", here)
        pq.write_table(pa.concat_tables([table, copy]), folder / file)
    found = command("validate", "linux", folder, "--json")
    # 38.256 is far from the mean, 34.12, and above both.
    assert verdicts(found)["goodput"] == "differs"
    write_runs(folder, [*RUNS, other | {"goodput": "48"}])
    assert verdicts(command("validate", "linux", folder, "--json"))["goodput"] == "agrees"


def test_tables_show_what_is_compared_and_what_is_left_out(command, folder):
    write_runs(folder, [*RUNS, RUNS[0] | {"id": "x", "bottle": "tbf"}])
    found = command("validate", "linux", folder)
    words = " ".join(found.out.split())
    assert f"{LONG[:-3]}: 1 seed" in words and "left out: x: its bottleneck is tbf" in words
    assert "of 6 numbers" in words and "or within the kernel's own seeds" in words


def test_an_idle_path_has_the_kernel_s_round_trip():
    # A full segment takes 12.112 us on the kernel's first line, and 20 ms. Ours, and the ack of 66
    # bytes, take 1580 bytes on two lines of 1 Gbps and one of 40 Mbps: 25.28 + 316 us.
    setting = Setting("pfifo100", "reno", 1, 20, 40, True, 0)
    assert forward_ps(setting) == (12_112 + 20_000_000 - 25_280 - 316_000) * 1000 // 2


def test_flows_are_those_of_the_kernel(folder, tmp_path):
    row = RUNS[0] | {"aqm": "fqcodel-ecn", "cc": "reno+cubic", "n": "4", "id": LONG}
    write_runs(folder, [row])
    tcp = {"id": 4 * [LONG], "t_ms": [300, 40, 100, 200], "flow": [0, 1, 2, 3]}
    pq.write_table(pa.table(tcp), folder / "tcp.parquet")
    (run,), left_out = runs(folder)
    assert run.starts_ms == [250, 0, 50, 150] and not left_out
    traffic = scenario(run, tmp_path).resolved["traffic"]
    kinds = [(flow["transport"], flow["priority"], flow["ecn"]) for flow in traffic]
    newreno, cubic = ("newreno", "cubic")
    assert kinds == [(newreno, 1, True), (newreno, 2, True), (cubic, 3, True), (cubic, 4, True)]


@pytest.mark.parametrize(
    ("file", "column", "values", "problem"),
    [
        ("fct.parquet", "recv_ms", None, "it has no recv_ms"),
        ("queue.parquet", "qlen", None, "it has no qlen"),
        ("tcp.parquet", "id", None, "there is no column id"),
        ("tcp.parquet", "flow", [1, 1], "tcp.parquet lacks one of its flows"),
        ("queue.parquet", "id", 3 * ["x"], "queue.parquet has no sample of it"),
        ("queue.parquet", "t_ms", [1, 2, 3], "queue.parquet has no sample from 10 s on"),
        ("fct.parquet", "id", 3 * ["x"], "fct.parquet has no transfer of it"),
        ("fct.parquet", "t0", [0.5, 0.5, 0.5], "transfers must come one after the other"),
    ],
)
def test_a_folder_that_lacks_something_is_refused(command, folder, file, column, values, problem):
    change(folder / file, column, values)
    found = command("validate", "linux", folder)
    assert found.status == 2 and problem in " ".join(found.err.split())


@pytest.mark.parametrize(
    ("change_to", "problem"),
    [
        ({"aqm": "cake"}, "aqm is 'cake' known: pfifo and its limit, or red"),
        ({"cc": "bbr"}, "cc is 'bbr' known: reno, cubic"),
        ({"rate": "1gbit"}, "rate is '1gbit' known: whole Mbit/s"),
        ({"goodput": "fast"}, "goodput is 'fast', not a number from 0 on"),
        ({"n": "0"}, "it has 0 flows and an RTT of 20 ms"),
    ],
)
def test_a_run_that_is_not_known_is_refused(command, folder, change_to, problem):
    write_runs(folder, [RUNS[0] | change_to])
    found = command("validate", "linux", folder)
    words = " ".join(found.err.split()).replace(" hint:", "")
    assert found.status == 2 and problem.split(" known")[0] in words


def test_files_and_options_are_asked_for(command, folder, tmp_path):
    assert "there is no folder" in command("validate", "linux", tmp_path / "none").err
    assert "--paths: linux is compared" in command("validate", "linux", folder, "--paths", "1").err
    (folder / "queue.parquet").unlink()
    assert "there is no file" in command("validate", "linux", folder).err
    for content, problem in (
        (b"id,aqm\n", "there are no runs"),
        (b"id,aqm\na,red\n", "there is no column cc"),
        (b"id,aqm\na\n", "line 2 has too few or too many values"),
        (b"id,aqm\na,\xff\n", "runs.csv cannot be read"),
        (b"id,aqm\na," + 200_000 * b"x", "field larger than field limit"),
        (b'id,aqm\na,"x\n', "a quote is not closed"),
    ):
        (folder / "runs.csv").write_bytes(content)
        found = command("validate", "linux", folder)
        assert found.status == 2 and problem in " ".join(found.err.split()), found.err
    (folder / "runs.csv").unlink()
    assert "runs.csv" in command("validate", "linux", folder).err
