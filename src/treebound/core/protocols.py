"""The interfaces of a decoder and of the score of a tree."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space


@runtime_checkable
class Decoder(Protocol):
    """A decoder that declares the families it supports and refuses all others by name. It never changes the problem.

    - `name`: the registered name.
    - `space`: the set of trees that the decoder searches.
    - `exact`: True if status `optimal` is a proof. Limits may still give status `limit`.
    - `supports`: the factor families that the decoder scores.
    - `cite`: author (year) and section of the paper.
    """

    name: str
    space: Space
    exact: bool
    supports: frozenset[str]
    cite: str

    def decode(self, problem: Problem) -> Parse:
        """Return the best tree of `problem`. Raises UnsupportedError for families outside `supports`."""
        ...


@runtime_checkable
class TreeScore(Protocol):
    """A score of single trees, for hill climbing, sampling, reranking and learning from pairs of trees.

    Heads are int32[n + 1] with heads[0] = -1.
    """

    def score(self, heads: np.ndarray) -> float:
        """Return the score of a tree, or -inf if the problem does not allow the tree."""
        ...

    def change(self, heads: np.ndarray, m: int, h: int) -> float:
        """Return the change of the score when word m gets head h, computed from the affected parts only.

        The heads before and after the change must be trees.
        """
        ...

    def difference(self, a: np.ndarray, b: np.ndarray) -> Any:
        """Return the features that only tree a has and the features that only tree b has.

        The form of the result depends on the scorer: it is the form that the scorer's learner takes.
        """
        ...
