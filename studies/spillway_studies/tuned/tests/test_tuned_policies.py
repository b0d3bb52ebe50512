"""What tunes all sharing policies, and the tables out of what it has left."""

import json
import math

import pytest

from spillway.run.run import prepared
from spillway.tuning.space import Space, parameters
from spillway_studies import pages
from spillway_studies.claims.write import UnpublishedError
from spillway_studies.comparison import figures as networks
from spillway_studies.comparison.figures import schemes
from spillway_studies.tuned import run as tuned
from spillway_studies.tuned import tables as tuned_page
from support import TINY, without_cost

TRAINED_ELSEWHERE = "ignore:.*was trained (where|with):spillway.base.errors.ScenarioWarning"


# The design --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings(TRAINED_ELSEWHERE)
@pytest.mark.parametrize("name", tuned.NETWORKS)
def test_the_policies_are_those_of_the_comparison_and_begin_as_there(name):
    network = tuned.NETWORKS[name]
    (figure,) = (each for each in networks.FIGURES if each.name == f"comparison/{name}")
    beside = {each.name: each.assignments for each in figure.schemes}
    # The others are Credence with other forests.
    left_out = {*beside} - {*network.policies()}
    assert all(each.startswith("credence, ") for each in left_out)
    for policy, sets in network.policies().items():
        # Alphas as a list of one for every class say the same.
        there, here = (
            prepared(network.scenario, None, given, ()).resolved["switch"]
            for given in (beside[policy], sets)
        )
        assert by_class(here, 4) == by_class(there, 4)


def by_class(switch, classes):
    """The switch's section with an alpha for every class of queues, the last for all further."""
    found = json.loads(json.dumps(switch))
    for section in (found, found.get("leaf", {})):
        alpha = section.get("sharing", {}).get("alpha")
        if alpha is not None:
            given = alpha if isinstance(alpha, list) else [alpha]
            section["sharing"]["alpha"] = (given + given[-1:] * classes)[:classes]
    return found


@pytest.mark.filterwarnings(TRAINED_ELSEWHERE)
@pytest.mark.parametrize("name", tuned.NETWORKS)
def test_what_a_policy_has_by_default_lies_within_the_ranges(name):
    network = tuned.NETWORKS[name]
    for policy, sets in network.policies().items():
        space = Space(prepared(network.scenario, None, sets, ()), parameters(network.over(policy)))
        own = space.default()
        # Equal parts are written as a share of 0, which no logarithmic range has.
        assert (own is None) == (policy == "sp"), policy
        assert own is None or own["switch.aqm.threshold"] == "65pkt"


@pytest.mark.filterwarnings("ignore:switch.aqm.threshold is set, but not for the spine tier")
def test_leaves_are_tuned_and_spines_stay_as_they_are():
    network = tuned.NETWORKS["smartbuf"]
    sets = [*network.policies()["dt"], "switch.leaf.sharing.alpha=2", "switch.aqm.threshold=9pkt"]
    assert {"switch.leaf.sharing.alpha", "switch.aqm.threshold"} == {*network.over("dt")}
    switch = prepared(network.scenario, None, sets, ()).resolved["switch"]
    shown = [
        (switch[t]["sharing"]["alpha"], switch[t]["aqm"]["threshold"]) for t in ("leaf", "spine")
    ]
    assert shown == [(2, "9pkt"), (0.5, "65pkt")]


def test_each_class_of_data_has_an_alpha_and_acks_keep_theirs():
    keys = tuned.NETWORKS["cbm"].over("abm, as in its program")
    alphas = [key for key in keys if ".alpha[" in key]
    assert alphas == [f"switch.sharing.alpha[{place}]" for place in (1, 2, 3)]
    sets = tuned.NETWORKS["cbm"].policies()["abm, as in its program"]
    assert sets[-1] == "switch.sharing.alpha=[1024, 0.5, 0.5, 0.5]"
    assert [*tuned.NETWORKS["cbm"].over("lqd")] == ["switch.aqm.threshold"]


def test_as_much_counts_for_policies_that_must_learn_first():
    network = tuned.NETWORKS["smartbuf"]
    assert network.times("lqd") == ("warmup=20ms", "duration=80ms")
    assert network.times("smartbuf, demands") == ("warmup=600ms", "duration=660ms")


# The runs ----------------------------------------------------------------------------------------

NETWORK = tuned.Network(str(TINY), ("short", "incast"), "switch", (), 1)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A small network, two policies, few trials; what is said is the list."""
    few = [each for each in schemes() if each.name in ("cs", "dt")]
    monkeypatch.setattr(tuned, "schemes", lambda *_, **__: few)
    small = {"TRIALS": 3, "NEW_SEEDS": (5, 6, 7), "COUNTED_MS": 4, "BEGINS_MS": 1}
    for name, value in {**small, "CONFIRMED_MS": 6}.items():
        monkeypatch.setattr(tuned, name, value)
    monkeypatch.setattr(tuned_page, "NEW_SEEDS", (5, 6, 7))
    monkeypatch.setitem(tuned.NETWORKS, "tiny", NETWORK)
    monkeypatch.setattr(tuned, "FOLDER", tmp_path / "docs")


def work(folder, said):
    return tuned.Work(NETWORK, folder / "tiny", 1, said.append)


@pytest.mark.usefixtures("made")
def test_what_is_there_is_not_made_again(tmp_path):
    first, second, third = [], [], []
    work(tmp_path, first).make()
    # The scenario's own, for the least goodput; two policies with their defaults, and tuned.
    assert sum(", seed " in text for text in first) == 2 + 4 * 3
    work(tmp_path, second).make()
    assert second == []
    # One that is missing, and one of something else.
    tuned.run_file(tmp_path / "tiny", "cs tuned", 6).unlink()
    other = tuned.run_file(tmp_path / "tiny", "dt default", 7)
    kept = json.loads(other.read_text())
    result = without_cost(kept["summary"])
    other.write_text(json.dumps({**kept, "set": ["switch.sharing=lqd"], "summary": {}}))
    work(tmp_path, third).make()
    assert sorted(third) == [
        f"{TINY}: {text}" for text in ("cs tuned, seed 6", "dt default, seed 7")
    ]
    again = json.loads(other.read_text())
    assert [without_cost(each.pop("summary")) for each in (again, kept)] == [result] * 2
    assert again == kept


@pytest.mark.usefixtures("made")
def test_the_tables_are_of_what_was_run(tmp_path):
    work(tmp_path, []).make()
    tuned_page.take("tiny", tmp_path)
    found = tuned_page.load("tiny")
    assert [*found.studies] == ["cs", "dt"]
    rows = found.results.runs["dt tuned"]
    assert [row["seed"] for row in rows] == [5, 6, 7]
    of = [rows[0][f"fct_slowdown.{name}.p99"] for name in ("short", "incast")]
    assert found.tails("dt", "tuned")[0] == pytest.approx(math.sqrt(of[0] * of[1]))
    text = tuned_page.block(found)
    assert text.startswith("`warmup=1ms`, `duration=6ms`; seeds 5, 6, 7; version ")
    assert text.count("\n| `") == 2
    # The goodput that must be left is a part of that of the unchanged scenario.
    asked = json.loads((tmp_path / "tiny/search/cs/study.json").read_text())["constraints"]
    runs = [
        json.loads(
            tuned.run_file(tmp_path / "tiny", "own warmup=1ms duration=5ms", seed).read_text()
        )
        for seed in (1, 2)
    ]
    mean = sum(run["summary"]["goodput_gbps"]["all"] for run in runs) / 2
    assert asked == [f"goodput_gbps.all >= {0.98 * mean:.6g}"]
    # All that the page tells is kept: it is the same without the folder's own files.
    again, _ = tuned_page._policy(tmp_path / "tiny", "dt")
    assert tuned_page.values(again) == tuned_page.values(found.studies["dt"])


@pytest.mark.usefixtures("made")
def test_a_policy_that_is_not_complete_is_left_out_and_named(tmp_path):
    work(tmp_path, []).make()
    tuned.run_file(tmp_path / "tiny", "cs tuned", 6).unlink()
    tuned_page.take("tiny", tmp_path)
    found = tuned_page.load("tiny")
    assert [*found.studies] == ["dt"] and "Not run to the end: `cs`." in tuned_page.block(found)
    # What is kept is not made again, whatever folder is named.
    said = []
    work(tmp_path / "other", said).make()
    assert f"{TINY}: dt: results has its numbers" in said
    assert not (tmp_path / "other/tiny/search/dt").exists()
    assert (tmp_path / "other/tiny/search/cs").exists()


@pytest.mark.usefixtures("made")
def test_numbers_of_another_question_are_not_taken(tmp_path, monkeypatch):
    work(tmp_path, []).make()
    tuned_page.take("tiny", tmp_path)
    assert tuned_page.load("tiny").studies
    monkeypatch.setattr(tuned, "TRIALS", 4)
    with pytest.raises(UnpublishedError, match="no numbers of tuned policies in tiny"):
        tuned_page.load("tiny")


@pytest.mark.usefixtures("made")
def test_runs_of_another_winner_are_not_taken(tmp_path):
    work(tmp_path, []).make()
    file = tuned.run_file(tmp_path / "tiny", "dt tuned", 7)
    kept = json.loads(file.read_text())
    study, _ = tuned_page._policy(tmp_path / "tiny", "dt")
    best = [f"{key}={value}" for key, value in study["winners"][0]["set"].items()]
    assert len(best) == 2 and all(each in kept["set"] for each in best)
    for each in best:
        key = each.partition("=")[0]
        others = [f"{key}=2" if other == each else other for other in kept["set"]]
        file.write_text(json.dumps({**kept, "set": others}))
        assert tuned_page._policy(tmp_path / "tiny", "dt") is None


@pytest.mark.usefixtures("made")
def test_a_run_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, progress, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuned, "run_to", interrupted)
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path, []).confirm("dt default", ())
    assert not list(tmp_path.rglob("*.json*"))


def test_a_network_that_is_not_known_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["tuned.py", "out", "cred"])
    with pytest.raises(SystemExit):
        tuned.main()
    assert (
        "there is no network 'cred'; valid here: credence, cbm, smartbuf" in capsys.readouterr().err
    )


# The tables --------------------------------------------------------------------------------------


def study(*trials, winner=1):
    """A search over alpha and K, of which one trial was the best."""
    over = [
        {"key": "switch.aqm.threshold", "low": 4, "high": 400, "log": True},
        {"key": "switch.sharing.alpha[1]", "low": 0.1, "high": 10.1, "log": False},
    ]
    keys = [each["key"] for each in over]
    told = [
        {
            "trial": place,
            "set": dict(zip(keys, texts, strict=True)),
            "numbers": dict(zip(keys, own, strict=True)),
        }
        for place, (texts, own) in enumerate(trials, 1)
    ]
    best = [{"trial": winner, "set": told[winner - 1]["set"]}] if winner else []
    return {"over": over, "trials": told, "winners": best, "version": "1", "cpu_s": 1800.0}


def runs(*tails, with_timeout=0, goodput=100.0):
    return [
        {
            "seed": seed,
            "fct_slowdown.a.p99": tail,
            "fct_slowdown.a.count": 2000,
            "fct_slowdown.b.p99": 4 * tail,
            "fct_slowdown.b.count": 500,
            "fct_slowdown.all.count": 200,
            "fct_slowdown.all.with_timeout": with_timeout,
            "goodput_gbps.all": goodput,
            "run.cpu_s": 360.0,
        }
        for seed, tail in enumerate(tails)
    ]


@pytest.fixture
def found():
    best = (("12pkt", "0.2"), (12, 0.2)), (("40pkt", "5.0"), (40, 5.0))
    return tuned_page.Tuned(
        tuned.Network("credence", ("a", "b"), "switch", (1,), 500),
        {"dt": study(*best), "lqd": study(*best, winner=2), "cs": study(*best, winner=None)},
        tuned_page.Results(
            {
                "dt default": runs(8, 8, 8, with_timeout=4),
                "dt tuned": runs(4, 4, 2, with_timeout=1),
                "lqd default": runs(2, 2, 2),
                "lqd tuned": runs(1, 2, 2, goodput=99.0),
                "cs default": runs(1, 1, 1),
                "cs tuned": [],
            }
        ),
    )


def test_policies_stand_in_the_order_of_their_tails(found):
    # Geometric means of 1 and 4 times the tail: twice the tail.
    assert found.tails("dt", "tuned") == pytest.approx([8, 8, 4])
    assert found.ranked == ["lqd", "dt", "cs"]


def test_ratios_are_taken_seed_by_seed(found):
    # Halves, a half and a quarter: their geometric mean is 2 to the -4/3. In steps of a factor of
    # 2 the deviation is 1/sqrt(3), the error 1/3; Student's t for 2 degrees of freedom is 4.3027.
    low, high = (2 ** (-4 / 3 + side * 4.3027 / 3) for side in (-1, 1))
    expected = f"{2 ** (-4 / 3):.2f} ({low:.2f} to {high:.2f})"
    assert tuned_page.over(found, "dt", ("dt", "default")) == expected == "0.40 (0.15 to 1.07)"
    # Equal runs have no interval, and beside itself, or of nothing, there is no ratio.
    found.results.runs["dt default"][:] = found.results.runs["dt tuned"]
    assert tuned_page.over(found, "dt", ("dt", "default")) == "the same"
    assert tuned_page.over(found, "lqd", ("lqd", "tuned")) == "-"
    assert tuned_page.over(found, "cs", ("lqd", "tuned")) == "-"


def test_values_at_an_end_of_their_range_are_bold(found):
    assert tuned_page.values(found.studies["dt"]) == "K 12pkt, **alpha[1] 0.2**"
    assert tuned_page.values(found.studies["lqd"]) == "K 40pkt, alpha[1] 5.0"
    assert tuned_page.values(found.studies["cs"]) == "none leaves the goodput"


def test_a_row_has_both_of_every_class(found):
    (*_, last) = tuned_page.table(found).splitlines()[:4]
    cells = [cell.strip() for cell in last.split("|")[1:-1]]
    # Of 500 flows few lie beyond the 99th percentile.
    assert cells[2:4] == ["8 ± 0 → 3.33 ± 1.15", "32~ ± 0 → 13.3~ ± 4.62"]
    assert cells[6:] == ["2 → 0.5", "1.000"]
    assert tuned_page.goodput(found, "lqd") == "0.990" and tuned_page.goodput(found, "cs") == "-"
    # Three searches of half an hour, 15 runs of 0.1 h.
    assert "CPU hours: 1.5 for the searches, 1.5 for these runs." in tuned_page.block(found)


def test_the_page_has_a_network_s_table_and_plot(found, tmp_path, monkeypatch):
    monkeypatch.setattr(tuned_page, "load", lambda name: found if name == "credence" else None)
    blocks = "".join(f"```tuned\ncredence\ntable = {what}\n```\n" for what in ("policies", "plot"))
    text = pages.expanded(f"before\n{blocks}after\n", tmp_path, "images")
    table = f"{tuned_page.block(found)}\n![Tuned policies: credence](images/credence-tuned.svg)"
    assert text == f"before\n{table}\nafter\n"
    assert tuned_page.table(found) in text
    assert (tmp_path / "credence-tuned.svg").read_bytes().startswith(b"<?xml")


def test_the_plot_has_the_policies_in_the_order_of_their_tails(found, monkeypatch):
    monkeypatch.setattr(tuned_page, "load", lambda _: found)
    (axis,) = tuned_page.plot("credence").axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["lqd", "dt", "cs"]
    # Hollow and filled dots; nothing of CS leaves the goodput, so it has its defaults alone.
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    shown = [(*line.get_ydata(), line.get_markerfacecolor() == "white") for line in dots]
    assert shown == [(0, True), (0, False), (1, True), (1, False), (2, True)]
    assert [*dots[2].get_xdata()] == pytest.approx([16])


def test_a_network_of_which_no_policy_is_complete_has_no_table(monkeypatch, tmp_path):
    monkeypatch.setattr(tuned, "FOLDER", tmp_path)
    for made in (tuned_page.policies, tuned_page.plot):
        with pytest.raises(UnpublishedError, match="no numbers of tuned policies in cbm") as error:
            made("cbm")
        assert "python -m spillway_studies.tuned.run tuned cbm" in error.value.hint
    for table in ("policies", "plot"):
        with pytest.raises(ValueError, match="tuned cbm: no numbers of tuned policies in cbm"):
            pages.expanded(f"```tuned\ncbm\ntable = {table}\n```\n", tmp_path, "images")


@pytest.mark.parametrize("name", ["cbm", "smartbuf"])
def test_what_is_kept_answers_what_would_be_asked_today(name):
    assert tuned_page.load(name).missing == []
