"""What PRED's figures of queues make of a run's tables, by hand."""

import numpy as np
import pyarrow as pa
import pytest

import spillway
from spillway_studies.claims import (
    Computed,
    Figure,
    Number,
    Outcome,
    Results,
    Scale,
    Scheme,
    along,
    samples,
)
from spillway_studies.claims.claim import Estimate, judge
from spillway_studies.pred import figures as pred
from spillway_studies.pred.figures import (
    figure4,
    figure11,
    figure15,
    figure19,
    figure25,
    figure26,
    queue_choices,
    star,
    trials,
)

US, MS = 10**6, 10**9


class Run:
    """The tables of a made-up run."""

    scenario = 'warmup = "2ms"'

    def __init__(self, queues=(), aqm=(), flows=(), links=()):
        """Rows as dictionaries."""
        names = ("time_ps", "port", "min_bytes", "slope_per_mb", "flows", "lambda", "utility")
        self.queues = pa.Table.from_pylist(list(queues))
        rows = [dict.fromkeys(names) | row for row in aqm]
        self.aqm = pa.table({name: [row[name] for row in rows] for name in names})
        self.flows = pa.Table.from_pylist(list(flows))
        self.links = pa.Table.from_pylist(list(links))


def held(time_ps, bytes_held, port=0, queue=0):
    return {"time_ps": time_ps, "port": port, "queue": queue, "bytes": bytes_held}


def marks(time_ps, port=0, **numbers):
    return {"time_ps": time_ps, "port": port, **numbers}


def test_the_queue_is_the_receiver_s_in_packets():
    run = Run(
        [
            held(US, 3000),
            held(US, 4500, queue=1),
            held(US, 9000, port=1),
            held(3 * US, 1500),
            held(3 * US, 0, queue=1),
        ]
    )
    time, packets = star.queue(run)
    assert (time.tolist(), packets.tolist()) == ([1, 3], [5, 1])
    assert star.queue(run, queue_class=1)[1].tolist() == [3, 0]


def test_numbers_of_a_queue():
    # 1 to 100: by rank, the 1st percentile is 1 and the 99th 99.
    found = star.about(np.arange(1.0, 101.0))
    assert found["queue.mean"] == 50.5
    assert (found["queue.tail"], found["queue.amplitude"]) == (99, 98)
    assert found["queue.deviation"] == pytest.approx(np.sqrt((100**2 - 1) / 12))


def test_slopes_are_per_100_kb_and_unknown_numbers_are_left_out():
    run = Run(
        [held(2 * MS, 1500), held(3 * MS, 4500)],
        [
            marks(2 * MS, slope_per_mb=1.0, min_bytes=15_000),
            marks(3 * MS, slope_per_mb=6.0, min_bytes=45_000),
            marks(3 * MS, port=1, slope_per_mb=99.0, flows=7),
        ],
    )
    found = star.numbers(run)
    assert found["queue.mean"] == 2
    # (0.1 + 0.6) / 2, and (10 + 30) / 2 packets.
    assert found["aqm.slope"] == pytest.approx(0.35)
    assert found["aqm.min"] == 20
    assert "aqm.flows" not in found and "aqm.lambda" not in found
    assert star.warmup_us(run) == 2000


def test_a_series_has_the_last_sample_of_each_step():
    time, values = np.array([0.0, 4, 8, 12, 31]), np.array([1.0, 2, 3, 4, 5])
    # Until 10, until 20, until 30 (nothing new), and until 40.
    assert star.thinned(time, values, 0, 40, 10) == [3, 4, 4, 5]
    # A sample at the very end of a step is the next one's.
    assert star.thinned(time, values, 0, 8, 4) == [1, 2]
    assert star.thinned(time[:0], values[:0], 0, 40, 10) == []


def test_a_section_is_a_table_that_scenarios_read():
    scenario = spillway.Scenario(star.SCENARIO).set(
        star.traffic(
            star.section("long", 4),
            star.section("burst", "2..3", sizes="1KB", load=0.5, load_of="receiver"),
        )
    )
    long, burst = scenario.resolved["traffic"]
    assert (long["fan_in"], long["queries"], long["sizes"]) == (4, 1, "1000GB")
    assert (burst["fan_in"], burst["load"]) == ("2..3", 0.5)
    assert "queries" not in burst and "interval" not in burst


def test_two_senders_share_the_flows():
    result = spillway.run(
        star.SCENARIO,
        set=[*star.network(2), star.of_two(6), "warmup=1ms", "duration=3ms", "stop=3ms"],
    )
    senders = result.flows["src"].to_pylist()
    assert sorted(senders) == [1, 1, 1, 2, 2, 2]
    # None of them ends, and none begins after a millisecond and six times ten microseconds.
    assert result.flows["fct_ps"].null_count == 6
    assert max(result.flows["start_ps"].to_pylist()) <= MS + 60 * US


def test_flows_counted_alone_together_and_afterwards():
    def flow(name, start_us, fct_us):
        fct = None if fct_us is None else fct_us * US
        return {"class": name, "start_ps": start_us * US, "fct_ps": fct}

    run = Run(
        aqm=[
            marks(time * US, flows=flows)
            # Before the warm-up; alone; in a round trip of the burst; with both; over; forgotten.
            for time, flows in (
                (1_000, 99),
                (3_000, 16),
                (9_000, 18),
                (10_100, 30),
                (10_400, 34),
                (10_900, 36),
                (11_500, 36),
                (12_000, 35),
                (12_300, 22),
                (12_400, 21),
                (12_500, 17),
            )
        ],
        queues=[held(MS, 0)],
        flows=[
            flow("long", 0, None),
            flow("burst", 10_000, 1_000),
            flow("burst", 10_005, 1_995),
        ],
    )
    found = figure25.numbers(run)
    assert found["counted.alone"] == 17
    # From 10,005 + 4 x 80 us on until the first is done, at 11,000 us.
    assert found["counted.both"] == 35
    # The last is done at 12,000 us. At most 17 + 18 / 4 = 21.5 are counted from 12,400 us on.
    assert found["counted.reset_us"] == 400


def test_how_long_the_queue_is_held():
    packets = (1, 1, 0, 0, 1, 0, 1, 1, 1, 0)
    run = Run([held(2 * MS + 10 * US * n, 1500 * each) for n, each in enumerate(packets)])
    found = figure4.over_time(run)
    # Two, one and three samples of 10 us each.
    assert found["queue.busy_us"] == pytest.approx(20)
    assert found["queue.empty"] == 0.4
    assert found["queue.mean"] == 0.6


def test_lambda_falls_rises_and_takes_its_time():
    def center(ms):
        if ms < 1_000:
            return 1.0 if ms < 300 else 0.2
        if ms < 2_000:
            return 0.2 if ms < 1_150 else 0.6
        return 0.6 if ms < 2_250 else 0.3

    def trial(ms):
        return center(ms) + (0.1, -0.1, -0.1, 0.1)[ms % 4]

    run = Run(
        [held(0, 0)],
        [marks(ms * MS, min_bytes=15_000, **{"lambda": trial(ms)}) for ms in range(3_000)],
    )
    run.scenario = "[switch.aqm]\nlambda = 1.1\ndelta = 0.1"
    found = figure26.numbers(run)
    assert found["lambda.fall"] == pytest.approx(0.9)
    assert found["lambda.rise"] == pytest.approx(0.4)
    # Half way is 0.4. From 1120 to 1152 ms the mean is 0.225, from then to 1184 it is 0.6.
    assert found["lambda.half_ms"] == 184
    # At 0.3, to a step of 0.1: from 2240 to 2272 ms the mean is 0.394.
    assert found["lambda.whole_ms"] == 272
    # The trials themselves are no unrest.
    assert found["lambda.deviation"] == pytest.approx(0, abs=1e-12)
    assert found["aqm.min"] == 10


def test_where_lambda_does_not_move_nothing_falls():
    run = Run(
        [held(0, 0)],
        [
            marks(ms * MS, min_bytes=15_000, **{"lambda": (0.125, 0.075, 0.075, 0.125)[ms % 4]})
            for ms in range(3_000)
        ],
    )
    run.scenario = "[switch.aqm]\nlambda = 0.1\ndelta = 0.025"
    found = figure26.numbers(run)
    assert found["lambda.fall"] == pytest.approx(0, abs=1e-12)
    assert found["lambda.rise"] == pytest.approx(0, abs=1e-12)


def test_what_hpcc_and_pred_are_compared_by():
    run = Run(
        [
            held(1 * MS, 150_000),
            held(6 * MS, 3_000),
            held(10 * MS, 6_000),
            held(21 * MS, 45_000),
            held(26 * MS, 1_500),
            held(39 * MS, 4_500),
        ],
        links=[
            {"time_ps": time * MS, "link": link, "utilisation": used}
            for time, link, used in (
                (5, "leaf0-host0", 0.1),
                (10, "leaf0-host0", 0.5),
                (20, "leaf0-host0", 1.0),
                (20, "leaf0-host1", 0.0),
            )
        ],
    )
    found = figure19.numbers(run)
    assert found["queue.before"] == 3
    assert found["queue.after"] == 2
    assert found["queue.peak"] == 30
    assert found["line.used"] == 0.75
    assert Outcome(found).series("gbps")[-1] == 100


def test_fifths_of_a_run():
    run = Run(
        [held(0, 1500)],
        [marks(n * MS, **{"lambda": n / 10}, slope_per_mb=1.0) for n in range(10)],
    )
    found = queue_choices.settling(run)
    # 0 and 1, 2 and 3, ..., 8 and 9 tenths.
    assert found["lambda.early"] == pytest.approx(0.25)
    assert found["lambda.late"] == pytest.approx(0.85)
    assert found["lambda.deviation"] == pytest.approx(0.05)


def test_what_trials_tell():
    """Trials of 100 us, looked at every 50 us; the utility is that of the trial before."""
    up, down, neither = [0.9, 0.8, 0.7, 0.8], [0.5, 0.8, 0.8, 0.7], [0.6, 0.6, 0.5, 0.6]
    utilities = [None, *(up + up + down + neither), 0.1]
    rows = [
        marks(
            place * 100 * US + half * 50 * US,
            utility=utility,
            min_bytes=15_000 + 1500 * place,
            **{"lambda": 0.05 + 0.01 * place},
        )
        for place, utility in enumerate(utilities)
        for half in (0, 1)
    ]
    run = Run(aqm=rows)
    run.scenario = '[record]\naqm_interval = "50us"'
    found = trials.all_(run)
    # Pairs: 0.1 and 0.1, twice; -0.3 and -0.1; 0 and 0.1.
    assert found["trials.gain"] == pytest.approx(1000 * 0.1 / 8)
    pairs = [100, 100, -300, 0, 100, 100, -100, 100]
    assert found["trials.spread"] == pytest.approx(np.std(pairs))
    assert (found["trials.up"], found["trials.down"]) == (50, 25)
    # The eighteenth row of trials is the last.
    assert found["trials.lambda"] == pytest.approx(0.22)
    assert found["trials.min"] == pytest.approx(27)


def test_early_trials_are_those_after_the_flows_have_begun():
    cycles = [[0.9, 0.8, 0.8, 0.9]] * 5 + [[0.8, 0.9, 0.9, 0.8]] * 10 + [[0.9, 0.8, 0.8, 0.9]] * 5
    rows = [
        marks(place * 100 * US + 50 * US, utility=utility, min_bytes=15_000, **{"lambda": 0.1})
        for place, utility in enumerate([None, *np.ravel(cycles)])
    ]
    run = Run(aqm=rows)
    run.scenario = '[record]\naqm_interval = "50us"'
    found = trials.early(run)
    assert (found["trials.up"], found["trials.down"]) == (0, 100)


def plotted(every_seed):
    """Lines of two schemes in two panels."""
    figure = Figure(
        name="tiny/overlaid",
        title="",
        source="",
        about="",
        measure=Computed("made_up:square"),
        points=along("x", (1,)),
        schemes=(Scheme("one", style=1), Scheme("two", style=2)),
        scales={"quick": Scale((1, 2))},
    )
    outcomes = {
        (0, name, seed): Outcome(samples.series({"queue": [seed, 2.0 * seed]}, 500))
        for name in ("one", "two")
        for seed in (1, 2)
    }
    plot = star.Overlaid(
        (star.Series("both", "packets", "queue"), star.Series("one", "packets", "queue", ("one",))),
        (Number("a", "a"),),
        begin_ms=10,
        every_seed=every_seed,
    )
    assert [metric.name for metric in plot.metrics] == ["a"]
    return plot(Results(figure, (1, 2), outcomes))


def lines(axes):
    return [
        (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line in axes.get_lines()
        if len(line.get_xdata())
    ]


def test_panels_have_a_line_for_each_scheme_or_seed():
    drawing = plotted(every_seed=False)
    both, one = drawing.axes
    assert lines(both) == [([10.5, 11.0], [1, 2])] * 2
    assert lines(one) == [([10.5, 11.0], [1, 2])]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    drawing = plotted(every_seed=True)
    assert lines(drawing.axes[1]) == [([10.5, 11.0], [1, 2]), ([10.5, 11.0], [2, 4])]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == ["seed 1", "seed 2"]


@pytest.mark.filterwarnings("ignore:.*PRED is not by queue")
@pytest.mark.parametrize("figure", pred.QUEUES, ids=lambda figure: figure.name)
def test_a_figure_s_metrics_are_numbers_of_its_runs(figure):
    """Of a run of the last scheme that is cut short, but for those that need more of it."""
    needs_an_end = {"counted.reset_us", "lambda.half_ms", "lambda.rise", "counted.both"}
    size = Scale((1,), ("warmup=0ms", "duration=120ms", "stop=120ms"))
    if figure is pred.figure26.FIGURE:
        size = figure.scales["quick"]
    point, scheme = figure.points[-1], figure.schemes[-1]
    outcome = figure.measure.task(point, scheme, 1, size).run(lambda _: None)
    for metric in figure.metrics:
        is_told = metric.measured({1: outcome}, 0).value is not None
        known = getattr(metric, "path", "") in needs_an_end
        has_none = metric in (star.LAMBDA, star.LEAST, star.FLOWS, star.SLOPE)
        assert is_told or known or has_none, metric.name


def test_pred_s_figures_have_what_their_plots_show():
    """Series of the queue, of lambda and of flows, as long as they are told to be."""
    size = Scale((1,), ("warmup=5ms", "duration=50ms", "stop=50ms"))
    figure = figure15.FIGURE
    outcome = figure.measure.task(figure.points[0], star.PRED, 1, size).run(lambda _: None)
    for name in ("queue", "lambda", "flows"):
        assert len(outcome.series(name)) == 2_000
    assert max(outcome.series("queue")) > 15
    assert max(outcome.series("flows")) >= 4


@pytest.mark.parametrize("figure", [figure4.FIGURE, figure4.CHOICES, figure11.FIGURE])
def test_what_stays_as_it_is_neither_rises_nor_falls(figure):
    words = ("take longer", "take less time", "grows with N", "shrinks")
    rules = [claim.rule for claim in figure.claims if any(word in claim.says for word in words)]
    assert len(rules) >= 2
    assert {judge(rule, Estimate(0.0, (0.0, 0.0))) for rule in rules} == {"does not hold"}
