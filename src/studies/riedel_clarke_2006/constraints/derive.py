"""Which hard rules hold in a treebank: writes the constraint file of a corpus, or the share in which each rule holds.

    python -m studies.riedel_clarke_2006.constraints.derive en_ewt > src/treebound/constraints/corpora/en_ewt.toml

A rule is looked at in the training trees where it could fail (a unique label: trees that have it) and kept if it holds
in 99.5 % of them and there are at least 50. For a corpus whose file is as published (`PUBLISHED`) the same counts are
printed, rule by rule, for the file as it stands.
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

SHARE = 0.995  #: of the trees where a rule could fail
TREES = 50  #: at least so many of these
PAIRS = 3  #: trees in which two word classes are coordinated, to be called compatible
CONJUNCT = "conj"  #: label of the arguments of a coordination in Universal Dependencies
PUBLISHED = ("nl_alpino",)


class Gold:
    """The gold trees of a treebank as constraints see them."""

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
        """The arcs of a tree as the only variables, all of them selected."""
        order = np.lexsort((np.arange(1, words.n + 1), heads[1:])) + 1
        inner = Problem(words.n, heads[order], order.astype(np.int32), np.zeros(words.n))
        problem = LabelledProblem(inner, labels[order][:, None], np.zeros((words.n, 1)), self.names)
        return Variables.of(problem, words), Selection(heads, labels)

    def holds(self, constraint: Constraint) -> dict[str, tuple[int, int]]:
        """Label -> (trees in which the constraint holds for it, trees that have it).

        A broken row counts for the label of its first variable; each family puts the arc that it is about there.
        """
        total, failed = Counter[int](), Counter[int]()
        for (_, _, labels), (variables, selection) in zip(self.trees, self.made, strict=True):
            total.update(set(labels[1:].tolist()))
            failed.update({int(variables.label[row.columns[0]]) for row in broken([constraint], variables, selection)})
        return {self.names[i]: (count - failed[i], count) for i, count in total.items()}


def derive(treebank: Treebank) -> dict[str, dict[str, Any]]:
    """Settings, and counts under `held`, of the rules that hold in a treebank of the kind of Universal Dependencies."""
    gold = Gold(treebank)
    found: dict[str, dict[str, Any]] = {}

    def kept(family: str, about: Collection[str], **settings: Any) -> list[str]:
        """Labels of `about` for which the rule holds; notes the counts."""
        counts = gold.holds(CONSTRAINTS[family](**settings))
        good = {
            label: (held, total)
            for label, (held, total) in sorted(counts.items())
            if label in about and total >= TREES and held >= SHARE * total
        }
        if good:
            found.setdefault(family, {"held": {}})["held"].update(good)
        return list(good)

    unique = kept("unique-labels", gold.names, labels=gold.names)
    if unique:
        found["unique-labels"]["labels"] = unique
    pairs = sorted(sorted(pair) for pair, trees in _coordinated(gold).items() if len(pair) == 2 and trees >= PAIRS)
    settings = {"label": CONJUNCT, "head": "argument", "compatible": pairs}
    if kept("argument-compatibility", [CONJUNCT], **settings):
        found["argument-compatibility"] |= settings
    for side in ("left", "right"):
        labels = kept("argument-side", [CONJUNCT, "cc"], **{side: [CONJUNCT, "cc"]})
        if labels:
            found["argument-side"][side] = labels
    projective = kept("selective-projectivity", gold.names, labels="all")
    if projective:
        found["selective-projectivity"]["labels"] = projective
    return found


def _coordinated(gold: Gold) -> Counter[frozenset[str]]:
    """Trees in which words of two classes are head and conjunct."""
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


def toml(corpus: str, found: dict[str, dict[str, Any]]) -> str:
    """The constraint file: settings, and behind each label how often its rule holds."""
    lines = [
        f"# {corpus}: rules that hold in at least {100 * SHARE} % of the training trees where they could fail",
        f"# (at least {TREES}). Written by `python -m studies.riedel_clarke_2006.constraints.derive {corpus}`;",
        "# numbers: trees in which the rule holds / trees that have the label.",
    ]
    for family, settings in found.items():
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
    """How often the rules of a file as it stands hold: a line for each label, of the trees in which it occurs."""
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
    """Command line."""
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
