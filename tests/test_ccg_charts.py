"""Test packed charts against the enumeration of all derivations by the rules in plain Python."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, Packed, sentence_of
from treebound.systems.ccg.grammar import Binary, Grammar
from treebound.systems.ccg.kbest import KBest
from treebound.systems.ccg.packing import DEPTH
from treebound.systems.ccg.rule_features import MOST, Sentence, binary_slots, leaf_slots, single_slots
from treebound.systems.ccg.words import words_of_strings
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import from_text, to_text
from treebound.treebanks.ccg.rules import combine

LEXICAL = [
    "NP",
    "N",
    "NP[nb]/N",
    "S[dcl]\\NP",
    "(S[dcl]\\NP)/NP",
    "(S\\NP)\\(S\\NP)",
    "S/S",
    "conj",
    ",",
    "N/N",
    "PP/NP",
]
UNARY = [("N", "NP"), ("NP", "S/(S\\NP)"), ("NP", "S\\(S/NP)"), ("S[dcl]\\NP", "NP\\NP")]
BITS = 10


def grammar(productive: bool = True) -> Grammar:
    """Return a grammar over a few categories.

    It is productive, with all combinators, or has only the listed results of combining two lexical categories.
    """
    lexicon = Grammar(LEXICAL, (), (), ())
    unary = [(lexicon.intern(child), lexicon.intern(result)) for child, result in UNARY]
    roots = [lexicon.intern("S[dcl]"), lexicon.intern("NP")]
    if productive:
        return Grammar(lexicon.categories, (), unary, roots, productive=True)
    names = [parse(category) for category in lexicon.categories]
    binary = [
        Binary(
            lexicon.number[str(a)],
            lexicon.number[str(b)],
            lexicon.intern(str(combination.result)),
            combination.rule,
            combination.head,
        )
        for a in names
        for b in names
        for combination in {combination.result: combination for combination in reversed(combine(a, b))}.values()
    ]
    return Grammar(lexicon.categories, binary, unary, roots)


def random_sentence(seed: int, rules: Grammar, longest: int = 4) -> Sentence:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, longest + 1))
    strings = [(f"w{rng.integers(4)}", ["NN", "VB", ",", "DT"][rng.integers(4)]) for _ in range(n)]
    tags = [np.sort(rng.permutation(len(LEXICAL))[: rng.integers(2, 6)]) for _ in range(n)]
    first = np.concatenate([[0], np.cumsum([len(t) for t in tags])]).astype(np.int32)
    return sentence_of(words_of_strings([strings]), 0, Lattice(first, np.concatenate(tags).astype(np.int32)))


class EnumeratedDerivation(NamedTuple):
    """A derivation of a span, with its category and its score.

    - head: number of the category variable of the head word.
    - state: code of the last step, which decides the steps that the normal form allows next.
    - variables: numbers of the category variables of all words of the span.
    """

    category: str
    head: int
    state: int
    score: float
    variables: tuple[int, ...]


def all_derivations(packed: Packed, weights: np.ndarray, scores: np.ndarray) -> list[EnumeratedDerivation]:
    """Return all derivations of the sentence that follow the rules, in normal form with at most DEPTH unary steps."""
    sentence, rules = packed.sentence, packed.grammar
    tables, mask, slots = rules.tables(), len(weights) - 1, np.empty(MOST, np.int64)
    number = {(rules.rule(r).left, rules.rule(r).right, rules.rule(r).result): r for r in range(len(tables.result))}
    names = rules.categories

    def weigh(count: int) -> float:
        return float(weights[slots[:count]].sum())

    def single(hashes: np.ndarray, entry: int, head: int) -> float:
        return weigh(single_slots(sentence, hashes[entry], head, mask, slots))

    def combined(a: EnumeratedDerivation, b: EnumeratedDerivation) -> list[EnumeratedDerivation]:
        if rules.productive:
            combinations = reversed(combine(parse(a.category), parse(b.category)))
            licences = list(
                {f.result: (f.rule, str(f.result), f.head) for f in combinations}.values()
            )  # the first combination of each result
        else:
            pair = rules.number[a.category], rules.number[b.category]
            licences = [(r.rule, names[r.result], r.head) for r in rules.binary if r[:2] == pair]
        derivations = []
        for rule, result, head in licences:
            if a.state == 1 and rule in ("fa", "fc", "fx"):
                continue
            if b.state == 2 and rule in ("ba", "bc", "bx"):
                continue
            state = 1 if rule in ("fc", "fx") else 2 if rule in ("bc", "bx") else 0
            r = number[rules.number[a.category], rules.number[b.category], rules.number[result]]
            score = a.score + b.score + weigh(binary_slots(sentence, tables, r, a.head, b.head, mask, slots))
            derivations.append(EnumeratedDerivation(result, (a, b)[head].head, state, score, a.variables + b.variables))
        return derivations

    @cache
    def span(i: int, j: int) -> list[EnumeratedDerivation]:
        derivations = []
        if j == i + 1:
            for v in range(sentence.first[i], sentence.first[j]):
                score = weigh(leaf_slots(sentence, tables, v, mask, slots)) + scores[v]
                derivations.append(EnumeratedDerivation(names[sentence.category[v]], v, 0, score, (v,)))
        for k in range(i + 1, j):
            derivations += [derivation for a in span(i, k) for b in span(k, j) for derivation in combined(a, b)]
        begin = 0
        for depth in range(DEPTH):
            end = len(derivations)
            for a in derivations[begin:end]:
                for u, (child, result) in enumerate(rules.unary):
                    if names[child] == a.category:
                        score = a.score + single(tables.unary_hash, u, a.head)
                        derivations.append(EnumeratedDerivation(names[result], a.head, 3 + depth, score, a.variables))
            begin = end
        return derivations

    n = len(sentence.form)
    whole = [a for a in span(0, n) if tables.root[rules.number[a.category]]]
    return [a._replace(score=a.score + single(tables.category_hash, rules.number[a.category], a.head)) for a in whole]


def weights_of(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:  # ties
        return rng.integers(-1, 2, 1 << BITS).astype(float)
    return rng.standard_normal(1 << BITS)


@pytest.mark.parametrize("productive", [True, False])
def test_charts_agree_with_the_enumeration_of_all_derivations(productive: bool) -> None:
    """Check the best score, the k best, the partition function and the probabilities of categories.

    Some scores are -inf.
    """
    parsed = 0
    rules = grammar(productive)
    for seed in range(80):
        rng, weights = np.random.default_rng([seed, 1]), weights_of(seed)
        packed = Charts(rules, weights, 50_000).chart(random_sentence(seed, rules))
        assert packed is not None
        scores = rng.standard_normal(len(packed.sentence.category))
        scores[rng.random(len(scores)) < 0.1] = -np.inf
        derivations = [
            derivation for derivation in all_derivations(packed, weights, scores) if derivation.score > -np.inf
        ]
        value, _, edge = packed.best(scores)
        log_z, marginal, *_ = packed.sums(scores)
        ranked = KBest(packed.chart.graph, np.append(scores, 0.0)).best(10)
        if not derivations:
            assert value <= -1e29
            assert log_z == -np.inf
            assert ranked == []
            continue
        parsed += 1
        in_order = sorted((derivation.score for derivation in derivations), reverse=True)
        assert value == pytest.approx(in_order[0])
        assert [r[0] for r in ranked] == pytest.approx(in_order[:10])
        z = np.exp(in_order).sum()
        assert log_z == pytest.approx(np.log(z))
        expected = np.zeros(len(scores))
        for derivation in derivations:
            expected[list(derivation.variables)] += np.exp(derivation.score) / z
        assert marginal == pytest.approx(expected)
        best = packed.derivation(edge, [("a", "b")] * len(packed.sentence.form))
        assert to_text(from_text(to_text(best))) == to_text(best)
    assert parsed > 20


def test_the_k_best_derivations_differ_and_their_scores_are_sums_of_edges() -> None:
    rules, weights = grammar(), weights_of(1)
    packed = Charts(rules, weights, 50_000).chart(random_sentence(4, rules, 5))
    assert packed is not None
    kbest = KBest(packed.chart.graph, np.zeros(len(packed.sentence.category) + 1))
    ranked = kbest.best(1000)
    edges = [tuple(kbest.edges(derivation)) for derivation in ranked]
    assert len(ranked) == len(set(edges)) == len(all_derivations(packed, weights, np.zeros(99)))
    for derivation, derivation_edges in zip(ranked, edges, strict=True):
        assert derivation[0] == pytest.approx(packed.chart.graph.weight[list(derivation_edges)].sum())


def test_expected_features_are_the_gradient_of_the_partition_function() -> None:
    rules = grammar()
    for seed in (2, 4, 5, 7):
        weights = weights_of(seed)
        charts = Charts(rules, weights, 50_000)
        sentence = random_sentence(seed, rules, 5)
        packed = charts.chart(sentence)
        assert packed is not None
        counts = np.zeros(1 << BITS)
        if packed.expect(counts) == -np.inf:
            continue
        step = 1e-5
        for slot in np.random.default_rng(seed).choice(np.flatnonzero(counts > 1e-6), 15):
            sides = []
            for sign in (1, -1):
                weights[slot] += sign * step
                changed = charts.chart(sentence)
                assert changed is not None
                sides.append(changed.sums()[0])
                weights[slot] -= sign * step
            assert counts[slot] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-6)


def test_a_chart_over_the_limit_is_none() -> None:
    rules, weights = grammar(), weights_of(1)
    sentence = random_sentence(4, rules, 5)
    whole = Charts(rules, weights, 50_000).chart(sentence)
    assert whole is not None
    edges = len(whole.chart.rule)
    assert Charts(rules, weights, edges).chart(sentence) is not None
    for limit in (0, 1, edges // 2, edges - 3):
        assert Charts(rules, weights, limit).chart(sentence) is None
        assert Charts(rules, weights, 50_000).chart(sentence, limit) is None


def test_fragments_cover_a_sentence_that_has_no_derivation() -> None:
    rules = grammar()
    for seed in range(40):
        packed = Charts(rules, weights_of(seed), 50_000).chart(random_sentence(seed, rules))
        assert packed is not None
        pieces = packed.fragments()
        assert [piece[0] for piece in pieces] == [0, *(piece[1] for piece in pieces[:-1])]
        assert pieces[-1][1] == len(packed.sentence.form)
        _, _, edge = packed.best()
        strings = [(f"w{i}", "t") for i in range(len(packed.sentence.form))]
        leaves = [leaf.word for *_, item in pieces for leaf in packed.derivation(edge, strings, item).leaves()]
        assert leaves == [form for form, _ in strings]
        if packed.parsed:
            assert len(pieces) == 1
