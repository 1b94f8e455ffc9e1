"""Memory-based learning by TiMBL (Daelemans & van den Bosch 2005), through the package python3-timbl.

The classifier follows Hall, Nivre & Nilsson (2006, section 3.1): the k nearest neighbours, weighted by their inverse
distance. The distance is the modified value difference metric, or overlap for values seen fewer than l times. The model
consists of its instances: TiMBL builds a tree of the instances at
the first query.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from treebound.core.errors import TreeboundError
from treebound.learning.storage import Layout
from treebound.support.extras import needs

MOST = 200_000  #: number of answers in the cache, which helps because instances recur, above all with few features


class MemoryBased:
    """A memory-based classifier (`classifiers.Classifier`). `best` gives the answers, `scores` the neighbours' votes.

    neighbours  k, the number of nearest distances whose instances vote
    rare        l, the frequency below which values are compared by overlap
    """

    X: np.ndarray  #: int32[N, m] the instances
    y: np.ndarray  #: int32[N] their classes

    def __init__(self, neighbours: int = 5, rare: int = 3):
        self.neighbours, self.rare = neighbours, rare
        self._api: Any = None
        self._answers: dict[bytes, tuple[int, np.ndarray]] = {}

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Store the instances and their classes. InputError if TiMBL is not installed."""
        self.X, self.y, self.classes = X, y.astype(np.int32), classes
        self._api, self._answers = None, {}
        self._timbl()

    def _timbl(self) -> Any:
        """Return TiMBL's interface with all instances, built at the first call. O(N m log N)."""
        if self._api is None:
            with needs("classifiers"):
                from timblapi import TimblAPI
            self._api = TimblAPI(f"-F Tabbed -mM -k{self.neighbours} -L{self.rare} -dID +v+db+di +vs", "")
            with TemporaryDirectory() as folder:
                path = Path(folder) / "instances"
                np.savetxt(path, np.column_stack([self.X, self.y]), "%d", "\t")
                if not self._api.learn(str(path)):
                    raise TreeboundError("TiMBL cannot learn from the training instances", hint="use another learner")
        return self._api

    def forget(self) -> None:
        """Clear the cache of answers, so that TiMBL computes every answer again."""
        self._answers = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_api": None, "_answers": {}}

    def _answer(self, x: np.ndarray) -> tuple[int, np.ndarray]:
        """Return (class, float64[classes] share of the neighbours' votes) of one instance."""
        key = x.tobytes()
        if key not in self._answers:
            if len(self._answers) == MOST:
                self._answers.clear()
            answered, best, shares, _ = self._timbl().classify3("\t".join([*map(str, x.tolist()), "?"]), True, 0)
            if not answered:
                raise TreeboundError("TiMBL gave no answer", hint="train the model again")
            votes = np.zeros(self.classes)
            votes[[int(name) for name in shares]] = list(shares.values())
            self._answers[key] = int(best), votes
        return self._answers[key]

    def best(self, X: np.ndarray) -> np.ndarray:
        """Return int64[K], the class of each instance."""
        return np.array([self._answer(x)[0] for x in X], np.int64)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return float64[K, classes], the share of votes for each class."""
        return np.array([self._answer(x)[1] for x in X]).reshape(len(X), self.classes)

    # --- files ---

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the model file, as described by `layouts`."""
        return {"instances": self.X, "answers": self.y}

    def restore(self, arrays: dict[str, np.ndarray], classes: int) -> None:
        """Restore instances and classes from the arrays of a model file. ValueError for classes that do not exist."""
        self.X, self.y, self.classes = arrays["instances"], arrays["answers"], classes
        if self.y.min() < 0 or self.y.max() >= classes:
            raise ValueError("answers: a class is beyond the transitions")


def layouts(count: int, m: int) -> dict[str, Layout]:
    """Return the layouts of the arrays in a file, for `count` instances of m cells. ValueError if `count` is 0."""
    if count < 1:
        raise ValueError("instances: the model has none")
    return {"instances": Layout(np.int32, {(count, m)}), "answers": Layout(np.int32, {(count,)})}
