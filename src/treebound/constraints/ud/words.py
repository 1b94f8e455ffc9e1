"""Validity rules about a single arc.

They check that the label is in the inventory of Universal Dependencies, and that it fits the word's tag, the direction
of the arc and the features of the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from treebound.constraints.rows import Words
from treebound.constraints.ud.base import FEATS, LEMMA, EntryRule, Facts, Names, UdRule, UnaryRule
from treebound.constraints.ud.entries import Entry, entries
from treebound.constraints.ud.labels import (
    labels_of,
    labels_outside,
    labels_without,
    malformed_labels,
    unknown_relations,
)
from treebound.constraints.ud.violations import Fact, LabelledTree

ROOT_RELATION = frozenset({"root"})
GOESWITH = frozenset({"goeswith"})


@dataclass(frozen=True, kw_only=True)
class RootLabel(UnaryRule):
    """The rule that connects the relation `root` with the root.

    attached  True: only a dependent of the root has the relation. False: a dependent of the root has no other relation
    """

    attached: bool

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels that a dependent of the heads returned by `heads` may not have."""
        return (labels_of if self.attached else labels_outside)(names, ROOT_RELATION)

    def heads(self, words: Words, m: int) -> frozenset[int] | None:
        """Return the heads under which `labels` are excluded: all except the root if `attached`, else the root."""
        return frozenset(range(1, words.n + 1)) - {m} if self.attached else frozenset({0})


@dataclass(frozen=True, kw_only=True)
class Inventory(EntryRule):
    """The rule that labels belong to the inventory of Universal Dependencies.

    malformed  True: a label consists of lower-case letters, with at most one subtype. False: it is a universal relation
    """

    malformed: bool
    level: int = 2

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels of the inventory `names` that the rule excludes."""
        return (malformed_labels if self.malformed else unknown_relations)(names)

    def excludes(self, entry: Entry) -> bool:
        """Return True: no word, whatever its properties, may have a label in `labels`."""
        return True


@dataclass(frozen=True, kw_only=True)
class TagOfRelation(EntryRule):
    """The rule about the tag of a word with a certain relation; the feature ExtPos takes precedence over the tag.

    - relation: universal relation.
    - tags: list of tags.
    - allowed: True if a word with the relation must have one of the tags, False if it must not have any of them.
    - exact: True if a tag must equal one of `tags`, False if it only has to begin with one of them.
    """

    relation: str
    tags: tuple[str, ...]
    allowed: bool = True
    exact: bool = False
    needs: frozenset = FEATS
    tagged: bool = True

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels whose universal part is `relation`."""
        return labels_of(names, frozenset({self.relation}))

    def excludes(self, entry: Entry) -> bool:
        """Return whether the word's tag is not allowed."""
        tag = entry.external
        listed = tag in self.tags if self.exact else tag.startswith(self.tags)
        return listed != self.allowed


@dataclass(frozen=True, kw_only=True)
class UnlessGoeswith(UdRule):
    """A rule about tags (the inner rule) that does not concern words with a dependent of relation `goeswith`."""

    inner: TagOfRelation
    needs: frozenset = FEATS
    tagged: bool = True

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield the facts that break the rule: the arc, and the absence of `goeswith` dependents. O(n²).

        For every other word of the sentence, one fact says that the word is not a `goeswith` dependent.
        """
        parts = labels_of(tree.names, GOESWITH)
        continued = {int(tree.heads[w]) for w in range(1, tree.words.n + 1) if tree.labels[w] in parts}
        for (fact,) in self.inner.broken(tree):
            if fact.word not in continued:
                others = (w for w in range(1, tree.words.n + 1) if parts and w != fact.word)
                yield fact, *(Fact(w, frozenset({fact.word}), parts, holds=False) for w in others)

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of the inner rule."""
        return self.inner.labels(names)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts] | None:
        """Return the sets of facts that break the inner rule, or None if a label belongs to `goeswith`."""
        return None if labels_of(names, GOESWITH) else self.inner.patterns(words, names)


@dataclass(frozen=True, kw_only=True)
class RelationOfPunctuation(EntryRule):
    """The rule that a word with the tag PUNCT has a relation that begins with `punct` or `root`."""

    needs: frozenset = FEATS
    tagged: bool = True

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels that punctuation may not have."""
        return labels_without(names, ("punct", "root"))

    def excludes(self, entry: Entry) -> bool:
        """Return whether the word is tagged as punctuation."""
        return entry.external == "PUNCT"


@dataclass(frozen=True, kw_only=True)
class FixedProperNoun(EntryRule):
    """The rule that a proper noun is neither a dependent nor a head of the relation `fixed`."""

    about_heads: ClassVar[bool] = True
    needs: frozenset = FEATS
    tagged: bool = True

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels of the relation `fixed`."""
        return labels_of(names, frozenset({"fixed"}))

    def excludes(self, entry: Entry) -> bool:
        """Return whether the word is a proper noun."""
        return entry.external == "PROPN"

    def excludes_under(self, entry: Entry) -> bool:
        """Return whether the head is a proper noun."""
        return entry.external == "PROPN"


@dataclass(frozen=True, kw_only=True)
class HeadFeature(EntryRule):
    """The rule that the head of a relation has a certain feature.

    relation  universal relation
    feature   name of the feature
    value     its value; "" allows every value
    treebank  whether the rule concerns only sentences in which some word has features
    """

    relation: str
    feature: str
    value: str = ""
    treebank: bool = False
    about_heads: ClassVar[bool] = True
    needs: frozenset = FEATS

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels whose universal part is `relation`."""
        return labels_of(names, frozenset({self.relation}))

    def excludes_under(self, entry: Entry) -> bool:
        """Return whether the head lacks the feature."""
        value = entry.feature(self.feature)
        return value != self.value if self.value else not value

    def applies(self, words: Words) -> bool:
        """Return whether features are known and, if `treebank`, whether some word has features."""
        return super().applies(words) and (not self.treebank or any(e.feats != "_" for e in entries(words)))


@dataclass(frozen=True, kw_only=True)
class ForeignChain(EntryRule):
    """The rule that both words of a `flat:foreign` have the tag X and the single feature Foreign=Yes."""

    about_heads: ClassVar[bool] = True
    needs: frozenset = FEATS
    tagged: bool = True

    def labels(self, names: Names) -> frozenset[str]:
        """Return the label `flat:foreign` if the inventory has it."""
        return frozenset({"flat:foreign"}) & frozenset(names)

    def excludes(self, entry: Entry) -> bool:
        """Return whether the word has another tag or other features."""
        return (entry.tag, entry.feats) != ("X", "Foreign=Yes")

    def excludes_under(self, entry: Entry) -> bool:
        """Return whether the head has another tag or other features."""
        return self.excludes(entry)


@dataclass(frozen=True, kw_only=True)
class LeftToRight(UnaryRule):
    """The rule that the head of a relation precedes the dependent."""

    relation: str

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels whose universal part is `relation`."""
        return labels_of(names, frozenset({self.relation}))

    def heads(self, words: Words, m: int) -> frozenset[int] | None:
        """Return the heads that the relation excludes: all words after the dependent."""
        return frozenset(range(m + 1, words.n + 1))


@dataclass(frozen=True, kw_only=True)
class GoeswithColumn(EntryRule):
    """The rule that a later part of a word written as several words (`goeswith`) has an empty column."""

    column: str

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels of the relation `goeswith`."""
        return labels_of(names, GOESWITH)

    def excludes(self, entry: Entry) -> bool:
        """Return whether the word has an annotation in the column."""
        return {"lemma": entry.lemmatised, "tag": entry.tag != "X", "feats": entry.feats != "_"}[self.column]


def _tags(relation: str, tags: str, *, allowed: bool = True, exact: bool = False) -> TagOfRelation:
    """Return a `TagOfRelation` rule from its space-separated tags."""
    name = f"rel-upos-{relation}"
    return TagOfRelation(id=name, relation=relation, tags=tuple(tags.split()), allowed=allowed, exact=exact)


_LEFT_TO_RIGHT = ("conj", "fixed", "flat", "goeswith", "appos")
#: the rules, in the order of the validator's levels; the lists of tags are from the validator
RULES: tuple[UdRule, ...] = (
    Inventory(id="invalid-deprel", malformed=True),
    Inventory(id="unknown-udeprel", malformed=False),
    RootLabel(id="0-is-not-root", attached=False),
    RootLabel(id="root-is-not-0", attached=True),
    _tags("det", "DET PRON"),
    _tags("nummod", "NUM NOUN SYM", exact=True),
    UnlessGoeswith(id="rel-upos-advmod", inner=_tags("advmod", "ADV ADJ CCONJ DET PART SYM")),
    _tags("expl", "PRON DET PART", exact=True),
    _tags("aux", "AUX"),
    _tags("cop", "AUX PRON DET SYM"),
    _tags("case", "PROPN ADJ PRON DET NUM AUX", allowed=False),
    _tags("mark", "NOUN PROPN ADJ PRON DET NUM AUX INTJ", allowed=False),
    _tags("cc", "NOUN PROPN ADJ PRON DET NUM VERB AUX INTJ", allowed=False),
    _tags("punct", "PUNCT", exact=True),
    FixedProperNoun(id="rel-upos-fixed"),
    RelationOfPunctuation(id="upos-rel-punct"),
    *(
        LeftToRight(id=f"right-to-left-{name}", relation=name)
        for name in ("conj", "fixed", "flat", "goeswith", "appos")
    ),
    HeadFeature(id="fixed-without-extpos", relation="fixed", feature="ExtPos", severity="warning"),
    HeadFeature(id="goeswith-missing-typo", relation="goeswith", feature="Typo", value="Yes", treebank=True),
    GoeswithColumn(id="goeswith-lemma", column="lemma", needs=LEMMA),
    GoeswithColumn(id="goeswith-upos", column="tag", tagged=True),
    GoeswithColumn(id="goeswith-feats", column="feats", needs=FEATS),
    ForeignChain(id="flat-foreign-upos-feats", severity="warning"),
)
