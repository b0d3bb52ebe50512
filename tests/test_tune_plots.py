"""The plots of a study, by what is drawn on them."""

import pytest
from matplotlib.colors import to_hex

from spillway.show.palette import COLOURS
from spillway.tuning import plots

BLUE, GREEN = (COLOURS[place].lower() for place in (0, 2))
SHARING, ALPHA, AGED = "switch.sharing", "switch.sharing.alpha", "switch.sharing.aged"


def trial(number, kind, value, state="complete", is_met=True, **chosen):
    return {
        "trial": number,
        "set": {SHARING: kind, **{key: str(own) for key, own in chosen.items()}},
        "numbers": {key: own for key, own in chosen.items() if not isinstance(own, str)},
        "values": [value],
        "state": state,
        "is_met": is_met,
    }


@pytest.fixture
def summary():
    """Two policies with alpha, of which one is a long text, one with another key, one with none."""
    kinds = ["{ kind = 'dt', count_arrival = false }", "abm", "lqd", ""]
    below = {"below": [SHARING], "unit": "", "log": False}
    return {
        "goals": [{"text": "drops", "direction": "minimize", "default": 5.0}],
        "over": [
            {"key": SHARING, "values": kinds, "below": []},
            {"key": ALPHA, "low": 0.0, "high": 4.0, **below},
            {"key": AGED, "values": ["yes", "no"], "below": [SHARING]},
        ],
        "trials": [
            trial(1, "abm", 8.0, **{ALPHA: 1.0}),
            trial(2, kinds[0], 7.0, **{ALPHA: 2.0, AGED: "no"}),
            trial(3, "lqd", 6.0),
            trial(4, "abm", 9.0, is_met=False, **{ALPHA: 3.0}),
            trial(5, kinds[0], None, state="pruned", **{ALPHA: 0.5, AGED: "yes"}),
            trial(6, "abm", 4.0, **{ALPHA: 2.5}),
        ],
        "winners": [{"trial": 6}],
    }


def drawn(axis):
    """The colour of the points of an axis by their x."""
    found = {}
    for points in axis.collections:
        faces, edges = points.get_facecolors(), points.get_edgecolors()
        for place, (x, _) in enumerate(points.get_offsets()):
            shown = faces if len(faces) else edges
            found[float(x)] = to_hex(shown[place % len(shown)])
    return found


def test_points_of_a_conditional_key_have_the_colour_of_their_choice(summary):
    sharing, alpha, aged = plots._parameters(summary).axes
    assert drawn(alpha) == {1: GREEN, 2: BLUE, 3: GREEN, 0.5: BLUE, 2.5: GREEN}
    names = [text.get_text() for text in alpha.get_legend().get_texts()]
    assert names == ["{ kind = 'dt', count_arri...", "abm"]
    assert alpha.get_legend().get_title().get_text() == SHARING
    # A choice keeps its colour where others are missing.
    assert {*drawn(aged).values()} == {BLUE}
    # The choices themselves stand side by side and need none.
    assert sharing.get_legend() is None
    assert BLUE in drawn(sharing).values() and GREEN not in drawn(sharing).values()


def test_an_unset_choice_has_a_name(summary):
    for each in summary["trials"]:
        each["set"][SHARING] = each["set"][SHARING].replace("abm", "")
    alpha = plots._parameters(summary).axes[1]
    assert [text.get_text() for text in alpha.get_legend().get_texts()][-1] == "unset"
    assert drawn(alpha)[1] == COLOURS[4].lower()
