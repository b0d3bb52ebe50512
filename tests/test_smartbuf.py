"""Smartbuf over the Python API: what it learns is recorded, and another run begins with it."""

import pyarrow as pa
import pytest

import spillway
from spillway.base import parquet

SCENARIO = {
    "duration": "2ms",
    "stop": "200ms",
    "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 8},
    "switch": {
        "buffer": "200KB",
        "sharing": "dt",
        "leaf": {"sharing": {"kind": "smartbuf", "sigma": 10.0}},
    },
    "transport": {"kind": "dctcp", "initial_window": "flow"},
    "traffic": [
        {
            "name": "incast",
            "kind": "incast",
            "interval": "500us",
            "sizes": "5KB..20KB",
            "fan_in": "4..8",
            "receivers": [0, 9],
        }
    ],
    "record": {"bursts": "10%"},
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return spillway.run(SCENARIO, out=tmp_path_factory.mktemp("trained") / "run")


def test_what_it_has_learned_is_there_at_the_end(trained):
    history = trained.history.to_pylist()
    assert {row["switch"] for row in history} == {"leaf0", "leaf1"}
    counts = trained.summary["sharing_counts"]["leaf"]
    assert counts["entries"] == len(history) > 2
    switches = [row["switch"] for row in history]
    assert counts["most_entries"] == max(switches.count(name) for name in set(switches))
    bursts = trained.bursts.to_pylist()
    at_leaves = [row for row in bursts if row["switch"].startswith("leaf")]
    assert counts["bursts"] == sum(row["end_ps"] is not None for row in at_leaves)
    # What a burst came to is the most of those with its gradient.
    for entry in history:
        peaks = [row["peak_bytes"] for row in at_leaves if row["switch"] == entry["switch"]]
        assert entry["bytes"] in peaks


def test_a_run_begins_with_what_another_has_learned(trained, tmp_path):
    key = "switch.leaf.sharing.history"
    again = tmp_path / "again"
    result = spillway.run(SCENARIO, set=[f"{key}={trained.folder}"], out=again)
    first, known = trained.bursts.to_pylist()[0], result.bursts.to_pylist()[0]
    # Without it the first burst of all finds thresholds of 0.5 (B - Q).
    assert first["first_threshold_bytes"] < 100_000
    assert known["first_threshold_bytes"] in {
        sum(some) // len(some) for some in _neighbours(trained.history, known["switch"])
    }
    # The result has its own copy, and is the same again.
    assert (again / "inputs").is_dir()
    repeated = spillway.run(again)
    assert repeated.flows.equals(result.flows)
    assert (
        spillway.run(SCENARIO, set=[f"{key}={trained.folder}/history.parquet"]).flows
        == result.flows
    )


def _neighbours(history, switch):
    """All up to three neighbours of the history of a switch."""
    rows = sorted(
        (row["gradient_bps"], row["bytes"])
        for row in history.to_pylist()
        if row["switch"] == switch
    )
    sizes = [size for _, size in rows]
    largest = max(sizes)
    return [sizes[place : place + 3] for place in range(len(sizes))] + [[largest]]


def test_a_history_of_no_switch_is_for_all(trained, tmp_path):
    file = tmp_path / "all.parquet"
    parquet.write(pa.table({"gradient_bps": [1e9], "bytes": [123_456]}), file)
    result = spillway.run(SCENARIO, set=[f"switch.leaf.sharing.history={file}"])
    first = {}
    for row in result.bursts.to_pylist():
        if row["switch"].startswith("leaf"):
            first.setdefault(row["switch"], row["first_threshold_bytes"])
    assert first == {"leaf0": 123_456, "leaf1": 123_456}


def test_what_a_burst_wanted_may_be_more_than_any_buffer(tmp_path):
    overload = {
        "name": "overload",
        "duration": "800ms",
        "topology": {"kind": "star", "hosts": 4, "host_rate": "100Gbps"},
        "switch": {
            "buffer": "4MB",
            "sharing": {"kind": "smartbuf", "record": "admitted+dropped"},
        },
        "transport": {"kind": "udp", "mss": "8948B", "rate": "100Gbps"},
        "traffic": [
            {
                "name": "all",
                "kind": "incast",
                "burst": "7.5GB",
                "fan_in": 3,
                "senders": "any",
                "receivers": [0],
                "queries": 1,
                "queries_per_host_per_s": 1000.0,
            }
        ],
    }
    result = spillway.run(overload, out=tmp_path / "first")
    (wanted,) = result.history["bytes"].to_pylist()
    assert wanted > 2**32
    again = {**overload, "duration": "10ms"}
    run = spillway.run(again, set=[f"switch.sharing.history={tmp_path / 'first'}"])
    assert wanted in run.history["bytes"].to_pylist()


def test_a_history_may_be_empty(tmp_path):
    file = tmp_path / "empty.parquet"
    parquet.write(pa.table({"gradient_bps": pa.array([], "f8"), "bytes": pa.array([], "u8")}), file)
    result = spillway.run(SCENARIO, set=[f"switch.leaf.sharing.history={file}"])
    assert result.flows == spillway.run(SCENARIO).flows


def test_what_is_no_history_is_refused(tmp_path):
    def refused(file):
        with pytest.raises(spillway.ScenarioError) as caught:
            spillway.run(SCENARIO, set=[f"switch.leaf.sharing.history={file}"])
        return str(caught.value)

    assert "there is no history" in refused(tmp_path / "none.parquet")
    text = tmp_path / "text.parquet"
    text.write_text("nothing of the kind")
    assert "cannot be read as Parquet" in refused(text)
    other = tmp_path / "other.parquet"
    parquet.write(pa.table({"bytes": [1]}), other)
    assert "it has no gradient_bps" in refused(other)
    for column, wrong in (
        ("gradient_bps", ["fast"]),
        ("bytes", ["many"]),
        ("bytes", [-5]),
        ("bytes", [2.7]),
        ("bytes", [None]),
        ("gradient_bps", [None]),
        ("gradient_bps", [float("nan")]),
        ("gradient_bps", [float("inf")]),
    ):
        good = {"gradient_bps": [1e9], "bytes": [1]}
        parquet.write(pa.table({**good, column: wrong}), other)
        assert f"is not a history of bursts: {column}" in refused(other), wrong
    elsewhere = tmp_path / "elsewhere.parquet"
    parquet.write(pa.table({"switch": ["leaf7"], "gradient_bps": [1e9], "bytes": [1]}), elsewhere)
    assert "there is no switch leaf7 here" in refused(elsewhere)


def test_ports_are_sampled_with_shares_of_classes():
    result = spillway.run(SCENARIO, set=["record.port_interval=50us", "record.port_switch=1"])
    ports, classes = result.ports, result.port_classes
    assert set(ports["switch"].to_pylist()) == {"leaf1"}
    assert sum(ports["bytes"].to_pylist()) == sum(classes["bytes"].to_pylist()) > 0
    assert set(classes["class"].to_pylist()) == {"incast"}
    assert None not in ports["threshold_bytes"].to_pylist()
