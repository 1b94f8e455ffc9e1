"""Hard constraints on the labelled trees of scores of one's own (Riedel & Clarke 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treebound.constraints import load
from treebound.constraints.as_parts import with_forbidden
from treebound.constraints.rows import Constraint, Words
from treebound.core.errors import InputError
from treebound.core.labelled import LabelledProblem, best_labels
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.decoders.exact.programs.incremental import IncrementalProgram
from treebound.scores.statement import Statement


@dataclass(frozen=True)
class Hard:
    """Constraints, and the names of the labels that they speak of, in the order of the last axis of `labels`."""

    constraints: tuple[Constraint, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, constraints: str | Sequence[Constraint], names: Sequence[str] | None) -> Hard:
        """From a corpus that has a file of them, or what `treebound.constraints.parse` gives."""
        if names is None:
            raise InputError("label_names are not given", hint="constraints speak of labels by their names")
        if not _listed(names) or not all(isinstance(name, str) for name in names):
            raise InputError(f"label_names is a {type(names).__name__}", hint="give a list of strings")
        found = load(constraints) if isinstance(constraints, str) else constraints
        if not _listed(found) or not all(isinstance(x, Constraint) for x in found):
            hint = "name a corpus or a file, or give what treebound.constraints.parse returns"
            raise InputError(f"constraints is a {type(constraints).__name__}", hint=hint)
        return cls(tuple(found), tuple(names))

    def labelled(self, statement: Statement, words: Any, most: int) -> tuple[LabelledProblem, Words]:
        """The problem with the `most` best labels of every arc, and the words that constraints look at."""
        problem, labels = statement.problem, statement.labels
        if labels is None or labels.shape[-1] != len(self.names):
            given = None if labels is None else labels.shape[-1]
            raise InputError(f"labels scores {given} labels, label_names has {len(self.names)}", hint="give one each")
        if not isinstance(words, Words) or words.n != problem.n:
            given = f"{words.n} words" if isinstance(words, Words) else f"a {type(words).__name__}"
            raise InputError(f"words is {given}", hint=f"give treebound.constraints.rows.Words of {problem.n} words")
        return best_labels(problem, statement.labelled(), most, self.names), words


def _listed(given: Any) -> bool:
    """Whether a value is a list, a tuple or an array of one dimension."""
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)


def forbidding(statement: Statement, words: Any, hard: Hard) -> Problem:
    """The problem whose trees keep the constraints under the best label of every arc."""
    return with_forbidden(*hard.labelled(statement, words, 1), hard.constraints)


def program(decoder: IncrementalProgram, statement: Statement, words: Any, hard: Hard) -> Parse:
    """The best labelled tree that keeps the constraints, labels being chosen with the tree."""
    return decoder.decode_labelled(*hard.labelled(statement, words, len(hard.names)))
