"""The score of a tree as its words get other heads, one at a time: only what a move touches is scored again.

The score of a tree is that of its arcs, of the stars of its heads (`kernels.head_stars.scoring.score_head`) and of
factors over any arcs. Giving m another head changes the stars of the old head, of the new one and of m alone.

Oracle: tests/test_tree_score.py scores every tree of long walks from scratch.
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

#: families of one head and the arc into it that speak of what is selected alone
STAR_FAMILIES = ("grandchild", "sibling", "tri-sibling", "comb", "valency")
#: those that speak of what is not selected, too: where trees may cross, only head automata score them exactly
AUTOMATON_FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grand-sibling")
AT_HEADS = frozenset({*STAR_FAMILIES, *AUTOMATON_FAMILIES})
NO_PARTS = read_only(np.zeros((0, 2), np.int32)), read_only(np.zeros(0))


class Factors(NamedTuple):
    """Products over any arcs: int32[F, r] arcs (then NONE), float64[F] scores; and which of them an arc belongs to.

    first, factor  int64[A + 1], int64[*]: factors of arc a are factor[first[a] : first[a + 1]]
    """

    arcs: np.ndarray
    score: np.ndarray
    first: np.ndarray
    factor: np.ndarray


class Scoring(NamedTuple):
    """What a problem's trees are scored by: arcs float64[A], stars, factors of the families that are not `AT_HEADS`."""

    arc_index: ArcIndex
    part_index: PartIndex
    arc: np.ndarray
    stars: StarTables
    factors: Factors


class Tree(NamedTuple):
    """A tree that moves are made on.

    into   int32[n + 1]  the arc into each word, NONE at 0
    z      int8[A]       its arcs
    value  float64[n + 1]  scores of its stars
    taken  int32[n + 1]  scratch
    """

    into: np.ndarray
    z: np.ndarray
    value: np.ndarray
    taken: np.ndarray


def scoring_of(problem: Problem) -> Scoring:
    """What a problem in canonical form, of finite scores, is scored by. O(arcs + parts)."""
    index, parts = index_of(problem)
    stars = stars_of(index, {f: t for f, t in problem.parts.items() if f in AT_HEADS})
    arcs, score = joined(problem.parts, [f for f in problem.parts if f not in AT_HEADS])
    factor, place = np.nonzero(arcs >= 0)
    arc = arcs[factor, place]
    order = np.argsort(arc, kind="stable")
    factors = Factors(arcs, score, np.searchsorted(arc[order], np.arange(problem.arcs + 1)), factor[order])
    return Scoring(index, parts, problem.arc, stars, factors)


def stars_of(index: ArcIndex, tables: Mapping[str, PartTable], unit: float = 0.0) -> StarTables:
    """The tables of families `AT_HEADS` as the kernels of head stars take them. unit > 0: all scores are integers."""
    scores = {family: table.score for family, table in tables.items()}
    return star_tables(index, scores, tables["comb"].arcs if "comb" in tables else NO_ARCS, unit)


def joined(tables: Mapping[str, PartTable], families: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """(int32[F, r], float64[F]), read-only: arcs and scores of the families there are, one family after another."""
    there = [tables[f] for f in families if f in tables and len(tables[f])]
    if not there:
        return NO_PARTS
    arcs, score = there[0].arcs, there[0].score
    if len(there) > 1:
        width = max(t.arcs.shape[1] for t in there)
        wide = [np.pad(t.arcs, ((0, 0), (0, width - t.arcs.shape[1])), constant_values=NONE) for t in there]
        arcs, score = np.concatenate(wide), np.concatenate([t.score for t in there])
    return read_only(arcs), read_only(score)


@kernel
def lay_out(scoring, arcs):
    """(Tree of the arcs into all words, int32[n]; its score). O(A + n d^3), d the largest number of modifiers."""
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
    """Take arc b into its word; the change of the score. O(d^3), and the factors of two arcs."""
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
    """What arc b, and c unless it is NONE, would add to the score in the place of the arcs into their words."""
    index = scoring.arc_index
    h, g, m = index.head[tree.into[index.mod[b]]], index.head[b], index.mod[b]
    one = tree.into[m]
    change = _select(scoring, tree, b)
    two, p, r = NONE, m, m
    if c != NONE:
        p, r = index.head[c], index.mod[c]  # r leaves 0, which is g
        two = tree.into[r]
        change += _select(scoring, tree, c)
    touched = (h, g, m, p, r)
    for i in range(5):
        new = True
        for j in range(i):
            new = new and touched[j] != touched[i]
        if new:
            x = touched[i]
            star = score_head(index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, x)
            change += star - tree.value[x]
    tree.z[b], tree.z[one], tree.into[m] = 0, 1, one
    if c != NONE:
        tree.z[c], tree.z[two], tree.into[r] = 0, 1, two
    return change


@kernel
def change_of(scoring, tree, heads, m, h):
    """What head h for word m adds to the score of the tree int32[n + 1] heads; -inf where no such arc is a candidate.

    `tree` is moved to `heads` first, which costs little where that is the tree before this one. nan where `heads` has
    an arc that is no candidate.
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
            # to be scored once all words have their heads: until then there is no tree
            tree.value[index.head[tree.into[x]]] = tree.value[index.head[a]] = tree.value[x] = np.nan
            _select(scoring, tree, a)
    for y in range(len(heads)):
        if np.isnan(tree.value[y]):
            tree.value[y] = score_head(index, scoring.part_index, scoring.stars, tree.z, tree.into, tree.taken, y)
    return gain(scoring, tree, b, NONE)


@kernel
def arc_between(index, h, m):
    """The arc from h to m, NONE where it is no candidate. O(heads of m)."""
    for i in range(index.into_start[m], index.into_start[m + 1]):
        if index.head[index.into[i]] == h:
            return index.into[i]
    return NONE


@kernel
def _fired(factors, z, a):
    """Score of the factors of arc a whose other arcs are all selected."""
    score = 0.0
    for i in range(factors.first[a], factors.first[a + 1]):
        f = factors.factor[i]
        every = True
        for c in factors.arcs[f]:
            every = every and (c < 0 or c == a or z[c] == 1)
        if every:
            score += factors.score[f]
    return score


@kernel
def _select(scoring, tree, b):
    """Select arc b instead of the one into its word; change of the score without stars."""
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
