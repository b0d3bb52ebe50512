"""Credence's forests: what each is trained on, of which features, and who asks which."""

from pathlib import Path

import pytest
from test_credence_cells import BURSTS, CREDENCE, FLIPPED, LQD, flips, sized

from cells import Told, resolved, run_of, wrong
from made_up import ALL_ROWS, ROWS, a_trace, made_up
from spillway.learning import oracle
from spillway.learning.oracle import Model, evaluate
from spillway.learning.oracle import default as recipe
from spillway.scenario.fates import FEATURES
from spillway.scenario.scenario import Scenario
from spillway_studies.claims import Scheme
from spillway_studies.credence.figures import figure15, models

TIERS = "a model for each tier, ten times the queries"
SWITCHES = "a model for each switch"
TWO = "two features"


@pytest.fixture
def traced(monkeypatch):
    yield from made_up(monkeypatch, models, figure15)


def model_of(scheme, scale="quick"):
    """By name the models that a scheme of `credence/models` asks."""
    (chosen,) = (each for each in models.BURSTS.schemes if each.name == scheme)
    scenario = run_of(models.BURSTS, chosen, models.BURSTS.points[0], scale)
    (folder,) = (text.partition("=")[2] for text in scenario.assignments if ".model=" in text)
    return {file.stem: Model.load(file) for file in Path(folder).iterdir()}


def rights(model, place):
    """Which share of a switch's, or of a tier's, packets a model knows the fate of."""
    trace = a_trace()
    own = trace.at(place) if place in trace.tiers else trace.at(switches=(place,))
    return evaluate(model, own).accuracy


def check(model, rows, features):
    assert tuple(model.features) == features
    told = model.training
    assert (told["rows"], told["trees"], told["depth"], told["split"]) == (rows, 4, 4, "none")


def test_a_tier_s_model_has_seen_that_tier_alone(traced):
    """ "One for each tier, with ten times the queries per second": 20 for the paper's 2."""
    found = model_of(TIERS)
    assert set(found) == {"leaf", "spine"}
    for tier in ("leaf", "spine"):
        rows = sum(rows for name, rows in ROWS.items() if name.startswith(tier))
        check(found[tier], rows, tuple(FEATURES))
        assert rights(found[tier], tier) == 1
    assert rights(found["spine"], "leaf0") == 0 == rights(found["leaf"], "spine0")
    assert traced == [(1001, "250ms", 50, ("traffic.incast.queries_per_host_per_s=20",))]


def test_a_switch_s_model_has_seen_that_switch_alone(traced):
    found = model_of(SWITCHES)
    assert set(found) == set(ROWS)
    for name, rows in ROWS.items():
        check(found[name], rows, tuple(FEATURES))
        assert rights(found[name], name) == 1
    assert rights(found["leaf0"], "leaf1") < 0.7
    assert traced == [(1001, "250ms", 50, ())]


def test_two_features_are_queue_and_occupancy(traced):
    """One forest, of all switches' packets."""
    found = model_of(TWO)
    assert set(found) == {"leaf", "spine"}
    for model in found.values():
        check(model, ALL_ROWS, ("queue", "occupancy"))
    assert traced == [(1001, "250ms", 50, ())]


@pytest.mark.parametrize("scheme", [TIERS, SWITCHES, TWO])
def test_at_full_scale_they_learn_from_a_second(traced, scheme):
    model_of(scheme, "full")
    model_of(scheme, "page")
    assert [wanted[1] for wanted in traced] == ["1s", "250ms"]


SCHEMES = {"LQD": LQD, "Credence": CREDENCE} | dict.fromkeys((TIERS, SWITCHES, TWO), CREDENCE)
SCALES = {
    "quick": ((1, 2, 3), sized("170ms")),
    "full": ((1, 2, 3, 4, 5), sized("3s")),
    "page": ((1, 2, 3), sized("1s")),
}
OF_ALL = flips(*list(SCHEMES)[1:])
TOLD = {
    "credence/models": Told("credence", SCHEMES, BURSTS, scales=SCALES),
    "credence/models-flips": Told("credence", SCHEMES, FLIPPED, of_scheme=OF_ALL, scales=SCALES),
}


@pytest.mark.parametrize("figure", [models.BURSTS, models.FLIPS], ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(traced, figure):
    """All but which files the models are."""
    found = wrong(figure, TOLD[figure.name])
    trained = {cell for cell in found if cell[1] in (TIERS, SWITCHES, TWO)}
    keys = {key for what in found.values() for key in what}
    assert set(found) == trained and keys == {"leaf.sharing.model", "spine.sharing.model"}
    runs = len(figure.points)
    assert len(trained) == 3 * runs


def test_all_learn_under_the_paper_s_training_scenario(monkeypatch):
    """ "LQD under websearch at 80% and bursts of 75%, one packet in 50 of those not dropped"."""

    class AskedError(Exception):
        pass

    def run(scenario, *, seed, set, out, progress):
        raise AskedError(seed, resolved(Scenario.load(scenario).set(*set)))

    monkeypatch.setattr(models, "run", run)
    monkeypatch.setattr(models, "TRACES", {})
    with pytest.raises(AskedError) as found:
        models.traced(lambda _: None, 1001, "250ms", 50, models.MORE_QUERIES)
    seed, settings = found.value.args
    assert seed == 1001
    websearch, incast = settings["traffic"]
    assert settings["name"] == "credence" and settings["duration"] == "250ms"
    assert settings["switch"]["sharing"]["kind"] == "lqd"
    assert (websearch["load"], incast["burst"]) == (0.8, "75%")
    assert incast["queries_per_host_per_s"] == 20
    record = settings["record"]
    assert record["oracle_trace"] and record["oracle_trace_sample"] == 50
    assert recipe.find("default").scenario == "credence"


# Figure 15: what each line's forests look at, how their packets are split, and from how many
# queries per second and host they learn.
LINES = {
    "two features, split at random": (("queue", "occupancy"), "random", ()),
    "four features, another seed": (tuple(FEATURES), "none", ()),
    "two features, ten times the queries": (
        ("queue", "occupancy"),
        "random",
        ("traffic.incast.queries_per_host_per_s=20",),
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_figure_15_s_lines_are_trained_as_they_are_named(traced, monkeypatch, line):
    trained = []

    def train(*arguments, **options):
        training = spillway_train(*arguments, **options)
        trained.append(training.model)
        return training

    spillway_train = oracle.train
    monkeypatch.setattr(oracle, "train", train)
    features, split, traffic = LINES[line]
    figure = figure15.FIGURE
    assert [scheme.name for scheme in figure.schemes] == list(LINES)
    assert [point.values for point in figure.points] == [{"trees": 2**n} for n in range(8)]
    (point,) = (each for each in figure.points if each.values["trees"] == 8)
    for scale, duration in (("quick", "250ms"), ("page", "1s"), ("full", "1s")):
        traced.clear()
        trained.clear()
        figure.measure.task(point, Scheme(line), 3, figure.scale(scale)).run(lambda _: None)
        # Eight trees, and four beside them.
        assert [model.training["trees"] for model in trained] == [8, 4]
        for model in trained:
            assert tuple(model.features) == features
            assert (model.training["depth"], model.training["split"]) == (4, split)
        seeds = (3, 1003) if split == "none" else (3,)
        assert set(traced) == {(seed, duration, 200, traffic) for seed in seeds}
    assert figure.scale("page") == figure.scale("full")
    assert figure.scale("full").seeds == figure.scale("quick").seeds == (1, 2, 3)
