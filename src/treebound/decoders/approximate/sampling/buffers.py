"""Store a problem and a forest of its arcs in two flat buffers, one of integers and one of scores.

Moves access the buffers millions of times a second. Structures of arrays would be four to five times as slow, because
numba passes them by value. The constants below are slots at the beginning of the integers. A slot holds a number, or
the index at which an array begins. The slot of an absent table of scores is -1.

The forest: ARC_INTO[m] is the arc into word m or NONE. The modifiers of a word form a list in sentence order, from
FIRST[h] to LAST[h], linked by NEXT and BEFORE, with -1 at the ends.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from treebound.core.problem import Problem
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import NEG_TEST
from treebound.kernels.tree_moves import joined

# slots that hold a number
N, ONE_ROOT, PROJECTIVE, WIDTH, SCORED = range(5)
# slots that hold the index at which an array of integers begins; the arrays are named as in ArcIndex and PartIndex
HEAD, MOD, START, RIGHT, INTO, INTO_START, BELOW, ADJACENT, OUTERMOST = range(5, 14)
GRANDCHILD, GRAND_SIBLING, SIBLING, TRI_SIBLING, VALENCY = range(14, 19)
#: NUMBER[h (n + 1) + m] is the arc from h to m, NONE if there is no allowed arc. RANK is the rank of an arc among the
#: arcs into its word. BIGRAM[m] is the place at which the matrix of word m begins. The matrix holds the scores of head
#: bigrams, with a row for each arc into m and a column for each arc into m + 1. The factors of arc a are
#: FACTOR[FACTOR_FIRST[a]] .. FACTOR[FACTOR_FIRST[a + 1] - 1].
NUMBER, RANK, BIGRAM, FACTOR_FIRST, FACTOR, FACTOR_ARCS = range(19, 25)
# the forest and scratch arrays, n + 2 entries each
ARC_INTO, FIRST, LAST, NEXT, BEFORE, FOUND, MARK, OLD, NEW, FOLLOWED, KEPT = range(25, 36)
HERE, THERE, FRAGMENT, CODE = range(36, 40)
# slots that hold the index at which a table of scores begins
S_ARC, S_ADJACENT, S_OUTERMOST, S_GRANDCHILD, S_GRAND_SIBLING, S_SIBLING, S_TRI_SIBLING = range(40, 47)
S_VALENCY, S_FACTOR, S_BIGRAM, S_SHARE, S_WORTH = range(47, 52)
SLOTS = 52

_FAMILIES = {
    "adjacent-sibling": S_ADJACENT,
    "outermost-grandchild": S_OUTERMOST,
    "grandchild": S_GRANDCHILD,
    "grand-sibling": S_GRAND_SIBLING,
    "sibling": S_SIBLING,
    "tri-sibling": S_TRI_SIBLING,
    "valency": S_VALENCY,
}


class Buffers(NamedTuple):
    """Flat buffers int64[*] and float64[*] of a problem; `buffers_of` leaves their forest empty."""

    ints: np.ndarray
    reals: np.ndarray


def buffers_of(problem: Problem, share: np.ndarray) -> Buffers:
    """Return the buffers of a canonical problem with finite scores. O(arcs + parts + n^2).

    Arcs with scores of at most NEG_TEST count as forbidden.

    share  float64[A], positive weights of arcs; `chains.walk` proposes the heads of a word in proportion to them
    """
    index, parts = index_of(problem)
    n, A = problem.n, problem.arcs
    number = np.full((n + 1, n + 1), -1, np.int64)
    allowed = problem.arc > NEG_TEST
    number[problem.head[allowed], problem.mod[allowed]] = np.flatnonzero(allowed)
    rank = np.empty(A, np.int64)
    rank[index.into] = np.arange(A) - index.into_start[problem.mod[index.into]]
    bigram, of_bigrams = _bigrams(problem, rank, np.diff(index.into_start))
    listed = [f for f in problem.parts if f not in _FAMILIES and f != "head-bigram"]
    factors, of_factors = joined(problem.parts, listed)
    factor, place = np.nonzero(factors >= 0)
    arc = factors[factor, place]
    order = np.argsort(arc, kind="stable")
    words = np.full(n + 2, -1, np.int64)
    ints = {
        HEAD: index.head, MOD: index.mod, START: index.start, RIGHT: index.right, INTO: index.into,
        INTO_START: index.into_start, BELOW: parts.below.ravel(), ADJACENT: parts.adjacent,
        OUTERMOST: parts.outermost, GRANDCHILD: parts.grandchild, GRAND_SIBLING: parts.grand_sibling,
        SIBLING: parts.sibling, TRI_SIBLING: parts.tri_sibling, VALENCY: parts.valency, NUMBER: number.ravel(),
        RANK: rank, BIGRAM: bigram, FACTOR_FIRST: np.searchsorted(arc[order], np.arange(A + 1)),
        FACTOR: factor[order], FACTOR_ARCS: factors.ravel(),
        **dict.fromkeys(range(ARC_INTO, FRAGMENT + 1), words), CODE: _codes(n),
    }  # fmt: skip
    reals = {S_ARC: problem.arc, S_SHARE: np.asarray(share), S_WORTH: np.zeros(2 * n + 4)}
    reals |= {slot: problem.parts[f].score for f, slot in _FAMILIES.items() if f in problem.parts}
    if len(of_factors):
        reals[S_FACTOR] = of_factors
    if len(of_bigrams):
        reals[S_BIGRAM] = of_bigrams
    slots = np.full(SLOTS, -1, np.int64)
    slots[[N, ONE_ROOT, PROJECTIVE, WIDTH, SCORED]] = n, parts.single_root, parts.projective, factors.shape[1], 0
    for arrays, begin in ((ints, SLOTS), (reals, 0)):
        sizes = [len(array) for array in arrays.values()]
        slots[list(arrays)] = begin + np.cumsum([0, *sizes[:-1]])
    return Buffers(np.concatenate([slots, *ints.values()]).astype(np.int64), np.concatenate(list(reals.values())))


@cache
def _codes(n: int) -> np.ndarray:
    """Return int64[n + 1], 62 random bits for each word, the same in every run."""
    return np.random.default_rng(1970).integers(2**62, size=n + 1)


def _bigrams(problem: Problem, rank: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of head bigrams as one matrix for each word, in flat form.

    Returns (int64[n + 2]: the start of each word's matrix; float64[*]: the entries of all matrices). Without scores of
    head bigrams, the second array is empty.

    heads  int[n + 1], number of candidate heads of each word; the root has none
    """
    begin = np.zeros(problem.n + 2, np.int64)
    table = problem.parts.get("head-bigram")
    if table is None or not len(table):
        return begin, np.zeros(0)
    begin[2 : problem.n + 1] = np.cumsum(heads[1 : problem.n] * heads[2:])
    score = np.zeros(begin[problem.n])
    first, second = table.arcs[:, 0], table.arcs[:, 1]
    score[begin[problem.mod[first]] + rank[first] * heads[problem.mod[second]] + rank[second]] = table.score
    return begin, score
