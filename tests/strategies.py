"""Random problems from a seed or a hypothesis strategy: dense, sparse, tied, pruned, forbidden or infeasible.

`parts` implements the order of `docs/architecture.md` in plain Python. Tests compare the enumeration in
`treebound.factors` with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations, product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest

from treebound.core.dtypes import INDEX, SCORE
from treebound.core.problem import NONE, NONE_OUTER, PartTable, Problem

FAMILIES = (
    "adjacent-sibling",
    "outermost-grandchild",
    "grandchild",
    "sibling",
    "head-bigram",
    "great-grandchild",
    "tri-sibling",
    "comb",
    "grand-sibling",
    "valency",
    "pattern",
)
#: number of arcs of a part, for families whose parts do not have two arcs
WIDTH = {"great-grandchild": 3, "tri-sibling": 3, "grand-sibling": 3, "comb": 8, "pattern": 6}
#: kinds of random scores, which `draw` explains
KINDS = ("dense", "sparse", "tied", "mixed", "large")


def tries(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrise a test by `tries`: `few` in every run, `many` in `make test-long`."""
    return pytest.mark.parametrize("tries", [few, pytest.param(many, marks=pytest.mark.long)])


def arcs_in_order(allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (head, mod) of the allowed arcs in the order that `Problem` requires.

    allowed: bool[n + 1, n + 1], indexed by head, then dependent.
    """
    n = len(allowed) - 1
    pairs = []
    for h in range(n + 1):
        pairs += [(h, m) for m in range(h - 1, 0, -1) if allowed[h, m]]
        pairs += [(h, m) for m in range(h + 1, n + 1) if allowed[h, m]]
    array = np.array(pairs, INDEX).reshape(-1, 2)
    return array[:, 0].copy(), array[:, 1].copy()


def parts(
    family: str, n: int, head: np.ndarray, mod: np.ndarray, single_root: bool, space: str = "projective"
) -> np.ndarray:
    """Return the arcs of every part of a family in a sentence of n words: int32[F, r], in the documented order.

    The parts of `pattern` depend on words. Here they are random sets of up to six arcs with different dependents.
    """
    arcs = tuple(zip(head.tolist(), mod.tolist(), strict=True))
    return _parts(family, n, arcs, single_root, space).copy()


@lru_cache(1000)
def _parts(family: str, n: int, arcs: tuple[tuple[int, int], ...], single_root: bool, space: str) -> np.ndarray:
    number = {arc: a for a, arc in enumerate(arcs)}
    projective = space == "projective"
    out: list[tuple[int, ...]] = []

    def crossing(a: int, b: int) -> bool:
        (i, j), (k, l) = sorted((sorted(arcs[a]), sorted(arcs[b])))  # noqa: E741
        return i < k < j < l

    @cache
    def below(a: int) -> list[int]:
        """Return the arcs that leave the dependent of arc a and that a tree may have together with arc a, in arc order.

        In non-projective problems, the list also contains the reverse of arc a, which no tree has.
        """
        h, m = arcs[a]
        return [
            b
            for b, (m2, g) in enumerate(arcs)
            if m2 == m and (not projective or (g != h and (g > m) == (m > h)) or min(h, m) < g < max(h, m))
        ]

    def nearer(b: int) -> list[int]:
        """Return the arcs from b's head to the words between this head and b's dependent, nearest first."""
        h, m = arcs[b]
        return [number[h, s] for s in (range(h + 1, m) if h < m else range(h - 1, m, -1)) if (h, s) in number]

    if family == "adjacent-sibling":
        for b, (h, _) in enumerate(arcs):
            if not (h == 0 and single_root):
                out += [(s, b) for s in (NONE, *nearer(b))]
    elif family == "outermost-grandchild":
        for a in range(len(arcs)):
            out += [(a, b) for b in (NONE, NONE_OUTER, *below(a))]
    elif family == "grandchild":
        out += [(a, b) for a in range(len(arcs)) for b in below(a)]
    elif family == "grand-sibling":
        out += [(a, s, b) for a in range(len(arcs)) for b in below(a) for s in (NONE, *nearer(b))]
    elif family == "great-grandchild":
        for a in range(len(arcs)):
            for b in below(a):
                for c in below(b):
                    if arcs[c][1] != arcs[a][0] and not (projective and crossing(a, c)):
                        out.append((a, b, c))
    elif family in ("sibling", "tri-sibling"):
        for h in range(1, n + 1):
            out += combinations([a for a, arc in enumerate(arcs) if arc[0] == h], 2 if family == "sibling" else 3)
    elif family == "head-bigram":
        into = [[a for a, arc in enumerate(arcs) if arc[1] == m] for m in range(n + 1)]
        for m in range(1, n):
            for i, j in product(into[m], into[m + 1]):
                roots = single_root and arcs[i][0] == arcs[j][0] == 0
                if not roots and (arcs[i][0], arcs[j][0]) != (m + 1, m) and not (projective and crossing(i, j)):
                    out.append((i, j))
    elif family == "comb":
        for h, m in arcs:
            step = 1 if m > h else -1
            for size in range(4, 9) if h > 0 else ():
                run = [number.get((h, m + step * i)) for i in range(size)]
                if None not in run:
                    out.append((*run, *[NONE] * (8 - size)))  # type: ignore[arg-type]
    elif family == "valency":
        for h in range(1, n + 1):
            out += [(h, c) for c in range(min(7, sum(arc[0] == h for arc in arcs)) + 1)]
    elif family == "pattern":
        rng = np.random.default_rng(len(arcs))
        for _ in range(len(arcs)):
            some = rng.permutation(len(arcs))[: rng.integers(1, 7)].tolist()
            some = sorted({arcs[a][1]: a for a in some}.values())
            out.append((*some, *[NONE] * (6 - len(some))))
    else:
        raise ValueError(f"unknown family {family!r}")
    return np.array(out, INDEX).reshape(len(out), WIDTH.get(family, 2))


def impossible(table: np.ndarray, family: str, head: np.ndarray, mod: np.ndarray) -> np.ndarray:
    """Return which parts have an arc and its reverse: bool[F].

    Such parts score 0 and exist only in non-projective problems.
    """
    out = np.zeros(len(table), bool)
    if family in ("grandchild", "outermost-grandchild", "great-grandchild", "grand-sibling"):
        for i, j in combinations(range(table.shape[1]), 2):
            a, b = np.maximum(table[:, i], 0), np.maximum(table[:, j], 0)
            both = (table[:, i] >= 0) & (table[:, j] >= 0)
            out |= both & (head[a] == mod[b]) & (mod[a] == head[b])
    return out


def draw(rng: np.random.Generator, size: int, kind: str, integer: bool, forbidden: float = 0.0) -> np.ndarray:
    """Draw scores of a kind: float64[size]. On average, the share `forbidden` of them is -inf.

    `dense` scores are normal, and four of five `sparse` scores are zero. `tied` scores are integers from -2 to 2.
    `mixed` scores are small except for a few large ones of either sign, which make pairwise bounds loose. `large`
    scores are integers up to 10**9, as in a trained model.
    """
    if kind == "dense":
        x = rng.normal(size=size) * 100
    elif kind == "sparse":
        x = rng.normal(size=size) * 100 * (rng.random(size) < 0.2)
    elif kind == "tied":
        x = rng.integers(-2, 3, size).astype(SCORE)
    elif kind == "mixed":
        x = rng.normal(size=size) * rng.choice([3.0, 300.0], size, p=[0.7, 0.3])
    elif kind == "large":
        x = rng.integers(-(10**9), 10**9, size).astype(SCORE)
    else:
        raise ValueError(f"unknown kind of scores {kind!r}")
    if integer:
        x = np.rint(x)
    return np.where(rng.random(size) < forbidden, -np.inf, x).astype(SCORE)


def build_problem(
    n: int,
    rng: np.random.Generator,
    families: Iterable[str] = FAMILIES,
    *,
    allowed: np.ndarray | None = None,
    kind: str = "dense",
    integer: bool = True,
    single_root: bool = True,
    forbidden_arcs: float = 0.0,
    forbidden_parts: float = 0.0,
    space: str = "projective",
) -> Problem:
    """Build a problem with random scores over the arcs of allowed[n + 1, n + 1]. None allows all arcs."""
    if allowed is None:
        allowed = np.ones((n + 1, n + 1), bool)
    head, mod = arcs_in_order(allowed)
    tables = {}
    for family in families:
        arcs = parts(family, n, head, mod, single_root, space)
        score = draw(rng, len(arcs), kind, integer, forbidden_parts)
        score[impossible(arcs, family, head, mod)] = 0.0
        tables[family] = PartTable(family, arcs, score)
    arc = draw(rng, len(head), kind, integer, forbidden_arcs)
    return Problem(n, head, mod, arc, tables, single_root, 1.0 if integer else 0.0)


def rescored(problem: Problem, arc: float | np.ndarray | None = None, **families: float | np.ndarray) -> Problem:
    """Return the problem with other scores of arcs and of some families.

    A value is one score for all parts or one score per part. Family names are written with _ instead of -.
    """
    tables = dict(problem.parts)
    for name, scores in families.items():
        table = tables[name.replace("_", "-")]
        tables[table.family] = PartTable(table.family, table.arcs, np.broadcast_to(scores, len(table)))
    arcs = problem.arc if arc is None else np.broadcast_to(arc, problem.arcs)
    return replace(problem, arc=arcs, parts=tables)


def unchecked(problem: Problem, **changes: Any) -> Problem:
    """Return the problem with changed fields and without validation. It is marked as canonical and projective."""
    fields = ("n", "head", "mod", "arc", "parts", "single_root", "unit")
    values = {name: changes.get(name, getattr(problem, name)) for name in fields}
    return Problem.unchecked(**values, canonical="projective")


def random_tree(n: int, rng: np.random.Generator, space: str = "projective", single_root: bool = True) -> np.ndarray:
    """Return the heads of a random tree: int32[n + 1]. The distribution is not uniform.

    Projective trees are built span by span. In other trees, each word is attached to a word that was attached before
    it.
    """
    heads = np.full(n + 1, -1, INDEX)
    if space == "non-projective":
        order = rng.permutation(n) + 1
        for i, m in enumerate(order):
            heads[m] = 0 if i == 0 or (not single_root and rng.random() < 0.2) else order[rng.integers(i)]
        return heads

    def attach(low: int, high: int, head: int, single: bool) -> None:
        """Attach the words low..high to `head`, which is outside: as one subtree, or as several."""
        while low <= high:
            end = high if single else int(rng.integers(low, high + 1))
            top = int(rng.integers(low, end + 1))
            heads[top] = head
            attach(low, top - 1, top, False)
            attach(top + 1, end, top, False)
            low = end + 1

    attach(1, n, 0, single_root)
    return heads


def random_problem(
    rng: np.random.Generator,
    families: Iterable[str] | None = None,
    *,
    min_n: int = 1,
    max_n: int = 6,
    space: str = "projective",
    single_root: bool | None = None,
    integer: bool | None = None,
    kind: str | None = None,
    feasible: bool | None = None,
    forbidden: float | None = None,
) -> Problem:
    """Return a random problem. Arguments that are None are chosen at random.

    feasible: True keeps the arcs of one tree and forbids no part. Otherwise the problem may be infeasible.
    forbidden: the share of parts with score -inf. In half of the problems, the same share of arcs has this score.
    families: None chooses a random subset of all families.
    """
    n = int(rng.integers(min_n, max_n + 1))
    if families is None:
        families = [f for f in FAMILIES if rng.random() < 0.5]
    single_root = bool(rng.random() < 0.7) if single_root is None else single_root
    integer = bool(rng.random() < 0.7) if integer is None else integer
    kind = str(rng.choice(KINDS)) if kind is None else kind
    allowed = rng.random((n + 1, n + 1)) < rng.choice([0.3, 0.6, 1.0], p=[0.2, 0.3, 0.5])
    if feasible or rng.random() < 0.8:
        tree = random_tree(n, rng, space, single_root)
        allowed[tree[1:], np.arange(1, n + 1)] = True
    if forbidden is None:
        forbidden = 0.0 if feasible else float(rng.choice([0.0, 0.1, 0.3], p=[0.7, 0.2, 0.1]))
    return build_problem(
        n,
        rng,
        families,
        allowed=allowed,
        kind=kind,
        integer=integer,
        single_root=single_root,
        forbidden_arcs=forbidden if rng.random() < 0.5 else 0.0,
        forbidden_parts=forbidden,
        space=space,
    )


def problems(**fixed) -> st.SearchStrategy[Problem]:
    """Return a hypothesis strategy over `random_problem(rng, **fixed)`. A failing case is reported by its seed."""
    return st.integers(0, 2**32 - 1).map(lambda seed: random_problem(np.random.default_rng(seed), **fixed))
