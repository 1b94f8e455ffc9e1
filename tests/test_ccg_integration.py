"""Test supertagger and parser together, against the enumeration of all derivations with their categories."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from ccg_corpus import write_auto
from test_ccg_charts import LEXICAL, EnumeratedDerivation, all_derivations, grammar, random_sentence, weights_of
from test_ccg_system import call

import treebound
from treebound.checker.joint_proofs import Claim, Node, Proof, Statement, claim_faults, decoded, encoded
from treebound.core.errors import InputError
from treebound.support.settings import SettingError
from treebound.systems.ccg import belief_propagation
from treebound.systems.ccg.belief_propagation import propagate
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts
from treebound.systems.ccg.dual_decomposition import FIRST, Best, Step, decompose, steps
from treebound.systems.ccg.joint import UNIT, Analysis, Joint, Transitions, rounded
from treebound.systems.ccg.joint_search import claim, search, statement
from treebound.systems.ccg.kbest import KBest
from treebound.systems.ccg.output import least_risk, published, viterbi
from treebound.treebanks.document import read

GRAMMAR = grammar(productive=False)


def joint_of(
    seed: int, transitions: float = 1.0, longest: int = 4
) -> tuple[Joint, list[tuple[float, EnumeratedDerivation]]] | None:
    """Return a sentence and its derivations with their joint scores, or None if it has no derivation.

    Scores are tied for every third seed; some scores are -inf for every fourth.
    """
    rng, weights = np.random.default_rng([seed, 7]), rounded(weights_of(seed))
    packed = Charts(GRAMMAR, weights, 50_000).chart(random_sentence(seed, GRAMMAR, longest))
    assert packed is not None
    sentence, tags = packed.sentence, len(LEXICAL)
    count = len(sentence.category) + (tags + 1) ** 2
    drawn = rng.integers(-1, 2, count).astype(float) if seed % 3 == 0 else rng.standard_normal(count)
    emission, transition_scores = np.split(drawn, [len(sentence.category)])
    transition = transitions * transition_scores.reshape(tags + 1, tags + 1)
    if seed % 4 == 1:
        emission[rng.random(len(emission)) < 0.1] = -np.inf
    joint = Joint(packed, Lattice(sentence.first, sentence.category), emission, Transitions.of(transition))
    every = all_derivations(joint.packed, weights, np.zeros(len(emission)))
    scored = [
        (derivation.score + joint.chain_score(np.array(derivation.variables, np.int32)), derivation)
        for derivation in every
    ]
    scored = [pair for pair in scored if pair[0] > -np.inf]
    return (joint, scored) if scored else None


def marginals(scored: list[tuple[float, EnumeratedDerivation]], variables: int) -> np.ndarray:
    out = np.zeros(variables)
    top = max(score for score, _ in scored)
    for score, derivation in scored:
        out[list(derivation.variables)] += np.exp(score - top)
    return out / np.exp([score - top for score, _ in scored]).sum()


def test_belief_propagation_is_exact_without_transitions() -> None:
    """Check that one iteration gives the exact marginals, because the factor graph without transitions is a tree."""
    cases = [case for seed in range(60) if (case := joint_of(seed, transitions=0.0))]
    assert len(cases) > 20
    for joint, scored in cases:
        result = propagate(joint, 10)
        assert result.belief == pytest.approx(marginals(scored, len(joint.emission)), abs=1e-9)
        assert result.converged
        assert propagate(joint, 1).belief == pytest.approx(result.belief, abs=1e-9)


def test_belief_propagation_is_exact_for_one_word_and_near_for_more() -> None:
    lone, errors = 0, []
    for seed in range(80):
        if (case := joint_of(seed)) is None:
            continue
        joint, scored = case
        result, expected = propagate(joint, 200), marginals(scored, len(joint.emission))
        sums = np.add.reduceat(result.belief, joint.choices.first[:-1])
        assert sums == pytest.approx(np.ones(joint.words))
        assert not result.belief[~joint.possible].any()
        errors.append(float(np.abs(result.belief - expected).max()))
        if joint.words == 1:
            lone += 1
            assert result.belief == pytest.approx(expected, abs=1e-9)
    assert lone > 3
    assert np.mean(errors) < 0.05


def test_the_derivation_of_least_risk_has_the_most_expected_constituents() -> None:
    """Check that the derivation of least risk has the highest expected number of correct constituents."""
    checked = 0
    for seed in range(40):
        if (case := joint_of(seed)) is None:
            continue
        joint, _ = case
        graph, rule = joint.packed.chart.graph, joint.packed.chart.rule
        beliefs = propagate(joint, 2)
        scores = beliefs.messages
        ranking = KBest(graph, np.append(scores, 0.0))
        parent = np.repeat(np.arange(len(graph.first) - 1), np.diff(graph.first))
        ranked = ranking.best(2_000)
        if len(ranked) == 2_000:
            continue
        chance = np.exp([derivation[0] for derivation in ranked])
        items = [[int(parent[e]) for e in ranking.edges(derivation) if rule[e] >= -1] for derivation in ranked]
        expected: dict[int, float] = defaultdict(float)
        for p, inner in zip(chance / chance.sum(), items, strict=True):
            for item in inner:
                expected[item] += p
        gain = [sum(expected[item] for item in inner) for inner in items]
        edges = least_risk(joint.packed, scores)
        assert edges.tolist() == least_risk(joint.packed, scores, beliefs.items).tolist()
        constituents, stack = [], [len(graph.first) - 2]
        while stack:
            e = int(edges[stack.pop()])
            constituents += [int(parent[e])] if rule[e] >= -1 else []
            stack += [int(tail[e]) for tail in (graph.left, graph.right) if tail[e]]
        assert len(constituents) == 2 * joint.words - 1
        assert sum(expected[item] for item in constituents) == pytest.approx(max(gain))
        checked += len(ranked) > 1
    assert checked > 10


def test_underflowing_messages_lose_no_category() -> None:
    """Check that a derivation is found if messages underflow.

    The exponentials of differences between emission scores are then 0.
    """
    joint, _ = next(case for seed in range(2, 60, 3) if (case := joint_of(seed)) and case[0].words > 2)
    joint.emission = joint.emission * 2000
    analysis = belief_propagation.decode(joint, 5)
    assert np.isfinite(analysis.value)


def is_best_under_its_scores(joint: Joint, analysis: Analysis) -> bool:
    """Return whether no derivation of the chart exceeds the analysis under the decoder's final scores; ties count."""
    assert analysis.scores is not None
    claimed, best = (joint.read(edges) for edges in (analysis.edges, viterbi(joint.packed, analysis.scores)))
    return claimed[1] + analysis.scores[claimed[0]].sum() == best[1] + analysis.scores[best[0]].sum()


def test_the_published_step_is_halved_whenever_the_bound_rises() -> None:
    rose = 0
    for seed in range(100):
        if (case := joint_of(seed)) is None:
            continue
        joint, _ = case
        start, bounds, length = np.zeros(len(joint.emission)), [], FIRST
        u = start.copy()
        for dual in steps(joint, joint.possible, start, Best(), 30, "published"):
            y, (value, z) = joint.best_derivation(np.where(joint.possible, -u, -np.inf)), joint.best_sequence(u)
            assert y is not None
            bounds.append(y[0] + value)
            assert dual.bound == min(bounds)
            if len(bounds) > 1 and bounds[-1] > bounds[-2]:
                length, rose = length / 2, rose + 1
            differ = y[1] != z
            u[y[1][differ]] += length
            u[z[differ]] -= length
    assert rose > 20


def test_output_rules_of_the_paper() -> None:
    assert [published(name) for name in ("parser", "bp", "dd", "exact")] == ["viterbi", "least-risk", *["viterbi"] * 2]


@pytest.mark.parametrize("step", ["polyak", "published"])
@pytest.mark.parametrize("iterations", [1, 100])
def test_dual_decomposition_bounds_every_derivation_and_proves_agreements(iterations: int, step: Step) -> None:
    """Check that no derivation scores more than the bound, and that agreement proves the best derivation.

    Comparisons are exact, because scores and bounds are multiples of one unit.
    """
    proved, cases = 0, 0
    for seed in range(100):
        if (case := joint_of(seed)) is None:
            continue
        joint, scored = case
        decomposed = decompose(joint, iterations, step)
        assert decomposed is not None
        analysis, nodes = decomposed
        assert claim_faults(statement(joint), claim(joint, analysis, nodes)) == []
        best = max(score for score, _ in scored)
        assert analysis.bound >= best
        assert analysis.value in [
            score for score, derivation in scored if set(derivation.variables) == set(analysis.tags.tolist())
        ]
        assert joint.read(analysis.edges)[0].tolist() == analysis.tags.tolist()
        assert (analysis.status == "optimal") == (analysis.value == analysis.bound)
        cases, proved = cases + 1, proved + (analysis.status == "optimal")
        if analysis.status == "optimal":
            assert analysis.value == best
            assert is_best_under_its_scores(joint, analysis)
    assert cases > 30
    assert proved > (0.9 * cases if iterations > 1 else 0)


def proved(
    seed: int, iterations: int = 2
) -> tuple[Joint, list[tuple[float, EnumeratedDerivation]], Statement, Claim] | None:
    """Return (joint, scored derivations, statement, claim) of a sentence with a proof of its optimum, or None.

    Few iterations make the search split nodes.
    """
    if (case := joint_of(seed)) is None:
        return None
    joint, scored = case
    result = search(joint, iterations, 1000)
    assert result is not None
    analysis, nodes = result
    assert analysis.status == "optimal"
    assert analysis.value == analysis.bound
    assert is_best_under_its_scores(joint, analysis)
    assert analysis.scores is not None
    assert np.isfinite(joint.read(least_risk(joint.packed, analysis.scores))[1])
    return joint, scored, statement(joint), claim(joint, analysis, nodes)


def test_the_search_finds_the_optimum_and_proves_it() -> None:
    split = 0
    for seed in range(100):
        if (case := proved(seed)) is None:
            continue
        _, scored, true_statement, claimed = case
        assert claimed.value == round(max(score for score, _ in scored) / UNIT)
        assert claim_faults(true_statement, claimed) == []
        proof = Proof(3, len(true_statement.word), len(true_statement.var), list(claimed.edges), list(claimed.nodes))
        assert decoded(json.loads(json.dumps(encoded(proof)))) == proof
        split += len(claimed.nodes) > 1
    assert split > 10


def test_a_search_that_is_cut_short_still_proves_its_bound() -> None:
    limits = 0
    for seed in range(60):
        if (case := joint_of(seed)) is None:
            continue
        joint, scored = case
        result = search(joint, 1, 2)
        assert result is not None
        analysis, nodes = result
        assert analysis.value <= max(score for score, _ in scored) <= analysis.bound
        assert claim_faults(statement(joint), claim(joint, analysis, nodes)) == []
        limits += analysis.status == "limit"
    assert limits > 5


def mutated(rng: np.random.Generator, nodes: list[Node], variables: int) -> list[Node]:
    """Return the nodes with one node removed, doubled, or changed in its parent, variable, value or multipliers."""
    out, position = list(nodes), int(rng.integers(len(nodes)))
    node = out[position]
    multipliers = {int(v): int(rng.integers(-3, 4)) << 20 for v in rng.integers(-1, variables + 1, 3)}
    changed = [
        node._replace(parent=int(rng.integers(-1, len(nodes)))),
        node._replace(variable=int(rng.integers(-1, variables + 1))),
        node._replace(value=int(rng.integers(-1, 3))),
        node._replace(multipliers=multipliers),
        node._replace(multipliers={}),
    ]
    kind = int(rng.integers(len(changed) + 2))
    if kind < len(changed):
        out[position] = changed[kind]
    elif kind == len(changed):
        del out[position]
    else:
        out.append(node)
    return out


def test_no_mutated_proof_passes_for_less_than_the_optimum() -> None:
    """Check that a wrong claim has a fault, whatever is done to the nodes of its proof.

    The claim is wrong by one unit or names another derivation.
    """
    lesser = 0
    for seed in range(60):
        if (case := proved(seed)) is None:
            continue
        joint, scored, true_statement, claimed = case
        rng = np.random.default_rng(seed)
        wrong = [claimed._replace(bound=claimed.bound - 1), claimed._replace(value=claimed.value + 1)]
        wrong += [claimed._replace(value=claimed.value + i, bound=claimed.bound + i) for i in (-1, 1)]
        wrong += [claimed._replace(edges=claimed.edges[:-1]), claimed._replace(edges=[*claimed.edges, 0])]
        wrong += [claimed._replace(nodes=[])]
        for score, derivation in sorted(scored)[-4:]:
            analysis = joint.analysis(np.array(derivation.variables, np.int32), claimed.bound * UNIT, 0, "gap")
            if score < claimed.value * UNIT and analysis.status == "gap":
                lesser += 1
                lesser_claim = claim(joint, analysis, list(claimed.nodes))
                wrong.append(lesser_claim._replace(bound=lesser_claim.value))
        for wrong_claim in wrong:
            assert claim_faults(true_statement, wrong_claim), wrong_claim
            for _ in range(10):
                nodes = mutated(rng, list(wrong_claim.nodes), len(true_statement.word)) if wrong_claim.nodes else []
                assert claim_faults(true_statement, wrong_claim._replace(nodes=nodes)), (wrong_claim, nodes)
    assert lesser > 5


def test_a_proof_that_lacks_a_node_is_refused() -> None:
    needed = 0
    for seed in range(60):
        if (case := proved(seed, iterations=1)) is None:
            continue
        _, _, true_statement, claimed = case
        for removed in range(len(claimed.nodes)):
            parents = {node.parent for node in claimed.nodes}
            if removed not in parents and removed:  # a leaf
                nodes = [node for i, node in enumerate(claimed.nodes) if i != removed]
                moved = [node._replace(parent=node.parent - (node.parent > removed)) for node in nodes]
                assert claim_faults(true_statement, claimed._replace(nodes=moved))
                needed += 1
    assert needed > 20


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a small model of synthetic derivations, with more derivations next to it."""
    path = tmp_path_factory.mktemp("integration")
    write_auto(path / "train.auto", 1, 60)
    write_auto(path / "dev.auto", 2, 25)
    sizes = {"chart_bits": 12, "tag_bits": 12, "tag_iterations": 5, "iterations": 5}
    options = [part for name, n in sizes.items() for part in (f"--{name.replace('_', '-')}", n)]
    call("train", path / "train.auto", path / "dev.auto", "-o", path / "model.npz", "--system", "ccg", *options)
    return path / "model.npz"


def test_parsing_with_the_joint_model(model: Path, tmp_path: Path) -> None:
    """Check that no decoder exceeds the proved scores in the same charts, and that the command line agrees."""
    dev, values = read(model.parent / "dev.auto").treebank, {}
    for name in ("bp", "dd", "exact"):
        parses = treebound.load(model, beams=("0.0001:5",), integrate=name, iterations=20).parse(dev)
        values[name] = np.array([parse.value for parse in parses])
        statuses = [parse.status for parse in parses if parse.record.parsed]
        assert len(statuses) > 20
        assert set(statuses) <= {"bp": {"heuristic"}, "dd": {"optimal", "gap"}, "exact": {"optimal"}}[name]
        assert all(parse.bound == parse.value for parse in parses if parse.certified)
        out = tmp_path / f"{name}.conllu"
        options = ["--beams", "0.0001:5", "--integrate", name, "--iterations", 20]
        call("parse", model, model.parent / "dev.auto", "-o", out, *options)
        written = read(out).treebank
        assert all(parse.heads.tolist() == written.heads(i).tolist() for i, parse in enumerate(parses))
    assert (values["exact"] >= values["dd"]).all()
    assert (values["exact"] >= values["bp"]).all()
    with pytest.raises(SettingError, match="integrate: unknown value 'all'"):
        treebound.load(model, integrate="all")
    parses = treebound.load(model, beams=("0.0001:5",), integrate="dd", iterations=20, step="published").parse(dev)
    assert all(
        published_parse.value <= value
        for published_parse, value in zip(parses, values["exact"], strict=True)
        if published_parse.record.parsed
    )
    with pytest.raises(InputError, match="only dual decomposition has steps"):
        treebound.load(model, integrate="bp", step="published")
