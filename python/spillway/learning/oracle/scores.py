"""Scores of predictions of drops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Scores:
    """Predictions compared with the truth, in packets; drops are positives (Credence, Figure 5).

    Scores with a denominator of 0, such as the precision of a model that predicts no drop, are
    None.
    """

    true_positives: float
    """Drops that were predicted."""
    false_positives: float
    """Predicted drops that were none."""
    true_negatives: float
    """Packets that were neither predicted as drops nor dropped."""
    false_negatives: float
    """Drops that were not predicted."""
    ports: int
    """N in Theorem 2."""
    outside: dict[str, float] | None = None
    """Packets with a feature outside the model's training range, by feature, and those with `any`;
    None if the model does not give its range.
    """

    @classmethod
    def of(
        cls,
        truth: npt.NDArray[np.bool_],
        predicted: npt.NDArray[np.bool_],
        weight: npt.NDArray[np.float64],
        ports: int,
    ) -> Scores:
        """Counts packets, each with its weight."""
        return cls(
            float(weight[truth & predicted].sum()),
            float(weight[~truth & predicted].sum()),
            float(weight[~truth & ~predicted].sum()),
            float(weight[truth & ~predicted].sum()),
            ports,
        )

    @property
    def accuracy(self) -> float | None:
        """The share of correct predictions."""
        right = self.true_positives + self.true_negatives
        return _ratio(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of predicted drops that were drops."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of drops that were predicted."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)

    @property
    def inverse_eta(self) -> float | None:
        """The value of Credence's Theorem 2 for 1/eta: (TN - min((N - 1) FN, TN)) / (TN + FP)."""
        lost = min((self.ports - 1) * self.false_negatives, self.true_negatives)
        return _ratio(self.true_negatives - lost, self.true_negatives + self.false_positives)

    @property
    def document(self) -> dict[str, Any]:
        """All scores, by name."""
        return {
            "packets": self.true_positives
            + self.false_positives
            + self.true_negatives
            + self.false_negatives,
            "drops": self.true_positives + self.false_negatives,
            "true_positives": self.true_positives,
            "false_positives": self.false_positives,
            "true_negatives": self.true_negatives,
            "false_negatives": self.false_negatives,
            "accuracy": self.accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "inverse_eta": self.inverse_eta,
            "ports": self.ports,
            "outside": self.outside,
        }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
