"""`spillway fluid`."""

import json
from pathlib import Path

import pytest

from spillway.base import parquet
from support import names

QUICK = ("fluid", "--flows", "2,8", "--seeds", "1")


def test_it_prints_models_beside_packets(command):
    outcome = command(*QUICK, "--cuts", "paper,held", "--json")
    assert outcome.status == 0
    found = outcome.json
    assert (found["sender"], found["rate_gbps"], found["g"]) == ("dctcp", 10, 0.0625)
    two, eight = found["points"]
    assert (two["flows"], eight["flows"]) == (2, 8)
    assert list(two["models"]) == ["paper", "held"]
    paper, held = (two["models"][name]["queue"] for name in ("paper", "held"))
    (run,) = two["packets"]
    assert abs(held / run["queue_mean"] - 1) < 0.1 < 2 < paper / run["queue_mean"]
    # The table has the same: means to a tenth of a packet, and how far off the model is.
    row = next(line.split() for line in outcome.err.splitlines() if line.split()[:1] == ["2"])
    assert row[4:9] == [
        f"{paper:.1f}",
        f"{paper / run['queue_mean'] - 1:+.0%}",
        f"{held:.1f}",
        f"{held / run['queue_mean'] - 1:+.0%}",
        f"{run['queue_mean']:.1f}",
    ]


def test_without_packets_it_only_solves(command):
    outcome = command("fluid", "--no-packets", "--flows", "2..4", "--slope", "65,0.65", "--json")
    points = outcome.json["points"]
    assert [(point["flows"], point["slope_per_mb"]) for point in points] == [
        (2, 65), (2, 0.65), (3, 65), (3, 0.65), (4, 65), (4, 0.65)
    ]  # fmt: skip
    assert all(point["packets"] == [] for point in points)
    fates = {point["slope_per_mb"]: point["models"]["paper"]["fate"] for point in points}
    assert fates == {65: "oscillates", 0.65: "steady"}
    assert "~ oscillates" in outcome.err and "+-" in outcome.err
    assert "packets" not in outcome.err.splitlines()[2]


def test_dcqcn_is_measured_too(command):
    outcome = command("fluid", "--sender", "dcqcn", "--flows", "4", "--seeds", "1", "--json")
    assert outcome.status == 0 and "note:" not in outcome.err
    (point,) = outcome.json["points"]
    (run,) = point["packets"]
    # The model oscillates about a shorter queue.
    assert 0.6 < point["models"]["paper"]["queue_mean"] / run["queue_mean"] < 0.9
    assert run["goodput_gbps"] > 9
    # Four rates together are the line's, which is C RTT packets in a round trip.
    in_a_round_trip = 66.7 + run["queue_mean"]
    assert 4 * run["window_mean"] == pytest.approx(in_a_round_trip, rel=0.1)


def test_every_option_reaches_model_and_simulator(command):
    options = ("--rate-gbps", "40", "--delay-us", "20", "--packet-bytes", "1000")
    more = ("--min-packets", "5,20", "--max-packets", "60", "--min-window", "1", "--g", "0.25")
    outcome = command(*QUICK, *options, *more, "--json")
    found = outcome.json
    assert (found["max_packets"], found["min_window"], found["g"]) == (60, 1, 0.25)
    assert [point["min_packets"] for point in found["points"]] == [5, 20, 5, 20]
    # C d = 40 Gbps * 20 us / 8000 bits = 100 packets, which two windows fill to a queue of 60.
    point = found["points"][0]
    model = point["models"]["paper"]
    assert model["queue"] == pytest.approx(60) and model["window"] == pytest.approx(80)
    assert model["rtt_us"] == pytest.approx(20 + 60 * 0.2)
    assert point["packets"][0]["goodput_gbps"] == pytest.approx(40 * 948 / 1000, rel=0.01)
    grown = command(*QUICK, "--growth", "sqrt-n", "--no-packets", "--json").json
    assert [point["slope_per_mb"] for point in grown["points"]] == pytest.approx(
        [0.65 * 2**0.5, 0.65 * 8**0.5]
    )
    whole = command(*QUICK, "--whole-packets", "--no-packets", "--json").json
    assert list(whole["points"][0]["models"]) == ["paper, whole packets"]


@pytest.mark.parametrize("swept", ["--flows", "--slope", "--min-packets"])
def test_tables_and_plots_are_written(command, swept):
    values = {"--flows": "2,8", "--slope": "0.5,5", "--min-packets": "0,10"}
    options = [word for name in values for word in (name, values[name] if name == swept else "8")]
    outcome = command("fluid", *options, "--seeds", "1..2", "--cuts", "paper,held", "--out", "f")
    assert outcome.status == 0 and names() == ["f"]
    assert names("f") == [
        *("SHA256SUMS", "fluid.json", "packets.parquet", "steady.parquet", "steady.png"),
        *("trajectories.parquet", "trajectories.png"),
    ]
    steady = parquet.read("f/steady.parquet").to_pylist()
    assert [row["model"] for row in steady] == ["paper", "held"] * 2
    document = json.loads(Path("f/fluid.json").read_text())
    assert steady[1]["queue"] == document["points"][0]["models"]["held"]["queue"]
    packets = parquet.read("f/packets.parquet").to_pylist()
    assert [row["seed"] for row in packets] == [1, 2, 1, 2]
    assert packets[3]["queue_mean"] == document["points"][1]["packets"][1]["queue_mean"]
    moments = parquet.read("f/trajectories.parquet").to_pylist()
    held = [row for row in moments if row["model"] == "held"]
    assert 1000 <= len(held) <= 2000 and held[0]["queue"] == 0
    for plot in ("steady", "trajectories"):
        assert Path(f"f/{plot}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_folder_is_replaced_by_force_only(command):
    options = ("fluid", "--flows", "2", "--no-packets", "--out", "f")
    assert command(*options).status == 0
    refused = command(*options)
    assert refused.status == 2 and "f is there already" in refused.err and "--force" in refused.err
    assert command(*options, "--force").status == 0
    Path("other").mkdir()
    Path("other/mine.txt").write_text("mine")
    refused = command(*options[:-1], "other", "--force")
    assert refused.status == 2 and "is not a folder of `fluid`" in refused.err
    assert Path("other/mine.txt").read_text() == "mine"


def test_an_interrupted_command_leaves_nothing(command, monkeypatch):
    from spillway.theory.fluid import packets

    calls, run = iter(range(3)), packets.run

    def interrupt(*given, **named):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return run(*given, **named)

    monkeypatch.setattr(packets, "run", interrupt)
    outcome = command(*QUICK[:3], "--seeds", "1..2", "--out", "f")
    assert outcome.status == 130 and outcome.out == "" and "interrupted" in outcome.err
    assert names() == []


def test_an_interrupted_plot_leaves_nothing(command, monkeypatch):
    from spillway.theory.fluid import plots

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(plots, "in_time", interrupt)
    assert command("fluid", "--no-packets", "--flows", "2", "--out", "f").status == 130
    assert names() == []


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["--slope", "0"], "slope: 0.0 is not valid; expected a number from 1e-06", ""),
        (["--slope", "steep"], "--slope 'steep' is not a list of numbers", "--slope 0.1,0.65"),
        (["--slope", ""], "--slope '' is not a list of numbers", "--slope 0.1,0.65"),
        (["--slope", "nan"], "slope: nan is not valid", ""),
        (["--flows", "0"], "flows: 0 is not valid; expected a whole number from 1", ""),
        (["--flows", ""], "--flows '' is not a list of whole numbers", "--flows 2..8"),
        (["--flows", "-3"], "--flows '-3' is not a list of whole numbers", "--flows 2,4,8"),
        (["--flows", "8..2"], "--flows '8..2' is not a list of whole numbers", ""),
        (["--flows", "2.5"], "--flows '2.5' is not a list of whole numbers", ""),
        (["--flows", "1..2000", "--no-packets"], "2,000 settings are too many", "1,000"),
        (["--growth", "log"], "growth: there is no 'log'", "valid here: one, sqrt-n"),
        (["--min-packets", "-1"], "min_packets: -1.0 is not valid", ""),
        (["--max-packets", "3"], "max_packets: 3.0 is not valid; expected a number from min", ""),
        (["--rate-gbps", "-1"], "rate_gbps: -1.0 is not valid", ""),
        (["--delay-us", "0"], "delay_us: 0.0 is not valid", ""),
        (["--delay-us", "1"], "delay_us: 1 is not possible in the packet", "--no-packets"),
        (["--packet-bytes", "10"], "packet_bytes: 10 is not valid", ""),
        (["--min-window", "0"], "min_window: 0.0 is not valid", ""),
        (["--g", "2"], "g: 2.0 is not valid", ""),
        (["--sender", "tpc"], "sender: there is no 'tpc'", "did you mean `tcp`?"),
        (["--cuts", "often"], "cuts: there is no 'often'", "valid here: paper, per-mark"),
        (["--cuts", ""], "cuts: there is no ''", "valid here: paper, per-mark"),
        (["--sender", "dcqcn", "--cuts", "held"], "dcqcn has neither cuts", "by time"),
        (["--seeds", "x"], "'x' is not a list of seeds", "--seeds 1..5"),
        (["--out", "no/where/"], "", ""),
    ],
)
def test_what_is_wrong_is_refused(command, arguments, error, hint):
    Path("no").write_text("")
    outcome = command("fluid", *arguments)
    assert outcome.status == 2 and outcome.out == ""
    assert error in outcome.err and hint in outcome.err
    assert "Traceback" not in outcome.err and names() == ["no"]
