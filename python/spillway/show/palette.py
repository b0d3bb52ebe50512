"""Colours and markers of figures, and the fonts in their files."""

from typing import Any

# The first eight are Okabe and Ito's, which everybody can tell apart, in print too. The others are
# as far from these and from each other as possible, also for people who do not see red or green.
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
"""Embeds whole TrueType fonts: publishers refuse Type 3, whose text cannot be searched or copied.
"""
