"""Drawings in the house's style, and their files."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from spillway.show.palette import FONTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_STYLE: dict[Any, Any] = {
    **FONTS,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.5,
}

DPI = 150
"""The style of figures in panels."""
PLAIN: Mapping[Any, Any] = {**FONTS, "text.parse_math": False}
"""The style for texts that others have chosen: dollar signs begin no formulas."""


@contextmanager
def drawing_of(width: float, height: float) -> Iterator[Drawing]:
    """A drawing in the house's style."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    with mpl.rc_context(_STYLE):
        yield Drawing(figsize=(width, height), layout="constrained")


def svg(drawing: Drawing) -> bytes:
    """A drawing as SVG. The same drawing gives the same file."""
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({**PLAIN, "svg.hashsalt": "spillway"}):
        drawing.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def data_uri(content: bytes) -> str:
    """An SVG file within a page."""
    return "data:image/svg+xml;base64," + b64encode(content).decode()


def panels(
    rows: int, across: int, count: int, size: tuple[float, float], sharey: bool = False
) -> tuple[Drawing, list[Axes]]:
    """A drawing of this size in inches with some panels in rows; the last row may not be full."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=size, layout="constrained", dpi=DPI)
    grid = drawing.subplots(rows, across, squeeze=False, sharey=sharey)
    for unused in grid.flat[count:]:
        unused.set_axis_off()
    axes: list[Axes] = list(grid.flat[:count])
    for axis in axes:
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return drawing, axes


def log_ticks(axes: Axes, of: str, is_wide: bool) -> None:
    """Plain numbers on a logarithmic axis: at 1, 2 and 5, or at 1 alone if it is wide."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if of == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(subs=(1.0,) if is_wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def log_scale(axes: Axes, of: str = "y") -> None:
    """A logarithmic axis with plain numbers on it."""
    from matplotlib.ticker import MaxNLocator

    axes.set(**{f"{of}scale": "log"})
    axis = axes.yaxis if of == "y" else axes.xaxis
    low, high = axis.get_view_interval()
    axes.set(**{f"{of}lim": (low / 1.1, high * 1.1)})
    log_ticks(axes, of, is_wide=high / low >= 300)
    if high / low < 4:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
