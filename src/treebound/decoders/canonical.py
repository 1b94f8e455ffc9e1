"""The canonical form of a problem, on which decoders compute, and the way back.

A problem written by hand has its arcs in any order and the parts that somebody cared to name. Kernels do arithmetic on
the canonical form of docs/architecture.md: arcs sorted, every part of a family listed. Problems of a parser have it.
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

#: families with an arc below another one, which may be its reverse where trees may cross: such a part never fires
_CHAINS = frozenset({"grandchild", "outermost-grandchild", "great-grandchild", "grand-sibling"})
#: families of parts of three arcs; others have at most as many parts as there are pairs of arcs, or name their parts
_OF_THREE = frozenset({"great-grandchild", "tri-sibling", "grand-sibling"})


@dataclass(frozen=True)
class Canonical:
    """A problem in canonical form, and the way back.

    order  int64[A] the given number of every arc; None: arcs and tables are as given
    rows   family -> int64[F] the given row of every part, -1 where it was completed
    given  the problem as it was given
    """

    problem: Problem
    order: np.ndarray | None
    rows: dict[str, np.ndarray]
    given: Problem

    def restored(self, parse: Parse) -> Parse:
        """The parse of `problem` as one of `given`: what its record says of arcs and parts."""
        if self.order is None or not hasattr(parse.record, "restored"):
            return parse
        return replace(parse, record=parse.record.restored(self.order, self.rows, self.given))


def canonical(problem: Problem, space: Space) -> Canonical:
    """The problem in the canonical form of a space; as it is where it has it.

    Parts that are missing score 0; parts that no tree of the space can have are left out. InputError for a row that is
    no part of its family. O(parts log parts).
    """
    if problem.canonical == space:
        return Canonical(problem, None, {}, problem)
    problem = replace(problem)  # its tables may have been exchanged since it was checked
    check_parts(_candidates(problem), problem.parts)
    order = canonical_order(problem.n, problem.head, problem.mod)
    rank = np.empty(problem.arcs, np.int64)
    rank[order] = np.arange(problem.arcs)
    arcs = arc_index(problem)
    if not problem.parts:
        made = Problem.unchecked(
            problem.n, arcs.head, arcs.mod, problem.arc[order], {}, problem.single_root, problem.unit, space
        )
        return Canonical(made.knowing(index=ArcsAlone(arcs)), order, {}, problem)
    index = Index(arcs, index_parts(arcs, problem.single_root, space == "projective"))
    tables, rows = {}, {}
    for family, table in problem.parts.items():
        if family not in FAMILIES or family == "arc":
            raise InputError(f"parts: unknown family {family!r}", hint="choose from " + ", ".join(FAMILIES))
        tables[family], rows[family] = _completed(problem, table, rank, index)
    made = Problem.unchecked(
        problem.n, arcs.head, arcs.mod, problem.arc[order], tables, problem.single_root, problem.unit, space
    )
    return Canonical(made.knowing(index=index), order, rows, problem)


def check_parts(allowed: np.ndarray, families: Collection[str]) -> None:
    """Raise TooLargeError if candidate arcs bool[n + 1, n + 1] make up too many parts of `families`. O(n^2)."""
    arcs = int(np.count_nonzero(allowed))
    power = 2 if _OF_THREE.isdisjoint(families) else 3
    if not families or within_limit(PART * (len(families) * arcs**power + arcs)):  # spares most sentences the counts
        return
    counts = {family: part_bound(allowed, (family,)) for family in families}
    limits.check_parts(len(allowed) - 1, counts | {"arc": arcs})


def _candidates(problem: Problem) -> np.ndarray:
    allowed = np.zeros((problem.n + 1, problem.n + 1), np.bool_)
    allowed[problem.head, problem.mod] = True
    return allowed


def canonical_labels(problem: LabelledProblem, space: Space) -> LabelledProblem:
    """The same with a canonical problem inside: what is there of an arc moves with it."""
    given = canonical(problem.problem, space)
    if given.order is None:
        return problem
    return LabelledProblem(given.problem, problem.label[given.order], problem.score[given.order], problem.names)


def _completed(problem: Problem, table: PartTable, rank: np.ndarray, index: Index) -> tuple[PartTable, np.ndarray]:
    """(all parts of a family, the given row of each or -1). rank: given number of an arc -> its number in `index`."""
    family, given = table.family, table.arcs
    code = FAMILIES[family].code
    width = WIDTH[code]
    short = width - given.shape[1]
    if short < 0 or (short and family not in ("comb", "pattern") and len(given)):
        raise InputError(f"parts[{family!r}].arcs has {given.shape[1]} columns", hint=f"give {width}")
    rows = given if family == "valency" else np.where(given >= 0, np.append(rank, 0)[given], given)
    rows = np.pad(rows, ((0, 0), (0, max(0, short))), constant_values=NONE)[:, :width].astype(np.int32)
    if family == "pattern":
        if np.any(empty := (rows == NONE).all(axis=1)):
            raise _no_part(problem, table, int(np.argmax(empty)), "it has no arc")
        return PartTable(family, rows, table.score), np.arange(len(rows))
    listed, _ = list_parts(code, *index)
    place = _places(rows, listed, problem)
    if np.any(absent := place < 0):
        _refuse_unknown_parts(problem, table, np.flatnonzero(absent), rows, index.arcs)
    score, row_of = np.zeros(len(listed)), np.full(len(listed), -1)
    score[place[~absent]], row_of[place[~absent]] = table.score[~absent], np.flatnonzero(~absent)
    if family in _CHAINS:
        score[_reversed(listed, index.arcs)] = 0.0
    return PartTable(family, listed, score), row_of


def _refuse_unknown_parts(
    problem: Problem, table: PartTable, absent: np.ndarray, rows: np.ndarray, index: ArcIndex
) -> None:
    """InputError if one of the `absent` rows is no part of the family in any space: the others cannot fire in this one.

    Adjacent siblings below the root are parts where it may have several modifiers. Where it has one, only the part of
    that one without a sibling fires.
    """
    code = FAMILIES[table.family].code
    any_space, _ = list_parts(code, index, index_parts(index, False, False))
    strange = absent[_places(rows[absent], any_space, problem) < 0]
    if len(strange):
        raise _no_part(problem, table, int(strange[0]), f"these arcs are no {table.family}")
    if table.family == "adjacent-sibling":
        fires = absent[(rows[absent, 0] == NONE) & (table.score[absent] != 0.0)]
        if len(fires):
            raise _no_part(problem, table, int(fires[0]), "the single root's modifier has no siblings to score")


def _no_part(problem: Problem, table: PartTable, p: int, why: str) -> InputError:
    row = table.arcs[p].tolist()
    if table.family == "valency":
        what = f"word {row[0]} with {row[1]} modifiers" if len(row) == 2 else str(row)
    else:
        ends = [f"{problem.head[a]} -> {problem.mod[a]}" if a >= 0 else "none" for a in row]
        what = f"arcs {row}: {', '.join(ends)}"
    return InputError(
        f"parts[{table.family!r}]: part {p} ({what}): {why}", hint="docs/architecture.md lists the parts of a family"
    )


def _places(rows: np.ndarray, listed: np.ndarray, problem: Problem) -> np.ndarray:
    """int64[G]: where each of the rows stands in the list, -1 where it does not. O((G + F) log F)."""
    if not len(listed) or not len(rows):
        return np.full(len(rows), -1)
    both = np.concatenate([listed, rows]).astype(np.int64) + 2  # NONE and NONE_OUTER are negative
    base = int(both.max()) + 1
    if base ** both.shape[1] < 2**63:
        key = both @ (base ** np.arange(both.shape[1], dtype=np.int64))
    else:
        key = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    known, wanted = key[: len(listed)], key[len(listed) :]
    order = np.argsort(known, kind="stable")
    place = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    return np.where(known[place] == wanted, place, -1)


def _reversed(rows: np.ndarray, index: ArcIndex) -> np.ndarray:
    """bool[F]: rows with an arc and its reverse."""
    out = np.zeros(len(rows), np.bool_)
    for i in range(rows.shape[1]):
        for j in range(i):
            a, b = np.maximum(rows[:, i], 0), np.maximum(rows[:, j], 0)
            both = (rows[:, i] >= 0) & (rows[:, j] >= 0)
            out |= both & (index.head[a] == index.mod[b]) & (index.mod[a] == index.head[b])
    return out
