"""Where studies are kept: journals that a full disk has cut, damaged files, databases."""

import json
import re
import resource
import sqlite3
import subprocess
import sys
from functools import partial

import pytest

import spillway
import tune_runs
from spillway.tuning import storage
from support import TINY, flipped
from tune_runs import alpha, drops


@pytest.fixture(autouse=True)
def _formula(runs):
    runs(lambda scenario, seed, _: drops((alpha(scenario) - 3) ** 2 + seed))


tune = partial(tune_runs.tune, trials=4)


@pytest.fixture
def kept(tmp_path):
    """A journal of a study of four trials."""
    file = tmp_path / "x.journal"
    tune(storage=str(file))
    return file


def lines(file):
    return file.read_bytes().split(b"\n")


@pytest.mark.parametrize("left", [1, 11, 60])
def test_a_journal_that_was_cut_in_a_line_goes_on(kept, left):
    whole = lines(kept)
    assert whole[-1] == b""
    kept.write_bytes(b"\n".join([*whole[:-5], whole[-5][:left]]))
    assert tune(storage=str(kept), trials=6).summary["ended"] == 6
    # The partial line is gone, and all others are as they were.
    assert lines(kept)[: len(whole) - 5] == whole[:-5]
    assert all(json.loads(line) for line in lines(kept)[:-1])
    assert tune(storage=str(kept), trials=6).summary["ended"] == 6


def test_after_a_loss_of_power_a_line_may_end_in_zeros(kept):
    with kept.open("ab") as file:
        file.write(b'{"op_co' + bytes(100))
    assert tune(storage=str(kept), trials=5).summary["ended"] == 5
    assert b"\0" not in kept.read_bytes()


def test_what_is_cut_while_workers_are_at_it_goes_as_well(kept):
    study = storage._journal(str(kept))
    before = kept.read_bytes()
    with kept.open("ab") as file:
        file.write(b'{"op_code":4,"work')
    number = study.get_all_studies()[0]._study_id
    study.set_study_user_attr(number, "key", "value")
    after = kept.read_bytes()
    assert after.startswith(before) and after.count(b"\n") == before.count(b"\n") + 1
    assert study.get_study_user_attrs(number)["key"] == "value"


def test_a_full_disk_leaves_a_journal_that_goes_on(kept):
    """The limit of a file's size takes the part of the disk: it cuts what is written, too."""
    code = (
        "import resource, sys; from spillway.cli import invoke;"
        "sys.exit(invoke(['tune', sys.argv[1], '--over', 'switch.sharing.alpha=1.0..2.0',"
        " '--minimize', 'drops', '--seeds', '1', '--trials', '3', '--storage', sys.argv[2]]))"
    )
    size = kept.stat().st_size
    limit = size + 700
    done = subprocess.run(
        [sys.executable, "-c", code, str(TINY), str(kept)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1, done.stderr
    assert "cannot be kept: [Errno 27] File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert kept.stat().st_size == limit and lines(kept)[-1] != b""
    assert tune(storage=str(kept), trials=5).summary["ended"] == 5


@pytest.mark.parametrize(
    "damaged",
    [
        lambda content: content[:5_000],
        lambda content: b"x" * 20,
        lambda content: content.replace(b"CREATE TABLE studies", b"CREATX TABLE studies"),
    ],
)
def test_a_study_that_is_damaged_does_not_go_on(tmp_path, damaged):
    tune(trials=3, out=tmp_path / "out")
    file = tmp_path / "out" / "study.db"
    file.write_bytes(damaged(file.read_bytes()))
    with pytest.raises(spillway.SpillwayError, match="cannot be read") as raised:
        tune(trials=5, out=tmp_path / "out")
    assert raised.value.hint == "what it holds is lost: begin anew with another --out or --storage"
    assert tune(trials=3, out=tmp_path / "out", force=True).summary["ended"] == 3


@pytest.mark.parametrize(
    "content", [b"hello\n", b"hello", b"[]\n", b'{"op_code":99,"worker_id":""}\n']
)
def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path, content):
    file = tmp_path / "x.journal"
    file.write_bytes(content)
    with pytest.raises(spillway.SpillwayError, match="is no journal of a study, or is damaged"):
        tune(storage=str(file))
    assert file.read_bytes() == content


def test_a_journal_that_is_damaged_elsewhere_is_refused(kept):
    whole = lines(kept)
    for damaged in (whole[3][:20], b"", b"{}", whole[3][:20] + whole[4]):
        content = b"\n".join([*whole[:3], damaged, *whole[4:]])
        kept.write_bytes(content)
        with pytest.raises(spillway.SpillwayError, match="or is damaged in line 4") as raised:
            tune(storage=str(kept))
        assert "put a copy in its place" in raised.value.hint
        assert kept.read_bytes() == content
    # Lines that are whole, but do not follow from one another.
    kept.write_bytes(b"\n".join([whole[0].replace(b'"study_name"', b'"name"'), *whole[1:]]))
    with pytest.raises(spillway.SpillwayError, match="is no journal of a study, or is damaged"):
        tune(storage=str(kept))


def test_a_trial_that_has_come_to_nothing_known_is_told(tmp_path):
    tune(out=tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / "study.db") as base:
        where = "where key = 'outcome' and trial_id = 2"
        base.execute(f"update trial_user_attributes set value_json = '7' {where}")
    with pytest.raises(spillway.SpillwayError, match="does not say what trial 2 has come to"):
        tune(out=tmp_path / "out", trials=5)


def test_a_study_that_others_share_cannot_begin_anew(kept, command, tmp_path):
    before = kept.read_bytes()
    with pytest.raises(spillway.ScenarioError, match="and cannot begin anew") as raised:
        tune(storage=str(kept), force=True)
    assert raised.value.hint == "leave force out, or name another storage"
    asked = ("--over", "switch.sharing.alpha=1.0..2.0", "--minimize", "drops", "--out", "out")
    done = command("tune", TINY, *asked, "--storage", kept, "--force")
    assert done.status == 2 and "hint: leave --force out, or name another --storage" in done.err
    assert kept.read_bytes() == before and not (tmp_path / "out").exists()


# Addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://u:pa:ss/w@d@host:5432/x", "postgresql://u:***@host:5432/x"),
        ("postgresql://u@host/x?sslmode=require", "postgresql://u@host/x?sslmode=require"),
        ("mysql://u@host/x?a=b&PASSWORD=secret&c=d", "mysql://u@host/x?a=b&PASSWORD=***&c=d"),
        ("postgresql:u:secret@host", "postgresql:***@host"),
        ("sqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
        ("/tmp/x.journal", "/tmp/x.journal"),
    ],
)
def test_a_password_is_not_shown(address, shown):
    assert storage.shown(address) == shown


def test_no_message_has_the_password(command, monkeypatch):
    asked = ("--over", "switch.sharing.alpha=1.0..2.0", "--minimize", "drops", "--storage")

    def error(address):
        return command("tune", TINY, *asked, address)

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "psycopg", None)
        done = error("postgresql+psycopg://u:secret@localhost/x")
    assert done.status == 1
    assert "the driver of postgresql+psycopg://u:***@localhost/x is not installed: " in done.err
    assert "psycopg" in done.err and "hint: install it beside Spillway" in done.err
    done = error("nothing://u:secret@localhost/x")
    assert done.status == 1 and "in nothing://u:***@localhost/x cannot be kept" in done.err
    assert "hint: check the address" in done.err
    for address in ("postgresql://u:secret@h:port/x", "://u:secret@h"):
        wrong = error(address)
        assert wrong.status == 2 and "u:***@h" in wrong.err and "no address" in wrong.err
        assert "secret" not in wrong.err
    refused = error("postgresql:u:secret@h")
    assert refused.status == 2 and "secret" not in refused.err + done.err

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("spillway.tuning.study._tuned", interrupted)
    done = error("postgresql://u:secret@localhost/x")
    assert done.status == 130
    expected = "the same command goes on from what is in postgresql://u:***@localhost/x\n"
    assert expected in done.err


# Flipped bits ------------------------------------------------------------------------------------


def told(tuned):
    """What was told of trials, default and confirmation, without what they cost."""
    trials = [{**trial, "cpu_s": None} for trial in tuned.summary["trials"]]
    return trials, tuned.summary["winners"], tuned.summary.get("confirmation")


def flips(content, marks):
    """The places of digits and letters behind some words."""
    for mark in marks:
        start = content.find(mark)
        assert start >= 0, mark
        yield from range(start, start + len(mark) + 60, 3)


@pytest.mark.parametrize("kind", ["out", "storage"])
def test_a_flipped_bit_of_a_study_is_noticed_or_harmless(tmp_path, kind):
    place = {"out": tmp_path / "out"} if kind == "out" else {"storage": str(tmp_path / "x.journal")}
    tune(**place)
    file = tmp_path / ("out/study.db" if kind == "out" else "x.journal")
    whole = file.read_bytes()
    expected = told(tune(trials=5, **place))
    marks = [b'"readings"', b'{"looks"', b'"sha256"', b'"values"', b'"violations"', b"confirmed:"]
    noticed, told_of = 0, set()
    for at in flips(whole, [mark for mark in marks if mark in whole]):
        file.write_bytes(flipped(whole, at))
        (tmp_path / "out" / "summary.json").unlink(missing_ok=True)
        try:
            found = told(tune(trials=5, **place))
        except spillway.SpillwayError as error:
            told_of.add(re.sub(r".*(is damaged|cannot be read).*", r"\1", str(error), flags=re.S))
            noticed += 1
        else:
            assert found == expected
    assert noticed > 40 and told_of <= {"is damaged", "cannot be read"}


@pytest.mark.parametrize(
    "change",
    [
        "update trial_values set value = value - 1e6 where trial_id = 2",
        "update trial_params set param_value = param_value + 0.0001 where trial_id = 2",
        "update trial_user_attributes set value_json = replace(value_json, '4', '5')",
        "update trial_user_attributes set key = 'outcomf' where trial_id = 2 and key = 'outcome'",
        "update trials set state = 'PRUNED' where trial_id = 2",
        "update trials set state = 'COMPLETF' where trial_id = 2",
        "update trials set number = 9 where trial_id = 2",
        "update study_user_attributes set value_json = replace(value_json, '.', '1')",
        "update study_user_attributes set value_json = '{' where key = 'default'",
        "update study_user_attributes set key = 'defaulu' where key = 'default'",
        "update study_directions set direction = 'MAXIMIZE'",
        "update studies set study_name = 'tunf'",
        "delete from trial_values where trial_id = 3",
    ],
)
def test_a_change_in_a_study_is_noticed(tmp_path, change):
    tune(out=tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / "study.db") as base:
        assert base.execute(change).rowcount
    with pytest.raises(spillway.SpillwayError, match=r"is damaged: |cannot be read"):
        tune(out=tmp_path / "out", trials=5)
