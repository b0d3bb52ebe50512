"""Places where nothing can be written: told before anything is run for them."""

import pytest

import spillway
from support import TINY, names, needs_studies
from test_cli_errors import LONG, refused

RUNS = {
    "run": ["run", TINY, *LONG],
    "seeds": ["run", TINY, *LONG, "--seeds", "1..2"],
    "compare": ["compare", TINY, *LONG, "--vary", "switch.sharing=dt,lqd"],
    "reproduce": ["reproduce", "credence/figure6", "--scale", "full"],
}
NAMED = [pytest.param(name, marks=needs_studies if name == "reproduce" else ()) for name in RUNS]
FILES = {
    "flows": (["flows", TINY, "--out"], ".csv"),
    "plot": ([*RUNS["compare"], "--plot"], ".png"),
    "arrivals": (["slotted", "arrivals", "bursts", "--out"], ".parquet"),
    "search": (["slotted", "search", "lqd", "--steps", "1000000000", "--out"], ".csv"),
    "model": (["oracle", "default", "--out"], ""),
    "report": (["report", "results", "--out"], ".html"),
}
LONG_NAME = "n" * 250


@pytest.mark.parametrize("command_line", NAMED)
@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("/proc/out", "/proc cannot be written to: No such file or directory"),
        ("file/out", "file is not a folder"),
        ("file/deep/out", "file is not a folder"),
        (f"{LONG_NAME}{LONG_NAME}", "File name too long"),
        (f"{LONG_NAME}{LONG_NAME}/deep/out", "File name too long"),
    ],
)
def test_where_no_folder_can_be(command, tmp_path, command_line, place, error):
    (tmp_path / "file").touch()
    refused(command(*RUNS[command_line], "--out", place), error, "choose another place")
    assert names() == ["file"]


def test_a_name_that_leaves_no_room_for_that_of_the_partial_folder(command):
    refused(command(*RUNS["run"], "--out", LONG_NAME), "File name too long", "choose another place")


@pytest.mark.parametrize("arguments", list(RUNS.values())[:3], ids=list(RUNS)[:3])
@pytest.mark.parametrize("place", [".", "/", "", "..", "../..", "./", "out/.."])
def test_a_place_without_a_name(command, arguments, place):
    for more in ([], ["--force"]):
        outcome = command(*arguments, "--out", place, *more)
        refused(outcome, "is not a folder to write to", "the name of a folder")
    assert names() == []


@pytest.mark.parametrize(("arguments", "suffix"), FILES.values(), ids=FILES)
def test_where_no_file_can_be(command, tmp_path, arguments, suffix):
    (tmp_path / "results").mkdir()
    for place, error in (
        (f"/proc/out{suffix}", "/proc cannot be written to"),
        (f"{LONG_NAME}{LONG_NAME}{suffix}", "File name too long"),
        (f"results/none/out{suffix}", "there is no folder results/none"),
    ):
        refused(command(*arguments, place), error, "")
    assert names() == ["results"]


@needs_studies
@pytest.mark.parametrize("way", ["option", "environment"])
@pytest.mark.parametrize(
    ("place", "error"),
    [("file", "file is not a folder"), ("/proc/points", "cannot be written to")],
)
def test_where_no_points_can_be_kept(command, tmp_path, monkeypatch, way, place, error):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPILLWAY_CACHE", place)
    more = ["--cache", place] if way == "option" else []
    refused(command(*RUNS["reproduce"], *more), error, "choose another place")
    assert names() == ["file"]


def test_a_figure_has_a_place_of_its_own(command):
    outcome = command(*RUNS["compare"], "--out", "a.png", "--plot", "./a.png")
    refused(outcome, "--out and --plot are both a.png", "a figure is a file")
    assert names() == []


def test_what_is_called_like_a_replaced_result_is_left_alone(command, tmp_path):
    assert command("run", TINY, "--out", "out").status == 0
    (tmp_path / "out.replaced").mkdir()
    (tmp_path / "out.replaced" / "thesis.tex").write_text("years of work")
    refused(command("run", TINY, *LONG, "--out", "out", "--force"), "out.replaced", "move it away")
    assert (tmp_path / "out.replaced" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("command_line", NAMED)
def test_a_place_that_is_not_utf_8(command, command_line):
    outcome = command(*RUNS[command_line], "--out", "a\udcff")
    refused(outcome, "cannot be written: it is not UTF-8", "choose another place")
    assert names() == []


@pytest.mark.parametrize("place", [5, None, "a\0b", "\ud800", b"out", ["out"]])
def test_what_is_no_path(tiny, place):
    with pytest.raises(spillway.ScenarioError, match="is no path"):
        tiny.save(place)
