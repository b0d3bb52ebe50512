"""Types of libraries that are loaded only when something is drawn or run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from pyarrow import Table
else:
    Axes = Drawing = Table = object

__all__ = ["Axes", "Drawing", "Table"]
