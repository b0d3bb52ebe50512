"""What pages ask for in blocks: tables and plots out of published numbers."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

import figures
from spillway.show.drawing import svg
from spillway_studies import catalogue, pages
from spillway_studies.claims import (
    Cache,
    Distributions,
    Lines,
    Outcome,
    OverTime,
    Panel,
    Results,
    TimePanel,
    blocks,
    finding,
    harness,
    samples,
    write,
)
from spillway_studies.claims.claim import Verdict
from spillway_studies.claims.finding import Finding
from spillway_studies.claims.write import Published, UnpublishedError, publish
from spillway_studies.references import blocks as references

COMMAND = "spillway reproduce tiny/bursts --scale quick"
NAME = figures.BURSTS.name


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Results of the small figure, by the number of seeds."""
    cache = Cache(tmp_path_factory.mktemp("points"))
    found = {}
    for seeds in ((1, 2), (1, 2, 3)):
        planned = harness.plan([figures.BURSTS], "quick", seeds)
        (found[len(seeds)],) = harness.compute(planned, cache, jobs=1)
    return found


@pytest.fixture(scope="module")
def kept(computed):
    """The small figure's summary."""
    results = computed[2]
    return json.dumps(write.document(results, "quick"))


@pytest.fixture
def summary(kept):
    return json.loads(kept)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A folder in place of the studies' own, and a catalogue with the small figure."""
    monkeypatch.setattr(write, "HOME", tmp_path / "studies")
    monkeypatch.setattr(pages, "unpublished", lambda: [NAME])
    monkeypatch.setitem(catalogue.PAPERS, "tiny", (figures.BURSTS,))
    (tmp_path / "studies" / "tiny").mkdir(parents=True)
    return tmp_path / "studies"


def made_up(rows, **more):
    """A summary with these claims."""
    about = {"figure": "a/figure", "claims": rows, "metrics": [], "points": [], "caution": ""}
    about |= {"seeds": [1], "scale": "quick", "scale_sets": [], "cpu_s": 3.0, "version": "0.1.0"}
    return about | {"build": "0123456789"} | more


def table(block):
    return [line for line in block.text.splitlines() if line.startswith("|")]


# Tables ------------------------------------------------------------------------------------------


def test_a_block_is_the_figure_s_claims_and_its_size(summary):
    block = blocks.claims(summary)
    assert summary["cpu_s"] >= 0
    assert block.size.startswith("Scale `quick`: `stop=20ms`, seeds 1, 2; ")
    assert summary["build"][:8] in block.size and summary["caution"].capitalize() in block.size
    rows = [line for line in block.text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(summary["claims"])
    for row, claim in zip(rows[2:], summary["claims"], strict=True):
        assert claim["claim"] in row and row.split(" | ")[-1].startswith(claim["verdict"])


def test_a_claim_s_timeouts_stand_beside_it_and_hindsight_is_marked(summary):
    (first, *_) = summary["claims"]
    first |= {"exploratory": "why", "behind": {"DT": {"flows": 20, "with_timeout": 7}}}
    written = blocks.claims(summary).text
    assert "exploratory: something of it was chosen after its numbers were seen" in written
    row = next(line for line in written.splitlines() if first["claim"] in line)
    place = [cell.strip() for cell in row.split("|")].index("DT 7/20")
    head = next(line for line in written.splitlines() if line.startswith("| claim |"))
    assert head.split("|")[place].strip() == "flows with a timeout"
    assert row.endswith(f"{first['verdict']}\\* |")


def test_choices_are_rows_and_other_verdicts_bold():
    def claim(choice, setting, ours, verdict, formula="1 - a / b", by_seed=(), most=None):
        return {
            "claim": f"a is faster than b ({setting})",
            "variant": choice,
            "over": f"{choice}, {setting}",
            "at": {"choice": choice, "setting": setting},
            "metric": "p95",
            "formula": formula,
            "is_change": True,
            "range": [0.5, most],
            "ours": ours,
            "by_seed": dict(enumerate(by_seed)),
            "verdict": verdict,
            "exploratory": "",
        }

    rows = [
        claim("as it is", "load 40%, burst 50%", 0.6, "holds"),
        claim("as it is", "load 40%, burst 50%", 0.7, "holds", "1 - a / c"),
        claim("as it is", "load 40%, burst 100%", 0.9, "holds"),
        claim("K = 10", "load 40%, burst 50%", 0.1, "does not hold", by_seed=(0.3, 0.05)),
        claim("K = 10", "load 40%, burst 50%", None, "holds", "1 - a / c", most=0.9),
    ]
    assert table(blocks.choices(made_up(rows), setting="load 40%, burst 50%")) == [
        "|  | p95, 1 - a / b | p95, 1 - a / c |",
        "| --- | --- | --- |",
        "| *what bears the claim out* | *50.0% or more* | *50.0% or more; 50.0% to 90.0%* |",
        "| as it is | 60.0% | 70.0% |",
        "| K = 10 | **10.0% (5.0% to 30.0%)** | - |",
    ]


def test_two_coordinates_are_a_grid():
    def claim(metric, a, p, ours, verdict="holds", formula="1 - new / old"):
        about = {"metric": metric, "formula": formula, "at": {"a": a, "p": p}}
        return about | {"claim": metric, "variant": "", "ours": ours, "verdict": verdict}

    rows = [
        claim("short", 0, 0.1, 0.01),
        claim("short", 0, 0.3, 0.02, "undecided"),
        claim("short", 0.5, 0.1, 0.03),
        claim("short", 0.5, 0.3, -0.04, "does not hold"),
        claim("short flows", 0, 0.1, 0.9),
        claim("short", 0, 0.1, 0.8, formula="1 - newest / old"),
    ]
    rows = [{**row, "is_change": True, "exploratory": ""} for row in rows]
    block = blocks.grid(made_up(rows, scale="full"), "short", "1 - new / old")
    assert block.size == "Scale `full`: seeds 1; 3 s of CPU time (version 0.1.0, core 01234567)."
    note = "short: 1 - new / old. Bold: not what is claimed, by its interval."
    assert block.text.startswith(f"{note}\n\n|")
    assert table(block) == [
        r"| p \ a | 0 | 0.5 |",
        "| --- | --- | --- |",
        "| 0.1 | 1.0% | 3.0% |",
        "| 0.3 | **2.0%** | **-4.0%** |",
    ]


def test_numbers_have_their_spread_where_there_is_one():
    def cell(value, low=None, high=None):
        ends = None if low is None else [low, high]
        return {"value": value, "spread": ends, "is_interval": False}

    schemes = {
        "DT": [cell(12.34567, 11.0, 13.0), cell(5.0, 5.0, 5.0)],
        "LQD": [cell(None), cell(0.5, 0.25, 0.75)],
    }
    metrics = [
        {"name": "p99", "unit": "ms", "schemes": schemes},
        {"name": "share", "unit": "", "schemes": {"DT": [cell(1.0), cell(2.0)]}},
    ]
    points = [{"label": "load 20%"}, {"label": "load 40%"}]
    own = made_up([], metrics=metrics, points=points)
    assert blocks.numbers(own).text.splitlines() == [
        "*p99, ms*",
        "",
        "|  | load 20% | load 40% |",
        "| --- | --- | --- |",
        "| DT | 12.35 (11 to 13) | 5 |",
        "| LQD | - | 0.5 (0.25 to 0.75) |",
        "",
        "*share*",
        "",
        "|  | load 20% | load 40% |",
        "| --- | --- | --- |",
        "| DT | 1 | 2 |",
    ]
    assert table(blocks.numbers(own, "p99", "points")) == [
        "|  | DT | LQD |",
        "| --- | --- | --- |",
        "| load 20% | 12.35 (11 to 13) | - |",
        "| load 40% | 5 | 0.5 (0.25 to 0.75) |",
    ]
    assert table(blocks.numbers(own, metric="share"))[2:] == ["| DT | 1 | 2 |"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (blocks.claims, {"variant": "upside down"}),
        (blocks.choices, {"burst": "81"}),
        (blocks.choices, {"load": "20"}),
        (blocks.grid, {"metric": "incast flows' p95 slowdown", "formula": "LQD / DT"}),
        (blocks.numbers, {"metric": "p95"}),
    ],
)
def test_nothing_is_invented(summary, kind, options):
    with pytest.raises(ValueError, match="tiny/bursts has nothing of what is asked for"):
        kind(summary, **options)


def test_claims_of_no_variant_have_a_table_of_their_own(summary):
    claims = [
        summary["claims"][0] | {"claim": f"claim {number}", "variant": variant}
        for number, variant in enumerate(("", "upside down", "upside down"))
    ]
    own = summary | {"claims": claims}
    for variant, numbers in (("", "012"), (blocks.NO_VARIANT, "0"), ("upside down", "12")):
        rows = [line for line in table(blocks.claims(own, variant)) if "claim " in line]
        assert [number for number in "012" if f"claim {number}:" in "".join(rows)] == list(numbers)
        # A variant that is asked for is not said again in every row.
        assert sum("upside down: claim" in row for row in rows) == 2 * (variant == "")


def test_cpu_time_is_told_as_people_do():
    assert blocks._cpu(42.0) == "42 s of CPU time"
    assert blocks._cpu(1_000.0) == "17 minutes of CPU time"
    assert blocks._cpu(10_000.0) == "2.8 hours of CPU time"


@pytest.mark.parametrize(
    ("variant", "over", "choice"),
    [
        # Which scheme it is about its column says: all schemes share a row.
        ("CBM, alpha 1", "alpha 1", "alpha 1"),
        ("CBM, B of a port, alpha 1", "alpha 1", "alpha 1"),
        ("alpha 1", "load 40%, alpha 1", "alpha 1"),
        ("", "load 40%", "load 40%"),
    ],
)
def test_a_row_of_choices_is_named_by_what_is_chosen(variant, over, choice):
    assert blocks._choice({"variant": variant, "over": over}) == choice


# Publishing --------------------------------------------------------------------------------------


def lines(results):
    """Of one point all metrics have intervals; at the other, nothing was lost."""

    def quiet(outcome):
        numbers = {name: n for name, n in outcome.numbers.items() if not name.startswith("drops.")}
        return replace(outcome, numbers=numbers)

    outcomes = {
        (place, *rest): quiet(outcome) if place == 1 else outcome
        for (place, *rest), outcome in results._outcomes.items()
    }
    return Results(figures.BURSTS, results.seeds, outcomes)


def over_time(results):
    panels = (
        TimePanel("queues", "KB", (("queue", "all"), ("long", "long flows'"))),
        TimePanel("rates", "Gbps", (("gbps", "all"),)),
    )
    plot = OverTime(panels, (figures.BUFFER,))

    def outcome(place, scheme, seed, found):
        step = 250.0 if scheme == "DT" else 400.0
        values = [seed * step * number / 3 for number in range(5 + place)]
        drawn = {"queue": values, "long": values[1:], "gbps": [number / 7 for number in values]}
        return Outcome({**found.numbers, **samples.series(drawn, step)}, found.samples)

    outcomes = {where: outcome(*where, found) for where, found in results._outcomes.items()}
    return Results(replace(figures.BURSTS, plot=plot, claims=()), results.seeds, outcomes)


def distributions(results):
    figure = replace(figures.BURSTS, plot=Distributions(), claims=())
    return Results(figure, results.seeds, results._outcomes)


def published_of(results):
    """What is read back of published results."""
    summary = write.document(results, "quick")
    publish(results, summary, COMMAND)
    return Published(results.figure)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("seeds", [2, 3])
@pytest.mark.parametrize("made", [lines, over_time, distributions])
def test_what_is_published_reads_back_the_same(computed, made, seeds):
    results = made(computed[seeds])
    found = published_of(results)
    figure = results.figure
    assert found.summary["command"] == COMMAND and found.seeds == results.seeds
    intervals = set()
    for place in range(len(figure.points)):
        assert found.is_informative(place) == results.is_informative(place)
        for metric in figure.metrics:
            for scheme in (each.name for each in figure.schemes):
                there, here = (
                    results.measured(metric, place, scheme),
                    found.measured(metric, place, scheme),
                )
                assert there.value is not None
                assert (here.value, here.interval) == (there.value, there.interval)
                assert found.ends(metric, place, scheme) == results.ends(metric, place, scheme)
                intervals.add(there.interval is not None)
    if made is lines:
        assert [results.is_informative(place) for place in (0, 1)] == [True, False]
        # Of flows there are intervals from three seeds on.
        assert intervals == ({True, False} if seeds == 3 else {False})
    assert found.picture is None
    assert svg(figure.plot(found)) == svg(figure.plot(results))


@pytest.mark.usefixtures("home")
def test_a_number_that_there_is_not_is_not_drawn(computed):
    gone = replace(figures.BUFFER, path="nothing.of.this.name")
    plot = Lines((Panel(gone, "buffers"), Panel(figures.INCAST, "incast")), "burst", "burst")
    figure = replace(figures.BURSTS, plot=plot, claims=())
    results = Results(figure, (1, 2), computed[2]._outcomes)
    found = published_of(results)
    assert found.measured(gone, 0, "DT").value is None
    assert svg(plot(found)) == svg(plot(results))


@pytest.mark.parametrize("made", [lines, over_time, distributions])
def test_the_same_numbers_give_the_same_files(computed, home, made):
    def files(results):
        published_of(results)
        return {file.name: file.read_bytes() for file in (home / "tiny" / "results").iterdir()}

    results = made(computed[3])
    first = files(results)
    curves = [] if made is lines else ["bursts.curves.parquet"]
    assert sorted(first) == sorted(["bursts.json", *curves])
    assert files(results) == first, "the plot was drawn already"
    assert files(made(computed[3])) == first


@pytest.mark.usefixtures("home")
def test_of_single_runs_is_kept_what_a_page_tells(computed):
    tells = ("drops.", "fct_slowdown.incast.")
    results = Results(replace(figures.BURSTS, tells=tells), (1, 2), computed[2]._outcomes)
    every = results.numbers().to_pylist()
    kept = [name for name in every[0] if name.startswith(tells)]
    assert len({name.partition(".")[0] for name in kept}) == 2
    names = ["burst", "scheme", "seed", *kept]
    assert published_of(results).runs == [{name: row[name] for name in names} for row in every]


def test_publishing_removes_what_was_printed_or_kept_before(computed, home):
    folder = home / "tiny" / "results"
    folder.mkdir()
    stale = [f"bursts.{end}" for end in ("printed.json", "png", "curves.parquet", "runs.parquet")]
    for name in (*stale, "other.png", "bursts-choices.png"):
        (folder / name).touch()
    published_of(lines(computed[2]))
    left = ["bursts-choices.png", "bursts.json", "other.png"]
    assert sorted(file.name for file in folder.iterdir()) == left


@pytest.mark.usefixtures("home")
def test_publishing_that_fails_leaves_what_was_there(computed, monkeypatch):
    published_of(computed[2])
    folder = write.place(NAME).parent
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert before

    def fail(_: object) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr(write, "_in_lines", fail)
    with pytest.raises(OSError, match="the disk is full"):
        published_of(computed[2])
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_an_unpublished_figure_is_told_with_the_command():
    with pytest.raises(UnpublishedError, match="no numbers of tiny/bursts are published") as error:
        Published(figures.BURSTS)
    assert error.value.hint == "spillway reproduce tiny/bursts --scale page --publish"


# Pages -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("home")
def test_a_page_has_tables_and_plots_in_place_of_its_blocks(computed, tmp_path):
    found = published_of(computed[2])
    page = (
        f"Before.\n\n```claims\n{NAME}\n```\n\n```plot\n{NAME}\n```\n\n```sh\nls\n```\n\n"
        f"```numbers\n{NAME}\nmetric = {figures.BUFFER.name}\nrows = points\n```\n\nAfter.\n"
    )
    written = pages.expanded(page, tmp_path / "images", "../images")
    claims = blocks.claims(found.summary)
    numbers = blocks.numbers(found.summary, figures.BUFFER.name, "points")
    # How much was run is said once.
    assert claims.size == numbers.size
    plot = f"![{figures.BURSTS.title}](../images/tiny-bursts-plot.svg)"
    assert written == (
        f"Before.\n\n{claims.size}\n\n{claims.text}\n\n{plot}\n\n```sh\nls\n```\n\n"
        f"{numbers.text}\n\nAfter.\n"
    )
    (image,) = (tmp_path / "images").iterdir()
    assert image.name == "tiny-bursts-plot.svg"
    assert image.read_bytes() == svg(figures.BURSTS.plot(found))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("kind", ["claims", "choices", "grid", "numbers", "plot"])
def test_a_page_tells_what_is_not_published_with_the_command(kind, tmp_path):
    written = pages.expanded(f"Before.\n\n```{kind}\n{NAME}\n```\n", tmp_path, "images")
    told = "No numbers of tiny/bursts are published"
    command = "spillway reproduce tiny/bursts --scale page --publish"
    assert written == f"Before.\n\n*{told}; `{command}` computes them.*\n"


@pytest.mark.usefixtures("home")
def test_what_is_neither_published_nor_listed_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "unpublished", list)
    with pytest.raises(ValueError, match=r"plot tiny/bursts: .*, and unpublished\.txt lacks it"):
        pages.expanded(f"```plot\n{NAME}\n```\n", tmp_path, "images")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "block",
    [
        f"claims\n{NAME}\nvariant = upside down",
        f"claims\n{NAME}\nmetric = p95",
        f"choices\n{NAME}\nload = 20",
        f"grid\n{NAME}\nmetric = p95",
        f"numbers\n{NAME}\nmetric = p95",
        "claims\ntiny/burst",
    ],
)
def test_a_block_that_asks_for_what_there_is_not_is_refused(computed, block, tmp_path):
    published_of(computed[2])
    kind, name, *_ = block.splitlines()
    with pytest.raises(ValueError, match=f"^{kind} {name} "):
        pages.expanded(f"```{block}\n```\n", tmp_path, "images")


def test_what_was_only_printed_is_told_so_and_its_plot_copied(home, summary, tmp_path):
    (home / "tiny" / "results").mkdir()
    file = home / "tiny" / "results" / "bursts"
    printed = summary | {"is_rounded": True, "metrics": [], "command": COMMAND}
    file.with_suffix(".json").write_text(json.dumps(printed))
    file.with_suffix(".png").write_bytes(b"a picture")
    page = f"```plot\n{NAME}\n```\n\n```claims\n{NAME}\n```\n\n```numbers\n{NAME}\n```\n"
    written = pages.expanded(page, tmp_path / "images", "i").strip()
    of_plot, plot, of_claims, size, *_, numbers = written.split("\n\n")
    anew = f"`{COMMAND} --publish` computes"
    assert of_plot == of_claims == f"*[As printed](../../reproduce.md#as-printed); {anew} it anew.*"
    assert plot == f"![{figures.BURSTS.title}](i/tiny-bursts-plot.png)"
    assert (tmp_path / "images" / "tiny-bursts-plot.png").read_bytes() == b"a picture"
    assert size.startswith("Scale `quick`")
    assert numbers == f"*These numbers of tiny/bursts are not published; {anew} them.*"


@pytest.mark.parametrize("study", pages._SIDE_BY_SIDE)
@pytest.mark.parametrize("table", ["regret", "plot"])
def test_what_was_only_printed_of_a_comparison_is_told_so(study, table, home, tmp_path):
    results = home / study / "results"
    results.mkdir(parents=True)
    (results / "regret.printed.json").write_text('["Text."]')
    (results / "plot.png").write_bytes(b"a picture")
    page = f"```side-by-side\n{study}\ntable = {table}\n```\n"
    note, _ = pages.expanded(page, tmp_path / "images", "i").strip().split("\n\n")
    assert f"`spillway reproduce {study} --scale page --publish` computes it anew" in note


# The studies' pages ------------------------------------------------------------------------------

STUDIES = write.HOME.parent
PAGES = sorted(STUDIES.rglob("*.md"))
FIGURES = {figure.name: figure for figure in catalogue.every()}
OF_FIGURES = ("claims", "choices", "grid", "numbers", "plot")
LANGUAGES = ("sh", "python")
FENCE = re.compile(r"^```(\S*)", re.MULTILINE)


def asked(page):
    """The kind, the name and the options of every block of a page."""
    found = []
    for kind, body in pages.BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind not in LANGUAGES:
            name, *more = body.strip().splitlines()
            found.append((kind, name, dict(line.split(" = ", 1) for line in more)))
    return found


def without_numbers(figure):
    """A figure's summary as it would be if it had no numbers."""
    rows = []
    for claim in figure.claims:
        places = [n for n, point in enumerate(figure.points) if point.lies_at(claim.over.where)]
        shown = places[:1] if claim.over.take in ("each", "largest") else places
        over = finding._about(claim, figure, shown, len(places))
        hindsight = finding._hindsight(claim, figure, places)
        found = Finding(claim, None, Verdict.NONE, {}, {}, over, len(places), 0, hindsight)
        rows.append(found.document)
    nothing = [{"value": None, "spread": None, "is_interval": False} for _ in figure.points]
    schemes = {scheme.name: nothing for scheme in figure.schemes}
    metrics = [
        {"name": metric.name, "unit": metric.unit, "schemes": schemes} for metric in figure.metrics
    ]
    points = [{"label": point.label} for point in figure.points]
    return made_up(rows, figure=figure.name, metrics=metrics, points=points)


def check(kind, name, options):
    """Whether the figure, the study or the network has what a block asks for."""
    if kind == "side-by-side":
        study, _, figure = name.partition("/")
        assert study in pages._SIDE_BY_SIDE
        assert options in ([{}] if figure else [{"table": "plot"}, {"table": "regret"}])
        assert not figure or name in FIGURES
    elif kind == "tuned":
        assert name in pages.tuned.NETWORKS
        assert options in ({"table": "plot"}, {"table": "policies"})
    elif kind in ("arena", "five"):
        assert pages.KINDS[kind](name, options)
    elif kind == "validation":
        assert [*options] == ["table"] and options["table"] in references.TABLES[name]
    elif kind == "plot":
        assert FIGURES[name].plot is not None and not options
    else:
        assert options.get("rows") in (None, "points", "schemes")
        if kind == "choices":
            assert {*options} <= {axis for each in FIGURES[name].points for axis in each.values}
        assert table(pages.KINDS[kind](name, options))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(STUDIES)) for page in PAGES])
def test_the_figures_have_what_pages_ask_for(page, monkeypatch):
    monkeypatch.setattr(
        pages, "_published", lambda name: SimpleNamespace(summary=without_numbers(FIGURES[name]))
    )
    text = page.read_text(encoding="utf-8")
    kinds = [kind for kind in FENCE.findall(text) if kind]
    # What looks like a block is one.
    assert kinds == [kind for kind, _ in pages.BLOCK.findall(text)]
    assert {*kinds} <= {*pages.KINDS, *LANGUAGES}
    wrong = []
    for block in asked(page):
        try:
            check(*block)
        except Exception as error:
            wrong.append((*block, repr(error)))
    assert wrong == []


def test_what_has_the_scale_of_pages_is_asked_for_by_one():
    named = {name for page in PAGES for _, name, _ in asked(page)}
    of_pages = {name for name, figure in FIGURES.items() if "page" in figure.scales}
    assert len(of_pages) > 50 and of_pages - named == set()


def is_computed(name):
    """Whether a figure's numbers are published as they were computed."""
    file = write.place(name).with_name(f"{name.partition('/')[2]}.json")
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"is_rounded": True}
    if found.get("is_rounded"):
        return False
    assert found["build"] and found["seeds"] and found["cpu_s"] is not None, name
    return True


def test_what_pages_show_is_computed_or_listed():
    named = {name for page in PAGES for _, name, _ in asked(page) if name in FIGURES}
    listed = pages.unpublished()
    assert listed == sorted(set(listed))
    computed = {name for name in named if is_computed(name)}
    assert named - computed - {*listed} == set(), "compute these, or list them"
    assert {*listed} - (named - computed) == set(), "these are computed: strike them off the list"
    # What was printed goes with it.
    printed = {"printed.json", "png"}
    for name in computed:
        figure = write.place(name)
        assert not any(figure.with_name(f"{figure.name}.{each}").exists() for each in printed), name
