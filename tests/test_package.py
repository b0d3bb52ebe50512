"""The package as a whole: its examples, its types, its scenarios."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import spillway
from spillway import _core

PACKAGES = pkgutil.walk_packages(spillway.__path__, "spillway.")
MODULES = {"spillway", *(name for _, name, _ in PACKAGES)}
MODULES -= {"spillway._core", "spillway.__main__"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_the_stub_says_what_the_module_has(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "spillway._core"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_is_typed():
    assert (Path(spillway.__file__).parent / "py.typed").is_file()


def test_the_repository_s_scenarios_are_those_that_are_shipped():
    folder = Path(__file__).parent.parent / "scenarios"
    texts = {path.stem: path.read_text() for path in folder.glob("*.toml")}
    assert dict(_core.shipped()) == texts
