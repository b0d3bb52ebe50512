"""The package as a whole: its examples, its types, its scenarios."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import spillway
from spillway import _core

PACKAGES = pkgutil.walk_packages(spillway.__path__, "spillway.")
MODULES = {"spillway", *(name for _, name, _ in PACKAGES)}
MODULES -= {"spillway._core", "spillway.__main__"}
TRAINING = {"spillway.learning.acc.learner"}
"""What needs the extra `train`."""


@pytest.mark.parametrize("name", sorted(MODULES))
def test_examples_in_docstrings_hold(name):
    if name in TRAINING:
        pytest.importorskip("stable_baselines3", reason="the extra train is not installed")
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_the_stub_says_what_the_module_has(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "spillway._core"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_is_typed():
    assert (Path(spillway.__file__).parent / "py.typed").is_file()


def test_the_repository_s_scenarios_are_those_that_are_bundled():
    folder = Path(__file__).parent.parent / "scenarios"
    texts = {path.stem: path.read_text() for path in folder.glob("*.toml")}
    assert dict(_core.bundled()) == texts


def test_no_file_of_rust_tests_is_left_out():
    folders = list((Path(__file__).parent.parent / "crates").glob("*/tests"))
    assert folders
    for folder in folders:
        named = re.findall(r"^mod (\w+);$", (folder / "all.rs").read_text(), re.MULTILINE)
        files = {path.stem for path in folder.glob("*.rs")} - {"all"}
        assert named == sorted(files | {path.parent.name for path in folder.glob("*/mod.rs")})


@pytest.mark.parametrize(
    ("lock", "extra"), [("requirements.lock", "dev"), ("requirements-train.lock", "train")]
)
def test_the_locks_keep_the_ranges_and_name_hashes_and_no_addresses(lock, extra):
    root = Path(__file__).parent.parent
    text = (root / lock).read_text()
    entries = re.findall(
        r"^(\S+==\S+)(?: ; [^\\]+)?((?: \\\n    --hash=\S+)*)$", text, re.MULTILINE
    )
    assert entries and all(hashes for _, hashes in entries)
    # Nothing else is in it, but for the comment on top: no address of an index, no option.
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == sum(1 + hashes.count("--hash=") for _, hashes in entries)
    assert "//" not in text

    locked: dict[str, list[str]] = {}
    for entry, _ in entries:
        name, version = entry.split("==")
        locked.setdefault(name, []).append(version)
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    ranges = [*project["dependencies"], *project["optional-dependencies"][extra]]
    for wanted in map(Requirement, ranges):
        assert wanted.name in locked, wanted
        assert all(wanted.specifier.contains(version) for version in locked[wanted.name]), wanted
