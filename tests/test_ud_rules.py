"""The validity rules of Universal Dependencies against the official validator, on enumerated and random trees."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from oracles.trees import trees
from ud_validator import Case, Columns, broken, column, validated

from treebound.constraints.ud import RULES, Fact, Screen, load
from treebound.constraints.ud import screen as screen_module
from treebound.constraints.ud.labels import RELATIONS, TAGS
from treebound.constraints.ud.rule_sets import parse

EVERY = load("ud-warnings")
TAG_LIST, RELATION_LIST = sorted(TAGS), sorted(RELATIONS)
VERB, NOUN, X = column("VERB"), column("NOUN"), column("X")
#: labels of random trees
LABELS = (
    "root", "nsubj", "nsubj:pass", "nsubj:outer", "csubj", "obj", "obl", "obl:tmod", "advmod", "det", "det:poss",
    "case", "mark", "cc", "aux:pass", "cop", "punct", "fixed", "flat:foreign", "goeswith", "conj", "orphan", "nmod",
    "clf", "dep", "subj", "Det",
)  # fmt: skip
FEATS = ("_", "_", "_", "ExtPos=ADV", "ExtPos=PUNCT", "Polarity=Neg", "Poss=Yes", "Typo=Yes", "Foreign=Yes")
MISC = ("_", "_", "SpaceAfter=No", "Subject=Outer", "SpaceAfter=No|Subject=Outer", "Gloss=No")


def all_trees(n: int, labels: list[list[str]], columns: list[list[Columns]]) -> Iterator[Case]:
    """Yield every tree over n words with every choice of one label and one word's columns per position."""
    for heads in trees(n, "non-projective"):
        for names in product(*labels):
            for words in product(*columns):
                yield Case(tuple(heads[1:].tolist()), names, words)


def uniform_trees(n: int, labels: str, columns: list[Columns]) -> Iterator[Case]:
    """Yield every tree over n words whose positions all have the same choices of labels and columns."""
    return all_trees(n, [labels.split()] * n, [columns] * n)


def tagged(relation: str) -> Iterator[Case]:
    """Yield trees of two words in which the first word has the given relation, with every tag."""
    columns = [column(tag) for tag in TAG_LIST]
    columns += [column("X", f"ExtPos={tag}") for tag in (*TAG_LIST, "ADV,SCONJ", "DETX")]
    return all_trees(2, [[relation], ["goeswith", "fixed", "dep"]], [columns, [VERB]])


def functional(parent: str) -> Iterator[Case]:
    """Yield trees of two words: a function word with the relation `parent`, and its dependent with every relation.

    Both word orders are included.
    """
    children = [column("ADV"), *(column(tag, "Polarity=Neg") for tag in ("ADV", "PART", "VERB"))]
    parents = [column("DET"), column("DET", "Poss=Yes")] if "det" in parent else [column("DET")]
    for heads in ((0, 1), (2, 0)):
        for label in (*RELATION_LIST, "acl:relcl"):
            for child, word in product(children, parents):
                labels, columns = (parent, label), (word, child)
                yield Case(heads, labels, columns) if heads[0] == 0 else Case(heads, labels[::-1], columns[::-1])


def sample(size: int, trees: Iterator[Case]) -> list[Case]:
    """Return a random sample of the trees."""
    return random.Random(1).sample([*trees], size)


#: relations that require certain tags
TAGGED = [name.removeprefix("rel-upos-") for name in RULES if name.startswith("rel-upos-")]
FAMILIES = {
    "inventory": lambda: uniform_trees(2, "root dep DEP de-p dep:a:b subj subj:x root:x csubj", [VERB]),
    **{f"tags of {relation}": lambda relation=relation: tagged(relation) for relation in ("root", "dep", *TAGGED)},
    "directions": lambda: uniform_trees(2, "conj fixed flat goeswith appos conj:x flat:name dep", [VERB]),
    "subjects": lambda: uniform_trees(3, "nsubj:outer csubj nsubj:pass", [VERB, column("VERB", misc="Subject=Outer")]),
    "objects": lambda: uniform_trees(3, "obj obj:x iobj dep", [VERB]),
    "obliques": lambda: uniform_trees(3, "obl:tmod nmod cop", [column("PRON"), VERB]),
    "clauses": lambda: uniform_trees(3, "obl nsubj csubj:pass", [NOUN]),
    "orphans": lambda: all_trees(2, [["orphan", "orphan:x"], [*RELATION_LIST, "conj:x"]], [[VERB], [VERB]]),
    **{
        f"leaves of {parent}": lambda parent=parent: functional(parent)
        for parent in ["mark", "case", "aux", "cop", "det", "clf", "cc", "fixed", "goeswith", "punct", "det:x", "nmod"]
    },
    "fixed": lambda: sample(1000, uniform_trees(4, "fixed punct dep", [column("ADP", "ExtPos=ADV")])),
    "fixed heads": lambda: uniform_trees(2, "fixed dep", [column("ADP", "ExtPos=ADV"), column("PROPN"), column("ADV")]),
    "written apart": lambda: sample(1000, uniform_trees(4, "goeswith punct dep", [X])),
    "spaces": lambda: uniform_trees(
        3, "goeswith dep", [column("X", misc="Gloss=No"), column("X", misc="SpaceAfter=No")]
    ),
    "parts": lambda: uniform_trees(
        2, "goeswith dep", [X, NOUN, column("X", "Typo=Yes"), column("X", "Typo=No"), column("X", lemma=False)]
    ),
    "foreign": lambda: uniform_trees(
        2, "flat:foreign flat", [X, column("X", "Foreign=Yes"), column("X", "Case=Nom|Foreign=Yes"), NOUN]
    ),
    "punctuation": lambda: uniform_trees(4, "punct dep", [column("PUNCT")]),
    "punctuation of five": lambda: sample(1000, uniform_trees(5, "punct dep", [column("PUNCT")])),
    "random": lambda: [random_case(random.Random(seed), 3 + seed % 5) for seed in range(1500)],
    "random goeswith": lambda: [
        random_case(random.Random(seed), 5, ("goeswith", "punct", "advmod", "dep")) for seed in range(500)
    ],
}


def random_case(generator: random.Random, n: int, labels: tuple[str, ...] = LABELS) -> Case:
    """Return a random tree. Half of the root's labels are `root`."""
    heads = trees(n, generator.choice(["projective", "non-projective"]))
    chosen = heads[generator.randrange(len(heads)), 1:].tolist()
    names = ["root" if h == 0 and generator.random() < 0.5 else generator.choice(labels) for h in chosen]
    words = [
        column(generator.choice(TAG_LIST), generator.choice(FEATS), generator.choice(MISC), generator.random() < 0.5)
        for _ in chosen
    ]
    return Case(tuple(chosen), tuple(names), tuple(words))


@cache
def cases(family: str) -> list[Case]:
    """Return the trees of a family on which the validator does not crash. It crashes on some labels of the root."""
    return [case for case in FAMILIES[family]() if not _fatal(case)]


def _fatal(case: Case) -> bool:
    at_root = case.labels[case.heads.index(0)]
    return at_root.split(":")[0] == "orphan" or at_root == "flat:foreign"


def inventory(family: str) -> tuple[str, ...]:
    """Return all labels of a family and some labels that a search could choose instead."""
    return tuple(sorted({label for case in cases(family) for label in case.labels} | {"root", "dep", "nmod"}))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[set[str]]]:
    """Return the rules that each case of each family violates, according to the validator."""
    folder: Path = tmp_path_factory.mktemp("cases")
    together = [case for family in FAMILIES for case in cases(family)]
    result = iter(validated(together, RULES, folder))
    return {family: [expected(case, next(result)) for case in cases(family)] for family in FAMILIES}


def expected(case: Case, ids: set[str]) -> set[str]:
    """Return the ids without the rule that the validator checks only if other sentences of the file have features."""
    features = any(feats != "_" for _, feats, *_ in case.columns)
    return ids if features else ids - {"goeswith-missing-typo"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rules_agree_with_the_validator(family: str, verdicts: dict[str, list[set[str]]]) -> None:
    names = inventory(family)
    for case, verdict in zip(cases(family), verdicts[family], strict=True):
        assert broken(EVERY.rules, case.tree(names)) == verdict, case


def test_every_rule_is_violated_and_satisfied(verdicts: dict[str, list[set[str]]]) -> None:
    counts = Counter(name for family in verdicts.values() for ids in family for name in ids)
    total = sum(map(len, verdicts.values()))
    assert counts.keys() == set(RULES)
    assert all(0 < counts[name] < total for name in RULES)


def alternative(facts: tuple[Fact, ...], case: Case, names: tuple[str, ...], generator: random.Random) -> Case | None:
    """Return a random tree of the case's words in which all the facts are true, or None."""
    n = len(case.heads)
    candidates = trees(n, "non-projective")
    labels = [
        {h: [name for name in names if _true(facts, m, h, name)] for h in range(n + 1) if h != m}
        for m in range(1, n + 1)
    ]
    possible = np.ones(len(candidates), np.bool_)
    for m, choices in enumerate(labels, 1):
        possible &= np.isin(candidates[:, m], [h for h, allowed in choices.items() if allowed])
    places = np.flatnonzero(possible)
    if not len(places):
        return None
    heads = candidates[places[generator.randrange(len(places))], 1:].tolist()
    chosen = [generator.choice(choices[h]) for h, choices in zip(heads, labels, strict=True)]
    return Case(tuple(heads), tuple(chosen), case.columns)


def _true(facts: tuple[Fact, ...], m: int, head: int, label: str) -> bool:
    return all(fact.is_true(head, label) for fact in facts if fact.word == m)


def all_true(facts: tuple[Fact, ...], case: Case) -> bool:
    """Return whether the arcs of a tree make all the facts true."""
    return all(fact.is_true(case.heads[fact.word - 1], case.labels[fact.word - 1]) for fact in facts)


def violated(family: str, every: int) -> Iterator[tuple[str, tuple[Fact, ...], Case]]:
    """Yield (rule id, facts, tree) for every violation in the small trees of a family, of which every n-th is used.

    every: the number n.
    """
    names = inventory(family)
    small = [case for case in cases(family) if len(case.heads) < 7]  # a sentence of seven words has 117,649 trees
    for case in small[::every]:
        for rule in EVERY.rules:
            for violation in rule.violations(case.tree(names)):
                yield rule.id, violation.facts, case


@pytest.mark.parametrize("family", FAMILIES)
def test_all_trees_with_the_facts_break_the_rule(family: str) -> None:
    generator, names = random.Random(family), inventory(family)
    for rule, facts, case in violated(family, max(1, len(cases(family)) // 60)):
        assert facts
        assert all_true(facts, case), (rule, case)
        changed = alternative(facts, case, names, generator)
        assert changed is not None
        assert rule in broken([RULES[rule]], changed.tree(names)), (rule, facts, changed)


def test_the_validator_finds_the_rule_broken_in_all_trees_with_the_facts(tmp_path: Path) -> None:
    generator = random.Random(3)
    cases_by_rule: dict[str, list[Case]] = {}
    for family in FAMILIES:
        for rule, facts, case in violated(family, max(1, len(cases(family)) // 25)):
            changed = alternative(facts, case, inventory(family), generator)
            if changed is not None and not _fatal(changed):
                cases_by_rule.setdefault(rule, []).append(changed)
    assert cases_by_rule.keys() == set(RULES)
    pairs = [(rule, case) for rule, several in cases_by_rule.items() for case in several[:25]]
    verdicts = validated([case for _, case in pairs], RULES, tmp_path)
    assert [(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True) if pair[0] not in verdict] == []


@pytest.mark.parametrize("family", ["random goeswith"])
def test_projective_trees_need_no_facts_about_crossing_arcs(family: str) -> None:
    """Projective trees with the facts of a violation break the rule, even without facts about crossing arcs."""
    names, generator, number = inventory(family), random.Random(1), 0
    for case in cases(family):
        heads = np.array([-1, *case.heads])
        if (trees(len(case.heads), "projective") == heads).all(axis=1).any():
            assert broken(EVERY.rules, case.tree(names, "projective")) == broken(EVERY.rules, case.tree(names))
            for violation in RULES["leaf-goeswith"].violations(case.tree(names, "projective")):
                assert len(violation.facts) == 2
                changed = alternative(violation.facts, case, names, generator)
                assert changed is not None
                if (trees(len(case.heads), "projective")[:, 1:] == changed.heads).all(axis=1).any():
                    number += 1
                    assert broken([RULES["leaf-goeswith"]], changed.tree(names, "projective"))
    assert number


@pytest.mark.parametrize("family", FAMILIES)
def test_patterns_are_all_violations(family: str) -> None:
    """A rule that lists all its violations in advance is violated exactly if one violation is true."""
    names = inventory(family)
    for case in cases(family)[:: max(1, len(cases(family)) // 50)]:
        tree = case.tree(names)
        for rule in EVERY.rules:
            patterns = rule.patterns(tree.words, names)
            if patterns is not None and rule.applies(tree.words):
                true = {facts for facts in patterns if all_true(facts, case)}
                own = {violation.facts for violation in rule.violations(tree)}
                assert own <= true, rule
                assert bool(own) == bool(true), rule


def batched(chosen: list[Case], screen: Screen, names: tuple[str, ...]) -> np.ndarray:
    """Return, for each of some trees, whether the fast test `screen` suspects that it breaks a rule."""
    offsets = np.cumsum([0, *(len(case.heads) for case in chosen)])
    heads = np.concatenate([case.heads for case in chosen])
    labels = np.array([names.index(label) for case in chosen for label in case.labels])
    return screen.suspicious(offsets, heads, labels, np.concatenate([screen.codes(case.words) for case in chosen]))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rules", ["ud", "ud-warnings"])
def test_the_screen_misses_nothing(family: str, rules: str) -> None:
    names, rule_set = inventory(family), load(rules)
    chosen = cases(family)[::5]
    for space in ("projective", "non-projective"):
        trees_ = [case.tree(names, space) for case in chosen]
        if space == "projective":
            pairs = zip(chosen, trees_, strict=True)
            allowed_pairs = [(c, t) for c, t in pairs if (trees(t.words.n, space) == t.heads).all(axis=1).any()]
            chosen_, trees_ = [c for c, _ in allowed_pairs], [t for _, t in allowed_pairs]
        else:
            chosen_ = chosen
        suspicious = batched(chosen_, Screen(rule_set, names, space), names)
        wrong = np.array([bool(broken(rule_set.rules, tree)) for tree in trees_])
        assert not (wrong & ~suspicious).any()


@pytest.mark.parametrize("rule", list(RULES))
def test_the_screen_of_one_rule(rule: str) -> None:
    """The screen of one rule misses no violation, and it does not suspect every tree."""
    names, screen_of = inventory("random"), parse(f'rules = ["{rule}"]')
    suspicious = batched(cases("random"), Screen(screen_of, names), names)
    wrong = np.array([bool(broken(screen_of.rules, case.tree(names))) for case in cases("random")])
    assert not (wrong & ~suspicious).any()
    assert not suspicious.all()


def test_the_screen_stores_a_limited_number_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the store of words, which is emptied beyond its limit; equal words have the same number before and after.

    The root of each sentence is a word of the store, too.
    """
    monkeypatch.setattr(screen_module, "MOST_WORDS", 3)
    names = inventory("random")
    limited, sizes = Screen(load("ud"), names), []
    several = [case for case in cases("random") if len(case.heads) > 3][:20]
    numbers: dict[Columns, int] = {}
    for case in several * 2:
        for word, number in zip(case.columns, limited.codes(case.words).tolist(), strict=True):
            assert numbers.setdefault(word, number) == number
        sizes.append(len(limited._words))
    assert len(set(numbers.values())) > 20
    assert max(sizes) == 4
    assert (batched(several, limited, names) == batched(several, Screen(load("ud"), names), names)).all()
