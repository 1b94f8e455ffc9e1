"""Incremental integer programming with hard constraints (Riedel & Clarke 2006), labelled and non-projective.

Solve; look at the solution; add the rows that it breaks; solve again, until it breaks none (their Algorithm 1). What is
beyond the paper, each an option: the Chu-Liu-Edmonds tree is looked at before anything is solved (if it breaks nothing
it is the best, since it is the best of all trees); a solution is first sought in the linear relaxation, which keeps its
basis from one solve to the next, and integrality is asked for only where that is fractional. And scores of parts, which
they name as what integer programming should allow (section 6): exact non-projective decoding with non-local factors.
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

BOUND_TOLERANCE = 1e-9  #: relative; added to what the solver calls a bound
Formulation = Literal["incremental", "single-commodity", "multi-commodity"]


@dataclass(frozen=True)
class Solving:
    """How a sentence was solved (`Parse.record`).

    added      family -> rows added after the start
    solves     (kind, CPU seconds, columns that are not 0 or 1) of every solve, kind being lp or mip
    conflict   families that no tree keeps together, where the problem is infeasible; none of them can be left out
    fallback   True where `heads` are those of Chu-Liu-Edmonds, which break something, since a limit was hit
    """

    added: dict[str, int] = field(default_factory=dict)
    solves: tuple[tuple[str, float, int], ...] = ()
    conflict: tuple[str, ...] = ()
    fallback: bool = False

    @property
    def first(self) -> float:
        """CPU seconds of the first solve; 0.0 where nothing had to be solved."""
        return self.solves[0][1] if self.solves else 0.0


class IncrementalProgram(CheckedDecoder):
    """The best labelled tree under hard constraints.

    constraints  as `treebound.constraints.load` gives them; by default trees alone
    formulation  incremental: cycles are forbidden when they occur; single-commodity, multi-commodity: by a flow that is
                 there from the start
    start        chu-liu-edmonds: look at that tree first; none: solve at once, as published
    relaxation   first: solve linear relaxations while they are integral; never: every solve is an integer program, as
                 published; only: linear relaxations alone, a fractional solution being rounded to a tree (status
                 `gap`; `limit` and no tree where that breaks constraints)
    space        projective: adds the constraint that no arcs cross (P1 with all labels)
    Scores of parts (`Problem.parts`) are part of the program from the start; the Chu-Liu-Edmonds tree is then no start.
    time_limit, max_iterations  0: none. When one is hit: status `limit` and the Chu-Liu-Edmonds tree (projective: that
                 of Eisner), which may break constraints

    The solver works in floating point: `optimal` means proved up to its tolerance of about 1e-9 of the largest score
    for each word. The value is that of the returned tree, summed exactly.
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
        """Best tree of an unlabelled problem.

        Word classes and forms are unknown here, so that constraints that ask for them apply to no word.
        """
        words = Words.of([""] * problem.n, [""] * problem.n)
        return replace(self.decode_labelled(unlabelled(problem), words), labels=None)

    def decode_labelled(self, problem: LabelledProblem, words: Words) -> Parse:
        """Best labelled tree; `Parse.labels` int32[n + 1] are ids of `problem.names`, `Parse.record` is a `Solving`.

        An infeasible problem has status `infeasible`, no tree, and the families in conflict in its record.
        """
        started = time.perf_counter()
        problem = canonical_labels(problem, self.space)
        search = _Search(self, problem, words, self.constraints)
        parse = search.run(started)
        if parse.status == "infeasible":
            parse = replace(parse, record=replace(parse.record, conflict=self._conflict(problem, words)))
        return replace(parse, seconds={"solve": time.perf_counter() - started})

    def _conflict(self, problem: LabelledProblem, words: Words) -> tuple[str, ...]:
        """Families that exclude every tree together, none of which can be left out; `parts`: the forbidden ones."""
        inner = replace(problem.problem, parts={})
        free = replace(problem, problem=inner, score=np.where(np.isneginf(problem.score), -np.inf, 0.0))
        forbidden = {
            family: replace(table, score=np.where(np.isneginf(table.score), -np.inf, 0.0))
            for family, table in problem.problem.parts.items()
        }
        needed = list(self.constraints)
        of_parts = bool(forbidden) and _Search(self, free, words, needed).feasible() is not False
        anything = replace(free, problem=replace(inner, parts=forbidden)) if of_parts else free
        for constraint in self.constraints:
            fewer = [c for c in needed if c is not constraint]
            if _Search(self, anything, words, fewer).feasible() is False:
                needed = fewer
        return tuple(c.name for c in needed) + ((PARTS,) if of_parts else ())


def best_projective(problem: LabelledProblem) -> tuple[Parse, np.ndarray]:
    """The best projective labelled tree without other constraints, and int32[n + 1] labels."""
    return _labelled(problem, DECODERS["eisner"]().decode)


def chu_liu_edmonds(problem: LabelledProblem) -> tuple[Parse, np.ndarray]:
    """The best labelled tree without constraints, and int32[n + 1] labels."""
    return _labelled(problem, ChuLiuEdmonds().decode)


def _labelled(problem: LabelledProblem, decode: Callable[[Problem], Parse]) -> tuple[Parse, np.ndarray]:
    """The tree that an arc-factored `decode` finds for the best label of every arc, and its labels."""
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
    """One sentence under some constraints."""

    def __init__(
        self, options: IncrementalProgram, problem: LabelledProblem, words: Words, constraints: Sequence[Constraint]
    ):
        self.options, self.problem, self.constraints = options, problem, constraints
        self.variables = Variables.of(problem, words)
        self.has_cycles = any(isinstance(c, NoCycles) for c in constraints)
        self.added: Counter[str] = Counter()
        self.solves: list[tuple[str, float, int]] = []

    def run(self, started: float) -> Parse:
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
        bound = np.inf if self.has_parts else tree.value  # of all trees, whatever they have to keep
        while True:
            left = options.time_limit - (time.perf_counter() - started) if options.time_limit else None
            spent = options.max_iterations and len(self.solves) >= options.max_iterations
            if spent or (left is not None and left <= 0):
                return self._fallback(bound)
            status, values, proved = self._solve(program, left)
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
        """The tree that is returned where a limit is hit; none if it has a forbidden part, or if there is none."""
        found = self.start
        if self.options.space == "projective":
            tree, labels = best_projective(self.problem)
            found = Selection(tree.heads, labels)
            if tree.status == "infeasible":
                return self._parse(None, bound, "limit")
        return self._parse(found, bound, "limit", fallback=True)

    def feasible(self) -> bool | None:
        """Whether some selection keeps all constraints; None where a limit was hit."""
        program = self._program([row for c in self.constraints for row in c.start(self.variables)], [])
        limit = self.options.time_limit or None
        while True:
            solution = program.solve(True, limit)
            if solution.status != "optimal" or solution.values is None:
                return False if solution.status == "infeasible" else None
            values = solution.values[: len(self.variables)]
            heads = np.bincount(self.variables.mod, values, self.variables.n + 1)[1:]
            if (np.abs(heads - 1.0) > 0.5).any():
                return True  # without one-head a selection need not be one that can be looked at
            rows = self._violated(self._selection(values))
            if not rows:
                return True
            program.add(rows)

    def _program(self, at_start: list[Row], early: list[Row]) -> LiveProgram:
        """Columns: the variables, the columns of the parts (those that are to be integral first), flows."""
        variables, formulation = self.variables, self.options.formulation
        parts = part_program(variables, self.problem.problem)
        score, rows = np.concatenate([variables.score, parts.score]), [*at_start, *parts.rows]
        self.binary = len(variables) + parts.binary
        if formulation == "incremental" or not self.has_cycles:
            program = LiveProgram(score, self.binary)
        else:
            kind: Flow = formulation
            more, upper, flows = flow_program(variables, kind, len(score))
            program = LiveProgram(np.append(score, np.zeros(more)), self.binary)
            program.bound_columns(np.arange(len(score), len(score) + more), 0.0, upper)
            rows += flows
        program.bound_columns(parts.forbidden, 0.0, 0.0)
        program.add(rows + early)
        return program

    def _solve(self, program: LiveProgram, seconds: float | None) -> tuple[str, np.ndarray | None, float]:
        """One iteration: the relaxation, then the integer program where that is asked for."""
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
        """Heads and labels of an integral solution with a head for every word."""
        heads, labels = np.full(self.variables.n + 1, NO_HEAD, INDEX), np.full(self.variables.n + 1, -1, INDEX)
        chosen = values[: len(self.variables)] > 0.5
        heads[self.variables.mod[chosen]] = self.variables.head[chosen]
        labels[self.variables.mod[chosen]] = self.variables.label[chosen]
        return Selection(heads, labels)

    def _violated(self, selection: Selection) -> list[Row]:
        rows = []
        for constraint in self.constraints:
            found = constraint.violated(self.variables, selection)
            self.added[constraint.name] += len(found)
            rows += found
        return rows

    def _round(self, values: np.ndarray) -> tuple[Selection, list[Row]]:
        """The best tree under a fractional solution as scores, and rows that the solution breaks.

        They are looked for among those that the tree breaks, and those that every word's largest variable breaks.
        """
        variables, problem = self.variables, self.problem
        values = values[: len(variables)]
        slot = np.full(problem.score.shape, -np.inf)
        slot[(problem.label >= 0) & ~np.isneginf(problem.score)] = values  # in the order in which they were numbered
        inner = replace(problem.problem, arc=slot.max(axis=1, initial=-np.inf), parts={}, unit=0.0)
        relaxed = replace(problem, problem=inner, score=slot)
        tree, labels = (best_projective if self.options.space == "projective" else chu_liu_edmonds)(relaxed)
        selection = Selection(tree.heads, labels)
        largest = np.zeros(variables.n + 1, np.intp)
        order = np.lexsort((-values, variables.mod))
        largest[1:] = order[np.searchsorted(variables.mod[order], np.arange(1, variables.n + 1))]
        heads, named = variables.head[largest].astype(INDEX), variables.label[largest].astype(INDEX)
        rows = self._violated(selection)
        if self.has_cycles and cycles(heads):
            rows += NoCycles("cut").violated(variables, Selection(heads, named))
        for constraint in self.constraints:
            if not isinstance(constraint, NoCycles):
                rows += constraint.violated(variables, Selection(heads, named))
        return selection, [row for row in rows if not row.holds(values)]

    def _parse(self, selection: Selection | None, bound: float, status: Status, fallback: bool = False) -> Parse:
        n = self.variables.n
        if np.isfinite(bound):  # the solver's, up to its tolerance; a whole number where scores are
            bound += BOUND_TOLERANCE * max(1.0, abs(bound))
            bound = float(np.floor(bound)) if self.problem.problem.unit else bound
        lp = sum(kind == "lp" for kind, _, _ in self.solves)
        value = -np.inf
        if selection is not None:
            value = self._value(selection)
            if status == "gap" and any(self._breaks(selection)):
                value = -np.inf
            if value == -np.inf:  # a forbidden part, or rounding that keeps not all constraints: no tree to return
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
        """Score of a selection, arcs and parts; exact where scores are integers."""
        value = float(self.variables.score[self.variables.chosen(selection)].sum())
        inner = self.problem.problem
        return (
            value + float(tree_score(replace(inner, arc=np.zeros(inner.arcs)), selection.heads))
            if inner.parts
            else value
        )

    def _breaks(self, selection: Selection) -> list[Row]:
        chosen = self.variables.chosen(selection)
        rows = [row for c in self.constraints for row in c.start(self.variables) if not row.holds(chosen)]
        return rows + [row for c in self.constraints for row in c.violated(self.variables, selection)]
