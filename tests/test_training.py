"""What `make pgo` trains with."""

import json
import runpy
from pathlib import Path

import pytest

import spillway
from spillway.base import core

TRAINING = runpy.run_path(str(Path(__file__).parents[1] / "bench/training.py"))


def kind_of(scenario, key):
    """What a resolved scenario has chosen there."""
    section, name = key.split(".")
    chosen = scenario[section].get(name, "none")
    return chosen["kind"] if isinstance(chosen, dict) else chosen


@pytest.mark.filterwarnings("ignore::spillway.ScenarioWarning")
def test_every_algorithm_is_run_in_training():
    runs = [
        spillway.Scenario.load(scenario).set(*settings).resolved
        for scenario, *settings in TRAINING["runs"]()
    ]
    catalogue = json.loads(core.catalogue())
    for kind, key, *_ in TRAINING["CHOICES"]:
        assert {row["id"] for row in catalogue[kind]} <= {kind_of(each, key) for each in runs}, kind


def test_what_halts_and_the_slotted_model_are_trained_too():
    TRAINING["halting"]()
    TRAINING["in_slots"]()
