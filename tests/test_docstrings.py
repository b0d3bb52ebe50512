"""What public functions say of their arguments."""

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spillway.learning.acc.training import train

PACKAGES = [
    "spillway",
    "spillway.formats.rdma",
    "spillway.learning.acc",
    "spillway.learning.bounds",
    "spillway.learning.gym",
    "spillway.learning.oracle",
    "spillway.plugins",
    "spillway.theory.fluid",
    "spillway.theory.slotted",
    "spillway.theory.thresholds",
]
"""Those whose `__all__` is for users."""
ALWAYS = {f"spillway.{name}" for name in ("run", "sweep", "Simulation", "Scenario", "Result")}
"""What describes its arguments, few or many."""
MANY = 5
"""The number of arguments from which on names do not tell enough."""
MADE_BY_OTHERS = {"spillway.Experiment", "spillway.Sweep"}
"""Classes whose objects come from functions, which describe their arguments."""


def differences(function: Callable[..., Any], texts: list[str | None]) -> str:
    """How the arguments that these texts describe differ from those of a function."""
    wanted = arguments(function)
    given = [name for text in texts for name in entries(text or "", "Args")]
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    twice = sorted({name for name in given if given.count(name) > 1})
    told = {"not described": missing, "no arguments": unknown, "twice": twice}
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in told.items() if names)


def arguments(function: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments, `*` and `**` included."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        f"{stars.get(each.kind, '')}{each.name}"
        for each in inspect.signature(function).parameters.values()
        if each.name not in ("self", "cls")
    ]


def entries(text: str, section: str) -> list[str]:
    """The names that a section describes, each on a line with the first words about it.

    Lines that go on are indented further, and a line that is no entry is a heading.
    """
    lines = inspect.cleandoc(text).splitlines()
    if f"{section}:" not in lines:
        return []
    found = []
    for line in lines[lines.index(f"{section}:") + 1 :]:
        if line and not line.startswith(" "):
            break
        entry = re.fullmatch(r"    (\*{0,2}\w+): \S.*", line)
        found += [entry[1]] if entry else []
    return found


def public(package: str) -> list[tuple[str, Any]]:
    """The functions and classes of a package that are for its users, without those of the core."""
    module = importlib.import_module(package)
    found = [(name, getattr(module, name)) for name in module.__all__]
    return [(f"{package}.{name}", each) for name, each in found if is_own(each)]


def is_own(found: object) -> bool:
    """Whether something is a function or a class that is written here, and no error."""
    is_error = inspect.isclass(found) and issubclass(found, BaseException)
    is_one = inspect.isroutine(found) or (inspect.isclass(found) and not is_error)
    where = getattr(found, "__module__", None) or ""
    return is_one and where.startswith("spillway.") and where != "spillway._core"


def is_long(function: Callable[..., Any]) -> bool:
    return len(arguments(function)) >= MANY


def functions() -> Iterator[tuple[str, Callable[..., Any], list[str | None]]]:
    """Public functions and methods that describe their arguments, and the texts that may."""
    yield "spillway.learning.acc.training.train", train, [train.__doc__]
    for name, found in (each for package in PACKAGES for each in public(package)):
        must = is_long(found) or name in ALWAYS
        if inspect.isfunction(found) and must:
            yield name, found, [found.__doc__]
        if not inspect.isclass(found):
            continue
        for own, method in inspect.getmembers(found, inspect.isroutine):
            if own.startswith("_") or not is_own(method):
                continue
            if is_long(method) or (name in ALWAYS and arguments(method)):
                yield f"{name}.{own}", method, [method.__doc__]
        is_written = not dataclasses.is_dataclass(found) and is_own(found.__init__)
        if is_written and must and name not in MADE_BY_OTHERS:
            yield name, found, [found.__doc__, found.__init__.__doc__]


def data_classes() -> Iterator[tuple[str, type]]:
    """Public data classes with many fields."""
    for name, found in (each for package in PACKAGES for each in public(package)):
        if inspect.isclass(found) and dataclasses.is_dataclass(found) and is_long(found):
            yield name, found


def described_fields(made: type) -> set[str]:
    """The fields of a data class that a text beneath them, or its `Attributes:`, describes."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    assert isinstance(tree, ast.ClassDef)
    found = set(entries(made.__doc__ or "", "Attributes"))
    for line, below in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if is_text and isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            found.add(line.target.id)
    return found


FUNCTIONS = {name: told for name, *told in functions()}
DATA_CLASSES = dict(data_classes())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_their_arguments_are(name):
    assert differences(*FUNCTIONS[name]) == ""


@pytest.mark.parametrize("name", DATA_CLASSES)
def test_data_classes_say_what_their_fields_are(name):
    fields = {field.name for field in dataclasses.fields(DATA_CLASSES[name])}
    assert fields - described_fields(DATA_CLASSES[name]) == set()


def test_what_users_call_is_among_them():
    methods = {"spillway.theory.slotted.Arrivals.generate", "spillway.plugins.Aqm.on_send"}
    assert {"spillway.tune", "spillway.learning.gym.NetworkEnv", *ALWAYS, *methods} <= {*FUNCTIONS}
    assert "spillway.theory.fluid.Bottleneck" in DATA_CLASSES


def test_an_argument_without_a_description_is_found():
    def whole(source: str, *, seeds: int = 1, **keys: float) -> None:
        """Runs.

        Args:
            source: A path, or a name:
                seeds: is no entry here.

            What is tried:
            seeds: How many.
            **keys: All others, such as `alpha: 1`.

        Returns:
            nothing: That is all.
        """

    assert differences(whole, [whole.__doc__]) == ""

    def more(source: str, *, seeds: int = 1, force: bool = False, **keys: float) -> None: ...

    assert differences(more, [whole.__doc__]) == "not described: force"

    def fewer(source: str, **keys: float) -> None: ...

    assert differences(fewer, [whole.__doc__]) == "no arguments: seeds"
    assert differences(fewer, [None, "No section."]) == "not described: source, **keys"

    def twice(a: int, b: int) -> None: ...

    assert differences(twice, ["A.\n\nArgs:\n    a: Said.", "B.\n\nArgs:\n    b: Said."]) == ""
    again = "A.\n\nArgs:\n    a: Said.\n    b: Said.\n    b: Again."
    assert differences(twice, [again]) == "twice: b"
    assert differences(twice, ["A.\n\nArgs:\n    a:\n    b: Said."]) == "not described: a"


def test_a_field_without_a_description_is_found():
    @dataclasses.dataclass
    class Some:
        """Some fields.

        Attributes:
            first: Said here.
        """

        first: int
        second: int
        """Said here."""
        third: int

    assert described_fields(Some) == {"first", "second"}
