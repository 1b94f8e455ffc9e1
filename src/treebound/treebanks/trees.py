"""Read a treebank without keeping the lines of its file, which training does not need, to save memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebound.core.dtypes import INDEX, OFFSET
from treebound.core.spool import Spool
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.treebanks.document import Document, Source, stream

PART = 1000  #: number of sentences whose lines are in memory together


@dataclass(frozen=True)
class SeveralRoots:
    """The first sentence whose tree has more than one root.

    sentence  index of the sentence, from 0
    roots     number of its roots
    line      number of the line of its first word in the file, from 1; None for constituent trees
    more      number of later sentences that have several roots
    """

    sentence: int
    roots: int
    line: int | None
    more: int


def read_trees(
    source: Source, encoding: str | None = None, annotated: bool = True
) -> tuple[Treebank, SeveralRoots | None]:
    """Read a whole file like `document.read`; return its columns, and the first tree that has several roots, if any.

    At most PART sentences have their lines in memory at the same time. Columns are arrays of `core.spool`.
    Time O(bytes).
    """
    columns = {name: Spool(INDEX) for name in (*STRING_COLUMNS, "head")}
    vocab = {name: Vocabulary() for name in STRING_COLUMNS}
    ends, name, several, lines = array("q", [0]), "", None, 0
    for document in stream(source, PART, encoding=encoding, annotated=annotated):
        part = document.treebank
        name, several = part.name, _several(several, document, len(ends) - 1, lines)
        lines += sum(map(len, document.blocks)) + bool(document.header)
        ends.frombytes((part.offsets[1:] + ends[-1]).astype(np.int64).tobytes())
        columns["head"].extend(part.head)
        for column in STRING_COLUMNS:
            number = np.array([vocab[column].add(string) for string in part.vocab[column].strings], INDEX)
            columns[column].extend(number[part.columns[column]])
    arrays = {column: spool.array() for column, spool in columns.items()}
    head = arrays.pop("head")
    return Treebank(name, np.frombuffer(ends, OFFSET), arrays, vocab, head), several


def _several(earlier: SeveralRoots | None, document: Document, sentences: int, lines: int) -> SeveralRoots | None:
    """Return the first sentence with several roots in the parts of a file read so far; `document` is the latest part.

    earlier    the result for all parts before this part
    sentences  number of sentences before this part
    lines      number of lines before this part
    """
    indices: Sequence[int] = document.several_roots()
    if not indices:
        return earlier
    if earlier is not None:
        return SeveralRoots(earlier.sentence, earlier.roots, earlier.line, earlier.more + len(indices))
    first = indices[0]
    line = document.line(first)
    roots = int((document.treebank.heads(first) == 0).sum())
    return SeveralRoots(sentences + first, roots, None if line is None else lines + line, len(indices) - 1)
