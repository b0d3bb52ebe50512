"""Runs every command and every snippet of every page, as a reader would.

The blocks of a page run in order in one empty folder: `sh` in bash, in which `spillway` is a call
into this process; `python`, with names that all blocks of a page share. `toml` is read, what is no
whole scenario as a part of one. `make`, `pip` and whatever else would change the machine is not
run, but their targets and extras must exist; so must commands and options named in sentences, also
in the changelog and in the heads of source files. What takes long is shrunk by the rules below.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import spillway
from generator.catalogue import head
from page_blocks import RUN, Page, taken_apart
from spillway.base.arguments import seeds_of
from spillway.cli.app import _program
from spillway.cli.common import scenario_of
from support import HAS_STUDIES, Outcome

if not HAS_STUDIES:
    pytest.skip("pages have commands of the studies", allow_module_level=True)

from spillway_studies import catalogue
from spillway_studies.pages import KINDS

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "algorithms"),
    *sorted(ROOT.glob("bench/*/README.md")),
    *sorted(ROOT.glob("studies/**/*.md")),
]
SLOW = frozenset(
    {
        "docs/thresholds.md",
        "docs/tuning.md",
        "studies/spillway_studies/credence/paper.md",
        "studies/spillway_studies/smartbuf/paper.md",
    }
)
"""Pages that take more than about 5 s."""

NOT_RUN = ("text", *KINDS)
"""Other kinds of blocks: output and formulas, and those that studies fill in. Directives, as
{toctree}, are not run either."""
DURATION_MS = 2
"""The most that a run simulates, and a snippet's."""
LONGER_MS = {"tune": 10, "record.oracle_trace=true": 10, "online": 10}
"""Where that is too little: every seed of a study needs an incast, an oracle dropped packets."""
FEW = {
    ("arena",): {"--packets": 5000, "--runs": 40},
    ("bounds", "generate"): {"--jobs": 10},
    ("slotted", "lemma1"): {"--instances": 100},
    ("slotted", "search"): {"--steps": 200},
    ("slotted", "table1"): {"--ports": 4, "--buffer": 16},
    ("thresholds",): {"--levels": 3},
    ("tune",): {"--trials": 3},
}
"""Options that say how much is done, and the most of it here."""
FIRST = {
    ("arena",): {"--seeds": 1},
    ("compare",): {"--seeds": 2},
    ("fluid",): {"--flows": 1, "--min-packets": 2, "--seeds": 1, "--slope": 2},
    ("run",): {"--seeds": 2},
    ("slotted", "run"): {"--seeds": 2},
    ("tune",): {"--confirm-seeds": 3, "--seeds": 2},
}
"""Options with lists, and how many of their values are taken here, from the first on."""
ADDED = {
    ("arena",): {"--runs": "40", "--seeds": "1"},
    ("bench",): {"--scenario": "leaf-spine-128"},
    ("compare",): {"--jobs": "1"},
    ("fluid",): {"--flows": "2", "--seeds": "1"},
    ("thresholds",): {"--levels": "3"},
    ("tune",): {"--trials": "3", "--seeds": "1,2", "--confirm-seeds": "5..7"}
    | {"--confirm-duration": "10ms"},
}
"""Options that a command is given where it has none of them, because its defaults take long."""
NOT_ADDED = {"--levels": "--against", "--confirm-duration": "--confirm-seeds"}
"""Options that are not added beside others: published thresholds have a number of levels of their
own, and a study may confirm nothing."""
ONLY_PARSED = (("acc", "train"),)
"""Commands of which only the arguments are checked: these need torch."""
REST = {
    "duration": "20ms",
    "topology": {"kind": "leaf-spine"},
    "traffic": [{"name": "all", "kind": "persistent", "receiver": 0}],
    "switch": {"buffer": "9MB", "aqm": {"kind": "red", "max": "90pkt"}, "pfc": "dynamic"},
}
"""A scenario for tables that are shown without one."""
AGENT = "pred"
"""A bundled agent, for later commands in the place of that which `acc train` would have written."""
TINY_FIGURE = ("reproduce", "pred/figure25", "--seeds", "1")
"""What runs for all figures of `reproduce`, and only where a report of them follows."""

_UNITS = {"ps": 1e-9, "ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


class PageError(Exception):
    """Something on a page does not work."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if name in SLOW else (), id=name)
        for page in PAGES
        for name in [page.relative_to(ROOT).as_posix()]
    ],
)
def test_everything_on_the_page_works(page: Path, run_page):
    run_page(page.read_text(encoding="utf-8"), page)


def test_no_page_is_forgotten():
    assert {"README.md", "CONTRIBUTING.md", "index.md", "paper.md"} <= {page.name for page in PAGES}
    names = {page.relative_to(ROOT).as_posix() for page in PAGES}
    assert names >= SLOW


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```sh\nspillway run credence --sett duration=2ms\n```", "No such option: --sett"),
        ("```sh\nspillway run credence --set duratoin=2ms\n```", "duratoin: unknown key"),
        ("    $ spillway list sharring\n    output", "'sharring'"),
        ("```sh\nspillway acc train acc-incast --steps many\n```", "'many' is no whole number"),
        ("```sh\nspillway validate pfabrik yaps\n```", "'pfabrik'"),
        ("```sh\nspillway reproduce cbm/figure99 --scale page\n```", "no figure 'cbm/figure99'"),
        ("```sh\nfor x in 1 2; do\n    spillwya run $x\ndone\n```", "spillwya: command not found"),
        ("```sh\nspillway run $name\n```", "name: unbound variable"),
        ("```sh\nmake tset\n```", "there is no make target 'tset'"),
        ("A sentence with `make tset` in it.", "there is no make target 'tset'"),
        ("```sh\npip install 'spillway[rll]'\n```", "there is no extra 'rll'"),
        ("A sentence: `spillway run NAME\n--sedes 1..3`.", "run has no option --sedes"),
        ("A sentence: `.venv/bin/spillway run NAME --sedes 1`.", "run has no option --sedes"),
        ("A sentence: `A=1 B=2\nspillway run NAME --sedes 1`.", "run has no option --sedes"),
        ("    A=1 .venv/bin/spillway list --sedes 1", "No such option: --sedes"),
        ("A sentence: `spillway oracle trian`.", "there is no command 'spillway oracle trian'"),
        ("```python\na = 1\n```\n\n```python\nassert a == 2\n```", "AssertionError"),
        ("```toml\n[switch\n```", "TOMLDecodeError"),
        ('```toml\nname = "mine"\nduration = "2ms"\n```', "topology"),
        ('```toml\n[switch]\nshraing = "lqd"\n```', "switch.shraing: unknown key"),
        ('```toml\n[[switch]]\nname = "a"\nport = 3\n```', "unknown key"),
        ("```shell\nspillway list\n```", "a block of an unknown kind: 'shell'"),
        ("~~~ sh title\nspillway list\n~~~", "a block of an unknown kind: 'sh title'"),
    ],
)
def test_what_is_wrong_on_a_page_is_found(text, complaint, run_page):
    with pytest.raises(PageError, match=re.escape(complaint)):
        run_page(f"# A page\n\n{text}\n")


def test_commands_in_the_changelog_and_in_heads_of_sources_exist():
    named = set()
    for file in (ROOT / "CHANGELOG.md", *ROOT.glob("crates/*/src/**/*.rs")):
        text = head(file) if file.suffix == ".rs" else file.read_text(encoding="utf-8")
        for _, span in taken_apart(text).spans:
            check_span(span, file)
            named.add(file.name)
    assert {"CHANGELOG.md", "ecn.rs"} <= named


def test_what_is_right_on_a_page_runs(run_page, tmp_path):
    page = """# A page

```sh
pip install 'spillway[rl]' && make test-slow
both="dt,lqd"   # a comment
for name in credence; do
    spillway compare $name --vary "switch.sharing=$both" \\
        --set duration=200ms --seeds 1..5 --out cmp
done
cat > mine.toml <<END
name = "mine"
END
spillway list sharing | grep -q lqd
```

```python
from pathlib import Path

name = Path("mine.toml").read_text()
```

    make demo

```python
assert name == 'name = "mine"\\n'
```
"""
    run_page(page)
    assert spillway.load(tmp_path / "cmp").total == 4


@pytest.fixture
def run_page(command, monkeypatch, tmp_path, tmp_path_factory) -> Iterator[Callable[..., None]]:
    """Runs the text of a page; raises `PageError` at the first thing that does not work."""
    monkeypatch.setenv("SPILLWAY_CACHE", str(tmp_path_factory.getbasetemp() / "figures"))
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def run(text: str, page: Path = ROOT / "README.md") -> None:
        own = tmp_path_factory.mktemp("runner")
        _Reader(taken_apart(text), page, command, monkeypatch, own).read()

    yield run
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


_BASH = r"""
set -euo pipefail
ask() {
    local status
    printf '%s\0' "$#" "${BASH_LINENO[1]}" "$@" >&"$REQUESTS"
    read -r status <&"$ANSWERS"
    cat "$PRINTED"
    return "$status"
}
block() { ask block "$@"; }
make() { ask make "$@"; }
pip() { ask pip "$@"; }
spillway() { ask spillway "$@"; }
apt() { :; }
cargo() { :; }
cd() { :; }
git() { :; }
"""


@dataclass
class _Reader:
    """Somebody who types what a page says, into a shell and into Python."""

    page: Page
    path: Path
    command: Callable[..., Outcome]
    monkeypatch: pytest.MonkeyPatch
    own: Path
    names: dict[str, Any] = field(default_factory=dict)
    figures: set[str] = field(default_factory=set)
    agents: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def read(self) -> None:
        for block in self.page.blocks:
            if block.kind not in (*RUN, *NOT_RUN) and not block.kind.startswith("{"):
                raise PageError(f"line {block.line}: a block of an unknown kind: {block.kind!r}")
        for line, span in self.page.spans:
            self.attempt(line, span, check_span, span, self.path)
        if self.failures:
            raise PageError("\n".join(self.failures))
        self.type_script()

    def type_script(self) -> None:
        script, start, printed = (self.own / name for name in ("page.sh", "start.sh", "printed"))
        script.write_text(self.page.script)
        start.write_text(_BASH)
        requests, asked = os.pipe()
        answered, answers = os.pipe()
        variables = {"REQUESTS": asked, "ANSWERS": answered, "PRINTED": printed, "BASH_ENV": start}
        with (
            (self.own / "errors").open("w+") as errors,
            subprocess.Popen(
                ["bash", str(script)],
                env={**os.environ, **{key: str(value) for key, value in variables.items()}},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(asked, answered),
            ) as bash,
        ):
            os.close(asked)
            os.close(answered)
            try:
                self.answer(requests, answers, printed)
            except BaseException:
                bash.kill()
                raise
            bash.wait()
            errors.seek(0)
            if bash.returncode:
                raise PageError("\n".join([*self.failures, errors.read()]))

    def answer(self, requests: int, answers: int, printed: Path) -> None:
        """Does what bash asks for, until it ends."""
        with os.fdopen(requests, "rb") as given, os.fdopen(answers, "wb", 0) as back:
            while count := _field(given):
                line, *words = [_field(given) for _ in range(int(count) + 1)]
                printed.write_text("")
                status = self.attempt(int(line), shlex.join(words), self.do, words, printed)
                back.write(b"%d\n" % status)

    def attempt(self, line: int, text: str, do: Callable[..., None], *arguments: object) -> int:
        """Does something; 1, and a line of its own, if that fails."""
        try:
            do(*arguments)
        except Exception as error:
            is_ours = isinstance(error, PageError)
            why = str(error) if is_ours else "".join(traceback.format_exception(error))
            self.failures.append(f"{self.path.name}, line {line}: {text}\n{why}")
            return 1
        return 0

    def do(self, words: list[str], printed: Path) -> None:
        match words:
            case ["spillway", *arguments]:
                outcome = self.invoke(arguments)
                printed.write_text(outcome.out)
                if outcome.status:
                    raise PageError(f"status {outcome.status}: {outcome.err or outcome.out}")
            case ["block", number]:
                self.block(int(number))
            case ["make", *arguments]:
                has_own = (self.path.parent / "Makefile").is_file()
                check_make(arguments, [self.path.parent if has_own else ROOT])
            case ["pip", *arguments]:
                check_pip(arguments)

    def invoke(self, arguments: list[str]) -> Outcome:
        arguments = [AGENT if word in self.agents else word for word in arguments]
        path, leaf = _command(arguments)
        if path in ONLY_PARSED:
            self.agents += _given(arguments, "--out")
            return self.parse(arguments, leaf)
        if path == ("reproduce",) and "--list" not in arguments:
            outcome = self.parse(arguments, leaf)
            if not outcome.status:
                check_figures(arguments)
                self.figures |= {*_given(arguments, "--out")}
            return outcome
        if path == ("report",):
            for folder in self.figures.intersection(arguments):
                self.command(*TINY_FIGURE, "--out", folder)
                self.figures.remove(folder)
        return self.command(*short(arguments))

    def parse(self, arguments: list[str], leaf: Any) -> Outcome:
        """Reads the arguments of a command, which then does nothing."""
        with self.monkeypatch.context() as patch:
            patch.setattr(leaf, "callback", lambda **_: None)
            return self.command(*arguments)

    def block(self, number: int) -> None:
        block = self.page.blocks[number]
        match block.kind:
            case "python":
                text = "\n" * (block.line - 1) + short_python(block.text)
                exec(compile(text, str(self.path), "exec"), self.names)
            case "toml":
                classes = [each for each in self.names.values() if hasattr(each, "id")]
                plugins = [each for each in classes if f'"{each.id}"' in block.text]
                spillway.Scenario(whole(block.text), plugins=plugins).read()


def whole(text: str) -> str | dict[str, Any]:
    """A scenario: this one, or what has the rest around these tables.

    Switches beside each other are a graph, and models that nobody has trained the bundled one.
    """
    given = tomllib.loads(re.sub(r'"[\w-]+\.safetensors"', '"default"', text))
    if "duration" in given:
        return text
    if isinstance(given.get("switch"), list):
        given = {"topology": {"kind": "graph", **given}}
    more = {key: {**REST.get(key, {}), **each} for key, each in given.items() if type(each) is dict}
    return {**REST, **given, **more}


def check_span(span: str, path: Path) -> None:
    """A command in a sentence, of which options may be there and arguments placeholders."""
    first, *arguments = span.split()
    match first:
        case "make":
            check_make(arguments, [ROOT, path.parent])
        case "pip":
            check_pip(arguments)
        case "spillway":
            words, leaf = _command(arguments)
            below = arguments[len(words) :][:1]
            if hasattr(leaf, "commands") and re.match("[a-z]", "".join(below)):
                raise PageError(f"there is no command {span!r}")
            known = {"--help"}.union(*([*x.opts, *x.secondary_opts] for x in leaf.params))
            for word in arguments:
                option = word.partition("=")[0]
                if option.startswith("--") and option not in known:
                    raise PageError(f"spillway {' '.join(words)} has no option {option}")


def check_make(arguments: Sequence[str], folders: Sequence[Path]) -> None:
    """The targets of a `make` in these folders must be there."""
    files = [folder / "Makefile" for folder in folders]
    text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
    rules = re.findall(r"^([\w. -]+):(?!=)", text, re.MULTILINE)
    targets = {target for rule in rules for target in rule.split()}
    for word in arguments:
        if word not in targets and not re.fullmatch(r"[A-Z_]+=.*|-j|\d+", word):
            raise PageError(f"there is no make target {word!r}")


def short(arguments: list[str]) -> list[str]:
    """The arguments of a command that does little of the same."""
    path, leaf = _command(arguments)
    shrunk = list(arguments)
    for place, word in enumerate(shrunk[:-1], 1):
        value = shrunk[place]
        if word in FEW.get(path, {}):
            shrunk[place] = str(min(int(value), FEW[path][word]))
        elif word in FIRST.get(path, {}) and value != "none":
            every = seeds_of(value) if "seeds" in word else value.split(",")
            shrunk[place] = ",".join(map(str, every[: FIRST[path][word]]))
    for option, value in ADDED.get(path, {}).items():
        if option not in arguments and NOT_ADDED.get(option) not in arguments:
            shrunk += [option, value]
    if any(each.name == "scenario" for each in leaf.params) and path != ("bench",):
        shrunk += _short_times(shrunk, path)
    return shrunk


def _short_times(arguments: list[str], path: Sequence[str]) -> list[str]:
    """Options that end a scenario's traffic early; its warmup shrinks as its duration does."""
    source = arguments[len(path)]
    sets, plugins = _given(arguments, "--set"), _given(arguments, "--plugin")
    try:
        resolved = tomllib.loads(scenario_of(source, sets, plugins).checked().resolved)
    except spillway.Error:
        return []  # The command itself says so.
    times = {key: _ms(resolved[key]) for key in ("duration", "warmup", "stop")}
    most = max([DURATION_MS, *(ms for word, ms in LONGER_MS.items() if word in arguments)])
    factor = most / times["duration"]
    if factor >= 1:
        return []
    if times["stop"] != times["duration"]:
        del times["stop"]
    changed = [f"{key}={round(ms * factor * 1e6)}ns" for key, ms in times.items()]
    return [word for each in changed for word in ("--set", each)]


def short_python(text: str) -> str:
    """A snippet that simulates little of the same."""
    return re.sub(r"\bduration=\d+ms", f"duration={DURATION_MS}ms", text)


def check_figures(arguments: list[str]) -> None:
    """What `reproduce` is given must be there, with figures of that size."""
    try:
        figures = catalogue.find(arguments[1])
    except spillway.ScenarioError as error:
        raise PageError(f"{error}; {error.hint}") from error
    scale = (_given(arguments, "--scale") or ["quick"])[0]
    if small := [figure.name for figure in figures if figure.scale(scale) is None]:
        raise PageError(f"no scale {scale!r} has {small[0]}")


def check_pip(arguments: Sequence[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in re.findall(r"spillway\[([\w,-]+)\]", " ".join(arguments)):
        for each in extra.split(","):
            if each not in extras["optional-dependencies"]:
                raise PageError(f"there is no extra {each!r}")


def _command(arguments: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """The names of the command, and the command itself, as far as there is one."""
    found: Any = _program()
    path: list[str] = []
    for word in arguments:
        below = getattr(found, "commands", {})
        if word not in below:
            break
        found = below[word]
        path.append(word)
    return tuple(path), found


def _given(arguments: Sequence[str], option: str) -> list[str]:
    return [arguments[place + 1] for place, word in enumerate(arguments[:-1]) if word == option]


def _ms(time: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", time).groups()
    return float(number) * _UNITS[unit]


def _field(stream: Any) -> str:
    """What stands before the next zero byte; nothing at the end."""
    found = bytearray()
    while (byte := stream.read(1)) not in (b"\0", b""):
        found += byte
    return found.decode()
