"""`spillway.fluid`: fixed points by hand, the integrator, models and the packet simulator."""

import itertools
import math

import numpy as np
import pytest

import spillway
from spillway import fluid
from spillway.theory.fluid.dcqcn import Dcqcn
from spillway.theory.fluid.solution import integrate

BY_HAND = {"flows": 10, "rate_gbps": 10.0, "delay_us": 50.0, "packet_bytes": 1250}
"""10 flows; packets of 10,000 bits: C = 1,000,000 packets/s, C d = 50."""


def at(slope, least, **more):
    """The bottleneck of `BY_HAND`, with a slope per packet."""
    return fluid.Bottleneck(slope=slope * 1e6 / 1250, min_packets=least, **{**BY_HAND, **more})


def test_the_papers_fixed_point_by_hand():
    # q = 30: N w = q + C d = 80, w = 8. p = 0.05 (30 - 20) = 0.5, and w p^2 / 2 = 8 / 4 / 2 = 1.
    # Equation (8): (q - min)^2 (q + C d) = 100 * 80 = 8000; 2 N / lambda^2 = 20 / 0.0025 = 8000.
    point = fluid.fixed_point(fluid.sender("dctcp"), at(0.05, 20.0))
    assert point.queue == pytest.approx(30)
    assert point.window == pytest.approx(8)
    assert point.probability == pytest.approx(0.5)
    # 50 us and 30 packets of 1 us.
    assert point.rtt_us == pytest.approx(80)


def test_the_other_fixed_points_by_hand():
    # Per mark: (w p)^2 = 2. w = 10: q = 50; p = sqrt(2) / 10 = lambda (50 - 40).
    point = fluid.fixed_point(fluid.sender("dctcp", "per-mark"), at(math.sqrt(2) / 100, 40.0))
    assert (point.queue, point.window) == pytest.approx((50, 10))
    # Held: w^2 p^2 = 2 (1 - p). p = 1/9, w = 12: 144 / 81 = 16 / 9. q = 70; 1/9 = (70 - 60) / 90.
    point = fluid.fixed_point(fluid.sender("dctcp", "held"), at(1 / 90, 60.0))
    assert (point.queue, point.window) == pytest.approx((70, 12))
    # Half a packet of each flow's window is not in flight: w = 12, q = 10 * 11.5 - 50 = 65.
    whole = fluid.sender("dctcp", "held", whole_packets=True)
    point = fluid.fixed_point(whole, at(1 / 90, 55.0))
    assert (point.queue, point.window) == pytest.approx((65, 12))
    # Per window: p (1 - (1 - p)^w) w / 2 = 1. p = 1/2, w = 4.3 ... by bisection, from its formula.
    point = fluid.fixed_point(fluid.sender("dctcp", "per-window"), at(0.05, 20.0))
    p, w = point.probability, point.window
    assert p * (1 - (1 - p) ** w) * w == pytest.approx(2)
    assert p == pytest.approx(0.05 * (10 * w - 50 - 20))
    # TCP: W^2 p = 2 (Hollot et al., INFOCOM 2001). W = 10: p = 0.02 = 0.002 (50 - 40).
    point = fluid.fixed_point(fluid.sender("tcp"), at(0.002, 40.0))
    assert (point.queue, point.window) == pytest.approx((50, 10))


def cubic(flows, slope, least, pipe):
    """The root of (q - min)^2 (q + C d) = 2 N / lambda^2 in closed form.

    With x = q + C d and a = min + C d: x (x - a)^2 = K; with x = y + 2 a / 3 there is no y^2.
    """
    a = least + pipe
    r = 27 * (2 * flows / slope**2) / (2 * a**3) - 1
    root = math.cosh(math.acosh(r) / 3) if r > 1 else math.cos(math.acos(r) / 3)
    return 2 * a / 3 * (1 + root) - pipe


@pytest.mark.parametrize("flows", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("slope", [1e-5, 1e-3, 0.02])
def test_the_root_is_that_of_equation_8_in_closed_form(flows, slope):
    there = at(slope, 15.0, flows=flows)
    point = fluid.fixed_point(fluid.sender("dctcp"), there)
    expected = cubic(flows, slope, 15.0, 50.0)
    if slope * (expected - 15) <= 1:
        assert point.queue == pytest.approx(expected, rel=1e-9)
    else:
        # Beyond p = 1 all packets are marked, and 1 = w / 2.
        assert (point.probability, point.window) == pytest.approx((1, 2))
        assert point.queue == pytest.approx(2 * flows - 50)


def test_the_slope_may_grow_with_the_flows():
    # Per mark: lambda (q - min) (q + C d) = sqrt(2) N. lambda = sqrt(2) / 100 per packet for 10
    # flows and min = 40 gives q = 50 (above): with lambda N in its place, for any N.
    for flows in (2, 10, 50):
        there = at(math.sqrt(2) / 1000, 40.0, flows=flows, growth="n")
        assert there.slope_per_mb == pytest.approx(flows * there.slope)
        point = fluid.fixed_point(fluid.sender("dctcp", "per-mark"), there)
        assert point.queue == pytest.approx(50)
    # As published it is lambda sqrt(N) that keeps the queue: q = 30 for 10 flows (above).
    for flows in (5, 10, 40):
        there = at(0.05 / math.sqrt(10), 20.0, flows=flows, growth="sqrt-n")
        assert fluid.fixed_point(fluid.sender("dctcp"), there).queue == pytest.approx(30)
    assert at(0.1, 20.0, growth="n-squared").slope_per_packet == pytest.approx(10)
    assert fluid.scenario(at(0.1, 20.0, growth="n"))["switch"]["aqm"]["slope"] == 800


def test_windows_do_not_fall_below_the_least():
    # 64 windows of 2 are 128 packets: 50 in the pipe, 78 in the queue, whatever RED marks.
    there = at(0.1, 20.0, flows=64)
    assert there.floor == 78
    for cuts in ("per-mark", "held"):
        point = fluid.fixed_point(fluid.sender("dctcp", cuts), there)
        assert (point.queue, point.window) == pytest.approx((78, 2))
    # With a least window of 1 there is a balance above it: for held, 64 packets would be a queue
    # of 14, below min, where nothing is marked.
    point = fluid.fixed_point(fluid.sender("dctcp", "held"), at(0.1, 20.0, flows=64, min_window=1))
    assert 20 < point.queue < 78 and 1 < point.window < 2


def test_beyond_max_everything_is_marked():
    assert at(0.05, 20.0).probability(30) == pytest.approx(0.5)
    assert at(0.05, 20.0).probability(60) == 1
    limited = at(0.05, 20.0, max_packets=25.0)
    assert limited.probability(25) == pytest.approx(0.25) and limited.probability(25.1) == 1
    # The fixed point of 30 lies beyond, so the queue stays where the probability jumps.
    assert fluid.fixed_point(fluid.sender("dctcp"), limited).queue == pytest.approx(25)


# y' = -y(t - 1), y = 1 before: on [n - 1, n] a polynomial of degree n (the method of steps).
def delayed_decay(t):
    return sum((-1) ** k * (t - k + 1) ** k / math.factorial(k) for k in range(math.floor(t) + 2))


def test_the_integrator_follows_a_delay_equation():
    times, states = integrate(lambda now, past: (-past[0],), [1.0], delay=1.0, end=5.0, step=0.05)
    assert times[-1] == pytest.approx(5) and len(times) == 101
    assert states[20, 0] == pytest.approx(0, abs=1e-13)
    assert states[40, 0] == pytest.approx(-0.5, abs=1e-13)
    for time, state in zip(times, states[:, 0], strict=True):
        assert state == pytest.approx(delayed_decay(time), abs=2e-8)


def test_the_integrator_is_of_fourth_order():
    def error(step):
        # y' = -y + y(t - 1) / 2 has no simple solution; a fine grid is the truth.
        _, states = integrate(
            lambda now, past: (-now[0] + past[0] / 2,), [1.0], delay=1.0, end=4.0, step=step
        )
        return float(states[-1, 0])

    truth = error(1 / 256)
    coarse, fine = abs(error(1 / 4) - truth), abs(error(1 / 8) - truth)
    assert 10 < coarse / fine < 25


def test_the_integrator_keeps_within_limits():
    _, states = integrate(
        lambda now, past: (-1.0,),
        [1.0],
        delay=1.0,
        end=3.0,
        step=0.5,
        keep_within=lambda state: (max(state[0], 0.0),),
    )
    assert states[:, 0].tolist() == [1.0, 0.5, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", ["dctcp", "tcp"])
@pytest.mark.parametrize("cuts", list(fluid.CUTS))
def test_in_time_the_models_come_to_their_fixed_point(kind, cuts):
    model = fluid.sender(kind, cuts)
    there = fluid.Bottleneck(flows=16, slope=0.3)
    point = fluid.fixed_point(model, there)
    found = fluid.trajectory(model, there, point)
    assert found.fate == "steady"
    assert found.queue[0] == 0
    assert found.mean == pytest.approx(point.queue, rel=1e-3)
    assert found.states[-1, 0] == pytest.approx(point.window, rel=1e-3)


@pytest.mark.parametrize("kind", list(fluid.SENDERS))
@pytest.mark.parametrize("flows", [2, 16])
def test_nothing_changes_at_a_fixed_point(kind, flows):
    model, there = fluid.sender(kind), fluid.Bottleneck(flows=flows, slope=0.2)
    state = model.fixed_point(there)
    rates = np.array(model.slope(there, state, state)) / np.array(state)
    # Per round trip, as a part of the state.
    assert np.abs(rates * there.rtt_s(state[-1])).max() < 1e-7


def test_a_steep_red_makes_the_model_oscillate():
    # Steep for its delay: between the moments when p is 0 and when it is 1 lie 10 packets.
    model, there = fluid.sender("dctcp", "held"), fluid.Bottleneck(flows=16, slope=65.0)
    found = fluid.trajectory(model, there)
    assert found.fate == "oscillates" and found.amplitude > 5
    # Flat enough, it settles.
    flat = fluid.trajectory(model, fluid.Bottleneck(flows=16, slope=0.65))
    assert flat.fate == "steady" and flat.amplitude < 0.01


def test_what_has_not_settled_is_told():
    # One window grows by a packet per round trip: 4,000 of them do not reach 100,000 packets.
    there = fluid.Bottleneck(flows=1, slope=1e-6)
    model = fluid.sender("dctcp")
    assert fluid.fixed_point(model, there).window > 50_000
    assert fluid.trajectory(model, there).fate == "unsettled"


@pytest.mark.parametrize(("rise_mbps", "within"), [(1e-2, 0.05), (1e-5, 0.01)])
@pytest.mark.parametrize("flows", [2, 4])
def test_dcqcns_fixed_point_is_what_its_authors_approximate(flows, rise_mbps, within):
    # Their program: p^3 = R_AI N^2 / (tau' C^2) (1 / B + N / (T C))^2, the nearer the smaller p.
    model = Dcqcn(rise_bps=rise_mbps * 1e6)
    there = fluid.Bottleneck(flows=flows, rate_gbps=40.0, slope=0.05, packet_bytes=1000)
    rate = there.capacity
    rise, counter, timer = rise_mbps * 1e6 / 8000, 10e6 / 1000, 55e-6
    cube = rise * flows**2 / (timer * rate**2) * (1 / counter + flows / (timer * rate)) ** 2
    point = fluid.fixed_point(model, there)
    assert point.probability == pytest.approx(cube ** (1 / 3), rel=within)
    # All rates together are the link's.
    assert point.window * flows == pytest.approx(rate * point.rtt_us * 1e-6)


def test_dcqcns_rates_stay_within_the_link():
    there = fluid.Bottleneck(flows=16, slope=0.65)
    found = fluid.trajectory(fluid.sender("dcqcn"), there)
    assert found.columns == ("rate", "target", "alpha", "queue")
    assert found.states[:, :2].max() <= there.capacity and found.states.min() >= 0
    assert found.fate == "oscillates"


def test_the_scenario_has_the_models_delay_and_red():
    there = fluid.Bottleneck(flows=3, slope=2.0, min_packets=4.0, delay_us=42.4832, min_window=1.0)
    made = fluid.scenario(there, rtts=100)
    # Two packets of 1.2 us and two acks of 0.0416 us: 4 links of 10 us are left.
    assert made["topology"]["link_delay"] == "10000000ps"
    aqm = made["switch"]["aqm"]
    # 1 / (2 per MB) = 500 KB above the 6,000 bytes of 4 packets.
    assert (aqm["min"], aqm["max"], aqm["slope"]) == ("6000B", "506000B", 2.0)
    assert made["transport"]["min_window"] == "1pkt"
    assert spillway.Scenario.of(made) is not None
    tcp = fluid.scenario(there, transport="newreno")["transport"]
    assert tcp["ecn"] is True and "g" not in tcp


def test_dcqcn_has_the_models_numbers_in_the_packet_simulator():
    made = fluid.scenario(fluid.Bottleneck(flows=3), transport="dcqcn")
    sender, model = spillway.Scenario.of(made).resolved["transport"], Dcqcn()
    assert sender["g"] == model.g and sender["fast_recovery"] == model.fast_recovery
    times = [sender[key] for key in ("cnp_interval", "alpha_interval", "increase_timer")]
    assert times == [
        f"{seconds * 1e6:g}us" for seconds in (model.tau_s, model.alpha_timer_s, model.timer_s)
    ]
    assert sender["byte_counter"] == f"{model.counter_bytes * 1e-6:g}MB"
    assert sender["rate_step"] == f"{model.rise_bps * 1e-6:g}Mbps"


def test_a_run_has_the_queue_that_the_windows_leave():
    run = fluid.measure(fluid.Bottleneck(flows=8, delay_us=60.0), rtts=200, seed=3)
    # N w = q + C d, to a packet: what is in flight is in the pipe or waits.
    assert 8 * run.in_flight == pytest.approx(run.mean + 50, abs=1.5)
    # A window of 7.3 has 7 packets in flight.
    assert 0.3 < run.window - run.in_flight < 0.6
    assert run.least <= run.mean <= run.greatest and len(run.queue) == len(run.time_s)
    assert run.goodput_gbps == pytest.approx(10 * 1448 / 1500, rel=2e-3)
    again = fluid.measure(fluid.Bottleneck(flows=8, delay_us=60.0), rtts=200, seed=3)
    assert again.mean == run.mean
    assert fluid.measure(fluid.Bottleneck(flows=8, delay_us=60.0), rtts=200).mean != run.mean


def test_dctcp_cuts_as_held_says_and_not_as_the_paper():
    points = fluid.compare(
        [fluid.Bottleneck(flows=flows) for flows in (2, 16)],
        cuts=["paper", "per-window", "held"],
        seeds=[1, 2],
    )
    for point in points:
        paper, window, held = (each.point.queue for each in point.solved)
        assert held == pytest.approx(point.measured, rel=0.06)
        assert paper > 2.3 * point.measured
        assert window > 1.2 * point.measured


def test_red_cannot_keep_the_queue_below_the_floor():
    there = fluid.Bottleneck(flows=64, slope=65.0)
    (point,) = fluid.compare([there], cuts=["held"], seeds=[1])
    assert there.floor == pytest.approx(128 - 66.67, abs=0.01)
    assert point.measured == pytest.approx(there.floor, abs=1)
    assert point.packets[0].window == pytest.approx(2, abs=0.01)


def test_a_slope_that_grows_with_n_keeps_the_queue_and_with_its_root_does_not():
    kept, grown = (
        fluid.compare(
            [fluid.Bottleneck(flows=flows, growth=growth) for flows in (2, 16)],
            cuts=["held"],
            whole_packets=True,
            seeds=[1],
        )
        for growth in ("n", "sqrt-n")
    )
    for point in (*kept, *grown):
        assert point.solved[0].point.queue == pytest.approx(point.measured, rel=0.06)
    assert kept[1].measured == pytest.approx(kept[0].measured, rel=0.15)
    assert grown[1].measured > 1.5 * grown[0].measured


@pytest.mark.parametrize("slope", [0.1, 0.65, 6.5])
def test_held_with_whole_packets_is_within_a_few_percent_at_all_numbers_of_flows(slope):
    places = [fluid.Bottleneck(flows=flows, slope=slope) for flows in (2, 4, 8, 16, 32)]
    for least in (5.0, 50.0):
        places += [fluid.Bottleneck(flows=8, slope=slope, min_packets=least)]
    points = fluid.compare(places, cuts=["held"], whole_packets=True)
    for point in points:
        assert point.solved[0].point.queue == pytest.approx(point.measured, rel=0.04)
        # Independent flows would have 1, flows in step N.
        assert all(run.together < 1.5 for run in point.packets)


def test_tcp_is_near_its_model():
    places = [fluid.Bottleneck(flows=flows, slope=0.1) for flows in (8, 64)]
    for point in fluid.compare(places, kind="tcp"):
        # Its windows vary by a third, which a model with one window for all does not have.
        assert 1.05 < point.solved[0].point.queue / point.measured < 1.25


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("flows", 0, "a whole number from 1 to 10000"),
        ("flows", 2.5, "a whole number from 1 to 10000"),
        ("slope", 0, "a number from 1e-06 to 1e+06"),
        ("slope", -1.0, "a number from 1e-06 to 1e+06"),
        ("slope", math.nan, "a number from 1e-06 to 1e+06"),
        ("slope", "1", "a number from 1e-06 to 1e+06"),
        ("min_packets", -1, "a number from 0 to 1e+06"),
        ("max_packets", 5, "a number from min_packets = 10 to 1e+06"),
        ("rate_gbps", 0, "a number from 1e-06 to 1e+06"),
        ("delay_us", math.inf, "a number from 1e-06 to 1e+06"),
        ("packet_bytes", 99, "a whole number from 100 to 1000000"),
        ("min_window", 0.5, "a number from 1 to 1e+06"),
    ],
)
def test_bottlenecks_that_cannot_be_are_refused(key, value, expected):
    with pytest.raises(spillway.ScenarioError) as caught:
        fluid.Bottleneck(**{key: value})
    assert str(caught.value) == f"{key}: {value!r} is not valid; expected {expected}"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: fluid.Bottleneck(growth="log"), "growth: there is no 'log'"),
        (lambda: fluid.sender("dctpc"), "sender: there is no 'dctpc'"),
        (lambda: fluid.sender("tcp", "each"), "cuts: there is no 'each'"),
        (lambda: fluid.sender(g=0), "g: 0 is not valid"),
        (lambda: fluid.sender("dcqcn", "held"), "dcqcn has neither cuts to choose"),
        (lambda: fluid.sender("dcqcn", whole_packets=True), "dcqcn has neither cuts to choose"),
        (lambda: fluid.compare([]), "there is nothing to compare"),
        (lambda: fluid.compare([fluid.Bottleneck()], cuts=[]), "there is nothing to compare"),
        (
            lambda: fluid.compare(itertools.repeat(fluid.Bottleneck(), 1001)),
            "1,001 settings are too many",
        ),
        (lambda: fluid.compare([fluid.Bottleneck()], seeds=[]), "there is no seed to run with"),
        (
            lambda: fluid.measure(fluid.Bottleneck(delay_us=2.0)),
            "delay_us: 2 is not possible in the packet simulator",
        ),
    ],
)
def test_calls_that_cannot_be_are_refused(call, error):
    with pytest.raises(spillway.ScenarioError, match="^" + error):
        call()
