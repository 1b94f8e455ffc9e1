"""The canonical form of a problem, which decoders compute on, and the translation of a parse back.

A problem that was written by hand may list its arcs in any order and name only some parts of a family. Kernels need the
canonical form of docs/architecture.md: sorted arcs, and every part of a family. Problems of parsers are canonical.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from treebound.core import limits
from treebound.core.errors import InputError
from treebound.core.labelled import LabelledProblem
from treebound.core.limits import PART, within_limit
from treebound.core.parse import Parse
from treebound.core.problem import NONE, PartTable, Problem, canonical_order
from treebound.core.spaces import Space
from treebound.factors import FAMILIES
from treebound.features.long_sentences import part_bound
from treebound.kernels.arcs.numbering import ArcIndex
from treebound.kernels.arcs.parts import WIDTH, index_parts, list_parts
from treebound.kernels.arcs.problem_index import ArcsAlone, Index, arc_index

#: families whose parts contain an arc and an arc out of its dependent. In non-projective problems, the second arc may
#: be the reverse of the first; no tree contains such a part
_CHAINS = frozenset({"grandchild", "outermost-grandchild", "great-grandchild", "grand-sibling"})
#: families whose parts have three arcs; other families have at most A^2 parts, or list their parts explicitly
_OF_THREE = frozenset({"great-grandchild", "tri-sibling", "grand-sibling"})


@dataclass(frozen=True)
class Canonical:
    """A problem in canonical form, with the data that translate a parse back to the original problem.

    problem   the canonical problem
    order     int64[A]: number of every arc in the original problem. None if arcs and tables are unchanged
    rows      family -> int64[F]: row of every part in the original table, -1 for a part that was added
    original  the problem before the conversion
    """

    problem: Problem
    order: np.ndarray | None
    rows: dict[str, np.ndarray]
    original: Problem

    def restored(self, parse: Parse) -> Parse:
        """Return a parse of `problem` as a parse of the original problem: renumber the arcs and parts of its record."""
        if self.order is None or not hasattr(parse.record, "restored"):
            return parse
        return replace(parse, record=parse.record.restored(self.order, self.rows, self.original))


def canonical(problem: Problem, space: Space) -> Canonical:
    """Return a problem in the canonical form of a space, unchanged if it is canonical already.

    Missing parts are added with score 0. Parts that no tree of the space can have are left out. Raises InputError for a
    row that is not a part of its family. O(parts log parts).
    """
    if problem.canonical == space:
        return Canonical(problem, None, {}, problem)
    problem = replace(problem)  # a copy is checked again: tables may have been replaced since the last check
    check_parts(_candidates(problem), problem.parts)
    order = canonical_order(problem.n, problem.head, problem.mod)
    rank = np.empty(problem.arcs, np.int64)
    rank[order] = np.arange(problem.arcs)
    arcs = arc_index(problem)
    if not problem.parts:
        form = Problem.unchecked(
            problem.n, arcs.head, arcs.mod, problem.arc[order], {}, problem.single_root, problem.unit, space
        )
        return Canonical(form.with_facts(index=ArcsAlone(arcs)), order, {}, problem)
    index = Index(arcs, index_parts(arcs, problem.single_root, space == "projective"))
    tables, rows = {}, {}
    for family, table in problem.parts.items():
        if family not in FAMILIES or family == "arc":
            raise InputError(f"parts: unknown family {family!r}", hint="choose from " + ", ".join(FAMILIES))
        tables[family], rows[family] = _completed(problem, table, rank, index)
    form = Problem.unchecked(
        problem.n, arcs.head, arcs.mod, problem.arc[order], tables, problem.single_root, problem.unit, space
    )
    return Canonical(form.with_facts(index=index), order, rows, problem)


def check_parts(allowed: np.ndarray, families: Collection[str]) -> None:
    """Raise TooLargeError if candidate arcs bool[n + 1, n + 1] form too many parts of `families`. O(n^2)."""
    arcs = int(np.count_nonzero(allowed))
    power = 2 if _OF_THREE.isdisjoint(families) else 3
    # this fast test makes exact counts unnecessary for most sentences
    if not families or within_limit(PART * (len(families) * arcs**power + arcs)):
        return
    counts = {family: part_bound(allowed, (family,)) for family in families}
    limits.check_parts(len(allowed) - 1, counts | {"arc": arcs})


def _candidates(problem: Problem) -> np.ndarray:
    """Return bool[n + 1, n + 1]: True for every arc (head, dependent) of the problem."""
    allowed = np.zeros((problem.n + 1, problem.n + 1), np.bool_)
    allowed[problem.head, problem.mod] = True
    return allowed


def canonical_labels(problem: LabelledProblem, space: Space) -> LabelledProblem:
    """Return a labelled problem whose arcs are in canonical order, with labels and scores in the same order."""
    form = canonical(problem.problem, space)
    if form.order is None:
        return problem
    return LabelledProblem(form.problem, problem.label[form.order], problem.score[form.order], problem.names)


def _completed(problem: Problem, table: PartTable, rank: np.ndarray, index: Index) -> tuple[PartTable, np.ndarray]:
    """Return (a table of all parts of the family, int64[F]: the row of each part in `table`, or -1).

    rank  int64[A]: canonical number of each arc of the problem
    """
    family, arcs = table.family, table.arcs
    code = FAMILIES[family].code
    width = WIDTH[code]
    missing = width - arcs.shape[1]
    if missing < 0 or (missing and family not in ("comb", "pattern") and len(arcs)):
        raise InputError(f"parts[{family!r}].arcs has {arcs.shape[1]} columns", hint=f"give {width}")
    rows = arcs if family == "valency" else np.where(arcs >= 0, np.append(rank, 0)[arcs], arcs)
    rows = np.pad(rows, ((0, 0), (0, max(0, missing))), constant_values=NONE)[:, :width].astype(np.int32)
    if family == "pattern":
        if np.any(empty := (rows == NONE).all(axis=1)):
            raise _no_part(problem, table, int(np.argmax(empty)), "it has no arc")
        return PartTable(family, rows, table.score), np.arange(len(rows))
    listed, _ = list_parts(code, *index)
    position = _places(rows, listed, problem)
    if np.any(absent := position < 0):
        _refuse_unknown_parts(problem, table, np.flatnonzero(absent), rows, index.arcs)
    score, row_of = np.zeros(len(listed)), np.full(len(listed), -1)
    score[position[~absent]], row_of[position[~absent]] = table.score[~absent], np.flatnonzero(~absent)
    if family in _CHAINS:
        score[_reversed(listed, index.arcs)] = 0.0
    return PartTable(family, listed, score), row_of


def _refuse_unknown_parts(
    problem: Problem, table: PartTable, absent: np.ndarray, rows: np.ndarray, index: ArcIndex
) -> None:
    """Raise InputError if a row of the table is not a part of the family in any space.

    `absent` are the indices of the rows that are not parts in the searched space. All other rows of `absent` are parts
    of trees outside the searched space and can be ignored. Adjacent siblings below the root are parts only if the root
    may have several dependents. A single root has one dependent. The part that says that this dependent has no sibling
    would be in every tree, so that a score for this part is refused.
    """
    code = FAMILIES[table.family].code
    any_space, _ = list_parts(code, index, index_parts(index, False, False))
    invalid = absent[_places(rows[absent], any_space, problem) < 0]
    if len(invalid):
        raise _no_part(problem, table, int(invalid[0]), f"these arcs are not a part of family {table.family}")
    if table.family == "adjacent-sibling":
        fires = absent[(rows[absent, 0] == NONE) & (table.score[absent] != 0.0)]
        if len(fires):
            raise _no_part(problem, table, int(fires[0]), "the single root's modifier has no siblings to score")


def _no_part(problem: Problem, table: PartTable, p: int, why: str) -> InputError:
    """Return the error for the invalid part `p` of a table; its message shows the part's arcs and the reason `why`."""
    row = table.arcs[p].tolist()
    if table.family == "valency":
        description = f"word {row[0]} with {row[1]} modifiers" if len(row) == 2 else str(row)
    else:
        ends = [f"{problem.head[a]} -> {problem.mod[a]}" if a >= 0 else "none" for a in row]
        description = f"arcs {row}: {', '.join(ends)}"
    return InputError(
        f"parts[{table.family!r}]: part {p} ({description}): {why}",
        hint="see the list of parts in docs/architecture.md",
    )


def _places(rows: np.ndarray, listed: np.ndarray, problem: Problem) -> np.ndarray:
    """Return int64[G]: the index of each of G rows among the F rows `listed`, -1 if absent. O((G + F) log F)."""
    if not len(listed) or not len(rows):
        return np.full(len(rows), -1)
    all_rows = np.concatenate([listed, rows]).astype(np.int64) + 2  # NONE and NONE_OUTER are negative
    base = int(all_rows.max()) + 1
    if base ** all_rows.shape[1] < 2**63:
        key = all_rows @ (base ** np.arange(all_rows.shape[1], dtype=np.int64))
    else:
        key = np.unique(all_rows, axis=0, return_inverse=True)[1].ravel()
    listed_keys, row_keys = key[: len(listed)], key[len(listed) :]
    order = np.argsort(listed_keys, kind="stable")
    position = order[np.minimum(np.searchsorted(listed_keys, row_keys, sorter=order), len(listed_keys) - 1)]
    return np.where(listed_keys[position] == row_keys, position, -1)


def _reversed(rows: np.ndarray, index: ArcIndex) -> np.ndarray:
    """Return bool[F]: whether each row contains an arc and its reverse."""
    is_reversed = np.zeros(len(rows), np.bool_)
    for i in range(rows.shape[1]):
        for j in range(i):
            a, b = np.maximum(rows[:, i], 0), np.maximum(rows[:, j], 0)
            present = (rows[:, i] >= 0) & (rows[:, j] >= 0)
            is_reversed |= present & (index.head[a] == index.mod[b]) & (index.mod[a] == index.head[b])
    return is_reversed
