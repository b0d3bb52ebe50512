"""Results by their keys, in the memory of one process: what `Store` is without a folder."""

from __future__ import annotations

from typing import Any


class Memory:
    """Results that last as long as the process."""

    def __init__(self) -> None:
        self.claims = Alone()
        self._results: dict[str, Any] = {}

    def refresh(self) -> list[str]:
        """What others have put since: nothing, as there are none."""
        return []

    def has(self, key: str) -> bool:
        """Whether there is a result."""
        return key in self._results

    def get(self, key: str) -> Any:
        """The result of a key, None if there is none."""
        return self._results.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keeps a result."""
        self._results[key] = result

    def close(self) -> None:
        """There is nothing to be synced."""


class Alone:
    """Claims where nobody else claims anything."""

    def take(self, key: str) -> bool:  # noqa: ARG002
        """The key is free."""
        return True

    def release(self, key: str) -> None:
        """Lets go of a key."""
