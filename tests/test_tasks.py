"""Keyed calls: records, claims, and processes that share the work."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from spillway.tasks import claims, segment
from spillway.tasks import store as store_module
from spillway.tasks.claims import Claims
from spillway.tasks.run import run
from spillway.tasks.segment import Segment
from spillway.tasks.store import Store
from support import flipped


@dataclass(frozen=True)
class Call:
    key: str
    label: str = ""
    cost: float | None = None


def opened(folder):
    store = Store(folder)
    store.refresh()
    return store


def only(folder):
    (file,) = (folder / "segments").iterdir()
    return file


def test_a_record_is_a_line_with_its_checksum(tmp_path):
    Segment(tmp_path).append("k", {"x": 1})
    (file,) = tmp_path.iterdir()
    body = b'k {"x":1}'
    assert file.read_bytes() == b"\n%08x %s\n" % (zlib.crc32(body), body)


def test_results_come_back_in_another_process(tmp_path):
    first = Store(tmp_path)
    first.put("a", {"x": [1, None, 0.1]})
    first.put("b", "text\nof two lines", lambda file: file.write_bytes(b"large"))
    first.close()
    other = opened(tmp_path)
    assert other.get("a") == {"x": [1, None, 0.1]}
    assert other.get("b") == "text\nof two lines"
    assert other.file("b").read_bytes() == b"large"
    assert (other.get("c"), other.has("c")) == (None, False)
    # What comes later is found later.
    first.put("c", 3)
    assert not other.has("c")
    other.refresh()
    assert other.get("c") == 3


@pytest.mark.parametrize("left", [0, 1, 8, 9, 12, -1])
def test_a_torn_tail_is_passed_over(tmp_path, left):
    store = Store(tmp_path)
    store.put("a", 1)
    whole = only(tmp_path).read_bytes()
    store.put("b", 2)
    line = only(tmp_path).read_bytes()[len(whole) :]
    store.close()
    only(tmp_path).write_bytes(whole + line[:left])
    again = opened(tmp_path)
    assert (again.get("a"), again.has("b"), again.damaged) == (1, False, 0)
    # The rest may still come.
    only(tmp_path).write_bytes(whole + line)
    again.refresh()
    assert again.get("b") == 2


def test_a_flipped_bit_loses_one_result_and_is_counted(tmp_path):
    store = Store(tmp_path)
    store.put("a", 1)
    store.put("b", {"x": 2})
    store.put("c", 3)
    store.close()
    file = only(tmp_path)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(flipped(whole, place))
        found = opened(tmp_path)
        values = [found.get("a"), found.get("b"), found.get("c")]
        # It may be the mark of the end, or the line feed of an empty line.
        assert sum(one != two for one, two in zip(values, [1, {"x": 2}, 3], strict=True)) <= 1
        # A byte that has become a line feed makes two lines of one; one behind all is not whole.
        assert found.damaged in (0, 1, 2), place
        assert found.damaged or None not in values or place == len(whole) - 1


def test_damage_that_comes_after_reading_is_noticed(tmp_path):
    store = Store(tmp_path)
    store.put("a", {"x": 1})
    whole = only(tmp_path).read_bytes()
    only(tmp_path).write_bytes(flipped(whole, len(whole) - 4))
    assert store.has("a") and store.get("a") is None and not store.has("a")


def test_a_full_disk_leaves_no_half_record(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("a", 1)
    real = os.write

    def full(file, line):
        if line.find(b" b ") < 0:
            return real(file, line)
        real(file, line[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(segment.os, "write", full)
    with pytest.raises(OSError, match="No space"):
        store.put("b", 2)
    store.put("c", 3)
    store.close()
    found = opened(tmp_path)
    assert (found.get("a"), found.has("b"), found.get("c"), found.damaged) == (1, False, 3, 0)


def test_a_short_write_goes_on(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(segment.os, "write", lambda file, line: real(file, line[:3]))
    store = Store(tmp_path)
    store.put("a" * 40, 1)
    store.put("b", 2)
    store.close()
    assert (opened(tmp_path).get("a" * 40), opened(tmp_path).get("b")) == (1, 2)


def test_what_cannot_be_synced_is_told(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("a", 1)

    def failing(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(segment.os, "fsync", failing)
    with pytest.raises(OSError, match="Input/output"):
        store.close()
    monkeypatch.undo()
    store.put("b", 2)
    store.close()
    assert opened(tmp_path).get("b") == 2


def test_a_folder_that_vanishes_is_made_anew(tmp_path):
    store = opened(tmp_path / "kept")
    store.put("a", 1)
    shutil.rmtree(tmp_path / "kept")
    store.put("b", 2)
    store.close()
    assert opened(tmp_path / "kept").get("b") == 2


def test_files_of_writers_that_have_ended_are_not_read_again(tmp_path, monkeypatch):
    for key in "abc":
        store = Store(tmp_path)
        store.put(key, key)
        store.close()
    killed = Store(tmp_path)
    killed.put("d", "d")
    store, looked = opened(tmp_path), []
    monkeypatch.setattr(store_module, "places", lambda *given: looked.append(given) or ([], 0, 0))
    store.refresh()
    assert len(looked) == 1
    assert [store.get(key) for key in "abcd"] == list("abcd")


def test_what_is_written_is_synced_within_a_second(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(segment, "SYNC_S", 0.05)
    real = os.fsync
    monkeypatch.setattr(segment.os, "fsync", lambda file: synced.append(file) or real(file))
    store = Store(tmp_path)
    store.put("a", 1)
    first = len(synced)
    for number in range(100):
        store.put(f"b{number}", 2)
    assert len(synced) <= first + 3
    before = len(synced)
    store.put("c", 3)
    deadline = time.monotonic() + 5
    while len(synced) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    store.close()


def test_a_claim_is_one_s_own(tmp_path):
    first, other = Claims(tmp_path), Claims(tmp_path)
    assert first.take("a") and not other.take("a") and other.take("b")
    first.release("a")
    assert other.take("a")
    # Letting go of what is another's by now takes nothing away.
    first.release("a")
    assert not first.take("a")
    other.close()
    assert list(tmp_path.iterdir()) == []
    assert first.take("a")
    first.close()


def test_a_claim_that_cannot_be_written_is_free(tmp_path, monkeypatch):
    mine = Claims(tmp_path)

    def full(file, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(claims.os, "write", full)
    with pytest.raises(OSError, match="No space"):
        mine.take("a")
    monkeypatch.undo()
    assert mine.take("a")
    mine.close()


@pytest.fixture
def elsewhere(monkeypatch):
    """Owners on a machine whose processes cannot be seen."""
    monkeypatch.setattr(claims, "_machine", lambda: "-")


def test_a_claim_that_does_not_move_is_taken_over_once(tmp_path, elsewhere):
    now = 0.0
    dead = Claims(tmp_path)
    first, second = (Claims(tmp_path, lambda: now) for _ in range(2))
    assert dead.take("a")
    assert not first.take("a") and not second.take("a")
    now = claims.STALE_S - 1
    assert not first.take("a")
    now = claims.STALE_S
    assert first.take("a") and not second.take("a")
    # The one who was thought dead goes on, and leaves the claim alone.
    dead.release("a")
    assert not second.take("a")
    for each in (dead, first, second):
        each.close()


def test_a_claim_that_was_taken_over_meanwhile_is_put_back(tmp_path, elsewhere, monkeypatch):
    """Another process took it over after this one had seen that it is stale."""
    now = 0.0
    dead, slow, quick = (Claims(tmp_path, lambda: now) for _ in range(3))
    assert dead.take("a") and not slow.take("a") and not quick.take("a")
    now = claims.STALE_S
    real = Path.rename

    def late(self, target):
        monkeypatch.setattr(Path, "rename", real)
        assert quick.take("a")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", late)
    assert not slow.take("a")
    assert (tmp_path / "a").read_text().startswith(quick.owner)
    assert len(list(tmp_path.iterdir())) == 1
    for each in (dead, slow, quick):
        each.close()


def test_a_claim_that_moves_is_left_alone(tmp_path, elsewhere, monkeypatch):
    monkeypatch.setattr(claims, "BEAT_S", 0.01)
    now = 0.0
    owner, other = Claims(tmp_path), Claims(tmp_path, lambda: now)
    assert owner.take("a") and not other.take("a")
    for _ in range(3):
        before = (tmp_path / "a").read_bytes()
        while (tmp_path / "a").read_bytes() == before:
            time.sleep(0.005)
        now += claims.STALE_S
        assert not other.take("a")
    owner.close()
    other.close()


def test_a_rename_that_is_told_to_have_failed_is_settled_by_what_is_there(
    tmp_path, elsewhere, monkeypatch
):
    now = 0.0
    dead, first = Claims(tmp_path), Claims(tmp_path, lambda: now)
    assert dead.take("a") and dead.take("b") and not first.take("a") and not first.take("b")
    now = claims.STALE_S
    real = Path.rename

    def lost_answer(self, target):
        real(self, target)
        raise OSError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(Path, "rename", lost_answer)
    assert first.take("a")

    def failed(self, target):
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Path, "rename", failed)
    assert not first.take("b")
    dead.close()
    first.close()


def test_a_process_of_this_machine_that_has_ended_is_not_waited_for(tmp_path):
    script = "from pathlib import Path; from spillway.tasks.claims import Claims; import os\n"
    script += f"assert Claims(Path({str(tmp_path)!r})).take('a'); os._exit(0)"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert (tmp_path / "a").exists()
    mine = Claims(tmp_path)
    assert mine.take("a")
    mine.close()


def put(store, counts=None):
    def compute(task, report):
        report(None)
        if counts is not None:
            counts[task.key] += 1
        store.put(task.key, task.key)
        return True

    return compute


def test_every_task_is_computed_once(tmp_path):
    store, counts = opened(tmp_path), Counter()
    tasks = [Call(str(number)) for number in range(20)]
    assert run(tasks[:5], store, put(store, counts), jobs=3)
    assert run(tasks, store, put(store, counts), jobs=3)
    assert counts == Counter({task.key: 1 for task in tasks})
    store.close()
    assert not list((tmp_path / "claims").iterdir())


def test_what_another_process_computes_is_waited_for(tmp_path):
    """It is neither computed again nor missing."""
    store, other, counts = opened(tmp_path), opened(tmp_path), Counter()
    assert other.claims.take("1")

    def finish():
        time.sleep(0.3)
        other.put("1", "theirs")
        other.claims.release("1")

    thread = threading.Thread(target=finish)
    thread.start()
    shares, came = [], []

    def follow(label, share):
        return (lambda _: None), (lambda: shares.append(share))

    tasks = [Call(key, f"task {key}") for key in "012"]
    assert run(tasks, store, put(store, counts), jobs=2, follow=follow, done=came.append)
    thread.join()
    assert store.get("1") == "theirs" and set(counts) == {"0", "2"}
    # Progress is of all of them.
    assert sorted(came) == ["task 0", "task 1", "task 2"]
    assert sum(shares) == pytest.approx(1)
    store.close()
    other.close()


def test_a_failure_is_raised_and_frees_its_claim(tmp_path):
    store = opened(tmp_path)

    def compute(task, report):
        if task.key == "2":
            raise ValueError("no")
        return put(store)(task, report)

    with pytest.raises(ValueError, match="no"):
        run([Call(str(number)) for number in range(3)], store, compute, jobs=1)
    assert store.has("0") and store.has("1") and not store.has("2")
    assert not (tmp_path / "claims" / "2").exists()
    store.close()


def test_what_ends_early_is_not_there(tmp_path):
    store = opened(tmp_path)
    assert not run([Call("a")], store, lambda task, report: False, jobs=1)
    assert not store.has("a")


WORKER = """
import os, sys, time
from pathlib import Path
from spillway.tasks.run import run
from spillway.tasks.store import Store
sys.path.insert(0, sys.argv[2])
from test_tasks import Call
folder = Path(sys.argv[1])
store = Store(folder)
store.refresh()
def compute(task, report):
    with (folder / "log").open("a") as log:
        log.write(task.key + "\\n")
    time.sleep(0.02)
    store.put(task.key, int(task.key) ** 2)
    return True
run([Call(str(number)) for number in range(60)], store, compute, jobs=2)
store.close()
"""


def test_processes_share_the_work_and_one_that_is_killed_loses_nothing(tmp_path):
    command = [sys.executable, "-c", WORKER, str(tmp_path), str(Path(__file__).parent)]
    workers = [subprocess.Popen(command) for _ in range(3)]
    log = tmp_path / "log"
    while not log.exists() or len(log.read_text().split()) < 12:
        time.sleep(0.01)
    workers[0].kill()
    assert [worker.wait() for worker in workers][1:] == [0, 0]
    store = opened(tmp_path)
    assert [store.get(str(number)) for number in range(60)] == [n**2 for n in range(60)]
    # Only what the killed one was at may have been begun twice.
    begun = Counter(log.read_text().split())
    assert set(begun.values()) <= {1, 2} and sum(begun.values()) <= 62
    assert all(store.has(claim.name) for claim in (tmp_path / "claims").iterdir())


def test_ten_thousand_records_are_small_and_quick_to_find(tmp_path):
    store = Store(tmp_path)
    for number in range(10_000):
        store.put(f"{number:064}", {"numbers": dict.fromkeys(("p50", "p99"), 1.5)})
    store.close()
    size = only(tmp_path).stat().st_size
    assert size < 10_000 * 130
    found = opened(tmp_path)
    assert found.get(f"{9_999:064}") == json.loads('{"numbers": {"p50": 1.5, "p99": 1.5}}')
