"""The schemes that the paper compares, as it configures them (section 4.1, "Configuration")."""

from spillway_studies.claims import Scheme

# Alpha 0.5 for DT and ABM, and 64 for packets of the first round trip under ABM, are the paper's.
# DT's 64 for the queue of acks is from the authors' program. ABM's acks have the alpha of first
# packets too, because they belong to no flow that could have left its first round trip.
DT = Scheme("DT", ("switch.sharing=dt", "switch.sharing.alpha=[64, 0.5]"), style=0)
ABM = Scheme(
    "ABM",
    (
        "switch.sharing=abm",
        "switch.sharing.alpha=[64, 0.5]",
        "switch.sharing.alpha_first_rtt=64",
    ),
    style=1,
)
LQD = Scheme("LQD", ("switch.sharing=lqd",), style=2)
# The paper trains a forest with websearch at 80% and bursts of 75%, as the default model was
# trained. Its authors have published none.
CREDENCE = Scheme(
    "Credence",
    ("switch.sharing=credence", "switch.sharing.oracle=forest", "switch.sharing.model=default"),
    style=3,
)
ABOUT = "Credence consults the bundled forest, of four trees of depth four."

ALL = (DT, ABM, LQD, CREDENCE)
