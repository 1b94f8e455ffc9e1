"""Generate random CCG derivations over a small vocabulary.

The derivations contain transitive verbs, adverbs, prepositions, coordination and raised subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.dependencies import Dependency
from treebound.treebanks.ccg.derivation import Derivation, Entry, write
from treebound.treebanks.ccg.rules import combine, raised

NOUNS = ("dog", "cat", "bird", "fish", "house", "tree")
VERBS = ("sees", "likes", "hears")
VP = "(S[dcl]\\NP)"


def word(form: str, tag: str, category: str) -> Derivation:
    return Derivation(parse(category), word=form, tag=tag)


def up(child: Derivation, category: str, rule: str = "tc") -> Derivation:
    return Derivation(parse(category), rule, 0, (child,))


def both(left: Derivation, right: Derivation, rule: str) -> Derivation:
    combination = next(f for f in combine(left.category, right.category) if f.rule == rule)
    return Derivation(combination.result, rule, combination.head, (left, right))


def head_leaf(derivation: Derivation) -> Derivation:
    """Return the word that is the lexical head of a derivation."""
    while derivation.children:
        derivation = derivation.children[derivation.head]
    return derivation


class Maker:
    """A generator of random derivations, which depend on the seed only."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, options: Sequence[str]) -> str:
        return options[self.rng.integers(len(options))]

    def noun_phrase(self, depth: int = 0) -> Derivation:
        noun = word(self.pick(NOUNS), "NN", "N")
        if self.chance(0.3):
            noun = both(word(self.pick(("old", "big")), "JJ", "N/N"), noun, "fa")
        phrase = both(word("the", "DT", "NP[nb]/N"), noun, "fa") if self.chance(0.6) else up(noun, "NP")
        if depth < 2 and self.chance(0.25):
            phrase = both(phrase, self.prepositional("NP\\NP", depth), "ba")
        if depth < 1 and self.chance(0.2):
            conjunct = self.noun_phrase(depth + 1)
            phrase = both(phrase, both(word("and", "CC", "conj"), conjunct, "conj"), "coord")
        return phrase

    def prepositional(self, category: str, depth: int) -> Derivation:
        preposition = word(self.pick(("with", "in")), "IN", f"({category})/NP")
        return both(preposition, self.noun_phrase(depth + 1), "fa")

    def predicate(self) -> Derivation:
        if self.chance(0.6):
            verb = word(self.pick(VERBS), "VBZ", f"{VP}/NP")
            verb = both(verb, self.noun_phrase(), "fa")
        else:
            verb = word(self.pick(("sleeps", "runs")), "VBZ", "S[dcl]\\NP")
        if self.chance(0.3):
            verb = both(verb, word(self.pick(("often", "well")), "RB", "(S\\NP)\\(S\\NP)"), "ba")
        if self.chance(0.3):
            verb = both(verb, self.prepositional("(S\\NP)\\(S\\NP)", 0), "ba")
        return verb

    def sentence(self) -> Derivation:
        subject = self.noun_phrase()
        if self.chance(0.1):  # the dog sees and the cat hears the bird
            halves = []
            for phrase in (subject, self.noun_phrase(1)):
                raised_subject = up(phrase, str(raised(phrase.category, parse("S"))), "tr")
                halves.append(both(raised_subject, word(self.pick(VERBS), "VBZ", f"{VP}/NP"), "fc"))
            conjoined = both(halves[0], both(word("and", "CC", "conj"), halves[1], "conj"), "coord")
            whole = both(conjoined, self.noun_phrase(), "fa")
        else:
            whole = both(subject, self.predicate(), "ba")
        return both(whole, word(".", ".", "."), "rp")


def derivations(seed: int, count: int) -> list[Derivation]:
    maker = Maker(seed)
    return [maker.sentence() for _ in range(count)]


def write_auto(path: Path, seed: int, count: int) -> None:
    write(path, [Entry(f"made.{i}", derivation) for i, derivation in enumerate(derivations(seed, count), 1)])


def read_parg(path: Path) -> list[tuple[str, list[Dependency]]]:
    """Return the sentence names of a `.parg` file with their dependencies."""
    sentences: list[tuple[str, list[Dependency]]] = []
    for line in path.read_text().splitlines():
        if line.startswith("<s "):
            sentences.append((line.split('"')[1], []))
        elif not line.startswith("<"):
            filler, head, category, slot, *_ = line.split()
            sentences[-1][1].append(Dependency(int(head), parse(category), int(slot), int(filler)))
    return sentences
