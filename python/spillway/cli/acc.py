"""Commands that train agents for ACC, and look at them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spillway.base.errors import ScenarioError
from spillway.base.folder import check_file, check_new_file
from spillway.cli.app import app
from spillway.cli.options import JsonOption, ModelOption, ReplaceOption, ScenarioArgument, SetOption
from spillway.cli.output import INTERRUPTED, console, display, interruptible, say

if TYPE_CHECKING:
    from spillway.learning.acc import Model

acc = typer.Typer(
    no_args_is_help=True,
    help="Train agents that set RED at a port (ACC), and look at them.",
)
app.add_typer(acc, name="acc")


PortOption = Annotated[
    str,
    typer.Option(metavar="PORT", help="Where it acts, as signals are named: switch.leaf0.port.0."),
]
VariantOption = Annotated[
    Literal["pred", "acc"],
    typer.Option(
        help="What it observes and may set: as PRED's paper describes ACC, or as its own does."
    ),
]
IntervalOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The time between decisions. Without it, five base RTTs (pred) or 500us (acc).",
    ),
]
GbpsOption = Annotated[
    float | None,
    typer.Option(metavar="N", help="The rate of the port's line. Without it, that of the hosts'."),
]


@acc.command()
def train(
    scenario: ScenarioArgument,
    port: PortOption,
    out: ModelOption = None,
    force: ReplaceOption = False,
    curve: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Write the learning curve to this file. Without it, beside --out.",
        ),
    ] = None,
    variant: VariantOption = "pred",
    steps: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decisions; 0 leaves the network untrained.")
    ] = 200_000,
    seeds: Annotated[
        str,
        typer.Option(metavar="A..B", help="The scenario's seeds; each episode draws one."),
    ] = "1",
    evaluation_seeds: Annotated[
        str | None,
        typer.Option(
            metavar="A..B",
            help="The seeds of evaluation. Without it, the first four of --seeds.",
        ),
    ] = None,
    training_seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=2**32 - 1, help="The seed of the network and of exploration."
        ),
    ] = 1,
    evaluate_every: Annotated[
        int, typer.Option(metavar="N", min=1, help="Decisions between evaluations.")
    ] = 10_000,
    keep: Annotated[
        Literal["last", "best"],
        typer.Option(help="The best network that was evaluated, or that of the last step."),
    ] = "best",
    interval: IntervalOption = None,
    gbps: GbpsOption = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="The discount of what comes an interval later; 0: myopic. Without it, 0.5.",
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="X", help="The learning rate (Adam) at the begin. Without it, 0.001."),
    ] = None,
    learning_rate_to: Annotated[
        float | None, typer.Option(metavar="X", help="The same at the end. Without it, 0.")
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Transitions in a step of gradient descent. Without it, 128."
        ),
    ] = None,
    replay: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The latest transitions, to draw batches from. Without it, 200000."
        ),
    ] = None,
    train_every: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Decisions between steps of gradient descent. Without it, 4."
        ),
    ] = None,
    sync_every: Annotated[
        int | None,
        typer.Option(metavar="N", help="Decisions between target networks. Without it, 1000."),
    ] = None,
    exploration_from: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The share of random actions at the begin. Without it, 0.9."
        ),
    ] = None,
    exploration_to: Annotated[
        float | None, typer.Option(metavar="X", help="The same at the end. Without it, 0.05.")
    ] = None,
    exploration_share: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The part of the training in which exploration falls. Without it, 1."
        ),
    ] = None,
    set: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train an agent by Double DQN. It needs the extra `train`."""
    _check_gymnasium()

    from spillway.learning.acc import Model, tables
    from spillway.learning.acc import training as trainings
    from spillway.learning.acc.environment import Place
    from spillway.learning.acc.settings import Settings
    from spillway.learning.acc.variant import find

    given: dict[str, Any] = {
        "gamma": gamma,
        "learning_rate": learning_rate,
        "learning_rate_to": learning_rate_to,
        "batch": batch,
        "replay": replay,
        "train_every": train_every,
        "sync_every": sync_every,
        "exploration_from": exploration_from,
        "exploration_to": exploration_to,
        "exploration_share": exploration_share,
    }
    settings = Settings(**{key: value for key, value in given.items() if value is not None})
    if out is not None:
        check_new_file(out, force, "a model", Model.is_one)
        curve = curve or out.with_suffix(".csv")
    if curve is not None:
        if curve.suffix != ".csv":
            raise ScenarioError(f"{curve} is no learning curve", "its name ends in .csv")
        if out is not None and out.absolute() == curve.absolute():
            raise ScenarioError(
                f"{out} would be both the model and its learning curve", "--out agent.safetensors"
            )
        check_file(curve)
        check_new_file(curve, force, "a learning curve", trainings.is_curve)
    errors = console(sys.stderr)
    try:
        done = trainings.train(
            Place(scenario, port, tuple(set or ()), gbps, interval),
            find(variant),
            steps=steps,
            seeds=seeds,
            evaluation_seeds=evaluation_seeds,
            training_seed=training_seed,
            settings=settings,
            evaluate_every=evaluate_every,
            keep=keep,
            say=lambda look: errors.print(tables.look(look), style="dim", soft_wrap=True),
        )
    except KeyboardInterrupt:
        say("nothing is kept of it")
        raise typer.Exit(INTERRUPTED) from None
    if out is not None:
        done.model.save(out, force=force)
    if curve is not None:
        done.save_curve(curve, force=force)
    rows = [
        {key: None if value != value else value for key, value in asdict(look).items()}
        for look in done.curve
    ]
    document = {"model": _told(done.model), "curve": rows, "kept": done.kept.steps}
    display(document, tables.training(done), as_json, written=(out, curve))


@acc.command()
def show(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A file that `acc train` wrote, or the name of a bundled agent."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say what a model observes, of what it was made, and what it would set in a few states."""
    from spillway.learning.acc import Model, tables

    chosen = Model.load(model)
    display(_told(chosen), tables.model(chosen), as_json)


@acc.command("best-action")
def best_action(
    scenario: ScenarioArgument,
    port: PortOption,
    variant: VariantOption = "pred",
    seeds: Annotated[
        str, typer.Option(metavar="A..B", help="Try every action with these seeds.")
    ] = "1",
    confirm_seeds: Annotated[
        str | None,
        typer.Option(
            metavar="A..B", help="Compare the best few with these. Without it, with --seeds."
        ),
    ] = None,
    confirmed: Annotated[int, typer.Option(metavar="N", min=1, help="How many these few are.")] = 5,
    model: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A trained agent beside them. Repeatable."),
    ] = None,
    interval: IntervalOption = None,
    gbps: GbpsOption = None,
    set: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search for the action that does best if it never changes: static RED, by the mean reward."""
    _check_gymnasium()
    from spillway.learning.acc import Model, tables
    from spillway.learning.acc.environment import Place, red
    from spillway.learning.acc.evaluation import best_action as search
    from spillway.learning.acc.variant import find

    errors = console(sys.stderr)

    def told(done: int, of: int) -> None:
        if done % 50 == 0 or done == of:
            errors.print(f"{done} of {of} actions", style="dim")

    with interruptible():
        found = search(
            Place(scenario, port, tuple(set or ()), gbps, interval),
            find(variant),
            seeds=seeds,
            confirm_seeds=confirm_seeds or seeds,
            confirmed=confirmed,
            models=[(file.name, Model.load(file)) for file in model or ()],
            say=told,
        )
    setting = found.best.setting
    assert setting is not None, "actions have settings"
    closing = f"in a scenario: switch.aqm={red(setting)}"
    document = {"aqm": red(setting), **tables.document(found)}
    display(document, tables.search(found), as_json, closing=closing)


def _check_gymnasium() -> None:
    """Says what to install, if it is not there."""
    try:
        import spillway.learning.gym  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ScenarioError(str(missing)) from None


def _told(model: Model) -> dict[str, object]:
    from spillway.learning.acc import tables

    return {
        "layers": [list(weight.shape) for weight, _ in model.layers],
        "actions": len(model.actions),
        "ranges": model.ranges.tolist(),
        "interval_ps": model.interval_ps,
        "history": model.history,
        "would_set": dict(tables.would_set(model)),
        **model.provenance,
    }
