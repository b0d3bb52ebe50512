"""Rewards as expressions: what they come to, and that nothing else can be written in them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra rl is not installed")

import spillway
from spillway.learning.gym.reward import compiled

SIGNALS = {
    "queue": np.array([[1000.0, 3000.0], [0.0, 8000.0]]),
    "sent": np.array([500, 1500]),
    "one": np.array(7),
    "none": np.array([], dtype=np.int64),
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("one", 7),
        ("-one + 2 * 3 - 4 / 8", -1.5),
        ("(one - 5) ** 3", 8),
        ("sum(sent)", 2000),
        ("mean(queue)", 3000),
        ("max(queue) - min(queue)", 8000),
        ("max(sum(none), 1)", 1),
        ("sum(min(sent, 1000))", 1500),
        ("mean(none) + max(none) + min(none) + sum(none) + count(none)", 0),
        ("count(queue)", 4),
        ("sqrt(abs(-16))", 4),
        ("log(exp(2))", 2),
        ("sum(sent * sent / 500)", 5000),
        ("2 ** -1", 0.5),
    ],
)
def test_expressions_have_these_values(text: str, value: float) -> None:
    assert compiled(text, SIGNALS)(SIGNALS) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is no arithmetic expression"),
        ("1 +", "it is no arithmetic expression"),
        ("x = 1", "it is no arithmetic expression"),
        ("other", "there is no signal other"),
        ("__import__('os').system('true')", "is not allowed in it"),
        ("one.real", "'one.real' is not allowed in it"),
        ("one.__class__", "is not allowed in it"),
        ("sent[0]", "'sent[0]' is not allowed in it"),
        ("'text'", "is not allowed in it"),
        ("True", "'True' is not allowed in it"),
        ("one if one else 2", "is not allowed in it"),
        ("one and one", "is not allowed in it"),
        ("[one]", "is not allowed in it"),
        ("lambda: 1", "is not allowed in it"),
        ("one @ one", "is not allowed in it"),
        ("one // 2", "is not allowed in it"),
        ("open('x')", "there is no function open"),
        ("sum(sent, 1)", "sum takes 1 arguments, not 2"),
        ("max()", "max takes 1 or 2 arguments, not 0"),
        ("sum(*sent)", "is not allowed in it"),
        ("sum(sent, axis=0)", "is not allowed in it"),
        ("-" * 100 + "1", "it is nested too deeply"),
        ("(" * 5000 + "1" + ")" * 5000, "it is no arithmetic expression"),
        ("1" + " + 1" * 100, "it is nested too deeply"),
        ("1" + "0" * 400, "a number in it is too large"),
        ("1e400", "a number in it is too large"),
    ],
)
def test_nothing_else_can_be_written(text: str, problem: str) -> None:
    with pytest.raises(spillway.Error) as caught:
        compiled(text, SIGNALS)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sent", "has 2 numbers, not one"),
        ("none", "has 0 numbers, not one"),
        ("one / sum(none)", "is inf, which is no reward"),
        ("log(-1)", "is nan, which is no reward"),
        ("9 ** 9 ** 9", "is inf, which is no reward"),
        ("sum(sent + none)", "shapes (2,) (0,)"),
        ("sum(max(sent, none))", "shapes (2,) (0,)"),
    ],
)
def test_what_is_no_number_is_no_reward(text: str, problem: str) -> None:
    with pytest.raises(spillway.Error) as caught:
        compiled(text, SIGNALS)(SIGNALS)
    assert problem in str(caught.value)


@pytest.mark.parametrize("value", [None, "abc", object()])
def test_a_function_gives_a_number(value: object) -> None:
    with pytest.raises(spillway.Error, match="which is no number"):
        compiled(lambda _: value, SIGNALS)(SIGNALS)  # type: ignore[arg-type, return-value]
