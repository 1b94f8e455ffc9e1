"""Check of derivations: a rule must license every step, and the words must be the words of the sentence.

The check shares the rules with the translators, but it does not know what the translators intended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from treebound.treebanks.ccg.categories import match
from treebound.treebanks.ccg.derivation import Derivation, licence
from treebound.treebanks.ccg.rules import CONJUNCTIONS, PUNCTUATION


@dataclass(frozen=True)
class Translation:
    """The result of translating a tree.

    derivation  the derivation, or None if a construction is not covered
    failure     name of the construction that is not covered; empty with a derivation
    counts      for Penn trees: name -> number of occurrences. Each kind of trace (*T*, *RNR* ...) has a name that
                counts its gaps. Other names count traces of quotations, coordinations of unlike categories, and
                gappings or argument clusters
    """

    derivation: Derivation | None
    failure: str = ""
    counts: Counter[str] = field(default_factory=Counter)


def checked(derivation: Derivation, words: Sequence[str], counts: Counter[str] | None = None) -> Translation:
    """Return a translation that holds the derivation, or else the first fault of the derivation as a failure."""
    fault = next(faults(derivation, words), "")
    return Translation(None if fault else derivation, fault and f"not licensed: {fault}", counts or Counter())


def faults(derivation: Derivation, words: Sequence[str] | None = None) -> Iterator[str]:
    """Yield a line for every fault of a derivation.

    Faults are steps that no rule licenses, empty words, and words other than `words`.
    """
    if words is not None and [leaf.word for leaf in derivation.leaves()] != list(words):
        yield f"words {' '.join(leaf.word for leaf in derivation.leaves())!r} are not {' '.join(words)!r}"
    for node in derivation.nodes():
        if not node.children:
            if not node.word:
                yield f"{node.category} without a word"
        elif not rule(node):
            yield f"{' '.join(str(c.category) for c in node.children)} => {node.category}"


def rule(node: Derivation) -> str:
    """Return the name of the rule that licenses a step, or "" without a rule.

    The name `ucp` stands for a coordination of unlike categories, which no rule of `rules` licenses.
    """
    licensed_by = licence(tuple(child.category for child in node.children), node.category)
    if not licensed_by and len(node.children) == 2 and node.category.conj:
        conj, right = node.children
        conjunct = node.category.with_conj(False)
        if (
            conj.category in CONJUNCTIONS
            and right.category not in PUNCTUATION
            and match(conjunct, right.category) is None
        ):
            return "ucp"
    return licensed_by


def forced(derivation: Derivation) -> list[str]:
    """Return the coordinations of unlike categories (section 4.5), for instance `conj PP => S[adj]\\NP[conj]`."""
    return [
        f"{' '.join(str(c.category) for c in node.children)} => {node.category}"
        for node in derivation.nodes()
        if node.children and rule(node) == "ucp"
    ]
