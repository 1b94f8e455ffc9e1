"""Linear rows over labelled arcs: the common language of constraints and solvers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from treebound.core.labelled import LabelledProblem


@dataclass(frozen=True)
class Words:
    """A sentence as constraints see it; index 0 is the root (an empty string).

    form, word_class  forms, and word classes (UPOS in a treebank of Universal Dependencies)
    feats, misc       the columns FEATS and MISC of CoNLL-U as strings; None if they are unknown
    lemma             lemmas; None if they are unknown
    """

    form: tuple[str, ...]
    word_class: tuple[str, ...]
    feats: tuple[str, ...] | None = None
    misc: tuple[str, ...] | None = None
    lemma: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        forms: Iterable[str],
        classes: Iterable[str],
        feats: Iterable[str] | None = None,
        misc: Iterable[str] | None = None,
        lemma: Iterable[str] | None = None,
    ) -> Words:
        """Return the words of a sentence, given one string for each word.

        Parameters
        ----------
        forms, classes : iterable of str
            n forms and n word classes (UPOS).
        feats, misc, lemma : iterable of str, optional
            n strings of the columns FEATS, MISC and LEMMA. By default, the columns are unknown (None).

        Returns
        -------
        Words
            The words, as constraints and rules read them.

        Notes
        -----
        O(n). Decoders raise an error if the columns have different lengths.

        Examples
        --------
        >>> Words.of(["Trees", "grow"], ["NOUN", "VERB"]).form
        ('', 'Trees', 'grow')
        """
        columns = (None if column is None else ("", *column) for column in (feats, misc, lemma))
        return cls(("", *forms), ("", *classes), *columns)

    def with_empty_columns(self) -> Words:
        """Return the words with an empty column (`_`) in place of each unknown column FEATS, MISC or LEMMA.

        Rules that read these columns are then applied as if the treebank had no features, no remarks in MISC and no
        lemmas.

        Examples
        --------
        >>> Words.of(["dogs"], ["NOUN"]).with_empty_columns().feats
        ('', '_')
        """
        empty = ("", *["_"] * self.n)
        feats, misc, lemma = (empty if column is None else column for column in (self.feats, self.misc, self.lemma))
        return Words(self.form, self.word_class, feats, misc, lemma)

    @property
    def n(self) -> int:
        """Return the number of words."""
        return len(self.form) - 1

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """Return the forms in lower case."""
        return tuple(form.lower() for form in self.form)


class Row(NamedTuple):
    """A linear constraint: lower <= sum of coefficients times variables <= upper.

    family        name of the constraint that the row belongs to
    columns       intp[K], numbers of the variables
    coefficients  float64[K], coefficients of the variables
    """

    family: str
    columns: np.ndarray
    coefficients: np.ndarray
    lower: float
    upper: float

    def holds(self, chosen: np.ndarray) -> bool:
        """Return whether the selection bool[V] (or float64[V]) keeps the row, up to 1e-6."""
        value = float(self.coefficients @ chosen[self.columns])
        return self.lower - 1e-6 <= value <= self.upper + 1e-6


def row(family: str, columns: Sequence[int] | np.ndarray, lower: float, upper: float) -> Row:
    """Return a row whose coefficients are all 1."""
    columns = np.asarray(columns, np.intp)
    return Row(family, columns, np.ones(len(columns)), lower, upper)


def at_most(family: str, smaller: np.ndarray, larger: np.ndarray) -> Row:
    """Return the row: sum of `smaller` <= sum of `larger`."""
    columns = np.concatenate([smaller, larger]).astype(np.intp)
    return Row(family, columns, np.repeat([1.0, -1.0], [len(smaller), len(larger)]), -np.inf, 0.0)


class Selection(NamedTuple):
    """A head and a label for every word, int32[n + 1] each, index 0 unused. The heads may have cycles."""

    heads: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Variables:
    """The labelled arcs of a problem as numbered 0/1 variables; the labels of one arc have successive numbers.

    words             the words of the sentence
    names             the labels of the problem; the number of a label is its index
    head, mod, label  int32[V]: head, dependent and number of the label of each variable
    score             float64[V]: score of each variable
    """

    words: Words
    names: tuple[str, ...]
    single_root: bool
    head: np.ndarray
    mod: np.ndarray
    label: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, problem: LabelledProblem, words: Words) -> Variables:
        """Return one variable for each labelled arc that is not forbidden."""
        if words.n != problem.problem.n:
            raise ValueError(f"{words.n} words for a problem of {problem.problem.n}")
        arc, slot = np.nonzero((problem.label >= 0) & ~np.isneginf(problem.score))
        inner = problem.problem
        return cls(
            words,
            problem.names,
            inner.single_root,
            inner.head[arc],
            inner.mod[arc],
            problem.label[arc, slot],
            problem.score[arc, slot],
        )

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.head)

    @property
    def n(self) -> int:
        """Return the number of words."""
        return self.words.n

    @cached_property
    def _bounds(self) -> np.ndarray:
        """Return int64[n + 1, n + 1, 2]: the first variable of arc (h, m), and the number after its last variable."""
        bounds = np.zeros((self.n + 1, self.n + 1, 2), np.int64)
        if len(self):
            starts = np.flatnonzero((np.diff(self.head) != 0) | (np.diff(self.mod) != 0)) + 1
            first = np.concatenate([[0], starts])
            bounds[self.head[first], self.mod[first], 0] = first
            bounds[self.head[first], self.mod[first], 1] = np.concatenate([starts, [len(self)]])
        return bounds

    def arc(self, h: int, m: int) -> np.ndarray:
        """Return the variables of the arc (h, m) under any label."""
        first, last = self._bounds[h, m]
        return np.arange(first, last)

    def ids(self, labels: Iterable[str]) -> set[int]:
        """Return the numbers of the given labels; labels that the problem lacks are ignored."""
        selected = set(labels)
        return {i for i, name in enumerate(self.names) if name in selected}

    def labelled(self, label: str) -> np.ndarray:
        """Return the variables whose label is `label`."""
        (ids,) = (self.ids([label]),)
        return np.flatnonzero(np.isin(self.label, list(ids)))

    def chosen(self, selection: Selection) -> np.ndarray:
        """Return bool[V]: whether a selection contains each variable."""
        return (selection.heads[self.mod] == self.head) & (selection.labels[self.mod] == self.label)


@runtime_checkable
class Constraint(Protocol):
    """A family of hard linear constraints.

    name  name in the registry
    code  short name in the design, for instance C1
    """

    name: str
    code: str

    def start(self, variables: Variables) -> list[Row]:
        """Return the rows that are in the integer program from the start. Many families have no such rows."""
        ...

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return rows that a selection breaks, other than the rows of `start`; every allowed tree keeps these rows.

        The selection has a head and a label for every word and may have cycles. If no rows are returned and the
        selection keeps the rows of `start`, then it keeps the whole family.
        """
        ...

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]] | None:
        """Return the variables, and pairs of variables, that no allowed tree selects.

        None means that forbidden variables and pairs cannot express the family. Only trees matter: a selection that is
        no tree need not be forbidden.
        """
        ...


def broken(constraints: Iterable[Constraint], variables: Variables, selection: Selection) -> list[Row]:
    """Return all rows that a selection breaks, including rows that the constraints' methods `start` return."""
    chosen = variables.chosen(selection)
    rows = []
    for constraint in constraints:
        rows += [row for row in constraint.start(variables) if not row.holds(chosen)]
        rows += constraint.violated(variables, selection)
    return rows
