"""How the model that comes along was made: run it again, and the same model comes out.

The scenario is the paper's (Credence, section 4.1): websearch at 80% of the uplinks, bursts of 75%
of the buffer, DCTCP, LQD. What the paper leaves open is ours: 1 s, of the packets that were not
dropped one in 50, all four features as fractions of the buffer, all switches together. Seeds are
far from those that people use.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway.oracle.scores import Scores
from spillway.oracle.trace import load
from spillway.oracle.training import Training, evaluate, train
from spillway.progress import Report
from spillway.run import run
from spillway.scenario import Scenario

SCENARIO = "credence"
SETTINGS = (
    "switch.sharing=lqd",
    "traffic.websearch.load=0.8",
    "traffic.incast.burst=75%",
    "duration=1s",
    "record.oracle_trace=true",
    "record.oracle_trace_sample=50",
)
TRAIN_SEED, TEST_SEED = 1001, 1002


def make(
    follow: Callable[[str], tuple[Report, Callable[[], None]]] | None = None,
    settings: tuple[str, ...] = (),
) -> tuple[Training, Scores]:
    """Records two traces and trains on the first; the scores are those of the second.

    `settings` come on top of `SETTINGS`: for a smaller model. Traces, some 100 MB, are written to
    the folder for temporary files and removed.
    """
    with TemporaryDirectory(prefix="spillway-oracle-") as folder:
        places = []
        for seed in (TRAIN_SEED, TEST_SEED):
            report, end = follow(f"tracing, seed {seed}") if follow else (None, lambda: None)
            scenario = Scenario.load(SCENARIO).set(*SETTINGS, *settings)
            place = Path(folder, str(seed))
            run(scenario, seed=seed, out=place, progress=report)
            end()
            places.append(place)
        seen, other = (load(place) for place in places)
        training = train([seen], split="none")
        return training, evaluate(training.model, other)
