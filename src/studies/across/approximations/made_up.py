"""Scores that no model of ours gives: random ones, and dense ones of the shape that neural parsers have."""

from __future__ import annotations

import numpy as np

from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.scores.statement import problem

MADE_UP = ("random", "neural-like")
WIDTH = 16  #: of the vectors of words
PARTS = 0.25  #: scores of siblings and grandchildren against those of arcs


def made_up(kind: str, n: int, seed: int, space: Space) -> Problem:
    """A sentence of n words under scores of all arcs, of all pairs of siblings and of all grandchildren.

    random       independent normal numbers
    neural-like  logarithms of what a biaffine form over vectors of words gives the heads of each word (Dozat & Manning
                 2017), peaked and favouring near heads, and trilinear forms over the same vectors for the parts
    O(n^3) numbers.
    """
    rng = np.random.default_rng([MADE_UP.index(kind), n, seed])
    size = n + 1
    if kind == "random":
        arc = rng.normal(size=(size, size))
        sibling, grand = rng.normal(size=(2, size, size, size))
    else:
        word = rng.normal(size=(size, WIDTH))
        bilinear = rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)
        position = np.arange(size)
        arc = word @ bilinear @ word.T - 0.3 * np.abs(position[:, None] - position)
        arc -= np.log(np.exp(np.where(position[:, None] == position, -np.inf, arc)).sum(axis=0))
        sibling, grand = (_trilinear(word, rng) for _ in range(2))
    sibling = np.triu(np.ones((size, size)), 1) * sibling  # each pair once
    return problem(arc, siblings=PARTS * sibling, grandparents=PARTS * grand, space=space)


def _trilinear(word: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[n + 1] * 3 numbers of variance about 1: sums over products of three projections of the words."""
    first, second, third = (word @ rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH) for _ in range(3))
    return np.einsum("ik,jk,lk->ijl", first, second, third) / np.sqrt(WIDTH)
