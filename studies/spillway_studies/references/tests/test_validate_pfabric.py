"""Comparing with YAPS's pFabric: what comes of it, and what is told of a wrong folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spillway
from spillway import Scenario
from spillway_studies.references.pfabric import scenario_of
from support import change

RUN = "websearch_60_ecmp"
FLOWS = f"flows_{RUN}.parquet"
COLUMNS = (
    "case,id,src,dst,size_bytes,start_ns,fct_ns,recv_fct_ns,data_pkts_sent,data_pkts_received,"
    "data_drops,ack_drops,timeouts"
)


def alone(packets: int, *, in_rack: bool = False) -> int:
    """The completion time of a flow that is alone, at the receiver.

    The sender's link takes 1,200 ns for each packet. The last one then has 200 ns of every link on
    its way, and what links after the first take for it: 1,200 ns at 10 Gbps, 300 ns at 40 Gbps.
    """
    return packets * 1200 + (2 * 200 + 1200 if in_rack else 4 * 200 + 2 * 300 + 1200)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Flows of 1 to 1,000 packets, one after another, and a small case of two flows.

    In the case 50 packets of host 0 and, from 10,007 ns on, 20 packets of host 1 go to host 5. The
    first of the 20 is at the port 1,400 ns later. The port then sends a packet from 11,000 to
    12,200 ns, and the 20, of a flow that has less left, until 36,200 ns. It is never idle until
    all 70 are sent, from 1,400 ns on.
    """
    flows = [
        {
            "id": number,
            "src": number,
            "dst": 100 + number,
            "size_bytes": 1460 * packets,
            "start_ns": 5_000_000 * number,
            "recv_fct_ns": alone(packets),
            "core": (100 + 3 * number) % 4,
            "data_drops": 0,
            "timeouts": 0,
        }
        for number, packets in enumerate([1, 2, 10, 100, 200, 700, 1000])
    ]
    flows += [flows[2] | {"id": 7, "src": 3, "dst": 5, "core": -1, "start_ns": 35_000_000}]
    flows[7]["recv_fct_ns"] = alone(10, in_rack=True)
    pq.write_table(pa.Table.from_pylist(flows), tmp_path / FLOWS)
    rows = ["two_to_one,0,0,5,73000,0,86064,85600,50,50,0,0,0"]
    rows += ["two_to_one,1,1,5,29200,10007,26857,26393,20,20,0,0,0"]
    (tmp_path / "micro_cases.csv").write_text("\n".join([COLUMNS, *rows]) + "\n")
    return tmp_path


def test_what_is_the_same_agrees(command, folder):
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 0, found.err
    document = found.json
    assert list(document["runs"]) == [RUN]
    run = document["runs"][RUN]
    assert all(number["difference"] == 0 for number in run["numbers"])
    kinds = [each["flows"] for each in run["flow_by_flow"]]
    assert kinds == ["short", "medium", "long", "all"]
    assert [each["matched"] for each in run["flow_by_flow"]] == [4, 2, 2, 8]
    assert all(each["within"] == [1, 1, 1] for each in run["flow_by_flow"])
    assert (run["sprayed"], document["left_out"]) == (False, [])
    (case,) = document["cases"]
    assert (case["same"], case["flows"], case["agrees"]) == (2, 2, True)
    assert document["bounds"]["broken"] == []


def test_what_differs_breaks_a_bound(command, folder):
    times = pq.read_table(folder / FLOWS)["recv_fct_ns"].to_pylist()
    change(folder / FLOWS, "recv_fct_ns", [1.03 * ns for ns in times])
    cases = folder / "micro_cases.csv"
    cases.write_text(cases.read_text().replace("26393", "26394"))
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 1
    broken = found.json["bounds"]["broken"]
    # Medians may be 2% off, tails 5%.
    assert [each.rpartition(" ")[0] for each in broken[:4]] == [
        f"{RUN} {kind} p50" for kind in ("short", "medium", "long", "all")
    ]
    assert [each.partition(",")[0] for each in broken[4:]] == ["two_to_one: 1 of 2 flows the same"]


def test_drops_and_timeouts_may_be_5_percent_off(command, folder):
    change(folder / FLOWS, "data_drops", [1] + 7 * [0])
    change(folder / FLOWS, "timeouts", 7 * [0] + [2])
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 1
    assert found.json["bounds"]["broken"] == [
        f"{RUN} drops -100.0%",
        f"{RUN} timeouts -100.0%",
    ]


@pytest.mark.parametrize("name", ["two_to_one", "another"])
def test_small_cases_without_ties_must_be_the_same(command, folder, name):
    cases = folder / "micro_cases.csv"
    cases.write_text(cases.read_text().replace("two_to_one", name))
    (case,) = command("validate", "pfabric", folder, "--json").json["cases"]
    assert (case["name"], case["must_agree"], case["agrees"]) == (name, True, True)
    cases.write_text(cases.read_text().replace("26393", "26394"))
    found = command("validate", "pfabric", folder, "--json")
    (case,) = found.json["cases"]
    assert (found.status, case["same"], case["agrees"]) == (1, 1, False)


def test_flows_may_be_in_any_order(command, folder):
    (folder / "micro_cases.csv").unlink()
    before = pq.read_table(folder / FLOWS)
    pq.write_table(before.take([3, 7, 0, 1, 6, 5, 2, 4]), folder / FLOWS)
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 0
    assert all(each["within"] == [1, 1, 1] for each in found.json["runs"][RUN]["flow_by_flow"])


def test_small_cases_with_ties_may_differ_a_little(command, folder):
    """Packets of the second flow come just when the port has sent one of the first.

    The port sends a packet from 1,400, 2,600, ... 12,200 ns on. The first of the 20 is there at
    10,800 + 1,400 ns: so it is sent then, or a packet later if the port chooses first. The last of
    the 20 is sent until 36,200 ns and is at host 5 at 36,400 ns.
    """
    cases = folder / "micro_cases.csv"
    text = cases.read_text().replace("two_to_one", "rand200")
    text = text.replace(",29200,10007,26857,26393,", ",29200,10800,26064,25600,")
    cases.write_text(text)
    (case,) = command("validate", "pfabric", folder, "--json").json["cases"]
    assert (case["same"], case["must_agree"], case["agrees"]) == (2, False, True)
    text = text.replace("25600", "25601")
    cases.write_text(text)
    found = command("validate", "pfabric", folder)
    assert found.status == 0
    near = ["rand200", "1 of 2", "1.0000", "0", "0", "0", "0", "near, has ties"]
    assert near in rows_of(found.out)
    # A tenth longer on average, over two flows.
    cases.write_text(text.replace("25601", "21333"))
    found = command("validate", "pfabric", folder)
    assert found.status == 1
    assert any(row[0] == "rand200" and row[-1] == "differs" for row in rows_of(found.out) if row)


def rows_of(shown: str) -> list[list[str]]:
    """The cells of the tables."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines()]


def test_tables_show_numbers_flows_and_cases(command, folder):
    found = command("validate", "pfabric", folder)
    assert found.status == 0
    shown = rows_of(found.out)
    names = [f"{kind} p{p}" for kind in ("short", "medium", "long", "all") for p in (50, 95, 99)]
    for name in names:
        assert [name, "1", "1", "+0.0%", "agrees"] in shown
    for name in ("drops", "timeouts"):
        assert [name, "0", "0", "+0.0%", "agrees"] in shown
    assert ["short", "4", "1.0000", "100%", "100%", "100%"] in shown
    assert ["all", "8", "1.0000", "100%", "100%", "100%"] in shown
    assert ["two_to_one", "2 of 2", "1.0000", "0", "0", "0", "0", "agrees"] in shown
    # Three percentiles of four classes, two counts, and a case.
    assert "of 15 numbers 15 agree; medians of slowdown within 2%" in " ".join(found.out.split())


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: folder.rename(f"{folder}-moved"), "there is no folder {}"),
        (
            lambda folder: [file.unlink() for file in folder.iterdir()],
            "{}: there are no runs of pFabric",
        ),
        (
            lambda folder: pq.write_table(pq.read_table(folder / FLOWS)[:0], folder / FLOWS),
            f"{{}}/{FLOWS}: there are no flows",
        ),
        (
            lambda folder: change(folder / FLOWS, "timeouts", None),
            f"{{}}/{FLOWS}: it has no timeouts",
        ),
        (
            lambda folder: change(folder / FLOWS, "src", 8 * ["host"]),
            f"{{}}/{FLOWS}: src: Failed to parse string",
        ),
        (
            lambda folder: change(folder / FLOWS, "src", [*range(7), 144]),
            f"{{}}/{FLOWS}: src: the network has the hosts 0 to 143 only",
        ),
        (
            lambda folder: change(folder / FLOWS, "dst", 8 * [3]),
            f"{{}}/{FLOWS}: a flow has the same src and dst",
        ),
        (
            lambda folder: change(folder / FLOWS, "recv_fct_ns", 8 * [0]),
            f"{{}}/{FLOWS}: recv_fct_ns must be above 0",
        ),
        (
            lambda folder: change(folder / FLOWS, "start_ns", [-1, *7 * [0]]),
            f"{{}}/{FLOWS}: start_ns must not be below 0",
        ),
        (
            lambda folder: (folder / "micro_cases.csv").write_text(
                f"{COLUMNS}\none,0,5,5,1460,0,1,1,1,1,0,0,0\n"
            ),
            "{}/micro_cases.csv: one: a flow has the same src and dst",
        ),
        (
            lambda folder: change(folder / FLOWS, "core", [0, *7 * [-2]]),
            f"{{}}/{FLOWS}: core is not always (src + dst + id) % 4, or -1 in a rack",
        ),
        (
            lambda folder: (folder / "micro_cases.csv").write_text(f"{COLUMNS}\n"),
            "{}/micro_cases.csv: there are no flows",
        ),
        (
            lambda folder: (folder / "micro_cases.csv").write_text("case,id\na,b\n"),
            "{}/micro_cases.csv, line 2: no whole numbers; expected case, id",
        ),
    ],
)
def test_a_folder_that_lacks_something_is_refused(command, folder, spoil, says):
    spoil(folder)
    found = command("validate", "pfabric", folder)
    assert found.status == 2
    assert says.format(folder) in found.err


def test_every_run_in_the_folder_is_compared(command, folder):
    (folder / FLOWS).rename(folder / "flows_imc10_80_ecmp.parquet")
    again = folder / "flows_websearch_20_ecmp_1.parquet"
    again.write_bytes((folder / "flows_imc10_80_ecmp.parquet").read_bytes())
    # The last flow starts after seconds.
    starts = pq.read_table(again)["start_ns"].to_pylist()
    change(again, "start_ns", [*starts[:-1], 4_000_000_000])
    found = command("validate", "pfabric", folder, "--json")
    assert found.status == 0, found.err
    runs = found.json["runs"]
    assert list(runs) == ["imc10_80_ecmp", "websearch_20_ecmp_1"]
    assert all(number["difference"] == 0 for run in runs.values() for number in run["numbers"])
    times = pq.read_table(again)["recv_fct_ns"].to_pylist()
    change(again, "recv_fct_ns", [1.03 * ns for ns in times])
    found = command("validate", "pfabric", folder, "--json")
    broken = found.json["bounds"]["broken"]
    assert [each.rpartition(" ")[0] for each in broken] == [
        f"websearch_20_ecmp_1 {kind} p50" for kind in ("short", "medium", "long", "all")
    ]


def test_sprayed_packets_take_paths_of_their_own(command, folder):
    change(folder / FLOWS, "core", [*7 * [-2], -1])
    found = command("validate", "pfabric", folder)
    assert found.status == 0
    assert "packets are sprayed" in found.out
    document = command("validate", "pfabric", folder, "--json").json
    # Flows that are alone take as long by any paths: none is longer than another.
    assert document["runs"][RUN]["sprayed"] is True
    assert all(number["difference"] == 0 for number in document["runs"][RUN]["numbers"])


@pytest.mark.parametrize("other", [["--json"], []])
def test_what_is_not_compared_is_named(command, folder, other):
    (folder / FLOWS).rename(folder / "flows_websearch_60_ecmp_cut.parquet")
    found = command("validate", "pfabric", folder, *other)
    assert found.status == 0
    assert "flows_websearch_60_ecmp_cut.parquet: its switches" in " ".join(found.out.split())
    (folder / "flows_websearch_60_ecmp_cut.parquet").rename(folder / FLOWS)
    (folder / "micro_cases.csv").unlink()
    found = command("validate", "pfabric", folder, *other)
    assert found.status == 0
    assert "small cases: there is no micro_cases.csv" in " ".join(found.out.split())


@pytest.mark.parametrize("option", [["--paths", "2"], ["--differences"]])
def test_options_of_other_references_are_refused(command, folder, option):
    found = command("validate", "pfabric", folder, *option)
    assert found.status == 2
    assert f"{option[0]}: pfabric is compared in one way alone" in found.err


@pytest.mark.parametrize("name", ["pfabric", "pfabric-yaps"])
def test_the_scenario_is_the_reference_s_network(name):
    found = Scenario.load(name).resolved
    network = found["topology"]
    sizes = [network[key] for key in ("leaves", "spines", "hosts_per_leaf", "links_per_pair")]
    assert sizes == [9, 4, 16, 1]
    assert (network["host_rate"], network["fabric_rate"]) == ("10Gbps", "40Gbps")
    assert {value for key, value in network.items() if key.endswith("_delay")} == {"200ns"}
    assert found["switch"]["sharing"] == {"kind": "pfabric", "limit": "36864B"}
    assert found["switch"]["scheduling"] == {"kind": "pfabric"}
    assert (found["nic"]["queue_limit"], found["nic"]["scheduling"]) == ("36864B", "pfabric")
    senders = {
        "kind": "pfabric",
        "initial_window": "12pkt",
        "max_window": "15pkt",
        "rto": "45us",
        "mss": "1460B",
        "header": "40B",
        "ack_size": "40B",
    }
    assert {key: found["transport"][key] for key in senders} == senders


def test_runs_have_the_reference_s_peculiarities(tmp_path):
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,size_bytes,start_ns\n0,1,1460,0\n", encoding="utf-8")
    found, plain = scenario_of(str(file)).resolved, Scenario.load("pfabric").resolved
    peculiar = {"probe_after": 0, "knows_receiver": True}
    assert found["transport"] == {**plain["transport"], **peculiar}
    peculiar = {"arrivals_first": True, "clocks": "exact"}
    assert found["topology"] == {**plain["topology"], **peculiar}
    assert all(found[section] == plain[section] for section in ("switch", "nic", "routing"))


@pytest.mark.parametrize("name", ["pfabric", "pfabric-yaps"])
def test_the_scenario_runs(name):
    result = spillway.run(name, set=["duration=1ms", "topology.clocks=exact"])
    assert result.status == "complete"
    flows = result.flows
    assert flows.num_rows > 30 and flows["fct_ps"].null_count == 0
    # None is faster than alone, and some are as fast, to the picosecond.
    ratios = []
    for flow in flows.to_pylist():
        in_rack = flow["src"] // 16 == flow["dst"] // 16
        ratios.append(flow["fct_ps"] / (1000 * alone(flow["size_bytes"] // 1460, in_rack=in_rack)))
    assert min(ratios) == 1
