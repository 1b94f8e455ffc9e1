"""A linear or integer program in HiGHS to which rows can be added; the basis of a solve is reused by the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from treebound.constraints.rows import Row
from treebound.core.errors import UnsupportedError
from treebound.core.limits import check_memory
from treebound.support.extras import needs

#: coefficients of the objective are scaled to this size, because the solver's tolerances are absolute
LARGEST_COEFFICIENT = 1e3
#: bytes of a column in the solver
COLUMN = 500
INTEGRAL = 1e-6  #: largest distance from 0 or 1 of a variable that counts as integral


def objective_scale(score: np.ndarray) -> float:
    """Return the factor that brings the largest coefficient of an objective to `LARGEST_COEFFICIENT`.

    score  float64[columns], finite coefficients

    The factor is finite even if the scores are denormal numbers, which then stay small.
    """
    largest = float(np.abs(score).max(initial=0.0))
    return LARGEST_COEFFICIENT / max(largest, 1e-300) if largest else 1.0


class Solution(NamedTuple):
    """The result of one solve.

    status  optimal, infeasible, or limit (then `values` may be None)
    values  float64[columns], value of each column
    bound   upper bound on the objective, in the units of the scores
    """

    status: Literal["optimal", "infeasible", "limit"]
    values: np.ndarray | None
    bound: float


class LiveProgram:
    """The program: maximise score . x over 0 <= x <= 1 under rows; the first `binary` columns can be made integral.

    score   float64[columns], coefficients of the objective
    binary  number of columns that `solve(integral=True)` makes integral
    """

    def __init__(self, score: np.ndarray, binary: int):
        with needs("ilp"):
            import highspy

        self.columns, self.binary = len(score), binary
        check_memory(f"an integer program of {len(score):,} columns", COLUMN * len(score), "allow fewer arcs or labels")
        self.scale = objective_scale(score)
        self.integral = False
        self.highs = highspy.Highs()
        options: dict[str, bool | int | float | str] = {
            "output_flag": False,
            "threads": 1,
            "random_seed": 0,
            # presolve would discard the basis of a linear program, and slows integer programs down
            "presolve": "off",
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 1e-7,
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
            "mip_feasibility_tolerance": 1e-9,
        }
        for option, value in options.items():
            if self.highs.setOptionValue(option, value) != highspy.HighsStatus.kOk:
                raise UnsupportedError(f"this version of HiGHS refuses {option} = {value}", hint="install another one")
        empty = np.zeros(self.columns, np.int32)
        zeros, ones = np.zeros(self.columns), np.ones(self.columns)
        self.highs.addCols(self.columns, score * self.scale, zeros, ones, 0, empty, np.zeros(0, np.int32), np.zeros(0))
        self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def bound_columns(self, columns: np.ndarray, lower: float, upper: float) -> None:
        """Set the bounds of some columns, for instance of flows, which may exceed 1."""
        size = len(columns)
        self.highs.changeColsBounds(size, columns.astype(np.int32), np.full(size, lower), np.full(size, upper))

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows; the next solve continues from the basis of the last one."""
        if not rows:
            return
        sizes = [len(row.columns) for row in rows]
        starts = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
        index = np.concatenate([row.columns for row in rows]).astype(np.int32)
        value = np.concatenate([row.coefficients for row in rows])
        lower = np.array([row.lower for row in rows], float)
        upper = np.array([row.upper for row in rows], float)
        self.highs.addRows(len(rows), lower, upper, len(index), starts, index, value)

    def solve(self, integral: bool, seconds: float | None = None) -> Solution:
        """Solve the integer program, or its linear relaxation if not `integral`, in at most `seconds`."""
        with needs("ilp"):
            import highspy

        if integral != self.integral:
            kind = highspy.HighsVarType.kInteger if integral else highspy.HighsVarType.kContinuous
            columns = np.arange(self.binary, dtype=np.int32)
            self.highs.changeColsIntegrality(self.binary, columns, np.full(self.binary, int(kind), np.uint8))
            self.integral = integral
        if integral:
            # HiGHS would first complete the last solution to a start, which doubles its time limit and saves no time
            self.highs.clearSolver()
        if seconds is not None:
            # the solver's clock is not reset between solves
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 1e-3))
        self.highs.run()
        status, info = self.highs.getModelStatus(), self.highs.getInfo()
        statuses = highspy.HighsModelStatus
        if status == statuses.kInfeasible:
            return Solution("infeasible", None, -math.inf)
        values: Any = None
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            values = np.array(self.highs.getSolution().col_value)
        if status == statuses.kOptimal:
            return Solution("optimal", values, info.objective_function_value / self.scale)
        bound = info.mip_dual_bound / self.scale if integral else math.inf
        return Solution("limit", values, bound)


def is_integral(values: np.ndarray) -> bool:
    """Return whether every value is 0 or 1, up to the tolerance `INTEGRAL`."""
    return bool(np.minimum(np.abs(values), np.abs(values - 1.0)).max(initial=0.0) <= INTEGRAL)
