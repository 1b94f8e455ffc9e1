"""The scored problem: everything that a decoder may know about a sentence.

Every decoder takes the same `Problem`, so comparisons of decoders use equal scores. A problem can be written by hand.
The constructor checks it, and `decoders.canonical` converts it to the canonical form of the kernels before decoding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX, SCORE
from treebound.core.errors import InputError

#: no modifier in this slot: the part is about the first modifier on a side, or about a head without inner grandchildren
NONE = -1
#: outermost-grandchild only: no modifier on the outer side
NONE_OUTER = -2
#: families whose parts are sets of arcs, padded with NONE: a part fires when all its arcs are selected
PRODUCTS = frozenset({"grandchild", "sibling", "head-bigram", "great-grandchild", "tri-sibling", "comb", "pattern"})
#: families of `PRODUCTS` in which the order of the arcs has no meaning
SETS = frozenset({"sibling", "head-bigram", "tri-sibling", "comb", "pattern"})
#: smallest and largest number of words in a comb (Qian & Liu 2013, section 4.3: more than three modifiers)
SHORTEST_COMB, LONGEST_COMB = 4, 8
#: largest count of a valency part; the part with this count means "this many modifiers or more"
MAX_COUNT = 7
#: limit of the sum of absolute integer scores: below it, no sum of scores, shares and penalties is ever rounded
LARGEST_SUM = 2.0**46
#: limit of the sum of absolute real scores: far below the value that means "impossible" in kernels
LARGEST_REAL_SUM = 1e20


@dataclass(frozen=True)
class PartTable:
    """The parts (factors) of one factor family in a sentence.

    - `family`: name of the factor family.
    - `arcs`: int32[F, r] arc numbers. An empty slot is NONE or NONE_OUTER, in families that allow empty slots. A row of
      `valency` is a word and its number of modifiers.
    - `score`: float64[F]; -inf forbids the part.
    """

    family: str
    arcs: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.score)

    @classmethod
    def made(cls, family: str, arcs: np.ndarray, score: np.ndarray) -> PartTable:
        """Return a table without calling the constructor, which takes twice as long.

        Parsers build about eight tables per sentence.
        """
        table = object.__new__(cls)
        table.__dict__.update(family=family, arcs=arcs, score=score)
        return table


@dataclass(frozen=True)
class Problem:
    """A sentence with scored arcs and parts: maximise sum_a arc[a] z_a + sum_parts score z_part over the trees z.

    - `n`: number of words. Words are numbered 1..n, and 0 is the root.
    - `head`, `mod`: int32[A]. Arc a goes from head[a] to mod[a]. Arcs may be in any order, and no arc occurs twice. A
      tree uses only these arcs.
    - `arc`: float64[A] scores; -inf forbids an arc.
    - `parts`: a mapping from the family to its PartTable. Absent parts and families score 0. A part that occurs twice
      has the sum of its scores.
    - `single_root`: if True, exactly one word is attached to the root; if False, at least one.
    - `unit`: the number of integer steps in a model score of 1.0, for integer scores. 0.0 means that scores are real
      numbers.

    The constructor checks and copies its arguments, and the copies are read-only. In families in which the order of
    a part's arcs has no meaning, these arcs are sorted. O(arcs + parts log parts).

    Raises InputError, with the name of the argument, for wrong shapes, ranges and dtypes, repeated arcs, NaN and +inf.
    It is also raised for fractions if `unit` is not 0.0, and for scores too large to be added without rounding.
    """

    n: int
    head: np.ndarray
    mod: np.ndarray
    arc: np.ndarray
    parts: dict[str, PartTable] = field(default_factory=dict)
    single_root: bool = True
    unit: float = 0.0
    #: the space for which arcs and tables have the canonical form of docs/architecture.md; None if it is not known
    canonical: str | None = field(default=None, init=False, repr=False, compare=False)
    #: the index of arcs and parts; `treebound.kernels.arcs.problem_index.index_of` builds it on first use
    index: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fields = _checked(self.n, self.head, self.mod, self.arc, self.parts, self.single_root, self.unit)
        for name, value in fields.items():
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
        """Return a problem without checking or copying the arguments, which must already be in canonical form."""
        problem = object.__new__(cls)
        problem.__dict__.update(
            n=n, head=head, mod=mod, arc=arc, parts=parts, single_root=single_root, unit=unit, canonical=canonical
        )
        return problem

    def with_arc(self, arc: np.ndarray) -> Problem:
        """Return a problem with the same arcs and parts but with other arc scores, which may be -inf.

        Raises InputError for invalid scores, as the constructor does. O(arcs).
        """
        return self.rescored(_scores("arc", arc, len(self.head), self.unit), self.parts)

    def rescored(self, arc: np.ndarray, parts: dict[str, PartTable]) -> Problem:
        """Return a problem with the same arcs and parts but with other scores, which are not checked.

        Both problems share the index.
        """
        problem = Problem.unchecked(
            self.n, self.head, self.mod, arc, parts, self.single_root, self.unit, self.canonical
        )
        return problem.with_facts(index=self.index)

    def with_facts(self, **facts: Any) -> Problem:
        """Store facts that would otherwise be computed on first use (`index`, `finite`), and return this problem."""
        self.__dict__.update(facts)
        return self

    @property
    def arcs(self) -> int:
        """Return the number of candidate arcs."""
        return len(self.head)

    @property
    def families(self) -> frozenset[str]:
        """Return the names of the families with scores, including `arc`."""
        return frozenset(self.parts) | {"arc"}

    @cached_property
    def finite(self) -> bool:
        """Return whether no score is -inf, so that no arc and no part is forbidden. O(arcs + parts) on first use."""
        return all(bool(np.all(s > -np.inf)) for s in (self.arc, *(table.score for table in self.parts.values())))

    @property
    def total(self) -> float:
        """Return the sum of the absolute values of all finite scores."""
        return _total(self.arc, self.parts)


def _checked(
    n: Any, head: Any, mod: Any, arc: Any, parts: Mapping[str, PartTable], single_root: Any, unit: Any
) -> dict[str, Any]:
    """Return the fields of a `Problem`, checked and read-only. Raises InputError."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n < 2**31:
        raise InputError(f"n = {n!r}", hint="give the number of words, at least 1")
    if not isinstance(unit, int | float | np.number) or not 0.0 <= unit < np.inf:
        raise InputError(
            f"unit = {unit!r}", hint="give 0.0 for real scores, or the number of integer steps in a score of 1.0"
        )
    n, unit = int(n), float(unit)
    head, mod = (_integers(name, x, 1) for name, x in (("head", head), ("mod", mod)))
    if len(head) != len(mod):
        raise InputError(f"head has {len(head)} entries and mod {len(mod)}", hint="give both ends of every arc")
    invalid = (head < 0) | (head > n) | (mod < 1) | (mod > n) | (head == mod)
    if np.any(invalid):
        a = int(np.argmax(invalid))
        raise InputError(
            f"arc {a} goes from {head[a]} to {mod[a]} in a sentence of {n} words",
            hint="heads are 0..n, modifiers 1..n, and no word is its own head",
        )
    key = head.astype(np.int64) * (n + 1) + mod
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(np.diff(key[order]) == 0)
    if len(repeated):
        a, b = order[repeated[0]], order[repeated[0] + 1]
        raise InputError(f"arcs {a} and {b} are both {head[a]} -> {mod[a]}", hint="give every arc once")
    arc = _scores("arc", arc, len(head), unit)
    if not isinstance(parts, Mapping):
        raise InputError(f"parts is a {type(parts).__name__}", hint="give a dictionary: family -> PartTable")
    rank = np.empty(len(head), np.int64)
    rank[canonical_order(n, head, mod)] = np.arange(len(head))
    tables = {family: _table(family, table, n, rank, mod, unit) for family, table in parts.items()}
    total, largest = _total(arc, tables), LARGEST_SUM if unit else LARGEST_REAL_SUM
    if not total < largest:
        raise InputError(
            f"the absolute values of the scores sum to {total:.3g}",
            hint=f"scale them so that the sum is below {largest:.3g} and exact; -inf forbids an arc or a part",
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
    """Return int64[A]: the order that sorts arcs by head, then left modifiers near to far, then right modifiers near to
    far.
    """
    distance = mod.astype(np.int64) - head
    return np.argsort(head.astype(np.int64) * (2 * n + 2) + np.where(distance < 0, -distance, n + distance))


def _table(family: str, table: Any, n: int, rank: np.ndarray, mod: np.ndarray, unit: float) -> PartTable:
    """Check a part table and return it without repeated parts. Raises InputError.

    The checks concern types, shapes and ranges, but not whether a row is a part of the family.
    """
    arcs = len(rank)
    if not isinstance(table, PartTable):
        raise InputError(f"parts[{family!r}] is a {type(table).__name__}", hint="give a PartTable")
    if table.family != family:
        raise InputError(
            f"parts[{family!r}] is a table of the family {table.family!r}",
            hint="use the family of the table as its key",
        )
    name = f"parts[{family!r}]"
    rows = _integers(f"{name}.arcs", table.arcs, 2)
    score = _scores(f"{name}.score", table.score, len(rows), unit)
    if family == "valency":
        lowest, highest = 0, max(n, arcs - 1)
    else:
        lowest, highest = NONE_OUTER if family == "outermost-grandchild" else NONE, arcs - 1
    invalid = ((rows < lowest) | (rows > highest)).any(axis=1)
    if np.any(invalid):
        p = int(np.argmax(invalid))
        raise InputError(
            f"{name}: part {p} names {rows[p].tolist()}", hint=f"there are {arcs} arcs; an empty slot is {NONE}"
        )
    if family in SETS:
        rows = _sorted(rows, mod if family == "head-bigram" else rank)
    rows, score = _merged(rows, score)
    return PartTable(family, _frozen(rows), _frozen(score))


def _sorted(rows: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return rows of arcs: each row is sorted by `key[arc]`, without repeated arcs, with the empty slots last."""
    none = np.iinfo(np.int64).max
    for _ in range(2):  # a repeated arc becomes an empty slot, which the second pass moves to the end
        places = np.where(rows == NONE, none, np.append(key, none)[rows])
        rows = np.take_along_axis(rows, np.argsort(places, axis=1, kind="stable"), axis=1)
        repeated = (rows[:, 1:] == rows[:, :-1]) & (rows[:, 1:] != NONE)
        if not np.any(repeated):
            break
        rows[:, 1:][repeated] = NONE
    return rows


def _merged(rows: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows without repetitions: equal rows become one, at the position of the first, with the sum of their
    scores.
    """
    if len(rows) < 2:
        return rows, score
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return rows, score
    keep = np.sort(first)
    total = np.zeros(len(rows), SCORE)
    np.add.at(total, first[inverse.ravel()], score)
    return rows[keep], total[keep]


def _integers(name: str, array_like: Any, dimensions: int) -> np.ndarray:
    """Return an int32 copy of an array of integers. Raises InputError for other dtypes and shapes, and numbers above 32
    bits.
    """
    array = _array(name, array_like)
    if array.size == 0 and array.ndim == 1:
        array = array.reshape((0,) * dimensions).astype(INDEX)
    if array.ndim != dimensions or array.dtype.kind not in "iu":
        kind = f"{array.dtype}{list(array.shape)}"
        raise InputError(f"{name} is {kind}", hint=f"give integers in {dimensions} dimension{'s'[: dimensions - 1]}")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise InputError(f"{name} has numbers beyond 32 bits", hint="give indices below 2**31")
    return np.array(array, INDEX, order="C")


def _scores(name: str, array_like: Any, size: int, unit: float) -> np.ndarray:
    """Return a read-only float64[size] copy of scores.

    Raises InputError unless all scores are finite or -inf, and integers if `unit` is not 0.0.
    """
    array = _array(name, array_like)
    if array.shape != (size,) or array.dtype.kind not in "iuf":
        raise InputError(f"{name} is {array.dtype}{list(array.shape)}", hint=f"give an array of {size} numbers")
    array = np.array(array, SCORE)
    invalid = np.isnan(array) | (array == np.inf)
    if np.any(invalid):
        i = int(np.argmax(invalid))
        raise InputError(f"{name}[{i}] is {array[i]}", hint="scores are numbers; -inf forbids")
    if unit:
        finite = array > -np.inf
        fractional = finite & (np.rint(np.where(finite, array, 0.0)) != array)
        if np.any(fractional):
            i = int(np.argmax(fractional))
            raise InputError(f"{name}[{i}] is {array[i]}, not an integer", hint="set unit = 0.0 for real scores")
    return _frozen(array)


def _array(name: str, array_like: Any) -> np.ndarray:
    try:
        return np.asarray(array_like)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}", hint="give an array") from None


def _total(arc: np.ndarray, tables: Mapping[str, PartTable]) -> float:
    scores = (arc, *(table.score for table in tables.values()))
    return sum(float(np.abs(s[s > -np.inf]).sum()) for s in scores)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
