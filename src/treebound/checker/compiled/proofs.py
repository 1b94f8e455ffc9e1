"""Application of the steps of a proof to regions in int64: the compiled arithmetic of `certificates`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from treebound.checker.chart import HEAD_FAMILIES, Number
from treebound.checker.compiled import arborescences, bounds, charts, stars
from treebound.checker.compiled.tables import LARGEST, NO, Arcs, Tables, TooLarge, index, tables, whole
from treebound.checker.majorants import PRODUCT_FAMILIES
from treebound.checker.stars import STAR_FAMILIES
from treebound.core.certificate import Step
from treebound.core.problem import PartTable, Problem


@dataclass(frozen=True)
class WholeBound:
    """An upper bound on the score of every tree, in integers.

    The bound is constant + sum of arc[a] over the tree's arcs a + sum of pair[p] over its adjacent pairs p.

    arc   int64[A]
    pair  int64, indexed by positions in `Tables.adjacent`; empty if no pair has a score
    dead  bool[A]: arcs that no tree has
    some  whether any tree may exist
    """

    constant: int
    arc: np.ndarray
    pair: np.ndarray
    dead: np.ndarray
    some: bool = True


@dataclass(frozen=True)
class _Trees:
    """Base class of `Projective` and `Crossing`, which stores the remaining arcs."""

    alive: np.ndarray  #: bool[A]

    @property
    def arcs(self) -> Set[int]:
        """Return the remaining arcs; see `regions.Region`."""
        return set(np.flatnonzero(self.alive).tolist())

    @property
    def empty(self) -> bool:
        """Return whether no arc remains; see `regions.Region`."""
        return not self.alive.any()


@dataclass(frozen=True)
class Projective(_Trees):
    """A region of projective trees: the remaining edges of a chart."""

    edges: charts.Edges

    def without(self, arcs: Set[int]) -> Self:
        """Return the region of the trees that use none of `arcs`; see `regions.Region`."""
        if not arcs:
            return self
        removed = np.zeros(len(self.alive) + 1, bool)  # the last entry is for edges without an arc
        removed[list(arcs)] = True
        return self._keep(~removed[self.edges.arc])

    def above(self, bound: WholeBound | None, threshold: Number) -> Self:
        """Return the region reduced to the edges of trees whose bound exceeds `threshold`; see `regions.Region`."""
        if bound is None:
            return self._keep(charts.above(self.edges, np.zeros(len(self.alive), np.int64), np.zeros(0, np.int64), NO))
        if not bound.some:
            return self._keep(np.zeros(len(self.edges.arc), bool))
        region = self.without(set(np.flatnonzero(bound.dead & self.alive).tolist())) if bound.dead.any() else self
        return region._keep(charts.above(region.edges, bound.arc, bound.pair, _over(threshold, bound.constant)))

    def _keep(self, keep: np.ndarray) -> Self:
        """Return the region with only the edges that the mask `keep` selects."""
        if keep.all():
            return self
        head, left, right, arc, pair, score = (x[keep] for x in self.edges[:-1])
        edges = charts.Edges(head, left, right, arc, pair, score, self.edges.items)
        alive = np.zeros(len(self.alive) + 1, bool)
        alive[edges.arc] = True
        return replace(self, edges=edges, alive=alive[:-1])


@dataclass(frozen=True)
class Crossing(_Trees):
    """A region of non-projective trees: the trees over the remaining arcs."""

    arcs_of: Arcs
    n: int
    single_root: bool

    def without(self, arcs: Set[int]) -> Self:
        """Return the region of the trees that use none of `arcs`; see `regions.Region`."""
        alive = self.alive.copy()
        alive[list(arcs)] = False
        return replace(self, alive=alive)

    def above(self, bound: WholeBound | None, threshold: Number) -> Self:
        """Return the region reduced to the arcs of trees whose bound exceeds `threshold`; see `regions.Region`."""
        if bound is None:
            return self._reached(self.alive, np.zeros(len(self.alive), np.int64), NO)
        if not bound.some:
            return replace(self, alive=np.zeros(len(self.alive), bool))
        return self._reached(self.alive & ~bound.dead, bound.arc, _over(threshold, bound.constant))

    def _reached(self, alive: np.ndarray, score: np.ndarray, threshold: int) -> Self:
        """Return the region of the arcs whose best tree exceeds a threshold. Raises TooLarge if sums might overflow."""
        total = float(np.abs(score.astype(float)).sum())
        if 12 * self.n * (total + 1) > 2.0**60:
            raise TooLarge
        arcs = self.arcs_of
        reached = arborescences.reach(self.n, self.single_root, arcs.head, arcs.mod, alive, score, threshold)
        return replace(self, alive=reached)


def _over(threshold: Number, constant: int) -> int:
    """Return threshold - constant, the number that the arc scores of a tree must exceed in sum; NO for -inf."""
    if threshold == -math.inf:
        return NO
    if abs(float(threshold)) > LARGEST or abs(constant) > 2.0**56:
        raise TooLarge
    return int(threshold) - constant


class WholeNumbers:
    """The arithmetic of a check in int64, for one problem with integer scores.

    bounded     family -> parts to bound
    exact       families that the chart scores
    projective  whether trees are projective

    The constructor and the methods raise TooLarge if a number does not fit.
    """

    def __init__(self, problem: Problem, bounded: Mapping[str, PartTable], exact: Set[str], projective: bool):
        self.problem, self.bounded, self.projective = problem, bounded, projective
        self.exact = {family: table for family, table in problem.parts.items() if family in exact}
        self.heads = bool(exact & HEAD_FAMILIES)
        self.arcs = index(problem)
        arc = whole(problem.arc)
        self.possible = arc != NO
        self.arc = np.where(self.possible, arc, 0)  # no tree has a forbidden arc, so its score does not matter
        deg = np.diff(self.arcs.out_first)
        self.pair_at = np.concatenate([[0], np.cumsum((deg + 1) * deg)[:-1]])
        self.pairs = int(((deg + 1) * deg).sum())
        self.phi = {family: whole(table.score) for family, table in bounded.items()}
        self.stars: dict[frozenset[str], tuple[Tables, stars.Known]] = {}
        self.places = {family: self._places(table) for family, table in bounded.items() if family in PRODUCT_FAMILIES}
        if "grand-sibling" in bounded:
            self.places["grand-sibling"] = self._places(bounded["grand-sibling"])

    def start(self) -> Projective | Crossing:
        """Return the region of all trees that use no forbidden arc."""
        problem = self.problem
        if not self.projective:
            return Crossing(self.possible, self.arcs, problem.n, problem.single_root)
        chart_scores = tables(problem, self.arcs, self.exact)
        rows, items = charts.build(
            problem.n, problem.single_root, self.possible, self.arcs, chart_scores, self.heads, self.pair_at
        )
        head, left, right, arc = rows[:, :4].T.astype(np.int32)
        edges = charts.Edges(head, left, right, arc, rows[:, 4].copy(), rows[:, 5].copy(), int(items))
        alive = np.zeros(problem.arcs + 1, bool)
        alive[edges.arc] = True
        return Projective(alive[:-1], edges)

    def bound(self, step: Step, region: Projective | Crossing) -> WholeBound:
        """Return the bound of a step, as `majorants.majorant` does.

        Raises TooLarge also for an invalid step, so that the plain version reports the reason.
        """
        alive = region.alive & self.possible
        rivals = np.bincount(self.arcs.mod[alive], minlength=self.problem.n + 1)
        certain = alive & (rivals[self.arcs.mod] == 1)
        arc, constant = self.arc.copy(), 0
        pair = np.zeros(self.pairs if "grand-sibling" in step.shares else 0, np.int64)
        dead, some = np.zeros(len(arc), bool), True
        shift = None
        if step.shift is not None:
            shift = self._numbers(step.shift, (len(arc),))
            in_star = step.child is not None and "grandchild" not in step.shares
            if "grandchild" not in self.bounded or in_star or shift[self.arcs.head == 0].any():
                raise TooLarge
            arc += shift
        in_stars = []
        for family, table in self.bounded.items():
            if not len(table):
                continue
            if family in step.shares and family in self.places:
                constant += self._add_products(family, table, step.shares[family], shift, arc, pair)
            elif family == "valency" and step.slope is not None:
                slope = self._numbers(step.slope, (self.problem.n + 1,))
                scores = self._tables(frozenset(["valency"]))[0]
                added = int(bounds.add_valency(self.arcs, scores, slope, alive, certain, arc))
                some &= added != NO
                constant += added
            elif family in STAR_FAMILIES and step.child is not None and step.parent is not None:
                in_stars.append(family)
            else:
                raise TooLarge
        if step.child is not None and step.parent is not None and some:
            u, w = (self._numbers(x, (len(arc),)) for x in (step.child, step.parent))
            scores, known = self._tables(frozenset(in_stars))
            loss = np.zeros(len(arc), np.int64)
            rules = stars.Rules(self.problem.single_root, self.projective)
            star_total = stars.total(rules, self.arcs, scores, known, (alive, certain), (u, w), loss)
            some = star_total != NO
            dead = loss == NO
            # a tree has exactly one arc into every word, so the loss of the word's star is subtracted from this arc
            arc += u + w - np.where(dead, 0, loss)
            constant += int(star_total)
        # sums over a derivation, which has fewer than 5 n + 5 edges, must fit into int64
        if (
            some
            and float(max(np.abs(arc).max(initial=0), np.abs(pair).max(initial=0))) * 5 * (len(rivals) + 5) > 2.0**58
        ):
            raise TooLarge
        return WholeBound(constant, arc, pair, dead, some)

    def _add_products(
        self,
        family: str,
        table: PartTable,
        shares: np.ndarray,
        shift: np.ndarray | None,
        arc: np.ndarray,
        pair: np.ndarray,
    ) -> int:
        """Bound the parts of a family: add their shares to `arc` and `pair`, and return the constant of the bound.

        shift  numbers subtracted from the scores of grandchild parts, by their second arc; None for none
        """
        phi = self.phi[family]
        first, second = self.places[family]
        if shares.ndim == 1:
            if len(first) != len(table):
                raise TooLarge
            share = self._numbers(shares, (len(table),))
            if shift is not None and family == "grandchild":
                phi = np.where(phi == NO, NO, phi - shift[second])
            scores = pair if family == "grand-sibling" else arc
            wrong, constant = bounds.add_pairs(first, second, phi, share, arc, scores)
        else:
            if family == "grand-sibling":
                raise TooLarge
            share = self._numbers(shares, table.arcs.shape)
            if shift is not None and family == "grandchild":
                phi = np.where(phi == NO, NO, phi - shift[table.arcs[:, 1]])
            wrong, constant = bounds.add_rows(table.arcs, phi, share, arc)
        if wrong >= 0:
            raise TooLarge
        return int(constant)

    def _places(self, table: PartTable) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays: the positions to which the first and the second share of each part are added.

        The arrays are empty if parts do not have two shares.
        """
        nothing = np.zeros(0, np.int64)
        if table.family == "grand-sibling":
            x, s, b = table.arcs.astype(np.int64).T
            if not self.projective:
                return nothing, nothing
            h = self.arcs.head[b]
            deg = np.diff(self.arcs.out_first)[h]
            nearer = np.where(s < 0, 0, self.arcs.rank_out[s] + 1)
            return x, self.pair_at[h] + self.arcs.rank_out[b] * (deg + 1) + nearer
        if table.arcs.shape[1] != 2 or (table.arcs < 0).any():
            return nothing, nothing
        first, second = table.arcs.astype(np.int64).T
        return first.copy(), second.copy()

    def _tables(self, families: frozenset[str]) -> tuple[Tables, stars.Known]:
        """Return the look-up tables of the given families, and the star scores stored from earlier steps."""
        if families not in self.stars:
            parts = {family: self.bounded[family] for family in families}
            known = stars.nothing_known(self.problem.arcs)
            self.stars[families] = tables(self.problem, self.arcs, parts), known
        return self.stars[families]

    @staticmethod
    def _numbers(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of integers as int64. Raises TooLarge if one does not fit."""
        if values.shape != shape:
            raise TooLarge
        if values.dtype.kind not in "iuf" or not float(np.abs(values.astype(float)).sum()) <= LARGEST:
            raise TooLarge
        out = values.astype(np.int64)
        if values.dtype.kind == "f" and (out != values).any():
            raise TooLarge
        return out
