"""Random problems with scores of unusual sizes: huge, tiny, denormal, nearly tied, or of very different sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treebound.core.problem import LARGEST_REAL_SUM, LARGEST_SUM, PartTable, Problem

Change = Callable[[np.ndarray], np.ndarray]


def _changed(problem: Problem, change: Change, unit: float = 0.0) -> Problem:
    """Return the problem with every finite score replaced by `change(scores)`."""

    def apply(scores: np.ndarray) -> np.ndarray:
        """Return the changed scores; -inf is kept."""
        finite = np.where(np.isneginf(scores), 0.0, scores)
        return np.where(np.isneginf(scores), -np.inf, change(finite))

    parts = {f: PartTable(f, table.arcs, apply(table.score)) for f, table in problem.parts.items()}
    return replace(problem, arc=apply(problem.arc), parts=parts, unit=unit)


def _largest_integers(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem with integer scores whose sum is just below the limit."""
    whole = _changed(problem, np.rint, 1.0)
    factor = np.floor((LARGEST_SUM - 1) / max(whole.total, 1.0))
    return _changed(whole, lambda x: x * factor, 1.0)


def _integers(problem: Problem, rng: np.random.Generator) -> Problem:
    unit = float(rng.choice([1.0, 100.0, 65536.0, 0.25]))
    return _changed(problem, np.rint, unit)


def _scaled(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem with real scores of another size."""
    largest = 0.9 * LARGEST_REAL_SUM / max(problem.total, 1.0)
    factor = min(largest, float(rng.choice([1e300, 1e9, 1e-3, 1e-9, 1e-12, 1e-100, 1e-300])))
    return _changed(problem, lambda x: x * factor)


def _denormal(problem: Problem, rng: np.random.Generator) -> Problem:
    return _changed(problem, lambda x: np.rint(x) * 5e-324)


def _nearly_tied(problem: Problem, rng: np.random.Generator) -> Problem:
    noise = float(rng.choice([1e-16, 1e-13, 1e-10, 1e-8]))
    return _changed(problem, lambda x: np.sign(x) * (1.0 + noise * rng.normal(size=x.shape)))


def _different_sizes(problem: Problem, rng: np.random.Generator) -> Problem:
    powers = rng.choice([[-3, 3], [-9, 9], [0, 15], [-300, 0]])
    return _changed(problem, lambda x: np.sign(x) * rng.random(x.shape) * 10.0 ** rng.integers(*powers, x.shape))


def _zeros(problem: Problem, rng: np.random.Generator) -> Problem:
    return _changed(problem, lambda x: np.where(rng.random(x.shape) < 0.5, -0.0, 0.0), float(rng.integers(0, 2)))


CHANGES: dict[str, Callable[[Problem, np.random.Generator], Problem]] = {
    "largest integers": _largest_integers,
    "integers": _integers,
    "another size": _scaled,
    "denormal": _denormal,
    "nearly tied": _nearly_tied,
    "different sizes": _different_sizes,
    "zeros": _zeros,
}


def resized(problem: Problem, rng: np.random.Generator) -> tuple[str, Problem]:
    """Return (name of a random change, the problem with changed scores); half of the problems are not changed."""
    if rng.random() < 0.5:
        return "as drawn", problem
    name = str(rng.choice(list(CHANGES)))
    return name, CHANGES[name](problem, rng)
