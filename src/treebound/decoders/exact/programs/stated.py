"""The incremental integer program in the language of cvxpy, close to its form on paper, for any solver of cvxpy.

Every iteration states the whole program anew, which `incremental` avoids. Any mixed integer solver that cvxpy finds can
be used: HiGHS is installed with this project; SCIP, CBC and GLPK_MI can be used if they are installed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix

from treebound.constraints import TREE
from treebound.constraints.rows import Constraint, Row, Selection, Variables, Words
from treebound.constraints.selective_projectivity import SelectiveProjectivity
from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import UnsupportedError
from treebound.core.labelled import LabelledProblem, unlabelled
from treebound.core.limits import check_memory
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.decoders.base import CheckedDecoder
from treebound.decoders.exact.programs.flows import flow_program
from treebound.decoders.exact.programs.live import COLUMN, objective_scale
from treebound.support.extras import needs

#: mixed integer solvers, by their names in cvxpy
SOLVERS = ("HIGHS", "SCIP", "CBC", "GLPK_MI")


def installed() -> list[str]:
    """Return the names in SOLVERS whose solvers are installed."""
    with needs("ilp"):
        import cvxpy as cp

    return [name for name in SOLVERS if name in cp.installed_solvers()]


class StatedProgram(CheckedDecoder):
    """A decoder of the best labelled tree under hard constraints, with any solver.

    solver  an installed solver of SOLVERS
    constraints, formulation, space  as for `IncrementalProgram`

    There is no limit of time or of iterations. `optimal` means proved up to the solver's tolerance.
    """

    name = "stated-ilp"
    cite = "Riedel & Clarke (2006), section 3"
    supports = frozenset({"arc"})
    exact = True

    def __init__(
        self,
        constraints: Sequence[Constraint] = TREE,
        formulation: Literal["incremental", "single-commodity", "multi-commodity"] = "incremental",
        space: Literal["non-projective", "projective"] = "non-projective",
        solver: str = "HIGHS",
    ):
        if solver not in installed():
            raise UnsupportedError(f"solver {solver!r} is not installed", hint="choose from " + ", ".join(installed()))
        for value, valid in (
            (formulation, ("incremental", "single-commodity", "multi-commodity")),
            (space, ("non-projective", "projective")),
        ):
            if value not in valid:
                raise UnsupportedError(f"unknown option {value!r}", hint="choose from " + ", ".join(valid))
        self.constraints = [*constraints, *([SelectiveProjectivity("all")] if space == "projective" else [])]
        self.formulation, self.space, self.solver = formulation, space, solver

    instead = "ilp"

    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of an unlabelled problem."""
        words = Words.of([""] * problem.n, [""] * problem.n)
        return replace(self.decode_labelled(unlabelled(problem), words), labels=None)

    def decode_labelled(self, problem: LabelledProblem, words: Words) -> Parse:
        """Return the best labelled tree; `Parse.labels` int32[n + 1] are ids of `problem.names`."""
        with needs("ilp"):
            import cvxpy as cp

        if problem.problem.parts:
            raise UnsupportedError(f"{self.name} does not score parts", hint="use incremental-ilp")
        started = time.perf_counter()
        variables = Variables.of(problem, words)
        description = f"an integer program of {len(variables):,} columns"
        check_memory(description, 2 * COLUMN * len(variables), "allow fewer arcs or labels")
        rows = [row for constraint in self.constraints for row in constraint.start(variables)]
        selected = cp.Variable(max(1, len(variables)), boolean=True)
        x: cp.Expression = selected
        if self.formulation != "incremental":
            n_flow_columns, upper, flow_rows = flow_program(variables, self.formulation, len(variables))
            flow = cp.Variable(max(1, n_flow_columns), bounds=[0, upper])
            x = cp.hstack([selected, flow])
            rows += flow_rows
        score = np.zeros(x.size)
        score[: len(variables)] = variables.score
        score *= objective_scale(score)
        iterations = 0
        while True:
            iterations += 1
            matrix, lower, upper_ = _matrix(rows, x.size)
            below, above = np.isfinite(lower), np.isfinite(upper_)
            statement = cp.Problem(
                cp.Maximize(score @ x), [matrix[below] @ x >= lower[below], matrix[above] @ x <= upper_[above]]
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                statement.solve(solver=self.solver, **_OPTIONS.get(self.solver, {}))
            work = {"iterations": iterations}
            seconds = {"solve": time.perf_counter() - started}
            heads, labels = np.zeros(variables.n + 1, INDEX), np.full(variables.n + 1, -1, INDEX)
            heads[0] = NO_HEAD
            if statement.status == cp.INFEASIBLE:
                return Parse(heads, -np.inf, -np.inf, "infeasible", work, seconds)
            assert selected.value is not None
            chosen = selected.value[: len(variables)] > 0.5
            heads[variables.mod[chosen]] = variables.head[chosen]
            labels[variables.mod[chosen]] = variables.label[chosen]
            selection = Selection(heads, labels)
            violated = [row for constraint in self.constraints for row in constraint.violated(variables, selection)]
            if not violated:
                value = float(variables.score[chosen].sum())
                return Parse(heads, value, value, "optimal", work, seconds, labels)
            rows += violated


_OPTIONS: dict[str, dict] = {
    "HIGHS": {"highs_options": {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-6, "presolve": "off", "threads": 1}},
    "SCIP": {"scip_params": {"limits/gap": 0.0}},
}


def _matrix(rows: list[Row], size: int) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """Return rows as a sparse matrix [rows, size], with their lower and upper bounds."""
    columns = np.concatenate([row.columns for row in rows])
    data = np.concatenate([row.coefficients for row in rows])
    pointers = np.cumsum([0] + [len(row.columns) for row in rows])
    lower = np.array([row.lower for row in rows], float)
    upper = np.array([row.upper for row in rows], float)
    return csr_matrix((data, columns, pointers), shape=(len(rows), size)), lower, upper
