"""A run's numbers as a store keeps them: its summary, compressed."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def record_of(summary: dict[str, Any]) -> str:
    """A summary as a text of some 1.5 kB."""
    return squeezed(json.dumps(summary, separators=(",", ":")))


def summary_of(record: str) -> dict[str, Any]:
    """The summary."""
    summary: dict[str, Any] = json.loads(unsqueezed(record))
    return summary


def squeezed(text: str, like: str = "") -> str:
    """A text, compressed; shorter if it is like another one, which is then needed to read it.

    >>> unsqueezed(squeezed("seed = 2", "seed = 1"), "seed = 1")
    'seed = 2'
    """
    compress = zlib.compressobj(6, zdict=like.encode()) if like else zlib.compressobj(6)
    return base64.b64encode(compress.compress(text.encode()) + compress.flush()).decode()


def unsqueezed(text: str, like: str = "") -> str:
    """What was compressed.

    Raises:
        ValueError: it is damaged.
    """
    expand = zlib.decompressobj(zdict=like.encode()) if like else zlib.decompressobj()
    try:
        return expand.decompress(base64.b64decode(text)).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error
