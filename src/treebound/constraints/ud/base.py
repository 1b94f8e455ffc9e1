"""Base classes of validity rules: rules about one word, about a word and its head, and about more words.

Rules report violations as facts. A fact is a statement about the head and the label of one word (`violations.Fact`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from treebound.constraints.rows import Words
from treebound.constraints.ud.entries import Entry, entries
from treebound.constraints.ud.violations import Fact, LabelledTree, Violation

Severity = Literal["error", "warning"]
Column = Literal["feats", "misc", "lemma"]
Names = tuple[str, ...]
#: facts that break a rule together
Facts = tuple[Fact, ...]

NO_HEADS: frozenset[int] = frozenset()
NO_COLUMNS: frozenset[Column] = frozenset()
FEATS: frozenset[Column] = frozenset({"feats"})
MISC: frozenset[Column] = frozenset({"misc"})
LEMMA: frozenset[Column] = frozenset({"lemma"})


@dataclass(frozen=True, kw_only=True)
class UdRule:
    """A validity rule.

    - id: id of the rule in the validator of Universal Dependencies.
    - level: level of validation at which the validator applies the rule.
    - severity: whether the validator reports an error or a warning.
    - needs: columns that the rule reads. The rule is not applied if one of them is unknown.
    - tagged: whether the rule reads part-of-speech tags.
    """

    id: str
    level: int = 3
    severity: Severity = "error"
    needs: frozenset[Column] = NO_COLUMNS
    tagged: bool = False

    def decidable(self, words: Words) -> bool:
        """Return whether the sentence has all columns that the rule needs."""
        return all(getattr(words, column) is not None for column in self.needs)

    def applies(self, words: Words) -> bool:
        """Return whether the rule concerns a sentence. By default it does if the sentence has all needed columns."""
        return self.decidable(words)

    def violations(self, tree: LabelledTree) -> Iterator[Violation]:
        """Yield every violation in a tree; nothing if the tree keeps the rule, or if the rule is not applied.

        The heads may have cycles. The search for violations also ends in that case, and the facts are true under the
        given heads and labels.
        """
        if self.applies(tree.words):
            for facts in self.broken(tree):
                yield Violation(self.id, facts)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield the facts of every violation in a tree. All columns that the rule needs must be known."""
        raise NotImplementedError

    def causes(self, names: Names) -> frozenset[str]:
        """Return a set of labels such that every tree that breaks the rule has at least one of them."""
        return frozenset(names)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts] | None:
        """Return all sets of facts that break the rule in any tree, with at most two words in each set, or None.

        None means that some violations concern more words, or depend on the shape of the tree.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class UnaryRule(UdRule):
    """A validity rule that depends only on the arc into one word."""

    def labels(self, names: Names) -> frozenset[str]:
        """Return the labels that the rule concerns."""
        raise NotImplementedError

    def heads(self, words: Words, m: int) -> frozenset[int] | None:
        """Return the heads under which word `m` may not have one of the rule's labels; None means every head."""
        raise NotImplementedError

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels that the rule concerns: every tree that breaks the rule has one of them."""
        return self.labels(names)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield one fact for every word whose arc breaks the rule. O(n), plus O(n) per word with one of the labels."""
        labels = self.labels(tree.names)
        for m, label in enumerate(tree.labels):
            if label in labels and m:
                heads = self.heads(tree.words, m)
                if heads is None or int(tree.heads[m]) in heads:
                    yield (Fact(m, heads, labels),)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts]:
        """Yield, for every word with excluded arcs, the fact that its arc is one of the excluded arcs. O(n²)."""
        labels = self.labels(names)
        for m in range(1, words.n + 1):
            heads = self.heads(words, m)
            if labels and (heads is None or heads):
                yield (Fact(m, heads, labels),)


@dataclass(frozen=True, kw_only=True)
class EntryRule(UnaryRule):
    """A rule about a word's label and the properties of the word or of its head.

    Properties of heads never exclude the root.

    about_heads  whether the rule reads properties of heads, so that `excludes_under` can return True
    """

    about_heads: ClassVar[bool] = False

    def excludes(self, entry: Entry) -> bool:
        """Return whether the rule forbids its labels to words with the properties `entry`."""
        return False

    def excludes_under(self, entry: Entry) -> bool:
        """Return whether the rule forbids its labels to dependents of a head with the properties `entry`."""
        return False

    def heads(self, words: Words, m: int) -> frozenset[int] | None:
        """Return None (every head) if the word itself is excluded, and otherwise the excluded heads."""
        columns = entries(words)
        if self.excludes(columns[m]):
            return None
        if not self.about_heads:
            return NO_HEADS
        return frozenset(h for h, entry in enumerate(columns) if h and h != m and self.excludes_under(entry))


@dataclass(frozen=True, kw_only=True)
class TwoLabelsRule(UdRule):
    """A rule about the label of a word and the label of its head: some pairs of labels are not allowed."""

    def parent_labels(self, names: Names) -> frozenset[str]:
        """Return the labels of heads that the rule concerns."""
        raise NotImplementedError

    def child_labels(self, names: Names, head: Entry, child: Entry) -> frozenset[str]:
        """Return the labels that `child` may not have under `head`, if the label of `head` is in `parent_labels`."""
        raise NotImplementedError

    def causes(self, names: Names) -> frozenset[str]:
        """Return the labels of heads that the rule concerns: every tree that breaks the rule has one of them."""
        return self.parent_labels(names)

    def broken(self, tree: LabelledTree) -> Iterator[Facts]:
        """Yield two facts for every arc that breaks the rule. O(n)."""
        parents, words, labels = self.parent_labels(tree.names), entries(tree.words), tree.labels
        for m, h in enumerate(tree.heads.tolist()):
            if h > 0 and h != m and labels[h] in parents:
                children = self.child_labels(tree.names, words[h], words[m])
                if tree.labels[m] in children:
                    yield from self.arc(tree, m, children, parents)

    def arc(self, tree: LabelledTree, m: int, children: frozenset[str], parents: frozenset[str]) -> Iterator[Facts]:
        """Yield the violation of the arc into word `m`: a fact about word `m` and a fact about its head.

        children, parents  labels of the dependent and labels of the head that break the rule together
        """
        h = int(tree.heads[m])
        yield Fact(m, frozenset({h}), children), Fact(h, None, parents)

    def patterns(self, words: Words, names: Names) -> Iterator[Facts] | None:
        """Return an iterator over the two facts of every head and dependent that break the rule. O(n²)."""
        return self._two_words(words, names)

    def _two_words(self, words: Words, names: Names) -> Iterator[Facts]:
        """Yield, for every head and dependent that can break the rule, the two facts that break the rule together."""
        parents, columns = self.parent_labels(names), entries(words)
        for h in range(1, words.n + 1):
            for m in range(1, words.n + 1):
                children = self.child_labels(names, columns[h], columns[m])
                if h != m and children and parents:
                    yield Fact(m, frozenset({h}), children), Fact(h, None, parents)


def not_applied(rules: Iterable[UdRule], words: Words) -> list[str]:
    """Return the ids of rules that cannot be applied to a sentence, because it lacks columns that they need.

    Examples
    --------
    >>> from treebound.constraints.ud import load
    >>> not_applied(load("ud").rules, Words.of(["dogs"], ["NOUN"], ["_"], ["_"]))
    ['goeswith-lemma']
    """
    return [rule.id for rule in rules if not rule.decidable(words)]
