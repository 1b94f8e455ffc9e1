"""Certificate files, which `treebound check` reads: JSON Lines, compressed with gzip, bzip2 or xz.

The first line is a header with format, version and tree space. The space `derivations` announces lines in the format of
`joint_proofs`. The entry `"valid": "ud"` announces proofs about valid trees only, in the format of `validity_proofs`.
Each further line belongs to a sentence, in the order of the parsed file. It is `null` if nothing was proved, and
otherwise an object with these entries:

    words, arcs   numbers of words and candidate arcs; a reader compares them to recognise the file of another parse
    exact         families that the chart scores
    nodes         [parent, arc, value] of every node of the search tree
    steps         [node, field of Step, family or "", gaps, numbers] in the order of application

Every "step" entry begins a new step. Only numbers that differ from the step before are written. `gaps` are the
differences of their positions in the flattened array. Before the first step, shares come from `first_shares`, and
other arrays are 0. Integers of any size and floats are written with all their digits.
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
Of = Space | Literal["derivations"]  #: objects that proofs are about: trees of a space, or derivations
SPACES = (*get_args(Space), "derivations")
Valid = Literal["ud"]  #: rules that the trees must keep: `ud`, the rules of Universal Dependencies
T = TypeVar("T")
LONGEST_LINE = 2**28  #: bytes that a line may have
#: fields of Step with one array
_ARRAYS = ("shift", "slope", "child", "parent")


class Writer:
    """A writer of certificates to a binary stream, sentence by sentence; see `compression.writing`."""

    def __init__(self, file: BinaryIO, space: Of = "projective", valid: Valid | None = None):
        self._out = file
        header = {"format": FORMAT, "version": VERSION, "space": space}
        self.write(json_line(header if valid is None else header | {"valid": valid}))

    def add(self, problem: Problem, certificate: Certificate | None) -> None:
        """Write the proof of the next sentence, or null if the sentence has no proof."""
        self.write(line(problem, certificate))

    def write(self, text: bytes) -> None:
        """Write the line of the next sentence, as `line` returns it."""
        self._out.write(text)


def line(problem: Problem, certificate: Certificate | None) -> bytes:
    """Return the line of a sentence in a certificate file, so that a worker can prepare it for a `Writer`."""
    return json_line(None if certificate is None else encoded(problem, certificate))


def json_line(data: Any) -> bytes:
    """Return a line of a certificate file with JSON data."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class Reader:
    """A reader of the lines of a certificate file, sentence by sentence.

    space  the space that the header states; the caller compares it with the space of the model
    valid  the rules that trees must keep: None, or `ud`, for which lines have the format of `validity_proofs`

    Raises InputError, also while lines are read, if the file is damaged or is not a certificate file.
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
        """Return the number and the text of the next sentence's line, which `proof` reads.

        Raises InputError if the file has no further line.
        """
        number, text = next(self._lines, (0, b""))
        if not number:
            raise InputError("ends before the parsed file", path=self.path, hint="give the file of the same run")
        return number, text

    def next(self, problem: Problem) -> Certificate | None:
        """Return the proof of the next sentence, or None if it has no proof; `problem` belongs to the sentence."""
        return proof(problem, self.path, *self.line())

    def finish(self) -> None:
        """Raise InputError if the file has more certificates."""
        if next(self._lines, None) is not None:
            raise InputError("goes on after the parsed file", path=self.path, hint="give the file of the same run")


def proof(problem: Problem, path: Path, number: int, text: bytes) -> Certificate | None:
    """Return the proof in line `number` of a certificate file, or None for null.

    Raises InputError if the proof is not about this problem.
    """
    return read_line(path, number, text, partial(decoded, problem))


def read_line(path: Path, number: int, text: bytes, decode: Callable[[Any], T]) -> T | None:
    """Return the result of `decode` for the data of a line, or None for null. Raises InputError if `decode` fails."""
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
    """Parse a line of JSON. Raises InputError for invalid JSON, duplicate keys and NaN."""

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key given twice")
        return dict(pairs)

    def reject_constant(name: str) -> Any:
        raise ValueError(f"{name} is not a number")

    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=reject_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]
        raise InputError(f"damaged or foreign file ({reason})", path=path, line=number, hint="parse again") from None


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Open a certificate file and yield a `Reader`. Raises InputError if it cannot be read."""
    try:
        file = compression.opened(path)
    except (OSError, compression.UnreadableError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", path=path, hint="name a certificate file") from None

    def lines() -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            while text := file.readline(LONGEST_LINE):
                number += 1
                if len(text) == LONGEST_LINE:
                    raise InputError("the line is too long", path=path, line=number, hint="parse again")
                yield number, text
        except compression.READ_ERRORS:
            raise InputError("damaged or foreign file", path=path, line=number + 1, hint="parse again") from None

    with file:
        yield Reader(path, lines())


def first_shares(table: PartTable, whole: bool, rows: bool) -> np.ndarray:
    """Return default shares, which most shares of a search equal. A file stores the differences from them.

    If a part's score is positive, its arcs have equal shares, rounded down for integer scores. Otherwise the shares are
    0.

    whole  whether scores are integers
    rows   True returns the shares of all arcs as [F, r], and the first arc takes the remainder of the rounding.
           False returns the share of the first of two arcs as [F]
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
    """Return a certificate of a problem as JSON data."""
    steps: list[list] = []
    previous: dict[tuple[str, str], np.ndarray] = {}
    for number, node in enumerate(certificate.nodes):
        for step in node.steps:
            steps.append([number, "step", "", [], []])
            arrays = {("shares", family): share for family, share in step.shares.items()}
            arrays |= {(name, ""): getattr(step, name) for name in _ARRAYS if getattr(step, name) is not None}
            for (name, family), array in arrays.items():
                key = (name, f"{family}*" if array.ndim == 2 else family)
                base = previous.get(key)
                flat = array.ravel()
                if base is None:
                    base = _first(problem, name, family, array.ndim == 2)
                positions = np.flatnonzero(flat != base)
                numbers = [int(x) if problem.unit else float(x) for x in flat[positions].tolist()]
                steps.append([number, *key, np.diff(positions, prepend=0).tolist(), numbers])
                previous[key] = flat
    return {
        "words": problem.n,
        "arcs": problem.arcs,
        "exact": sorted(certificate.exact_families),
        "nodes": [[int(node.parent), int(node.arc), int(node.value)] for node in certificate.nodes],
        "steps": steps,
    }


def decoded(problem: Problem, data: dict[str, Any]) -> Certificate:
    """Return the certificate that `encoded` encoded.

    Any exception means that the data do not belong to this problem.
    """
    if data.keys() != {"words", "arcs", "exact", "nodes", "steps"}:
        raise ValueError(f"its entries are {', '.join(map(str, data))}")
    if data["words"] != problem.n or data["arcs"] != problem.arcs:
        raise ValueError(f"it has {data['words']} words and {data['arcs']} arcs, not {problem.n} and {problem.arcs}")
    if not all(type(x) is int for node in data["nodes"] for x in node):
        raise TypeError("entries of nodes are not integers")
    nodes = [CertNode(parent, arc, value) for parent, arc, value in data["nodes"]]
    previous: dict[tuple[str, str], np.ndarray] = {}
    for number, name, family, gaps, numbers in data["steps"]:
        if type(number) is not int or not 0 <= number < len(nodes):
            raise ValueError(f"a step of the unknown node {str(number)[:20]}")
        steps = nodes[number].steps
        if name == "step":
            steps.append(Step({}))
            continue
        if name != "shares" and (name not in _ARRAYS or family):
            raise ValueError(f"unknown entry {str(name)[:20]!r}")
        key, rows = (name, family), family.endswith("*")
        family = family.removesuffix("*")
        if key not in previous:
            previous[key] = _first(problem, name, family, rows).astype(np.int64 if problem.unit else float)
        previous[key] = array = _changed(previous[key], gaps, numbers)
        if name == "shares":
            shaped = array.reshape(problem.parts[family].arcs.shape) if rows else array
            steps[-1] = replace(steps[-1], shares=steps[-1].shares | {family: shaped})
        else:
            steps[-1] = replace(steps[-1], **cast("dict[str, Any]", {name: array}))
    return Certificate(nodes, frozenset(data["exact"]))


def _changed(array: np.ndarray, gaps: list, numbers: list) -> np.ndarray:
    """Return a copy of an array with some numbers replaced.

    gaps     differences of the positions of the new numbers
    numbers  the new numbers

    The dtype is int64 or float; it becomes object if an integer is too large.
    """
    if set(map(type, gaps)) - {int} or set(map(type, numbers)) - {int, float} or len(gaps) != len(numbers):
        raise TypeError("entries of a step are not numbers, or there are not as many numbers as gaps")
    array = array.copy()
    if not numbers:
        return array
    if array.dtype != float and not all(type(x) is int and abs(x) < 2**62 for x in numbers):
        array = array.astype(object)  # the check reports numbers that are too large
    positions = np.cumsum(np.array(gaps, np.int64))
    if positions.min() < 0:
        raise IndexError("a negative position")
    array[positions] = numbers
    return array


def _first(problem: Problem, name: str, family: str, rows: bool) -> np.ndarray:
    """Return the default values of an array of a step, flattened.

    For the first step, a file stores only the numbers that differ from the default values.
    """
    if name == "shares":
        return first_shares(problem.parts[family], problem.unit > 0, rows).ravel()
    return np.zeros(problem.n + 1 if name == "slope" else problem.arcs)
