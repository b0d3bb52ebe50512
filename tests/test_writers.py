"""Several writers of one file, and disks that are full: whoever ends well has his own file."""

import errno
import fcntl
import os
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import spillway
from spillway import ScenarioError
from spillway.base import folder, parquet
from spillway.base.folder import OutputFolder, whole_file
from support import TINY, names


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    file = tmp_path / "table.parquet"
    with whole_file(file) as first, parquet.Writer(first, pa.schema({"a": pa.int64()})) as writer:
        with whole_file(file) as second:
            parquet.write(pa.table({"a": [5]}), second)
        assert parquet.read(file)["a"].to_pylist() == [5]
        writer.write_table(pa.table({"a": [7, 8]}))
    assert parquet.read(file)["a"].to_pylist() == [7, 8]
    assert [place.name for place in tmp_path.iterdir()] == ["table.parquet"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path, monkeypatch, has_links):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    file = tmp_path / "o.csv"
    later = whole_file(file, force=False)
    later.__enter__().write_text("second")
    with whole_file(file, force=False) as first:
        first.write_text("first")
    with pytest.raises(ScenarioError, match=r"o\.csv is there already"):
        later.__exit__(None, None, None)
    assert file.read_text() == "first"
    assert [place.name for place in tmp_path.iterdir()] == ["o.csv"]


def test_a_file_may_be_read_as_any_other(tmp_path):
    mask = os.umask(0o022)
    try:
        with whole_file(tmp_path / "o") as partial:
            partial.write_text("x")
    finally:
        os.umask(mask)
    assert (tmp_path / "o").stat().st_mode & 0o777 == 0o644


def test_lists_of_two_scenarios_at_once(command, tmp_path):
    """Whoever ends with 0 has his own flows there."""
    given = [spillway.Scenario(TINY, assignments=[f"seed={seed}"]) for seed in (1, 2)]
    rows = {}
    from spillway.scenario import flow_export

    def write(seed):
        file = tmp_path / "list.csv"
        try:
            told = flow_export.write(given[seed].read(), file)
            rows[seed] = told["flows"]
        except ScenarioError as error:
            rows[seed] = str(error)

    threads = [threading.Thread(target=write, args=[seed]) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [row for row in rows.values() if isinstance(row, int)]
    refused = [row for row in rows.values() if isinstance(row, str)]
    assert len(told) == 1 and "list.csv is there already" in refused[0]
    assert len((tmp_path / "list.csv").read_text().splitlines()) == told[0] + 1
    assert names() == ["list.csv"]


def test_a_folder_that_another_run_has_taken_over_is_not_taken(tmp_path):
    """A mark that was opened, and then moved away with its folder, is not held."""
    place = tmp_path / "out"
    (tmp_path / "out.partial").mkdir()
    mark = tmp_path / "out.partial" / folder.MARK
    mark.touch()
    lock = fcntl.flock

    def late(opened, how):
        mark.rename(tmp_path / "moved")
        mark.touch()
        lock(opened, how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", late)
        with pytest.raises(ScenarioError, match="another run is writing"):
            OutputFolder(place).__enter__()
    with OutputFolder(place) as output:
        (output.partial / "x").write_text("x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moved", "out"]


def test_a_full_disk_leaves_nothing(command, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    outcome = command("run", TINY, "--out", "o")
    assert outcome.status == 2 and "No space left on device" in outcome.err
    assert names() == []


def test_an_experiment_goes_on_when_the_disk_is_no_longer_full(command, monkeypatch):
    asked = ["run", TINY, "--seeds", "1..4", "--jobs", "1", "--out", "o"]
    written, write = [], os.write

    def full(*given):
        written.append(given)
        if len(written) > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        outcome = command(*asked)
    assert outcome.status == 1 and "No space left on device" in outcome.err
    assert 0 < spillway.load("o").done < 4
    assert command(*asked, "--json").json["done"] == 4


def test_a_rename_that_is_told_to_have_failed_is_settled_by_a_look(tmp_path, monkeypatch):
    """As over NFS, when the answer of the first attempt was lost."""
    replace = Path.replace

    def lost(self, target):
        replace(self, target)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(Path, "replace", lost)
    with whole_file(tmp_path / "file") as partial:
        partial.write_text("new")
    assert (tmp_path / "file").read_text() == "new" and names(tmp_path) == ["file"]

    def fails(self, target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(PermissionError), whole_file(tmp_path / "file") as partial:
        partial.write_text("newer")
    assert (tmp_path / "file").read_text() == "new" and names(tmp_path) == ["file"]
