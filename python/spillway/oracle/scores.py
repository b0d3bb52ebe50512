"""How good predictions of drops are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Scores:
    """Predictions against the truth, in packets; a drop is a positive (Credence, Figure 5).

    Scores that divide by nothing, such as the precision of a model that predicts no drop, are None.
    """

    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    ports: int
    """N of Theorem 2."""
    outside: dict[str, float] | None = None
    """Packets with a feature outside of what the model was trained on, by feature, and with `any`;
    None where the model does not say what that was."""

    @classmethod
    def of(
        cls,
        truth: npt.NDArray[np.bool_],
        predicted: npt.NDArray[np.bool_],
        weight: npt.NDArray[np.float64],
        ports: int,
    ) -> Scores:
        """Counts packets, each as often as its weight says."""
        return cls(
            float(weight[truth & predicted].sum()),
            float(weight[~truth & predicted].sum()),
            float(weight[~truth & ~predicted].sum()),
            float(weight[truth & ~predicted].sum()),
            ports,
        )

    @property
    def accuracy(self) -> float | None:
        """The share of predictions that are right."""
        right = self.true_positives + self.true_negatives
        return _ratio(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """Of the drops that were predicted, the share that were drops."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """Of the drops, the share that were predicted."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _ratio(2 * self.true_positives, 2 * self.true_positives + wrong)

    @property
    def inverse_eta(self) -> float | None:
        """What Theorem 2 of Credence gives for 1/eta: (TN - min((N - 1) FN, TN)) / (TN + FP)."""
        lost = min((self.ports - 1) * self.false_negatives, self.true_negatives)
        return _ratio(self.true_negatives - lost, self.true_negatives + self.false_positives)

    @property
    def document(self) -> dict[str, Any]:
        """All of them, by name."""
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
