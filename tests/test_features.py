"""Test templates, token tables and hashed scores: the fast scorer against the features that a learner updates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from synthetic import synthetic_treebank

from treebound.factors import FAMILIES
from treebound.factors.pattern_language import parse
from treebound.factors.templates import ALWAYS, ATTRIBUTES, TemplateSet, lines, parse_atom
from treebound.features.compiling import compile_templates
from treebound.features.scorer import Scorer, narrowed
from treebound.features.tokens import EXTRA, PAD, TokenTable, attributes_of, hash_string
from treebound.kernels.arcs.numbering import arcs_of_tree
from treebound.kernels.features.memory import add_row, prefetch
from treebound.kernels.features.scoring import LINE, arc_variant, only_in, pair_variant, side_of
from treebound.kernels.features.templates import unpacked_arcs, unpacked_families
from treebound.kernels.features.updates import merge
from treebound.support.jit import kernel as njit

BEYOND_ARCS = tuple(f for f in FAMILIES if f != "arc")
BITS = 16
PATTERNS = parse("[verb-noun]\nmatch = 'v:tag=V ..3 n:tag=N'\narcs = 'outside -> v -> n'\nfeatures = ['n.form']", "p")


def sentence(i=0):
    treebank = synthetic_treebank(12, seed=4)
    rows, tag = TokenTable(treebank).sentence(i)
    return treebank, rows, tag


def all_arcs(n):
    allowed = ~np.eye(n + 1, dtype=bool)
    allowed[:, 0] = False
    return allowed


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
def test_score_of_a_tree_is_weights_times_its_features(integer, single_root):
    """Check that the scores of a tree's parts add up to the weights of the features that a learner would update."""
    treebank = synthetic_treebank(12, seed=4)
    scorer = Scorer(BEYOND_ARCS, attributes_of(treebank), BITS, PATTERNS)
    table = TokenTable(treebank, scorer.matches(treebank))
    rng = np.random.default_rng(0)
    weights = rng.normal(size=1 << BITS).astype(np.float32)
    if integer:
        weights = rng.integers(-1000, 1000, 1 << BITS).astype(np.int32)
    slots, signs, rates = np.empty(1 << 18, np.int64), np.empty(1 << 18, np.float32), np.empty(1 << 18, np.float32)
    for i in range(len(treebank)):
        rows, tag = table.sentence(i)
        scored = scorer.score(weights, rows, tag, all_arcs(len(tag) - 1), single_root, matches=table.matches(i))
        into = arcs_of_tree(scored.arc_index, treebank.heads(i))
        chosen = {f: scored.selected(f, into).astype(np.int64) for f in FAMILIES}
        count = scorer.features(chosen, 1.0, scored, rows, tag, slots, signs, 0, rates=rates)
        assert count <= scorer.room(chosen, len(tag) - 1) <= len(slots)
        by_features = sum(float(weights[s]) for s in slots[:count])
        by_scores = scored.arc[chosen["arc"]].sum() + sum(scored.by_family[f][chosen[f]].sum() for f in BEYOND_ARCS)
        assert by_scores == (by_features if integer else pytest.approx(by_features, rel=1e-5, abs=1e-3))
        for family in ("tri-sibling", "great-grandchild"):  # the features of other families have a rate of 1
            alone = {f: chosen[f] if f == family else chosen[f][:0] for f in chosen}
            slow = scorer.features(alone, 1.0, scored, rows, tag, slots, signs, 0)
            assert (rates[:count] == np.float32(FAMILIES[family].rate)).sum() == slow
            rates[:count][rates[:count] == np.float32(FAMILIES[family].rate)] = 1.0
        assert (rates[:count] == 1.0).all()


def test_families_share_no_features():
    """Check that a salt separates the weights of families with the same templates."""
    treebank, rows, tag = sentence()
    attributes = attributes_of(treebank)
    scores = {}
    weights = np.random.default_rng(1).normal(size=1 << BITS).astype(np.float32)
    for family in ("grandchild", "outermost-grandchild"):
        scored = Scorer((family,), attributes, BITS).score(weights, rows, tag, all_arcs(len(tag) - 1), True)
        scores[family] = scored.by_family[family]
    assert not set(np.round(scores["grandchild"], 3)) & set(np.round(scores["outermost-grandchild"], 3))


def test_token_rows_are_padded_and_the_same_for_every_treebank():
    treebank, rows, tag = sentence(3)
    n = treebank[3].n
    assert rows.shape == (len(ATTRIBUTES), n + EXTRA)
    assert rows[0, PAD + 1] == hash_string(f"form={treebank[3].strings('form')[0]}")
    assert rows[2, PAD + 1] == hash_string(f"tag={treebank[3].strings('upos')[0]}")
    assert len(set(rows[0, : PAD + 1]) | set(rows[0, PAD + 1 + n :])) == PAD + 1 + PAD + 3
    alone, _ = TokenTable(treebank.select(np.array([3]))).sentence(0)
    assert (alone == rows).all()
    assert tag[0] == -1


def test_templates_with_unused_attributes_are_dropped():
    templates = lines("h.form m.form; h.lemma m.lemma; h.suffix m.tag")
    assert len(compile_templates(templates, ("h", "m"), "x", ALWAYS).seed) == 1
    assert len(compile_templates(templates, ("h", "m"), "x", ALWAYS | {"lemma"}).seed) == 2


@pytest.mark.parametrize("atom", ["x.form", "h.colour", "h", "h+one.form"])
def test_a_misspelt_atom_is_an_error(atom):
    with pytest.raises(ValueError, match=r"template atom|invalid literal"):
        parse_atom(atom, ("h", "m"))


def test_every_template_of_every_family_compiles():
    for name in set(FAMILIES) - {"pattern"}:  # the features of patterns are defined in pattern files
        templates: TemplateSet = FAMILIES[name].templates
        compiled = compile_templates(templates.parts + templates.pairs, templates.words, name, frozenset(ATTRIBUTES))
        assert len(compiled.seed) == len(templates) > 0
        assert len(set(compiled.seed.tolist())) == len(templates)  # no template twice


def test_variants_fit_a_line_and_distinguish_distance_and_side():
    arcs = {(h, m): arc_variant(h, m) for h in range(40) for m in range(1, 40) if h != m}
    assert set(arcs.values()) == set(range(1, 15))
    assert arcs[5, 6] != arcs[6, 5]
    pairs = {pair_variant(i, j, s) for i in range(20) for j in range(20) if i != j for s in range(3)}
    assert pairs == set(range(1, 13))
    assert [pair_variant(4, 4, s) for s in range(3)] == [13, 14, 15]  # two words with one head
    assert max(max(arcs.values()), *pairs) < LINE
    assert [side_of(k, 4, 7) for k in (1, 5, 9)] == [side_of(k, 7, 4) for k in (1, 5, 9)] == [0, 1, 2]


def test_merge_adds_equal_slots_and_leaves_the_scratch_clean():
    slots = np.array([3, 5, 3, 7, 5, 3], np.int64)
    signs = np.array([1, 1, 1, -1, -1, -1], np.float32)
    rates = np.array([0.5, 1, 0.5, 2, 1, 0.5], np.float32)
    scratch = np.zeros(10, np.float32)
    count, norm, margin = merge(slots, signs, rates, 6, scratch, np.arange(10, dtype=np.float32), np.zeros(10))
    assert dict(zip(slots[:count].tolist(), signs[:count].tolist(), strict=True)) == {3: 1.0, 7: -1.0}
    assert dict(zip(slots[:count].tolist(), rates[:count].tolist(), strict=True)) == {3: 0.5, 7: 2.0}
    assert norm == 2.5
    assert not scratch.any()
    assert margin == 3.0 - 7.0


def test_only_in_is_a_set_difference():
    rng = np.random.default_rng(2)
    for _ in range(50):
        a, b = (rng.choice(30, rng.integers(0, 20), replace=False).astype(np.int32) for _ in range(2))
        assert set(only_in(a.copy(), b.copy()).tolist()) == set(a.tolist()) - set(b.tolist())


def test_parts_that_no_tree_has_score_nothing():
    """Check that parts with an arc and its reverse score 0 and all others score as in projective listings."""
    treebank, rows, tag = sentence(5)
    weights = np.random.default_rng(3).integers(1, 1000, 1 << BITS).astype(np.int32)
    scorer = Scorer(tuple(f for f in BEYOND_ARCS if f != "pattern"), attributes_of(treebank), BITS)
    non_projective = scorer.score(weights, rows, tag, all_arcs(len(tag) - 1), True, False)
    projective = scorer.score(weights, rows, tag, all_arcs(len(tag) - 1), True)
    head, mod = non_projective.arc_index.head, non_projective.arc_index.mod
    for family in ("grandchild", "outermost-grandchild", "great-grandchild", "grand-sibling", "head-bigram", "sibling"):
        arcs = non_projective.arcs[family]
        with_reverse = np.zeros(len(arcs), bool)
        for i, j in combinations(range(arcs.shape[1]), 2):
            a, b = np.maximum(arcs[:, i], 0), np.maximum(arcs[:, j], 0)
            with_reverse |= (arcs[:, [i, j]] >= 0).all(axis=1) & (head[a] == mod[b]) & (mod[a] == head[b])
        assert (non_projective.by_family[family][with_reverse] == 0).all()
        assert (non_projective.by_family[family][~with_reverse] != 0).all()
        assert with_reverse.any() == (family not in ("head-bigram", "sibling"))
        scores = dict(zip(map(tuple, arcs.tolist()), non_projective.by_family[family].tolist(), strict=True))
        for row, score in zip(projective.arcs[family].tolist(), projective.by_family[family].tolist(), strict=True):
            assert scores[tuple(row)] == score
        assert len(projective.arcs[family]) < len(arcs) or family == "sibling"


def test_the_score_of_a_comb_depends_on_the_sequence_of_its_words():
    """Check that the same words in the same order score the same and in another order differently."""
    rng = np.random.default_rng(4)
    words = [hash_string(w) for w in "abcdefgh"]
    run = [0, 1, 2, 1, 3]
    n = 14
    rows = np.tile(rng.integers(-(2**60), 2**60, n + EXTRA), (len(ATTRIBUTES), 1))
    for start, order in ((2, run), (8, run)):
        rows[:, PAD + start : PAD + start + 5] = [words[i] for i in order]
    rows[:, PAD + 1] = rows[:, PAD + 7] = words[7]
    scorer = Scorer(("comb",), ALWAYS, BITS)
    weights = rng.integers(1, 1000, 1 << BITS).astype(np.int32)

    def score(first, last, head):
        scored = scorer.score(weights, rows, np.arange(-1, n, dtype=np.int32), all_arcs(n), True)
        comb_scores = scored.by_family["comb"][(scored.words["comb"][:, :3] == (head, first, last)).all(axis=1)]
        assert len(comb_scores) == 1
        return comb_scores[0]

    assert score(2, 6, 1) == score(8, 12, 7)
    before = score(8, 12, 7)
    rows[:, [PAD + 9, PAD + 10]] = rows[:, [PAD + 10, PAD + 9]]
    assert score(8, 12, 7) != before
    assert score(2, 6, 1) == before


def test_valency_features_count_the_modifiers():
    """Check that every valency template has a weight for the word alone and a weight for each number of modifiers."""
    treebank, rows, tag = sentence(2)
    scorer = Scorer(("valency",), attributes_of(treebank), BITS)
    weights = np.random.default_rng(5).integers(-1000, 1000, 1 << BITS).astype(np.int32)
    scored = scorer.score(weights, rows, tag, all_arcs(len(tag) - 1), True)
    slots, signs = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.float32)
    for p, (h, c) in enumerate(scored.arcs["valency"].tolist()):
        assert scored.words["valency"][p].tolist() == [h, c, -1, -1]
        chosen = {"arc": np.empty(0, np.int64), "valency": np.array([p])}
        count = scorer.features(chosen, 1.0, scored, rows, tag, slots, signs, 0)
        assert (slots[1:count:2] == (slots[0:count:2] ^ (1 + c))).all()
        assert scored.by_family["valency"][p] == weights[slots[:count]].sum()


@pytest.mark.parametrize("largest", [2**15 - 1, 2**15])
def test_narrowed_weights_give_the_same_scores(largest):
    """Check that weights are stored in 16 bits if all of them fit, else in 32 bits, with the same scores."""
    treebank, rows, tag = sentence(5)
    scorer = Scorer(tuple(f for f in BEYOND_ARCS if f != "pattern"), attributes_of(treebank), BITS)
    weights = np.random.default_rng(6).integers(-(2**15), 2**15, 1 << BITS).astype(np.int32)
    weights[7] = largest
    small = narrowed(weights)
    assert small.dtype == (np.int16 if largest < 2**15 else np.int32)
    assert small.ctypes.data % 64 == 0
    assert (small == weights).all()
    full_size, half_size = (scorer.score(w, rows, tag, all_arcs(len(tag) - 1), True) for w in (weights, small))
    assert (full_size.arc == half_size.arc).all()
    assert all((full_size.by_family[f] == half_size.by_family[f]).all() for f in full_size.by_family)


@pytest.mark.parametrize("kinds", [("f8", "f4"), ("f8", "i4"), ("i4", "i2"), ("i4", "i4")], ids="-".join)
def test_adding_rows_agrees_with_numpy(kinds):
    rng = np.random.default_rng(7)
    total, weights = rng.integers(-99, 99, (3, 24)).astype(kinds[0]), rng.integers(-99, 99, 100).astype(kinds[1])
    expected = total.copy()
    expected[1, :16] += weights[5:21]
    njit(lambda total, weights: (prefetch(weights, 5), add_row(total, 1, weights, 5, 16)))(total, weights)
    assert (total == expected).all()
    add_row(expected, 2, weights, 5, 16)
    prefetch(weights, 5)
    assert (total[:2] == expected[:2]).all()
    assert (total[2] != expected[2]).any()


def test_packed_templates_are_restored():
    scorer = Scorer(tuple(f for f in BEYOND_ARCS if f != "pattern"), frozenset(ATTRIBUTES), BITS)
    arc_templates, family_templates = scorer.templates
    array, _ = scorer.by_sentence
    arcs, offset = unpacked_arcs(array)
    families = unpacked_families(array, offset)
    groups = (*arc_templates, family_templates.part, family_templates.pair), (*arcs, families.part, families.pair)
    for packed, unpacked in zip(*groups, strict=True):
        assert all((a == b).all() for a, b in zip(packed, unpacked, strict=True))
    for name in ("code", "slot", "part_first", "pair_first"):
        assert (getattr(family_templates, name) == getattr(families, name)).all()
