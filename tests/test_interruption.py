"""Ctrl-C, exits and closed pipes: while modules are imported, in plug-ins, at any output."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import spillway
from spillway.base.threads import all_of
from spillway.run.run import _simulate, read_with_inputs, run_whole
from support import TINY, names
from test_cli_errors import LONG, refused

PLUGIN = """
from spillway.plugins import Sharing


class Ends(Sharing):
    id = "ends"

    {hook}
        {statement}

    def admit(self, arrival, buffer):
        return True
"""


@pytest.mark.parametrize("module", ["statistics", "typer", "rich", "pyarrow"])
@pytest.mark.parametrize("arguments", [["run", TINY, "--out", "out"], ["--version"]])
def test_ctrl_c_during_an_import_is_no_traceback(tmp_path, module, arguments):
    """Of the package, the command line, or what a command needs."""
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "spillway", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    if arguments == ["--version"] and module == "pyarrow":
        assert done.returncode == 0
        return
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert not [name for name in names(tmp_path) if name.startswith("out")]


def test_ctrl_c_during_an_import_by_others_is_theirs(tmp_path):
    (tmp_path / "statistics.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-c", "import spillway"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and done.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("statement", ["sys.exit()", "sys.exit(0)", "raise GeneratorExit"])
def test_a_plug_in_that_ends_the_program_at_import_has_failed(command, tmp_path, statement):
    (tmp_path / "ends.py").write_text(f"import sys\n\n{statement}\n")
    for name in ("run", "show", "list"):
        more = [] if name == "list" else [TINY]
        outcome = command(name, *more, "--plugin", "ends.py:Ends")
        assert outcome.status == 1
        assert "error: ends.py cannot be imported" in outcome.err
        assert statement in outcome.err


@pytest.mark.parametrize("hook", ["def __init__(self):", "def start(self, switch):"])
def test_a_plug_in_that_ends_the_program_later_has_failed(command, tmp_path, hook):
    text = PLUGIN.format(hook=hook, statement="raise SystemExit(0)")
    (tmp_path / "ends.py").write_text(text)
    chosen = ["--plugin", "ends.py:Ends", "--set", "switch.sharing=ends"]
    outcome = command("run", TINY, *chosen, "--out", "out")
    assert outcome.status == 1 and "error: the plug-in ends has failed" in outcome.err
    assert names() == ["ends.py"]


QUITS = """
from spillway.plugins import Sharing


class Meta(type):
    @property
    def citation(cls):
        raise SystemExit(0)


class Quits(Sharing, metaclass=Meta):
    id = "quits"

    def admit(self, arrival, buffer):
        return True
"""


def test_whatever_else_ends_the_program_is_no_success(command, tmp_path):
    (tmp_path / "quits.py").write_text(QUITS)
    outcome = command("list", "sharing", "--plugin", "quits.py:Quits")
    refused(outcome, "something has ended the program", "does a plug-in do so?", status=1)


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["list", "scenarios"], ["show", TINY], ["run", "--help"], ["run", TINY]],
)
@pytest.mark.parametrize("buffered", [True, False])
def test_whoever_reads_the_output_may_stop(tmp_path, arguments, buffered):
    """As `| head` does: no message, and the status of a program that a closed pipe has ended."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, *([] if buffered else ["-u"]), "-m", "spillway", *arguments],
        cwd=tmp_path,
        stdout=writes,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, "")


class Interrupted:
    """Takes rows, and is told to stop when the first of them are neither in the core nor kept."""

    rows = 5

    def __init__(self, number):
        self.kept = 0
        self.number = number

    def take(self, simulation):
        rows = len(simulation.take("flows")["flow_id"])
        if not self.kept:
            os.kill(os.getpid(), self.number)
        self.kept += rows

    def tables(self):
        return {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_rows_are_on_their_way_loses_none(number):
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    scenario = spillway.Scenario.load(TINY).set(*LONG[1::2])
    sink = Interrupted(number)
    try:
        result = _simulate(*read_with_inputs(scenario), sink, None)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert result.status == "interrupted"
    assert sink.kept == result.summary["flows"]["started"] > Interrupted.rows


def test_ctrl_c_begins_no_more_of_a_list():
    begun = []

    def work(item, report):
        begun.append(item)
        if item == 1:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(1)
        return item

    with pytest.raises(KeyboardInterrupt):
        all_of(work, range(1000), 1)
    assert begun == [0, 1]


def test_two_signals_at_once_are_one():
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    begun = []

    def work(item, report):
        begun.append(item)
        if item == 1:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
                signal.pthread_kill(threading.main_thread().ident, number)
            time.sleep(1)
        return item

    try:
        with pytest.raises(KeyboardInterrupt):
            all_of(work, range(1000), 1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert begun == [0, 1]


def test_a_failure_begins_no_more_of_a_list():
    begun = []

    def work(item, report):
        begun.append(item)
        if item == 1:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        all_of(work, range(1000), 1)
    assert len(begun) < 500
    assert all_of(lambda item, _: str(item), range(3), 2) == ["0", "1", "2"]


def test_ctrl_c_ends_what_is_under_way():
    scenario = spillway.Scenario.load(TINY).set(*LONG[1::2])
    begun = []

    def work(item, report):
        begun.append(item)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        return run_whole(scenario, report)

    # Otherwise it takes hours.
    with pytest.raises(KeyboardInterrupt):
        all_of(work, range(10), 1)
    assert begun == [0]
