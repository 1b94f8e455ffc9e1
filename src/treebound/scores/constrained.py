"""Apply hard constraints and validator rules to labelled trees of given scores (Riedel & Clarke 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treebound.constraints import load
from treebound.constraints.as_parts import with_forbidden
from treebound.constraints.rows import Constraint, Words
from treebound.constraints.ud import RuleSet
from treebound.constraints.ud import load as load_rules
from treebound.core.errors import InputError
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders.exact.programs.incremental import IncrementalProgram
from treebound.decoders.exact.valid_trees import LabelScores, ValidDecoder
from treebound.scores.statement import Statement


@dataclass(frozen=True)
class Hard:
    """Constraints, and the names of the labels in the order of the last axis of `Statement.labels`."""

    constraints: tuple[Constraint, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, constraints: str | Sequence[Constraint], names: Sequence[str] | None) -> Hard:
        """Return the constraints of a corpus, of a file or from `treebound.constraints.parse`. Raises InputError."""
        names = _checked_names(names)
        rules = load(constraints) if isinstance(constraints, str) else constraints
        if not _listed(rules) or not all(isinstance(rule, Constraint) for rule in rules):
            hint = "name a corpus or a file, or give what treebound.constraints.parse returns"
            raise InputError(f"constraints is a {type(constraints).__name__}", hint=hint)
        return cls(tuple(rules), names)

    def labelled(self, statement: Statement, words: Any, most: int) -> tuple[LabelledProblem, Words]:
        """Return the problem with the `most` best labels of every arc, and the words that constraints refer to."""
        scores = _label_scores(statement, self.names)
        return best_labels(statement.problem, scores, most, self.names), _checked_words(words, statement.problem.n)


@dataclass(frozen=True)
class Valid:
    """Validator rules, and the names of the labels in the order of the last axis of `labels`."""

    rules: RuleSet
    names: tuple[str, ...]

    @classmethod
    def of(cls, rules: Any, names: Any) -> Valid:
        """Return the rules of a named set, of a file or of a `RuleSet`. Raises InputError for anything else."""
        if not isinstance(rules, str | Path | RuleSet):
            hint = "name a set of rules or a file, or give what treebound.constraints.ud.load returns"
            raise InputError(f"valid is a {type(rules).__name__}", hint=hint)
        return cls(rules if isinstance(rules, RuleSet) else load_rules(rules), _checked_names(names))

    def decoder(self, decoder: Decoder, statement: Statement, words: Any) -> ValidDecoder:
        """Return a decoder for the valid trees of one sentence; `decoder` searches the relaxations."""
        scores = LabelScores(statement.problem, _label_scores(statement, self.names), self.names)
        return ValidDecoder(decoder, scores, _checked_words(words, statement.problem.n), self.rules.rules)


def _checked_names(names: Any) -> tuple[str, ...]:
    """Return the names of labels as a tuple. Raises InputError if they are missing or not a list of strings."""
    if names is None:
        raise InputError("label_names are not given", hint="give them: constraints and rules refer to labels by name")
    if not _listed(names) or not all(isinstance(name, str) for name in names):
        raise InputError(f"label_names is a {type(names).__name__}", hint="give a list of strings")
    return tuple(names)


def _label_scores(statement: Statement, names: tuple[str, ...]) -> np.ndarray:
    """Return the scores of the labelled arcs, float64[A, L]. Raises InputError if the labels do not match `names`."""
    labels = statement.labels
    if labels is None or labels.shape[-1] != len(names):
        count = None if labels is None else labels.shape[-1]
        raise InputError(
            f"labels scores {count} labels, label_names has {len(names)}", hint="give one name for each label"
        )
    return statement.labelled()


def _checked_words(words: Any, n: int) -> Words:
    """Return the words of a sentence. Raises InputError if they are not `Words` of n words."""
    if not isinstance(words, Words) or words.n != n:
        description = f"{words.n} words" if isinstance(words, Words) else f"a {type(words).__name__}"
        raise InputError(f"words is {description}", hint=f"give treebound.constraints.rows.Words of {n} words")
    return words


def _listed(value: Any) -> bool:
    """Return whether a value is a list, a tuple or a one-dimensional array."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def forbidding(statement: Statement, words: Any, hard: Hard) -> Problem:
    """Return the problem without the trees that violate the constraints when every arc has its best label."""
    return with_forbidden(*hard.labelled(statement, words, 1), hard.constraints)


def program(decoder: IncrementalProgram, statement: Statement, words: Any, hard: Hard) -> Parse:
    """Return the best labelled tree that satisfies the constraints, choosing labels together with the tree."""
    return decoder.decode_labelled(*hard.labelled(statement, words, len(hard.names)))
