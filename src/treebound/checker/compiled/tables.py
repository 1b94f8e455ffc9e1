"""Look-up tables of the scores of parts, indexed by the ranks of their arcs among the arcs of one head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from treebound.core.problem import NONE, NONE_OUTER, PartTable, Problem

NO = -(2**62)  #: stands for -inf; every other number is smaller in magnitude than 2**60
#: largest sum of all numbers of a sentence, so that sums over trees and penalties of roots fit into int64
LARGEST = 2.0**48
CELLS = 30_000_000  #: largest number of look-up cells of a family in a sentence


class TooLarge(Exception):
    """Raised when the numbers or tables of a sentence do not fit, so that the plain version must check it."""


class Arcs(NamedTuple):
    """The arcs of a problem, grouped by heads and by modifiers.

    - `head`, `mod`, int64[A]: ends of the arcs
    - `into`, `out`, int64[A]: arcs grouped by modifier, and grouped by head, each group in order
    - `into_first`, `out_first`, int64[n + 2]: where the group of each word begins
    - `rank_in`, `rank_out`, int64[A]: rank of an arc in its group of `into`, and in its group of `out`
    - `number`, int64[n + 1, n + 1]: arc (h, m), or -1
    """

    head: np.ndarray
    mod: np.ndarray
    into: np.ndarray
    into_first: np.ndarray
    out: np.ndarray
    out_first: np.ndarray
    rank_in: np.ndarray
    rank_out: np.ndarray
    number: np.ndarray


class Tables(NamedTuple):
    """Scores of parts: NO (-inf) if forbidden, 0 if there is no part.

    `deg` is the number of arcs out of a word h, and `in` the number of arcs into h. x is an arc into h, b an arc out of
    h, and s another arc out of h, for most families to a modifier nearer to h.

    - `adjacent`, [sum (deg + 1) deg]: adjacent siblings (s, b) at adjacent_at[h] + rank(b) (deg + 1) + rank(s) + 1.
      Without s, rank(s) + 1 is 0
    - `outermost`, [sum in (deg + 2)]: outermost grandchildren (x, b) at outermost_at[h] + rank(x) (deg + 2) + rank(b) +
      2. Without b, rank(b) + 2 is 0 for NONE and 1 for NONE_OUTER
    - `grandchild`, [sum in deg]: grandchildren (x, b) at grandchild_at[h] + rank(x) deg + rank(b)
    - `grand`, [sum in (deg + 1) deg]: grand-siblings (x, s, b) at grand_at[h] + (rank(x) (deg + 1) + rank(s) + 1) deg +
      rank(b)
    - `pair`, [sum deg deg]: siblings (s, b), in both orders, at pair_at[h] + rank(s) deg + rank(b)
    - `comb`, [A, 9]: scores of combs, by their farthest arc and their number of arcs
    - `valency`, [n + 1, counts]: scores by word and number of modifiers
    - `last`, int64[n + 1]: the largest number of modifiers with a valency score of each word, or -1
    - `triple`: scores of tri-siblings, grouped by their last arc
    - `triple_first`: the index in `triple` at which the group of each arc begins
    - `triple_arcs`, int64[T, 2]: ranks of the two other arcs of each tri-sibling
    - `has_sets`, `has_combs`: whether there are pairs or triples, and whether there are combs

    A table without parts is empty.
    """

    adjacent: np.ndarray
    adjacent_at: np.ndarray
    outermost: np.ndarray
    outermost_at: np.ndarray
    grandchild: np.ndarray
    grandchild_at: np.ndarray
    grand: np.ndarray
    grand_at: np.ndarray
    pair: np.ndarray
    pair_at: np.ndarray
    comb: np.ndarray
    valency: np.ndarray
    last: np.ndarray
    triple_first: np.ndarray
    triple_arcs: np.ndarray
    triple: np.ndarray
    has_sets: bool
    has_combs: bool


def index(problem: Problem) -> Arcs:
    """Return the arcs of a problem, grouped by heads and by modifiers. O(A log A)."""
    head, mod = problem.head.astype(np.int64), problem.mod.astype(np.int64)
    order = np.arange(problem.arcs)
    grouped = []
    for ends in (mod, head):
        arcs = np.argsort(ends, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=problem.n + 1))])
        rank = np.empty(problem.arcs, np.int64)
        rank[arcs] = order - first[ends[arcs]]
        grouped.append((arcs, first.astype(np.int64), rank))
    number = np.full((problem.n + 1, problem.n + 1), -1, np.int64)
    number[head, mod] = order
    (into, into_first, rank_in), (out, out_first, rank_out) = grouped
    return Arcs(head, mod, into, into_first, out, out_first, rank_in, rank_out, number)


def whole(scores: np.ndarray) -> np.ndarray:
    """Return scores as int64, with NO for -inf. Raises TooLarge. The scores must be integers or -inf."""
    finite = np.isfinite(scores)
    if float(np.abs(scores[finite]).sum()) > LARGEST:
        raise TooLarge
    return np.where(finite, np.where(finite, scores, 0.0).astype(np.int64), NO)


def tables(problem: Problem, arcs: Arcs, parts: Mapping[str, PartTable]) -> Tables:
    """Return look-up tables of some families, whose parts `shapes` has checked. Raises TooLarge."""
    deg, into = np.diff(arcs.out_first), np.diff(arcs.into_first)

    def filled(family: str, sizes: np.ndarray, places: object) -> tuple[np.ndarray, np.ndarray]:
        table = parts.get(family)
        if table is None or not len(table):
            return np.zeros(0, np.int64), np.zeros(len(deg), np.int64)
        if sizes.sum() > CELLS:
            raise TooLarge
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        cells = np.zeros(int(sizes.sum()), np.int64)
        score = whole(table.score)
        for place in places(begins, table.arcs.astype(np.int64)):  # type: ignore[operator]
            cells[place] = score
        return cells, begins

    head, mod, rank_in, rank_out = arcs.head, arcs.mod, arcs.rank_in, arcs.rank_out

    def slot(s: np.ndarray) -> np.ndarray:
        return np.where(s == NONE, 0, rank_out[np.maximum(s, 0)] + 1)

    def of_adjacent(begins: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        s, b = row.T
        return [begins[head[b]] + rank_out[b] * (deg[head[b]] + 1) + slot(s)]

    def of_outermost(begins: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        x, b = row.T
        last = np.where(b == NONE, 0, np.where(b == NONE_OUTER, 1, rank_out[np.maximum(b, 0)] + 2))
        return [begins[mod[x]] + rank_in[x] * (deg[mod[x]] + 2) + last]

    def of_grandchild(begins: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        x, b = row.T
        return [begins[mod[x]] + rank_in[x] * deg[mod[x]] + rank_out[b]]

    def of_grand(begins: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        x, s, b = row.T
        return [begins[mod[x]] + (rank_in[x] * (deg[mod[x]] + 1) + slot(s)) * deg[mod[x]] + rank_out[b]]

    def of_pair(begins: np.ndarray, row: np.ndarray) -> list[np.ndarray]:
        a, b = row.T
        h = head[a]
        return [begins[h] + rank_out[a] * deg[h] + rank_out[b], begins[h] + rank_out[b] * deg[h] + rank_out[a]]

    adjacent, adjacent_at = filled("adjacent-sibling", (deg + 1) * deg, of_adjacent)
    outermost, outermost_at = filled("outermost-grandchild", into * (deg + 2), of_outermost)
    grandchild, grandchild_at = filled("grandchild", into * deg, of_grandchild)
    grand, grand_at = filled("grand-sibling", into * (deg + 1) * deg, of_grand)
    pair, pair_at = filled("sibling", deg * deg, of_pair)
    triple_first, triple_arcs, triple = _triples(problem, arcs, parts.get("tri-sibling"))
    comb = _combs(problem, parts.get("comb"))
    valency, last = _valency(problem, parts.get("valency"))
    return Tables(
        *(adjacent, adjacent_at, outermost, outermost_at, grandchild, grandchild_at, grand, grand_at, pair, pair_at),
        *(comb, valency, last, triple_first, triple_arcs, triple),
        has_sets=len(pair) > 0 or len(triple) > 0,
        has_combs=len(comb) > 0,
    )


def _triples(problem: Problem, arcs: Arcs, table: PartTable | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the fields `triple_first`, `triple_arcs` and `triple` of `Tables` for the tri-siblings of a problem."""
    if table is None or not len(table):
        return np.zeros(problem.arcs + 1, np.int64), np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
    order = np.argsort(table.arcs[:, 2], kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(table.arcs[:, 2], minlength=problem.arcs))])
    return first.astype(np.int64), arcs.rank_out[table.arcs[order, :2]], whole(table.score)[order]


def _combs(problem: Problem, table: PartTable | None) -> np.ndarray:
    """Return [A, 9]: scores of combs by farthest arc and length; an empty table if there are no combs."""
    if table is None or not len(table):
        return np.zeros((0, 9), np.int64)
    out = np.zeros((problem.arcs, 9), np.int64)
    out[table.arcs.max(axis=1), np.count_nonzero(table.arcs != NONE, axis=1)] = whole(table.score)
    return out


def _valency(problem: Problem, table: PartTable | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the fields `valency` and `last` of `Tables`: scores by word and number, and the largest numbers."""
    last = np.full(problem.n + 1, -1, np.int64)
    if table is None or not len(table):
        return np.zeros((problem.n + 1, 0), np.int64), last
    word, count = table.arcs.T.astype(np.int64)
    np.maximum.at(last, word, count)
    out = np.zeros((problem.n + 1, int(count.max()) + 1), np.int64)
    out[word, count] = whole(table.score)
    return out, last
