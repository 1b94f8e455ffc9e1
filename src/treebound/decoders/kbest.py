"""Exact k-best trees and exact margins of arcs, with any exact decoder: the problem without some of its arcs.

k-best: the trees other than the best one z fall into n disjoint sets, set i holding the trees that agree with z on
words 1 .. i - 1 and not on word i (Lawler 1972). The best tree of each set is a decoding problem with fewer arcs; the
second best tree is the best of those, and its own set is split again. A set is searched only for a tree that can still
be among the k best: most are closed by the first bound of a search that starts with that score to beat.

Proposition 2 of Qian & Liu (2013) would search one tree of nodes with the k best trees of the linear bound in each.
That needs a k-best algorithm (Huang & Chiang 2005) for every backbone and a search of its own; what is here works for
whatever a decoder scores and in either space, and its proof of completeness is that of the decoder, once for every set.
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

    parses    best first, at most k; fewer where the problem has fewer trees
    complete  True if it is proved that no other tree scores more than the last one
    solved    number of decoding problems
    """

    parses: list[Parse]
    complete: bool
    solved: int


def forbid(problem: Problem, arcs: np.ndarray) -> Problem:
    """`problem` without the arcs where the mask bool[A] is True."""
    return problem.with_arc(np.where(arcs, -np.inf, problem.arc))


def best_above(decoder: Decoder, problem: Problem, floor: float) -> Parse | None:
    """The best tree of `problem`, None where it is proved that none scores more than `floor`.

    A decoder with a method `decode_above` saves itself the search for a tree that is not wanted.
    """
    search = getattr(decoder, "decode_above", None)
    if search is not None:
        return search(problem, floor)
    parse = decoder.decode(problem)
    unproved = parse.status not in ("optimal", "infeasible")
    return parse if parse.value > floor or unproved else None


def kbest(decoder: Decoder, problem: Problem, k: int) -> KBest:
    """The k best trees. At most 1 + (k - 1) n decoding problems. ValueError for k < 1.

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
        raise ValueError(f"k = {k}: ask for at least one tree")
    number = np.full((problem.n + 1, problem.n + 1), -1, np.int32)
    number[problem.head, problem.mod] = np.arange(problem.arcs)
    found: list[Parse] = []
    complete = decoder.exact
    count = 0
    # (-value, tie break, parse, set of trees); ties in order of discovery. A set is the number of words whose heads are
    # those of its trees, and further forbidden arcs: a mask of arcs for every set would take n times the memory
    heap: list[tuple[float, int, Parse, tuple[int, tuple[int, ...]]]] = []

    def solve(forbidden: np.ndarray, fixed: int, excluded: tuple[int, ...]) -> None:
        nonlocal complete, count
        wanted = k - len(found)
        floor = -heapq.nsmallest(wanted, heap)[-1][0] if len(heap) >= wanted else -np.inf
        parse = best_above(decoder, forbid(problem, forbidden), floor)
        count += 1
        if parse is None:
            return
        complete &= parse.status in ("optimal", "infeasible")
        if parse.value > floor:
            heapq.heappush(heap, (-parse.value, count, parse, (fixed, excluded)))

    solve(np.zeros(problem.arcs, np.bool_), 0, ())
    while heap and len(found) < k:
        _, _, parse, (fixed, excluded) = heapq.heappop(heap)
        found.append(parse)
        if len(found) == k:
            break
        forbidden = (problem.mod <= fixed) & (parse.heads[problem.mod] != problem.head)
        forbidden[list(excluded)] = True
        for m in range(fixed + 1, problem.n + 1):
            arc = int(number[parse.heads[m], m])
            forbidden[arc] = True
            solve(forbidden, m - 1, (*excluded, arc) if m == fixed + 1 else (arc,))
            forbidden[problem.mod == m] = True
            forbidden[arc] = False
    return KBest(found, complete, count)


def margins(decoder: Decoder, problem: Problem, parse: Parse, others: Iterable[Parse] = ()) -> np.ndarray:
    """float64[n + 1]: for every word, by how much the best tree beats the best tree without that word's arc.

    In the problem's units; inf where no other tree exists, nan (and at index 0) where the decoder could not prove it.
    others: trees that are known, such as the k best. n decoding problems, each a search for something better than the
    best known tree without the arc.
    """
    out = np.full(problem.n + 1, np.nan)
    if not parse.certified:
        return out
    known = list(others)
    for m in range(1, problem.n + 1):
        floor = max((other.value for other in known if other.heads[m] != parse.heads[m]), default=-np.inf)
        arc = (problem.mod == m) & (problem.head == parse.heads[m])
        other = best_above(decoder, forbid(problem, arc), floor)
        if other is None or other.status == "infeasible":
            out[m] = parse.value - floor
        elif other.certified:
            out[m] = parse.value - other.value
            known.append(other)
    return out
