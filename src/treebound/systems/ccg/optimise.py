"""Maximum-likelihood training of log-linear models by L-BFGS, with a checkpoint.

The checkpoint omits the memory of L-BFGS. The memory is discarded every `ROUND` iterations in any case, so that an
interrupted and resumed training gives the same bytes as an uninterrupted one.
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
TOLERANCE = 1e-5  #: relative gain of the objective per iteration below which training ends

#: maps weights to (negative log-likelihood, its gradient)
Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


@checked(config=ConfigDict(extra="forbid"), kw_only=True)
class State(Header):
    """Header of a checkpoint file; the file also holds the weights."""

    key: str
    iterations: Annotated[int, Field(ge=0)]
    size: Annotated[int, Field(ge=0)]
    history: History
    done: bool


FORMAT = Format("L-BFGS checkpoint", 1, State, lambda state: {"weights": Layout(np.float64, {(state.size,)})})


class TrainingCheckpoint:
    """The checkpoint file of a training run; a checkpoint of another run is ignored."""

    def __init__(self, path: Path, key: str):
        self.path, self.key = path, key

    def save(self, weights: np.ndarray, iterations: int, history: list[dict], done: bool) -> None:
        """Write the training state, atomically."""
        header = {"key": self.key, "iterations": iterations, "history": history, "size": len(weights), "done": done}
        FORMAT.save(self.path, header, {"weights": weights})

    def resume(self, size: int) -> tuple[np.ndarray, int, list[dict], bool] | None:
        """Return (weights, iterations, history, done) of the file; None if there is no checkpoint of this run."""
        try:
            state, arrays = FORMAT.load(self.path)
        except ModelError:
            return None
        if state.key != self.key or state.size != size:
            return None
        return arrays["weights"], state.iterations, state.history, state.done


def fit(
    objective: Objective, size: int, l2: float, iterations: int, kept: TrainingCheckpoint | None = None
) -> tuple[np.ndarray, list[dict]]:
    """Minimise objective + l2 / 2 |w|^2 and return float64[size] weights with one record per round.

    The search starts at w = 0, or at the weights of the checkpoint `kept` if it belongs to the same run.
    """
    fresh: tuple[np.ndarray, int, list[dict], bool] = (np.zeros(size), 0, [], False)
    weights, done, history, finished = (kept.resume(size) if kept else None) or fresh

    def regularised(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(w)
        return value + 0.5 * l2 * float(w @ w), gradient + l2 * w

    while done < iterations and not finished:
        most = min(ROUND, iterations - done)
        options = {"maxiter": most, "maxcor": MEMORY, "ftol": TOLERANCE, "maxfun": 4 * most}
        step = minimize(regularised, weights, jac=True, method="L-BFGS-B", options=options)
        weights, done = step.x, done + int(step.nit)
        finished = step.nit < most
        history.append({"iterations": done, "objective": float(step.fun)})
        if kept is not None:
            kept.save(weights, done, history, finished)
    return weights, history
