"""Derive the hard constraints of a corpus from its treebank, or count how often each published rule holds.

    python -m studies.riedel_clarke_2006.constraints.derive en_ewt > src/treebound/constraints/corpora/en_ewt.toml

A rule is checked in the training trees where it could fail; for a unique label, these are the trees with the label. The
rule is included if there are at least 50 such trees and it holds in at least 99.5 % of them. For a corpus with
published rules (`PUBLISHED`), the same counts are printed for each rule of its existing file.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from studies.common import stage
from studies.common.corpus import gold as gold_trees
from treebound.constraints import CONSTRAINTS, load
from treebound.constraints.rows import Constraint, Selection, Variables, Words, broken
from treebound.core.errors import TreeboundError
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.systems.constrained.model import words_of

SHARE = 0.995  #: smallest share of trees in which a rule holds, among the trees where it could fail
TREES = 50  #: fewest trees where a rule could fail
PAIRS = 3  #: two word classes count as compatible if at least this many trees coordinate them
CONJUNCT = "conj"  #: label of a conjunct in Universal Dependencies
PUBLISHED = ("nl_alpino",)


class Gold:
    """The gold trees of a treebank in the form that constraints take."""

    def __init__(self, treebank: Treebank):
        self.treebank = treebank
        self.names = tuple(treebank.vocab["deprel"].strings)
        self.trees: list[tuple[Words, np.ndarray, np.ndarray]] = []
        for sentence in treebank:
            labels = np.full(sentence.n + 1, -1, np.int32)
            a = treebank.offsets[sentence.index]
            labels[1:] = treebank.columns["deprel"][a : a + sentence.n]
            self.trees.append((words_of(sentence), sentence.heads, labels))
        self.made = [self._variables(*tree) for tree in self.trees]

    def _variables(self, words: Words, heads: np.ndarray, labels: np.ndarray) -> tuple[Variables, Selection]:
        """Return variables for the arcs of the gold tree alone, and the selection that contains every arc."""
        order = np.lexsort((np.arange(1, words.n + 1), heads[1:])) + 1
        inner = Problem(words.n, heads[order], order.astype(np.int32), np.zeros(words.n))
        problem = LabelledProblem(inner, labels[order][:, None], np.zeros((words.n, 1)), self.names)
        return Variables.of(problem, words), Selection(heads, labels)

    def holds(self, constraint: Constraint) -> dict[str, tuple[int, int]]:
        """Return label -> (trees in which the constraint holds for the label, trees that have the label).

        A violated inequality counts for the label of its first variable, because the first variable is always the arc
        that the rule restricts.
        """
        total, failed = Counter[int](), Counter[int]()
        for (_, _, labels), (variables, selection) in zip(self.trees, self.made, strict=True):
            total.update(set(labels[1:].tolist()))
            failed.update({int(variables.label[row.columns[0]]) for row in broken([constraint], variables, selection)})
        return {self.names[i]: (count - failed[i], count) for i, count in total.items()}


def derive(treebank: Treebank) -> dict[str, dict[str, Any]]:
    """Return the rules that hold in a treebank annotated like Universal Dependencies.

    The result maps each family of rules to a dictionary of its settings. The key `held` of this dictionary maps a label
    to two counts: the trees in which the rule holds, and the trees that have the label.
    """
    gold = Gold(treebank)
    rules: dict[str, dict[str, Any]] = {}

    def holding(family: str, about: Collection[str], **settings: Any) -> list[str]:
        """Return the labels of `about` for which the rule of a family holds, and record their counts."""
        counts = gold.holds(CONSTRAINTS[family](**settings))
        counted = {
            label: (held, total)
            for label, (held, total) in sorted(counts.items())
            if label in about and total >= TREES and held >= SHARE * total
        }
        if counted:
            rules.setdefault(family, {"held": {}})["held"].update(counted)
        return list(counted)

    unique = holding("unique-labels", gold.names, labels=gold.names)
    if unique:
        rules["unique-labels"]["labels"] = unique
    pairs = sorted(sorted(pair) for pair, trees in _coordinated(gold).items() if len(pair) == 2 and trees >= PAIRS)
    settings = {"label": CONJUNCT, "head": "argument", "compatible": pairs}
    if holding("argument-compatibility", [CONJUNCT], **settings):
        rules["argument-compatibility"] |= settings
    for side in ("left", "right"):
        labels = holding("argument-side", [CONJUNCT, "cc"], **{side: [CONJUNCT, "cc"]})
        if labels:
            rules["argument-side"][side] = labels
    projective = holding("selective-projectivity", gold.names, labels="all")
    if projective:
        rules["selective-projectivity"]["labels"] = projective
    return rules


def _coordinated(gold: Gold) -> Counter[frozenset[str]]:
    """Count, for each pair of word classes, the trees in which a word of one class has a conjunct of the other."""
    counts: Counter[frozenset[str]] = Counter()
    if CONJUNCT not in gold.names:
        return counts
    number = gold.names.index(CONJUNCT)
    for words, heads, labels in gold.trees:
        pairs = {
            frozenset((words.word_class[heads[m]], words.word_class[m]))
            for m in np.flatnonzero(labels == number).tolist()
        }
        counts.update(pairs)
    return counts


def toml(corpus: str, rules: dict[str, dict[str, Any]]) -> str:
    """Return the text of a constraint file: the settings, and after each label a comment with its counts."""
    lines = [
        f"# {corpus}: rules that hold in at least {100 * SHARE} % of the training trees where they could fail",
        f"# (at least {TREES}). Written by `python -m studies.riedel_clarke_2006.constraints.derive {corpus}`;",
        "# numbers: trees in which the rule holds / trees that have the label.",
    ]
    for family, settings in rules.items():
        lines += ["", f"[{family}]"]
        held = settings["held"]
        for key, value in settings.items():
            if key == "held" or value == []:
                continue
            if key in ("labels", "left", "right"):
                lines.append(f"{key} = [")
                lines += [f'    "{label}", # {held[label][0]} / {held[label][1]}' for label in value]
                lines.append("]")
            elif key == "compatible":
                lines.append(f"# pairs that are coordinated in at least {PAIRS} trees")
                lines.append(f"{key} = [")
                lines += [f'    ["{a}", "{b}"],' for a, b in value]
                lines.append("]")
            else:
                suffix = f" # {held[value][0]} / {held[value][1]}" if value in held else ""
                lines.append(f'{key} = "{value}"{suffix}')
    return "\n".join(lines) + "\n"


def published(corpus: str, treebank: Treebank) -> str:
    """Return the counts of the rules in the existing constraint file of a corpus.

    There is one line for each label. It counts the trees in which the label occurs and the trees in which the rule
    holds.
    """
    gold = Gold(treebank)
    lines = []
    for constraint in load(corpus, ()):
        about = getattr(constraint, "labels", None) or ["cnj"]
        counts = gold.holds(constraint)
        for label in about:
            held, total = counts.get(label, (0, 0))
            share = 100 * held / max(1, total)
            lines.append(f"{constraint.code} {constraint.name}, {label}: {held} / {total} = {share:.2f} %")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    corpus = parser.parse_args().corpus
    try:
        treebank = gold_trees(corpus, "train")
        text = published(corpus, treebank) if corpus in PUBLISHED else toml(corpus, derive(treebank))
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except BrokenPipeError:
        sys.exit(1)
    stage.say(f"{corpus}: {len(treebank)} trees")
    print(text, end="")


if __name__ == "__main__":
    main()
