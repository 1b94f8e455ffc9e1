"""Universal Dependencies -> CCG derivations, for every language.

Core arguments become arguments of their head's category, prepositions, subordinators and copulas functions over what
they mark, everything else adjuncts or specifiers (`relations.toml`). Binarised from the outside in: conjuncts with
their own subject or article, what stands left, what stands right; behind nouns first. Where a clause or a bare noun
phrase is an adjunct it is type-changed, which keeps the lexicon small. Only projective trees.
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
    """A sentence: head[i] of word i (0 the root), for i >= 1; everything indexed from 1, position 0 unused."""

    form: Sequence[str]
    tag: Sequence[str]
    upos: Sequence[str]
    relation: Sequence[str]
    head: Sequence[int]


def translate(words: Words) -> Translation:
    """The derivation of a tree with one root; of trees with crossing arcs there is none. Time O(words x depth)."""
    if _crosses(words.head):
        return Translation(None, "crossing arcs")
    try:
        return checked(_Translator(words).sentence(), words.form[1:])
    except Failure as error:
        return Translation(None, str(error))


def relations() -> dict[str, dict[str, str | bool]]:
    """The table of relations, `relations.toml`."""
    return _TABLE


def _crosses(head: Sequence[int]) -> bool:
    """Whether an arc leads out of the span of another. Time O(n^2)."""
    for word in range(1, len(head)):
        left, right = sorted((word, head[word]))
        if any(not left <= head[between] <= right for between in range(left + 1, right)):
            return True
    return False


def _relation(text: str) -> str:
    """The relation as the table lists it, or without its subtype."""
    if any(text in table for table in _TABLE.values()):
        return text
    return text.partition(":")[0]


def _modifier(category: Category, left: bool) -> Category:
    """What an adjunct of a category is. Beside a modifier of modifiers it is one of the same kind: the two compose."""
    basis = stripped(category)
    slash = "/" if left else "\\"
    if basis.is_modifier and basis.result.is_modifier and basis.slash == slash:
        return basis
    return functor(basis, slash, basis)


class _Translator:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.relation = [_relation(text) for text in words.relation]
        self.dependents: list[list[int]] = [[] for _ in words.form]
        for word in range(1, len(words.form)):
            self.dependents[words.head[word]].append(word)

    def sentence(self) -> Derivation:
        if len(self.dependents[0]) != 1:
            raise Failure(f"{len(self.dependents[0])} roots")
        root = self.dependents[0][0]
        return self.phrase(root, self.natural(root, clause=True))

    def has(self, word: int, *relations: str) -> bool:
        """Whether a word has a dependent of one of the relations."""
        return any(self.relation[d] in relations for d in self.dependents[word])

    def is_verbal(self, word: int) -> bool:
        """The head of a clause: a verb, or whatever has a subject or a copula."""
        subject = ("nsubj", "csubj", "nsubj:pass", "nsubjpass", "csubjpass", "cop")
        return self.words.upos[word] in ("VERB", "AUX") or self.has(word, *subject)

    def natural(self, word: int, clause: bool = False) -> Category:
        """The category of a phrase on its own; of a clause without a subject S\\NP, or S at the root."""
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
        """A word with all its dependents as a category."""
        return self.around(word, list(self.dependents[word]), category)

    def around(self, word: int, rest: list[int], category: Category) -> Derivation:
        """A word with the dependents that are left as a category: the outermost of them goes first."""
        if not rest:
            return self.word(word, category)
        dependent = self.outermost(word, rest, category)
        others = [d for d in rest if d != dependent]
        left = dependent < word
        relation = self.relation[dependent]
        if self.is_punctuation(dependent):
            return self.absorbed(self.around(word, others, category), dependent, left)
        if relation == "conj" and not left:
            return self.conjoined(word, others, dependent, category)
        if relation in _TABLE["functors"]:
            return self.marked(word, others, dependent, category)
        if category is _NP and relation in _TABLE["specifiers"] and self.words.upos[word] != "PRON":
            return self.determined(word, others, dependent, left)
        if category is _NP and left and not any(self.relation[d] in _TABLE["specifiers"] for d in others):
            inner = self.around(word, rest, _N)  # bare nouns: modifiers belong to the noun
            return Derivation(_NP, "tc", 0, (inner,))
        if relation in _TABLE["arguments"] and category.target.name == "S" and not category.is_modifier:
            wanted = self.argument(dependent)
            body = self.around(word, others, functor(category, "\\" if left else "/", wanted))
            argument = self.as_(dependent, wanted)
            return join(*((argument, body) if left else (body, argument)), category, f"argument {relation}")
        adjunct = self.as_(dependent, _modifier(category, left))
        body = self.around(word, others, category)
        return join(*((adjunct, body) if left else (body, adjunct)), category, f"adjunct {relation}")

    def outermost(self, word: int, rest: list[int], category: Category) -> int:
        """Which dependent is combined last."""
        first, last = rest[0], rest[-1]
        for edge in (last, first):
            if self.is_punctuation(edge) and (edge < word) == (edge == first):
                return edge
        if last > word:
            relation = self.relation[last]
            if first > word or (relation == "conj" and self.stands_alone(word, last)):
                return last
            functional = any(self.relation[d] in _TABLE["functors"] for d in rest if d < word)
            if relation in _TABLE["functors"] or (category is _NP and not functional):
                return last
            if self.relation[first] == "cop" and relation.partition(":")[0] in _CLAUSAL:
                return last
        return first

    def stands_alone(self, word: int, conjunct: int) -> bool:
        """Whether a conjunct has a subject, article, preposition ... of its own and shares not the first one's."""
        kinds = {self.relation[d] for d in self.dependents[word] if d < word}
        own = {self.relation[d] for d in self.dependents[conjunct] if d < conjunct}
        return bool(kinds & own - {"cc", "punct", "advmod", "amod"}) or "nsubj" in own

    def is_punctuation(self, word: int) -> bool:
        """A mark without dependents."""
        return self.words.upos[word] == "PUNCT" and not self.dependents[word]

    def word(self, word: int, category: Category) -> Derivation:
        """The word itself; a noun in the place of a noun phrase is type-changed."""
        form, tag = self.words.form[word], self.words.tag[word]
        if category is _NP and self.words.upos[word] not in ("PRON", "DET"):
            return Derivation(_NP, "tc", 0, (Derivation(_N, word=form, tag=tag),))
        return Derivation(category, word=form, tag=tag)

    def absorbed(self, inner: Derivation, mark: int, left: bool) -> Derivation:
        """A constituent beside a punctuation mark."""
        leaf = self.mark(mark)
        return Derivation(inner.category, "lp" if left else "rp", int(left), (leaf, inner) if left else (inner, leaf))

    def mark(self, word: int) -> Derivation:
        """A punctuation mark."""
        form = self.words.form[word]
        return Derivation(atom(_MARKS.get(form, ".")), word=form, tag=self.words.tag[word])

    def argument(self, word: int) -> Category:
        """The category of an argument by its relation and, for clauses, by what it has."""
        kind = _TABLE["arguments"][self.relation[word]]
        if kind in ("verbal", "predicate"):
            return self.natural(word)
        return parse(kind)

    def as_(self, word: int, category: Category) -> Derivation:
        """A dependent as a category: clauses and bare noun phrases are built as what they are and type-changed."""
        if self.has(word, *_TABLE["functors"]) and not self.has(word, "cop"):
            return self.phrase(word, category)
        own = self.natural(word)
        verbal = self.is_verbal(word) and self.relation[word] not in ("aux", "amod", "fixed", "flat", "compound")
        nominal = self.words.upos[word] in _NOMINAL and self.dependents[word] and category.is_modifier
        if match(category, own) is None and (verbal or (nominal and own is _NP)):
            built = self.phrase(word, own)
            if category in UNARY.get(built.category, ()):
                return Derivation(category, "tc", 0, (built,))
        return self.phrase(word, category)

    def determined(self, word: int, others: list[int], dependent: int, left: bool) -> Derivation:
        """A noun with its article or possessor: NP[nb]/N."""
        specifier = self.as_(dependent, functor(parse("NP[nb]"), "/" if left else "\\", _N))
        body = self.around(word, others, _N)
        return join(*((specifier, body) if left else (body, specifier)), _NP, "specifier")

    def marked(self, word: int, others: list[int], marker: int, category: Category) -> Derivation:
        """A preposition, subordinator or copula over the phrase that it marks."""
        left = marker < word
        inner = self.inner(word, others, self.relation[marker], category)
        outside = functor(category, "/" if left else "\\", inner)
        body = self.around(word, others, inner)
        first = self.phrase(marker, outside)
        return join(*((first, body) if left else (body, first)), category, f"marker {self.relation[marker]}")

    def inner(self, word: int, others: list[int], relation: str, category: Category) -> Category:
        """What a marker takes."""
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
        """X conj X; a comma stands for a conjunction that is missing."""
        outer = [
            d for d in others if d > word and self.relation[d] == "cc"
        ]  # older treebanks: below the first conjunct
        before = max([d for d in others if self.relation[d] == "conj"], default=word)
        between = [d for d in outer if before < d < conjunct][-1:]
        own = list(self.dependents[conjunct])
        marks: list[int] = list(between)
        while own and own[0] < conjunct and (self.is_punctuation(own[0]) or self.relation[own[0]] == "cc"):
            marks.append(own.pop(0))
        others = [d for d in others if d not in between]
        if others and others[-1] > word and self.is_punctuation(others[-1]) and (not marks or others[-1] < marks[0]):
            marks.insert(0, others.pop())
        at = next((i for i in reversed(range(len(marks))) if self.relation[marks[i]] == "cc"), len(marks) - 1)
        left = self.around(word, others, category)
        if at < 0 or any(self.dependents[m] for m in marks[:at] + marks[at + 1 :]):
            return self.juxtaposed(left, conjunct, category)
        right = self.around(conjunct, own, left.category)
        for mark in reversed(marks[at + 1 :]):
            right = self.absorbed(right, mark, True)
        conj = self.phrase(marks[at], parse("conj")) if self.relation[marks[at]] == "cc" else self.mark(marks[at])
        if conj.category not in CONJUNCTIONS:
            conj = Derivation(parse(","), word=conj.word, tag=conj.tag)
        if match(left.category, right.category) is None:
            raise Failure("conjuncts of unlike categories")
        right = Derivation(right.category.with_conj(), "conj", 1, (conj, right))
        for mark in reversed(marks[:at]):
            right = self.absorbed(right, mark, True)
        return Derivation(left.category, "coord", 0, (left, right))

    def juxtaposed(self, left: Derivation, conjunct: int, category: Category) -> Derivation:
        """A conjunct without conjunction or comma: an adjunct."""
        right = self.as_(conjunct, _modifier(category, False))
        return join(left, right, category, "conjunct without a conjunction")
