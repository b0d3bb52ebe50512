"""Models in files, and forests that scikit-learn has trained among them.

Files are arrays and texts as safetensors, with a checksum. A forest's are plain arrays, as the
simulator evaluates them, whatever it predicts (see the crate spillway-forest).
"""

from __future__ import annotations

import json
import platform
import struct
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from spillway.base import core
from spillway.base.errors import FileError, ScenarioError
from spillway.base.folder import check_new_file, check_plain, path_of, whole_file

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

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
            raise FileError(f"{name}: {error}", error.hint) from error

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
            raise FileError(f"{file} cannot be read: {error.strerror}") from error
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


class ForestModel(ModelFile):
    """A forest in a file. `content` is the file's bytes."""

    _reader: ClassVar[type[core.Forest] | type[core.Regressor]]
    _training_keys: ClassVar[frozenset[str]]
    """The facts about its training that a file must have if it has any."""
    _forest: core.Forest | core.Regressor
    training: dict[str, Any]
    """What it was trained on, and how."""

    def _take(self, content: bytes) -> None:
        self._forest = self._reader(content)
        try:
            training = json.loads(self._forest.metadata("training") or "{}")
        except (ValueError, RecursionError):
            training = None
        is_told = isinstance(training, dict)
        if not is_told or (training and not training.keys() >= self._training_keys):
            raise FileError("it does not say as it should what it was trained on")
        self.training = dict(training)

    @property
    def features(self) -> list[str]:
        """The features that it uses, in order."""
        return self._forest.features

    @property
    def trees(self) -> int:
        """The number of trees."""
        return self._forest.trees

    @property
    def depth(self) -> int:
        """The longest path from a root to a leaf."""
        return self._forest.depth

    def _rows(self, inputs: npt.NDArray[Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Rows of features as the forest takes them: one after the other, as numbers of a kind."""
        rows = np.ascontiguousarray(inputs, kind)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise ValueError(f"{len(self.features)} columns are needed, not {rows.shape}")
        if np.isnan(rows).any():
            raise ValueError("features are numbers, not NaN")
        return rows.reshape(-1)


def forest_content(arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a forest's file."""
    return content("spillway-forest", "2", arrays, metadata)


def forest_arrays(
    forest: RandomForestClassifier | RandomForestRegressor,
) -> dict[str, npt.NDArray[Any]]:
    """The nodes of all trees, numbered consecutively, and what each predicts."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    counts = [tree.node_count for tree in trees]
    root = np.cumsum([0, *counts[:-1]])
    first = np.repeat(root, counts)

    def joined(name: str) -> Any:
        return np.concatenate([getattr(tree, name) for tree in trees])

    is_leaf = joined("children_left") < 0
    return {
        "root": root.astype(np.uint32),
        "feature": np.where(is_leaf, -1, joined("feature")).astype(np.int32),
        "threshold": np.where(is_leaf, 0.0, joined("threshold")).astype(np.float64),
        "left": np.where(is_leaf, 0, joined("children_left") + first).astype(np.uint32),
        "right": np.where(is_leaf, 0, joined("children_right") + first).astype(np.uint32),
        # The shares of the classes, or a number.
        "value": joined("value")[:, 0, :].astype(np.float64),
    }


def check_known(what: str, given: object, known: Collection[str]) -> None:
    """Refuses an argument of a training that is not among those that are known."""
    if given not in known:
        raise ScenarioError(f"{what}: {given!r} is not known", f"known are {', '.join(known)}")


def versions() -> dict[str, str]:
    """The versions of all that has a part in training."""
    import sklearn

    return {
        "spillway": core.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
