"""The outcome of a comparison with a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.console import Group, RenderableType

from spillway_studies.references.bounds import Bounds

Found = TypeVar("Found")


@dataclass(frozen=True)
class Validation(Generic[Found]):
    """What was compared, how it is told, and whether it is near enough."""

    comparisons: Sequence[Found]
    content: Mapping[str, Any]
    """Everything but the bounds, as JSON."""
    tables: Sequence[RenderableType]
    bounds: Bounds

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {**self.content, "bounds": self.bounds.document}

    @property
    def table(self) -> Group:
        """Everything, for people."""
        return Group(*self.tables)
