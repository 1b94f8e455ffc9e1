"""Test that the checker's rules of Universal Dependencies agree with the official validator, and their soundness."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from oracles import udvalidate
from oracles.trees import is_acyclic, is_projective, trees
from ud_columns import FAMILIES, LABELS, TAGS, columns, random_family

from treebound.checker.ud_rules import RULES, broken_rules, surely_broken
from treebound.checker.ud_words import WordFacts
from treebound.constraints.ud import RULES as SEARCHED
from treebound.constraints.ud import LabelledTree, violations


def small_trees(rng, labels, tags):
    """Yield all labelled trees of two and three words, each with random columns."""
    for n in (2, 3):
        for heads in trees(n, "non-projective"):
            for names in product(labels, repeat=n):
                yield columns(rng, n, tags), heads.tolist(), ["", *names]


def random_tree(rng, labels, tags, known=True):
    """Return a random labelled tree of up to seven words."""
    n = int(rng.integers(1, 8))
    every = trees(min(n, 6), "non-projective")
    heads = every[int(rng.integers(len(every)))].tolist()
    heads += [int(rng.integers(1, 7))] if n == 7 else []
    names = rng.choice(labels, n).tolist()
    names = ["root" if h == 0 and rng.random() < 0.9 else name for h, name in zip(heads[1:], names, strict=True)]
    return columns(rng, n, tags, known), heads, ["", *names]


def compare(cases, folder, rules=RULES):
    """Assert that checker and validator agree on every tree, and return how often each rule is broken.

    Trees with labels on which the validator crashes are left out.
    """
    # the validator crashes on these labels of dependents of the root
    wrong = {(0, "orphan"), (0, "flat:foreign")}
    cases = [case for case in cases if not wrong & set(zip(case[1], case[2], strict=True))]
    count = Counter()
    for case, reported in zip(cases, udvalidate.broken_rules(cases, folder), strict=True):
        words, heads, labels = case
        broken = set(broken_rules(rules, WordFacts.read(words), heads, labels, projective=False))
        assert broken == reported & set(rules), (broken ^ reported & set(rules), case)
        count.update(broken)
    return count


def test_the_validator_agrees_on_small_and_random_trees(tmp_path):
    rng = np.random.default_rng(1)
    cases = [case for labels, tags in FAMILIES.values() for case in small_trees(rng, labels, tags)]
    cases += [random_tree(rng, LABELS, TAGS) for _ in range(500)]
    cases += [random_tree(rng, *random_family(rng)) for _ in range(3000)]
    assert RULES.keys() - compare(cases, tmp_path) == set()


def test_the_validator_agrees_if_features_are_unknown(tmp_path):
    rng = np.random.default_rng(3)
    # without FEATS the checker cannot decide these two rules; the validator treats an empty column as known
    rules = RULES.keys() - {"fixed-without-extpos", "flat-foreign-upos-feats"}
    count = compare((random_tree(rng, *random_family(rng), known=False) for _ in range(1000)), tmp_path, rules)
    assert count["goeswith-missing-typo"] == count["goeswith-nospace"] == 0
    assert count["leaf-aux-cop"] > 0


def random_domains(rng, n, labels):
    """Return random domains: a set of (head, label) pairs for each word, often with a single label or head."""
    domains = [set()]
    for m in range(1, n + 1):
        heads = [h for h in range(n + 1) if h != m]
        some_heads = rng.choice(heads, int(rng.choice([1, 1, 2, 3])))
        some_labels = rng.choice(labels, int(rng.choice([1, 1, 2])))
        domains.append({(int(h), str(label)) for h in some_heads for label in some_labels})
    return domains


def trees_within(domains, space):
    """Yield (heads, labels) of all single-rooted trees whose arcs are in the domains."""
    for pairs in product(*(sorted(domain) for domain in domains[1:])):
        heads = np.array([[-1, *(h for h, _ in pairs)]])
        if is_acyclic(heads)[0] and (heads == 0).sum() == 1 and (space == "non-projective" or is_projective(heads)[0]):
            yield heads[0].tolist(), ["", *(label for _, label in pairs)]


@pytest.mark.parametrize("space", ["projective", "non-projective"])
@pytest.mark.parametrize("tries", [700, pytest.param(10_000, marks=pytest.mark.long)])
def test_rules_about_domains_are_sound(space, tries):
    """Check that `surely_broken` returns true only for rules that every tree of the domains breaks.

    It must find most of the rules that all trees break.
    """
    rng = np.random.default_rng(4)
    seen, true = Counter(), Counter()
    for _ in range(tries):
        labels, tags = random_family(rng)
        n = int(rng.integers(3, 6))
        words, domains = columns(rng, n, tags), random_domains(rng, n, labels)
        every = list(trees_within(domains, space))
        facts = WordFacts.read(words)
        by_tree = [set(broken_rules(RULES, facts, *tree, space == "projective")) for tree in every]
        by_all = set.intersection(*by_tree) if by_tree else RULES.keys()
        certain = {rule for rule in RULES if surely_broken(rule, words, domains, space)}
        assert certain <= by_all, (certain - by_all, words, domains)
        if len(every) > 1:
            seen.update(certain)
            true.update(by_all)
    assert seen.total() > 0.75 * true.total(), (seen, true)


#: number of words that decide a violation of a rule, for rules that do not depend on all words
CAUSES = {
    **dict.fromkeys(["0-is-not-root", "root-is-not-0", "unknown-udeprel", "upos-rel-punct"], 1),
    **{rule: 1 for rule in RULES if rule.startswith(("rel-upos-", "right-to-left-", "goeswith-"))},
    **dict.fromkeys(["rel-upos-fixed", "goeswith-gap", "goeswith-nospace", "fixed-gap", "orphan-parent"], 2),
    **{rule: 2 for rule in RULES if rule.startswith(("leaf-", "too-many-"))},
    **dict.fromkeys(["fixed-without-extpos", "flat-foreign-upos-feats"], 1),
}


def test_a_rule_is_surely_broken_once_its_words_are_decided():
    """Check that a broken rule is surely broken once heads and labels of the words that break it are fixed.

    All other words may have any head and label, except for a label that would be an exception to the rule.
    """
    rng = np.random.default_rng(5)
    decided = Counter()
    for _ in range(1000):
        words, heads, labels = random_tree(rng, *random_family(rng))
        n = words.n
        for rule in broken_rules(CAUSES, WordFacts.read(words), heads, labels, projective=True):
            others = [label for label in LABELS if rule != "rel-upos-advmod" or label != "goeswith"]
            free = [{(h, label) for h in range(n + 1) if h != m for label in others} for m in range(n + 1)]
            subsets = combinations(range(1, n + 1), min(CAUSES[rule], n))
            domains = (
                [{(heads[m], labels[m])} if m in subset else free[m] for m in range(n + 1)] for subset in subsets
            )
            assert any(surely_broken(rule, words, d, "projective") for d in domains), (rule, words, heads, labels)
            decided[rule] += 1
    assert decided.keys() == CAUSES.keys()


def test_the_rules_of_the_search_judge_alike():
    """Check the rules of the search and of the checker on the same trees, also where the validator crashes.

    A set of rules may lack `0-is-not-root`, so that words below the root have any label.
    """
    rng = np.random.default_rng(7)
    rules = [SEARCHED[rule] for rule in SEARCHED if rule in RULES]
    orphans = 0
    for _ in range(1500):
        names, tags = random_family(rng)
        words, heads, labels = random_tree(rng, names, tags)
        labels[heads.index(0)] = str(rng.choice(names))
        orphans += labels[heads.index(0)] == "orphan"
        tree = LabelledTree(
            words, np.array(heads, np.int32), tuple(labels), tuple(sorted(set(names))), "non-projective"
        )
        broken = broken_rules([rule.id for rule in rules], WordFacts.read(words), heads, labels, projective=False)
        assert {violation.rule for violation in violations(rules, tree)} == set(broken)
    assert orphans > 0
