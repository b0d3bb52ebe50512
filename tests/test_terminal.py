"""What reaches the terminal: no name in a scenario makes it do anything."""

import io
import json
import re

import pytest

from spillway.base.progress import ProgressBar
from spillway.base.texts import printable
from spillway.cli.output import console
from support import TINY, needs_studies

EVIL = "\x1b[31m\x1b]0;title\x07\x9b2J\x7f\u202e[bold]x[/nothing]"
TUNED = ("--trials", "2", "--seeds", "1", "--confirm-duration", "5ms", "--out", "t", "--minimize")
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def quoted(text: str) -> str:
    """As TOML has it."""
    return json.dumps(text).replace("\x7f", "\\u007f")


@pytest.fixture
def evil(tmp_path):
    """A scenario that has evil names wherever there are names."""
    text = TINY.read_text().replace('"tiny"', quoted(EVIL))
    (tmp_path / "evil.toml").write_text(text.replace('"background"', quoted(EVIL)))
    return tmp_path / "evil.toml"


@pytest.mark.parametrize("as_json", [[], ["--json"]])
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "evil.toml"],
        ["run", "evil.toml", "--out", EVIL],
        ["run", "evil.toml", "--seeds", "1..2"],
        ["compare", "evil.toml", "--vary", f"name={EVIL},b"],
        ["tune", "evil.toml", "--over", f"name={EVIL},b", *TUNED, "drops"],
        ["tune", "evil.toml", "--over", "switch.sharing=dt,cs", *TUNED, EVIL],
        ["show", "evil.toml"],
        ["flows", "evil.toml", "--out", f"{EVIL}.parquet".replace("/", "")],
        ["run", EVIL],
        ["run", "evil.toml", "--set", f"{EVIL}=1"],
        ["run", "evil.toml", "--set", f"switch.sharing={EVIL}"],
        ["run", "evil.toml", "--set", f"traffic.{EVIL}.load=1"],
        ["run", "evil.toml", "--plugin", f"{EVIL}.py:X"],
        ["list", EVIL],
        [EVIL],
        ["run", "evil.toml", f"--{EVIL}"],
        ["slotted", "run", EVIL],
        ["slotted", "run", "bursts", "--policies", EVIL],
        pytest.param(["reproduce", EVIL], marks=needs_studies),
        ["oracle", "show", EVIL],
        ["report", EVIL],
    ],
)
def test_no_name_is_a_command_to_the_terminal(command, evil, arguments, as_json):
    outcome = command(*arguments, *as_json)
    assert outcome.status in (0, 2)
    found = UNSAFE.search(outcome.out + outcome.err)
    assert found is None, outcome
    if as_json and outcome.status == 0:
        assert outcome.json is not None


def test_a_name_is_shown_with_pictures_of_what_it_has(command, evil):
    shown = "␛[31m␛]0;title�2J␡�[bold]x[/nothing]"
    assert shown in command("run", "evil.toml").out
    assert command("run", "evil.toml", "--json").json["scenario"] == EVIL


def test_a_plug_in_s_traceback_is_cleaned(command, tmp_path):
    (tmp_path / "bad.py").write_text(f"raise ValueError({EVIL!r})\n")
    outcome = command("run", TINY, "--plugin", "bad.py:X")
    assert outcome.status == 1 and "ValueError" in outcome.err
    assert UNSAFE.search(outcome.err) is None


def test_half_a_character_is_printed_too():
    written = io.StringIO()
    console(written).print("a\udcffb")
    assert written.getvalue() == "a�b\n" and printable("\ud800") == "�"


class Terminal(io.StringIO):
    """Text that a terminal would get."""

    def isatty(self) -> bool:
        return True


def test_labels_of_bars_are_no_markup(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    shown = console(terminal)
    shown.width = 140
    with ProgressBar(shown, 1) as bar:
        bar.follow(EVIL)
        bar.follow("alpha=[8, 2]")
        bar._bar.refresh()
    text = terminal.getvalue()
    assert "alpha=[8, 2]" in text and "[/nothing]" in text and "\x1b]0" not in text
