"""What weighs a tagger against a parser: a log-linear model over the likeliest taggings of a sentence and their trees.

Three numbers speak for a tagging: what the parser scores under it, how much less the tagger likes it, and how many tags
it changes. Besides there is a weight for each pair of a tag and the one that it takes the place of. They are learnt
from trees of parsers and taggers that have not seen the sentence: what a parser says of its own training set is too
sure. More features of trees, read beside each tag in doubt, bring nothing (docs/decisions/018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from treebound.core.hashing import hash_string

BITS = 12  #: log2 of the number of weights
NUMBERS = 3  #: the first of them: of what the score gains, less the deficit, less the number of changed tags
TENTHS = 10.0  #: deficits are counted in tenths, so that all numbers are about as large
STEPS = 80  #: of the optimiser, at most
FREE = 0.001  #: how much less these are held to 0 than the others


class Choice(NamedTuple):
    """What there is to choose from in a sentence.

    features  float64[K, 2 ** BITS], sparse: of each tagging; those of the first, which comes in, are 0
    errors    float64[K]: wrong tags and wrong heads
    """

    features: sparse.csr_matrix
    errors: np.ndarray


def features(taggings: Sequence[Sequence[str]], numbers: np.ndarray) -> sparse.csr_matrix:
    """`Choice.features` of taggings, tags of n words each. numbers  float64[K, NUMBERS], of the first 0. O(K n)."""
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for tags, some in zip(taggings, numbers, strict=True):
        found = dict(enumerate(some.tolist()))
        for before, tag in zip(taggings[0], tags, strict=True):
            if tag != before:
                slot = NUMBERS + hash_string(f"{before} {tag}") % ((1 << BITS) - NUMBERS)
                found[slot] = found.get(slot, 0.0) + 1.0
        columns += found
        data += found.values()
        ends.append(len(columns))
    return sparse.csr_matrix((data, columns, ends), shape=(len(taggings), 1 << BITS))


def learn(choices: Sequence[Choice], l2: float) -> np.ndarray:
    """float64[2 ** BITS]: weights under which choices are expected to have the fewest errors, by a penalty.

    First those of the largest likelihood of taggings with the fewest errors, then those of the least risk, to which
    these are the start: the risk has several minima (Smith & Eisner 2006). L-BFGS, O(STEPS x features that fire).
    """
    some = [choice for choice in choices if len(choice.errors) > 1]
    start = np.zeros(1 << BITS)
    start[1] = 1.0  # the tagger is right
    if not some:
        return start
    table = sparse.vstack([choice.features for choice in some]).tocsr()
    errors = np.concatenate([choice.errors for choice in some])
    used = np.union1d(np.flatnonzero(table.getnnz(axis=0)), np.arange(NUMBERS))
    table, first = table[:, used], np.cumsum([0] + [len(choice.errors) for choice in some[:-1]])
    best = first + np.array([int(choice.errors.argmin()) for choice in some])
    of = np.repeat(np.arange(len(some)), [len(choice.errors) for choice in some])
    held = np.full(len(used), l2)
    held[:NUMBERS] *= FREE

    def likelihood(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = _chances(table @ weights, first, of)
        value = -np.log(np.maximum(p[best], 1e-300)).sum()
        slope = table.T @ p - np.asarray(table[best].sum(axis=0)).ravel()
        return value + 0.5 * (held * weights**2).sum(), slope + held * weights

    def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = _chances(table @ weights, first, of)
        mean = np.add.reduceat(p * errors, first)
        slope = table.T @ (p * (errors - mean[of]))
        return (p * errors).sum() + 0.5 * (held * weights**2).sum(), slope + held * weights

    found = start[used]
    for objective in (likelihood, risk):
        found = minimize(objective, found, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    out = np.zeros(1 << BITS)
    out[used] = found
    return out


def _chances(scores: np.ndarray, first: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Probabilities of the taggings of each sentence; first: where they begin; of: whose each is."""
    mass = np.exp(scores - np.maximum.reduceat(scores, first)[of])
    return mass / np.add.reduceat(mass, first)[of]
