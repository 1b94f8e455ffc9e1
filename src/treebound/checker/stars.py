"""Upper bounds on the score of a head with its modifiers, in simple exact arithmetic; shared with no decoder.

A star is a word h with the arc x into h and the set M of arcs out of h. The multipliers u and w belong to the two
roles of every arc: as a modifier of its head, and as the arc into its own word (Koo et al. 2010). Whatever u and w are,

    sum of the scores at all heads  <=  sum_a (u_a + w_a) z_a  +  sum_h max_{x, M} S_h(x, M) - w_x - sum_{m in M} u_m,

because a tree has exactly one x and one M at each word.
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
#: families whose parts link modifiers that are not consecutive, so that a dynamic program along the modifiers fails
SET_FAMILIES = frozenset({"sibling", "tri-sibling"})
IMPOSSIBLE = 10**30  #: a loss that exceeds any score


class Stars:
    """The stars of a problem, scored by some families.

    tables      parts of the families, all in STAR_FAMILIES
    projective  whether an arc into h and an arc out of h that cross exclude each other
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
        #: word -> the largest count that has a part; it also stands for all larger counts
        self.last_count: dict[int, int] = {}
        for h, count in self.scores["valency"]:
            self.last_count[h] = max(count, self.last_count.get(h, 0))

    def total(
        self, remaining: set[int], certain: set[int], u: Sequence[Number], w: Sequence[Number]
    ) -> tuple[Number, list[Number]]:
        """Return (sum of the best stars over all heads, loss of every arc).

        The score of a star is S_h(x, M) - w_x - sum_M u_m. The loss of an arc x is the amount by which the score of
        the best star of its dependent falls if the star must contain x. The sum is -inf if some word has no star. The
        loss is IMPOSSIBLE if an arc has no star.

        remaining  arcs that may be in a tree
        certain    remaining arcs that are the only one into their word
        u, w       multipliers of every arc
        """
        into: list[list[int]] = [[] for _ in range(self.n + 1)]
        out: list[list[int]] = [[] for _ in range(self.n + 1)]
        for a in sorted(remaining):
            h, m = self.ends[a]
            into[m].append(a)
            out[h].append(a)
        total: Number = 0
        loss: list[Number] = [0] * len(self.ends)
        for h in range(self.n + 1):
            star_scores: dict[int, Number] = {}
            for x in into[h] if h else [NONE]:
                below = [a for a in out[h] if self._compatible(x, a)]
                if all(a in below for a in out[h] if a in certain):
                    star_scores[x] = self._best(h, x, below, certain, u) - (w[x] if h else 0)
            best = max(star_scores.values(), default=-math.inf)
            if best == -math.inf:
                return -math.inf, loss
            total += best
            for x in into[h]:
                value = star_scores.get(x, -math.inf)
                loss[x] = best - value if value > -math.inf else IMPOSSIBLE
        return total, loss

    def _compatible(self, x: int, a: int) -> bool:
        """Return whether a tree can contain arc x and also arc a, which leaves the dependent of x."""
        if x == NONE:
            return True
        (g, h), (_, m) = self.ends[x], self.ends[a]
        crossing = self.projective and (m > h) == (g > h) and abs(m - h) > abs(g - h)
        return m != g and not crossing

    def _best(self, h: int, x: int, modifiers: list[int], certain: set[int], u: Sequence[Number]) -> Number:
        """Return the best S_h(x, M) - sum_M u_m over subsets M of `modifiers` that include all certain ones."""
        left = [a for a in modifiers if self.ends[a][1] < h]
        right = modifiers[len(left) :]
        if self.sets and h:
            return _SetSearch(self, h, x, left, right, certain, u).best
        left_scores, right_scores = self._side(h, x, -1, left, certain, u), self._side(h, x, +1, right, certain, u)
        return max(a + b + self.count_score(h, i + j) for i, a in left_scores.items() for j, b in right_scores.items())

    def _side(
        self, h: int, x: int, side: int, arcs: list[int], certain: set[int], u: Sequence[Number]
    ) -> dict[int, Number]:
        """Return the best score of one side of h for each number of modifiers. The arcs are ordered from near to far.

        The number is always 0 if no score depends on it.
        """
        counted = h == 0 or h in self.last_count
        # (run of neighbouring modifiers at the end, count) -> best score
        states: dict[tuple[tuple[int, ...], int], Number] = {((), 0): 0}
        for a in arcs:
            new = {} if a in certain else dict(states)
            for (run, count), value in states.items():
                longer = self.extended(run, a)
                value = value + self.gain(x, run[-1] if run else NONE, a) - u[a] + self.comb_scores(longer)
                key = (longer if self.scores["comb"] else (a,), count + 1 if counted else 0)
                new[key] = max(value, new.get(key, -math.inf))
            states = new
        best: dict[int, Number] = {}
        for (run, count), value in states.items():
            value = value + self.end(h, x, side, run[-1] if run else NONE)
            best[count] = max(value, best.get(count, -math.inf))
        return best

    def gain(self, x: int, s: int, a: int) -> Number:
        """Return the score that modifier a adds if it follows modifier s, or if it is the first modifier (s is NONE).

        The scores of pairs, triples and combs of siblings are excluded.
        """
        scores = self.scores
        return (
            scores["adjacent-sibling"].get((s, a), 0)
            + scores["grandchild"].get((x, a), 0)
            + scores["grand-sibling"].get((x, s, a), 0)
        )

    def end(self, h: int, x: int, side: int, last: int) -> Number:
        """Return the score that the farthest modifier of a side adds; `last` is NONE if the side has none."""
        if last == NONE and x != NONE:
            last = NONE if (self.ends[x][0] > h) == (side > 0) else NONE_OUTER
        return self.scores["outermost-grandchild"].get((x, last), 0)

    def extended(self, run: tuple[int, ...], a: int) -> tuple[int, ...]:
        """Return `run` followed by a, or a alone if the modifiers of a and of the last arc are not neighbouring words.

        The result is cut to the length of the longest comb.
        """
        next_to = run and abs(self.ends[run[-1]][1] - self.ends[a][1]) == 1
        return ((*run, a) if next_to else (a,))[-LONGEST_COMB:]

    def comb_scores(self, run: tuple[int, ...]) -> Number:
        """Return the scores of the combs that the last modifier of a run completes."""
        combs = self.scores["comb"]
        return sum(combs.get(run[i:], 0) for i in range(len(run))) if combs else 0

    def count_score(self, h: int, count: int) -> Number:
        """Return the scores that depend on the number of modifiers alone.

        They are valency, and at the root 0 for a possible number of roots and -inf for any other number.
        """
        if h == 0:
            return 0 if count == 1 or (count > 1 and not self.single_root) else -math.inf
        if h not in self.last_count:
            return 0
        return self.scores["valency"].get((h, min(count, self.last_count[h])), 0)


class _SetSearch:
    """An exact search for the best modifiers of a head, if pairs or triples of modifiers have scores.

    `best` is the score of the best modifiers. The search is depth-first. Its bound adds three scores for each undecided
    modifier: the largest score that it can add without pairs, its pairs with chosen modifiers, and half of each
    positive pair with another undecided modifier. The time is exponential in the number of modifiers in the worst case.
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
        #: the largest gain of each modifier, without pairs
        free = [self._most(left if i < self.turn else right, a) for i, a in enumerate(self.arcs)]
        for i, a in enumerate(self.arcs):
            free[i] += sum(s for (*_, last), s in triples.items() if last == a and s > 0)
        self.positive = [[max(0, p) for p in row] for row in self.pair]
        ends = [
            stars.end(h, x, side, last)
            for side, arcs_of_side in ((-1, left), (1, right))
            for last in (NONE, *arcs_of_side)
        ]
        self.most_ends = 2 * max(0, *ends)  # for both sides together
        self.most_count = [max(stars.count_score(h, c) for c in range(c0, size + 1)) for c0 in range(size + 1)]
        self._visit(0, [], (), 0, [2 * free[i] + sum(self.positive[i]) for i in range(size)])

    def _most(self, side: list[int], a: int) -> Number:
        """Return an upper bound on the score that modifier a adds, without pairs and triples of modifiers.

        side  the possible modifiers on the side of a, from near to far
        """
        nearer = side[: side.index(a)]
        combs = sum(s for arcs, s in self.stars.scores["comb"].items() if arcs[-1] == a and s > 0)
        return max(self.stars.gain(self.x, s, a) for s in (NONE, *nearer)) - self.u[a] + combs

    def _visit(self, i: int, chosen: list[int], run: tuple[int, ...], value: Number, gain: list[Number]) -> None:
        """Search the sets with modifier i, and the sets without modifier i if it may be left out.

        chosen  positions of the chosen modifiers
        run     the last chosen modifiers that are neighbours, see `Stars.extended`
        value   score of the chosen modifiers
        gain    gain[j], for j >= i, is twice an upper bound on the gain of modifier j; half of each positive pair
                with another undecided modifier is included
        """
        stars = self.stars
        if i == self.turn:  # the left side is complete
            value = value + stars.end(self.h, self.x, -1, run[-1] if run else NONE)
            run = ()
        if i == len(self.arcs):
            value = value + stars.end(self.h, self.x, +1, run[-1] if run else NONE)
            self.best = max(self.best, value + stars.count_score(self.h, len(chosen)))
            return
        open_gain = sum(g if must else max(0, g) for g, must in zip(gain[i:], self.must[i:], strict=True))
        if 2 * (value + self.most_count[len(chosen)] + self.most_ends) + open_gain <= 2 * self.best:
            return
        a = self.arcs[i]
        with_a = [g + 2 * p - q for g, p, q in zip(gain, self.pair[i], self.positive[i], strict=True)]
        without = [g - q for g, q in zip(gain, self.positive[i], strict=True)]
        triples = stars.scores["tri-sibling"]
        added = stars.gain(self.x, run[-1] if run else NONE, a) - self.u[a] + sum(self.pair[i][j] for j in chosen)
        if triples:
            added += sum(
                triples.get((self.arcs[j], self.arcs[k], a), 0) for y, k in enumerate(chosen) for j in chosen[:y]
            )
        longer = stars.extended(run, a)
        take = (i + 1, [*chosen, i], longer, value + added + stars.comb_scores(longer), with_a)
        # run keeps the last chosen modifier if a is left out; it is then no neighbour of the modifiers after a
        leave = (i + 1, chosen, run, value, without)
        for branch in (take, leave) if gain[i] > 0 or self.must[i] else (leave, take):
            if branch is take or not self.must[i]:
                self._visit(*branch)
