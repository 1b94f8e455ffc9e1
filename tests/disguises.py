"""Disguises of a problem: arcs and parts in any order, missing, repeated or impossible, with the same best tree."""

from __future__ import annotations

import dataclasses

import numpy as np
from strategies import parts

from treebound.core.problem import SETS, PartTable, Problem


def disguised(problem: Problem, rng: np.random.Generator, space: str) -> tuple[Problem, Problem]:
    """Return (canonical problem, disguised problem).

    Some parts of the canonical problem get the score 0. The disguised problem is the same one as a user might write it:
    it lacks these parts, and its arcs and parts are in another order.
    """
    order = rng.permutation(problem.arcs)  # order[i] is the canonical number of the i-th arc of the disguised problem
    place = np.empty(problem.arcs, int)
    place[order] = np.arange(problem.arcs)
    plain, odd = {}, {}
    for family, table in problem.parts.items():
        score = np.where(rng.random(len(table)) < 0.3, 0.0, table.score)
        plain[family] = PartTable(family, table.arcs, score)
        nonzero = np.flatnonzero(score != 0.0)
        rows, values = table.arcs[nonzero].copy(), score[nonzero].copy()
        # the scores of a repeated part are added
        twice = rng.random(len(rows)) < 0.3
        half = np.where(np.isneginf(values[twice]), -np.inf, np.floor(values[twice] / 2))
        repeated_rows, remainder = (
            rows[twice],
            np.where(np.isneginf(values[twice]), 0.0, values[twice] - np.maximum(half, -1e300)),
        )
        values[twice] = half
        rows, values = np.concatenate([rows, repeated_rows]), np.concatenate([values, remainder])
        if family not in ("valency", "pattern"):  # parts that no tree of this space can have
            strange = impossible(problem, family, space)
            rows, values = np.concatenate([rows, strange]), np.concatenate([values, rng.integers(-9, 9, len(strange))])
        if family in SETS:
            rows = rng.permuted(rows, axis=1)
        if family != "valency":
            rows = np.where(rows >= 0, place[np.maximum(rows, 0)], rows)
        shuffled = rng.permutation(len(rows))
        odd[family] = PartTable(family, rows[shuffled], values[shuffled].astype(float))
    values = Problem(
        problem.n, problem.head[order], problem.mod[order], problem.arc[order], odd, problem.single_root, problem.unit
    )
    return dataclasses.replace(problem, parts=plain), values


def impossible(problem: Problem, family: str, space: str) -> np.ndarray:
    """Return the listed parts of the family that no tree of this space and root setting can have."""
    own = parts(family, problem.n, problem.head, problem.mod, problem.single_root, space)
    every = parts(family, problem.n, problem.head, problem.mod, False, "non-projective")
    known = {tuple(row) for row in own.tolist()}
    out = [row for row in every.tolist() if tuple(row) not in known]
    if family == "adjacent-sibling" and problem.single_root:
        out = [row for row in out if row[0] >= 0]
    return np.array(out, np.int32).reshape(-1, every.shape[1])
