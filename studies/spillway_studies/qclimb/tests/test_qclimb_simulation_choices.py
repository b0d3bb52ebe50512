"""What is made another way in QCLIMB's simulated network: each row changes what it says."""

from cells import changes, flat, resolved, run_of, tiers
from spillway_studies.catalogue import find

SENDERS = "traffic.websearch"


SHAPE = {"topology.leaves": 12, "topology.hosts_per_leaf": 12, "topology.spines": 5}
LINKS = {f"topology.{key}": "250ns" for key in ("link_delay", "host_delay", "fabric_delay")}
LINKS |= {"topology.base_rtt": "2.9us"}
NICS = {
    "nic.queue_limit": "240pkt",
    "nic.aqm": "ecn",
    "nic.aqm.threshold": "65pkt",
    "nic.aqm.at_threshold": "pass",
    "nic.aqm.scope": "port",
    "nic.aqm.marks_at": "arrival",
    "nic.aqm.not_ect": "pass",
}
# By row: what PIAS and QCLIMB have otherwise than in the first one, and what pFabric has.
ROWS = {
    "as in the scenario": ({}, {}),
    "12 leaves, 5 spines": (SHAPE, SHAPE),
    "buffers of 4 MB": (tiers("buffer", "4MB"), {}),
    "buffers of 64 MB": (tiers("buffer", "64MB"), {}),
    "links of 250 ns": (LINKS, LINKS | {"nic.queue_limit": "29KB"}),
    "first window 10 packets": ({f"{SENDERS}.initial_window": "10pkt"}, {}),
    "NICs mark at 65 packets and hold 240": (NICS, {}),
    "pFabric: all ports have two BDPs of hosts' lines": ({}, tiers("sharing.limit", "89KB")),
    "pFabric: windows of one BDP at most": ({}, {f"{SENDERS}.max_window": "1bdp"}),
    "pFabric: timeout ten round trips": ({}, {f"{SENDERS}.rto": "10rtt"}),
}


def test_each_row_is_one_change():
    (figure,) = find("qclimb/simulation-choices")
    assert [point.values["choice"] for point in figure.points] == list(ROWS)
    for scheme in figure.schemes:
        plain = flat(resolved(run_of(figure, scheme, figure.points[0])))
        for point in figure.points:
            runs = flat(resolved(run_of(figure, scheme, point)))
            of_tagged, of_pfabric = ROWS[point.values["choice"]]
            said = of_pfabric if scheme.name == "pFabric" else of_tagged
            assert changes(plain, runs) == said, f"{scheme.name}, {point.label}"


def test_the_first_row_is_a_load_of_the_simulation():
    (figure,), (simulation,) = find("qclimb/simulation-choices"), find("qclimb/simulation")
    beside = next(point for point in simulation.points if point.values["load"] == 0.8)
    others = {scheme.name: scheme for scheme in simulation.schemes}
    for scheme in figure.schemes:
        own = resolved(run_of(figure, scheme, figure.points[0], "page"))
        assert own == resolved(run_of(simulation, others[scheme.name], beside, "page"))


def test_links_and_bdps_are_those_of_the_rows():
    # Eight links of 250 ns, and 1,504 and 44 bytes with their numbers at 40 and 100 Gbps.
    base_rtt = 8 * 0.25 + (1_504 + 44) * 8 * (2 / 40e3 + 2 / 100e3)
    assert round(base_rtt, 1) == 2.9
    assert [round(2 * 40e3 * rtt / 8 / 1_000) for rtt in (8.9, 2.9)] == [89, 29]
