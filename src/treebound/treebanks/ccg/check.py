"""The licensing checker: every step of a derivation by a rule, and its words those of the sentence.

It shares the rules with the translators, and nothing else: what they meant to do is not asked.
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
    """What became of a tree.

    derivation  or None where a construction is not covered
    failure     that construction, "" where all is well
    counts      of Penn trees: gaps by kind of trace, fronted quotations, forced coordinations
    """

    derivation: Derivation | None
    failure: str = ""
    counts: Counter[str] = field(default_factory=Counter)


def checked(derivation: Derivation, words: Sequence[str], counts: Counter[str] | None = None) -> Translation:
    """A translation whose derivation stands only if nothing is wrong with it."""
    fault = next(faults(derivation, words), "")
    return Translation(None if fault else derivation, fault and f"not licensed: {fault}", counts or Counter())


def faults(derivation: Derivation, words: Sequence[str] | None = None) -> Iterator[str]:
    """What is wrong with a derivation, a line each; nothing if all its steps are licensed and its words are `words`."""
    if words is not None and [leaf.word for leaf in derivation.leaves()] != list(words):
        yield f"words {' '.join(leaf.word for leaf in derivation.leaves())!r} are not {' '.join(words)!r}"
    for node in derivation.nodes():
        if not node.children:
            if not node.word:
                yield f"{node.category} without a word"
        elif not rule(node):
            yield f"{' '.join(str(c.category) for c in node.children)} => {node.category}"


def rule(node: Derivation) -> str:
    """The rule that licenses a step, `ucp` for a forced coordination of unlike categories, or "" if none does."""
    found = licence(tuple(child.category for child in node.children), node.category)
    if not found and len(node.children) == 2 and node.category.conj:
        conj, right = node.children
        bare = node.category.with_conj(False)
        if conj.category in CONJUNCTIONS and right.category not in PUNCTUATION and match(bare, right.category) is None:
            return "ucp"
    return found


def forced(derivation: Derivation) -> list[str]:
    """The coordinations of unlike categories (section 4.5), `conj PP => S[adj]\\NP[conj]` for instance."""
    return [
        f"{' '.join(str(c.category) for c in node.children)} => {node.category}"
        for node in derivation.nodes()
        if node.children and rule(node) == "ucp"
    ]
