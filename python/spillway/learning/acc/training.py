"""Training an agent."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.arguments import Seeds, assignments_of, seeds_of, whole
from spillway.base.errors import ScenarioError
from spillway.base.folder import check_file, whole_file
from spillway.learning.acc import evaluation
from spillway.learning.acc.environment import AgentEnv, Place
from spillway.learning.acc.model import Layer, Model
from spillway.learning.acc.settings import Settings
from spillway.learning.acc.variant import PRED, Variant
from spillway.run.run import prepared

LAST, BEST = "last", "best"
"""Which network is kept: that of the last step, or the best of those that were evaluated."""
_LARGEST_SEED = 2**32 - 1
"""The largest seed of the learner's random numbers."""


@dataclass(frozen=True)
class Look:
    """How the training stands after some decisions.

    Attributes:
        steps: decisions so far.
        exploration: the probability of a random action.
        training_reward: the mean reward of decisions since the look before, random ones among them;
            NaN before the first.
        reward: the mean reward of the network without exploration, over all seeds of evaluation.
    """

    steps: int
    exploration: float
    training_reward: float
    reward: float


@dataclass(frozen=True)
class Training:
    """A trained agent, and its learning curve.

    Attributes:
        kept: how the training stood when the model was taken.
    """

    model: Model
    curve: list[Look]
    kept: Look

    def save_curve(self, file: str | Path, *, force: bool = True) -> None:
        """Writes the curve as CSV, a row for each look. Without `force` no file is replaced."""
        check_file(Path(file))
        with whole_file(Path(file), force) as partial, partial.open("w", encoding="utf-8") as out:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerow(each.name for each in fields(Look))
            rows.writerows(astuple(look) for look in self.curve)


def is_curve(file: Path) -> bool:
    """Whether a file begins as learning curves do."""
    heads = ",".join(each.name for each in fields(Look))
    try:
        with file.open(encoding="utf-8") as lines:
            return lines.readline().strip() == heads
    except (OSError, UnicodeDecodeError):
        return False


def train(
    place: Place,
    variant: Variant = PRED,
    *,
    steps: int = 200_000,
    seeds: Seeds = (1,),
    evaluation_seeds: Seeds | None = None,
    training_seed: int = 1,
    settings: Settings | None = None,
    evaluate_every: int = 10_000,
    keep: str = BEST,
    say: Callable[[Look], None] = lambda _: None,
) -> Training:
    """Trains an agent by Double DQN. It needs the extra `train`.

    The same arguments give the same model, to the bit, on the same machine with the same versions.

    Args:
        place: The scenario and the port.
        variant: What the agent observes, may set, and is rewarded for.
        steps: Decisions; with 0 the network stays as it was drawn.
        seeds: The scenario's seeds, of which each episode draws one.
        evaluation_seeds: The seeds of evaluations; by default the first four of `seeds`.
        training_seed: The seed of the network's first weights, the batches and the exploration.
        settings: The numbers of the learner; by default those of `Settings()`.
        evaluate_every: Decisions between evaluations.
        keep: "best", the best network of those that were evaluated after the first, or "last".
        say: Called after each evaluation with a `Look`.

    Returns:
        The model, and the learning curve.

    Raises:
        ScenarioError: An argument is wrong, or the extra is not installed.
    """
    learner = _learner()
    chosen = settings or Settings()
    drawn = seeds_of(seeds)
    looked = drawn[:4] if evaluation_seeds is None else seeds_of(evaluation_seeds)
    steps = whole("steps", steps, 0, 2**40)
    every = whole("evaluate_every", evaluate_every, 1)
    training_seed = whole("training_seed", training_seed, 0, _LARGEST_SEED)
    if keep not in (LAST, BEST):
        raise ScenarioError(f"keep: {keep!r} is not valid; expected {LAST!r} or {BEST!r}")
    env, apart = AgentEnv(place, variant, drawn), AgentEnv(place, variant, looked)
    told = {
        "variant": variant.name,
        "command": command(
            place,
            variant,
            steps=steps,
            seeds=drawn,
            evaluation_seeds=None if evaluation_seeds is None else looked,
            training_seed=training_seed,
            settings=chosen,
            evaluate_every=every,
            keep=keep,
        ),
        "scenario": _name(place),
        "seeds": _listed(drawn),
        "steps": str(steps),
        "training_seed": str(training_seed),
        "gamma": repr(chosen.gamma),
        "algorithm": "double-dqn",
        **_versions(),
    }
    curve: list[Look] = []
    best: tuple[Look, Model] | None = None

    def look(done: int, exploration: float, training_reward: float, layers: list[Layer]) -> None:
        nonlocal best
        model = Model.of(
            layers,
            actions=variant.actions,
            ranges=variant.ranges,
            interval_ps=env.interval_ps,
            history=variant.history,
            provenance=told,
        )
        reward = float(evaluation.of_model(apart, model, looked).mean())
        curve.append(Look(done, exploration, training_reward, reward))
        # The untrained network is replaced at the next look, whatever the reward.
        if best is None or best[0].steps == 0 or keep == LAST or reward > best[0].reward:
            best = curve[-1], model
        say(curve[-1])

    learner.run(env, variant.hidden, chosen, steps, training_seed, every, look)
    assert best is not None, "the first look is before the first step"
    return Training(best[1], curve, best[0])


def _learner() -> Any:
    """The module that needs the extra."""
    try:
        from spillway.learning.acc import learner
    except ModuleNotFoundError as missing:
        if missing.name not in ("torch", "stable_baselines3"):
            raise
        raise ScenarioError(
            f"training needs {missing.name}: pip install 'spillway[train]'"
        ) from None
    return learner


def _versions() -> dict[str, str]:
    import stable_baselines3
    import torch

    return {
        "spillway": core.__version__,
        "torch": str(torch.__version__),
        "stable_baselines3": str(stable_baselines3.__version__),
    }


def _name(place: Place) -> str:
    return prepared(place.scenario, None, place.set, ()).read().name


def _listed(seeds: Sequence[int]) -> str:
    """Seeds as the command line takes them.

    >>> _listed([1]), _listed([3, 4, 5]), _listed([1, 3])
    ('1', '3..5', '1,3')
    """
    is_range = len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]}..{seeds[-1]}" if is_range else ",".join(map(str, seeds))


def command(
    place: Place,
    variant: Variant,
    *,
    steps: int,
    seeds: Sequence[int],
    evaluation_seeds: Sequence[int] | None,
    training_seed: int,
    settings: Settings,
    evaluate_every: int,
    keep: str,
) -> str:
    """The command that trains the same agent. A file is named without its path.

    A scenario that is neither a file nor a bundled one appears under its own name.
    """
    is_named = isinstance(place.scenario, str | Path) and "\n" not in str(place.scenario)
    told = Path(str(place.scenario)).name if is_named else _name(place)
    words = ["spillway", "acc", "train", told]
    words += ["--port", place.port, "--variant", variant.name, "--steps", str(steps)]
    words += ["--seeds", _listed(seeds), "--training-seed", str(training_seed)]
    if evaluation_seeds is not None:
        words += ["--evaluation-seeds", _listed(evaluation_seeds)]
    for assignment in assignments_of(place.set):
        words += ["--set", assignment]
    if place.interval is not None:
        words += ["--interval", place.interval]
    if place.gbps is not None:
        words += ["--gbps", _number(place.gbps)]
    for name, value in settings.changed().items():
        words += [f"--{name.replace('_', '-')}", _number(value)]
    words += ["--evaluate-every", str(evaluate_every), "--keep", keep]
    return shlex.join(words)


def _number(value: float) -> str:
    """A number, exactly; a whole one without a point."""
    return str(int(value)) if value == int(value) else repr(value)
