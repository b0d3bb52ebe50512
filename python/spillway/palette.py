"""Colours and markers of figures, and how their letters are written."""

from typing import Any

# The first eight: Okabe and Ito, told apart by everybody, in print too. The others are as far from
# these and from each other as could be had, also for who sees no red or no green.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
    "#B8A900",
    "#6A00A8",
    "#7B1E1E",
    "#000000",
    "#64D87B",
)
MARKERS = "osD^vPX*<>dp"

FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}
"""Whole TrueType fonts: publishers refuse Type 3, and nothing else can be searched and copied."""
