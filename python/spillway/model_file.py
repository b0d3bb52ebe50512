"""Files of models: arrays and texts as safetensors, with a checksum."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

_KEY = b'"crc32":"'
_BLANK = b"00000000"


def content(
    format: str,
    version: str,
    arrays: Mapping[str, npt.NDArray[Any]],
    metadata: Mapping[str, str],
) -> bytes:
    """The bytes of a file, sorted: the library alone would write metadata in random order.

    Its checksum is the CRC-32 of all bytes, with zeros in the place of its own eight digits.
    """
    from safetensors.numpy import save

    plain: bytes = save(dict(arrays))
    (length,) = struct.unpack("<Q", plain[:8])
    header, data = json.loads(plain[8 : 8 + length]), plain[8 + length :]
    # The checksum comes first, so that nothing else can be mistaken for it.
    told = {"crc32": _BLANK.decode(), "format": format, "version": version, **metadata}
    text = json.dumps({"__metadata__": told, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    content = struct.pack("<Q", len(text)) + text + data
    place = content.index(_KEY) + len(_KEY)
    return content[:place] + b"%08x" % zlib.crc32(content) + content[place + len(_BLANK) :]


def checksum(content: bytes) -> tuple[str, str] | None:
    """The checksum that a file tells, and the right one; None if it tells none."""
    (length,) = struct.unpack("<Q", content[:8]) if len(content) >= 8 else (0,)
    key = content.find(_KEY, 0, 8 + length)
    place, end = key + len(_KEY), key + len(_KEY) + len(_BLANK)
    if key < 0 or end > len(content):
        return None
    right = zlib.crc32(content[:place] + _BLANK + content[end:])
    return content[place:end].decode("latin-1"), f"{right:08x}"
