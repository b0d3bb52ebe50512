"""How the bundled models were made. A model made again is similar, but not the same.

What the papers leave open is our choice: the duration, one in 50 of the packets that were not
dropped, all four features as fractions of the buffer, and all switches together. The seeds are far
from those that people use.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway.base.errors import ScenarioError
from spillway.base.progress import Follow
from spillway.learning.oracle.trace import load
from spillway.learning.oracle.training import Scores, Training, evaluate, train
from spillway.run.run import run
from spillway.scenario.scenario import Scenario

TRAIN_SEED, TEST_SEED = 1001, 1002


@dataclass(frozen=True)
class Recipe:
    """The data and settings for training one model."""

    scenario: str
    settings: tuple[str, ...]

    def make(
        self,
        follow: Follow | None = None,
        settings: tuple[str, ...] = (),
    ) -> tuple[Training, Scores]:
        """Records two traces, trains on the first, and computes scores on the second.

        `settings` are assignments added to the recipe's own, for example for a smaller model. The
        traces, about 100 MB, are temporary files.
        """
        with TemporaryDirectory(prefix="spillway-oracle-") as folder:
            places = []
            for seed in (TRAIN_SEED, TEST_SEED):
                report, end = (
                    follow(f"tracing, seed {seed}", 0.5) if follow else (None, lambda: None)
                )
                scenario = Scenario.load(self.scenario).set(*self.settings, *settings)
                place = Path(folder, str(seed))
                run(scenario, seed=seed, out=place, progress=report)
                end()
                places.append(place)
            seen, other = (load(place) for place in places)
            training = train([seen], split="none")
            return training, evaluate(training.model, other)


_TRACED = ("record.oracle_trace=true", "record.oracle_trace_sample=50")

RECIPES = {
    # The paper's scenario (Credence, section 4.1): websearch at 80% of the uplinks, bursts of 75%
    # of the buffer, DCTCP, LQD.
    "default": Recipe(
        "credence",
        (
            "switch.sharing=lqd",
            "traffic.websearch.load=0.8",
            "traffic.incast.burst=75%",
            "duration=1s",
            *_TRACED,
        ),
    ),
    # Smartbuf's scenario, also at 80%, with LQD at the leaves.
    "smartbuf": Recipe(
        "smartbuf",
        (
            "switch.leaf.sharing=lqd",
            "traffic.long.load=0.64",
            "traffic.short.load=0.08",
            "traffic.incast.load=0.08",
            "duration=200ms",
            "stop=400ms",
            "record.drops=false",
            *_TRACED,
        ),
    ),
}


def find(name: str) -> Recipe:
    """The recipe of a bundled model."""
    if name not in RECIPES:
        raise ScenarioError(
            f"there is no model {name!r}", f"the bundled ones are {' and '.join(RECIPES)}"
        )
    return RECIPES[name]
