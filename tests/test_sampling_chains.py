"""Samplers draw from the right distribution over all trees, and searches end correctly and reproducibly."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.score import best, scores
from oracles.trees import trees
from scipy.stats import chi2
from strategies import FAMILIES, build_problem, random_problem
from synthetic import synthetic_treebank
from test_sampling_moves import MoveState, state_of

from treebound.checker.scoring import tree_score
from treebound.core.errors import InputError
from treebound.core.problem import Problem
from treebound.decoders import DECODERS
from treebound.decoders.approximate.sampling import buffers as at
from treebound.decoders.approximate.sampling.chains import FOLLOWED, MANY, PLAIN, climb, gibbs, propose, walk
from treebound.decoders.approximate.sampling.decoder import LEAST_SHARE, Gibbs, Greedy, RandomWalk, shares
from treebound.decoders.approximate.sampling.forest import lay
from treebound.decoders.approximate.sampling.fusion import fuse
from treebound.decoders.approximate.sampling.starts import draw
from treebound.decoders.canonical import canonical
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.arcs.problem_index import index_of
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train

SPACES = ("projective", "non-projective")
ALLOWED = np.ones((5, 5), bool)
ALLOWED[2, 3] = ALLOWED[4, 1] = False


def problem_of(space: str, single_root: bool, seed: int = 2, n: int = 4) -> Problem:
    """Return a random problem of n words, in which two arcs are missing."""
    rng = np.random.default_rng(seed)
    families = ("adjacent-sibling", "grandchild", "sibling", "head-bigram", "valency")
    return build_problem(n, rng, families, allowed=ALLOWED, kind="dense", single_root=single_root, space=space)


def spread(problem: Problem, space: str) -> float:
    """Return the standard deviation of the scores of all trees, a temperature at which a chain meets many trees."""
    every = scores(problem, space)
    return float(np.std(every[every > -np.inf]))


def counted(m: MoveState, step, samples: int, thin: int) -> dict[bytes, int]:
    """Take `thin` steps per sample and return how often each tree was the sample."""
    out: dict[bytes, int] = {}
    first = m.buffers.ints[at.ARC_INTO] + 1
    for _ in range(samples):
        for _ in range(thin):
            step()
        key = m.buffers.ints[first : first + m.problem.n].tobytes()
        out[key] = out.get(key, 0) + 1
    return out


def fits(m: MoveState, met: dict[bytes, int], space: str, log: np.ndarray) -> None:
    """Check by a chi-square test that counts agree with exp(log) over all trees. Rare trees are pooled."""
    every = trees(m.problem.n, space, m.problem.single_root)
    number = {(h, d): a for a, (h, d) in enumerate(zip(m.problem.head, m.problem.mod, strict=True))}
    p = np.exp(log - log.max())
    p /= p.sum()
    counts = np.zeros(len(every))
    for t in np.flatnonzero(p > 0.0):
        key = np.array([number[h, d] for d, h in enumerate(every[t]) if d], np.int64).tobytes()
        counts[t] = met.pop(key, 0)
    assert not met  # the chain met no other tree
    total = counts.sum()
    often = p * total >= 10
    assert often.sum() > 5
    expected = np.append(p[often], p[~often].sum()) * total
    seen = np.append(counts[often], counts[~often].sum())
    statistic = float(((seen - expected) ** 2 / np.maximum(expected, 1e-9))[expected > 1e-9].sum())
    assert statistic < chi2.ppf(1 - 1e-4, len(expected) - 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_starts_are_exact_draws_from_the_scores_of_arcs(single_root):
    problem = problem_of("projective", single_root)
    temperature = spread(problem, "projective")
    m = state_of(problem, "projective", scale=1 / temperature)

    def step() -> None:
        draw(m.graph, m.starts, m.rng)
        lay(*m.buffers, m.starts.into)

    arcs = Problem(problem.n, problem.head, problem.mod, problem.arc, {}, single_root, problem.unit)
    fits(m, counted(m, step, 20_000, 1), "projective", scores(arcs, "projective") / temperature)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("single_root", [True, False])
def test_gibbs_steps_keep_the_distribution_of_the_scores(space, single_root):
    problem = problem_of(space, single_root)
    m, temperature = state_of(problem, space), spread(problem, space)
    met = counted(m, lambda: gibbs(*m.buffers, temperature, m.rng), 10_000, 25)
    fits(m, met, space, scores(problem, space) / temperature)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("words", [2, 4])
def test_random_walks_keep_the_distribution_of_the_scores(words, single_root):
    """Random walks draw from the scores of trees, not of arcs, although arcs propose the steps.

    The acceptance ratio corrects the difference exactly.
    """
    problem = problem_of("non-projective", single_root)
    temperature = spread(problem, "non-projective")
    m = state_of(problem, "non-projective", scale=0.5 / temperature)
    met = counted(m, lambda: walk(*m.buffers, words, temperature, m.rng), 10_000, 30)
    fits(m, met, "non-projective", scores(problem, "non-projective") / temperature)


def test_proposals_are_exact_draws_of_some_heads_by_shares():
    """Proposing new heads for all four words gives independent trees, where several roots are allowed.

    The probability of a tree is proportional to the product of the shares of its arcs.
    """
    problem = problem_of("non-projective", False)
    temperature = spread(problem, "non-projective")
    m = state_of(problem, "non-projective", scale=1 / temperature)
    ints, reals = m.buffers
    share = shares(m.problem.arc / temperature, m.problem)

    def step() -> None:
        for i in range(4):
            ints[ints[at.MARK] + i + 1] = 1
            ints[ints[at.OLD] + i] = ints[ints[at.ARC_INTO] + i + 1]
        propose(ints, reals, 4, m.rng)
        lay(ints, reals, ints[ints[at.NEW] : ints[at.NEW] + 4].copy())

    arcs = Problem(problem.n, problem.head, problem.mod, np.log(share), {}, False)
    fits(m, counted(m, step, 20_000, 1), "non-projective", scores(arcs, "non-projective"))
    assert share.min() >= LEAST_SHARE


@pytest.mark.parametrize("space", SPACES)
def test_fusing_two_trees_is_never_worse_than_either_and_takes_arcs_of_both_alone(space):
    rng = np.random.default_rng(6)
    helped = 0
    for n in (4, 9, 25) * 8:
        families = ("sibling", "adjacent-sibling", "grandchild")
        m = state_of(build_problem(n, rng, families, single_root=n == 4, space=space), space, scale=0.01)
        ints, reals = m.buffers
        drawn = []
        for _ in range(2):
            draw(m.graph, m.starts, m.rng)
            arcs = m.starts.into.astype(np.int64)
            drawn.append((lay(ints, reals, arcs), arcs, m.heads()))
        (_, candidate, candidate_heads), (ours, _, own_heads) = drawn
        gain = fuse(ints, reals, candidate)
        heads = m.heads()
        assert ours + gain == tree_score(m.problem, heads)
        assert gain >= 0.0
        assert ((heads == own_heads) | (heads == candidate_heads)).all()
        assert n > 4 or (trees(n, space, True) == heads).all(axis=1).any()
        helped += gain > 0.0
    assert helped > 3


def test_fusing_takes_the_better_fragments_of_both():
    """Fusing two trees takes the better subtree of each half of the sentence.

    Words 1 to 4 are a subtree in both trees, and so are words 5 to 8. The first tree has the better first half, and
    the second tree the better second half.
    """
    first = np.array([-1, 0, 1, 2, 3, 0, 5, 5, 5], np.int32)
    second = np.array([-1, 0, 1, 1, 1, 0, 5, 6, 7], np.int32)
    best_of_both = np.array([-1, *first[1:5], *second[5:]])
    problem = build_problem(8, np.random.default_rng(1), (), single_root=False)
    in_best = best_of_both[problem.mod] == problem.head
    m = state_of(problem.with_arc(in_best.astype(float)), "projective")
    ints, reals = m.buffers
    ours, theirs = (arcs_of_tree(index_of(m.problem).arcs, heads).astype(np.int64) for heads in (first, second))
    value = lay(ints, reals, ours)
    assert value + fuse(ints, reals, theirs) == 8.0 > max(value, m.problem.arc[theirs].sum())
    assert m.heads().tolist() == best_of_both.tolist()


@pytest.mark.parametrize("make", [Greedy, Gibbs, RandomWalk])
def test_the_best_tree_is_nearly_always_found(make):
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(100):
        decoder = make()
        problem = random_problem(rng, FAMILIES, max_n=5, space=decoder.space, feasible=True, integer=True)
        parse = decoder.decode(problem)
        value, winners = best(problem, decoder.space)
        assert parse.status == "heuristic"
        assert parse.value <= value
        assert parse.value < value or (winners == parse.heads).all(axis=1).any()
        hits += parse.value == value
    assert hits >= 98


def test_budgets_end_a_search_and_more_is_no_worse():
    rng = np.random.default_rng(13)
    problem = build_problem(20, rng, ("sibling", "grandchild", "head-bigram"), kind="mixed")
    single, many = Greedy(restarts=1).decode(problem), Greedy(restarts=40, patience=40).decode(problem)
    assert (single.work["restarts"], many.work["restarts"]) == (1, 40)
    assert single.value <= many.value
    few = Greedy(moves=2000).decode(problem)
    assert few.work["restarts"] < 40
    assert few.work["moves"] < 4000
    assert Greedy(seconds=1e-9).decode(problem).work["restarts"] == 1
    bounded = Greedy(bound=True).decode(problem)
    exact = DECODERS["branch-and-bound"]().decode(problem)
    assert bounded.value <= exact.value <= bounded.bound < np.inf
    for wrong in ({"patience": 0}, {"moves": -1}, {"scale": 0.0}, {"space": "planar"}, {"seconds": 0.0}):
        with pytest.raises(InputError):
            Greedy(**wrong)
    with pytest.raises(InputError, match="fall"):
        Gibbs(hot=0.1, cold=0.2)


def test_samples_do_not_depend_on_workers_or_on_the_position_of_a_sentence():
    examples, dev = synthetic_treebank(60, seed=1), synthetic_treebank(20, seed=2)
    spec = Settings(("adjacent-sibling", "sibling"), labels="none", epochs=1, k=5, bits=14)
    model = train(spec, examples, dev, train_pruner(examples, epochs=1, bits=12))
    parser = Parser(model, "greedy", restarts=3)
    single, parallel = parser.parse(dev), parser.parse(dev, workers=2)
    reversed_ = parser.parse(dev.select(np.arange(len(dev))[::-1]))[::-1]
    for parse, repeated, elsewhere in zip(single, parallel, reversed_, strict=True):
        assert parse.heads.tolist() == repeated.heads.tolist() == elsewhere.heads.tolist()
        assert parse.value == repeated.value == elsewhere.value
    problem = canonical(problem_of("projective", True), "projective").problem
    assert (
        Gibbs(seed=1, sweeps=1, restarts=1).decode(problem).work
        != Gibbs(seed=2, sweeps=1, restarts=1).decode(problem).work
    )


def test_climbing_stops_at_its_limit():
    m = state_of(build_problem(15, np.random.default_rng(1), ("sibling",)), "projective")
    m.buffers.ints[at.SCORED] = 0
    climb(*m.buffers, 10, PLAIN, FOLLOWED)
    assert m.buffers.ints[at.SCORED] < 200
    climb(*m.buffers, MANY, PLAIN, FOLLOWED)
    assert climb(*m.buffers, MANY, PLAIN, FOLLOWED) == 0.0
