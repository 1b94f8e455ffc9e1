"""The validity rules of Universal Dependencies as rows of an integer program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, Words
from treebound.constraints.ud.base import UnaryRule
from treebound.constraints.ud.rule_sets import load
from treebound.constraints.ud.violations import Fact, LabelledTree


class UniversalDependencies:
    """A constraint that enforces validity rules in an integer program.

    Rules about single arcs exclude variables from the start. For other rules, each violation of a solution adds one
    row. A violation is a set of facts. Its row says that at least one of the words in these facts has another arc. For
    K words, the sum of all variables that make a word's facts true is at most K - 1.

    - rules: name of a set of rules, or a TOML file.
    - drop: ids of rules of the set that are not enforced.
    - assume_empty: whether unknown columns FEATS, MISC and LEMMA count as empty. By default, rules that need an unknown
      column are not applied.
    """

    name = "ud"
    code = "UD"

    def __init__(self, rules: str = "ud", drop: Sequence[str] = (), assume_empty: bool = False):
        self.rule_set = load(rules).without(drop)
        self.assume_empty = assume_empty

    def _words(self, words: Words) -> Words:
        """Return the words, with empty columns in place of unknown ones if the settings say so."""
        return words.with_empty_columns() if self.assume_empty else words

    def start(self, variables: Variables) -> list[Row]:
        """Return one row for every rule about single arcs that excludes variables. O(V n)."""
        rows = []
        words = self._words(variables.words)
        for rule in self.rule_set.rules:
            if isinstance(rule, UnaryRule) and rule.applies(words):
                patterns = rule.patterns(words, variables.names)
                columns = [column for facts in patterns for column in variables_by_word(variables, facts)[0]]
                if columns:
                    rows.append(_row(columns, 0.0))
        return rows

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return a row for every violation of a rule that is not enforced from the start.

        A selection with cycles may also break rules. Every valid tree keeps the rows that are returned.
        """
        labels = ["", *(variables.names[i] for i in selection.labels[1:])]
        tree = LabelledTree(self._words(variables.words), selection.heads, labels, variables.names, "non-projective")
        rows = []
        for rule in self.rule_set.rules:
            if not isinstance(rule, UnaryRule):
                for violation in rule.violations(tree):
                    choices = variables_by_word(variables, violation.facts)
                    rows.append(_row([column for columns in choices for column in columns], len(choices) - 1.0))
        return rows

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]] | None:
        """Return the variables and pairs of variables that rules exclude. O(V² n) at most.

        Return None if a rule concerns more than two words.
        """
        result, words = set[tuple[int, ...]](), self._words(variables.words)
        for rule in self.rule_set.rules:
            if rule.applies(words):
                patterns = rule.patterns(words, variables.names)
                if patterns is None:
                    return None
                result.update(_products(variables, patterns))
        return sorted(result)


def _products(variables: Variables, patterns: Iterable[tuple[Fact, ...]]) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of variables, one per word, that together make all facts of one violation true.

    patterns  the facts of each violation
    """
    for facts in patterns:
        yield from (tuple(sorted(chosen)) for chosen in product(*variables_by_word(variables, facts)))


def _row(columns: list[int], upper: float) -> Row:
    """Return the row: the sum of some columns is at most `upper`."""
    return Row("ud", np.array(columns, np.intp), np.ones(len(columns)), -np.inf, upper)


def variables_by_word(variables: Variables, facts: Iterable[Fact]) -> list[list[int]]:
    """Return, for every word in some facts, the variables that make all facts about the word true. O(V)."""
    about: dict[int, list[Fact]] = {}
    for fact in facts:
        about.setdefault(fact.word, []).append(fact)
    columns: dict[int, list[int]] = {word: [] for word in about}
    for column in np.flatnonzero(np.isin(variables.mod, list(about))).tolist():
        word = int(variables.mod[column])
        head, label = int(variables.head[column]), variables.names[variables.label[column]]
        if all(fact.is_true(head, label) for fact in about[word]):
            columns[word].append(column)
    return list(columns.values())
