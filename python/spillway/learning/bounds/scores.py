"""How good bounds are: how many flows they bound, and how closely; errors of a point estimate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FAR_BYTES = 100_000
"""A prediction that is further from the size than this is far off (QCLIMB's slides: 100 KB)."""
SMALL_BYTES = 100_000
"""A flow of at most this size is small."""


@dataclass(frozen=True)
class Scores:
    """Bounds compared with sizes.

    A flow is bounded if its bound is at most its size; else it is out-bound, in the words of
    QCLIMB's slides. What no flow tells of is None.
    """

    flows: int
    """All flows."""
    bounded: int
    """Those whose bound is at most their size."""
    out_bound: int
    """The others."""
    closeness: float | None
    """The mean of bound / size over the bounded flows."""
    closeness_small: float | None
    """The same over the small ones among them."""
    excess: float | None
    """The mean of bound / size - 1 over the out-bound flows."""

    @classmethod
    def of(cls, bound: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> Scores:
        """Compares the bounds of flows with their sizes."""
        is_bounded = bound <= size
        share = bound / size
        is_small = size <= SMALL_BYTES
        return cls(
            len(size),
            int(is_bounded.sum()),
            int((~is_bounded).sum()),
            _mean(share[is_bounded]),
            _mean(share[is_bounded & is_small]),
            _mean(share[~is_bounded] - 1.0),
        )

    @property
    def document(self) -> dict[str, Any]:
        """All of this, by name, with the share of bounded flows."""
        return {**asdict(self), "bounded_share": self.bounded / self.flows if self.flows else None}


@dataclass(frozen=True)
class Errors:
    """Predicted sizes compared with sizes."""

    flows: int
    far_off: int
    """Flows whose size is more than `FAR_BYTES` from the predicted one."""
    too_high: int
    """Flows that are predicted larger than they are, in whole bytes, to which a bound is cut."""
    median: float | None
    """The median of |predicted - size| / size."""

    @classmethod
    def of(cls, predicted: npt.NDArray[np.float64], size: npt.NDArray[np.int64]) -> Errors:
        """Compares the predicted sizes of flows with their sizes."""
        error = predicted - size
        return cls(
            len(size),
            int((np.abs(error) > FAR_BYTES).sum()),
            int((np.floor(predicted) > size).sum()),
            float(np.median(np.abs(error) / size)) if len(size) else None,
        )

    @property
    def document(self) -> dict[str, Any]:
        """All of this, by name, with the share of those far off."""
        return {**asdict(self), "far_off_share": self.far_off / self.flows if self.flows else None}


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
