"""Proofs of parsed sentences in a file, for `treebound check`: JSON Lines, compressed with gzip, bzip2 or xz.

The first line names format, version and tree space, `derivations` for those of `evaluation.joint_proofs`, whose lines
are of their own. The entry `"valid": "ud"` announces proofs about valid trees alone, whose lines `validity_proofs`
describes. Then one line a sentence, in the order of the parsed file: `null` where nothing was proved, else

    words, arcs   of the sentence, to tell a file that belongs to something else
    exact         families that the chart scores
    nodes         [parent, arc, value] of every node of the search tree
    steps         [node, field of Step, family or "", places, numbers] in the order in which they are to be applied; a
                  new step begins with every "step" entry. Only numbers that differ from the step before are written, at
                  their places in the flattened array; before the first, shares are those of `first_shares`, others 0

Numbers are written as they are: integers of any size, floats with all their digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar, cast, get_args

import numpy as np

from treebound.checker.certificates import Certificate, CertNode, Step
from treebound.core.errors import InputError
from treebound.core.problem import NONE, PartTable, Problem
from treebound.core.spaces import Space
from treebound.support import compression

FORMAT, VERSION = "treebound certificates", 1
Of = Space | Literal["derivations"]  #: what proofs are about: trees of a space, or derivations
SPACES = (*get_args(Space), "derivations")
Valid = Literal["ud"]  #: rules that the trees must keep: those of Universal Dependencies
T = TypeVar("T")
LONGEST_LINE = 2**28  #: bytes that a line may have
#: fields of Step with one array
_ARRAYS = ("shift", "slope", "child", "parent")


class Writer:
    """Certificates into a stream of bytes, one sentence after the other. `compression.writing` gives such a stream."""

    def __init__(self, file: BinaryIO, space: Of = "projective", valid: Valid | None = None):
        self._out = file
        header = {"format": FORMAT, "version": VERSION, "space": space}
        self.write(json_line(header if valid is None else header | {"valid": valid}))

    def add(self, problem: Problem, certificate: Certificate | None) -> None:
        """The proof of the next sentence, None if there is none."""
        self.write(line(problem, certificate))

    def write(self, text: bytes) -> None:
        """The proof of the next sentence, as `line` gives it."""
        self._out.write(text)


def line(problem: Problem, certificate: Certificate | None) -> bytes:
    """The line of a sentence in a certificate file, as a worker can make it for a `Writer` elsewhere."""
    return json_line(None if certificate is None else encoded(problem, certificate))


def json_line(data: Any) -> bytes:
    """A line of a certificate file."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class Reader:
    """The lines of a certificate file, one sentence after the other.

    space  the trees among which the parses are claimed to be the best, as the file says; the model decides
    valid  the rules that these trees must keep, `ud`, with lines of `validity_proofs`; None: there are no such rules

    Raises InputError, here and when lines are taken, where the file is damaged or none of these.
    """

    def __init__(self, path: Path, lines: Iterator[tuple[int, bytes]]):
        self.path, self._lines = path, lines
        _, text = next(lines, (1, b"null"))
        header = _read(path, 1, text)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InputError("not a certificate file", path=path, hint="treebound parse --certificates writes one")
        if header.get("version") != VERSION or header.get("space") not in SPACES:
            raise InputError("a certificate file of another version", path=path, hint="parse again")
        if header.get("valid") not in (None, *get_args(Valid)):
            raise InputError("a certificate file of unknown rules", path=path, hint="parse again")
        self.space = cast("Of", header["space"])
        self.valid = cast("Valid | None", header.get("valid"))

    def line(self) -> tuple[int, bytes]:
        """The next sentence's number of line and text, for `proof`."""
        number, text = next(self._lines, (0, b""))
        if not number:
            raise InputError("ends before the parsed file", path=self.path, hint="give the file of the same run")
        return number, text

    def next(self, problem: Problem) -> Certificate | None:
        """The proof of the next sentence, whose problem this is; None if it has none."""
        return proof(problem, self.path, *self.line())

    def finish(self) -> None:
        """InputError if there are certificates left."""
        if next(self._lines, None) is not None:
            raise InputError("goes on after the parsed file", path=self.path, hint="give the file of the same run")


def proof(problem: Problem, path: Path, number: int, text: bytes) -> Certificate | None:
    """What line `number` of a certificate file says, None if nothing. InputError if it is not about this problem."""
    return read_line(path, number, text, partial(decoded, problem))


def read_line(path: Path, number: int, text: bytes, decode: Callable[[Any], T]) -> T | None:
    """What `decode` makes of a line, None if there is nothing in it. InputError where it fails."""
    data = _read(path, number, text)
    if data is None:
        return None
    try:
        return decode(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(
            f"not a certificate of this sentence ({str(error)[:100]})",
            path=path,
            line=number,
            hint="give the file of the same run",
        ) from None


def _read(path: Path, number: int, text: bytes) -> Any:
    """The JSON of a line, with each key once and no NaN. Raises InputError."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key given twice")
        return dict(pairs)

    def refused(name: str) -> Any:
        raise ValueError(f"{name} is no number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refused)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]
        raise InputError(f"damaged or foreign file ({reason})", path=path, line=number, hint="parse again") from None


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Open a certificate file. Raises InputError where it cannot be read."""
    try:
        file = compression.opened(path)
    except (OSError, compression.UnreadableError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", path=path, hint="name a file of proofs") from None

    def lines() -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            while text := file.readline(LONGEST_LINE):
                number += 1
                if len(text) == LONGEST_LINE:
                    raise InputError("a line that is too long", path=path, line=number, hint="parse again")
                yield number, text
        except compression.READ_ERRORS:
            raise InputError("damaged or foreign file", path=path, line=number + 1, hint="parse again") from None

    with file:
        yield Reader(path, lines())


def first_shares(table: PartTable, whole: bool, rows: bool) -> np.ndarray:
    """What most shares of a search are: equal ones where a score is positive, rounded down for integers, else 0.

    rows: [F, r], the first arc takes the rest; else [F], of the first of two arcs.
    """
    positive = np.where(table.score > 0, table.score, 0.0)
    if not rows:
        return np.floor(positive / 2) if whole else positive / 2
    filled = table.arcs != NONE
    equal = positive / np.maximum(filled.sum(axis=1), 1)
    share = np.where(filled, (np.floor(equal) if whole else equal)[:, None], 0.0)
    share[:, 0] = positive - share[:, 1:].sum(axis=1)
    return share


def encoded(problem: Problem, certificate: Certificate) -> dict[str, Any]:
    """A certificate of a problem as JSON data."""
    steps: list[list] = []
    before: dict[tuple[str, str], np.ndarray] = {}
    for number, node in enumerate(certificate.nodes):
        for step in node.steps:
            steps.append([number, "step", "", [], []])
            given = {("shares", family): share for family, share in step.shares.items()}
            given |= {(name, ""): getattr(step, name) for name in _ARRAYS if getattr(step, name) is not None}
            for (name, family), array in given.items():
                key = (name, f"{family}*" if array.ndim == 2 else family)
                old = before.get(key)
                flat = array.ravel()
                if old is None:
                    old = _first(problem, name, family, array.ndim == 2)
                places = np.flatnonzero(flat != old)
                numbers = [int(x) if problem.unit else float(x) for x in flat[places].tolist()]
                steps.append([number, *key, np.diff(places, prepend=0).tolist(), numbers])
                before[key] = flat
    return {
        "words": problem.n,
        "arcs": problem.arcs,
        "exact": sorted(certificate.exact_families),
        "nodes": [[int(node.parent), int(node.arc), int(node.value)] for node in certificate.nodes],
        "steps": steps,
    }


def decoded(problem: Problem, data: dict[str, Any]) -> Certificate:
    """The certificate that `encoded` made. Any exception means that it is none of this problem."""
    if data.keys() != {"words", "arcs", "exact", "nodes", "steps"}:
        raise ValueError(f"its entries are {', '.join(map(str, data))}")
    if data["words"] != problem.n or data["arcs"] != problem.arcs:
        raise ValueError(f"it has {data['words']} words and {data['arcs']} arcs, not {problem.n} and {problem.arcs}")
    if not all(type(x) is int for node in data["nodes"] for x in node):
        raise TypeError("nodes are not given by whole numbers")
    nodes = [CertNode(parent, arc, value) for parent, arc, value in data["nodes"]]
    before: dict[tuple[str, str], np.ndarray] = {}
    for number, name, family, gaps, numbers in data["steps"]:
        if type(number) is not int or not 0 <= number < len(nodes):
            raise ValueError(f"a step of node {str(number)[:20]}")
        steps = nodes[number].steps
        if name == "step":
            steps.append(Step({}))
            continue
        if name != "shares" and (name not in _ARRAYS or family):
            raise ValueError(f"unknown entry {str(name)[:20]!r}")
        key, rows = (name, family), family.endswith("*")
        family = family.removesuffix("*")
        if key not in before:
            before[key] = _first(problem, name, family, rows).astype(np.int64 if problem.unit else float)
        before[key] = array = _changed(before[key], gaps, numbers)
        if name == "shares":
            shaped = array.reshape(problem.parts[family].arcs.shape) if rows else array
            steps[-1] = replace(steps[-1], shares=steps[-1].shares | {family: shaped})
        else:
            steps[-1] = replace(steps[-1], **cast("dict[str, Any]", {name: array}))
    return Certificate(nodes, frozenset(data["exact"]))


def _changed(array: np.ndarray, gaps: list, numbers: list) -> np.ndarray:
    """The array with other numbers at places with these gaps; int64 or float, object where an integer is too large."""
    if set(map(type, gaps)) - {int} or set(map(type, numbers)) - {int, float} or len(gaps) != len(numbers):
        raise TypeError("not all are numbers, or not as many as there are places")
    array = array.copy()
    if not numbers:
        return array
    if array.dtype != float and not all(type(x) is int and abs(x) < 2**62 for x in numbers):
        array = array.astype(object)  # the check says what is wrong with it
    places = np.cumsum(np.array(gaps, np.int64))
    if places.min() < 0:
        raise IndexError("a place below 0")
    array[places] = numbers
    return array


def _first(problem: Problem, name: str, family: str, rows: bool) -> np.ndarray:
    """What an array is before anything is known of it, flat."""
    if name == "shares":
        return first_shares(problem.parts[family], problem.unit > 0, rows).ravel()
    return np.zeros(problem.n + 1 if name == "slope" else problem.arcs)
