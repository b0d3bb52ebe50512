"""`spillway tune` from end to end: what it prints, what it writes, and how it goes on."""

import csv
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spillway
from spillway.tuning import files
from support import TINY, names

_COMMAND = (sys.executable, "-m", "spillway", "tune")
ALPHA, SHARING = "switch.sharing.alpha=0.1..8:log", "switch.sharing=dt,abm,lqd"
SMALL = (
    *(TINY, "--over", ALPHA, "--over", SHARING, "--minimize", "fct_slowdown.incast.p99"),
    *("--subject-to", "goodput_gbps.all >= 0.9 * default", "--seeds", "1..2", "--jobs", "1"),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of 12 trials, and what its command has printed."""
    folder = tmp_path_factory.mktemp("study")
    done = subprocess.run(
        [*_COMMAND, *map(str, SMALL), "--trials", "12", "--out", "out"],
        cwd=folder,
        env={**os.environ, "COLUMNS": "140"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "out", done


def outcomes(summary):
    kept = ("trial", "state", "set", "values", "violations", "percent")
    return [{key: trial[key] for key in kept} for trial in summary["trials"]]


def test_it_says_what_it_will_take_and_what_it_has_found(study):
    _, done = study
    first = next(line for line in done.stderr.splitlines() if "processor time" in line)
    assert "12 trials of 2 seeds" in first and "the confirmation" in first
    assert "the best so far (default: " in done.stderr
    assert done.stdout.startswith("tiny  complete\n12 of 12 trials: ")
    for text in ("best: trial", "confirmed on new seeds", "95% interval", "switch.sharing"):
        assert text in done.stdout, text
    assert "5 seeds, 12 ms each, in pairs" in done.stdout
    assert done.stdout.endswith("page: out/index.html   run it: spillway run out/best\n")


def test_a_study_has_a_page_all_trials_and_the_best_scenario(study, command):
    folder, _ = study
    expected = ["SHA256SUMS", "best", "index.html", "results", "study.db"]
    expected += ["study.json", "summary.json"]
    assert names(folder) == [*expected, "trials.csv"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "complete" and summary["scenario"] == "tiny"
    assert outcomes(summary)[0]["set"] == {"switch.sharing": "dt", "switch.sharing.alpha": "0.5"}
    with (folder / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["trial"]) for row in rows] == [each["trial"] for each in summary["trials"]]
    for row, trial in zip(rows, summary["trials"], strict=True):
        assert row["switch.sharing"] == trial["set"]["switch.sharing"]
        assert row["switch.sharing.alpha"] == trial["set"].get("switch.sharing.alpha", "")
        assert float(row["fct_slowdown.incast.p99"]) == trial["values"][0]
    page = (folder / "index.html").read_text()
    assert "<title>Spillway: tiny, tuned</title>" in page
    assert page.count("data:image/svg+xml") >= 3
    # Nothing is loaded from elsewhere.
    assert "http" not in page.replace("http-equiv", "")
    assert command("run", folder / "best", "--seed", "1").status == 0


def test_the_best_scenario_comes_to_what_the_study_says(study):
    folder, _ = study
    summary = json.loads((folder / "summary.json").read_text())
    (winner,) = summary["winners"]
    found = [
        spillway.run(folder / "best", seed=seed).summary["fct_slowdown"]["incast"]["p99"]
        for seed in (1, 2)
    ]
    assert winner["values"] == [pytest.approx(sum(found) / 2, rel=1e-12)]
    (confirmed,) = summary["confirmation"]["winners"]
    again = spillway.run(folder / "best", seed=3, set="duration=12ms")
    expected = again.summary["fct_slowdown"]["incast"]["p99"]
    assert confirmed["goals"][0]["tuned"][0] == expected
    default = spillway.run(TINY, seed=3, set="duration=12ms")
    expected = default.summary["fct_slowdown"]["incast"]["p99"]
    assert confirmed["goals"][0]["default"][0] == expected


def test_the_same_command_shows_a_complete_study_again(study, command):
    folder, done = study
    before = (folder / "summary.json").stat().st_mtime_ns
    outcome = command("tune", *SMALL, "--trials", 12, "--out", folder)
    assert outcome.status == 0
    assert outcome.out.splitlines()[:5] == done.stdout.splitlines()[:5]
    assert (folder / "summary.json").stat().st_mtime_ns == before


def test_json_is_the_summary(study, command):
    folder, _ = study
    outcome = command("tune", *SMALL, "--trials", 12, "--out", folder, "--json")
    assert outcome.json == json.loads((folder / "summary.json").read_text())
    assert "best: trial" in outcome.err


def started(study_folder, wanted):
    """Waits until so many trials of a study are over."""
    for _ in range(1200):
        time.sleep(0.05)
        try:
            with sqlite3.connect(f"file:{study_folder / 'study.db'}?mode=ro", uri=True) as base:
                count = "select count(*) from trials where state in ('COMPLETE', 'PRUNED')"
                if base.execute(count).fetchone()[0] >= wanted:
                    return
        except sqlite3.Error:
            continue
    raise AssertionError("no trial is ever over")


def test_a_study_that_was_killed_goes_on_as_if_nothing_had_happened(
    study, command, start, tmp_path
):
    folder, _ = study
    for wanted in (2, 5):
        process = start("tune", *SMALL, "--trials", 12, "--out", "out")
        started(tmp_path / "out", wanted)
        process.kill()
        process.wait()
        assert "INCOMPLETE" in names(tmp_path / "out")
        assert "summary.json" not in names(tmp_path / "out")
    outcome = command("tune", *SMALL, "--trials", 12, "--out", "out")
    assert outcome.status == 0 and "trials are there already" in outcome.err
    whole = json.loads((folder / "summary.json").read_text())
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert outcomes(found) == outcomes(whole)
    assert found["winners"] == whole["winners"]
    assert found["confirmation"] == whole["confirmation"]
    assert found["importance"] == whole["importance"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_says_how_to_go_on(command, start, tmp_path, number):
    process = start("tune", *SMALL, "--trials", 500, "--out", "out")
    started(tmp_path / "out", 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.startswith("tiny  interrupted\n")
    assert err.endswith("the same command goes on from what is in out\ninterrupted\n")
    assert "Traceback" not in err
    assert names(tmp_path / "out") == ["INCOMPLETE", "results", "study.db", "study.json"]
    assert command("tune", *SMALL, "--trials", 4, "--out", "out").status == 0


def test_a_disk_that_is_full_leaves_nothing_that_looks_whole(command, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    arguments = ("tune", *SMALL, "--trials", 2, "--out", "out")
    with monkeypatch.context() as patch:
        patch.setattr(files, "write_trials", full)
        outcome = command(*arguments)
    assert outcome.status == 1 and "No space left on device" in outcome.err
    assert "INCOMPLETE" in names("out") and "summary.json" not in names("out")
    assert command(*arguments).status == 0
    assert "INCOMPLETE" not in names("out")


def test_a_full_disk_under_the_study_is_told(command, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def full(*_, **__):
        raise OperationalError("insert", {}, Exception("database or disk is full"))

    monkeypatch.setattr("optuna.Study.tell", full)
    outcome = command("tune", *SMALL, "--trials", 2, "--out", "out")
    assert outcome.status == 1
    assert "the study in out/study.db cannot be kept: database or disk is full" in outcome.err
    assert "hint: the same command goes on from what has been written" in outcome.err
    assert "INCOMPLETE" in names("out")


def test_several_goals_print_a_front(command):
    over = ("--over", ALPHA, "--minimize", "incast.p95", "--maximize", "goodput")
    outcome = command("tune", TINY, *over, "--trials", 6, "--seeds", "1", "--out", "out")
    assert outcome.status == 0
    assert "front: trial" in outcome.out and "goodput" in outcome.out
    winners = [winner["trial"] for winner in json.loads(read("out/summary.json"))["winners"]]
    assert names("out/front") == sorted(f"trial-{number}" for number in winners)
    assert f"spillway run out/front/trial-{winners[0]}\n" in outcome.out
    assert command("run", f"out/front/trial-{winners[-1]}").status == 0


def read(file):
    return Path(file).read_text()


def test_without_a_folder_it_says_how_to_run_the_best(command):
    asked = ("--minimize", "drops", "--trials", 3, "--set", "duration=2ms", "--seeds", 5)
    outcome = command("tune", TINY, "--over", ALPHA, *asked, "--set", "switch.buffer=50 KB")
    assert outcome.status == 0 and names() == []
    last = outcome.out.splitlines()[-1]
    start = f"spillway run {TINY} --set duration=2ms --set 'switch.buffer=50 KB' --set switch."
    assert last.startswith(start), last
    # The command comes to what the table says.
    found = command(*shlex.split(last)[1:], "--seed", 5, "--json").json["drops"]
    shown = next(line for line in outcome.out.splitlines() if "on the seeds of" in line)
    assert sum(found.values()) == float(shown.split()[-1].replace(",", ""))


def test_the_best_may_need_a_plug_in(command):
    plugin = Path(__file__).parents[1] / "examples" / "my_dt.py"
    more = ("--over", "switch.sharing=my-dt,lqd", "--plugin", f"{plugin}:MyDt", "--trials", 4)
    for goal, is_named in (("--maximize", True), ("--minimize", False)):
        asked = ("--seeds", 1, goal, "drops", "--out", goal.strip("-"))
        outcome = command("tune", TINY, *more, *asked)
        assert outcome.status == 0, outcome.err
        last = outcome.out.splitlines()[-1]
        assert (f"--plugin {plugin}:MyDt" in last) is is_named, last
        assert command(*shlex.split(last.partition("run it: spillway ")[2])).status == 0


def test_where_nothing_is_drawn_at_random_nothing_is_confirmed(command):
    command("flows", TINY, "--out", "flows.csv")
    text = TINY.read_text()
    listed = '[[traffic]]\nname = "listed"\nkind = "flows"\nfile = "flows.csv"\n'
    Path("listed.toml").write_text(text[: text.index("[[traffic]]")] + listed)
    asked = ("--minimize", "drops", "--trials", 3, "--seeds", 1, "--out", "out")
    outcome = command("tune", "listed.toml", "--over", ALPHA, *asked)
    assert outcome.status == 0
    assert "not tested" in outcome.out and "all seeds give the same runs" in outcome.out
    assert names("out/best") == ["inputs", "scenario.toml"]
    assert command("run", "out/best").status == 0


def test_trials_that_all_fail_leave_no_best(command):
    asked = ("--minimize", "timeouts / drops", "--trials", 2, "--seeds", 1, "--pruner", "none")
    outcome = command("tune", TINY, "--over", "switch.buffer=10MB,20MB", *asked)
    assert outcome.status == 1
    assert "2 failed" in outcome.out and "no trial is complete" in outcome.out
    assert "there is no best" in outcome.err


def test_a_confirmation_that_fails_leaves_the_best(command):
    asked = ("--minimize", "timeouts / drops", "--trials", 3, "--seeds", "1..2", "--out", "out")
    confirmed = ("--confirm-seeds", "3..12", "--confirm-duration", "1ms")
    for _ in range(2):
        outcome = command("tune", TINY, "--over", "switch.sharing=dt,lqd", *asked, *confirmed)
        assert outcome.status == 1
        assert "best: trial" in outcome.out and "not confirmed: " in outcome.out
        assert "divides by zero; confirm with other seeds, or for longer" in outcome.out
        assert outcome.out.endswith("page: out/index.html   run it: spillway run out/best\n")
        assert outcome.err.endswith("the best is not confirmed\n")
    summary = json.loads(read("out/summary.json"))
    assert summary["status"] == "complete" and summary["confirmation"] is None
    assert "divides by zero" in summary["not_confirmed"]
    assert "not confirmed: " in read("out/index.html")
    assert command("run", "out/best").status == 0


def test_constraints_that_nothing_satisfies_are_told(command):
    asked = ("--minimize", "drops", "--subject-to", "goodput >= 2 * default", "--trials", 3)
    outcome = command("tune", TINY, "--over", ALPHA, *asked, "--out", "out")
    assert outcome.status == 1
    assert "no trial satisfies all constraints" in outcome.out
    assert "nearest: trial" in outcome.out and "it misses goodput >= 2 * default by" in outcome.out
    assert "there is no best: allow more, vary more, or try more" in outcome.err
    assert "best" not in names("out") and "summary.json" in names("out")


@pytest.mark.parametrize(
    ("more", "problem", "hint"),
    [
        (["--over", "switch.sharing.alpha"], "is not of the form key=low..high", "for one"),
        (["--minimize", "incast.p98"], "there is no metric 'incast.p98'", "did you mean"),
        (["--subject-to", "drops"], "it compares two sides by <= or >=", "for one"),
        (["--trials", "0"], "trials: 0 is not valid", None),
        (["--seeds", "a"], "'a' is not a list of seeds", "for one: --seeds 1..5"),
        (["--sampler", "x"], "there is no sampler 'x'", "valid here: tpe, nsga2, random"),
    ],
)
def test_what_is_asked_wrongly_has_a_message_of_its_own(command, more, problem, hint):
    asked = ["tune", TINY, "--over", ALPHA, "--minimize", "drops", "--out", "out"]
    outcome = command(*asked, *more)
    assert outcome.status == 2 and outcome.out == ""
    assert problem in outcome.err and (hint is None or hint in outcome.err)
    assert names() == []


def test_the_help_does_not_wait_for_the_search_s_library():
    code = (
        "import sys, spillway.cli; sys.exit('optuna' in sys.modules or 'sqlalchemy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_study_shows_itself_in_a_notebook(study):
    folder, _ = study
    tuned = spillway.Tuned(json.loads((folder / "summary.json").read_text()), folder)
    assert repr(tuned).startswith("<Tuned 'tiny': 12 trials, best {'switch.sharing': ")
    assert "best: trial" in tuned._repr_html_()
