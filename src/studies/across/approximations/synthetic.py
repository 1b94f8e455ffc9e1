"""Synthetic scores for every arc and part: random scores, and scores that resemble the scores of neural parsers."""

from __future__ import annotations

import numpy as np

from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.scores.statement import problem

SYNTHETIC = ("random", "neural-like")
WIDTH = 16  #: dimension of the word vectors
PARTS = 0.25  #: factor of the scores of siblings and grandchildren, relative to the scores of arcs


def synthetic(kind: str, n: int, seed: int, space: Space) -> Problem:
    """Return a sentence of n words with synthetic scores of all arcs, pairs of siblings and grandchildren.

    The argument `kind` is one of:

    random       independent normal scores
    neural-like  log-probabilities of the heads of each word, from a biaffine form over word vectors (Dozat & Manning
                 2017). Few heads of a word have a high probability, and near heads are preferred. Trilinear forms over
                 the same vectors score the parts.

    The problem has O(n^3) scores.
    """
    rng = np.random.default_rng([SYNTHETIC.index(kind), n, seed])
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
    sibling = np.triu(np.ones((size, size)), 1) * sibling  # score each unordered pair of siblings once
    return problem(arc, siblings=PARTS * sibling, grandparents=PARTS * grand, space=space)


def _trilinear(word: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Score all triples of words by a random trilinear form: float64[n + 1, n + 1, n + 1] of variance about 1.

    The score of three words is a sum over WIDTH dimensions. Each term multiplies one coordinate of three vectors, which
    are random projections of the vectors of the words.

    word  float64[n + 1, WIDTH]: the vectors of the words
    """
    first, second, third = (word @ rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH) for _ in range(3))
    return np.einsum("ik,jk,lk->ijl", first, second, third) / np.sqrt(WIDTH)
