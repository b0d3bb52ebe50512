"""Commands and parts of the report that other distributions add, sound or not."""

import os
import subprocess
import sys

import pytest

from support import TINY

SOUND = """
from spillway.cli.app import app

@app.command()
def {name}() -> None:
    print("{name} of {dist}")
"""


@pytest.fixture
def spillway(tmp_path):
    """Runs a command beside distributions, each given by its entry points and its module."""

    def run(*arguments: str, **distributions: tuple[str, str]) -> tuple[int, str, str]:
        for dist, (points, module) in distributions.items():
            about = tmp_path / f"{dist}-1.dist-info"
            about.mkdir()
            (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1\n")
            (about / "entry_points.txt").write_text(points)
            (tmp_path / f"{dist}_module.py").write_text(module)
        places = [str(tmp_path), *filter(None, sys.path)]
        done = subprocess.run(
            [sys.executable, "-m", "spillway", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "COLUMNS": "140"},
        )
        return done.returncode, done.stdout, done.stderr

    return run


def command(name: str, module: str) -> str:
    return f"[spillway.commands]\n{name} = {module}\n"


def test_what_cannot_be_loaded_is_told_of_and_all_else_works(spillway):
    points = command("broken", "bad_module") + "[spillway.report]\npart = bad_module:SECTION\n"
    sound = SOUND.format(name="fine", dist="good")
    both = {"bad": (points, "import nowhere"), "good": (command("fine", "good_module"), sound)}
    why = "of bad cannot be loaded: ModuleNotFoundError: No module named 'nowhere'\n"
    first = f"warning: broken (spillway.commands) {why}"
    assert spillway("fine", **both) == (0, "fine of good\n", first)
    status, out, err = spillway("run", str(TINY), "--out", "result")
    assert (status, err) == (0, first)
    status, out, err = spillway("report", "result")
    assert (status, err) == (0, f"{first}warning: part (spillway.report) {why}")
    assert "1 run: written to result/report.html" in out


@pytest.mark.parametrize(("name", "says"), [("fine", "fine of one"), ("list", "credence")])
def test_a_name_that_is_taken_is_told_of(spillway, name, says):
    sound = {
        dist: (command(name, f"{dist}_module"), SOUND.format(name=name, dist=dist))
        for dist in ("one", "two")
    }
    status, out, err = spillway(name, **sound)
    assert status == 0 and says in out
    told = "warning: {} (spillway.commands) of {} is left out: that name is taken\n"
    left = ["one", "two"] if name == "list" else ["two"]
    assert sorted(err.splitlines(True)) == [told.format(name, dist) for dist in left]
