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

from treebound.constraints.ud import RULES, Fact, LabelledTree, Screen, load, not_applied
from treebound.constraints.ud.labels import RELATIONS, TAGS
from treebound.constraints.ud.rule_sets import parse

EVERY = load("ud-warnings")
TAG_LIST, RELATION_LIST = sorted(TAGS), sorted(RELATIONS)
VERB, NOUN, X = column("VERB"), column("NOUN"), column("X")
#: labels of random trees
LABELS = (
    "root", "nsubj", "nsubj:pass", "nsubj:outer", "csubj", "obj", "obl", "obl:tmod", "advmod", "det", "det:poss", "case",
    "mark", "cc", "aux:pass", "cop", "punct", "fixed", "flat:foreign", "goeswith", "conj", "orphan", "nmod", "clf", "dep",
    "subj", "Det",
)  # fmt: skip
FEATS = ("_", "_", "_", "ExtPos=ADV", "ExtPos=PUNCT", "Polarity=Neg", "Poss=Yes", "Typo=Yes", "Foreign=Yes")
MISC = ("_", "_", "SpaceAfter=No", "Subject=Outer", "SpaceAfter=No|Subject=Outer", "Gloss=No")


def all_trees(n: int, labels: list[list[str]], columns: list[list[Columns]]) -> Iterator[Case]:
    """Yield every tree over n words under every choice of one label and one word's columns at each place."""
    for heads in trees(n, "non-projective"):
        for names in product(*labels):
            for words in product(*columns):
                yield Case(tuple(heads[1:].tolist()), names, words)


def same(n: int, labels: str, columns: list[Columns]) -> Iterator[Case]:
    """Yield every tree over n words that have the same choices of labels and columns."""
    return all_trees(n, [labels.split()] * n, [columns] * n)


def tagged(relation: str) -> Iterator[Case]:
    """Yield trees of two words that ask for all tags under a relation."""
    columns = [column(tag) for tag in TAG_LIST]
    columns += [column("X", f"ExtPos={tag}") for tag in (*TAG_LIST, "ADV,SCONJ", "DETX")]
    return all_trees(2, [[relation], ["goeswith", "fixed", "dep"]], [columns, [VERB]])


def functional(parent: str) -> Iterator[Case]:
    """Yield trees of two words that ask for all relations under a function word, either word first."""
    children = [column("ADV"), *(column(tag, "Polarity=Neg") for tag in ("ADV", "PART", "VERB"))]
    parents = [column("DET"), column("DET", "Poss=Yes")] if "det" in parent else [column("DET")]
    for heads in ((0, 1), (2, 0)):
        for label in (*RELATION_LIST, "acl:relcl"):
            for child, word in product(children, parents):
                labels, columns = (parent, label), (word, child)
                yield Case(heads, labels, columns) if heads[0] == 0 else Case(heads, labels[::-1], columns[::-1])


def sample(size: int, trees: Iterator[Case]) -> list[Case]:
    """Return some of the trees."""
    return random.Random(1).sample([*trees], size)


FAMILIES = {
    "inventory": lambda: same(2, "root dep DEP de-p dep:a:b subj subj:x root:x csubj", [VERB]),
    **{
        f"tags of {relation}": lambda relation=relation: tagged(relation)
        for relation in "det nummod advmod expl aux cop case mark cc punct fixed root dep".split()
    },
    "directions": lambda: same(2, "conj fixed flat goeswith appos conj:x flat:name dep", [VERB]),
    "subjects": lambda: same(3, "nsubj:outer csubj nsubj:pass", [VERB, column("VERB", misc="Subject=Outer")]),
    "objects": lambda: same(3, "obj obj:x iobj dep", [VERB]),
    "obliques": lambda: same(3, "obl:tmod nmod cop", [column("PRON"), VERB]),
    "clauses": lambda: same(3, "obl nsubj csubj:pass", [NOUN, VERB]),
    "orphans": lambda: all_trees(2, [["orphan", "orphan:x"], [*RELATION_LIST, "conj:x"]], [[VERB], [VERB]]),
    **{
        f"leaves of {parent}": lambda parent=parent: functional(parent)
        for parent in "mark case aux cop det clf cc fixed goeswith punct det:x nmod".split()
    },
    "fixed": lambda: sample(2000, same(4, "fixed punct dep", [column("ADP", "ExtPos=ADV")])),
    "fixed heads": lambda: same(2, "fixed dep", [column("ADP", "ExtPos=ADV"), column("PROPN"), column("ADV")]),
    "written apart": lambda: sample(2000, same(4, "goeswith punct dep", [X])),
    "spaces": lambda: same(3, "goeswith dep", [X, column("X", misc="SpaceAfter=No"), column("X", misc="Gloss=No")]),
    "parts": lambda: same(
        2, "goeswith dep", [X, NOUN, column("X", "Typo=Yes"), column("X", "Typo=No"), column("X", lemma=False)]
    ),
    "foreign": lambda: same(
        2, "flat:foreign flat", [X, column("X", "Foreign=Yes"), column("X", "Case=Nom|Foreign=Yes"), NOUN]
    ),
    "punctuation": lambda: same(4, "punct dep", [column("PUNCT")]),
    "punctuation of five": lambda: sample(1500, same(5, "punct dep", [column("PUNCT")])),
    "random": lambda: [random_case(random.Random(seed), 3 + seed % 5) for seed in range(2000)],
    "random goeswith": lambda: [
        random_case(random.Random(seed), 5, ("goeswith", "punct", "advmod", "dep")) for seed in range(1000)
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
    """Return the trees of a family on which the validator does not fail: it fails on these labels at the root."""
    return [case for case in FAMILIES[family]() if not _fatal(case)]


def _fatal(case: Case) -> bool:
    at_root = case.labels[case.heads.index(0)]
    return at_root.split(":")[0] == "orphan" or at_root == "flat:foreign"


def inventory(family: str) -> tuple[str, ...]:
    """Return all labels of a family, and some that a search could choose in their place."""
    return tuple(sorted({label for case in cases(family) for label in case.labels} | {"root", "dep", "nmod"}))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[set[str]]]:
    """Which rules each case of each family breaks, by the validator."""
    folder: Path = tmp_path_factory.mktemp("cases")
    together = [case for family in FAMILIES for case in cases(family)]
    result = iter(validated(together, RULES, folder))
    return {family: [expected(case, next(result)) for case in cases(family)] for family in FAMILIES}


def expected(case: Case, ids: set[str]) -> set[str]:
    """Return the ids without one that the validator asks for because of other sentences of the file."""
    features = any(feats != "_" for _, feats, *_ in case.columns)
    return ids if features else ids - {"goeswith-missing-typo"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rules_agree_with_the_validator(family: str, verdicts: dict[str, list[set[str]]]) -> None:
    names = inventory(family)
    for case, verdict in zip(cases(family), verdicts[family], strict=True):
        assert broken(EVERY.rules, case.tree(names)) == verdict, case


def test_every_rule_is_broken_and_kept(verdicts: dict[str, list[set[str]]]) -> None:
    counts = Counter(name for family in verdicts.values() for ids in family for name in ids)
    total = sum(map(len, verdicts.values()))
    assert counts.keys() == set(RULES)
    assert all(0 < counts[name] < total for name in RULES)
