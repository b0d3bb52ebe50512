"""Credence's figures in time slots: what each point asks of the slotted model.

Numbers are those of the pages of credence, paper.md and theory.md, and of the figures' own texts.
"""

from inspect import signature
from types import SimpleNamespace

import pytest

from spillway import slotted
from spillway_studies.credence.figures import figure3, figure14, table1, theory


@pytest.fixture
def asked(monkeypatch):
    """What every point, scheme and seed of a figure asks of a function, which is not run."""

    def every(figure, function, answer):
        calls = []

        def instead(*arguments, **options):
            calls.append((arguments, options))
            return answer

        monkeypatch.setattr(function, instead)
        found = {}
        for name, scale in figure.scales.items():
            for point in figure.points:
                for scheme in figure.schemes:
                    for seed in scale.seeds:
                        calls.clear()
                        task = figure.measure.task(point, scheme, seed, scale)
                        task.run(lambda _: None)
                        (found[name, point.label, scheme.name, seed],) = calls
        return found

    return every


def test_figure_3_is_each_policy_with_100_rounds_of_8_ports_and_64_packets(asked):
    """ "N = 8, B = 64, a hundred rounds"; DT has an alpha of 0.5, and nobody else has settings."""
    policies = {
        "DT": ("dt", {"alpha": 0.5}),
        "Complete Sharing": ("cs", {}),
        "Harmonic": ("harmonic", {}),
        "FollowLQD": ("followlqd", {}),
        "LQD": ("lqd", {}),
        "Credence, perfect predictions": ("credence", {}),
        "Blind trust, perfect predictions": ("blind-trust", {}),
    }
    examples = ("a lone burst", "four bursts, then short ones")
    answer = SimpleNamespace(ratio=1, outcome=SimpleNamespace(transmitted=1), optimum=1)
    found = asked(figure3.FIGURE, "spillway.slotted.model.measure", answer)
    cells = [(label, name) for label in examples for name in policies]
    assert list(found) == [(scale, *cell, 1) for scale in ("quick", "full") for cell in cells]
    for (_, label, name, _), ((policy, arrivals), options) in found.items():
        assert (policy, options["keys"]) == policies[name]
        assert options["buffer"] == 64 and options.get("flip_probability", 0) == 0
        # A burst of B, and B slots; or four of them, 32 packets in the next slot, and 7 slots.
        size = {examples[0]: (64, 64), examples[1]: (4 * 64 + 32, 9)}[label]
        assert arrivals.ports == 8
        assert (len(arrivals), arrivals.slots) == (100 * size[0], 100 * size[1])


# "N = 16, B = 256 packets, bursts of the buffer's size at 5% load, 20,000 slots, five seeds."
SEEDS = {"quick": (1, 2, 3, 4, 5), "full": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}
SLOTS = {"quick": 20_000, "full": 200_000}
FLIPS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
LOADS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Who gets the labels, and who is compared with them.
PREDICTED = {"Credence": ("credence",), "Blind trust": ("blind-trust",)}
POLICIES = {
    "DT": ("dt",),
    "Harmonic": ("harmonic",),
    "Complete Sharing": ("cs",),
    "FollowLQD": ("followlqd",),
}


def flipped(probability, load=0.05, arrivals="burst"):
    return {"probabilities": (probability,), "load": load, "arrivals_per_slot": arrivals}


POINTS = (
    (figure14.FIGURE, {f"flip probability {each:g}": flipped(each) for each in FLIPS}),
    # "With all labels flipped", "with at most N arrivals in a slot"
    (figure14.LOADS, {f"load {each:g}": flipped(1.0, each) for each in LOADS}),
    (
        figure14.LOADS_WITHIN_MODEL,
        {f"load {each:g}": flipped(1.0, each, "ports") for each in LOADS},
    ),
)


@pytest.mark.parametrize(("figure", "points"), POINTS, ids=[figure.name for figure, _ in POINTS])
def test_figure_14_is_bursts_at_16_ports_of_256_packets(asked, figure, points):
    others = {name: [1.0] for names in POLICIES.values() for name in names}
    predicted = {name: [[1.0]] for names in PREDICTED.values() for name in names}
    answer = {"predicted": predicted, "lqd": [1.0], "others": others}
    found = asked(figure, "spillway.slotted.figure14", answer)
    assert {(label, name) for _, label, name, _ in found} == {
        (label, name) for label in points for name in POLICIES | PREDICTED
    }
    assert {scale: figure.scale(scale).seeds for scale in figure.scales} == SEEDS
    for (scale, label, name, seed), (_, options) in found.items():
        assert options == {
            "ports": 16,
            "buffer": 256,
            "slots": SLOTS[scale],
            "seeds": (seed,),
            "predicted": PREDICTED.get(name, ()),
            "policies": POLICIES.get(name, ()),
            "keys": {"dt": {"alpha": 0.5}},
            **points[label],
        }


def test_table_1_is_16_or_64_packets_for_each_port(asked):
    """ "At most N arrivals in a slot, B = 16 N (64 N at full scale)", for 4 to 32 ports."""
    found = asked(table1.FIGURE, "spillway.slotted.table1", {"rows": [{"worst": 1, "at": 1}]})
    names = {
        "Complete Sharing",
        "Dynamic Thresholds",
        "Harmonic",
        "LQD (push-out)",
        "FollowLQD",
        "Credence, perfect predictions",
        "Credence, all flipped",
    }
    for scale, each, seeds in (("quick", 16, 1), ("full", 64, 3)):
        for ports in (4, 8, 16, 32):
            for name in names:
                drawn = []
                for seed in (1, 2, 3):
                    _, options = found.pop((scale, f"N = {ports}", name, seed))
                    assert (options["ports"], options["buffer"]) == (ports, each * ports)
                    assert options["algorithms"] == (name,) and options["seeds"] == seeds
                    drawn += range(options["first_seed"], options["first_seed"] + seeds)
                # No random arrivals come twice.
                assert sorted(drawn) == list(range(1, 3 * seeds + 1))
    assert found == {}


def test_theorems_are_tried_with_the_three_forms_of_the_page(asked):
    """ "Credence as it is, without its safeguard, and with the other way to choose the longest
    queue": the page's `count_arrival = false`, `tie = "lowest-index"`. Up to 5 ports.
    """
    forms = {
        "Credence": {},
        "no safeguard": {"safeguard": False},
        "eviction first": {"count_arrival": False, "tie": "lowest-index"},
    }
    fails = {"fails": 0}
    answer = {"lemma1": fails, "perfect": fails, "theorem1_fails": 0, "theorem2": fails}
    found = asked(theory.FIGURE, "spillway.slotted.lemma1", answer)
    for scale, instances in (("quick", 20_000), ("full", 200_000)):
        for name, keys in forms.items():
            for seed in (1, 2, 3):
                _, options = found.pop((scale, "up to 5 ports", name, seed))
                # How it is told to end.
                del options["follow"]
                assert options == {
                    "instances": instances,
                    "most_ports": 5,
                    "seed": seed,
                    "keys": keys,
                }
    assert found == {}


def test_figure_14_has_the_product_s_settings():
    defaults = {key: each.default for key, each in signature(slotted.figure14).parameters.items()}
    quick = figure14.FIGURE.scales["quick"]
    assert {key: defaults[key] for key in quick.parameters} == dict(quick.parameters)
    assert defaults["seeds"] == quick.seeds
    places = tuple(point.values["flip_probability"] for point in figure14.FIGURE.points)
    assert defaults["probabilities"] == places
    assert {*defaults["predicted"], *defaults["policies"]} == set(figure14._POLICIES.values())
