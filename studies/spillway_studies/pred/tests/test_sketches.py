"""PRED's counters of flows, through the core's binding."""

import statistics

import pytest

import spillway
from spillway import _core


def counted(flows, packets=1, seeds=range(50), periods=1, **keys):
    counts = (_core.counted_flows(keys, flows, packets, seed, periods) for seed in seeds)
    return statistics.mean(counts)


@pytest.mark.parametrize(("places", "flows"), [(60, 40), (120, 100), (240, 255)])
def test_a_bitmap_counts_taken_places_however_many_packets_there_are(places, flows):
    # As balls in bins; the mean of 50 has a standard error of at most 0.9.
    expected = places * (1 - (1 - 1 / places) ** flows)
    assert counted(flows, counter="bitmap", places=places) == pytest.approx(expected, abs=3)
    assert counted(flows, 1, range(5), places=places) == counted(flows, 8, range(5), places=places)


def test_hashes_that_push_each_other_out_are_counted_again():
    keys = {"counter": "hashes", "places": 64}
    # With one packet each nobody comes back.
    assert counted(100, **keys) == 100
    # A packet is counted unless the last one at its place was of its own flow. With n flows at its
    # place and k packets each, that is one of the n k - 1 others, k - 1 of which are its own; the
    # first is always counted. n - 1 is binomial.
    flows, packets, places = 100, 4, 64
    share = 1 / places
    again = 0.0
    chance = (1 - share) ** (flows - 1)
    for others in range(flows):
        here = (others + 1) * packets
        again += chance * (packets - 1) / here
        chance *= (flows - 1 - others) / (others + 1) * share / (1 - share)
    expected = flows * packets * (1 - again)
    assert counted(flows, packets, **keys) == pytest.approx(expected, rel=0.02)


def test_hashes_without_bits_of_their_own_count_places():
    expected = 256 * (1 - (1 - 1 / 256) ** 200)
    for packets in (1, 8):
        found = counted(200, packets, counter="hashes", places=256, hash_bits=8)
        # A hash of 0 is one that every place holds at first.
        assert found == pytest.approx(expected, abs=3)


def test_hashes_without_bits_of_their_own_count_nothing_after_a_while():
    keys = {"counter": "hashes", "places": 256}
    # 12 flows fill at most 12 of the 256 places in a period: after 256 periods one is new in the
    # last two with a probability of 24 e^-12.
    assert counted(12, periods=256, hash_bits=8, **keys) == 1
    assert counted(12, hash_bits=8, **keys) > 10


@pytest.mark.parametrize(("counter", "expected"), [("exact", 12), ("hashes", 12), ("bitmap", 11.5)])
def test_a_steady_state_is_counted_period_after_period(counter, expected):
    # Of 120 places 12 flows take 120 (1 - (119 / 120)^12) = 11.5, the same ones in every period. A
    # period of Algorithm 1 begins with the thirteenth packet of the last one, which it does not
    # count, and has 12 others.
    assert counted(12, periods=100, counter=counter) == pytest.approx(expected, abs=0.3)


def test_what_the_counter_does_not_take_is_an_error():
    with pytest.raises(spillway.ScenarioError, match="places: 100 is no power of two"):
        counted(1, counter="hashes", places=100)
    with pytest.raises(spillway.ScenarioError, match="did you mean `places`"):
        counted(1, place=1)
