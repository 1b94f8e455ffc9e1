"""The balance of a tagger and a parser: a log-linear model over likely tag sequences and their trees.

Three numbers describe a tag sequence: the score of the parser under it, the score that the tagger loses by it, and the
number of changed tags. Each number has a weight, and so has each pair of a tag and the tag that replaces it. The
weights are learned from the output of parsers and taggers that have not seen the sentence, because a parser is
overconfident on its own training set. More features of trees, read beside each tag in doubt, do not help
(docs/decisions/018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from treebound.core.hashing import hash_string

BITS = 12  #: base-2 logarithm of the number of weights
NUMBERS = 3  #: number of unhashed weights: for gain of score, negative deficit, negative number of changed tags
TENTHS = 10.0  #: deficits are counted in tenths, so that the three numbers have similar sizes
STEPS = 80  #: number of steps of the optimiser, at most
FREE = 0.001  #: factor of the L2 penalty for the first NUMBERS weights


class Choice(NamedTuple):
    """The tag sequences of a sentence, from which one is chosen.

    features  float64[K, 2 ** BITS], sparse: features of each sequence; all are 0 for the first, predicted sequence
    errors    float64[K]: number of wrong tags and wrong heads of each sequence
    """

    features: sparse.csr_matrix
    errors: np.ndarray


def features(taggings: Sequence[Sequence[str]], numbers: np.ndarray) -> sparse.csr_matrix:
    """Return the features of K tag sequences of one sentence of n words, sparse float64[K, 2 ** BITS]. O(K n).

    taggings  the tags of each sequence
    numbers   float64[K, NUMBERS]: for each sequence, the gain of parser score, the negative deficit of the tagger, and
              the negative number of changed tags; all are 0 for the first sequence
    """
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for tags, row_numbers in zip(taggings, numbers, strict=True):
        values = dict(enumerate(row_numbers.tolist()))
        for before, tag in zip(taggings[0], tags, strict=True):
            if tag != before:
                slot = NUMBERS + hash_string(f"{before} {tag}") % ((1 << BITS) - NUMBERS)
                values[slot] = values.get(slot, 0.0) + 1.0
        columns += values
        data += values.values()
        ends.append(len(columns))
    return sparse.csr_matrix((data, columns, ends), shape=(len(taggings), 1 << BITS))


def learn(choices: Sequence[Choice], l2: float) -> np.ndarray:
    """Return float64[2 ** BITS], the weights that minimise the expected errors of choices, with an L2 penalty.

    First, the weights maximise the likelihood of the sequences with the fewest errors. From there, they minimise the
    risk, which has several minima and therefore needs a good start (Smith & Eisner 2006). L-BFGS, O(STEPS x active
    features).
    """
    choosable = [choice for choice in choices if len(choice.errors) > 1]
    start = np.zeros(1 << BITS)
    start[1] = 1.0  # start by trusting the tagger
    if not choosable:
        return start
    table = sparse.vstack([choice.features for choice in choosable]).tocsr()
    errors = np.concatenate([choice.errors for choice in choosable])
    used = np.union1d(np.flatnonzero(table.getnnz(axis=0)), np.arange(NUMBERS))
    table, first = table[:, used], np.cumsum([0] + [len(choice.errors) for choice in choosable[:-1]])
    best = first + np.array([int(choice.errors.argmin()) for choice in choosable])
    owner = np.repeat(np.arange(len(choosable)), [len(choice.errors) for choice in choosable])
    penalty = np.full(len(used), l2)
    penalty[:NUMBERS] *= FREE

    def likelihood(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = _chances(table @ weights, first, owner)
        value = -np.log(np.maximum(p[best], 1e-300)).sum()
        slope = table.T @ p - np.asarray(table[best].sum(axis=0)).ravel()
        return value + 0.5 * (penalty * weights**2).sum(), slope + penalty * weights

    def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = _chances(table @ weights, first, owner)
        mean = np.add.reduceat(p * errors, first)
        slope = table.T @ (p * (errors - mean[owner]))
        return (p * errors).sum() + 0.5 * (penalty * weights**2).sum(), slope + penalty * weights

    solution = start[used]
    for objective in (likelihood, risk):
        solution = minimize(objective, solution, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    out = np.zeros(1 << BITS)
    out[used] = solution
    return out


def _chances(scores: np.ndarray, first: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Return the probability of each tag sequence among the tag sequences of its sentence.

    scores  score of each sequence, sentence by sentence
    first   index of the first sequence of each sentence
    owner   number of the sentence of each sequence
    """
    mass = np.exp(scores - np.maximum.reduceat(scores, first)[owner])
    return mass / np.add.reduceat(mass, first)[owner]
