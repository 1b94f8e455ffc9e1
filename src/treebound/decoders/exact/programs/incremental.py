"""Incremental integer programming with hard constraints (Riedel & Clarke 2006), labelled and non-projective.

Algorithm 1 of the paper solves the program, adds the constraints that the solution breaks, and solves it again until
the solution breaks none. The following extensions are options:

- The Chu-Liu-Edmonds tree is checked before anything is solved. If it breaks no constraint it is the best tree.
- A linear relaxation is solved first, which keeps its basis from one solve to the next. An integer program is solved
  only if the solution of the relaxation is fractional.
- Scores of parts are allowed, which the paper names as a use of integer programming (section 6). The result is exact
  non-projective decoding with non-local factors.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from treebound.checker.scoring import tree_score
from treebound.constraints import TREE
from treebound.constraints.no_cycles import NoCycles, cycles
from treebound.constraints.rows import Constraint, Row, Selection, Variables, Words
from treebound.constraints.selective_projectivity import SelectiveProjectivity
from treebound.core.dtypes import INDEX, NO_HEAD
from treebound.core.errors import UnsupportedError
from treebound.core.labelled import LabelledProblem, unlabelled
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.decoders import DECODERS
from treebound.decoders.base import CheckedDecoder
from treebound.decoders.canonical import canonical_labels
from treebound.decoders.exact.chu_liu_edmonds import ChuLiuEdmonds
from treebound.decoders.exact.programs.flows import Flow, flow_program
from treebound.decoders.exact.programs.live import LiveProgram, is_integral
from treebound.decoders.exact.programs.part_rows import FAMILIES, part_program
from treebound.decoders.exact.programs.part_rows import NAME as PARTS

BOUND_TOLERANCE = 1e-9  #: relative tolerance, added to the bound that the solver reports
Formulation = Literal["incremental", "single-commodity", "multi-commodity"]


@dataclass(frozen=True)
class Solving:
    """The record of how a sentence was solved, stored in `Parse.record`.

    - added: family -> number of rows that were added after the start.
    - solves: (kind, CPU seconds, number of fractional columns) of every solve; the kind is lp or mip.
    - conflict: for an infeasible problem, families of constraints that no tree can keep together. The
      list is minimal: no family can be left out.
    - fallback: whether a limit was reached, so that the parse has a fallback tree, which may break constraints. It is
      the Chu-Liu-Edmonds tree, or Eisner's tree in the projective space.
    """

    added: dict[str, int] = field(default_factory=dict)
    solves: tuple[tuple[str, float, int], ...] = ()
    conflict: tuple[str, ...] = ()
    fallback: bool = False

    @property
    def first(self) -> float:
        """Return the CPU seconds of the first solve, 0.0 if no program was solved."""
        return self.solves[0][1] if self.solves else 0.0


class IncrementalProgram(CheckedDecoder):
    """A decoder of the best labelled tree under hard constraints.

    - constraints: list from `treebound.constraints.load`; the default is the constraints of trees alone.
    - formulation: "incremental" forbids cycles when they occur. "single-commodity" and "multi-commodity" forbid all
      cycles from the start, by a flow.
    - start: "chu-liu-edmonds" checks the Chu-Liu-Edmonds tree before the first solve. "none" solves at once, as
      published.
    - relaxation: "first" solves linear relaxations while their solutions are integral. "never" solves integer programs
      only, as published. "only" solves linear relaxations only, and rounds a fractional solution to a tree. The tree
      has status `gap`; if it breaks constraints, there is no tree and the status is `limit`.
    - space: "projective" adds the constraint that no arcs cross (P1 with all labels).
    - time_limit, max_iterations: limits in seconds and in iterations; 0 for none. A sentence that reaches a limit gets
      status `limit` and the Chu-Liu-Edmonds tree (projective: the tree of Eisner), which may break constraints.

    Scores of parts (`Problem.parts`) are in the program from the start. The Chu-Liu-Edmonds tree is then not checked
    first.

    The solver uses floating-point numbers: `optimal` means proved up to its tolerance, which is about 1e-9 of the
    largest score for each word. The value is the exact score of the returned tree.
    """

    name = "incremental-ilp"
    cite = "Riedel & Clarke (2006), section 3"
    supports = FAMILIES

    def __init__(
        self,
        constraints: Sequence[Constraint] = TREE,
        formulation: Formulation = "incremental",
        start: Literal["chu-liu-edmonds", "none"] = "chu-liu-edmonds",
        relaxation: Literal["first", "never", "only"] = "first",
        space: Literal["non-projective", "projective"] = "non-projective",
        time_limit: float = 120.0,
        max_iterations: int = 0,
    ):
        for value, valid in (
            (formulation, ("incremental", "single-commodity", "multi-commodity")),
            (start, ("chu-liu-edmonds", "none")),
            (relaxation, ("first", "never", "only")),
            (space, ("non-projective", "projective")),
        ):
            if value not in valid:
                raise UnsupportedError(f"unknown option {value!r}", hint="choose from " + ", ".join(valid))
        self.constraints = [*constraints, *([SelectiveProjectivity("all")] if space == "projective" else [])]
        self.formulation, self.start, self.relaxation, self.space = formulation, start, relaxation, space
        self.time_limit, self.max_iterations = time_limit, max_iterations
        self.exact = relaxation != "only"

    def _decode(self, problem: Problem) -> Parse:
        """Return the best tree of an unlabelled problem.

        Word classes and forms are unknown here. Constraints that depend on them therefore apply to no word.
        """
        words = Words.of([""] * problem.n, [""] * problem.n)
        return replace(self.decode_labelled(unlabelled(problem), words), labels=None)

    def decode_labelled(self, problem: LabelledProblem, words: Words) -> Parse:
        """Return the best labelled tree; its labels int32[n + 1] are ids of `problem.names`, its record is a `Solving`.

        An infeasible problem has status `infeasible` and no tree. Its record names the families in conflict.
        """
        started = time.perf_counter()
        problem = canonical_labels(problem, self.space)
        search = _Search(self, problem, words, self.constraints)
        parse = search.run(started)
        if parse.status == "infeasible":
            parse = replace(parse, record=replace(parse.record, conflict=self._conflict(problem, words)))
        return replace(parse, seconds={"solve": time.perf_counter() - started})

    def _conflict(self, problem: LabelledProblem, words: Words) -> tuple[str, ...]:
        """Return families of constraints that together exclude every tree.

        The list is minimal: no family can be left out. The name `parts` stands for the forbidden parts of the problem.
        """
        inner = replace(problem.problem, parts={})
        unscored = replace(problem, problem=inner, score=np.where(np.isneginf(problem.score), -np.inf, 0.0))
        forbidden = {
            family: replace(table, score=np.where(np.isneginf(table.score), -np.inf, 0.0))
            for family, table in problem.problem.parts.items()
        }
        needed = list(self.constraints)
        parts_conflict = bool(forbidden) and _Search(self, unscored, words, needed).feasible() is not False
        reduced = replace(unscored, problem=replace(inner, parts=forbidden)) if parts_conflict else unscored
        for constraint in self.constraints:
            remaining = [c for c in needed if c is not constraint]
            if _Search(self, reduced, words, remaining).feasible() is False:
                needed = remaining
        return tuple(c.name for c in needed) + ((PARTS,) if parts_conflict else ())


def best_projective(problem: LabelledProblem) -> tuple[Parse, np.ndarray]:
    """Return the best projective labelled tree without other constraints, and its labels int32[n + 1]."""
    return _labelled(problem, DECODERS["eisner"]().decode)


def chu_liu_edmonds(problem: LabelledProblem) -> tuple[Parse, np.ndarray]:
    """Return the best labelled tree without constraints, and its labels int32[n + 1]."""
    return _labelled(problem, ChuLiuEdmonds().decode)


def _labelled(problem: LabelledProblem, decode: Callable[[Problem], Parse]) -> tuple[Parse, np.ndarray]:
    """Return the tree of an arc-factored decoder under the best label of every arc, and its labels."""
    inner = replace(problem.problem, arc=problem.score.max(axis=1, initial=-np.inf), parts={})
    parse = decode(inner)
    labels = np.full(inner.n + 1, -1, INDEX)
    best = problem.label[np.arange(inner.arcs), problem.score.argmax(axis=1)] if inner.arcs else np.zeros(0, INDEX)
    table = np.full((inner.n + 1, inner.n + 1), -1, INDEX)
    table[inner.head, inner.mod] = best
    words = np.arange(1, inner.n + 1)
    if parse.status != "infeasible":
        labels[1:] = table[parse.heads[1:], words]
    return parse, labels


class _Search:
    """The search for the best labelled tree of one sentence under some constraints."""

    def __init__(
        self, options: IncrementalProgram, problem: LabelledProblem, words: Words, constraints: Sequence[Constraint]
    ):
        self.options, self.problem, self.constraints = options, problem, constraints
        self.variables = Variables.of(problem, words)
        self.has_cycles = any(isinstance(c, NoCycles) for c in constraints)
        self.added: Counter[str] = Counter()
        self.solves: list[tuple[str, float, int]] = []

    def run(self, started: float) -> Parse:
        """Return the best tree; `started` is the time of `time.perf_counter` from which the time limit counts."""
        options, variables = self.options, self.variables
        tree, labels = chu_liu_edmonds(self.problem)
        if tree.status == "infeasible":
            return self._parse(None, -np.inf, "infeasible")
        self.start = Selection(tree.heads, labels)
        at_start = [row for c in self.constraints for row in c.start(variables)]
        early: list[Row] = []
        self.has_parts = any(len(table) for table in self.problem.problem.parts.values())
        if options.start == "chu-liu-edmonds" and not self.has_parts:
            chosen = variables.chosen(self.start)
            early = self._violated(self.start)
            if not early and all(row.holds(chosen) for row in at_start):
                return self._parse(self.start, tree.value, "optimal")
        program = self._program(at_start, early)
        bound = np.inf if self.has_parts else tree.value  # bounds all trees, with and without constraints
        while True:
            seconds_left = options.time_limit - (time.perf_counter() - started) if options.time_limit else None
            spent = options.max_iterations and len(self.solves) >= options.max_iterations
            if spent or (seconds_left is not None and seconds_left <= 0):
                return self._fallback(bound)
            status, values, proved = self._solve(program, seconds_left)
            bound = min(bound, proved)
            if status == "infeasible":
                return self._parse(None, -np.inf, "infeasible")
            if status == "limit" or values is None:
                return self._fallback(bound)
            if not is_integral(values):
                rounded, rows = self._round(values)
                if not rows:
                    return self._parse(rounded, bound, "gap")
            else:
                selection = self._selection(values)
                rows = self._violated(selection)
                if not rows:
                    return self._parse(selection, bound, "optimal")
            program.add(rows)

    def _fallback(self, bound: float) -> Parse:
        """Return the fallback tree for a sentence that reached a limit: the best tree without constraints.

        The parse has no tree if the fallback tree has a forbidden part, or if the projective problem is infeasible.
        """
        selection = self.start
        if self.options.space == "projective":
            tree, labels = best_projective(self.problem)
            selection = Selection(tree.heads, labels)
            if tree.status == "infeasible":
                return self._parse(None, bound, "limit")
        return self._parse(selection, bound, "limit", fallback=True)

    def feasible(self) -> bool | None:
        """Return whether some selection keeps all constraints; None if a limit was reached."""
        program = self._program([row for c in self.constraints for row in c.start(self.variables)], [])
        limit = self.options.time_limit or None
        while True:
            solution = program.solve(True, limit)
            if solution.status != "optimal" or solution.values is None:
                return False if solution.status == "infeasible" else None
            values = solution.values[: len(self.variables)]
            heads = np.bincount(self.variables.mod, values, self.variables.n + 1)[1:]
            if (np.abs(heads - 1.0) > 0.5).any():
                return True  # without one-head, the solution need not be a selection that can be checked
            rows = self._violated(self._selection(values))
            if not rows:
                return True
            program.add(rows)

    def _program(self, at_start: list[Row], early: list[Row]) -> LiveProgram:
        """Return the program; its columns are the variables, then the columns of parts, then the flows.

        Among the columns of parts, those that must be integral come first.

        at_start  rows that the constraints have from the start
        early     rows of violations that are known before the first solve
        """
        variables, formulation = self.variables, self.options.formulation
        parts = part_program(variables, self.problem.problem)
        score, rows = np.concatenate([variables.score, parts.score]), [*at_start, *parts.rows]
        self.binary = len(variables) + parts.binary
        if formulation == "incremental" or not self.has_cycles:
            program = LiveProgram(score, self.binary)
        else:
            kind: Flow = formulation
            n_flow_columns, upper, flows = flow_program(variables, kind, len(score))
            program = LiveProgram(np.append(score, np.zeros(n_flow_columns)), self.binary)
            program.bound_columns(np.arange(len(score), len(score) + n_flow_columns), 0.0, upper)
            rows += flows
        program.bound_columns(parts.forbidden, 0.0, 0.0)
        program.add(rows + early)
        return program

    def _solve(self, program: LiveProgram, seconds: float | None) -> tuple[str, np.ndarray | None, float]:
        """Solve the relaxation, and the integer program if needed; return (status, values, upper bound)."""
        kinds = {"first": (False, True), "never": (True,), "only": (False,)}[self.options.relaxation]
        for integral in kinds:
            started = time.process_time()
            status, values, bound = program.solve(integral, seconds)
            fractional = 0
            if values is not None:
                values = values[: self.binary]
                fractional = int(np.count_nonzero(np.abs(values - np.rint(values)) > 1e-6))
            self.solves.append(("mip" if integral else "lp", time.process_time() - started, fractional))
            if status != "optimal" or values is None or is_integral(values):
                break
        return status, values, bound

    def _selection(self, values: np.ndarray) -> Selection:
        """Return heads and labels of an integral solution that has a head for every word."""
        heads, labels = np.full(self.variables.n + 1, NO_HEAD, INDEX), np.full(self.variables.n + 1, -1, INDEX)
        chosen = values[: len(self.variables)] > 0.5
        heads[self.variables.mod[chosen]] = self.variables.head[chosen]
        labels[self.variables.mod[chosen]] = self.variables.label[chosen]
        return Selection(heads, labels)

    def _violated(self, selection: Selection) -> list[Row]:
        """Return the rows that a selection breaks, and count them by constraint."""
        rows = []
        for constraint in self.constraints:
            broken = constraint.violated(self.variables, selection)
            self.added[constraint.name] += len(broken)
            rows += broken
        return rows

    def _round(self, values: np.ndarray) -> tuple[Selection, list[Row]]:
        """Return (the best tree under the values of a fractional solution, rows that the solution breaks).

        Every row is also broken by an integral selection: the tree, or the largest variable of each word.
        """
        variables, problem = self.variables, self.problem
        values = values[: len(variables)]
        values_by_label = np.full(problem.score.shape, -np.inf)
        values_by_label[(problem.label >= 0) & ~np.isneginf(problem.score)] = (
            values  # both sides are in the order of the variables' numbers
        )
        inner = replace(problem.problem, arc=values_by_label.max(axis=1, initial=-np.inf), parts={}, unit=0.0)
        relaxed = replace(problem, problem=inner, score=values_by_label)
        tree, labels = (best_projective if self.options.space == "projective" else chu_liu_edmonds)(relaxed)
        selection = Selection(tree.heads, labels)
        largest = np.zeros(variables.n + 1, np.intp)
        order = np.lexsort((-values, variables.mod))
        largest[1:] = order[np.searchsorted(variables.mod[order], np.arange(1, variables.n + 1))]
        heads, labels_of_largest = variables.head[largest].astype(INDEX), variables.label[largest].astype(INDEX)
        rows = self._violated(selection)
        if self.has_cycles and cycles(heads):
            rows += NoCycles("cut").violated(variables, Selection(heads, labels_of_largest))
        for constraint in self.constraints:
            if not isinstance(constraint, NoCycles):
                rows += constraint.violated(variables, Selection(heads, labels_of_largest))
        return selection, [row for row in rows if not row.holds(values)]

    def _parse(self, selection: Selection | None, bound: float, status: Status, fallback: bool = False) -> Parse:
        """Return the parse of a selection.

        The parse has no tree if the selection is None or has a forbidden part, or if a rounded selection breaks a
        constraint.
        """
        n = self.variables.n
        if np.isfinite(bound):  # correct the solver's bound by its tolerance; it is an integer if scores are
            bound += BOUND_TOLERANCE * max(1.0, abs(bound))
            bound = float(np.floor(bound)) if self.problem.problem.unit else bound
        lp = sum(kind == "lp" for kind, _, _ in self.solves)
        value = -np.inf
        if selection is not None:
            value = self._value(selection)
            if status == "gap" and any(self._breaks(selection)):
                value = -np.inf
            if value == -np.inf:  # a part is forbidden, or the rounded tree breaks a constraint
                selection, status, fallback = None, "limit", False
        work = {"iterations": len(self.solves), "lp": lp, "mip": len(self.solves) - lp, "fallback": int(fallback)}
        record = Solving({name: count for name, count in self.added.items() if count}, tuple(self.solves), (), fallback)
        if selection is None:
            heads = np.zeros(n + 1, INDEX)
            heads[0] = NO_HEAD
            return Parse(heads, -np.inf, bound, status, work, {}, None, record)
        heads, labels = selection.heads.astype(INDEX), selection.labels.astype(INDEX)
        return Parse(
            heads, value, value if status == "optimal" else max(bound, value), status, work, {}, labels, record
        )

    def _value(self, selection: Selection) -> float:
        """Return the score of a selection, with its arcs and parts; it is exact if scores are integers."""
        value = float(self.variables.score[self.variables.chosen(selection)].sum())
        inner = self.problem.problem
        return (
            value + float(tree_score(replace(inner, arc=np.zeros(inner.arcs)), selection.heads))
            if inner.parts
            else value
        )

    def _breaks(self, selection: Selection) -> list[Row]:
        """Return all rows that a selection breaks, including rows that are in the program from the start."""
        chosen = self.variables.chosen(selection)
        rows = [row for c in self.constraints for row in c.start(self.variables) if not row.holds(chosen)]
        return rows + [row for c in self.constraints for row in c.violated(self.variables, selection)]
