"""From matrices to a `Problem`: what `treebound.problem` does.

Problems are built in canonical form, family by family from the lists of its parts, so that decoders take them as they
are: no Python for each arc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treebound.core.dtypes import SCORE
from treebound.core.errors import InputError
from treebound.core.limits import check_memory
from treebound.core.problem import LARGEST_REAL_SUM, LARGEST_SUM, NONE, NONE_OUTER, PartTable, Problem
from treebound.core.spaces import Space
from treebound.decoders.canonical import canonical, check_parts
from treebound.factors import FAMILIES
from treebound.kernels.arcs.numbering import ArcIndex, index_arcs
from treebound.kernels.arcs.parts import index_parts, list_parts
from treebound.kernels.arcs.problem_index import ArcsAlone
from treebound.scores.arrays import brief, flags, indices, is_flag, is_size, scores
from treebound.scores.masks import highest_mask

SPACES = ("projective", "non-projective")
#: a dense tensor, or (int[F, 3], [F]): places in it and the scores that stand there
Tensor = Any
#: argument -> the family of parts that it holds the scores of
TENSORS = {"adjacent_siblings": "adjacent-sibling", "siblings": "sibling", "grandparents": "grandchild"}
_FORBIDS = "scores are numbers; -inf forbids"
#: bytes for a cell of a matrix: the chart of projective trees, or the arcs of trees that may cross
CELL = 64
Pair = tuple[np.ndarray, np.ndarray]


class Trees(NamedTuple):
    """Keyword arguments of `problem` that are no scores: the trees, and the unit of their scores."""

    space: Space = "projective"
    single_root: bool = True
    unit: float | None = None


def problem(
    arc: Any,
    *,
    labels: Any = None,
    adjacent_siblings: Tensor = None,
    siblings: Tensor = None,
    grandparents: Tensor = None,
    parts: Mapping[str, tuple[Any, Any]] | None = None,
    allowed: Any = None,
    **trees: Any,
) -> Problem:
    """A scored sentence of n words as every decoder takes it. The head comes first everywhere, and 0 is the root.

    arc      [n + 1, n + 1] numbers: arc[h, m] is the score of the arc from head h to modifier m; -inf forbids it, as
             does a mask (below). Rows are heads: many parsers hold the transpose. The diagonal and column 0 are no arcs
             and are not looked at
    labels   [n + 1, n + 1, L] scores of the arcs' labels: the best one is added to `arc`
    adjacent_siblings  [n + 1] * 3: of (h, s, m) where s is the nearest modifier of h between h and m; (h, h, m) where
             there is none. Of the root's modifiers only if there may be several. Family adjacent-sibling
    siblings [n + 1] * 3: of (h, s, m), any two modifiers s, m of a word h, once for each pair: the entries with s < m;
             those with s > m are 0 or the same. The root has none. Family sibling
    grandparents  [n + 1] * 3: of (g, h, m), a chain of arcs g -> h -> m. Family grandchild
             These three may be dense, or (int[F, 3], [F]): places and their scores; elsewhere is 0
    parts    family -> (int[F, r, 2], [F]): the r arcs (head, modifier) of every part, and its score. Families and the
             order of their arcs: docs/architecture.md; (-1, -1) is an empty slot, (-2, -2) that of an outermost
             grandchild's outer side; `valency` has int[F, 2] words and numbers of modifiers. Parts with an arc that is
             forbidden are left out; parts given twice score their sum
    allowed  bool [n + 1, n + 1]: only these arcs may be used
    trees    the fields of `Trees`:
    space    the trees that it is for: "projective" (default) or "non-projective", where arcs may cross
    single_root  exactly one word is attached to 0 (default); else at least one
    unit     1.0 of the score, in integer scores: sums and proofs are then exact. None: 1.0 where all that is given is
             of an integer dtype; else 0.0, real numbers, where `optimal` means to within 1e-9 of the value (of 1.0)

    Arrays are numpy arrays of integers or floats, nested lists, masked arrays, or objects with `__array__` or
    `__dlpack__`. A masked entry of a masked array is forbidden. Floats are taken as float64: the problem has exactly
    these numbers.

    A **mask** is a score that stands for "forbidden", -1e9 or the smallest float for example. The problem has -inf in
    its place. A score of an arc (with its best label) or of a part is a mask if it is below -2**20 (about a million), a
    tree of higher arcs exists, and it is below -1000 times the largest absolute score that a tree of higher scores
    could have (`treebound.scores.masks`). A tree with a mask therefore scores less than each tree without one: the best
    tree is the same. Lists of k best trees end before trees with masks, and margins are inf where only such trees
    remain. Higher scores, integers that sum to less than 2**46, and scores that no tree does without are counted as
    they are.

    Raises InputError, which names the argument, for NaN and +inf, shapes and dtypes that do not fit, fractions under a
    unit, unknown families and what is no part of its family. O(n^2), with tensors O(n^3).

    Examples
    --------
    >>> import treebound
    >>> problem = treebound.problem([[0, 1, 3], [0, 0, 2], [0, 4, 0]], parts={"grandchild": ([[(0, 2), (2, 1)]], [5])})
    >>> problem.n, problem.arcs, problem.unit, sorted(problem.families)
    (2, 4, 1.0, ['arc', 'grandchild'])
    >>> treebound.decode([[0, 1, 3], [0, 0, 2], [0, 4, 0]], grandparents=([(0, 2, 1)], [5])).value
    12.0
    """
    tensors = {"adjacent_siblings": adjacent_siblings, "siblings": siblings, "grandparents": grandparents}
    given = {"arc": arc, "labels": labels, **tensors, "parts": parts, "allowed": allowed}
    if unknown := trees.keys() - Trees._fields:
        raise TypeError(f"problem() got an unexpected keyword argument {min(unknown)!r}")
    return stated(given, *Trees(**trees)).problem


@dataclass(frozen=True)
class Statement:
    """A problem, and the arrays that it was made of.

    problem  with -inf in the place of masks; arcs that are forbidden are no candidates
    arc      [n + 1, n + 1] scores of arcs as they were given
    labels   [n + 1, n + 1, L] scores of labels as they were given, if any
    mask     the highest mask, -inf if there is none (`treebound.scores.masks`)
    """

    problem: Problem
    arc: np.ndarray
    labels: np.ndarray | None
    mask: float

    def labelled(self) -> np.ndarray:
        """Return float64[A, L]: scores of the candidate arcs with each label; masks are -inf."""
        assert self.labels is not None
        at = self.problem.head, self.problem.mod
        both = self.arc[at].astype(SCORE)[:, None] + self.labels[at]
        return np.where(both <= self.mask, -np.inf, both)


#: arguments of `problem` that hold scores
ARGUMENTS = ("arc", "labels", *TENSORS, "parts", "allowed")


def stated(given: Mapping[str, Any], space: Space, single_root: bool, unit: float | None) -> Statement:
    """Return the problem of the arguments of `problem`; those that are absent or None are not given."""
    checked_setting(space, single_root, unit)
    if strange := [name for name in given if name not in ARGUMENTS]:
        raise InputError(f"unknown argument {strange[0]!r}", hint="give " + ", ".join(ARGUMENTS))
    whole = True
    arrays: dict[str, Any] = {}
    for name in ("arc", "labels", *TENSORS):
        if name == "arc" or given.get(name) is not None:
            arrays[name], integers = _numbers(name, given.get(name))
            whole &= integers
    parts = given.get("parts")
    if not isinstance(parts, Mapping | None):
        raise InputError(f"parts is a {type(parts).__name__}", hint="give a dictionary: family -> (arcs, scores)")
    named = {}
    for family, x in (parts or {}).items():
        pair, integers = _pair(f"parts[{family!r}]", x)
        named[family] = _named(family, pair)
        whole &= integers
    unit = float(whole) if unit is None else float(unit)
    matrix, candidate = _folded(arrays, given.get("allowed"), unit)
    listed = {f"{name}[1]": x[1] for name, x in arrays.items() if isinstance(x, tuple)}
    listed |= {f"parts[{family!r}].score": score for family, (_, score) in named.items()}
    for name, score in listed.items():
        _check(name, score, np.ones(len(score), bool), unit)
    about = arrays, named, matrix, space, bool(single_root), unit
    made = _indexed(candidate, *about)
    mask = highest_mask(made, space)
    if mask > -np.inf:
        made = _unmasked(_indexed(candidate & (matrix > mask), *about), mask)
    with np.errstate(over="ignore"):
        total, most = made.total, LARGEST_SUM if unit else LARGEST_REAL_SUM
    if not total < most:
        raise _too_large(made, total, most)
    made = canonical(made, space).problem if made.canonical is None else made
    return Statement(made, arrays["arc"], arrays.get("labels"), mask)


def _indexed(
    candidate: np.ndarray,
    arrays: Mapping[str, Any],
    named: Mapping[str, Pair],
    matrix: np.ndarray,
    space: Space,
    single_root: bool,
    unit: float,
) -> Problem:
    """The problem of the candidate arcs, canonical if no parts are given by their arcs."""
    families = {family for name, family in TENSORS.items() if name in arrays} | named.keys()
    check_parts(candidate, families)
    index = index_arcs(len(matrix) - 1, candidate)
    listed, tables = dict(named), {}
    for name, family in TENSORS.items():
        if name in arrays and family in named:
            raise InputError(f"{name} and parts[{family!r}] are both given", hint="give the family once")
        if isinstance(arrays.get(name), tuple):
            listed[family] = _listed(name, arrays[name], len(matrix) - 1, single_root)
        elif name in arrays:
            tables[family] = _tabled(name, arrays[name], index, (space, single_root, unit))
    tables |= {family: _rows(family, *x, index) for family, x in listed.items()}
    about = len(matrix) - 1, index.head, index.mod, matrix[index.head, index.mod]
    made = Problem.unchecked(*about, tables, single_root, unit, None if listed else space)
    return made.knowing(index=ArcsAlone(index))


def _unmasked(made: Problem, mask: float) -> Problem:
    """The problem with -inf in the place of parts that are masked."""
    tables = {
        family: PartTable(family, table.arcs, np.where(table.score <= mask, -np.inf, table.score))
        for family, table in made.parts.items()
    }
    return made.rescored(made.arc, tables)


def checked_setting(space: Any, single_root: Any, unit: Any) -> None:
    """Raise InputError for what is no space, no truth value or no unit."""
    if not isinstance(space, str) or space not in SPACES:
        raise InputError(f"space = {brief(space)}", hint="choose from " + ", ".join(SPACES))
    if not is_flag(single_root):
        raise InputError(f"single_root = {brief(single_root)}", hint="give True or False")
    if unit is not None and not is_size(unit):
        raise InputError(f"unit = {brief(unit)}", hint="give 0.0 for real scores, or what 1.0 is in integer scores")


def _too_large(made: Problem, total: float, most: float) -> InputError:
    """The error for scores that cannot be added; it names a score that looks like a mask and is none."""
    low = made.arc < -most / (2.0 * max(1, made.arcs))
    if np.any(low) and _total(made.arc[~low]) < most:
        a = int(np.argmax(low))
        reason = f"arc[{made.head[a]}, {made.mod[a]}] is {made.arc[a]:.3g}, and no tree does without such scores"
        return InputError(reason, hint="allow another arc; give -inf to what is forbidden")
    reason = f"arc and the scores of parts sum to {total:.3g} in absolute values"
    return InputError(reason, hint=f"scale them below {most:.3g}; -inf or `allowed` forbids")


def _total(score: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        return float(np.abs(score[score > -np.inf]).sum())


def _numbers(name: str, given: Any) -> tuple[Any, bool]:
    """An array of numbers, or a pair of places and numbers for a tensor; and whether the numbers are integers."""
    if name in TENSORS and isinstance(given, tuple):
        return _pair(name, given)
    return scores(name, given)


def _pair(name: str, given: Any) -> tuple[Pair, bool]:
    """(places, scores) of parts, and whether the scores are integers."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"{name} is a {type(given).__name__}", hint="give a pair: what the parts are, and their scores"
        )
    places = indices(f"{name}[0]", given[0])
    score, whole = scores(f"{name}[1]", given[1])
    if score.ndim != 1 or places.ndim < 1 or len(places) != len(score):
        what = " and ".join(f"{x.dtype}{list(x.shape)}" for x in (places, score))
        raise InputError(f"{name} is {what}", hint="give integers and as many scores")
    return (places, score), whole


def _folded(arrays: Mapping[str, Any], allowed: Any, unit: float) -> Pair:
    """(float64[n + 1, n + 1] scores of arcs with their best labels, bool: the arcs that may be used)."""
    arc = arrays["arc"]
    if arc.ndim != 2 or arc.shape[0] != arc.shape[1] or len(arc) < 2:
        hint = "give [n + 1, n + 1], heads first, the root 0"
        hint += "; a batch goes to decode_all" if arc.ndim == 3 else ""
        raise InputError(f"arc is {arc.dtype}{list(arc.shape)}", hint=hint)
    size = len(arc)
    check_matrix(size - 1)
    candidate = ~np.eye(size, dtype=bool)
    candidate[:, 0] = False
    if allowed is not None:
        candidate &= flags("allowed", allowed, arc.shape)
    matrix = arc.astype(SCORE)
    _check("arc", matrix, candidate, unit)
    if "labels" in arrays:
        labels = arrays["labels"]
        if labels.ndim != 3 or labels.shape[:2] != arc.shape or not labels.shape[2]:
            raise InputError(f"labels is {labels.dtype}{list(labels.shape)}", hint=f"give [{size}, {size}, L]")
        _check("labels", labels, candidate, unit)
        with np.errstate(invalid="ignore", over="ignore"):  # invalid: of what is not looked at; two masks are -inf
            matrix = matrix + labels.max(axis=2)
        _check("arc + labels", matrix, candidate, 0.0)
    return matrix, candidate & (matrix > -np.inf)


def check_matrix(n: int) -> None:
    """Raise TooLargeError if decoding a matrix of n words would take more than the limit of memory."""
    check_memory(f"arc: a matrix of {n:,} words", CELL * (n + 1) ** 2, "raise the limit: memory=8, --memory 8")


def _check(name: str, values: np.ndarray, where: np.ndarray, unit: float) -> None:
    """InputError for what is no score, or no integer under a unit, in places that are looked at."""
    where = where.reshape(where.shape + (1,) * (values.ndim - where.ndim))
    wrong, why = ~(values < np.inf), _FORBIDS  # NaN is not below anything
    if unit and not np.any(wrong & where):
        whole = np.where(np.isneginf(values), 0.0, values)
        wrong, why = np.rint(whole) != whole, "unit says that scores are integers"
    wrong = wrong & where
    if np.any(wrong):
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{name}[{', '.join(map(str, place))}] is {values[place]}", hint=why)


def _tabled(name: str, tensor: np.ndarray, index: ArcIndex, about: tuple[Space, bool, float]) -> PartTable:
    """All parts of a family with their scores from a dense tensor; about: space, single_root, unit."""
    (space, single_root, unit), family, size = about, TENSORS[name], len(index.right)
    if tensor.shape != (size, size, size):
        raise InputError(f"{name} is {tensor.dtype}{list(tensor.shape)}", hint=f"give {[size] * 3}")
    arcs, words = list_parts(FAMILIES[family].code, index, index_parts(index, single_root, space == "projective"))
    x, y, z = words[:, :3].T
    if family == "adjacent-sibling":
        y = np.where(y == NONE, x, y)
    used = np.zeros(tensor.shape, bool)
    used[x, y, z] = True
    if family == "grandchild":
        used[x, y, x] = False  # listed where arcs may cross, and in no tree
    _check(name, tensor, used, unit)
    if family == "sibling":
        _check_pairs(tensor, x, y, z, single_root)
    return PartTable(family, arcs, np.where(used[x, y, z], tensor[x, y, z], 0.0))


def _check_pairs(tensor: np.ndarray, h: np.ndarray, s: np.ndarray, m: np.ndarray, single_root: bool) -> None:
    """InputError where a pair of siblings has two scores, or the root's modifiers have one that would count."""
    mirrored = tensor[h, m, s]
    if np.any(two := (mirrored != 0) & (mirrored != tensor[h, s, m])):
        p = int(np.argmax(two))
        one, other = f"siblings[{h[p]}, {s[p]}, {m[p]}]", f"siblings[{h[p]}, {m[p]}, {s[p]}]"
        reason = f"{other} is {mirrored[p]}, {one} is {tensor[h, s, m][p]}"
        raise InputError(reason, hint="a pair has one score: give it at s < m, with 0 or the same at s > m")
    if not single_root and np.any(np.triu(tensor[0, 1:, 1:], 1)):
        raise InputError("siblings[0] has scores", hint='the root\'s modifiers are given as parts["pattern"], or 0')


def _listed(
    name: str, given: tuple[np.ndarray, np.ndarray], n: int, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A sparse tensor as parts by their arcs: int[F, 2, 2] and scores."""
    places, score = given
    if places.size == 0:
        places = places.reshape(0, 3)
    if places.ndim != 2 or places.shape[1] != 3:
        raise InputError(
            f"{name}[0] is {places.dtype}{list(places.shape)}", hint="give int[F, 3]: places in the tensor"
        )
    x, y, z = places.T
    good = (places >= 0).all(axis=1) & (places <= n).all(axis=1) & (z > 0) & (x != z)
    if name == "grandparents":
        good &= (y > 0) & (x != y) & (y != z)
        arcs = np.stack([np.stack([x, y], axis=1), np.stack([y, z], axis=1)], axis=1)
    else:
        if name == "siblings":
            good &= (x > 0) & (y > 0) & (x != y) & (y != z)
        else:
            good &= (x == y) | ((np.minimum(x, z) < y) & (y < np.maximum(x, z)))
        alone = (x == y)[:, None]
        arcs = np.stack([np.where(alone, NONE, np.stack([x, y], axis=1)), np.stack([x, z], axis=1)], axis=1)
    if not np.all(good):
        p = int(np.argmin(good))
        raise InputError(f"{name}: part {p} is {places[p].tolist()}", hint="see treebound.problem for its axes")
    if name == "adjacent_siblings" and single_root:
        arcs, score = arcs[x > 0], score[x > 0]
    return arcs, score


def _named(family: str, given: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Parts by their arcs, of the right shape: int[F, r, 2], for valency int[F, 2]; and their scores."""
    arcs, score = given
    if family not in FAMILIES or family == "arc":
        known = ", ".join(name for name in FAMILIES if name != "arc")
        raise InputError(f"parts: unknown family {family!r}", hint=f"choose from {known}")
    if arcs.size == 0:
        arcs = arcs.reshape((0, 2) if family == "valency" else (0, 2, 2))
    if arcs.shape[-1] != 2 or arcs.ndim != (2 if family == "valency" else 3):
        shape = "int[F, 2]: word, number" if family == "valency" else "int[F, r, 2]: head and modifier of r arcs"
        raise InputError(f"parts[{family!r}][0] is {arcs.dtype}{list(arcs.shape)}", hint=f"give {shape}")
    return arcs, score


def _rows(family: str, arcs: np.ndarray, score: np.ndarray, index: ArcIndex) -> PartTable:
    """A table of the parts whose arcs are candidates."""
    if family == "valency":
        return PartTable(family, arcs, score)
    n = len(index.right) - 1
    head, mod = arcs[..., 0], arcs[..., 1]
    empty = (head == mod) & ((head == NONE) | (head == NONE_OUTER))
    wrong = ~empty & ((head < 0) | (head > n) | (mod < 1) | (mod > n) | (head == mod))
    if np.any(wrong):
        p, i = (int(x) for x in np.argwhere(wrong)[0])
        reason = f"parts[{family!r}]: part {p} names {head[p, i]} -> {mod[p, i]}, which is no arc of {n} words"
        raise InputError(reason, hint=f"give heads 0..n and modifiers 1..n; ({NONE}, {NONE}) is an empty slot")
    forbidden = NONE_OUTER - 1
    number = np.full((n + 1, n + 1), forbidden)
    number[index.head, index.mod] = np.arange(len(index.head))
    rows = np.where(empty, head, number[np.maximum(head, 0), np.maximum(mod, 0)])
    keep = (rows != forbidden).all(axis=1)
    return PartTable(family, rows[keep], score[keep])
