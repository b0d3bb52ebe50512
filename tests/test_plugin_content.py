"""Plug-ins are known by what they consist of: the file of the class, and its helper modules."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import plugins
import spillway
from spillway.plugins import Sharing, load
from spillway.plugins.content import content, found, modules
from spillway.plugins.files import copies, packed, unpacked
from support import TINY, names

HALF = """
{imports}
from spillway.plugins import Sharing


class Half(Sharing):
    id = "half"

    def admit(self, arrival, buffer):
        {first}
        return buffer.bytes(arrival.queue) + arrival.size <= {limit}
"""
HELPER = "def limit(buffer):\n    return buffer.free / 2\n"
RUN = ["switch.sharing=half", "duration=100us"]


def half(imports="", first="", limit="buffer.free / 2") -> str:
    return HALF.format(imports=imports, first=first, limit=limit)


WITH_HELPER = half("from helper import limit", limit="limit(buffer)")
LAZY = half(first="from helper import limit", limit="limit(buffer)")


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Forgets what a test has imported from its folder."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Python leaves compiled modules in folders of results, too.
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield
    forget(tmp_path)


def forget(folder: Path) -> None:
    """As in a new process: nothing is imported from the folder, or found there."""
    sys.path[:] = [each for each in sys.path if not each.startswith(str(folder))]
    for name, module in list(sys.modules.items()):
        if str(folder) in f"{getattr(module, '__file__', '')} {getattr(module, '__path__', '')}":
            del sys.modules[name]


def written(folder: Path, **texts: str) -> Path:
    """A folder of modules, by import names in which `__` stands for a dot."""
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    importlib.invalidate_caches()
    return folder


def anew(file: Path) -> str:
    """The content of a file's plug-in in a process that has imported nothing else."""
    forget(file.parent)
    return content(load(f"{file}:Half"))


def of_package(folder: Path) -> type[Sharing]:
    """A class that is imported from a package, as Python's own imports do it."""
    sys.path.insert(0, str(folder))
    return importlib.import_module("pack.policies.half").Half


PACKAGE = {
    "pack__init": "",
    "pack__policies__half": half("from ..common import rules\nfrom . import other"),
    "pack__policies__other": "",
    "pack__policies__unrelated": "",
    "pack__common__rules": "from .deep import A\n",
    "pack__common__deep": "A = 1\n",
}


def package(folder: Path) -> Path:
    written(folder, **PACKAGE)
    (folder / "pack" / "init.py").rename(folder / "pack" / "__init__.py")
    return folder


def test_a_plug_in_is_its_file_and_what_it_imports_of_the_user_s_own(tmp_path):
    texts = {
        "half": half("import json, numpy, helper"),
        "helper": "import spillway.run\nfrom more import A, B\nif not A: import not_there\n",
        "more": "import half\nA = B = 1\n",
        "unrelated": "",
    }
    plugin = load(f"{written(tmp_path, **texts)}/half.py:Half")
    own = modules(plugin)
    assert own == {name: tmp_path / f"{name}.py" for name in ("half", "helper", "more")}
    assert next(iter(own)) == "half"


def test_the_digest_follows_the_files_and_not_their_place(tmp_path):
    here = written(tmp_path / "here", half=WITH_HELPER, helper=HELPER, unrelated="A = 1\n")
    first = anew(here / "half.py")
    written(here, unrelated="A = 2\n", other="A = 3\n")
    assert anew(here / "half.py") == first
    shutil.copytree(here, tmp_path / "there")
    assert anew(tmp_path / "there" / "half.py") == first
    forget(tmp_path)
    sys.path.insert(0, str(here))
    assert content(importlib.import_module("half").Half) == first
    written(here, helper=HELPER.replace("2", "3"))
    third = anew(here / "half.py")
    written(here, half=f"{WITH_HELPER}\nA = 1\n")
    assert len({first, third, anew(here / "half.py")}) == 3


def test_another_class_of_the_file_has_another_digest(tmp_path):
    text = half() + "\n\nclass Other(Half):\n    id = 'other'\n"
    file = written(tmp_path, half=text) / "half.py"
    assert content(load(f"{file}:Half")) != content(load(f"{file}:Other"))


@pytest.mark.parametrize(
    "imports",
    [
        "import helper",
        "import helper as h",
        "from helper import *",
        "import importlib; importlib.import_module('helper')",
        "__import__('helper')",
        "try:\n    import helper\nexcept ImportError: pass",
        "if False:\n    import helper",
        "import typing\nif typing.TYPE_CHECKING: from helper import limit",
    ],
)
def test_ways_to_import_a_helper(imports, tmp_path):
    file = written(tmp_path, half=half(imports), helper=HELPER) / "half.py"
    assert list(modules(load(f"{file}:Half"))) == ["half", "helper"]


def test_a_helper_that_is_imported_late_counts_and_is_not_executed(tmp_path):
    file = written(tmp_path, half=LAZY, helper=f"{HELPER}\nimport later\n", later="") / "half.py"
    first = anew(file)
    assert list(modules(load(f"{file}:Half"))) == ["half", "helper", "later"]
    assert "helper" not in sys.modules
    written(tmp_path, later="1 / 0\n")
    assert anew(file) != first


def test_a_helper_that_cannot_be_read_as_python_counts_too(tmp_path):
    file = written(tmp_path, half=LAZY, helper="what is this") / "half.py"
    first = anew(file)
    written(tmp_path, helper="what was that")
    assert anew(file) != first


def test_relative_imports_and_packages(tmp_path):
    plugin = of_package(package(tmp_path))
    own = {"pack", *(f"pack.common.{name}" for name in ("deep", "rules"))}
    assert modules(plugin).keys() == own | {"pack.policies.half", "pack.policies.other"}
    first = content(plugin)
    for name, counts in (("common/deep", True), ("__init__", True), ("policies/unrelated", False)):
        file = tmp_path / "pack" / f"{name}.py"
        before = file.read_text()
        file.write_text(f"{before}\nB = 2\n")
        forget(tmp_path)
        assert (content(of_package(tmp_path)) != first) == counts, name
        file.write_text(before)


def test_the_packages_that_hold_a_class_count_though_it_imports_nothing(tmp_path):
    package(tmp_path)
    written(tmp_path, pack__policies__half=half())
    (tmp_path / "pack" / "__init__.py").write_text("from .common import deep\n")
    own = {"pack", "pack.common.deep", "pack.policies.half"}
    assert modules(of_package(tmp_path)).keys() == own


def test_all_modules_of_a_package_may_be_meant_by_a_star(tmp_path):
    package(tmp_path)
    written(tmp_path, pack__policies__half=half("from pack.common import *"))
    assert "pack.common.rules" in modules(of_package(tmp_path))


def test_files_of_base_classes_count_even_if_nothing_names_them(tmp_path):
    mine = "import sys\n\nclass Mine(sys.modules['half'].Half): id = 'mine'\n"
    written(tmp_path, half=WITH_HELPER, helper=HELPER, mine=mine)
    sys.path.insert(0, str(tmp_path))
    importlib.import_module("half")
    assert modules(load(f"{tmp_path}/mine.py:Mine")).keys() == {"mine", "half", "helper"}


def test_a_helper_may_be_anywhere_on_the_path_but_not_among_what_is_installed(tmp_path):
    installed = written(tmp_path / "site-packages", installed="import beside\n", beside="")
    elsewhere = written(tmp_path / "elsewhere", helper=HELPER)
    sys.path[:0] = [str(installed), str(elsewhere)]
    file = written(tmp_path / "mine", half=half("import helper, installed")) / "half.py"
    assert list(modules(load(f"{file}:Half"))) == ["half", "helper"]


def test_an_installed_plug_in_has_its_package(tmp_path):
    assert "pack.common.deep" in modules(of_package(package(tmp_path / "site-packages")))


def local():
    class Local(Sharing):
        id = "local"

    return Local


def executed_text():
    there = {"__name__": __name__}
    exec("from spillway.plugins import Sharing\nclass Unwritten(Sharing): id = 'half'", there)
    return there["Unwritten"]


def in_main():
    return type("Half", (Sharing,), {"id": "half", "__module__": "__main__"})


def nowhere():
    there = {}
    exec("from spillway.plugins import Sharing\nclass Half(Sharing): id = 'half'", there)
    return there["Half"]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (local, "Local cannot be known by its content: it is made in a function"),
        (executed_text, "it is not in the text of .*test_plugin_content.py"),
        (in_main, "Half cannot be known by its content: it is in no file that can be imported"),
        (nowhere, "it is in no file that can be imported"),
    ],
)
def test_what_cannot_be_known(made, why, tmp_path):
    plugin = made()
    for ask in (lambda: content(plugin), lambda: packed([plugin], tmp_path / "out")):
        with pytest.raises(spillway.ScenarioError, match=why) as caught:
            ask()
        assert caught.value.hint == "put the class at the top level of a file of its own"
    assert not (tmp_path / "out").exists()


def test_a_class_in_no_file_has_no_modules():
    with pytest.raises(spillway.ScenarioError, match="it is in no file"):
        modules(nowhere())
    assert found(nowhere()) == [] and copies([nowhere()]) == {}


@pytest.mark.parametrize("changed", ["half", "helper"])
@pytest.mark.parametrize("by_load", [True, False])
def test_a_file_that_has_changed_since_it_was_imported(changed, by_load, tmp_path):
    file = written(tmp_path, half=WITH_HELPER, helper=HELPER) / "half.py"
    sys.path.insert(0, str(tmp_path))
    get = (
        (lambda: load(f"{file}:Half")) if by_load else lambda: importlib.import_module("half").Half
    )
    plugin = get()
    written(tmp_path, **{changed: "A = 1\n"})
    with pytest.raises(spillway.ScenarioError, match=rf"{changed}\.py has changed since") as caught:
        content(plugin)
    assert "start Python anew" in caught.value.hint
    # A result keeps what has been imported, not what is there now.
    assert copies([plugin]) == {"half.py": WITH_HELPER, "helper.py": HELPER}
    (tmp_path / f"{changed}.py").unlink()
    with pytest.raises(spillway.ScenarioError, match=rf"{changed}\.py has changed since"):
        content(plugin)


def test_a_module_that_is_loaded_again_is_what_it_is_now(tmp_path):
    written(tmp_path, half=WITH_HELPER, helper=HELPER)
    sys.path.insert(0, str(tmp_path))
    first = content(importlib.import_module("half").Half)
    # Of another length, so that Python does not take what it has compiled in the same second.
    written(tmp_path, half=f"{WITH_HELPER}\nA = 1\n", helper=f"{HELPER}\nA = 1\n")
    for name in ("helper", "half"):
        importlib.reload(sys.modules[name])
    assert content(sys.modules["half"].Half) != first


@pytest.mark.parametrize("name", ["helper.abi3.so", "helper.py"])
def test_a_helper_that_is_no_text(name, tmp_path):
    file = written(tmp_path, half=LAZY) / "half.py"
    (tmp_path / name).write_bytes(b"# \xff\n")
    with pytest.raises(spillway.ScenarioError, match=r"helper.* is no text of Python") as caught:
        anew(file)
    assert caught.value.hint == "helper modules are files of Python in UTF-8"
    assert copies([load(f"{file}:Half")]) == {"half.py": LAZY}


@pytest.mark.parametrize("text", [WITH_HELPER, LAZY])
@pytest.mark.parametrize("other", [HELPER + "\n", "A = 1\n"])
def test_two_helpers_of_one_name_are_refused(text, other, tmp_path):
    first = written(tmp_path / "a", half=text, helper=HELPER) / "half.py"
    same = written(tmp_path / "b", half=text, helper=HELPER) / "half.py"
    another = written(tmp_path / "c", half=text, helper=other) / "half.py"
    mine = [load(f"{first}:Half"), load(f"{same}:Half")]
    assert content(mine[0]) == content(mine[1])

    def both():
        # The second stands in the other's way, or the other in its own.
        load(f"{another}:Half")
        spillway.run(TINY, plugins=mine[0], set=RUN)

    with pytest.raises(spillway.ScenarioError, match=r"`import helper` can only be") as caught:
        both()
    assert caught.value.hint == "give one of them another name"


def test_a_helper_that_lacks_what_is_imported_is_named_if_it_is_not_the_one_beside(tmp_path):
    first = written(tmp_path / "a", half=half("import helper"), helper="A = 1\n") / "half.py"
    second = written(tmp_path / "b", half=WITH_HELPER, helper=HELPER) / "half.py"
    load(f"{first}:Half")
    with pytest.raises(spillway.ScenarioError, match=r"`import helper` can only be one of"):
        load(f"{second}:Half")


def test_a_base_class_from_a_file_is_no_helper_of_another_plug_in(tmp_path):
    loaded = "from spillway.plugins import load\nBase = load({!r})\nclass Half(Base): id = 'mine'\n"
    base = written(tmp_path / "base", helper=half()) / "helper.py"
    mine = written(tmp_path / "a", mine=loaded.format(f"{base}:Half")) / "mine.py"
    other = written(tmp_path / "b", half=WITH_HELPER, helper=HELPER) / "half.py"
    both = [load(f"{other}:Half"), load(f"{mine}:Half")]
    assert content(both[0]) != content(both[1])
    with pytest.raises(spillway.ScenarioError, match=r"`import helper` can only be one of"):
        copies(both)


def test_a_file_that_is_named_like_one_of_python_s_modules_hides_nothing(tmp_path):
    file = written(tmp_path, half=half("import json"), json="") / "half.py"
    assert list(modules(load(f"{file}:Half"))) == ["half"]


def test_files_of_two_plug_ins_may_have_one_name(tmp_path):
    files = [
        written(tmp_path / "a", policy=half()) / "policy.py",
        written(tmp_path / "b", policy=half(first="pass")) / "policy.py",
    ]
    both = [load(f"{file}:Half") for file in files]
    assert copies(both) == {"half.py": half(), "half-2.py": half(first="pass")}


def test_a_file_finds_the_modules_beside_it_as_with_python_itself(command, tmp_path):
    elsewhere = written(tmp_path / "elsewhere", helper="raise Exception\n")
    sys.path.insert(0, str(elsewhere))
    written(tmp_path / "mine", half=LAZY, helper=HELPER)
    done = command("run", TINY, "--plugin", "mine/half.py:Half", *set_(RUN))
    assert done.status == 0, done.err


def set_(assignments):
    return [word for each in assignments for word in ("--set", each)]


@pytest.mark.parametrize("text", [WITH_HELPER, LAZY])
def test_a_result_runs_again_with_its_helpers(text, command, tmp_path):
    written(tmp_path / "mine", half=text, helper="from deep.er import limit\n", deep__er=HELPER)
    done = command("run", TINY, "--plugin", "mine/half.py:Half", *set_(RUN), "--out", "first")
    assert done.status == 0, done.err
    first = content(load("mine/half.py:Half"))
    assert names("first/inputs") == ["deep", "half.py", "helper.py"]
    shutil.rmtree("mine")
    for place in ("second", "third"):
        forget(tmp_path)
        kept = "first/inputs/half.py:Half"
        done = command("run", "first", "--plugin", kept, "--out", place)
        assert done.status == 0, done.err
        assert content(load(kept)) == first
    results = [spillway.Result.load(name) for name in ("first", "second", "third")]
    assert results[0].flows.equals(results[2].flows)
    assert "__pycache__" in names("first/inputs")
    results[0].save("fourth")
    assert (tmp_path / "fourth/inputs/deep/er.py").read_text() == HELPER
    written(tmp_path / "first" / "inputs", deep__er=f"{HELPER}#")
    done = command("run", "first", "--plugin", kept)
    assert done.status == 2 and "first/inputs/deep/er.py is not what was written" in done.err


def test_a_result_keeps_a_class_with_its_package(tmp_path):
    plugin = of_package(package(tmp_path / "mine"))
    before = content(plugin)
    spillway.run(TINY, plugins=[plugin], set=RUN, out=tmp_path / "out")
    shutil.rmtree(tmp_path / "mine")
    forget(tmp_path)
    again = load(f"{tmp_path}/out/inputs/half.py:Half")
    assert content(again) == before
    assert spillway.run(tmp_path / "out", plugins=[again]).status == "complete"


def test_a_copy_hides_no_module_of_python(tmp_path):
    file = written(tmp_path, half=half().replace('"half"', '"colorsys"')) / "half.py"
    assert list(copies([load(f"{file}:Half")])) == ["colorsys-2.py"]


def test_packed_plug_ins_are_the_same_elsewhere(tmp_path):
    file = written(tmp_path / "mine", my_half=LAZY, helper=HELPER) / "my_half.py"
    classes = [load(f"{file}:Half"), of_package(package(tmp_path / "theirs")), plugins.MyDt]
    nested = "class Outer:\n" + half().replace("\n", "\n    ")
    sys.path.insert(0, str(written(tmp_path / "nested", nested=nested)))
    classes.append(importlib.import_module("nested").Outer.Half)
    packed(classes, tmp_path / "packed")
    shutil.rmtree(tmp_path / "mine")
    code = """if True:
        import sys
        from pathlib import Path
        import spillway
        from spillway.plugins.content import content
        from spillway.plugins.files import unpacked
        found = unpacked(Path(sys.argv[1]))
        print(*(f"{plugin.__qualname__} {content(plugin)}" for plugin in found), sep="\\n")
        spillway.run(sys.argv[2], plugins=found[0], set=sys.argv[3:])
        """
    (tmp_path / "packed").rename(tmp_path / "moved")
    path = str(Path(spillway.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "moved", TINY, *RUN],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    written(tmp_path / "mine", my_half=LAZY, helper=HELPER)
    told = [f"{plugin.__qualname__} {content(plugin)}" for plugin in classes]
    assert done.stdout.splitlines() == told


def test_nothing_is_packed_there(tmp_path):
    with pytest.raises(spillway.ScenarioError, match="there are no packed plug-ins in"):
        unpacked(tmp_path)
