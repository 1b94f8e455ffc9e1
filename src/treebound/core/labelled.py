"""Labelled problems: every candidate arc has a few candidate labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebound.core.errors import InputError
from treebound.core.problem import Problem

#: marks an empty slot of `LabelledProblem.label`
NO_LABEL = -1


@dataclass(frozen=True)
class LabelledProblem:
    """Labelled arcs with scores: maximise the sum of the scores of the labelled arcs over labelled trees.

    - `problem`: the arcs; `problem.arc` is the score of each arc with its best label.
    - `label`: int32[A, k] label numbers, the best first (bestk(i, j) of Riedel & Clarke 2006). Empty slots are
      NO_LABEL.
    - `score`: float64[A, k] scores of the labels. -inf forbids a label and marks the empty slots.
    - `names`: the label of each label number.
    """

    problem: Problem
    label: np.ndarray
    score: np.ndarray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        arcs, label, score = self.problem.arcs, np.asarray(self.label), np.asarray(self.score)
        if label.shape != score.shape or label.ndim != 2 or len(label) != arcs or label.dtype.kind not in "iu":
            shapes = f"{label.dtype}{list(label.shape)} and {score.dtype}{list(score.shape)}"
            raise InputError(
                f"label and score are {shapes}", hint=f"give integers and scores in arrays of {arcs} rows and k columns"
            )
        if np.any((label < NO_LABEL) | (label >= len(self.names))):
            raise InputError(
                f"label has numbers beyond the {len(self.names)} names", hint=f"use {NO_LABEL} for an empty slot"
            )
        if np.any(np.isnan(score) | (score == np.inf)) or np.any((label == NO_LABEL) & (score > -np.inf)):
            raise InputError(
                "score has NaN, inf or a score without a label", hint="use -inf to forbid a label and for empty slots"
            )


def unlabelled(problem: Problem) -> LabelledProblem:
    """Return a labelled problem in which all arcs have the same single label."""
    label = np.zeros((problem.arcs, 1), np.int32)
    return LabelledProblem(problem, label, problem.arc[:, None], ("_",))


def best_labels(problem: Problem, scores: np.ndarray, k: int, names: tuple[str, ...]) -> LabelledProblem:
    """Return a labelled problem with the k best labels of every arc, from scores float64[A, labels].

    Ties go to the lower label. O(A labels log labels).
    """
    k = min(k, scores.shape[1])
    label = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
    score = np.take_along_axis(scores, label, axis=1)
    return LabelledProblem(problem, np.where(np.isneginf(score), NO_LABEL, label).astype(np.int32), score, names)


def best_variables(problem: LabelledProblem, q: int) -> LabelledProblem:
    """Keep only the q best labelled arcs into every word (Riedel & Clarke 2006, section 5.3), and forbid all others.

    Ties go to the arc with the lower number. The result may have no tree.
    """
    keep = np.zeros(problem.score.shape, np.bool_)
    for m in range(1, problem.problem.n + 1):
        arcs = np.flatnonzero(problem.problem.mod == m)
        score = problem.score[arcs].ravel()
        best = np.argsort(-score, kind="stable")[:q]
        keep[arcs[best // problem.score.shape[1]], best % problem.score.shape[1]] = True
    score = np.where(keep, problem.score, -np.inf)
    inner = problem.problem.with_arc(score.max(axis=1, initial=-np.inf))
    return LabelledProblem(
        inner, np.where(np.isneginf(score), NO_LABEL, problem.label).astype(np.int32), score, problem.names
    )
