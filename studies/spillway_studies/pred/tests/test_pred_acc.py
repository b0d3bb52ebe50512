"""Figures 16 and 17 of PRED: the agents that are shipped, their runs, and what is measured."""

from __future__ import annotations

import pytest

from spillway import Simulation, _core
from spillway.learning.acc import variant
from spillway.learning.acc.model import Model
from spillway_studies.pred import figures as pred
from spillway_studies.pred.figures import acc_runs, figure16, star

FIVE = (1, 2, 3, 4, 5)
SHIPPED = [
    *((f"pred-{name}", number) for name in ("same", "other", "untrained") for number in FIVE),
    ("pred-myopic", 1),
    ("acc-same", 1),
]


@pytest.mark.parametrize(("name", "number"), SHIPPED)
def test_an_agent_tells_how_it_was_trained(name: str, number: int) -> None:
    model = Model.load(acc_runs.agent(name, number))
    told = model.provenance
    shape = variant.ACC if name == "acc-same" else variant.PRED
    assert told["variant"] == shape.name
    assert [tuple(row) for row in model.actions.tolist()] == [*shape.actions]
    assert (model.history, model.interval_ps) == (shape.history, shape.interval_ps or 206_000_000)
    assert told["scenario"] == "acc-incast" and told["training_seed"] == str(number)
    assert told["seeds"] == ("101..132" if name == "pred-other" else "1")
    assert told["steps"] == ("0" if name == "pred-untrained" else "200000")
    assert float(told["gamma"]) == (0.0 if name == "pred-myopic" else 0.5)
    assert told["command"].startswith("spillway acc train acc-incast --port switch.leaf0.port.0")


def test_nothing_else_is_shipped() -> None:
    files = {file.name for file in acc_runs.agent("pred-same", 1).parent.glob("*.safetensors")}
    assert files == {f"{name}-{number}.safetensors" for name, number in SHIPPED}


def test_the_bundled_agents_are_two_of_them() -> None:
    bundled = {"pred": acc_runs.agent("pred-other", 1), "acc": acc_runs.agent("acc-same", 1)}
    assert _core.agents() == {name: file.read_bytes() for name, file in bundled.items()}
    shown = []
    for model in ("acc", bundled["acc"]):
        aqm = f'switch.aqm={{ kind = "acc", model = "{model}" }}'
        shown.append(Simulation("acc-incast", set=["duration=5ms", aqm]).finish().flows)
    assert shown[0].equals(shown[1])


def test_the_setting_that_stays_is_in_the_table() -> None:
    assert (3000, 30_000, 0.95) in variant.PRED.actions
    aqm = acc_runs._AQMS[acc_runs.FIXED.name]
    told = Simulation("acc-incast", set=[f"switch.aqm={aqm}", "duration=1ms"]).finish().scenario
    for line in ('min = "3000B"', 'max = "30000B"', "max_probability = 0.95", 'not_ect = "pass"'):
        assert line in told


def run(trace: str, scheme: str, seed: int = 1, exploration: float = 0.0) -> dict[str, float]:
    return dict(
        acc_runs.point(
            lambda _: None,
            trace=trace,
            exploration=exploration,
            scheme=scheme,
            seed=seed,
            duration="20ms",
        )
    )


def test_on_the_trace_of_training_seeds_are_those_of_agents() -> None:
    of_pred = [run(acc_runs.TRAINING, acc_runs.PRED.name, seed) for seed in (1, 2)]
    assert of_pred[0] == of_pred[1]
    of_acc = [run(acc_runs.TRAINING, acc_runs.UNTRAINED.name, seed) for seed in (1, 4)]
    assert of_acc[0] != of_acc[1]
    others = [run(acc_runs.OTHER, acc_runs.PRED.name, seed) for seed in (1, 2)]
    assert others[0] != others[1] and of_pred[0] not in others


def test_traces_differ_and_exploration_is_the_agent_s_alone() -> None:
    kinds = (acc_runs.TRAINING, acc_runs.OTHER, acc_runs.MORE, acc_runs.HALF, acc_runs.BURSTS)
    found = [run(trace, acc_runs.PRED.name) for trace in kinds]
    assert all(found[a] != found[b] for a in range(5) for b in range(a))
    assert found[2]["goodput"] > found[1]["goodput"]
    explored = run(acc_runs.TRAINING, acc_runs.PRED.name, exploration=0.05)
    assert explored == found[0]
    agent = [run(acc_runs.TRAINING, acc_runs.ACC.name, exploration=share) for share in (0, 0.05)]
    assert agent[0] != agent[1]


def test_what_is_measured_by_hand() -> None:
    """Two flows of 80,000 and 200,000 bytes: only the first counts, and its time is known."""
    one = star.section("one", 1, sizes="80KB", jitter="0us")
    other = star.section("other", 1, sizes="200KB", jitter="0us", start="5ms")
    sets = [
        star.traffic(one, other),
        "duration=10ms",
        "record.queue_interval=10us",
        "record.empty_queues=true",
        "switch.aqm=none",
    ]
    result = Simulation("acc-incast", set=sets).finish()
    found = acc_runs.numbers(result)
    sizes, times = (result.flows[name].to_pylist() for name in ("size_bytes", "fct_ps"))
    by_size = dict(zip(sizes, times, strict=True))
    assert found["fct.p50"] == found["fct.p99"] == by_size[80_000] / 1e9
    # One sender at the line's rate leaves no queue, so the utility is 0.4 R / C + 0.6.
    assert found["queue.p99"] <= 1
    goodput = result.summary["goodput_gbps"]["all"]
    assert found["utility"] == pytest.approx(0.4 * goodput * 1500 / 1448 / 10 + 0.6)


def test_claims_count_once() -> None:
    counted = [claim for claim in figure16.CLAIMS if not claim.is_again]
    assert len(counted) == 10
    assert {claim.over.where.get("exploration") for claim in counted} == {acc_runs.TOLD, None}


def test_quantiles_and_series_have_their_length() -> None:
    from spillway_studies.claims import Outcome

    found = acc_runs.point(
        lambda _: None,
        trace=acc_runs.TRAINING,
        exploration=0.0,
        scheme=acc_runs.PRED.name,
        seed=1,
        duration="130ms",
    )
    outcome = Outcome(found)
    assert len(outcome.series("fct")) == len(outcome.series("waiting")) == 200
    assert outcome.series("fct")[99] == found["fct.p50"]
    for figure in pred.AGENTS:
        assert all(found[metric.path] >= 0 for metric in figure.metrics)
    # 20 ms in steps of 10 us.
    assert len(outcome.series("queue")) == 2000
