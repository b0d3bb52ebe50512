"""What files come to, so that it is noticed when one is not what it was."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(file: Path) -> str:
    """What a file's content comes down to."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
