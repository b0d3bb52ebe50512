"""The trained agents of Figures 16 and 17. `make rl` made them; each has its command in it."""

from __future__ import annotations

from pathlib import Path


def path(name: str, number: int) -> Path:
    """The file of an agent: a way of training, and the number of the training."""
    return Path(__file__).parent / f"{name}-{number}.safetensors"
