"""Check whether the validity rules fit the tags and labels of a treebank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treebound.constraints.ud.labels import unknown_labels, unknown_tags
from treebound.constraints.ud.rule_sets import RuleSet


@dataclass(frozen=True)
class Coverage:
    """The reasons why validity rules cannot be applied to a treebank.

    - tags: tags that are not universal part-of-speech tags.
    - labels: labels that are not universal relations, with or without a subtype.
    - columns: columns that the treebank does not have.
    - rules: ids of the rules that cannot be applied.
    """

    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether all rules can be applied."""
        return not self.rules

    def __str__(self) -> str:
        """Return a one-line message for the user."""
        if self.complete:
            return "all validity rules can be applied"
        reasons = [
            f"{len(values)} {noun + ' that is' if len(values) == 1 else noun + 's that are'} not universal "
            f"({examples(values)})"
            for noun, values in (("tag", self.tags), ("label", self.labels))
            if values
        ]
        reasons += [f"no column {column.upper()}" for column in self.columns]
        return f"{', '.join(reasons)}: cannot apply {', '.join(self.rules)}"


def examples(names: Sequence[str]) -> str:
    """Return the first three names, separated by commas, with dots if there are more.

    >>> examples(["A", "B", "C", "D"])
    'A, B, C, ...'
    """
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


def covered(rule_set: RuleSet, tags: Iterable[str], labels: Iterable[str], columns: Iterable[str]) -> Coverage:
    """Return the rules of a set that cannot be applied to a treebank, with the reasons.

    If a tag or a label is not universal, the treebank has its own tags or labels. Rules that read tags cannot be
    applied to a treebank with its own tags, and no rule can be applied to a treebank with its own labels.

    Parameters
    ----------
    rule_set
        The rules.
    tags, labels
        All part-of-speech tags and all labels of the treebank.
    columns
        The columns that the treebank has, out of `feats`, `misc` and `lemma`.

    Examples
    --------
    >>> from treebound.constraints.ud.rule_sets import parse
    >>> rules = parse('rules = ["rel-upos-det", "too-many-objects"]')
    >>> print(covered(rules, ["NN", "NOUN"], ["obj", "root"], ["feats", "misc"]))
    1 tag that is not universal (NN): cannot apply rel-upos-det
    """
    wrong_tags, wrong_labels, present = unknown_tags(tags), unknown_labels(labels), set(columns)
    rules = [
        rule for rule in rule_set.rules if wrong_labels or (wrong_tags and rule.tagged) or not rule.needs <= present
    ]
    missing = sorted({column for rule in rule_set.rules for column in rule.needs} - present)
    return Coverage(tuple(wrong_tags), tuple(wrong_labels), tuple(missing), tuple(rule.id for rule in rules))
