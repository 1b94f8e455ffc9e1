"""Translation of Universal Dependencies into CCG derivations, for every language.

Core arguments become arguments of their head's category. Prepositions, subordinators and copulas become functions over
the phrase that they mark. All other dependents become adjuncts or specifiers (`relations.toml`).

Dependents are combined from the outside in: first conjuncts with a subject or article of their own, then dependents to
the left of the head, then dependents to its right; for nouns, the right side comes first. A clause or bare noun phrase
that is an adjunct is type-changed, which keeps the lexicon small. Only projective trees are translated.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from treebound.treebanks.ccg.categories import Category, atom, functor, match, parse
from treebound.treebanks.ccg.check import Translation, checked
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.joining import Failure, join, stripped
from treebound.treebanks.ccg.rules import CONJUNCTIONS, UNARY

_TABLE = tomllib.loads(files(__package__).joinpath("relations.toml").read_text(encoding="utf-8"))
_S, _NP, _N, _PP = parse("S"), parse("NP"), parse("N"), parse("PP")
_VP, _ADJ = parse("S\\NP"), parse("S[adj]\\NP")
_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM", "SYM", "X", "DET"))
_MARKS = {",": ",", ";": ";", ":": ":", "(": "LRB", ")": "RRB", "[": "LRB", "]": "RRB", "-": ":", "--": ":", "–": ":"}
_CLAUSAL = frozenset(("nsubj", "csubj", "obl", "advcl", "ccomp", "parataxis", "aux", "advmod", "vocative", "discourse"))


@dataclass(frozen=True)
class Words:
    """A sentence as lists over words from 1, with position 0 unused; head[i] is the head of word i, 0 for the root."""

    form: Sequence[str]
    tag: Sequence[str]
    upos: Sequence[str]
    relation: Sequence[str]
    head: Sequence[int]


def translate(words: Words) -> Translation:
    """Return the derivation of a tree with a single root and without crossing arcs. Time O(words x depth)."""
    if _crosses(words.head):
        return Translation(None, "crossing arcs")
    try:
        return checked(_Translator(words).sentence(), words.form[1:])
    except Failure as error:
        return Translation(None, str(error))


def relations() -> dict[str, dict[str, str | bool]]:
    """Return the table of relations from `relations.toml`."""
    return _TABLE


def _crosses(head: Sequence[int]) -> bool:
    """Return whether an arc leaves the span of another arc. Time O(n^2)."""
    for word in range(1, len(head)):
        left, right = sorted((word, head[word]))
        if any(not left <= head[between] <= right for between in range(left + 1, right)):
            return True
    return False


def _relation(text: str) -> str:
    """Return a relation unchanged if `relations.toml` lists it, and otherwise without its subtype."""
    if any(text in table for table in _TABLE.values()):
        return text
    return text.partition(":")[0]


def _modifier(category: Category, on_left: bool) -> Category:
    """Return the category of an adjunct to the left or right of a constituent of this category.

    If the constituent is a modifier of modifiers with the same slash, the adjunct has the same category as the
    constituent, so that the two compose.
    """
    basis = stripped(category)
    slash = "/" if on_left else "\\"
    if basis.is_modifier and basis.result.is_modifier and basis.slash == slash:
        return basis
    return functor(basis, slash, basis)


class _Translator:
    """The translation of one sentence into a derivation."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.relation = [_relation(text) for text in words.relation]
        self.dependents: list[list[int]] = [[] for _ in words.form]
        for word in range(1, len(words.form)):
            self.dependents[words.head[word]].append(word)

    def sentence(self) -> Derivation:
        """Translate the whole sentence. Raise Failure if it does not have exactly one root."""
        if len(self.dependents[0]) != 1:
            raise Failure(f"{len(self.dependents[0])} roots")
        root = self.dependents[0][0]
        return self.phrase(root, self.natural(root, clause=True))

    def has(self, word: int, *relations: str) -> bool:
        """Return whether a word has a dependent with one of the relations."""
        return any(self.relation[d] in relations for d in self.dependents[word])

    def is_verbal(self, word: int) -> bool:
        """Return whether a word heads a clause: it is a verb, or has a subject or a copula."""
        subject = ("nsubj", "csubj", "nsubj:pass", "nsubjpass", "csubjpass", "cop")
        return self.words.upos[word] in ("VERB", "AUX") or self.has(word, *subject)

    def natural(self, word: int, clause: bool = False) -> Category:
        """Return the category of a phrase by itself; a clause without a subject is S\\NP, or S if `clause` is set."""
        if self.is_verbal(word):
            subject = self.has(word, "nsubj", "csubj", "nsubj:pass", "nsubjpass", "csubjpass")
            return _S if clause or subject else _VP
        if self.has(word, "case"):
            return _PP
        upos = self.words.upos[word]
        if upos in _NOMINAL or self.has(word, *_TABLE["specifiers"]):
            return _NP
        return _ADJ if upos in ("ADJ", "ADV") else _S if upos == "INTJ" else _NP

    def phrase(self, word: int, category: Category) -> Derivation:
        """Translate a word with all its dependents into a constituent of the category."""
        return self.around(word, list(self.dependents[word]), category)

    def around(self, word: int, dependents: list[int], category: Category) -> Derivation:
        """Translate a word and the given dependents into a constituent; the outermost dependent is combined last."""
        if not dependents:
            return self.word(word, category)
        dependent = self.outermost(word, dependents, category)
        others = [d for d in dependents if d != dependent]
        on_left = dependent < word
        relation = self.relation[dependent]
        if self.is_punctuation(dependent):
            return self.absorbed(self.around(word, others, category), dependent, on_left)
        if relation == "conj" and not on_left:
            return self.conjoined(word, others, dependent, category)
        if relation in _TABLE["functors"]:
            return self.marked(word, others, dependent, category)
        if category is _NP and relation in _TABLE["specifiers"] and self.words.upos[word] != "PRON":
            return self.determined(word, others, dependent, on_left)
        if category is _NP and on_left and not any(self.relation[d] in _TABLE["specifiers"] for d in others):
            inner = self.around(word, dependents, _N)  # the modifiers of a bare noun belong to N
            return Derivation(_NP, "tc", 0, (inner,))
        if relation in _TABLE["arguments"] and category.target.name == "S" and not category.is_modifier:
            argument_category = self.argument(dependent)
            body = self.around(word, others, functor(category, "\\" if on_left else "/", argument_category))
            argument = self.as_(dependent, argument_category)
            return join(*((argument, body) if on_left else (body, argument)), category, f"argument {relation}")
        adjunct = self.as_(dependent, _modifier(category, on_left))
        body = self.around(word, others, category)
        return join(*((adjunct, body) if on_left else (body, adjunct)), category, f"adjunct {relation}")

    def outermost(self, word: int, dependents: list[int], category: Category) -> int:
        """Return the dependent that is combined last."""
        first, last = dependents[0], dependents[-1]
        for end in (last, first):
            if self.is_punctuation(end) and (end < word) == (end == first):
                return end
        if last > word:
            relation = self.relation[last]
            if first > word or (relation == "conj" and self.stands_alone(word, last)):
                return last
            functional = any(self.relation[d] in _TABLE["functors"] for d in dependents if d < word)
            if relation in _TABLE["functors"] or (category is _NP and not functional):
                return last
            if self.relation[first] == "cop" and relation.partition(":")[0] in _CLAUSAL:
                return last
        return first

    def stands_alone(self, word: int, conjunct: int) -> bool:
        """Return whether a conjunct has a subject, article, preposition ... of its own.

        Otherwise it shares the subject, article, preposition ... of the first conjunct.
        """
        first_relations = {self.relation[d] for d in self.dependents[word] if d < word}
        own_relations = {self.relation[d] for d in self.dependents[conjunct] if d < conjunct}
        return bool(first_relations & own_relations - {"cc", "punct", "advmod", "amod"}) or "nsubj" in own_relations

    def is_punctuation(self, word: int) -> bool:
        """Return whether a word is a punctuation mark without dependents."""
        return self.words.upos[word] == "PUNCT" and not self.dependents[word]

    def word(self, word: int, category: Category) -> Derivation:
        """Return the word itself; a noun in place of a noun phrase is type-changed."""
        form, tag = self.words.form[word], self.words.tag[word]
        if category is _NP and self.words.upos[word] not in ("PRON", "DET"):
            return Derivation(_NP, "tc", 0, (Derivation(_N, word=form, tag=tag),))
        return Derivation(category, word=form, tag=tag)

    def absorbed(self, inner: Derivation, mark: int, on_left: bool) -> Derivation:
        """Return a constituent with a punctuation mark beside it."""
        leaf = self.mark(mark)
        return Derivation(
            inner.category, "lp" if on_left else "rp", int(on_left), (leaf, inner) if on_left else (inner, leaf)
        )

    def mark(self, word: int) -> Derivation:
        """Return a punctuation mark as a constituent."""
        form = self.words.form[word]
        return Derivation(atom(_MARKS.get(form, ".")), word=form, tag=self.words.tag[word])

    def argument(self, word: int) -> Category:
        """Return the category of an argument by its relation; a clause has the category that `natural` returns."""
        kind = _TABLE["arguments"][self.relation[word]]
        if kind in ("verbal", "predicate"):
            return self.natural(word)
        return parse(kind)

    def as_(self, word: int, category: Category) -> Derivation:
        """Translate a dependent into a constituent of the given category.

        Clauses and bare noun phrases are built in their own category and then type-changed.
        """
        if self.has(word, *_TABLE["functors"]) and not self.has(word, "cop"):
            return self.phrase(word, category)
        natural = self.natural(word)
        verbal = self.is_verbal(word) and self.relation[word] not in ("aux", "amod", "fixed", "flat", "compound")
        nominal = self.words.upos[word] in _NOMINAL and self.dependents[word] and category.is_modifier
        if match(category, natural) is None and (verbal or (nominal and natural is _NP)):
            built = self.phrase(word, natural)
            if category in UNARY.get(built.category, ()):
                return Derivation(category, "tc", 0, (built,))
        return self.phrase(word, category)

    def determined(self, word: int, others: list[int], dependent: int, on_left: bool) -> Derivation:
        """Return a noun with its article or possessor, of category NP[nb]/N or NP[nb]\\N, as a noun phrase."""
        specifier = self.as_(dependent, functor(parse("NP[nb]"), "/" if on_left else "\\", _N))
        body = self.around(word, others, _N)
        return join(*((specifier, body) if on_left else (body, specifier)), _NP, "specifier")

    def marked(self, word: int, others: list[int], marker: int, category: Category) -> Derivation:
        """Return a preposition, subordinator or copula applied to the phrase that it marks."""
        on_left = marker < word
        inner = self.inner(word, others, self.relation[marker], category)
        outside = functor(category, "/" if on_left else "\\", inner)
        body = self.around(word, others, inner)
        first = self.phrase(marker, outside)
        return join(*((first, body) if on_left else (body, first)), category, f"marker {self.relation[marker]}")

    def inner(self, word: int, others: list[int], relation: str, category: Category) -> Category:
        """Return the category that a marker of word `word` takes as argument.

        others    the other dependents of the word
        relation  the relation of the marker
        category  the category of the phrase with its marker
        """
        kinds = {self.relation[d] for d in others}
        if kinds & {"case"} and relation != "mark":
            return _PP
        if relation == "mark" and (self.words.upos[word] in ("VERB", "AUX") or kinds & {"nsubj", "cop", "csubj"}):
            if category in (_S, _VP):
                return category
            return _S if kinds & {"nsubj", "csubj", "nsubj:pass"} else _VP
        if relation == "cop" or relation == "mark":
            return _ADJ if self.words.upos[word] in ("ADJ", "ADV", "VERB") else _NP
        return _NP

    def conjoined(self, word: int, others: list[int], conjunct: int, category: Category) -> Derivation:
        """Return a coordination X conj X; a comma replaces a missing conjunction."""
        # older treebanks attach conjunctions to the first conjunct
        outer = [d for d in others if d > word and self.relation[d] == "cc"]
        before = max([d for d in others if self.relation[d] == "conj"], default=word)
        between = [d for d in outer if before < d < conjunct][-1:]
        remaining = list(self.dependents[conjunct])
        marks: list[int] = list(between)
        while (
            remaining
            and remaining[0] < conjunct
            and (self.is_punctuation(remaining[0]) or self.relation[remaining[0]] == "cc")
        ):
            marks.append(remaining.pop(0))
        others = [d for d in others if d not in between]
        if others and others[-1] > word and self.is_punctuation(others[-1]) and (not marks or others[-1] < marks[0]):
            marks.insert(0, others.pop())
        conj_index = next((i for i in reversed(range(len(marks))) if self.relation[marks[i]] == "cc"), len(marks) - 1)
        first_conjunct = self.around(word, others, category)
        if conj_index < 0 or any(self.dependents[m] for m in marks[:conj_index] + marks[conj_index + 1 :]):
            return self.juxtaposed(first_conjunct, conjunct, category)
        right = self.around(conjunct, remaining, first_conjunct.category)
        for mark in reversed(marks[conj_index + 1 :]):
            right = self.absorbed(right, mark, True)
        conj = (
            self.phrase(marks[conj_index], parse("conj"))
            if self.relation[marks[conj_index]] == "cc"
            else self.mark(marks[conj_index])
        )
        if conj.category not in CONJUNCTIONS:
            conj = Derivation(parse(","), word=conj.word, tag=conj.tag)
        if match(first_conjunct.category, right.category) is None:
            raise Failure("conjuncts of unlike categories")
        right = Derivation(right.category.with_conj(), "conj", 1, (conj, right))
        for mark in reversed(marks[:conj_index]):
            right = self.absorbed(right, mark, True)
        return Derivation(first_conjunct.category, "coord", 0, (first_conjunct, right))

    def juxtaposed(self, first_conjunct: Derivation, conjunct: int, category: Category) -> Derivation:
        """Return the first conjunct with an adjunct: a later conjunct that has no conjunction or comma before it."""
        right = self.as_(conjunct, _modifier(category, False))
        return join(first_conjunct, right, category, "conjunct without a conjunction")
