"""Pages of the studies: what they ask for in fenced blocks is rendered from published numbers.

The first line of a block names a figure, a study, a network or a reference; lines below it say
more, as `metric = mean queue`.
"""

import functools
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spillway.show.drawing import svg
from spillway_studies import catalogue
from spillway_studies.aqms import tables as aqms_tables
from spillway_studies.arena import tables as arena
from spillway_studies.claims import Drawing, blocks, side_by_side
from spillway_studies.claims.blocks import Block
from spillway_studies.claims.write import Published, UnpublishedError, place
from spillway_studies.comparison import tables as comparison_tables
from spillway_studies.five import tables as five
from spillway_studies.references.blocks import validation
from spillway_studies.tuned import tables as tuned

BLOCK = re.compile(r"^```([a-z-]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SIDE_BY_SIDE: Mapping[str, Any] = {"comparison": comparison_tables, "aqms": aqms_tables}


Drawn: TypeAlias = tuple[str, Drawing | Path]
"""A plot's title, and the plot or the file that it is in."""


class Printed(NamedTuple):
    """What is known only as it was printed, and the command that computes it anew."""

    found: str | Block | Drawn
    command: str

    @property
    def note(self) -> str:
        """What a page says of it."""
        return f"*[As printed](../../reproduce.md#as-printed); `{self.command}` computes it anew.*"


def unpublished() -> list[str]:
    """Figures that pages show, but whose computed numbers are not published yet."""
    lines = Path(__file__).with_name("unpublished.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def expanded(text: str, images: Path, link: str) -> str:
    """A page with its blocks rendered; plots are written to a folder, to which a link leads."""
    told: set[str] = set()
    missing = unpublished()
    _published.cache_clear()

    def one(match: re.Match[str]) -> str:
        kind, body = match.groups()
        if kind not in KINDS:
            return match[0]
        name, *more = body.strip().splitlines()
        options = dict(line.split(" = ", 1) for line in more)
        try:
            found = KINDS[kind](name, options)
        except UnpublishedError as error:
            if name not in missing:
                raise ValueError(f"{kind} {name}: {error}, and unpublished.txt lacks it") from error
            return f"*{str(error).capitalize()}; `{error.hint}` computes them.*"
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{kind} {name} {options}: {error!r}") from error
        note = ""
        if isinstance(found, Printed):
            note, found = f"{found.note}\n\n", found.found
        if isinstance(found, str):
            return f"{note}{found}"
        if isinstance(found, Block):
            size = "" if found.size in told else f"{found.size}\n\n"
            told.add(found.size)
            return f"{note}{size}{found.text}"
        title, drawing = found
        parts = [name, *([options["of"]] if "of" in options else []), kind]
        file = re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower())
        images.mkdir(parents=True, exist_ok=True)
        if isinstance(drawing, Path):
            file = f"{file}{drawing.suffix}"
            shutil.copyfile(drawing, images / file)
        else:
            file = f"{file}.svg"
            (images / file).write_bytes(svg(drawing))
        return f"{note}![{title}]({link}/{file})"

    return BLOCK.sub(one, text)


@functools.cache
def _published(name: str) -> Published:
    """A figure's numbers, which most pages ask for several times."""
    (figure,) = catalogue.find(name)
    return Published(figure)


def _plot(name: str) -> Drawn | Printed:
    published = _published(name)
    assert published.figure.plot is not None, f"{name} has no plot"
    title, picture = published.figure.title, published.picture
    if picture is not None:
        return Printed((title, picture), f"{published.summary['command']} --publish")
    return title, published.figure.plot(published)


def _figure(
    kind: Callable[..., Block], of: str
) -> Callable[[str, Mapping[str, str]], Block | Printed]:
    """A table of a figure, out of a part of its summary that may be missing."""

    def table(name: str, options: Mapping[str, str]) -> Block | Printed:
        summary = _published(name).summary
        is_printed = summary.get("is_rounded", False)
        command = f"{summary['command']} --publish" if is_printed else ""
        if is_printed and not summary[of]:
            raise UnpublishedError(f"these numbers of {name} are not published", command)
        block = kind(summary, **options)
        return Printed(block, command) if is_printed else block

    return table


def _side_by_side(name: str, options: Mapping[str, str]) -> str | Drawn | Printed:
    study, _, figure = name.partition("/")
    tables = _SIDE_BY_SIDE[study]
    is_plot = options.get("table") == "plot"
    try:
        if is_plot:
            return f"All {study}", tables.plot()
        found: str = tables.block(figure) if figure else tables.regret()
    except UnpublishedError:
        results = place(name if figure else f"{study}/regret").parent
        file = results / ("plot.png" if is_plot else f"{figure or 'regret'}.printed.json")
        if not file.exists():
            raise
        command = f"spillway reproduce {name} --scale page --publish"
        return Printed((f"All {study}", file) if is_plot else side_by_side.printed(file), command)
    return found


def _tuned(name: str, options: Mapping[str, str]) -> str | Drawn:
    if options["table"] == "plot":
        return f"Tuned policies: {name}", tuned.plot(name)
    return tuned.policies(name)


KINDS: Mapping[str, Callable[[str, Mapping[str, str]], str | Block | Drawn | Printed]] = {
    "arena": arena.block,
    "claims": _figure(blocks.claims, "claims"),
    "choices": _figure(blocks.choices, "claims"),
    "five": five.block,
    "grid": _figure(blocks.grid, "claims"),
    "numbers": _figure(blocks.numbers, "metrics"),
    "plot": lambda name, _: _plot(name),
    "side-by-side": _side_by_side,
    "tuned": _tuned,
    "validation": lambda name, options: validation(name, **options),
}
