"""Global features: the values they read, scores that moves update, and chains with the right distribution."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.trees import trees
from synthetic import synthetic_treebank

from treebound.features.scorer import Scorer
from treebound.features.tokens import TokenTable
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.arcs.problem_index import index_of
from treebound.systems.sampling.globals.catalogue import append, codes_of, name, room, score_all, see
from treebound.systems.sampling.globals.table import FEATURES
from treebound.systems.sampling.globals.view import COORDINATOR, PREPOSITION, PUNCTUATION, find_spans
from treebound.systems.sampling.moves import climb, gibbs, resample, walk
from treebound.systems.sampling.search import GIBBS, GOLD, NEIGHBOUR, NOTHING, WALK, Rule, Trees, next_violation
from treebound.systems.sampling.sentence import Scoring, Sentence, scored

SPACES = ("projective", "non-projective")
ALL = tuple(FEATURES)


def random_sentence(
    n: int, space: str, features: tuple[str, ...] = ALL, single_root: bool = True, seed: int = 1
) -> Sentence:
    """Return a sentence of n words under random integer weights.

    Words are randomly coordinators, prepositions or punctuation.
    """
    rng = np.random.default_rng(seed)
    whole = synthetic_treebank(60, seed, 40)
    treebank = whole.select(np.flatnonzero(whole.lengths >= n)[:1])
    rows, tag = TokenTable(treebank).sentence(0)
    columns = [*range(n + 3), *range(rows.shape[1] - 5, rows.shape[1])]  # the first n words and the padding
    weights = rng.integers(-400, 400, 1 << 14).astype(np.int32)
    scorer = Scorer(("adjacent-sibling", "grandchild"), frozenset({"form", "lower", "tag", "coarse"}), 14)
    by = Scoring(
        scorer, weights, weights.astype(np.float32), codes_of(features), single_root, space == "projective", 1.0
    )
    allowed = np.ones((n + 1, n + 1), np.bool_)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    sentence = scored(by, np.ascontiguousarray(rows[:, columns]), tag[: n + 1], allowed)
    assert sentence is not None
    chance = rng.random(n + 2)
    for row, low, high in ((COORDINATOR, 0.0, 0.25), (PREPOSITION, 0.25, 0.5), (PUNCTUATION, 0.5, 0.65)):
        sentence.view.words[row] = (low <= chance) & (chance < high)
        sentence.view.words[row, [0, n + 1]] = 0
    return sentence


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("features", [*((f,) for f in ALL), ALL], ids=lambda f: "+".join(f)[:14])
def test_updated_scores_equal_scores_from_scratch(features, space, single_root):
    """The updated score equals the score from scratch exactly, after each of many moves of all kinds.

    It also equals the sum of the weights of the tree's features.
    """
    for n, steps in ((1, 5), (5, 60), (16, 150)):
        m = random_sentence(n, space, features, single_root, seed=n)
        (ints, reals), view, rng = m.buffers, m.view, np.array([n], np.uint64)
        value = m.lay(m.first_tree(rng))
        changed = 0
        for step in range(steps):
            kind = step % 4
            if kind == 0:
                gain = gibbs(ints, reals, view, 3000.0, rng)
            elif kind == 1 and space == "non-projective":
                gain = walk(ints, reals, view, 3, 3000.0, rng)
            elif kind == 2 and step % 10 == 2:
                gain = climb(ints, reals, view, rng)
            else:
                gain = resample(ints, reals, view, 1 + step % n, 3000.0, rng)
            changed += gain != 0.0
            total, value = view.total[0], value + gain
            assert view.marked[0] == 0
            assert m.lay(m.arcs) == value
            assert view.total[0] == total == score_all(ints, view)
        assert changed > 0 or n == 1
        slots, signs = np.zeros(room(view.codes, n), np.int64), np.zeros(room(view.codes, n), np.float32)
        count = append(ints, view, 1.0, slots, signs, 0)
        assert view.weights[slots[:count]].sum(dtype=float) == view.total[0]


def values_of(m: Sentence, feature: str, w: int) -> list[int]:
    find_spans(m.buffers.ints, m.view)
    return m.view.seen[: see(ALL.index(feature), m.buffers.ints, m.view, w)].tolist()


def lay(m: Sentence, heads: list[int]) -> None:
    arcs = arcs_of_tree(index_of(m.problem).arcs, np.array([-1, *heads], np.int32))
    assert (arcs >= 0).all()
    m.lay(arcs)


def flags(m: Sentence, **words: list[int]) -> None:
    rows = {"coordinator": COORDINATOR, "preposition": PREPOSITION, "punctuation": PUNCTUATION}
    for kind, row in rows.items():
        m.view.words[row] = 0
        m.view.words[row, words.get(kind, [])] = 1


def test_values_that_features_read():
    """Check features of "she(2) eats(0) pizza(2) with(7) knife..." by hand, in two styles of attachment."""
    m = random_sentence(9, "projective")
    # 1 she <- 2 eats -> 3 pizza, 6 knife (4 with, 5 a; 8 fork (7 and)), 9 .
    lay(m, [2, 0, 2, 6, 6, 2, 8, 6, 2])
    flags(m, coordinator=[7], preposition=[4], punctuation=[9])
    assert values_of(m, "attachment", 4) == [2, 2, 6, 8]  # the governor is 2, the arguments 6 and 8
    # conjuncts are separated by 3 words from 4 to the coordinator, and by 1 word after it
    assert values_of(m, "coordination", 7) == [2, 6, 8, 3, 1]
    assert values_of(m, "valency", 2) == [1, 3, 6]
    assert values_of(m, "span-length", 6) == [5, 1]  # words 4 .. 8: the bin of 5-6 words, followed by punctuation
    assert values_of(m, "span-length", 9) == [1, 2]
    assert values_of(m, "neighbours", 6) == [3, 9, 5]
    assert values_of(m, "right-branch", 0) == [10 * 3 // 9, 2]  # the branch 8, 6, 2
    assert values_of(m, "crossing", 6) == []
    # `with` (4) depends on 2 and has the dependent 7, which has 6 and 8 below it
    lay(m, [2, 0, 2, 2, 6, 7, 4, 7, 2])
    assert values_of(m, "attachment", 4) == [1, 2, 6, 8]
    assert values_of(m, "coordination", 7) == [1, 6, 8, 2, 1]
    # the coordinator depends on the left conjunct, and the right conjunct on the coordinator
    lay(m, [2, 0, 2, 2, 6, 4, 6, 7, 2])
    assert values_of(m, "coordination", 7) == [3, 6, 8, 2, 1]
    lay(m, [2, 0, 2, 2, 6, 4, 6, 6, 2])
    assert values_of(m, "coordination", 7) == [0]


def test_an_arc_crosses_if_it_spans_a_word_that_is_not_below_its_head():
    m = random_sentence(4, "non-projective")
    lay(m, [3, 4, 0, 3])  # 4 -> 2 spans 3; 3 -> 1 spans 2, which is below 3
    assert [values_of(m, "crossing", w) for w in (1, 2, 3, 4)] == [[], [4], [], []]


def test_features_have_distinct_names():
    """Different features of one word never have the same name.

    A feature also has no name twice, except for `attachment`, if two of its arguments have the same attributes.
    """
    m = random_sentence(9, "non-projective")
    lay(m, [3, 5, 0, 3, 3, 4, 6, 6, 3])
    find_spans(m.buffers.ints, m.view)
    for w in range(1, 10):
        names: set[int] = set()
        for code, feature in enumerate(ALL):
            count = name(code, m.view, w, see(code, m.buffers.ints, m.view, w))
            named = set(m.view.names[:count].tolist())
            assert len(named) == count or feature == "attachment"
            assert not names & named
            names |= named
        assert len(names) > 10


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", ["gibbs", "walk"])
def test_chains_have_the_distribution_of_their_scores(kind, space):
    """Chains visit the trees of four words in proportion to their scores, under all features (chi-square test)."""
    if kind == "walk" and space == "projective":
        pytest.skip("random walks make crossing trees")
    n, temperature, draws, thin = 4, 3000.0, 12_000, 25
    m = random_sentence(n, space, seed=5)
    (ints, reals), view, rng = m.buffers, m.view, np.array([7], np.uint64)
    every = trees(n, space, True)
    score = np.array([m.score(heads.astype(np.int32)) for heads in every])
    p = np.exp((score - score.max()) / temperature)
    p /= p.sum()
    number = {heads.tobytes(): i for i, heads in enumerate(every.astype(np.int32))}
    m.lay(m.first_tree(rng))
    met = np.zeros(len(every))
    for _ in range(draws):
        for _ in range(thin):
            if kind == "gibbs":
                gibbs(ints, reals, view, temperature, rng)
            else:
                walk(ints, reals, view, 3, temperature, rng)
        heads = np.zeros(n + 1, np.int32)
        heads[0] = -1
        arcs = m.arcs
        heads[m.problem.mod[arcs]] = m.problem.head[arcs]
        met[number[heads.tobytes()]] += 1
    assert score.std() > temperature / 10
    often = p * draws >= 5
    expected = np.append(p[often], p[~often].sum()) * draws
    counts = np.append(met[often], met[~often].sum())
    chi = ((counts - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
    assert chi < len(expected) + 5 * np.sqrt(2 * len(expected))


@pytest.mark.parametrize(
    ("method", "space"), [(GIBBS, "projective"), (GIBBS, "non-projective"), (WALK, "non-projective")]
)
@pytest.mark.parametrize(("neighbour", "gold"), [(True, True), (True, False), (False, True)])
def test_a_chain_stops_at_every_constraint_that_is_broken_and_at_no_other(neighbour, gold, method, space):
    """Chains stop at the constraints that scores from scratch report as violated.

    The test includes rejected proposals and trees that score more than the gold tree.
    """
    n, cost, temperature = 4, 300.0, 900.0
    m = random_sentence(n, space, seed=3)
    every = trees(n, space, True).astype(np.int64)
    right = every[np.argsort([m.score(heads.astype(np.int32)) for heads in every])[-2]]
    tree = Trees(np.full(n + 1, -1, np.int64), np.full(n + 1, -1, np.int64), right)
    rule, rng = Rule(neighbour, gold, cost, method, 3, temperature), np.array([11], np.uint64)

    def score(heads: np.ndarray) -> float:
        return m.score(heads.astype(np.int32))

    def errors(heads: np.ndarray) -> int:
        return int((heads != right)[1:].sum())

    arcs, met, rejected = m.first_tree(rng), {NOTHING: 0, NEIGHBOUR: 0, GOLD: 0}, 0
    for _ in range(600):
        behind = score(right) - m.lay(arcs)
        steps, constraint, less = next_violation(*m.buffers, m.view, tree, 1, behind, rule, rng)
        assert steps == 0
        arcs, now = m.arcs, np.full(n + 1, -1, np.int64)
        now[m.problem.mod[arcs]] = m.problem.head[arcs]
        assert any(np.array_equal(now, seen_tree) for seen_tree in (tree.before, tree.proposal))
        rejected += not np.array_equal(now, tree.proposal)
        fewer = errors(tree.before) - errors(tree.proposal)
        gain = score(tree.proposal) - score(tree.before)
        expected = NOTHING, 0
        if gold and score(right) - score(now) < cost * errors(now) - 1e-6:
            expected = GOLD, errors(now)
        if neighbour and fewer and gain * np.sign(fewer) < cost * abs(fewer) - 1e-6:
            expected = NEIGHBOUR, fewer
        assert (constraint, less) == expected
        met[constraint] += 1
    assert met[NOTHING] > 0
    assert (met[NEIGHBOUR] > 0) == neighbour
    assert (met[GOLD] > 0) == gold
    assert rejected > 10
