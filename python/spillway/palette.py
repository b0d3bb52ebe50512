"""Colours and markers of figures."""

# Okabe and Ito: told apart by everybody, in print too.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
    "#B8A900",
)
MARKERS = "osD^vPX*"
