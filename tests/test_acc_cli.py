"""`spillway acc show` and `spillway acc best-action`."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra rl is not installed")

from spillway.base.errors import ScenarioError
from spillway.learning.acc import PRED, Model
from spillway.learning.acc.environment import Place
from spillway.learning.acc.settings import Settings
from spillway.learning.acc.training import command as training_command

PORT = "switch.leaf0.port.0"


def test_the_help_has_the_defaults():
    done = subprocess.run(
        [sys.executable, "-m", "spillway", "acc", "train", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    for each in fields(Settings):
        option = f"--{each.name.replace('_', '-')} "
        (line,) = (text for text in done.stdout.splitlines() if option in text)
        default = float(each.default)
        told = int(default) if default.is_integer() else default
        assert f"Without it, {told}." in line


def always(chosen: int) -> Model:
    """An agent that always takes the same action."""
    bias = np.zeros(len(PRED.actions), np.float32)
    bias[chosen] = 1
    return Model.of(
        [(np.zeros((len(bias), 6), np.float32), bias)],
        actions=PRED.actions,
        ranges=PRED.ranges,
        interval_ps=206_000_000,
        history=1,
        provenance={"variant": "pred"},
    )


def test_show_and_best_action_from_the_command_line(command: Any, tmp_path: Any) -> None:
    file = tmp_path / "agent.safetensors"
    always(251).save(file)
    shown = command("acc", "show", file)
    assert shown.status == 0
    for text in ("6 x 252", "206 us", "min 24,000 B, max 150,000 B, max_probability 1"):
        assert text in shown.out, text
    told = command("acc", "show", file, "--json").json
    assert told["layers"] == [[252, 6]] and told["would_set"]["at first"] == [24_000, 150_000, 1.0]
    asked = ("acc", "best-action", "acc-incast", "--port", PORT, "--set", "duration=1ms")
    found = command(*asked, "--confirmed", "1", "--model", file)
    assert found.status == 0, found.err
    assert "252 of 252 actions" in found.err and "agent.safetensors" in found.out
    assert 'in a scenario: switch.aqm={ kind = "red", min = "' in found.out
    wrong = command(*asked, "--variant", "acc", "--model", file)
    # It is refused before the search of 1,155 actions.
    assert wrong.status == 2 and "of 1155 actions" not in wrong.err
    (tmp_path / "text").write_text("no model")
    wrong = command("acc", "show", tmp_path / "text")
    assert wrong.status == 2 and "it is not a model file, or it is damaged" in wrong.err


def test_a_model_and_its_curve_are_two_files(command: Any, tmp_path: Any) -> None:
    asked = ("acc", "train", "acc-incast", "--port", PORT, "--set", "duration=2ms", "--steps", "4")
    for more in (("--out", "a.csv"), ("--out", "a.csv", "--curve", "a.csv", "--force")):
        done = command(*asked, *more)
        assert done.status == 2
        assert "a.csv would be both the model and its learning curve" in done.err
    (tmp_path / "note.csv").write_text("of others\n")
    done = command(*asked, "--curve", tmp_path / "note.csv", "--force")
    assert done.status == 2 and "is not a learning curve, and is not replaced" in done.err
    assert (tmp_path / "note.csv").read_text() == "of others\n"


def test_the_bundled_agents_go_by_their_names(command: Any) -> None:
    shown = command("acc", "show", "pred")
    assert shown.status == 0 and "101..132" in shown.out


def test_a_file_that_is_called_like_a_bundled_agent_is_none(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pred").write_text("of others\n")
    assert not Model.is_one(Path("pred"))
    with pytest.raises(ScenarioError, match="is not a model, and is not replaced"):
        always(0).save("pred")
    assert Path("pred").read_text() == "of others\n"


def test_a_command_has_its_numbers_exactly() -> None:
    settings = Settings(replay=1_234_567, learning_rate=0.000123456789, gamma=0.0)
    told = training_command(
        Place(scenario="acc-incast", port=PORT, gbps=40.1234567),
        PRED,
        steps=8,
        seeds=[1],
        evaluation_seeds=None,
        training_seed=1,
        settings=settings,
        evaluate_every=8,
        keep="best",
    )
    for words in ("--replay 1234567", "--learning-rate 0.000123456789", "--gamma 0 "):
        assert words in told, told
    assert "--gbps 40.1234567" in told


def without(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What a command says where a module is not installed."""
    program = (
        f"import sys; sys.modules[{module!r}] = None; from spillway import cli; "
        f"sys.exit(cli.invoke({[*map(str, arguments)]!r}))"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_what_is_not_installed_is_named(tmp_path: Any) -> None:
    file = tmp_path / "agent.safetensors"
    always(0).save(file)
    assert without("gymnasium", "acc", "show", file).returncode == 0
    asked = ("acc-incast", "--port", PORT)
    done = without("gymnasium", "acc", "best-action", *asked)
    assert done.returncode == 2
    assert "needs gymnasium: pip install 'spillway[rl]'" in done.stderr
    done = without("torch", "acc", "train", *asked)
    assert done.returncode == 2
    assert "error: training needs " in done.stderr and "'spillway[train]'" in done.stderr
