"""The distribution of the studies as a whole."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import spillway_studies

PACKAGES = pkgutil.walk_packages(spillway_studies.__path__, "spillway_studies.")
MODULES = sorted(name for _, name, _ in PACKAGES if ".tests" not in name)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


WITHOUT = """
import sys
from importlib import metadata
found = metadata.entry_points
metadata.entry_points = lambda **only: [
    each for each in found(**only) if not each.value.startswith("spillway_studies")
]
from spillway.cli import invoke
sys.exit(invoke(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "arguments", [["reproduce", "credence/figure6", "--scale", "page"], ["validate", "abm", "x"]]
)
def test_without_the_studies_their_commands_say_what_to_install(arguments):
    command = [sys.executable, "-c", WITHOUT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: {arguments[0]} is a command of the extra papers\n\n"
        "hint: pip install 'spillway[papers]', or in a clone: pip install ./studies\n"
    )


def test_without_the_studies_a_report_says_what_shows_figures(tmp_path):
    (tmp_path / "summary.json").write_text('{"figure": "credence/figure6"}')
    command = [sys.executable, "-c", WITHOUT, "report", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is a figure, which nothing here can show" in done.stderr
    assert "pip install 'spillway[papers]', or in a clone: pip install ./studies" in done.stderr
