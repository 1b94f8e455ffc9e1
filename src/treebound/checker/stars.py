"""What one head and its modifiers can score at most, in plain exact arithmetic; shared with no decoder.

A star is a word h with the arc x into it and the set M of arcs out of it. With multipliers u, w for every arc in its
two roles, as a modifier of its head and as the arc into its own word (Koo et al. 2010),

    sum of the scores at all heads  <=  sum_a (u_a + w_a) z_a  +  sum_h max_{x, M} S_h(x, M) - w_x - sum_{m in M} u_m,

whatever u and w are: a tree has exactly one x and one M at each word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from treebound.checker.chart import Number, exact_number
from treebound.core.problem import LONGEST_COMB, NONE, NONE_OUTER, PartTable, Problem

#: families whose parts have one head, with or without the arc into it
STAR_FAMILIES = frozenset(
    {
        "adjacent-sibling",
        "outermost-grandchild",
        "grandchild",
        "grand-sibling",
        "sibling",
        "tri-sibling",
        "comb",
        "valency",
    }
)
#: parts of these hold together modifiers that are not neighbours: no dynamic program along the modifiers
SET_FAMILIES = frozenset({"sibling", "tri-sibling"})
IMPOSSIBLE = 10**30  #: larger than any score


class Stars:
    """The stars of a problem, scored by some families.

    tables      the families' parts, all in STAR_FAMILIES
    projective  an arc into h and an arc out of h that cross are in no tree together
    """

    def __init__(self, problem: Problem, tables: Iterable[PartTable], projective: bool):
        number = exact_number(problem)
        self.ends = list(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))
        self.n, self.single_root, self.projective = problem.n, problem.single_root, projective
        self.scores: dict[str, dict[tuple[int, ...], Number]] = {family: {} for family in STAR_FAMILIES}
        for table in tables:
            rows = zip(table.arcs.tolist(), table.score.tolist(), strict=True)
            if table.family == "comb":
                self.scores["comb"] = {tuple(sorted(a for a in arcs if a != NONE)): number(s) for arcs, s in rows}
            else:
                self.scores[table.family] = {tuple(arcs): number(s) for arcs, s in rows}
        self.sets = any(self.scores[family] for family in SET_FAMILIES)
        #: word -> the largest count that has a part: it stands for all above
        self.last_count: dict[int, int] = {}
        for h, count in self.scores["valency"]:
            self.last_count[h] = max(count, self.last_count.get(h, 0))

    def total(
        self, left: set[int], certain: set[int], u: Sequence[Number], w: Sequence[Number]
    ) -> tuple[Number, list[Number]]:
        """(sum over all heads of the best S_h(x, M) - w_x - sum_M u_m, for every arc a what of it is lost if x is a).

        The sum is -inf where some word has no star; what is lost by an arc without a star is more than all scores.
        left     arcs that may be in a tree; certain, among them: those that are the only one into their word
        """
        into: list[list[int]] = [[] for _ in range(self.n + 1)]
        out: list[list[int]] = [[] for _ in range(self.n + 1)]
        for a in sorted(left):
            h, m = self.ends[a]
            into[m].append(a)
            out[h].append(a)
        total: Number = 0
        loss: list[Number] = [0] * len(self.ends)
        for h in range(self.n + 1):
            found: dict[int, Number] = {}
            for x in into[h] if h else [NONE]:
                below = [a for a in out[h] if self._below(x, a)]
                if all(a in below for a in out[h] if a in certain):
                    found[x] = self._best(h, x, below, certain, u) - (w[x] if h else 0)
            best = max(found.values(), default=-math.inf)
            if best == -math.inf:
                return -math.inf, loss
            total += best
            for x in into[h]:
                value = found.get(x, -math.inf)
                loss[x] = best - value if value > -math.inf else IMPOSSIBLE
        return total, loss

    def _below(self, x: int, a: int) -> bool:
        """Can arc a hang below arc x in a tree?"""
        if x == NONE:
            return True
        (g, h), (_, m) = self.ends[x], self.ends[a]
        crossing = self.projective and (m > h) == (g > h) and abs(m - h) > abs(g - h)
        return m != g and not crossing

    def _best(self, h: int, x: int, modifiers: list[int], certain: set[int], u: Sequence[Number]) -> Number:
        """The best S_h(x, M) - sum_M u_m over sets M of `modifiers`, those that are certain included."""
        left = [a for a in modifiers if self.ends[a][1] < h]
        right = modifiers[len(left) :]
        if self.sets and h:
            return _SetSearch(self, h, x, left, right, certain, u).best
        first, second = self._side(h, x, -1, left, certain, u), self._side(h, x, +1, right, certain, u)
        return max(a + b + self.of_count(h, i + j) for i, a in first.items() for j, b in second.items())

    def _side(
        self, h: int, x: int, side: int, arcs: list[int], certain: set[int], u: Sequence[Number]
    ) -> dict[int, Number]:
        """Number of modifiers (0 where nothing depends on it) -> the best score of one side, near to far."""
        counted = h == 0 or h in self.last_count
        states: dict[tuple[tuple[int, ...], int], Number] = {((), 0): 0}  # (neighbours that end here, count)
        for a in arcs:
            new = {} if a in certain else dict(states)
            for (run, count), value in states.items():
                longer = self.extended(run, a)
                value = value + self.gain(x, run[-1] if run else NONE, a) - u[a] + self.of_run(longer)
                key = (longer if self.scores["comb"] else (a,), count + 1 if counted else 0)
                new[key] = max(value, new.get(key, -math.inf))
            states = new
        best: dict[int, Number] = {}
        for (run, count), value in states.items():
            value = value + self.end(h, x, side, run[-1] if run else NONE)
            best[count] = max(value, best.get(count, -math.inf))
        return best

    def gain(self, x: int, s: int, a: int) -> Number:
        """What a modifier a that follows s (NONE: that comes first) adds; sets of siblings aside."""
        scores = self.scores
        return (
            scores["adjacent-sibling"].get((s, a), 0)
            + scores["grandchild"].get((x, a), 0)
            + scores["grand-sibling"].get((x, s, a), 0)
        )

    def end(self, h: int, x: int, side: int, last: int) -> Number:
        """What the farthest modifier of a side adds, NONE where there is none."""
        if last == NONE and x != NONE:
            last = NONE if (self.ends[x][0] > h) == (side > 0) else NONE_OUTER
        return self.scores["outermost-grandchild"].get((x, last), 0)

    def extended(self, run: tuple[int, ...], a: int) -> tuple[int, ...]:
        """The run of neighbouring modifiers that ends in a, as far as a comb reaches."""
        next_to = run and abs(self.ends[run[-1]][1] - self.ends[a][1]) == 1
        return ((*run, a) if next_to else (a,))[-LONGEST_COMB:]

    def of_run(self, run: tuple[int, ...]) -> Number:
        """The combs that the last modifier of a run completes."""
        combs = self.scores["comb"]
        return sum(combs.get(run[i:], 0) for i in range(len(run))) if combs else 0

    def of_count(self, h: int, count: int) -> Number:
        """What depends on the number of modifiers alone: valency, and that a tree has a root, or a single one."""
        if h == 0:
            return 0 if count == 1 or (count > 1 and not self.single_root) else -math.inf
        if h not in self.last_count:
            return 0
        return self.scores["valency"].get((h, min(count, self.last_count[h])), 0)


class _SetSearch:
    """The best modifiers of a head where pairs and triples of them score: depth first, bounded by every modifier's own
    gain plus half its positive pairs. `best` is exact. Exponential in the number of modifiers at worst.
    """

    def __init__(
        self,
        stars: Stars,
        h: int,
        x: int,
        left: list[int],
        right: list[int],
        certain: set[int],
        u: Sequence[Number],
    ):
        self.stars, self.h, self.x, self.u = stars, h, x, u
        self.arcs, self.turn = left + right, len(left)
        self.must = [a in certain for a in self.arcs]
        self.best: Number = -math.inf
        size = len(self.arcs)
        pairs, triples = stars.scores["sibling"], stars.scores["tri-sibling"]
        self.pair = [[pairs.get((min(a, b), max(a, b)), 0) if a != b else 0 for b in self.arcs] for a in self.arcs]
        #: the most that a modifier can add, its pairs aside
        free = [self._most(left if i < self.turn else right, a) for i, a in enumerate(self.arcs)]
        for i, a in enumerate(self.arcs):
            free[i] += sum(s for (*_, last), s in triples.items() if last == a and s > 0)
        self.positive = [[max(0, p) for p in row] for row in self.pair]
        ends = [stars.end(h, x, side, last) for side, own in ((-1, left), (1, right)) for last in (NONE, *own)]
        self.most_ends = 2 * max(0, *ends)  # of both sides
        self.most_count = [max(stars.of_count(h, c) for c in range(c0, size + 1)) for c0 in range(size + 1)]
        self._visit(0, [], (), 0, [2 * free[i] + sum(self.positive[i]) for i in range(size)])

    def _most(self, side: list[int], a: int) -> Number:
        nearer = side[: side.index(a)]
        combs = sum(s for arcs, s in self.stars.scores["comb"].items() if arcs[-1] == a and s > 0)
        return max(self.stars.gain(self.x, s, a) for s in (NONE, *nearer)) - self.u[a] + combs

    def _visit(self, i: int, chosen: list[int], run: tuple[int, ...], value: Number, gain: list[Number]) -> None:
        """Decide modifier i. chosen: places of the modifiers taken; run: as in `Stars`; value: what they score.

        gain[j], doubled: what modifier j >= i can add to them at most, pairs with other open ones counted half.
        """
        stars = self.stars
        if i == self.turn:  # the left side is complete
            value = value + stars.end(self.h, self.x, -1, run[-1] if run else NONE)
            run = ()
        if i == len(self.arcs):
            value = value + stars.end(self.h, self.x, +1, run[-1] if run else NONE)
            self.best = max(self.best, value + stars.of_count(self.h, len(chosen)))
            return
        rest = sum(g if must else max(0, g) for g, must in zip(gain[i:], self.must[i:], strict=True))
        if 2 * (value + self.most_count[len(chosen)] + self.most_ends) + rest <= 2 * self.best:
            return
        a = self.arcs[i]
        with_a = [g + 2 * p - q for g, p, q in zip(gain, self.pair[i], self.positive[i], strict=True)]
        without = [g - q for g, q in zip(gain, self.positive[i], strict=True)]
        triples = stars.scores["tri-sibling"]
        more = stars.gain(self.x, run[-1] if run else NONE, a) - self.u[a] + sum(self.pair[i][j] for j in chosen)
        if triples:
            more += sum(
                triples.get((self.arcs[j], self.arcs[k], a), 0) for y, k in enumerate(chosen) for j in chosen[:y]
            )
        longer = stars.extended(run, a)
        take = (i + 1, [*chosen, i], longer, value + more + stars.of_run(longer), with_a)
        # run keeps the nearest modifier even where a is left out: it is then no neighbour of what follows
        leave = (i + 1, chosen, run, value, without)
        for branch in (take, leave) if gain[i] > 0 or self.must[i] else (leave, take):
            if branch is take or not self.must[i]:
                self._visit(*branch)
