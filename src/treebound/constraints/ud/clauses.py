"""Validity rules about a head and its dependents: how many of a kind are allowed, and which labels may co-occur."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from treebound.constraints.rows import Words
from treebound.constraints.ud.base import FEATS, MISC, NO_COLUMNS, Column, Facts, Names, TwoLabelsRule, UdRule
from treebound.constraints.ud.entries import Entry, entries
from treebound.constraints.ud.labels import inner_subjects, labels_of, labels_outside
from treebound.constraints.ud.violations import Fact, LabelledTree

OBJECT = frozenset({"obj"})
PUNCT = frozenset({"punct"})


@dataclass(frozen=True, kw_only=True)
class AtMostOne(UdRule):
    """The rule that a word has at most one subject, or the rule that a word has at most one direct object.

    subjects  True for the rule about subjects, which ignores subjects of outer clauses; False for direct objects
    """

    subjects: bool

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels of subjects if the rule is about subjects, and else the labels of direct objects."""
        return inner_subjects(names) if self.subjects else labels_of(names, OBJECT)

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of subjects or of direct objects: every tree that breaks the rule has one of them."""
        return self.labels(names)

    def counts(self, entry: Entry) -> bool:
        """Return whether a word with one of the `labels` counts; a subject of an outer clause does not count."""
        return not (self.subjects and entry.outer)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield two facts for every two subjects, or two direct objects, of one head. O(n + violations)."""
        labels, words = self.labels(tree.names), entries(tree.words)
        dependents: dict[int, list[int]] = {}
        for m in range(1, tree.words.n + 1):
            if tree.labels[m] in labels and tree.heads[m] and self.counts(words[m]):
                dependents.setdefault(int(tree.heads[m]), []).append(m)
        for head, group in dependents.items():
            for a, b in combinations(group, 2):
                yield Fact(a, frozenset({head}), labels), Fact(b, frozenset({head}), labels)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts]:
        """Yield two facts for every head and every two words that could both be its subjects, or its objects. O(n³)."""
        labels = self.labels(names)
        candidates = [m for m, entry in enumerate(entries(words)) if m and self.counts(entry)]
        for h in range(1, words.n + 1):
            for a, b in combinations((m for m in candidates if m != h and labels), 2):
                yield Fact(a, frozenset({h}), labels), Fact(b, frozenset({h}), labels)


@dataclass(frozen=True, kw_only=True)
class ObliqueUnderNominal(UdRule):
    """The rule that a nominal that is not a predicate has no dependent of relation `obl`.

    A nominal counts as a predicate if it has a copula or a subject, or if its own relation is not in `NOMINAL`.
    """

    tagged: bool = True

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of obliques: every tree that breaks the rule has one of them."""
        return labels_of(names, OBLIQUE)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield, for every oblique under a nominal, the facts that break the rule. O(n²).

        Two facts are about the labels of the oblique and of the nominal. For every other word of the sentence, one fact
        says that the word is not a copula or subject of the nominal.
        """
        names, words = tree.names, entries(tree.words)
        oblique, nominal, clausal = (labels_of(names, kind) for kind in (OBLIQUE, NOMINAL, CLAUSAL))
        predicates = {int(tree.heads[w]) for w in range(1, tree.words.n + 1) if tree.labels[w] in clausal}
        for m in range(1, tree.words.n + 1):
            h = int(tree.heads[m])
            if h in (0, m) or h in predicates or tree.labels[m] not in oblique:
                continue
            if words[h].tag in NOMINAL_TAGS and tree.labels[h] in nominal:
                head = frozenset({h})
                others = (w for w in range(1, tree.words.n + 1) if clausal and w not in (h, m))
                absent = (Fact(w, head, clausal, holds=False) for w in others)
                yield Fact(m, head, oblique), Fact(h, None, nominal), *absent


OBLIQUE = frozenset({"obl"})
NOMINAL = frozenset({"nsubj", "obj", "iobj", "obl", "vocative", "dislocated", "expl", "nmod"})
CLAUSAL = frozenset({"cop", "nsubj", "csubj"})
NOMINAL_TAGS = ("NOUN", "PROPN", "PRON")


@dataclass(frozen=True, kw_only=True)
class OrphanParent(TwoLabelsRule):
    """The rule that the head of an `orphan` has a relation of `PROMOTED`: a clause, conjunct or root."""

    def parent_labels(self, names: Names) -> frozenset[str]:
        """Return the labels that the head of an `orphan` may not have."""
        return labels_outside(names, PROMOTED)

    def child_labels(self, names: Names, head: Entry, child: Entry) -> frozenset[str]:
        """Return the labels of the relation `orphan`."""
        return labels_of(names, frozenset({"orphan"}))


PROMOTED = frozenset({"conj", "parataxis", "root", "csubj", "ccomp", "advcl", "acl", "reparandum"})


def possessive(entry: Entry) -> bool:
    """Return whether a word has the feature Poss=Yes."""
    return entry.feature("Poss") == "Yes"


@dataclass(frozen=True, kw_only=True)
class Leaf(TwoLabelsRule):
    """The rule that a function word has only dependents of a few relations.

    - parents: universal relations of the function words.
    - children: universal relations that their dependents may have.
    - negated: whether negative adverbs and particles may be an `advmod` of the function word.
    - possessive: further relations that dependents of possessive words may have.
    """

    parents: frozenset[str]
    children: frozenset[str]
    negated: bool = True
    possessive: frozenset[str] = frozenset()

    def parent_labels(self, names: Names) -> frozenset[str]:
        """Return the labels whose universal part is in `parents`: the labels of function words."""
        return labels_of(names, self.parents)

    def child_labels(self, names: Names, head: Entry, child: Entry) -> frozenset[str]:
        """Return the labels that `child` may not have as a dependent of the function word `head`."""
        allowed = self.children
        if self.negated and child.negative:
            allowed |= {"advmod"}
        if self.possessive and possessive(head):
            allowed |= self.possessive
        return labels_outside(names, allowed)


@dataclass(frozen=True, kw_only=True)
class GoeswithLeaf(Leaf):
    """The rule that the later parts of a word written as several words (`goeswith`) have no dependents.

    If the arc into such a part is non-projective, the part may have punctuation as a dependent.
    A negative adverb or particle may be an `advmod` of any part.
    """

    def arc(self, tree: LabelledTree, m: int, children: frozenset[str], parents: frozenset[str]) -> Iterator[Facts]:
        """Yield the violation of the arc into word `m`, a dependent of a later part of a word.

        The facts are about word `m` and about its head. In a non-projective problem, if word `m` is punctuation,
        further facts say that the arc into the head is projective. Nothing is yielded if that arc is not projective.
        """
        h = int(tree.heads[m])
        marks = labels_of(tree.names, PUNCT)
        if tree.space == "projective" or tree.labels[m] not in marks:
            labels = children if tree.space == "projective" else children - marks
            yield Fact(m, frozenset({h}), labels), Fact(h, None, parents)
            return
        top = int(tree.heads[h])
        path = words_below(tree, top, range(min(h, top) + 1, max(h, top)))
        if path is not None:
            closed = frozenset(path) | {top}
            inside = (Fact(w, closed, None) for w in sorted(path)) if top else ()
            yield Fact(m, frozenset({h}), marks), Fact(h, frozenset({top}), parents), *inside

    def patterns(self, words: Words, names: Names) -> Iterator[Facts] | None:
        """Return None if `names` has a label of punctuation, and otherwise the patterns that `Leaf` returns.

        With punctuation, violations depend on the shape of the tree.
        """
        return None if labels_of(names, PUNCT) else super().patterns(words, names)


def words_below(tree: LabelledTree, top: int, words: range) -> set[int] | None:
    """Return all words on the paths from some words up to `top`, or None if a path does not lead to `top`. O(n)."""
    below = set[int]()
    for word in words:
        path = list[int]()
        while word != top and word not in below:
            if word <= 0 or word in path:  # the root, or a cycle
                return None
            path.append(word)
            word = int(tree.heads[word])
        below.update(path)
    return below


@dataclass(frozen=True, kw_only=True)
class Gap(UdRule):
    """The rule that no other word is between a word and its dependents of one relation.

    relation   universal relation of the dependents
    between    universal relations that words between a head and its dependent may have
    backwards  whether a dependent before its head also breaks the rule
    """

    relation: str
    between: frozenset[str] = frozenset()
    backwards: bool = False

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels whose universal part is `relation`: every tree that breaks the rule has one of them."""
        return labels_of(names, frozenset({self.relation}))

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield one violation for each pair of a dependent and a word in the gap before the dependent. O(n²).

        If `backwards`, also yield one violation for each dependent before its head.
        """
        parts = labels_of(tree.names, frozenset({self.relation}))
        dependents = [m for m in range(1, tree.words.n + 1) if tree.labels[m] in parts and tree.heads[m]]
        for m in dependents:
            h = int(tree.heads[m])
            if h > m and self.backwards:
                yield (Fact(m, frozenset(range(m + 1, tree.words.n + 1)), parts),)
            siblings = [h, *(d for d in dependents if tree.heads[d] == h and d < m)]
            last = max((d for d in siblings if d < m), default=m)
            for x in range(max(h, last) + 1, m):
                if tree.labels[x] not in labels_of(tree.names, self.between):
                    yield self._gap(tree.names, h, m, x)

    def _gap(self, names: Names, h: int, m: int, x: int) -> Facts:
        """Return the facts of a violation: `m` is a dependent of `h`, and the word `x` between them breaks the rule."""
        head = frozenset({h})
        parts, between = (labels_of(names, kind) for kind in (frozenset({self.relation}), self.between))
        facts = [Fact(m, head, parts), Fact(x, head, parts, holds=False)]
        return (*facts, Fact(x, None, between, holds=False)) if between else tuple(facts)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts]:
        """Yield the facts of a violation for every head, every later dependent, and every word between the two. O(n³).

        If `backwards`, also yield, for every word, the fact that the word is a dependent of a later head.
        """
        parts, n = labels_of(names, frozenset({self.relation})), words.n
        for m in range(1, n + 1 if parts else 1):
            if self.backwards and m < n:
                yield (Fact(m, frozenset(range(m + 1, n + 1)), parts),)
            for h in range(1, m - 1):
                for x in range(h + 1, m):
                    yield self._gap(names, h, m, x)


@dataclass(frozen=True, kw_only=True)
class NoSpace(UdRule):
    """The rule that a space follows every part but the last of a word written as several words (`goeswith`)."""

    needs: frozenset[Column] = MISC

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of the relation `goeswith`: every tree that breaks the rule has one of them."""
        return labels_of(names, frozenset({"goeswith"}))

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield a violation for every missing space: after the head, or after a part other than the last. O(n).

        A violation has one fact if it is about a part and its head, and two facts if it is about two parts of one head.
        """
        parts, words, n = labels_of(tree.names, frozenset({"goeswith"})), entries(tree.words), tree.words.n
        dependents: dict[int, list[int]] = {}
        for m in range(1, n + 1):
            if tree.labels[m] in parts and tree.heads[m]:
                dependents.setdefault(int(tree.heads[m]), []).append(m)
                yield from self._single(tree.words, m, parts, int(tree.heads[m]))
        for h, group in dependents.items():
            for a, b in pairwise(group):
                if words[a].no_space:
                    yield Fact(a, frozenset({h}), parts), Fact(b, frozenset({h}), parts)

    def _single(self, words: Words, m: int, parts: frozenset[str], head: int | None = None) -> Iterator[Facts]:
        """Yield the fact that word `m` has one of the heads under which it breaks the rule, if there are such heads.

        If `head` is given, the fact is yielded only if the word breaks the rule under this head.
        """
        columns = entries(words)
        before = frozenset(h for h in range(1, m) if columns[h].no_space)
        after = frozenset(range(m + 1, words.n + 1)) if columns[m].no_space else frozenset()
        heads = before | after
        if heads if head is None else head in heads:
            yield (Fact(m, heads, parts),)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts]:
        """Yield all sets of facts that break the rule. O(n³).

        A set has one fact if it is about a part and its head, and two facts if it is about two parts of one head.
        """
        parts, columns = labels_of(names, frozenset({"goeswith"})), entries(words)
        for m in range(1, words.n + 1 if parts else 1):
            yield from self._single(words, m, parts)
            for b in range(m + 1, words.n + 1 if columns[m].no_space else 1):
                for h in range(1, words.n + 1):
                    if h not in (m, b):
                        yield Fact(m, frozenset({h}), parts), Fact(b, frozenset({h}), parts)


def _leaf(name: str, parents: str, children: str, needs: frozenset[Column] = NO_COLUMNS) -> Leaf:
    """Return a `Leaf` rule from its id and its space-separated relations."""
    return Leaf(id=name, parents=frozenset(parents.split()), children=frozenset(children.split()), needs=needs)


_DETERMINER = "det case advmod obl clf goeswith fixed flat compound reparandum discourse parataxis conj cc punct"
RULES: tuple[UdRule, ...] = (
    AtMostOne(id="too-many-subjects", subjects=True, needs=MISC),
    AtMostOne(id="too-many-objects", subjects=False),
    ObliqueUnderNominal(id="obl-should-be-nmod"),
    OrphanParent(id="orphan-parent", severity="warning"),
    _leaf("leaf-mark-case", "mark case", "advmod obl goeswith fixed reparandum conj cc punct"),
    _leaf("leaf-aux-cop", "aux cop", "goeswith fixed reparandum conj cc punct", FEATS),
    Leaf(
        id="leaf-det",
        parents=frozenset({"det"}),
        children=frozenset(_DETERMINER.split()),
        possessive=frozenset({"appos", "acl", "nmod"}),
        needs=FEATS,
    ),
    _leaf("leaf-clf", "clf", "advmod obl goeswith fixed reparandum conj cc punct"),
    _leaf("leaf-cc", "cc", "goeswith fixed reparandum conj punct", FEATS),
    _leaf("leaf-fixed", "fixed", "goeswith reparandum conj punct", FEATS),
    GoeswithLeaf(id="leaf-goeswith", parents=frozenset({"goeswith"}), children=frozenset(), needs=FEATS),
    Leaf(id="leaf-punct", parents=PUNCT, children=PUNCT, negated=False),
    Gap(id="fixed-gap", relation="fixed", between=PUNCT, severity="warning"),
    Gap(id="goeswith-gap", relation="goeswith", backwards=True),
    NoSpace(id="goeswith-nospace"),
)
