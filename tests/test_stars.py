"""Head stars against every choice of an arc into a word and arcs out of it; Lagrangian bounds against all trees."""

from __future__ import annotations

from itertools import combinations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from strategies import KINDS, arcs_in_order, draw

from treebound.core.problem import NONE, NONE_OUTER
from treebound.kernels.arcs import index_arcs
from treebound.kernels.hypergraph import NEG
from treebound.kernels.parts import (
    ADJACENT_SIBLING,
    COMB,
    GRAND_SIBLING,
    GRANDCHILD,
    OUTERMOST_GRANDCHILD,
    SIBLING,
    TRI_SIBLING,
    VALENCY,
    index_parts,
    list_parts,
)
from treebound.kernels.stars import solve_stars, star_scratch, star_tables

CHAIN = {
    "adjacent-sibling": ADJACENT_SIBLING,
    "outermost-grandchild": OUTERMOST_GRANDCHILD,
    "grandchild": GRANDCHILD,
    "grand-sibling": GRAND_SIBLING,
    "valency": VALENCY,
}
SETS = {"sibling": SIBLING, "tri-sibling": TRI_SIBLING, "comb": COMB}
CODES = CHAIN | SETS


class Case:
    """Random stars of a sentence: arcs, some of them dead, parts with scores, multipliers."""

    def __init__(self, rng, families, max_n=6, kind=None, forbidden=0.0):
        n = self.n = int(rng.integers(1, max_n + 1))
        allowed = rng.random((n + 1, n + 1)) < rng.choice([0.4, 0.8, 1.0])
        self.head, self.mod = arcs_in_order(allowed & ~np.eye(n + 1, dtype=bool))
        self.single_root, self.projective = bool(rng.random() < 0.5), bool(rng.random() < 0.5)
        self.integer = bool(rng.random() < 0.7)
        kind = str(rng.choice(KINDS)) if kind is None else kind
        mask = np.zeros((n + 1, n + 1), bool)
        mask[self.head, self.mod] = True
        self.index = index_arcs(n, mask)
        self.parts = index_parts(self.index, self.single_root, self.projective)
        self.arcs, self.score = {}, {}
        for family in families:
            self.arcs[family] = list_parts(CODES[family], self.index, self.parts)[0]
            score = draw(rng, len(self.arcs[family]), kind, self.integer, forbidden)
            self.score[family] = np.where(np.isneginf(score), NEG, score)
        A = len(self.head)
        self.u, self.w = (draw(rng, A, kind, self.integer) for _ in range(2))
        self.alive = rng.random(A) < rng.choice([0.6, 1.0])
        self.tables = star_tables(self.index, self.score, self.arcs.get("comb", np.empty((0, 8), np.int32)))

    def solve(self, dirty=None, node_limit=100_000):
        A = len(self.head)
        value, x = np.full(self.n + 1, 7.0), np.full(self.n + 1, 7, np.int32)
        y, x_bound = np.full(A, 7, np.int8), np.full(A, 7.0)
        dirty = np.ones(self.n + 1, bool) if dirty is None else dirty
        over, _ = solve_stars(
            self.index, self.parts, self.tables, self.alive, self.u, self.w, dirty, value, x, y, x_bound, node_limit,
            1.0 if self.integer else 0.0, star_scratch(self.index, "tri-sibling" in self.score),
        )  # fmt: skip
        return over, value, x, y, x_bound

    def star_score(self, h, x, modifiers):
        """Score of one star without multipliers, from the lists of parts."""
        table = {
            f: {tuple(map(int, r)): float(s) for r, s in zip(self.arcs[f], self.score[f], strict=True)}
            for f in self.arcs
        }
        near = {a: abs(int(self.mod[a]) - h) for a in modifiers}
        sides = [sorted((a for a in modifiers if (self.mod[a] < h) == left), key=near.get) for left in (True, False)]
        total = 0.0
        for left, side in zip((True, False), sides, strict=True):
            for s, a in zip([NONE, *side], side, strict=False):
                if "adjacent-sibling" in table and not (h == 0 and self.single_root):
                    total += table["adjacent-sibling"][s, a]
                if "grand-sibling" in table and h > 0:
                    total += table["grand-sibling"][x, s, a]
                if "grandchild" in table and h > 0:
                    total += table["grandchild"][x, a]
            if "outermost-grandchild" in table and h > 0:
                none = NONE if (self.head[x] < h) == left else NONE_OUTER
                total += table["outermost-grandchild"][x, side[-1] if side else none]
        if "sibling" in table and h > 0:
            total += sum(table["sibling"][pair] for pair in combinations(sorted(modifiers), 2))
        if "tri-sibling" in table and h > 0:
            total += sum(table["tri-sibling"][triple] for triple in combinations(sorted(modifiers), 3))
        if "comb" in table:
            total += sum(s for row, s in table["comb"].items() if set(row) <= {*modifiers, NONE})
        if "valency" in table and h > 0:
            last = max(c for word, c in table["valency"] if word == h)
            total += table["valency"][h, min(len(modifiers), last)]
        return total

    def stars(self, h):
        """Every star of h: (value with multipliers, x, modifiers)."""
        out = [a for a in range(len(self.head)) if self.head[a] == h and self.alive[a]]
        certain = {a for a in out if (self.alive & (self.mod == self.mod[a])).sum() == 1}
        for x in [a for a in range(len(self.head)) if self.mod[a] == h and self.alive[a]] if h else [NONE]:
            for size in range(len(out) + 1):
                for chosen in combinations(out, size):
                    if certain <= set(chosen) and all(self.fits(x, h, a) for a in chosen):
                        if h == 0 and (size == 0 or (size > 1 and self.single_root)):
                            continue
                        cost = sum(self.u[a] for a in chosen) + (self.w[x] if h else 0.0)
                        yield self.star_score(h, x, chosen) - cost, x, chosen

    def fits(self, x, h, a):
        if x == NONE:
            return True
        g, m = self.head[x], self.mod[a]
        return m != g and not (self.projective and (m < h) == (g < h) and abs(m - h) > abs(g - h))


def check(case, seen):
    """All that `solve_stars` says, against every star of every head."""
    over, value, x, y, x_bound = case.solve()
    assert over == 0
    for h in range(case.n + 1):
        every = list(case.stars(h))
        best = max((v for v, _, _ in every), default=NEG)
        if best < NEG / 2:
            assert value[h] == NEG
            seen["impossible"] = True
            continue
        slack = 0.0 if case.integer else 1e-9 * max(1.0, abs(best))
        assert abs(value[h] - best) <= slack
        chosen = [a for a in range(len(case.head)) if case.head[a] == h and y[a]]
        assert any(v >= best - slack and x[h] == a and set(m) == set(chosen) for v, a, m in every)
        for a in range(len(case.head)):
            if case.mod[a] == h:
                best_x = max((v for v, b, _ in every if b == a), default=NEG)
                assert x_bound[a] >= best_x - slack
                if best_x < NEG / 2 and not any(b == a for _, b, _ in every):
                    assert x_bound[a] == NEG
    assert set(y) <= {0, 1}


def subsets(families):
    return st.sets(st.sampled_from(sorted(families))).map(sorted)


@given(subsets(CHAIN), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.0, 0.15]))
@settings(max_examples=400, deadline=None)
def test_automata(families, seed, forbidden):
    check(Case(np.random.default_rng(seed), families, max_n=5, forbidden=forbidden), {})


@given(subsets(CODES), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.0, 0.15]))
@settings(max_examples=400, deadline=None)
def test_sets(families, seed, forbidden):
    check(Case(np.random.default_rng(seed), families, max_n=6, forbidden=forbidden), {})
