"""What a decoder and the score of a tree must offer."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space


@runtime_checkable
class Decoder(Protocol):
    """A decoder declares what it supports and refuses the rest by name; it never changes the request.

    name      as registered
    space     the trees it searches
    exact     True if status `optimal` is a proof (limits may still give `limit`)
    supports  factor families that it scores
    cite      author (year), section
    """

    name: str
    space: Space
    exact: bool
    supports: frozenset[str]
    cite: str

    def decode(self, problem: Problem) -> Parse:
        """Best tree of `problem`. Raises UnsupportedError for families outside `supports`."""
        ...


@runtime_checkable
class TreeScore(Protocol):
    """How single trees are scored: what climbing, sampling, reranking and learning from pairs of trees ask for.

    heads are int32[n + 1], heads[0] = -1.
    """

    def score(self, heads: np.ndarray) -> float:
        """Score of a tree; -inf for one that the problem does not allow."""
        ...

    def change(self, heads: np.ndarray, m: int, h: int) -> float:
        """score(heads with h for m) - score(heads), from what the move touches. Both must be trees."""
        ...

    def difference(self, a: np.ndarray, b: np.ndarray) -> Any:
        """The features of a that b has not, and the other way round, in the form that the scorer's learner takes."""
        ...
