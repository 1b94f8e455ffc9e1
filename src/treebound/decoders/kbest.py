"""Exact k-best trees and exact margins of arcs with any exact decoder, by decoding problems without some arcs.

k-best trees: the trees other than the best tree z form n disjoint sets. Set i holds the trees that have the same heads
as z for words 1 .. i - 1 and another head for word i (Lawler 1972). The best tree of a set is the solution of a
decoding problem with fewer arcs. The best solution of all sets is the second-best tree, whose set is then split in the
same way. A search of a set looks only for trees that can still be among the k best. Its first bound closes most sets.

Proposition 2 of Qian & Liu (2013) would search one tree of nodes with the k best trees of the linear bound in each
node. That needs a k-best algorithm (Huang & Chiang 2005) for every backbone, and a separate search. The method here
works for all scores of a decoder and in both spaces. The decoder proves completeness once for every set.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder


@dataclass(frozen=True)
class KBest:
    """The best trees of a sentence.

    parses    the best trees, best first, at most k; fewer if the problem has fewer trees
    complete  whether it is proved that no other tree scores more than the last entry of `parses`
    solved    number of decoding problems that were solved
    """

    parses: list[Parse]
    complete: bool
    solved: int


def forbid(problem: Problem, arcs: np.ndarray) -> Problem:
    """Return `problem` with score -inf for the arcs where the mask bool[A] is True."""
    return problem.with_arc(np.where(arcs, -np.inf, problem.arc))


def best_above(decoder: Decoder, problem: Problem, floor: float) -> Parse | None:
    """Return the best tree of `problem`, or None if it is proved that no tree scores more than `floor`.

    A decoder with a method `decode_above` can stop as soon as this is proved.
    """
    search = getattr(decoder, "decode_above", None)
    if search is not None:
        return search(problem, floor)
    parse = decoder.decode(problem)
    unproved = parse.status not in ("optimal", "infeasible")
    return parse if parse.value > floor or unproved else None


def kbest(decoder: Decoder, problem: Problem, k: int) -> KBest:
    """Return the k best trees. Solves at most 1 + (k - 1) n decoding problems. Raises ValueError for k < 1.

    Examples
    --------
    >>> import treebound
    >>> from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
    >>> problem = treebound.problem([[0, 1, 3], [0, 0, 2], [0, 4, 0]])
    >>> best = kbest(BranchAndBound(), problem, 3)
    >>> [parse.value for parse in best.parses], best.complete
    ([7.0, 3.0], True)
    """
    if k < 1:
        raise ValueError(f"k = {k}: k must be at least 1")
    number = np.full((problem.n + 1, problem.n + 1), -1, np.int32)
    number[problem.head, problem.mod] = np.arange(problem.arcs)
    parses: list[Parse] = []
    complete = decoder.exact
    count = 0
    # (-value, tie break, parse, set of trees); equal values leave the heap in order of discovery. A set is stored as
    # the number of words whose heads are fixed, and further forbidden arcs: masks of arcs need n times the memory
    heap: list[tuple[float, int, Parse, tuple[int, tuple[int, ...]]]] = []

    def solve(forbidden: np.ndarray, fixed: int, excluded: tuple[int, ...]) -> None:
        """Push the best tree of a set on the heap if it can be among the k best.

        forbidden  bool[A]: arcs that the trees of the set do not use
        fixed      number of words whose heads are fixed in the set
        excluded   further arcs that the trees of the set do not use; with `fixed`, they identify the set on the heap
        """
        nonlocal complete, count
        missing = k - len(parses)
        floor = -heapq.nsmallest(missing, heap)[-1][0] if len(heap) >= missing else -np.inf
        parse = best_above(decoder, forbid(problem, forbidden), floor)
        count += 1
        if parse is None:
            return
        complete &= parse.status in ("optimal", "infeasible")
        if parse.value > floor:
            heapq.heappush(heap, (-parse.value, count, parse, (fixed, excluded)))

    solve(np.zeros(problem.arcs, np.bool_), 0, ())
    while heap and len(parses) < k:
        _, _, parse, (fixed, excluded) = heapq.heappop(heap)
        parses.append(parse)
        if len(parses) == k:
            break
        forbidden = (problem.mod <= fixed) & (parse.heads[problem.mod] != problem.head)
        forbidden[list(excluded)] = True
        for m in range(fixed + 1, problem.n + 1):
            arc = int(number[parse.heads[m], m])
            forbidden[arc] = True
            solve(forbidden, m - 1, (*excluded, arc) if m == fixed + 1 else (arc,))
            forbidden[problem.mod == m] = True
            forbidden[arc] = False
    # a search at its limit may have missed the best tree of a set, and a part of the set may have a better one
    parses.sort(key=lambda parse: -parse.value)
    return KBest(parses, complete, count)


def margins(decoder: Decoder, problem: Problem, parse: Parse, others: Iterable[Parse] = ()) -> np.ndarray:
    """Return float64[n + 1]: for each word, the best score minus the best score of a tree without the word's arc.

    Margins are in the problem's units. The margin is inf if every tree has the arc, and nan if the decoder could not
    prove it; index 0 is nan. `parse` is the best tree. `others` are known trees, such as the k best. Solves n decoding
    problems; each search looks only for a tree that beats the best known tree without the arc.
    """
    result = np.full(problem.n + 1, np.nan)
    if not parse.certified:
        return result
    known_trees = list(others)
    for m in range(1, problem.n + 1):
        floor = max((rival.value for rival in known_trees if rival.heads[m] != parse.heads[m]), default=-np.inf)
        arc = (problem.mod == m) & (problem.head == parse.heads[m])
        rival = best_above(decoder, forbid(problem, arc), floor)
        if rival is None or rival.status == "infeasible":
            result[m] = parse.value - floor
        elif rival.certified:
            result[m] = parse.value - rival.value
            known_trees.append(rival)
    return result
