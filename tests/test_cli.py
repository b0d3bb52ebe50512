"""The command line, end to end on a tiny scenario."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import spillway
from spillway import _core
from support import TINY, names, record, without_cost

STATISTICS = {"count", "unfinished", "with_timeout", "mean", "p50", "p95", "p99", "p99_9", "max"}


def test_run_prints_a_table(command):
    outcome = command("run", TINY)
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "tiny  seed 7  complete"
    shown = {line.split()[0]: line for line in lines if line.strip()}
    for name in ("short", "incast", "all", "queries", "background", "leaf", "drops", "speed"):
        assert name in shown, name
    assert "~" in shown["incast"], "few samples are flagged"
    assert not names(), "without --out nothing is written"


def test_run_prints_json_and_nothing_else(command):
    outcome = command("run", TINY, "--json")
    assert outcome.status == 0
    assert outcome.json["scenario"] == "tiny"
    assert "tiny  seed 7  complete" in outcome.err


def test_the_summary_has_what_it_promises(command):
    summary = command("run", TINY, "--json").json
    assert list(summary)[:3] == ["status", "scenario", "seed"]
    assert set(summary) >= {
        "status", "scenario", "seed", "version", "simulated_s", "flows", "fct_slowdown", "fct_us",
        "query_us", "buffer_occupancy", "goodput_gbps", "load", "drops", "marks", "sharing_counts",
        "retransmitted_packets", "timeouts", "events", "packet_hops", "run",
    }  # fmt: skip
    assert set(summary["flows"]) == {"started", "completed"}
    classes = {"short", "medium", "long", "incast", "all", "background", "queries"}
    for table in ("fct_slowdown", "fct_us"):
        assert set(summary[table]) == classes
        assert all(set(row) >= STATISTICS for row in summary[table].values())
    assert set(summary["buffer_occupancy"]) >= {"mean", "p99", "p99_99", "max", "by_tier"}
    assert set(summary["buffer_occupancy"]["by_tier"]) == {"leaf", "spine"}
    assert set(summary["load"]) >= {"offered", "realised", "on_wire"}
    assert set(summary["run"]) == {"threads", "cpu_s", "wall_s", "peak_rss_mb", "began"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", summary["run"]["began"])
    assert 0 < summary["run"]["cpu_s"] < 60 and summary["run"]["peak_rss_mb"] > 1
    assert summary["version"] == _core.__version__


def test_run_writes_a_folder(command, tmp_path):
    outcome = command("run", TINY, "--out", "deep/out", "--json")
    folder = tmp_path / "deep" / "out"
    assert names(folder) == [
        "SHA256SUMS", "drops.parquet", "flows.parquet", "queues.parquet", "scenario.toml",
        "summary.json", "switches.parquet",
    ]  # fmt: skip
    assert (folder / "summary.json").read_text() == outcome.out
    again = command("run", folder, "--json")
    assert without_cost(again.json) == without_cost(outcome.json)


def test_options_become_keys_of_the_scenario(command, tmp_path):
    outcome = command(
        "run", TINY, "--seed", 3, "--out", "out", *record(
            windows="[0, 2]", decisions=50, decisions_switch="leaf1", decisions_port=4
        ),
    )  # fmt: skip
    assert outcome.status == 0
    result = spillway.Result.load(tmp_path / "out")
    assert result.summary["seed"] == 3
    decisions = result.decisions
    assert decisions.num_rows == 50
    assert set(decisions["switch"].to_pylist()) == {"leaf1"}
    assert set(decisions["port"].to_pylist()) == {4}
    assert set(result.windows["flow_id"].to_pylist()) <= {0, 2}
    by_number = command("run", TINY, *record(decisions=5, decisions_switch=1), "--out", "number")
    assert (by_number.status, by_number.err) == (0, "")


def test_decisions_of_one_flow_and_one_queue(command, tmp_path):
    command("run", TINY, "--out", "a", *record(decisions=9, decisions_flow=1))
    assert set(spillway.Result.load("a").decisions["flow_id"].to_pylist()) == {1}
    command("run", TINY, "--out", "b", *record(decisions=9, decisions_queue=0))
    assert set(spillway.Result.load("b").decisions["queue"].to_pylist()) == {0}


def test_a_switch_goes_by_the_name_that_a_graph_gives_it(command, tmp_path):
    Path("graph.toml").write_text("""
        duration = "100us"
        traffic = [{ name = "a", kind = "permutation", size = "9KB" }]
        [topology]
        kind = "graph"
        switch = [{ name = "left" }, { name = "right" }]
        host = [
            { name = "x", switch = "left", rate = "1Gbps", delay = "1us" },
            { name = "y", switch = "right", rate = "1Gbps", delay = "1us" },
        ]
        link = [{ a = "left", b = "right", rate = "1Gbps", delay = "1us" }]
    """)
    asked = record(decisions=5, decisions_switch="right")
    assert command("run", "graph.toml", *asked, "--out", "out").status == 0
    decisions = spillway.Result.load(tmp_path / "out").decisions
    assert set(decisions["switch"].to_pylist()) == {"leaf1"}
    assert spillway.Scenario.load("out").resolved["record"]["decisions_switch"] == 1


def test_tables_that_come_out_empty_are_noted(command):
    asked = record(decisions=5, decisions_flow=99_999, windows="[99999]")
    outcome = command("run", TINY, *asked, "--out", "out", "--json")
    assert outcome.status == 0 and outcome.json["status"] == "complete"
    notes = [line for line in outcome.err.splitlines() if line.startswith("note:")]
    assert notes == [
        "note: nothing to record for decisions: out/decisions.parquet has no rows",
        "note: nothing to record for windows: out/windows.parquet has no rows",
    ]
    several = command("run", TINY, *record(windows="[99999]"), "--seeds", "1,2", "--out", "several")
    assert several.status == 0
    (note,) = several.err.splitlines()
    assert note.startswith("note: nothing to record for windows: several/runs/")
    assert note.endswith("/windows.parquet has no rows, nor have those of 1 more")


def test_several_seeds_have_a_folder_each(command, tmp_path):
    outcome = command("run", TINY, "--seeds", "1..3", "--jobs", 2, "--out", "out", "--json")
    assert outcome.status == 0
    (variant,) = outcome.json["variants"]
    assert variant["seeds"] == [1, 2, 3]
    assert names(tmp_path / "out") == ["experiment.json", "results", "runs", "runs.parquet"]
    assert variant["folders"] == [f"out/runs/seed-{seed}" for seed in (1, 2, 3)]
    alone = command("run", TINY, "--seed", 2, "--json")
    assert without_cost(variant["runs"][1]) == without_cost(alone.json)


def test_one_of_several_seeds_is_an_ordinary_run(command, tmp_path):
    assert command("run", TINY, "--seeds", "5", "--json").json["seed"] == 5


def test_compare_puts_variants_side_by_side(command, tmp_path):
    outcome = command("compare", TINY, "--vary", "switch.sharing=dt,lqd", "--plot", "plot.png")
    assert outcome.status == 0
    labels = [word for word in outcome.out.split() if word.startswith("sharing=")]
    assert labels == ["sharing=dt", "sharing=lqd"]
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_several_varies_multiply(command, tmp_path):
    vary = ["--vary", "switch.sharing=dt,lqd", "--vary", "switch.buffer=40KB,80KB"]
    outcome = command("compare", TINY, *vary, "--seeds", "1,2", "--out", "out", "--json")
    variants = outcome.json["variants"]
    assert [variant["set"] for variant in variants] == [
        ["switch.sharing=dt", "switch.buffer=40KB"],
        ["switch.sharing=dt", "switch.buffer=80KB"],
        ["switch.sharing=lqd", "switch.buffer=40KB"],
        ["switch.sharing=lqd", "switch.buffer=80KB"],
    ]
    assert all(len(variant["runs"]) == 2 for variant in variants)
    result = spillway.load("out").results[2][1][1]
    assert without_cost(result.summary) == without_cost(variants[2]["runs"][1])
    assert 'kind = "lqd"' in result.scenario and 'buffer = "40KB"' in result.scenario


def test_show_tells_every_value_and_what_follows(command):
    outcome = command("show", TINY)
    assert outcome.status == 0
    for text in ("base RTT  25.2 us", "dupthresh = 3", "oversubscription 4", "60 KB"):
        assert text in outcome.out, text
    assert outcome.out.splitlines()[0] == "# hosts     8 at 10 Gbps"
    document = command("show", TINY, "--set", "switch.sharing=lqd", "--json").json
    assert document["scenario"]["switch"]["sharing"]["kind"] == "lqd"
    assert document["facts"]["hosts"] == 8


@pytest.mark.parametrize("name", ["tiny", "long " * 100, 'a "b"', "\u202e\x1b[0m", "\u202e'\"\\"])
@pytest.mark.parametrize("width", [40, 140])
def test_what_show_prints_is_the_same_scenario(command, monkeypatch, name, width):
    Path("given.toml").write_text(TINY.read_text().replace('"tiny"', json.dumps(name)))
    monkeypatch.setenv("COLUMNS", str(width))
    Path("shown.toml").write_text(command("show", "given.toml").out)
    given, shown = (spillway.Scenario.load(f"{each}.toml") for each in ("given", "shown"))
    assert shown.resolved == given.resolved and given.resolved["name"] == name
    assert shown.read().resolved == given.read().resolved


@pytest.mark.parametrize("name", ["show", "run"])
def test_a_load_that_hosts_cannot_carry_is_warned_of(command, name):
    # 6 times 10 Gbps of uplink at each leaf of 4 hosts of 10 Gbps: 15.5 Gbps each, with headers.
    short = ["--set", "duration=10us", "--set", "stop=11us", "--set", "traffic.queries="]
    outcome = command(name, TINY, *short, "--set", "traffic.background.load=6")
    assert outcome.status == 0
    told = outcome.err.replace("\n", " ")
    for verb in ("send", "receive"):
        text = f"8 hosts are to {verb} 124.309 Gbps together, headers included, and their lines"
        assert f"warning: traffic.background: {text} carry 80 Gbps" in told
    assert "124.309 Gbps are to go to other racks, headers included, and the uplinks" in told
    fits = command(name, TINY, *short, "--set", "traffic.background.load=0.96")
    assert (fits.status, fits.err) == (0, "")


def test_a_load_that_only_uplinks_cannot_carry_is_warned_of(command):
    outcome = command("show", TINY, "--set", "traffic.background.load=1.7")
    told = outcome.err.replace("\n", " ")
    assert "to go to other racks, headers included, and the uplinks carry 20 Gbps" in told
    assert "hosts are to" not in told
    # A rack with a load of 1.7 while the other sends nothing: both uplinks together would do.
    one = ("--set", "traffic.background.senders=0..3", "--set", "traffic.queries=")
    outcome = command("show", TINY, "--set", "traffic.background.load=1.7", *one)
    told = outcome.err.replace("\n", " ")
    assert "traffic.background: leaf0 is to send 17.6" in told
    assert "to other racks, headers included, and its uplinks carry 10 Gbps, and one other" in told
    assert "and the uplinks carry" not in told


def test_a_least_timeout_of_hundreds_of_base_rtts_is_shown(command):
    shown = command("show", TINY, "--set", "transport.recovery.min_rto=10ms").out
    assert "min_rto is 10.0 ms, 397 base RTTs: a loss that only a" in " ".join(shown.split())
    assert "base RTTs" not in command("show", TINY).out


def test_warnings_go_to_standard_error(command):
    Path("own.toml").write_text(f"{TINY.read_text()}\n[switch.leaf]\nsharing = 'lqd'\n")
    outcome = command("run", "own.toml", "--set", "switch.sharing=cs", "--json")
    assert outcome.status == 0 and outcome.json
    assert outcome.err.startswith("warning: switch.sharing is set, but not for the leaf tier")
    assert outcome.err.count("warning:") == 1
    both = ["--set", "switch.leaf.sharing=lqd", "--set", "switch.sharing=cs"]
    assert "warning:" not in command("run", TINY, *both, "--json").err


@pytest.mark.parametrize("kept", [[], ["--out", "out"]])
def test_every_warning_of_a_comparison_comes_once(command, kept):
    short = ("--set", "duration=100us", "--set", "stop=1ms")
    told = command("compare", "five", *short, "--vary", "switch.sharing=dt,cbm,lqd", *kept).err
    found = [line for line in told.splitlines() if line.startswith("warning:")]
    assert [line[:27] for line in found] == [
        "warning: switch.aqm: under ",
        "warning: switch.sharing: CB",
    ]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_flows_that_are_written_run_again_the_same(command, tmp_path, suffix):
    outcome = command("flows", TINY, "--out", f"list.{suffix}", "--json")
    assert outcome.status == 0
    written = outcome.json
    assert written["flows"] == sum(row["flows"] for row in written["classes"].values()) > 10
    text = TINY.read_text()
    begin = text.index("[[traffic]]")
    section = f'[[traffic]]\nname = "list"\nkind = "flows"\nfile = "list.{suffix}"\n\n'
    (tmp_path / "again.toml").write_text(text[:begin] + section + text[text.index("[record]") :])
    first = command("run", TINY, "--out", "first")
    again = command("run", "again.toml", "--out", "again")
    assert first.status == again.status == 0
    for table in ("flows", "queues", "drops"):
        rows = [pq.read_table(tmp_path / run / f"{table}.parquet") for run in ("first", "again")]
        assert rows[0].to_pylist() == rows[1].to_pylist(), table


def test_csv_is_plain(command, tmp_path):
    command("flows", TINY, "--out", "list.csv")
    header, first, *_ = (tmp_path / "list.csv").read_text().splitlines()
    columns = "src,dst,size_bytes,start_ns,path,ack_path,class,priority,query_id,start_ps"
    assert header == columns
    assert ",,,background,,," in first or ",,,queries,,0," in first
    bounds = ("--set", "traffic.background.bound=exact")
    command("flows", TINY, *bounds, "--out", "bounds.csv")
    header, *rows = (tmp_path / "bounds.csv").read_text().splitlines()
    assert header == f"{columns},bound_bytes"
    background = [row.split(",") for row in rows if ",background," in row]
    assert background and all(row[2] == row[-1] for row in background)
    (tmp_path / "bounds.csv").unlink()
    named = command("flows", TINY, "--set", "traffic.queries.name=a,b", "--out", "named.csv")
    assert named.status == 0
    with (tmp_path / "named.csv").open(newline="") as file:
        assert {row["class"] for row in csv.DictReader(file)} == {"background", "a,b"}
    assert names(tmp_path) == ["list.csv", "named.csv"]


def test_help_needs_no_heavy_module():
    code = (
        "import sys\n"
        "from spillway import cli\n"
        "cli.invoke(['--help'])\n"
        "heavy = {'matplotlib', 'numpy', 'pyarrow'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("run", "compare", "show", "list", "flows"):
        assert name in done.stdout


def test_the_help_begins_with_what_is_needed_first(command):
    told = [line.split()[1:2] for line in command("--help").out.splitlines()]
    names = ["run", "compare", "show", "list", "flows", "report", "reproduce", "oracle", "slotted"]
    names += ["fluid"]
    places = [told.index([name]) for name in names]
    assert places == sorted(places)


def test_no_command_prints_the_help_and_version_the_version(command):
    assert "Usage: spillway" in command().out
    assert command("--version").out == f"spillway {_core.__version__}\n"
