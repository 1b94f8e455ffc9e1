"""Find the rules that a labelled tree breaks, and the words that break each of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from treebound import constraints
from treebound.constraints import ud
from treebound.constraints.rows import Constraint, Selection, Variables, Words, broken
from treebound.core.labelled import LabelledProblem
from treebound.core.problem import Problem
from treebound.core.spaces import Space

UD = "Universal Dependencies"
#: (set of rules, rule, words)
Breach = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Rules:
    """The rules of Universal Dependencies, and the constraints of a corpus (Riedel & Clarke 2006).

    names   labels of the model
    corpus  corpus whose constraints are applied, if it has any
    """

    names: tuple[str, ...]
    corpus: str
    space: Space = "projective"
    single_root: bool = True
    universal: ud.RuleSet | None = field(init=False)
    linear: tuple[Constraint, ...] = field(init=False)

    def __post_init__(self) -> None:
        foreign = 2 * len(ud.unknown_labels(self.names)) > len(self.names)
        object.__setattr__(self, "universal", None if foreign or not self.names else ud.load("ud"))
        known = self.names and self.corpus in constraints.corpora()
        object.__setattr__(self, "linear", tuple(constraints.load(self.corpus, ())) if known else ())

    @property
    def applied(self) -> dict[str, int]:
        """Map each applied set of rules to the number of rules in the set."""
        counts = {UD: len(self.universal.rules) if self.universal else 0, self.corpus: len(self.linear)}
        return {name: count for name, count in counts.items() if count}

    def broken(self, words: Words, heads: np.ndarray, labels: Sequence[str]) -> list[Breach]:
        """Return the broken rules of a tree, each with its words in order.

        heads   int32[n + 1], heads[0] = -1
        labels  n labels
        """
        breaches: dict[Breach, None] = {}
        if self.universal is not None:
            tree = ud.LabelledTree(words, heads, ("", *labels), self.names, self.space)
            for violation in ud.violations(self.universal.rules, tree):
                facts = [fact for fact in violation.facts if fact.holds] or list(violation.facts)
                breaches[UD, violation.rule, tuple(sorted({fact.word for fact in facts}))] = None
        for family, row in self._rows(words, heads, labels) if self.linear else ():
            breaches[self.corpus, family, row] = None
        return list(breaches)

    def _rows(self, words: Words, heads: np.ndarray, labels: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Return the family and the words of each linear constraint that a tree breaks.

        The constraints are checked on a problem that has only the arcs of the tree. All variables of a broken
        constraint therefore belong to the tree.
        """
        n = words.n
        number = {name: i for i, name in enumerate(self.names)}
        chosen = np.array([number[label] for label in labels], np.int32)
        order = np.argsort(heads[1:], kind="stable")
        mods = (order + 1).astype(np.int32)
        problem = Problem(n, heads[mods], mods, np.zeros(n), {}, self.single_root, 1.0)
        labelled = LabelledProblem(problem, chosen[order][:, None], np.zeros((n, 1)), self.names)
        variables = Variables.of(labelled, words)
        rows = broken(self.linear, variables, Selection(heads, np.append(-1, chosen).astype(np.int32)))
        return [(row.family, tuple(sorted({int(variables.mod[c]) for c in row.columns}))) for row in rows]
