"""Lossless priorities as a user sees them: tables, the summary, and runs that a deadlock ends."""

import spillway
from spillway.experiment.asking import sweep

VICTIM = {
    "duration": "5ms",
    "topology": {
        "kind": "leaf-spine",
        "leaves": 2,
        "spines": 1,
        "hosts_per_leaf": 4,
        "host_rate": "10Gbps",
        "fabric_rate": "40Gbps",
        "link_delay": "1us",
    },
    "transport": {"kind": "newreno"},
    "switch": {"buffer": "600KB", "pfc": "dynamic"},
    "traffic": [
        {"name": "list", "kind": "flows", "file": "list.csv"},
    ],
    "record": {"pauses": True},
}

RING = """
name = "ring"
duration = "1ms"
stop = "2ms"
transport = { kind = "udp", rate = "10Gbps" }
switch = { buffer = "1MB", pfc = { kind = "static", threshold = "20KB" } }
record = { pauses = true }

[topology]
kind = "graph"
switch = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
host = [
  { name = "0", switch = "a", rate = "10Gbps", delay = "1us" },
  { name = "1", switch = "b", rate = "10Gbps", delay = "1us" },
  { name = "2", switch = "c", rate = "10Gbps", delay = "1us" },
  { name = "3", switch = "d", rate = "10Gbps", delay = "1us" },
]
link = [
  { a = "a", b = "b", rate = "10Gbps", delay = "1us" },
  { a = "b", b = "c", rate = "10Gbps", delay = "1us" },
  { a = "c", b = "d", rate = "10Gbps", delay = "1us" },
  { a = "d", b = "a", rate = "10Gbps", delay = "1us" },
]

[[traffic]]
name = "clockwise"
kind = "flows"
file = "list.csv"
"""
"""Every host sends two hops clockwise round a ring of four switches."""


def ring(tmp_path):
    (tmp_path / "list.csv").write_text(
        "src,dst,size_bytes,start_ns,path\n"
        + "".join(f"{h},{(h + 2) % 4},1000000,0,{int(h > 0)}\n" for h in range(4))
    )
    (tmp_path / "ring.toml").write_text(RING)
    return tmp_path / "ring.toml"


def test_a_deadlock_ends_a_run_with_status_1(command, tmp_path):
    outcome = command("run", ring(tmp_path), "--json", "--out", "out")
    assert outcome.status == 1
    assert outcome.json["status"] == "deadlock"
    assert "deadlock: ports pause each other for ever" in outcome.err
    ports = outcome.json["pauses"]["deadlock"]["ports"]
    assert [(port["switch"], port["port"]) for port in ports] == [
        ("leaf0", 1), ("leaf1", 2), ("leaf2", 2), ("leaf3", 2),
    ]  # fmt: skip
    # What was recorded is written: the four pauses that never end have no end.
    result = spillway.Result.load(tmp_path / "out")
    assert result.status == "deadlock"
    open_ones = [row for row in result.pauses.to_pylist() if row["end_ps"] is None]
    stuck = {(row["paused"], row["port"]) for row in open_ones if row["paused"].startswith("leaf")}
    assert stuck == {(port["switch"], port["port"]) for port in ports}
    # The table of a run names the status, too.
    shown = command("run", ring(tmp_path))
    assert (shown.status, "deadlock" in shown.out) == (1, True)


def test_a_deadlock_may_be_told_to_go_on(command, tmp_path):
    set = "switch.pfc.on_deadlock=continue"
    outcome = command("run", ring(tmp_path), "--json", "--set", set)
    assert (outcome.status, outcome.json["flows"]["completed"]) == (0, 0)
    assert outcome.json["pauses"]["deadlock"]["ports"]


def test_a_sweep_with_a_deadlock_has_its_status(tmp_path):
    vary = ["switch.pfc.threshold=20KB,300KB"]
    found = sweep(spillway.Scenario.load(ring(tmp_path)), vary=vary)
    assert found.status == "deadlock"


def test_pauses_have_a_table_that_agrees_with_the_summary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = 2_000_000
    rows = "".join(f"{src},{dst},{size},0\n" for src, dst in [(0, 4), (1, 4), (2, 4), (3, 5)])
    (tmp_path / "list.csv").write_text("src,dst,size_bytes,start_ns\n" + rows)
    result = spillway.run(VICTIM)
    rows = result.pauses.to_pylist()
    summary = result.summary["pauses"]
    assert len(rows) == summary["pauses"] > 0
    times = [row["end_ps"] - row["begin_ps"] for row in rows if row["end_ps"] is not None]
    assert len(times) == len(rows)
    assert abs(sum(times) * 1e-6 - summary["time_us"]) < 1e-3
    for tier in ("leaf", "spine", "host"):
        of_tier = [row for row in rows if row["paused"].startswith(tier)]
        assert len(of_tier) == summary["by_tier"][tier]["pauses"] > 0
    # Pauses reach from the leaf of the receivers to the spine, to the other leaf, and to hosts.
    pairs = {(row["by"], row["paused"]) for row in rows}
    assert {("leaf1", "spine0"), ("spine0", "leaf0"), ("leaf0", "host3")} <= pairs
    assert summary["lost_for_headroom"] == 0 and result.drops.num_rows == 0


def test_the_victim_of_the_bundled_scenario_is_slowed_by_pauses_alone(command):
    # As the page on scenarios has it; shorter.
    vary = ("--vary", "switch.pfc=none,dynamic", "--metrics", "goodput.victim,goodput.three")
    times = ("--set", "warmup=1ms", "--set", "duration=3ms", "--set", "stop=3ms")
    outcome = command("compare", "pfc-victim", *vary, *times)
    assert outcome.status == 0
    victim = spillway.Scenario.of("pfc-victim").set(*times[1::2])
    lossy, lossless = (
        spillway.run(victim.set(f"switch.pfc={pfc}")).summary["goodput_gbps"]
        for pfc in ("none", "dynamic")
    )
    # A host's 10 Gbps are 9.65 Gbps of payload in packets of 1,500 bytes: 1,448 of them.
    assert all(abs(goodput["three"] - 9.65) < 0.05 for goodput in (lossy, lossless))
    assert abs(lossy["victim"] - 9.65) < 0.05
    assert lossless["victim"] < 0.8 * lossy["victim"]
