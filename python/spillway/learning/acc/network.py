"""Networks as plain arrays: fully connected layers, with ReLU between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Layer: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Weights (outputs, inputs), and biases (outputs,)."""


def outputs(layers: Sequence[Layer], state: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a network makes of a state: a value for every action.

    In f32, and in the simulator's order, so that both give the same bits: each output is its bias,
    to which the products with all inputs are added one after the other.
    """
    values = state.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for place, (weight, bias) in enumerate(layers):
            if place > 0:
                values = np.fmax(values, np.float32(0))
            sums = bias.copy()
            for column, value in zip(weight.T, values, strict=True):
                # What is 0 adds nothing, even times what has overflown.
                if value != 0:
                    sums += value * column
            values = sums
    return values
