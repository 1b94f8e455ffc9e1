"""Proofs of parsed sentences in a file, for `treebound check`: JSON Lines, compressed with gzip.

The first line names format, version and tree space. Then one line a sentence, in the order of the parsed file: `null`
where nothing was proved, else

    words, arcs   of the sentence, to tell a file that belongs to something else
    exact         families that the chart scores
    nodes         [parent, arc, value] of every node of the search tree
    steps         [node, field of Step, family or "", places, numbers] in the order in which they are to be applied; a
                  new step begins with every "step" entry. Only numbers that differ from the step before are written, at
                  their places in the flattened array; before the first, shares are those of `first_shares`, others 0

Numbers are written as they are: integers of any size, floats with all their digits.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from treebound.core.errors import InputError
from treebound.core.problem import NONE, PartTable, Problem
from treebound.evaluation.certificates import Certificate, CertNode, Space, Step

FORMAT, VERSION = "treebound certificates", 1
#: fields of Step with one array
_ARRAYS = ("shift", "slope", "child", "parent")


class Writer:
    """Certificates into a binary file, one sentence after the other; `close` when all are there."""

    def __init__(self, file: BinaryIO, space: Space = "projective"):
        self._out = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
        self.write(_line({"format": FORMAT, "version": VERSION, "space": space}))

    def add(self, problem: Problem, certificate: Certificate | None) -> None:
        """The proof of the next sentence, None if there is none."""
        self.write(line(problem, certificate))

    def write(self, text: bytes) -> None:
        """The proof of the next sentence, as `line` gives it."""
        self._out.write(text)

    def close(self) -> None:
        """Finish the file's compressed stream; the file itself stays open."""
        self._out.close()


def line(problem: Problem, certificate: Certificate | None) -> bytes:
    """The line of a sentence in a certificate file, as a worker can make it for a `Writer` elsewhere."""
    return _line(None if certificate is None else encoded(problem, certificate))


def _line(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode() + b"\n"


class Reader:
    """The lines of a certificate file, one sentence after the other.

    space  the trees among which the parses are claimed to be the best

    Raises InputError, here and when lines are taken, where the file is damaged or none of these.
    """

    def __init__(self, path: Path, lines: Iterator[tuple[int, Any]]):
        self.path, self._lines = path, lines
        _, header = next(lines, (1, None))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InputError("not a certificate file", path=path, hint="treebound parse --certificates writes one")
        if header.get("version") != VERSION or header.get("space") not in ("projective", "non-projective"):
            raise InputError("a certificate file of another version", path=path, hint="parse again")
        self.space = cast("Space", header["space"])

    def next(self, problem: Problem) -> Certificate | None:
        """The proof of the next sentence, whose problem this is; None if it has none."""
        number, data = next(self._lines, (0, ...))
        if data is ...:
            raise InputError("ends before the parsed file", path=self.path, hint="give the file of the same run")
        if data is None:
            return None
        try:
            return decoded(problem, data)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise InputError(
                f"not a certificate of this sentence ({error})",
                path=self.path,
                line=number,
                hint="give the file of the same run",
            ) from None

    def finish(self) -> None:
        """InputError if there are certificates left."""
        if next(self._lines, None) is not None:
            raise InputError("goes on after the parsed file", path=self.path, hint="give the file of the same run")


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """A certificate file. Raises InputError where it cannot be read."""
    try:
        with gzip.open(path, "rb") as file:

            def lines() -> Iterator[tuple[int, Any]]:
                try:
                    for number, line in enumerate(file, 1):
                        yield number, json.loads(line)
                except (EOFError, gzip.BadGzipFile, zlib.error, ValueError):
                    raise InputError("damaged or foreign file", path=path, hint="parse again") from None

            yield Reader(path, lines())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


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
    if data["words"] != problem.n or data["arcs"] != problem.arcs:
        raise ValueError(f"it has {data['words']} words and {data['arcs']} arcs, not {problem.n} and {problem.arcs}")
    nodes = [CertNode(int(parent), int(arc), cast("Any", int(value))) for parent, arc, value in data["nodes"]]
    before: dict[tuple[str, str], np.ndarray] = {}
    for number, name, family, gaps, numbers in data["steps"]:
        steps = nodes[number].steps
        if name == "step":
            steps.append(Step({}))
            continue
        key, rows = (name, family), family.endswith("*")
        family = family.rstrip("*")
        if key not in before:
            # what is not a float must stay exact, however large
            before[key] = np.array(_first(problem, name, family, rows), object if problem.unit else float)
            if problem.unit:
                before[key] = np.array([int(x) for x in before[key]], object)
        if any(type(x) not in (int, float) for x in numbers):
            raise TypeError("not all are numbers")
        array = before[key].copy()
        array[np.cumsum(gaps, dtype=np.int64)] = numbers
        before[key] = array
        if name == "shares":
            shaped = array.reshape(problem.parts[family].arcs.shape) if rows else array
            steps[-1] = replace(steps[-1], shares=steps[-1].shares | {family: shaped})
        elif name in _ARRAYS:
            steps[-1] = replace(steps[-1], **{name: array})
        else:
            raise ValueError(f"unknown entry {name!r}")
    return Certificate(nodes, frozenset(data["exact"]))


def _first(problem: Problem, name: str, family: str, rows: bool) -> np.ndarray:
    """What an array is before anything is known of it, flat."""
    if name == "shares":
        return first_shares(problem.parts[family], problem.unit > 0, rows).ravel()
    return np.zeros(problem.n + 1 if name == "slope" else problem.arcs)
