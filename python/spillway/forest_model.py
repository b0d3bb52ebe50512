"""Models in files: forests as the simulator evaluates them, whatever they predict."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from spillway import _core
from spillway.errors import ScenarioError
from spillway.folder import check_new_file, check_plain, path_of, whole_file

if TYPE_CHECKING:
    import numpy.typing as npt


class ForestModel:
    """A forest in a file. `content` is the file's bytes (see the crate spillway-forest)."""

    _what: ClassVar[str]
    """What such a file contains, in words."""
    _reader: ClassVar[type[_core.Forest] | type[_core.Regressor]]
    _training_keys: ClassVar[frozenset[str]]
    """What a file must say of its training, if it says anything."""
    _forest: _core.Forest | _core.Regressor

    def __init__(self, content: bytes, name: str = "the model") -> None:
        self.content = content
        try:
            self._forest = self._reader(content)
        except ScenarioError as error:
            raise ScenarioError(f"{name}: {error}") from error

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """The model in a file."""
        path = path_of(file)
        check_plain(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ScenarioError(f"{file} cannot be read: {error.strerror}") from error
        return cls(content, str(file))

    @classmethod
    def is_one(cls, file: Path) -> bool:
        """Whether a file contains a model."""
        try:
            # Made absolute, because a file's name may be that of a bundled model.
            cls.load(path_of(file).absolute())
        except ScenarioError:
            return False
        return True

    def save(self, file: str | Path) -> None:
        """Writes it to a file, completely or not at all. An existing file must be a model."""
        file = path_of(file)
        check_new_file(file, True, self._what, type(self).is_one)
        with whole_file(file) as partial:
            partial.write_bytes(self.content)

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

    def _read_training(self, name: str) -> dict[str, Any]:
        """What it was trained on, and how."""
        try:
            training = json.loads(self._forest.metadata("training") or "{}")
        except (ValueError, RecursionError):
            training = None
        is_told = isinstance(training, dict)
        if not is_told or (training and not training.keys() >= self._training_keys):
            raise ScenarioError(f"{name}: it does not say as it should what it was trained on")
        return dict(training)

    def _rows(self, inputs: npt.NDArray[Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Rows of features as the forest takes them: one after the other, as numbers of a kind."""
        import numpy as np

        rows = np.ascontiguousarray(inputs, kind)
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise ValueError(f"{len(self.features)} columns are needed, not {rows.shape}")
        if np.isnan(rows).any():
            raise ValueError("features are numbers, not NaN")
        return rows.reshape(-1)


def versions() -> dict[str, str]:
    """The versions of all that has a part in training."""
    import numpy
    import sklearn

    return {
        "spillway": _core.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }
