"""The score of a tree while its words change their heads one at a time; only parts that a move affects are scored anew.

The score of a tree is the sum of the scores of its arcs, of the stars of its heads
(`kernels.head_stars.scoring.score_head`) and of factors over any arcs. A new head for word m changes only the stars of
the old head, of the new head and of m.

Oracle: tests/test_tree_score.py makes long sequences of moves and scores every tree from scratch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE, PartTable, Problem
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import PartIndex
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.head_stars.scoring import score_head, score_heads
from treebound.kernels.head_stars.tables import NO_ARCS, StarTables, star_tables
from treebound.kernels.reference import read_only
from treebound.support.jit import kernel

#: families that belong to one head, and whose parts depend on selected arcs only
STAR_FAMILIES = ("grandchild", "sibling", "tri-sibling", "comb", "valency")
#: families that belong to one head, and whose parts also depend on arcs that are not selected; for non-projective
#: trees, only head automata score them exactly
AUTOMATON_FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grand-sibling")
AT_HEADS = frozenset({*STAR_FAMILIES, *AUTOMATON_FAMILIES})
NO_PARTS = read_only(np.zeros((0, 2), np.int32)), read_only(np.zeros(0))


class Factors(NamedTuple):
    """Factors over any arcs: each adds its score to a tree that has all its arcs.

    - `arcs`: int32[F, r]. The arcs of each factor, padded with NONE.
    - `score`: float64[F]. The score of each factor.
    - `first`, `factor`: int64[A + 1], int64[*]. Arc a belongs to the factors factor[first[a] : first[a + 1]].
    """

    arcs: np.ndarray
    score: np.ndarray
    first: np.ndarray
    factor: np.ndarray


class Scoring(NamedTuple):
    """The scores of a problem, in the arrays that moves of a tree read.

    - `arc_index`, `part_index`: the indices of the arcs and of the parts.
    - `arc`: float64[A]. The score of each arc.
    - `stars`: the scores of the families in `AT_HEADS`.
    - `factors`: the parts of all other families.
    """

    arc_index: ArcIndex
    part_index: PartIndex
    arc: np.ndarray
    stars: StarTables
    factors: Factors


class Tree(NamedTuple):
    """A tree whose words can be moved to other heads.

    - `into`: int32[n + 1]. The arc into each word, NONE at 0.
    - `z`: int8[A]. 1 for the arcs of the tree.
    - `value`: float64[n + 1]. The score of the star of each head.
    - `taken`: int32[n + 1]. Scratch.
    """

    into: np.ndarray
    z: np.ndarray
    value: np.ndarray
    taken: np.ndarray


def scoring_of(problem: Problem) -> Scoring:
    """Return the Scoring of a problem in canonical form with finite scores. O(arcs + parts)."""
    index, parts = index_of(problem)
    stars = stars_of(index, {f: t for f, t in problem.parts.items() if f in AT_HEADS})
    arcs, score = joined(problem.parts, [f for f in problem.parts if f not in AT_HEADS])
    factor, column = np.nonzero(arcs >= 0)
    arc = arcs[factor, column]
    order = np.argsort(arc, kind="stable")
    factors = Factors(arcs, score, np.searchsorted(arc[order], np.arange(problem.arcs + 1)), factor[order])
    return Scoring(index, parts, problem.arc, stars, factors)


def stars_of(index: ArcIndex, tables: Mapping[str, PartTable], unit: float = 0.0) -> StarTables:
    """Return the StarTables of the families in `AT_HEADS`, from which the kernels of head stars read scores.

    If unit > 0, all scores are integers.
    """
    scores = {family: table.score for family, table in tables.items()}
    return star_tables(index, scores, tables["comb"].arcs if "comb" in tables else NO_ARCS, unit)


def joined(tables: Mapping[str, PartTable], families: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the arcs int32[F, r] and scores float64[F] of several families, one family after another, read-only.

    Families without parts are skipped.
    """
    present = [tables[f] for f in families if f in tables and len(tables[f])]
    if not present:
        return NO_PARTS
    arcs, score = present[0].arcs, present[0].score
    if len(present) > 1:
        width = max(t.arcs.shape[1] for t in present)
        wide = [np.pad(t.arcs, ((0, 0), (0, width - t.arcs.shape[1])), constant_values=NONE) for t in present]
        arcs, score = np.concatenate(wide), np.concatenate([t.score for t in present])
    return read_only(arcs), read_only(score)


@kernel
def lay_out(scoring, arcs):
    """Return (the Tree with the given arcs, its score); `arcs` int32[n] holds the arc into each word.

    O(A + n d^3), where d is the largest number of modifiers of one head.
    """
    index = scoring.arc_index
    n = len(index.right) - 1
    into, z, taken = np.full(n + 1, NONE, np.int32), np.zeros(len(index.head), np.int8), np.empty(n + 1, np.int32)
    tree = Tree(into, z, np.zeros(n + 1), taken)
    for a in arcs:
        tree.into[index.mod[a]] = a
    total = 0.0
    for a in arcs:
        total += _select(scoring, tree, a)
    total += score_heads(index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, tree.value)
    return tree, total


@kernel
def move(scoring, tree, b):
    """Replace the current arc into the modifier of arc b by arc b, and return the change of the score.

    O(d^3 + factors of both arcs), where d is the largest number of modifiers of one head.
    """
    m = scoring.arc_index.mod[b]
    a = tree.into[m]
    change = _select(scoring, tree, b)
    for h in (scoring.arc_index.head[a], scoring.arc_index.head[b], m):
        star = score_head(scoring.arc_index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, h)
        change += star - tree.value[h]
        tree.value[h] = star
    return change


@kernel
def gain(scoring, tree, b, c):
    """Return the change of the score if arcs b and c replaced the current arcs into their modifiers; c may be NONE.

    The tree remains unchanged. If c is not NONE, b must be an arc out of the root, and c must replace
    another arc out of the root.
    """
    index = scoring.arc_index
    h, g, m = index.head[tree.into[index.mod[b]]], index.head[b], index.mod[b]
    old_b = tree.into[m]
    change = _select(scoring, tree, b)
    old_c, p, r = NONE, m, m
    if c != NONE:
        # the old head of word r is the root, which is also g, so no other head is affected
        p, r = index.head[c], index.mod[c]
        old_c = tree.into[r]
        change += _select(scoring, tree, c)
    touched = (h, g, m, p, r)
    for i in range(5):
        first_time = True
        for j in range(i):
            first_time = first_time and touched[j] != touched[i]
        if first_time:
            x = touched[i]
            star = score_head(index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, x)
            change += star - tree.value[x]
    tree.z[b], tree.z[old_b], tree.into[m] = 0, 1, old_b
    if c != NONE:
        tree.z[c], tree.z[old_c], tree.into[r] = 0, 1, old_c
    return change


@kernel
def change_of(scoring, tree, heads, m, h):
    """Return the change of the score if word m gets head h in the tree with the heads `heads` int32[n + 1].

    The result is -inf if the arc (h, m) is no candidate, and nan if `heads` has an arc that is no candidate. First,
    `tree` is changed into the tree of `heads`. This is fast if the previous call had similar heads.
    """
    index = scoring.arc_index
    b = arc_between(index, h, m)
    if b == NONE:
        return -np.inf
    for x in range(1, len(heads)):
        if index.head[tree.into[x]] != heads[x]:
            a = arc_between(index, heads[x], x)
            if a == NONE:
                return np.nan
            # nan marks the stars to be scored later: the arcs form a tree only when all words have their new heads
            tree.value[index.head[tree.into[x]]] = tree.value[index.head[a]] = tree.value[x] = np.nan
            _select(scoring, tree, a)
    for y in range(len(heads)):
        if np.isnan(tree.value[y]):
            tree.value[y] = score_head(index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, y)
    return gain(scoring, tree, b, NONE)


@kernel
def arc_between(index, h, m):
    """Return the arc from h to m, or NONE if it is no candidate. O(heads of m)."""
    for i in range(index.into_start[m], index.into_start[m + 1]):
        if index.head[index.into[i]] == h:
            return index.into[i]
    return NONE


@kernel
def _fired(factors, z, a):
    """Sum the scores of the factors of arc a whose other arcs are all in the tree `z` int8[A]."""
    score = 0.0
    for i in range(factors.first[a], factors.first[a + 1]):
        f = factors.factor[i]
        complete = True
        for c in factors.arcs[f]:
            complete = complete and (c < 0 or c == a or z[c] == 1)
        if complete:
            score += factors.score[f]
    return score


@kernel
def _select(scoring, tree, b):
    """Replace the current arc into the modifier of arc b by arc b, without updating the scores of stars.

    Return the change of the scores of arcs and factors.
    """
    arc, factors = scoring.arc, scoring.factors
    m = scoring.arc_index.mod[b]
    a = tree.into[m]
    change = 0.0
    if tree.z[a] == 1:
        change -= arc[a] + _fired(factors, tree.z, a)
        tree.z[a] = 0
    change += arc[b] + _fired(factors, tree.z, b)
    tree.z[b] = 1
    tree.into[m] = b
    return change
