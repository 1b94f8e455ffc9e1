"""What CoNLL-U, CoNLL-X and CoNLL 2008 share: one word per line, columns between tabs, an empty line after a sentence.

A `Layout` says where the columns are and what else a format allows; `parse_sentence` checks one sentence against it.
Sentences without multiword tokens and empty nodes - nearly all - take a path of whole-column comparisons; only where
these fail is a sentence looked at line by line, which is what makes reading fast and messages exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treebound.core.dtypes import NO_HEAD


@dataclass(frozen=True)
class Layout:
    """Where a tabular format keeps its columns.

    name      as it is called in messages
    columns   Treebank column, `id` or `head` -> position from 0
    least     fewest columns of a line
    most      most columns of a line
    comments  lines that begin with # may stand before the words
    extras    multiword tokens (3-4) and empty nodes (3.1) may stand between the words
    misc      position of a column of `Key=Value|Key=Value` that anybody may add to; None: there is none
    """

    name: str
    columns: dict[str, int]
    least: int
    most: int
    comments: bool = False
    extras: bool = False
    misc: int | None = None


class Malformed(Exception):
    """One malformed line: offset within the sentence, reason, what to do."""

    def __init__(self, offset: int, reason: str, hint: str = ""):
        super().__init__(reason)
        self.offset, self.reason, self.hint = offset, reason, hint


# "1" -> 1, ...: canonical decimals only ("+1", "01" and "1_0" are not numbers here), grown when a sentence is longer
_NUMBER: dict[str, int] = {}
_DECIMALS: tuple[str, ...] = ()


def _grow(n: int) -> None:
    global _DECIMALS
    _DECIMALS = tuple(map(str, range(2 * n + 64)))
    _NUMBER.update(zip(_DECIMALS, range(len(_DECIMALS)), strict=True))


def parse_sentence(
    lines: list[str], layout: Layout, annotated: bool
) -> tuple[Sequence[int], list[tuple[str, ...]], list[int]]:
    """Check one sentence and take it apart.

    lines      the lines of the sentence with their line ends, comments included, without any empty line
    annotated  heads must form a tree (several roots are a matter of the corpus, not of the format);
               else `_` is read as NO_HEAD and trees are not checked

    Returns the offsets of the word lines in `lines`, the columns over the words (the last still with its line end)
    and the heads. Raises Malformed. Time O(length of the text).
    """
    first = 0
    if layout.comments:
        while first < len(lines) and lines[first].startswith("#"):
            first += 1
    if first == len(lines):
        raise Malformed(0, "comments without words", "delete them or add the words of the sentence")
    n = len(lines) - first
    if n >= len(_DECIMALS):
        _grow(n)
    rows: Sequence[int] = range(first, len(lines))
    split = [line.split("\t") for line in lines[first:]]
    widths = set(map(len, split))
    text = "".join(lines)
    # fields are cells as `core.cells` defines them: found here for all lines at once
    if (
        len(widths) > 1
        or not layout.least <= min(widths) <= layout.most
        or "\0" in text
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
        or "\t\t" in text
        or "\t\n" in text
        or "\t\r" in text
    ):
        _find_line_error(lines, first, layout)
    columns = list(zip(*split, strict=True))
    if columns[0] != _DECIMALS[1 : n + 1]:  # something else than words 1..n in order
        rows = _word_rows(lines, first, layout)
        columns = list(zip(*(split[r - first] for r in rows), strict=True))
    return rows, columns, _heads(columns[layout.columns["head"]], rows, layout, annotated)


def _find_line_error(lines: list[str], first: int, layout: Layout) -> None:
    """Raise Malformed for the first line that is wrong taken by itself."""
    width = None
    for offset, line in enumerate(lines):
        body = line.rstrip("\n").removesuffix("\r")
        if "\0" in body:
            raise Malformed(offset, "NUL byte", "the file is damaged or is not a text file")
        if "\r" in body:
            raise Malformed(offset, "carriage return inside a line", "use \\n or \\r\\n as line end throughout")
        if offset < first:
            continue
        if not body.strip():
            raise Malformed(offset, "line of blanks only", "sentences are separated by empty lines")
        fields = body.split("\t")
        if body.startswith("#") and len(fields) < layout.least:
            hint = "move it before the first word" if layout.comments else "delete it"
            where = "inside a sentence" if layout.comments else f"in {layout.name}, which has none"
            raise Malformed(offset, f"comment {where}", hint)
        if not layout.least <= len(fields) <= layout.most or len(fields) != (width or len(fields)):
            wanted = width or (layout.least if layout.least == layout.most else f"at least {layout.least}")
            hint = "separate columns by one tab" + (", not by blanks" if len(fields) == 1 else "")
            raise Malformed(offset, f"{len(fields)} columns where {layout.name} has {wanted}", hint)
        width = len(fields)
        for position, field in enumerate(fields):
            if not field:
                raise Malformed(offset, f"column {position + 1} is empty", "write _ for a missing value")


def _word_rows(lines: list[str], first: int, layout: Layout) -> list[int]:
    """Offsets of the word lines of a sentence whose ids are not just 1..n; checks every id."""
    rows: list[int] = []
    pending = None  # (offset, last word) of the multiword token that is still open
    empty = 0  # number of the last empty node after the current word
    for offset in range(first, len(lines)):
        text = lines[offset].split("\t", 1)[0]
        expected = len(rows) + 1
        if text.isascii() and text.isdecimal():
            if text != str(expected):
                if text == "1":
                    raise Malformed(
                        offset, f"id 1 where {expected} was expected", "is an empty line missing before it?"
                    )
                raise Malformed(offset, f"id {_short(text)} where {expected} was expected", "number words 1, 2, 3 ...")
            rows.append(offset)
            empty = 0
            if pending and expected == pending[1]:
                pending = None
            continue
        begin, dash, end = text.partition("-")
        node, dot, index = text.partition(".")
        if layout.extras and dash and _is_number(begin) and _is_number(end):
            if int(end) < int(begin):
                raise Malformed(offset, f"multiword token {text} runs backwards", "write first-last")
            if pending:
                raise Malformed(offset, f"multiword token {text} overlaps another", "tokens must not share words")
            if int(begin) != expected:
                raise Malformed(
                    offset, f"multiword token {text} before word {expected}", "put it before its first word"
                )
            pending = (offset, int(end))
        elif layout.extras and dot and _is_number(node) and _is_number(index):
            if int(node) != len(rows) or int(index) != empty + 1:
                raise Malformed(
                    offset, f"empty node {text} where {len(rows)}.{empty + 1} was expected", "number them in order"
                )
            empty += 1
        elif not text:
            raise Malformed(offset, "column 1 is empty", "number words 1, 2, 3 ...")
        else:
            allowed = "1, 1-2 or 1.1" if layout.extras else "1, 2, 3 ..."
            raise Malformed(offset, f"id {_short(text)!r} is not a word number", f"ids look like {allowed}")
    if pending:
        raise Malformed(pending[0], "multiword token ends after the last word", "end it within the sentence")
    if not rows:
        raise Malformed(first, "sentence without words", "add its words or delete it")
    return rows


def _heads(column: tuple[str, ...], rows: Sequence[int], layout: Layout, annotated: bool) -> list[int]:
    """The heads as numbers, checked as far as `annotated` asks."""
    n = len(column)
    try:
        heads = [_NUMBER[text] for text in column]
    except KeyError:
        heads = _slow_heads(column, rows, annotated)
    if max(heads) > n:
        word = next(i for i, head in enumerate(heads) if head > n)
        raise Malformed(rows[word], f"head {heads[word]} in a sentence of {n} words", "heads are 0 .. number of words")
    if annotated:
        for i, head in enumerate(heads):
            if head == i + 1:
                raise Malformed(rows[i], f"word {i + 1} is its own head", "correct the tree")
        if 0 not in heads:
            raise Malformed(rows[0], "no root", "one word must have head 0")
        word = find_cycle(heads)
        if word:
            raise Malformed(rows[word - 1], f"word {word} is on a cycle", "correct the tree")
    return heads


def _slow_heads(column: tuple[str, ...], rows: Sequence[int], annotated: bool) -> list[int]:
    """Heads of a column that holds something else than small canonical decimals."""
    if annotated and all(text == "_" for text in column):
        raise Malformed(
            rows[0], "no HEAD is annotated (a placeholder release without trees?)", "get a release that has its trees"
        )
    heads = []
    for row, text in zip(rows, column, strict=True):
        if text == "_":
            if annotated:
                raise Malformed(row, "HEAD is _ but other words have one", "annotate every word")
            heads.append(NO_HEAD)
        elif text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0"):
            heads.append(int(text[:10]))  # ten digits are more than any sentence has words
        else:
            raise Malformed(row, f"HEAD {_short(text)!r} is not a number", "heads are 0 .. number of words")
    return heads


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _short(text: str) -> str:
    """Enough of a field to find it: messages are one line."""
    return text if len(text) <= 30 else text[:30] + "..."


def find_cycle(heads: Sequence[int]) -> int:
    """A word on a cycle, or 0. heads[i] is the head of word i + 1, 0 or NO_HEAD where there is none. Time O(n)."""
    seen = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word > 0 and seen[word] == start:
            return word
    return 0
