"""What people get wrong: each has its message, its hint and its exit status."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.main import get_command

import spillway
from spillway import cli
from support import TINY, names, record

LONG = ["--set", "duration=100s", "--set", "stop=200s"]


def refused(outcome, error: str, hint: str, status: int = 2) -> None:
    """Checks an error's form: what is wrong, an empty line, what helps, and no more."""
    assert outcome.status == status
    assert outcome.out == ""
    text, _, helps = outcome.err.partition("\n\nhint: ")
    assert text.startswith("error: "), outcome.err
    assert error in f"{text}\n", outcome.err
    assert hint in helps, outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("assignment", "error", "hint"),
    [
        ("switch.bufer=1MB", "switch.bufer: unknown key", "did you mean `buffer`?"),
        ("durations=1s", "durations: unknown key", "did you mean `duration`?"),
        ("switch.sharing.alfa=1", "switch.sharing.alfa: unknown key", "did you mean `alpha`?"),
        ("topology.link_delay=3 parsecs", 'topology.link_delay: "3 parsecs" is not valid', "`"),
        ("topology.host_rate=10", "topology.host_rate: 10 is not valid; expected a rate", "`"),
        (
            "topology.host_rate=9Tbps",
            'topology.host_rate: "9Tbps" is not valid; expected a rate from 8bps to 8Tbps',
            "`",
        ),
        (
            "traffic.background.load=-1",
            "traffic.background.load: -1 is not valid; expected a number in (0, inf)\n",
            "`",
        ),
        (
            "traffic.background.load=[0.5]",
            "traffic.background.load: [0.5] is not valid; expected a number in (0, inf)\n",
            "`",
        ),
        (
            "traffic.background.transport.kind=hpcc",
            'traffic.background.transport: { kind = "hpcc" } is not valid; expected the id of a',
            "it is written `traffic.background.transport=hpcc`, and keys of this transport "
            "`traffic.background.KEY`",
        ),
        (
            "traffic.background.transport=7",
            "traffic.background.transport: 7 is not valid; expected the id of a transport",
            "`traffic.background.transport=dctcp`",
        ),
        (
            "traffic.background.transport=dctpc",
            'traffic.background.transport: "dctpc" is not known; expected one of dctcp, newreno, '
            "cubic, theta-powertcp, powertcp, hpcc, timely, dcqcn, dctcp-rdma, pfabric, udp",
            "did you mean `dctcp`?",
        ),
        ("transport.mss=-1448B", 'transport.mss: "-1448B" must not be negative; expected', "`"),
        ("switch.buffer=-5", "switch.buffer: -5 is not valid; expected a size", "`"),
        ("switch.sharing=dtt", 'switch.sharing: "dtt" is not known; expected', "mean `dt`?"),
        (
            "switch.sharing.alpha=-1",
            "-1 is not valid; expected a number in (0, inf)",
            "list sharing",
        ),
        ("transport.kind=dctpc", "transport.kind", "did you mean `dctcp`?"),
        ("traffic.background.kind=poison", "traffic.background.kind", "did you mean `poisson`?"),
        ("traffic.background.destinations=99", "99 is not a host; there are 8, from 0 to 7", "`"),
        ("traffic.queries.fan_in=40", "traffic.queries.fan_in", "`"),
        ("traffic.backgroud.load=1", "there is no traffic called", "background, queries"),
        ("topology.kind=leafspine", "topology.kind", "did you mean `leaf-spine`?"),
        ("warmup=1s", "warmup: 1s is not before duration = 4ms", "`"),
        ("load", '"load" is not of the form key=value', "`"),
    ],
)
def test_a_wrong_key_or_value(command, assignment, error, hint):
    refused(command("run", TINY, "--set", assignment), error, hint)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            {"decisions_port": 77},
            "record.decisions_port: 77 is not a port of any switch; there are 5, from 0 to 4",
        ),
        (
            {"decisions_port": 4, "decisions_switch": "spine0"},
            "record.decisions_port: 4 is not a port of spine0; there are 2, from 0 to 1",
        ),
        (
            {"decisions_queue": 9},
            "record.decisions_queue: 9 is not a queue of a port of any switch; there is only 0",
        ),
        (
            {"decisions_switch": 99},
            "record.decisions_switch: 99 is not a switch; there are 3, from 0 to 2",
        ),
        ({"decisions_switch": 3}, "record.decisions_switch: 3 is not a switch"),
    ],
)
def test_nothing_is_recorded_of_what_is_not_there(command, options, error):
    outcome = command("run", TINY, "--out", "out", *record(decisions=5, **options))
    refused(outcome, error, "show")
    assert names() == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            {"decisions": 5, "decisions_flow": 13},
            "record.decisions_flow: 13 is not a flow; there are 13 at most, numbered from 0",
        ),
        ({"windows": [0, 99]}, "record.windows: 99 is not a flow; there are 13 at most"),
    ],
)
def test_nothing_is_recorded_of_a_flow_that_no_seed_makes(command, options, error):
    bounded = ["--set", "traffic.background.flows=5", "--set", "traffic.queries.queries=2"]
    options = record(**options)
    refused(command("run", TINY, "--out", "out", *bounded, *options), error, "show")
    options = [option.replace("13", "4").replace("99", "4") for option in options]
    assert command("run", TINY, "--out", "out", *bounded, *options).status == 0


@pytest.mark.parametrize("name", ["run", "show", "flows", "compare"])
def test_every_command_refuses_alike(command, name):
    more = {"flows": ["--out", "f.csv"], "compare": ["--vary", "seed=1,2"]}.get(name, [])
    outcome = command(name, TINY, "--set", "switch.bufer=1MB", *more)
    refused(outcome, "switch.bufer: unknown key", "did you mean `buffer`?")


def test_a_file_that_is_not_toml(command, tmp_path):
    (tmp_path / "bad.toml").write_text("duration = \n")
    refused(command("run", "bad.toml"), "TOML parse error at line 1", "show")
    (tmp_path / "open.toml").write_text('name="x\n')
    for source in ("open.toml", tmp_path / "open.toml"):
        for name in ("run", "show"):
            outcome = command(name, source, "--set", "seed=2")
            refused(outcome, f"error: {source} is not TOML: TOML parse error at line 1", "show")
    with pytest.raises(spillway.ScenarioError) as raised:
        spillway.Scenario.of(tmp_path / "open.toml").read()
    assert raised.value.kind == "file"
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "scenario.toml").write_text("duration\n")
    refused(command("run", "result"), "error: result/scenario.toml is not TOML: ", "show")


def test_a_text_that_is_not_toml_has_no_name():
    with pytest.raises(spillway.ScenarioError, match=r"^this is not TOML: TOML") as raised:
        spillway.Scenario.of("duration = \n").read()
    assert raised.value.kind == "wrong-value"


def test_a_file_that_is_not_there(command):
    refused(command("run", "nowhere/some.toml"), "there is no scenario nowhere/some.toml", "list")
    refused(command("run", "credenc"), "there is no scenario credenc", "did you mean `credence`")


def test_a_distribution_that_is_not_monotone(command, tmp_path):
    (tmp_path / "sizes.txt").write_text("10 0\n30 0.6\n20 1\n")
    (tmp_path / "s.toml").write_text(TINY.read_text().replace("hadoop-hpcc", "sizes.txt"))
    error = "sizes.txt: line 3: the size 20 is below the one before it, 30"
    refused(command("run", "s.toml"), error, "list traffic")
    (tmp_path / "sizes.txt").write_text("10 0\n20 0.6\n30 0.5\n40 1\n")
    error = "sizes.txt: line 3: the probability 0.5 is below the one before it, 0.6"
    refused(command("run", "s.toml"), error, "list traffic")


def test_a_distribution_that_is_not_there(command):
    assignment = "traffic.background.sizes=my.txt"
    refused(command("run", TINY, "--set", assignment), "cannot read", "list traffic")
    assignment = "traffic.background.sizes=webserach"
    refused(command("run", TINY, "--set", assignment), "webserach", "did you mean `websearch`?")


def test_a_folder_that_is_there(command, tmp_path):
    assert command("run", TINY, "--out", "out").status == 0
    before = (tmp_path / "out" / "summary.json").stat()
    refused(command("run", TINY, "--out", "out"), "out is there already", "--force")
    assert (tmp_path / "out" / "summary.json").stat() == before
    assert command("run", TINY, "--out", "out", "--seed", "9", "--force").status == 0
    assert spillway.Result.load("out").summary["seed"] == 9
    assert names() == ["out"]


def test_force_replaces_results_only(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    refused(command("run", TINY, "--out", "mine", "--force"), "mine is not a result", "earlier run")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    (tmp_path / "other.partial").mkdir()
    refused(command("run", TINY, "--out", "other"), "other.partial is there already", "move it")


def test_a_list_of_flows_that_is_there(command, tmp_path):
    assert command("flows", TINY, "--out", "f.csv").status == 0
    refused(command("flows", TINY, "--out", "f.csv"), "f.csv is there already", "--force")
    assert command("flows", TINY, "--out", "f.csv", "--force").status == 0
    refused(command("flows", TINY, "--out", "f.xls"), "neither Parquet nor CSV", ".parquet")


@pytest.mark.parametrize(
    "arguments",
    [
        ["flows", TINY, "--out", "nowhere/f.csv"],
        ["flows", TINY, "--out", "nowhere/f.parquet", "--force"],
        ["compare", TINY, *LONG, "--vary", "seed=1,2", "--plot", "nowhere/x.png"],
    ],
)
def test_a_file_in_a_folder_that_is_not_there(command, arguments):
    """It is told at once: the comparison would take minutes."""
    refused(command(*arguments), "there is no folder nowhere", "make it first")
    assert names() == []


def test_a_file_where_a_folder_is(command, tmp_path):
    (tmp_path / "x.png").mkdir()
    (tmp_path / "f.csv").mkdir()
    plot = ["compare", TINY, *LONG, "--vary", "seed=1,2", "--plot", "x.png"]
    refused(command(*plot), "x.png is a folder", "a name of its own")
    flows = ["flows", TINY, "--out", "f.csv", "--force"]
    refused(command(*flows), "f.csv is a folder", "a name of its own")


@pytest.mark.parametrize("key", ["decisions", "windows"])
def test_a_table_without_a_folder_to_go_to(command, key):
    for seeds in ([], ["--seeds", "1,2"]):
        outcome = command(
            "run", TINY, *LONG, *record(**{key: 5 if key == "decisions" else [0]}), *seeds
        )
        refused(
            outcome, f"{key} would not be kept: tables go into the folder of --out", "--out DIR"
        )


def test_what_is_wrong_but_no_scenario_gets_no_hint_about_scenarios(command, monkeypatch):
    def load(_: object) -> None:
        raise spillway.ScenarioError("something else")

    monkeypatch.setattr(spillway.Scenario, "load", load)
    outcome = command("run", TINY)
    assert (outcome.status, outcome.err) == (2, "error: something else\n")


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["rnu"], "No such command 'rnu'", "`spillway --help`"),
        (["run"], "Missing argument", "`spillway run --help`"),
        (["run", TINY, "--sead", "1"], "No such option: --sead", "`spillway run --help`"),
        (
            ["run", TINY, "--seed", "one"],
            "'--seed': 'one' is no whole number",
            "`spillway run --help`",
        ),
        (["run", TINY, "--seeds", "5..1"], "'5..1' is not a list of seeds", "--seeds 1..5"),
        (["run", TINY, "--seeds", "1", "--seed", "1"], "are both there", "one of them"),
        (["run", TINY, *record(windows="a")], "expected a list of flow numbers", "show"),
        (["run", TINY, *record(decisions_switch="laef0")], 'there is no "laef0"', "leaf0"),
        (["run", TINY, "--jobs", "0", "--seeds", "1..2"], "--jobs", "`spillway run --help`"),
        (["run", TINY, *record(decisions_port=1)], "decisions_port: it needs `decisions`", "show"),
        (["compare", TINY], "Missing option '--vary'", "`spillway compare --help`"),
        (["compare", TINY, "--vary", "switch.sharing"], "key=value,value", "switch.sharing=dt"),
        (["compare", TINY, "--vary", "seed=,"], "key=value,value", "switch.sharing=dt"),
        (["compare", TINY, "--vary", "seed=1,2", "--vary", "seed=3"], "varied twice", "at once"),
        (
            ["compare", TINY, "--vary", "switch.sharing=dt,lqd/switch.aqm=none,ecn,red"],
            "have as many values each, but switch.sharing has 2 and switch.aqm has 3",
            "varied apart",
        ),
        (["compare", TINY, "--vary", "seed=1,2/name="], "key=value,value", "switch.sharing=dt"),
        (
            ["compare", TINY, "--vary", "seed=1,2", "--seeds", "3..4"],
            "seed is varied, and there are seeds besides",
            "one of them",
        ),
        (
            ["compare", TINY, "--vary", "switch.sharing=dt,lqd, dt"],
            "switch.sharing is dt twice",
            "run once",
        ),
        (
            ["compare", TINY, "--vary", "traffic.background.load=0.5,0.50"],
            "load=0.5 and load=0.50 are the same scenario",
            "run once",
        ),
        (["run", TINY, "--set", "name=a\nseed=3"], "has a line break in it", "one key=value"),
        (["run", TINY, "--seeds", "1..99999999999"], "too many seeds", "1,000,000 are the most"),
        (["compare", TINY, "--vary", "seed=1", "--plot", "x.bmp"], "x.bmp is not a figure", ".png"),
        (
            ["compare", TINY, "--vary", "seed=1", "--metrics", "drops,backgruond.p99"],
            "there is no metric 'backgruond.p99'",
            "did you mean `background.p99`?",
        ),
        (
            ["compare", TINY, "--vary", "seed=1", "--metrics", "zzz"],
            "there is no metric 'zzz'",
            "for one: short.p99,",
        ),
        (
            ["compare", TINY, "--vary", "seed=1", "--metrics", ""],
            "there is no metric ''",
            "for one",
        ),
        (["list", "shaing"], "nothing to list called 'shaing'", "did you mean `sharing`?"),
    ],
)
def test_a_wrong_command_line(command, arguments, error, hint):
    refused(command(*arguments), error, hint)


def test_the_disk_is_full(command, tmp_path, monkeypatch):
    def write_table(self: pq.ParquetWriter, *_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "flows.parquet")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", write_table)
    outcome = command("run", TINY, "--out", "out")
    refused(outcome, "No space left on device", "room on the disk", status=1)
    assert names() == []


def test_the_disk_is_full_when_a_figure_is_drawn(command, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def savefig(self: Figure, file: Path, **_: object) -> None:
        file.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.png")

    monkeypatch.setattr(Figure, "savefig", savefig)
    (tmp_path / "x.png").write_text("of an earlier run")
    outcome = command("compare", TINY, "--vary", "seed=1,2", "--plot", "x.png")
    assert outcome.status == 1 and "No space left on device" in outcome.err
    assert names() == ["x.png"] and (tmp_path / "x.png").read_text() == "of an earlier run"


def test_no_file_may_grow(tmp_path):
    """As a full disk does, this fails within the writer, and again when it is closed."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    command = [sys.executable, "-m", "spillway", "run", TINY, "--out", "out"]
    done = subprocess.run(
        command, cwd=tmp_path, preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr
    assert names(tmp_path) == []


def wait_for(process: subprocess.Popen, partial: Path) -> None:
    """Waits until a run has its partial folder and has been at work for a while."""
    deadline = time.monotonic() + 60
    while not (partial / "INCOMPLETE").is_file() or cpu_seconds(process) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run has not begun within a minute"
        time.sleep(0.02)


def cpu_seconds(process: subprocess.Popen) -> float:
    """What a process has used of its processors, its imports (half a second) counted."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_killed_run_leaves_nothing_that_looks_whole(start, command, tmp_path):
    process = start("run", TINY, *LONG, "--out", "out")
    partial = tmp_path / "out.partial"
    wait_for(process, partial)
    process.kill()
    process.communicate()
    assert not (tmp_path / "out").exists()
    assert not (partial / "summary.json").exists()
    assert (partial / "INCOMPLETE").is_file()
    assert command("run", TINY, "--out", "out").status == 0
    assert names(tmp_path) == ["out"]


def test_two_runs_do_not_write_to_one_place(start, command, tmp_path):
    wait_for(start("run", TINY, *LONG, "--out", "out"), tmp_path / "out.partial")
    refused(command("run", TINY, "--out", "out"), "another run is writing to out.partial", "--out")


def interrupted(
    process: subprocess.Popen, partial: Path, number: int = signal.SIGINT
) -> tuple[str, str]:
    wait_for(process, partial)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    return out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_run_with_what_there_is(start, tmp_path, number):
    process = start("run", TINY, *LONG, "--out", "out", "--json")
    interrupted(process, tmp_path / "out.partial", number)
    result = spillway.Result.load(tmp_path / "out")
    assert result.status == "interrupted"
    assert result.flows.num_rows == result.summary["flows"]["started"] > 0
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_sweep_with_what_there_is(start, tmp_path, number):
    vary = ["--vary", "switch.sharing=dt,lqd", "--seeds", "1..9", "--jobs", "2"]
    process = start("compare", TINY, *LONG, *vary, "--out", "out", "--json")
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "results" / "claims").is_dir() or cpu_seconds(process) < 2:
        assert time.monotonic() < deadline
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err
    # No run is whole yet, and what is not whole is in no mean.
    found = json.loads(out)
    assert (found["status"], found["done"], found["asked"]) == ("interrupted", 0, 18)
    assert spillway.load(tmp_path / "out").done == 0


def options(command, names=()):
    """All options of a command and of those below it, with the names of their commands."""
    yield from ((names, option) for option in command.params)
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, (*names, name))


NUMBERS = {
    f"{' '.join(names)} {option.opts[0]}": ([*names, option.opts[0]], kind)
    for names, option in options(get_command(cli.app))
    if (kind := option.type_descriptor.annotation) in (int, float)
}


def test_options_of_all_commands_take_numbers_in_plain_digits_alone(command):
    assert {"run --seed", "acc train --gamma", "slotted table1 --seeds"} < {*NUMBERS}
    for arguments, kind in NUMBERS.values():
        done = command(*arguments, "1_000")
        what = "whole number" if kind is int else "number"
        assert done.status == 2 and f"'{arguments[-1]}'" in done.err
        assert f": '1_000' is no {what}\n" in done.err


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [(["run", TINY, "--jobs"], ["3.0", "1e1", "0x3"]), (["fluid", "--g"], ["0x3", "1,5"])],
)
def test_digits_are_plain(command, arguments, texts):
    others = ["\N{ARABIC-INDIC DIGIT THREE}", "\N{FULLWIDTH DIGIT THREE}", " 3", "3\n", "", "x"]
    for text in [*others, *texts]:
        assert f"{text!r} is no " in command(*arguments, text).err
