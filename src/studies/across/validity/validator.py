"""The official validator of Universal Dependencies, run as a program on several parses of the same sentences."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from treebound.constraints.ud import STRUCTURE, load
from treebound.core.errors import InputError
from treebound.treebanks.document import Document

PROGRAM = "udvalidate"
#: error message of the validator: the number of the sentence in the file, and the rule
_ERROR = re.compile(r"^\[Line \d+ Sent t(\d+)[^\]]*\]: \[L\d \w+ ([\w-]+)\]", re.MULTILINE)


@dataclass(frozen=True)
class Trees:
    """Labelled trees of all sentences of a document, and columns that replace columns of the document.

    heads    int[n + 1] of each sentence; None means the heads of the document
    labels   n labels of each sentence; None means the labels of the document
    columns  name of a replaced column -> n strings of each sentence
    """

    heads: Sequence[np.ndarray] | None = None
    labels: Sequence[Sequence[str]] | None = None
    columns: Mapping[str, Sequence[Sequence[str]]] | None = None


@dataclass(frozen=True)
class Errors:
    """The errors of the trees of a document.

    rules      id of a rule -> number of errors, sorted by id
    sentences  number of sentences with an error
    """

    rules: dict[str, int]
    sentences: int

    @property
    def as_json(self) -> dict[str, object]:
        """Return the errors in the form of a metrics file."""
        return {"rules": self.rules, "errors": sum(self.rules.values()), "sentences": self.sentences}


def errors(document: Document, parses: Mapping[str, Trees]) -> dict[str, Errors]:
    """Return the errors of each parse of a document, by the name of the parse.

    Only rules about heads, labels and tags are counted: the rules of the set `ud`, and the rules which require that
    the arcs form a tree. All parses are written to one temporary file, so that the program starts only once.

    Raises InputError if the program is not installed or fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "parses.conllu")
        with path.open("wb") as file:
            for number, trees in enumerate(parses.values()):
                first = number * len(document)
                names = [[f"sent_id = t{first + i}"] for i in range(len(document))]
                document.write(file, trees.heads, trees.labels, comments=names, columns=trees.columns)
        incidents = list(_incidents(path))
    result = {}
    for number, name in enumerate(parses):
        own = [(i, rule) for i, rule in incidents if i // len(document) == number]
        rules = Counter(rule for _, rule in own)
        result[name] = Errors(dict(sorted(rules.items())), len({i for i, _ in own}))
    return result


def _incidents(path: Path) -> Iterator[tuple[int, str]]:
    """Run the validator on a file whose sentences are named t0, t1, ...; yield (sentence, rule) for every error."""
    program = Path(sys.executable).with_name(PROGRAM)
    ids = (*load("ud").ids, *STRUCTURE)
    command = [str(program), str(path), "--level", "3", "--lang", "ud", "--max-err", "0", "--include-only", *ids]
    try:
        process = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    except OSError:
        hint = "run: pip install 'treebound[studies]'"
        raise InputError(f"the program {PROGRAM} of udtools is not installed", hint=hint) from None
    if process.returncode not in (0, 1) or "Traceback" in process.stderr:
        lines = process.stderr.strip().splitlines() or ["no message"]
        raise InputError(f"{PROGRAM} failed: {lines[-1]}", hint=f"run: {PROGRAM} --help")
    for sentence, rule in _ERROR.findall(process.stderr + process.stdout):
        yield int(sentence), rule
