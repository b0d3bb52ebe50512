"""Files of models: arrays and texts as safetensors, with a checksum."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy.typing as npt
from safetensors.numpy import save

from spillway.base.errors import ScenarioError
from spillway.base.folder import check_new_file, check_plain, path_of, whole_file

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


class ModelFile:
    """A model in a file. `content` is the file's bytes."""

    _what: ClassVar[str]
    """What such a file contains, in words."""

    def __init__(self, content: bytes, name: str = "the model") -> None:
        self.content = content
        try:
            self._take(content)
        except ScenarioError as error:
            raise ScenarioError(f"{name}: {error}", error.hint) from error

    def _take(self, content: bytes) -> None:
        """Reads the bytes, and refuses what is no such model."""
        raise NotImplementedError

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """The model in a file."""
        path = path_of(file)
        check_plain(path)
        try:
            cls._check_size(path.stat().st_size, str(file))
            content = path.read_bytes()
        except OSError as error:
            raise ScenarioError(f"{file} cannot be read: {error.strerror}") from error
        return cls(content, str(file))

    @classmethod
    def _check_size(cls, size: int, name: str) -> None:
        """Refuses a file that is too large to be read at all."""

    @classmethod
    def is_one(cls, file: Path) -> bool:
        """Whether a file contains a model."""
        try:
            # Made absolute, because a file's name may be that of a bundled model.
            cls.load(path_of(file).absolute())
        except ScenarioError:
            return False
        return True

    def save(self, file: str | Path, *, force: bool = True) -> None:
        """Writes it to a file, completely or not at all.

        An existing file must be a model, and is not replaced without `force`.
        """
        file = path_of(file)
        check_new_file(file, force, self._what, type(self).is_one)
        with whole_file(file, force) as partial:
            partial.write_bytes(self.content)
