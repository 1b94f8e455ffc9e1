"""Maximum likelihood of log-linear models by L-BFGS, with a checkpoint.

The memory of L-BFGS is no part of a checkpoint: it starts anew every `ROUND` iterations, whether training was
interrupted there or not, so that a training that is taken up gives the bytes of one that was not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked
from scipy.optimize import minimize

from treebound.core.errors import ModelError
from treebound.learning.storage import Format, Header, History, Layout

ROUND = 25
MEMORY = 10  #: pairs of steps and differences of gradients that L-BFGS keeps
TOLERANCE = 1e-5  #: of the objective, relative: less gain in an iteration ends the training

#: weights -> (negative log-likelihood, its gradient)
Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class State(Header):
    """What stands in a checkpoint beside the weights."""

    key: str
    iterations: Annotated[int, Field(ge=0)]
    size: Annotated[int, Field(ge=0)]
    history: History
    done: bool


FORMAT = Format("L-BFGS checkpoint", 1, State, lambda state: {"weights": Layout(np.float64, {(state.size,)})})


class Kept:
    """The file of a training that goes on; what another run left there is not taken up."""

    def __init__(self, path: Path, key: str):
        self.path, self.key = path, key

    def save(self, weights: np.ndarray, iterations: int, history: list[dict], done: bool) -> None:
        """Write the state, atomically."""
        header = {"key": self.key, "iterations": iterations, "history": history, "size": len(weights), "done": done}
        FORMAT.save(self.path, header, {"weights": weights})

    def resume(self, size: int) -> tuple[np.ndarray, int, list[dict], bool] | None:
        """(weights, iterations, history, done) of the file; None if it is none of this run."""
        try:
            state, arrays = FORMAT.load(self.path)
        except ModelError:
            return None
        if state.key != self.key or state.size != size:
            return None
        return arrays["weights"], state.iterations, state.history, state.done


def fit(
    objective: Objective, size: int, l2: float, iterations: int, kept: Kept | None = None
) -> tuple[np.ndarray, list[dict]]:
    """float64[size] weights that minimise objective + l2 / 2 |w|^2 from 0, and a record a round."""
    fresh: tuple[np.ndarray, int, list[dict], bool] = (np.zeros(size), 0, [], False)
    weights, done, history, finished = (kept.resume(size) if kept else None) or fresh

    def regularised(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(w)
        return value + 0.5 * l2 * float(w @ w), gradient + l2 * w

    while done < iterations and not finished:
        most = min(ROUND, iterations - done)
        options = {"maxiter": most, "maxcor": MEMORY, "ftol": TOLERANCE, "maxfun": 4 * most}
        found_now = minimize(regularised, weights, jac=True, method="L-BFGS-B", options=options)
        weights, done = found_now.x, done + int(found_now.nit)
        finished = found_now.nit < most
        history.append({"iterations": done, "objective": float(found_now.fun)})
        if kept is not None:
            kept.save(weights, done, history, finished)
    return weights, history
