"""The scored problem: all that a decoder may know about a sentence.

Every decoder takes the same `Problem`, so every comparison is on equal scores. A problem can be written by hand: it is
checked when it is made, and brought into the form that kernels want where it is decoded (`decoders.canonical`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, SCORE
from treebound.core.errors import InputError

#: no modifier in this slot (the first modifier on its side, a head without inner grandchildren)
NONE = -1
#: outermost-grandchild only: no modifier on the outer side
NONE_OUTER = -2
#: families whose parts are sets of arcs, padded with NONE: a part fires when all its arcs are selected
PRODUCTS = frozenset({"grandchild", "sibling", "head-bigram", "great-grandchild", "tri-sibling", "comb", "pattern"})
#: those of them whose arcs have no order
SETS = frozenset({"sibling", "head-bigram", "tri-sibling", "comb", "pattern"})
#: words in a comb (Qian & Liu 2013, section 4.3: more than three modifiers)
SHORTEST_COMB, LONGEST_COMB = 4, 8
#: the last valency part of a word with more candidates stands for this many modifiers or more
MAX_COUNT = 7
#: integer scores: their absolute values sum to less, so that no sum of scores, shares and penalties is ever rounded
LARGEST_SUM = 2.0**46
#: real scores: their absolute values sum to less, far from what stands for "impossible" in kernels
LARGEST_REAL_SUM = 1e20


@dataclass(frozen=True)
class PartTable:
    """All parts (factors) of one family in a sentence.

    family  name of the factor family
    arcs    int32[F, r] arc numbers, or NONE / NONE_OUTER where the family allows an empty slot; for `valency` a word
            and a number of modifiers
    score   float64[F]; -inf forbids the part
    """

    family: str
    arcs: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.score)

    @classmethod
    def made(cls, family: str, arcs: np.ndarray, score: np.ndarray) -> PartTable:
        """The same as the constructor, in half the time: parsers make eight of them a sentence."""
        table = object.__new__(cls)
        table.__dict__.update(family=family, arcs=arcs, score=score)
        return table


@dataclass(frozen=True)
class Problem:
    """maximise  sum_a arc[a] z_a + sum_parts score z_part  over the trees z made of the given arcs.

    n            words 1..n; 0 is the root
    head, mod    int32[A]: arc a goes from head[a] to mod[a], in any order; only these arcs may be used, each once
    arc          float64[A] scores; -inf forbids an arc
    parts        family -> PartTable; parts and families that are absent score nothing, those given twice their sum
    single_root  exactly one word is attached to 0 (else: at least one)
    unit         scores are integers, `unit` of them to 1.0 of the model's score; 0.0: scores are real numbers

    What is given is checked and copied; the copies are read-only. Arcs of a part that have no order are sorted. Raises
    InputError, which names the argument, for shapes, ranges and dtypes that do not fit, arcs given twice, NaN, +inf,
    fractions where `unit` says that there are none, and scores too large to be added without rounding.
    O(arcs + parts log parts).
    """

    n: int
    head: np.ndarray
    mod: np.ndarray
    arc: np.ndarray
    parts: dict[str, PartTable] = field(default_factory=dict)
    single_root: bool = True
    unit: float = 0.0
    #: the space for which arcs and tables have the canonical form of docs/architecture.md; None: not known
    canonical: str | None = field(default=None, init=False, repr=False, compare=False)
    #: the index of arcs and parts, once something has asked for it (`treebound.kernels.arcs.problem_index.index_of`)
    index: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = _checked(self.n, self.head, self.mod, self.arc, self.parts, self.single_root, self.unit)
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @classmethod
    def unchecked(
        cls,
        n: int,
        head: np.ndarray,
        mod: np.ndarray,
        arc: np.ndarray,
        parts: dict[str, PartTable],
        single_root: bool,
        unit: float,
        canonical: str | None,
    ) -> Problem:
        """For makers of canonical problems, as a parser is: nothing is checked, nothing copied."""
        problem = object.__new__(cls)
        problem.__dict__.update(
            n=n, head=head, mod=mod, arc=arc, parts=parts, single_root=single_root, unit=unit, canonical=canonical
        )
        return problem

    def with_arc(self, arc: np.ndarray) -> Problem:
        """The same arcs and parts under other scores of arcs, -inf among them. InputError as above. O(arcs)."""
        return self.rescored(_scores("arc", arc, len(self.head), self.unit), self.parts)

    def rescored(self, arc: np.ndarray, parts: dict[str, PartTable]) -> Problem:
        """The same arcs and parts under other scores, which nobody checks. The index is shared."""
        problem = Problem.unchecked(
            self.n, self.head, self.mod, arc, parts, self.single_root, self.unit, self.canonical
        )
        return problem.knowing(index=self.index)

    def knowing(self, **facts: Any) -> Problem:
        """This problem, told by its maker what it would have to find out: its `index`, whether it is `finite`."""
        self.__dict__.update(facts)
        return self

    @property
    def arcs(self) -> int:
        """Number of candidate arcs."""
        return len(self.head)

    @property
    def families(self) -> frozenset[str]:
        """Families with scores, `arc` included."""
        return frozenset(self.parts) | {"arc"}

    @cached_property
    def finite(self) -> bool:
        """Whether nothing is forbidden: no score is -inf. O(arcs + parts), once."""
        return all(bool(np.all(s > -np.inf)) for s in (self.arc, *(table.score for table in self.parts.values())))

    @property
    def total(self) -> float:
        """Sum of the absolute values of all finite scores."""
        return _total(self.arc, self.parts)


def _checked(
    n: Any, head: Any, mod: Any, arc: Any, parts: Mapping[str, PartTable], single_root: Any, unit: Any
) -> dict[str, Any]:
    """The fields of a `Problem`, checked and read-only."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n < 2**31:
        raise InputError(f"n = {n!r}", hint="give the number of words, at least 1")
    if not isinstance(unit, int | float | np.number) or not 0.0 <= unit < np.inf:
        raise InputError(f"unit = {unit!r}", hint="give 0.0 for real scores, or what 1.0 is in integer scores")
    n, unit = int(n), float(unit)
    head, mod = (_integers(name, x, 1) for name, x in (("head", head), ("mod", mod)))
    if len(head) != len(mod):
        raise InputError(f"head has {len(head)} entries and mod {len(mod)}", hint="give both ends of every arc")
    wrong = (head < 0) | (head > n) | (mod < 1) | (mod > n) | (head == mod)
    if np.any(wrong):
        a = int(np.argmax(wrong))
        raise InputError(
            f"arc {a} goes from {head[a]} to {mod[a]} in a sentence of {n} words",
            hint="heads are 0..n, modifiers 1..n, and no word is its own head",
        )
    key = head.astype(np.int64) * (n + 1) + mod
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        a, b = order[twice[0]], order[twice[0] + 1]
        raise InputError(f"arcs {a} and {b} are both {head[a]} -> {mod[a]}", hint="give every arc once")
    arc = _scores("arc", arc, len(head), unit)
    if not isinstance(parts, Mapping):
        raise InputError(f"parts is a {type(parts).__name__}", hint="give a dictionary: family -> PartTable")
    rank = np.empty(len(head), np.int64)
    rank[canonical_order(n, head, mod)] = np.arange(len(head))
    tables = {family: _table(family, table, n, rank, mod, unit) for family, table in parts.items()}
    total, most = _total(arc, tables), LARGEST_SUM if unit else LARGEST_REAL_SUM
    if not total < most:
        raise InputError(
            f"the absolute values of the scores sum to {total:.3g}",
            hint=f"scale them: sums must be exact, and are below {most:.3g}; -inf forbids an arc or a part",
        )
    single_root = bool(single_root)
    return {
        "n": n,
        "head": _frozen(head),
        "mod": _frozen(mod),
        "arc": arc,
        "parts": tables,
        "single_root": single_root,
        "unit": unit,
    }


def canonical_order(n: int, head: np.ndarray, mod: np.ndarray) -> np.ndarray:
    """int64[A]: arcs by head; within a head the modifiers to its left from near to far, then those to its right."""
    distance = mod.astype(np.int64) - head
    return np.argsort(head.astype(np.int64) * (2 * n + 2) + np.where(distance < 0, -distance, n + distance))


def _table(family: str, table: Any, n: int, rank: np.ndarray, mod: np.ndarray, unit: float) -> PartTable:
    """A part table, checked as far as that is possible without knowing the family; no part twice."""
    arcs = len(rank)
    if not isinstance(table, PartTable):
        raise InputError(f"parts[{family!r}] is a {type(table).__name__}", hint="give a PartTable")
    if table.family != family:
        raise InputError(f"parts[{family!r}] is a table of the family {table.family!r}", hint="give it its own name")
    name = f"parts[{family!r}]"
    rows = _integers(f"{name}.arcs", table.arcs, 2)
    score = _scores(f"{name}.score", table.score, len(rows), unit)
    if family == "valency":
        lowest, highest = 0, max(n, arcs - 1)
    else:
        lowest, highest = NONE_OUTER if family == "outermost-grandchild" else NONE, arcs - 1
    wrong = ((rows < lowest) | (rows > highest)).any(axis=1)
    if np.any(wrong):
        p = int(np.argmax(wrong))
        raise InputError(
            f"{name}: part {p} names {rows[p].tolist()}", hint=f"there are {arcs} arcs; an empty slot is {NONE}"
        )
    if family in SETS:
        rows = _sorted(rows, mod if family == "head-bigram" else rank)
    rows, score = _merged(rows, score)
    return PartTable(family, _frozen(rows), _frozen(score))


def _sorted(rows: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The arcs of every row in the order of their keys, each once, empty slots last."""
    none = np.iinfo(np.int64).max
    for _ in range(2):  # an arc that is there twice becomes an empty slot
        places = np.where(rows == NONE, none, np.append(key, none)[rows])
        rows = np.take_along_axis(rows, np.argsort(places, axis=1, kind="stable"), axis=1)
        again = (rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] != NONE)
        if not np.any(again):
            break
        rows[:, 1:][again] = NONE
    return rows


def _merged(rows: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """No row twice: those that are have the sum of their scores, at the place of the first."""
    if len(rows) < 2:
        return rows, score
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows, score
    keep = np.sort(first)
    total = np.zeros(len(rows), SCORE)
    np.add.at(total, first[inverse.ravel()], score)
    return rows[keep], total[keep]


def _integers(name: str, given: Any, dimensions: int) -> np.ndarray:
    """int32 copy of an array of integers."""
    array = _array(name, given)
    if array.size == 0 and array.ndim == 1:
        array = array.reshape((0,) * dimensions).astype(INDEX)
    if array.ndim != dimensions or array.dtype.kind not in "iu":
        kind = f"{array.dtype}{list(array.shape)}"
        raise InputError(f"{name} is {kind}", hint=f"give integers in {dimensions} dimension{'s'[: dimensions - 1]}")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise InputError(f"{name} has numbers beyond 32 bits", hint="give indices")
    return np.array(array, INDEX, order="C")


def _scores(name: str, given: Any, size: int, unit: float) -> np.ndarray:
    """float64[size] read-only copy of scores: finite or -inf, integers where there is a unit."""
    array = _array(name, given)
    if array.shape != (size,) or array.dtype.kind not in "iuf":
        raise InputError(f"{name} is {array.dtype}{list(array.shape)}", hint=f"give {size} numbers, one each")
    array = np.array(array, SCORE)
    wrong = np.isnan(array) | (array == np.inf)
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise InputError(f"{name}[{i}] is {array[i]}", hint="scores are numbers; -inf forbids")
    if unit:
        finite = array > -np.inf
        broken = finite & (np.rint(np.where(finite, array, 0.0)) != array)
        if np.any(broken):
            i = int(np.argmax(broken))
            raise InputError(f"{name}[{i}] is {array[i]}, no integer", hint="unit = 0.0 says that scores are real")
    return _frozen(array)


def _array(name: str, given: Any) -> np.ndarray:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}", hint="give an array") from None


def _total(arc: np.ndarray, tables: Mapping[str, PartTable]) -> float:
    scores = (arc, *(table.score for table in tables.values()))
    return sum(float(np.abs(s[s > -np.inf]).sum()) for s in scores)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
