"""Build a `Problem` from matrices of scores: `treebound.problem`.

Problems are built in canonical form, family by family from the lists of its parts. Decoders use them directly, and no
Python code runs for each arc.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treebound.core.dtypes import SCORE
from treebound.core.errors import InputError
from treebound.core.limits import GIB, check_memory
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
#: a dense tensor, or a sparse one as (int[F, 3], [F]): index triples and their scores
Tensor = Any
#: argument -> the factor family whose scores it holds
TENSORS = {"adjacent_siblings": "adjacent-sibling", "siblings": "sibling", "grandparents": "grandchild"}
_FORBIDS = "scores are numbers; -inf forbids an arc or part"
#: estimated bytes per cell of a matrix, for the chart of projective trees or the arcs of non-projective trees
CELL = 64
Pair = tuple[np.ndarray, np.ndarray]


class Trees(NamedTuple):
    """Keyword arguments of `problem` other than scores: the set of trees, and the unit of the scores."""

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
    """Build a scored sentence of n words for any decoder. The head comes first in all arrays, and 0 is the root.

    Arrays are numpy arrays of integers or floats, nested lists, masked arrays, or objects with `__array__` or
    `__dlpack__`. A masked entry of a masked array is forbidden. Floats are converted to float64, and the problem has
    exactly these numbers.

    A **mask** is a score that means "forbidden", for example -1e9 or the smallest float. The problem has -inf in its
    place. A score of an arc (with its best label) or of a part is a mask if three conditions hold. It is below -2**20,
    about minus a million. A tree of higher-scoring arcs exists. The score is below -1000 times the largest absolute
    score that a tree of higher scores could have (`treebound.scores.masks`). A tree with a mask therefore scores less
    than each tree without one, and the best tree is the same. Lists of k best trees end before trees with masks, and a
    margin is inf if only trees with masks remain. All other low scores count as they are: integers that sum to less
    than 2**46, and scores that every tree needs.

    Parameters
    ----------
    arc : array
        [n + 1, n + 1] scores: arc[h, m] is the score of the arc from head h to modifier m. -inf forbids the arc, and so
        does a mask. Rows are heads; many parsers store the transpose. The diagonal and column 0 are ignored.
    labels : array, optional
        [n + 1, n + 1, L] scores of the labels of arcs. The score of the best label is added to `arc`.
    adjacent_siblings : array or pair, optional
        [n + 1] * 3 scores of (h, s, m), where s is the nearest modifier of h between h and m. (h, h, m) is the score
        for no modifier in between. The root's modifiers are scored only if single_root is False. Family
        adjacent-sibling.
    siblings : array or pair, optional
        [n + 1] * 3 scores of (h, s, m), two modifiers s < m of a word h. An entry with s > m must be 0 or equal to the
        entry of the same pair with s < m. The root has no scores. Family sibling.
    grandparents : array or pair, optional
        [n + 1] * 3 scores of (g, h, m), a chain of arcs g -> h -> m. Family grandchild. This tensor and the two before
        it may be dense or sparse. A sparse tensor is a pair (int[F, 3], [F]) of index triples and their scores; all
        other triples score 0.
    parts : mapping, optional
        family -> (int[F, r, 2], [F]): the r arcs (head, modifier) of every part, and its score. docs/architecture.md
        lists the families and the order of their arcs. (-1, -1) is an empty slot, and (-2, -2) the empty outer slot of
        an outermost grandchild. `valency` has int[F, 2] words and numbers of modifiers. Parts with a forbidden arc are
        left out. The scores of a part that occurs twice are added.
    allowed : array of bool, optional
        [n + 1, n + 1]; only arcs that are True here may be used.
    **trees
        The fields of `Trees`. `space` is the set of trees: "projective" (default), or "non-projective", in which arcs
        may cross. `single_root`: True (default) attaches exactly one word to 0, False at least one. `unit` is the
        number of integer steps in a score of 1.0; sums and proofs are then exact. The default, None, chooses 1.0 if all
        arrays are of integer dtypes, else 0.0. 0.0 means real numbers: `optimal` then holds to within 1e-9 of the value
        (of 1.0 if the value is smaller).

    Returns
    -------
    Problem
        The scored sentence, in canonical form.

    Raises
    ------
    InputError
        For NaN and +inf, wrong shapes and dtypes, fractions under a unit, unknown families, and places or arcs that are
        no part of their family. The message names the argument.

    Notes
    -----
    O(n^2) time and memory, with tensors O(n^3).

    References
    ----------
    Qian & Liu (2013), Branch and bound algorithm for dependency parsing with non-local features, TACL 1: the families.

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
    arguments = {"arc": arc, "labels": labels, **tensors, "parts": parts, "allowed": allowed}
    if unknown := trees.keys() - Trees._fields:
        raise TypeError(f"problem() got an unexpected keyword argument {min(unknown)!r}")
    return stated(arguments, *Trees(**trees)).problem


@dataclass(frozen=True)
class Statement:
    """A problem, and the score arrays from which it was built.

    Attributes
    ----------
    problem : Problem
        Problem with -inf in place of masks; forbidden arcs are not candidates.
    arc : array
        [n + 1, n + 1] scores of arcs, as in the input.
    labels : array or None
        [n + 1, n + 1, L] scores of labels, as in the input.
    mask : float
        The highest mask, -inf if there is none (`treebound.scores.masks`).
    """

    problem: Problem
    arc: np.ndarray
    labels: np.ndarray | None
    mask: float

    def labelled(self) -> np.ndarray:
        """Return float64[A, L]: the scores of the candidate arcs with each label. Masks are -inf."""
        assert self.labels is not None
        arcs = self.problem.head, self.problem.mod
        scores_of_arcs = self.arc[arcs].astype(SCORE)[:, None] + self.labels[arcs]
        return np.where(scores_of_arcs <= self.mask, -np.inf, scores_of_arcs)


#: arguments of `problem` that hold scores
ARGUMENTS = ("arc", "labels", *TENSORS, "parts", "allowed")


def stated(arguments: Mapping[str, Any], space: Space, single_root: bool, unit: float | None) -> Statement:
    """Return the Statement for the arguments of `problem` by name; absent arguments count as None."""
    checked_setting(space, single_root, unit)
    if unknown := [name for name in arguments if name not in ARGUMENTS]:
        raise InputError(f"unknown argument {unknown[0]!r}", hint="choose from " + ", ".join(ARGUMENTS))
    all_integers = True
    arrays: dict[str, Any] = {}
    for name in ("arc", "labels", *TENSORS):
        if name == "arc" or arguments.get(name) is not None:
            arrays[name], integers = _numbers(name, arguments.get(name))
            all_integers &= integers
    parts = arguments.get("parts")
    if not isinstance(parts, Mapping | None):
        raise InputError(f"parts is a {type(parts).__name__}", hint="give a dictionary: family -> (arcs, scores)")
    named = {}
    for family, value in (parts or {}).items():
        pair, integers = _pair(f"parts[{family!r}]", value)
        named[family] = _named(family, pair)
        all_integers &= integers
    unit = float(all_integers) if unit is None else float(unit)
    matrix, candidate = _folded(arrays, arguments.get("allowed"), unit)
    listed = {f"{name}[1]": value[1] for name, value in arrays.items() if isinstance(value, tuple)}
    listed |= {f"parts[{family!r}].score": score for family, (_, score) in named.items()}
    for name, score in listed.items():
        _check(name, score, np.ones(len(score), bool), unit)
    shared = arrays, named, matrix, space, bool(single_root), unit
    built = _indexed(candidate, *shared)
    mask = highest_mask(built, space)
    if mask > -np.inf:
        built = _unmasked(_indexed(candidate & (matrix > mask), *shared), mask)
    with np.errstate(over="ignore"):
        total, limit = built.total, LARGEST_SUM if unit else LARGEST_REAL_SUM
    if not total < limit:
        raise _too_large(built, total, limit)
    built = canonical(built, space).problem if built.canonical is None else built
    return Statement(built, arrays["arc"], arrays.get("labels"), mask)


def _indexed(
    candidate: np.ndarray,
    arrays: Mapping[str, Any],
    named: Mapping[str, Pair],
    matrix: np.ndarray,
    space: Space,
    single_root: bool,
    unit: float,
) -> Problem:
    """Return the problem of the candidate arcs, in canonical form unless parts are given as lists.

    candidate  bool[n + 1, n + 1], the candidate arcs
    arrays     dense or sparse tensors of scores, by argument of `treebound.problem`; sparse tensors are lists of parts
    named      lists of parts: arcs and scores by family
    matrix     [n + 1, n + 1], the scores of the arcs
    """
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
    tables |= {family: _rows(family, *pair, index) for family, pair in listed.items()}
    sentence = len(matrix) - 1, index.head, index.mod, matrix[index.head, index.mod]
    built = Problem.unchecked(*sentence, tables, single_root, unit, None if listed else space)
    return built.with_facts(index=ArcsAlone(index))


def _unmasked(built: Problem, mask: float) -> Problem:
    """Return the problem with -inf in place of the scores of masked parts."""
    tables = {
        family: PartTable(family, table.arcs, np.where(table.score <= mask, -np.inf, table.score))
        for family, table in built.parts.items()
    }
    return built.rescored(built.arc, tables)


def checked_setting(space: Any, single_root: Any, unit: Any) -> None:
    """Raise InputError if the space, the flag for a single root, or the unit is invalid."""
    if not isinstance(space, str) or space not in SPACES:
        raise InputError(f"space = {brief(space)}", hint="choose from " + ", ".join(SPACES))
    if not is_flag(single_root):
        raise InputError(f"single_root = {brief(single_root)}", hint="give True or False")
    if unit is not None and not is_size(unit):
        raise InputError(
            f"unit = {brief(unit)}", hint="give 0.0 for real scores, or the integer steps in a score of 1.0"
        )


def _too_large(built: Problem, total: float, limit: float) -> InputError:
    """Return the error for scores whose sum `total` exceeds `limit`.

    If a score looks like a mask but is none, because every tree needs such a score, the error names this score.
    """
    suspicious = built.arc < -limit / (2.0 * max(1, built.arcs))
    if np.any(suspicious) and _total(built.arc[~suspicious]) < limit:
        arc = int(np.argmax(suspicious))
        reason = f"arc[{built.head[arc]}, {built.mod[arc]}] is {built.arc[arc]:.3g}, and every tree has such a score"
        return InputError(reason, hint="allow another arc; give -inf to what is forbidden")
    reason = f"arc and the scores of parts sum to {total:.3g} in absolute values"
    return InputError(reason, hint=f"scale them below {limit:.3g}; -inf or `allowed` forbids")


def _total(score: np.ndarray) -> float:
    """Return the sum of the absolute values of the scores that are not -inf."""
    with np.errstate(over="ignore"):
        return float(np.abs(score[score > -np.inf]).sum())


def _numbers(name: str, value: Any) -> tuple[Any, bool]:
    """Return an array of scores, or (index triples, scores) of a sparse tensor, and whether scores are integers."""
    if name in TENSORS and isinstance(value, tuple):
        return _pair(name, value)
    return scores(name, value)


def _pair(name: str, value: Any) -> tuple[Pair, bool]:
    """Return (index triples or arcs of parts, their scores), and whether the scores are integers."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(
            f"{name} is a {type(value).__name__}", hint="give a pair: what the parts are, and their scores"
        )
    places = indices(f"{name}[0]", value[0])
    score, are_integers = scores(f"{name}[1]", value[1])
    if score.ndim != 1 or places.ndim < 1 or len(places) != len(score):
        description = " and ".join(f"{array.dtype}{list(array.shape)}" for array in (places, score))
        raise InputError(f"{name} is {description}", hint="give integers and as many scores")
    return (places, score), are_integers


def _folded(arrays: Mapping[str, Any], allowed: Any, unit: float) -> Pair:
    """Return the scores of arcs with their best labels, float64[n + 1, n + 1], and the arcs that may be used, bool."""
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
        with np.errstate(invalid="ignore", over="ignore"):  # ignored cells may be NaN; two masks add to -inf
            matrix = matrix + labels.max(axis=2)
        _check("arc + labels", matrix, candidate, 0.0)
    return matrix, candidate & (matrix > -np.inf)


def check_matrix(n: int) -> None:
    """Raise TooLargeError if decoding a matrix of n words would take more than the limit of memory."""
    size = CELL * (n + 1) ** 2
    enough = math.ceil(size / GIB)
    check_memory(f"arc: a matrix of {n:,} words", size, f"raise the limit: memory={enough}, --memory {enough}")


def _check(name: str, values: np.ndarray, where: np.ndarray, unit: float) -> None:
    """Raise InputError if a score in the checked places is NaN or +inf, or is a fraction although a unit is set.

    `where` marks the entries that are checked, and `name` is the argument in the message.
    """
    where = where.reshape(where.shape + (1,) * (values.ndim - where.ndim))
    wrong, why = ~(values < np.inf), _FORBIDS  # NaN is not below anything
    if unit and not np.any(wrong & where):
        finite = np.where(np.isneginf(values), 0.0, values)
        wrong, why = np.rint(finite) != finite, "unit requires integer scores"
    wrong = wrong & where
    if np.any(wrong):
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(f"{name}[{', '.join(map(str, place))}] is {values[place]}", hint=why)


def _tabled(name: str, tensor: np.ndarray, index: ArcIndex, about: tuple[Space, bool, float]) -> PartTable:
    """Return all parts of a family with their scores from a dense tensor.

    Parameters
    ----------
    name : str
        Argument that holds the scores.
    tensor : array
        [n + 1] * 3 scores.
    index : ArcIndex
        The candidate arcs.
    about : tuple
        space, single_root and unit.
    """
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
        used[x, y, x] = False  # listed for non-projective trees, but in no tree
    _check(name, tensor, used, unit)
    if family == "sibling":
        _check_pairs(tensor, x, y, z, single_root)
    return PartTable(family, arcs, np.where(used[x, y, z], tensor[x, y, z].astype(SCORE), 0.0))


def _check_pairs(tensor: np.ndarray, h: np.ndarray, s: np.ndarray, m: np.ndarray, single_root: bool) -> None:
    """Raise InputError if a pair of siblings has two scores, or if pairs of the root's modifiers have scores.

    The root has no sibling parts. If `single_root` is set, scores of pairs of its modifiers are ignored.
    """
    mirrored = tensor[h, m, s]
    if np.any(conflicting := (mirrored != 0) & (mirrored != tensor[h, s, m])):
        p = int(np.argmax(conflicting))
        entry, mirror = (
            f"siblings[{h[p]}, {s[p]}, {m[p]}]",
            f"siblings[{h[p]}, {m[p]}, {s[p]}]",
        )
        reason = f"{mirror} is {mirrored[p]}, {entry} is {tensor[h, s, m][p]}"
        raise InputError(reason, hint="a pair has one score: give it at s < m, with 0 or the same at s > m")
    if not single_root and np.any(np.triu(tensor[0, 1:, 1:], 1)):
        raise InputError(
            "siblings[0] has scores, but the root has no sibling parts", hint='give 0, or use parts["pattern"]'
        )


def _listed(name: str, pair: tuple[np.ndarray, np.ndarray], n: int, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (arcs of the parts of a sparse tensor, int[F, 2, 2]; scores of the parts).

    name  argument that holds the tensor
    pair  index triples, and their scores
    """
    places, score = pair
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
        no_sibling = (x == y)[:, None]
        arcs = np.stack([np.where(no_sibling, NONE, np.stack([x, y], axis=1)), np.stack([x, z], axis=1)], axis=1)
    if not np.all(good):
        p = int(np.argmin(good))
        raise InputError(f"{name}: part {p} is {places[p].tolist()}", hint="treebound.problem describes the axes")
    if name == "adjacent_siblings" and single_root:
        arcs, score = arcs[x > 0], score[x > 0]
    return arcs, score


def _named(family: str, pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the arcs of parts in the right shape, int[F, r, 2] or int[F, 2] for valency, and their scores."""
    arcs, score = pair
    if family not in FAMILIES or family == "arc":
        known_families = ", ".join(name for name in FAMILIES if name != "arc")
        raise InputError(f"parts: unknown family {family!r}", hint=f"choose from {known_families}")
    if arcs.size == 0:
        arcs = arcs.reshape((0, 2) if family == "valency" else (0, 2, 2))
    if arcs.shape[-1] != 2 or arcs.ndim != (2 if family == "valency" else 3):
        shape = "int[F, 2]: word, number" if family == "valency" else "int[F, r, 2]: head and modifier of r arcs"
        raise InputError(f"parts[{family!r}][0] is {arcs.dtype}{list(arcs.shape)}", hint=f"give {shape}")
    return arcs, score


def _rows(family: str, arcs: np.ndarray, score: np.ndarray, index: ArcIndex) -> PartTable:
    """Return the PartTable of a family, with the listed parts whose arcs are all candidates.

    arcs, score  arcs of the listed parts, as `_named` returns them, and their scores
    """
    score = score.astype(SCORE)
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
