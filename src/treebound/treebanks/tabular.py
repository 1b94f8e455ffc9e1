"""Parse sentences in tabular formats: one word per line, columns separated by tabs, an empty line after a sentence.

A `Layout` describes the columns of a format and the other lines that it allows. `parse_sentence` checks one sentence
against a layout. Most sentences have no multiword tokens or empty nodes, and are checked by fast comparisons of whole
columns. Only if these fail, the sentence is checked line by line to produce an exact message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treebound.core.dtypes import NO_HEAD


@dataclass(frozen=True)
class Layout:
    """The columns of a tabular format, and the other lines that it allows.

    name      name of the format in messages
    columns   `id`, `head` or a column of Treebank -> its position from 0
    least     smallest number of columns of a line
    most      largest number of columns of a line
    misc      position of the column of items `Key=Value|Key=Value`, or None if the format has no such column
    comments  whether lines that begin with # are allowed before the words
    extras    whether multiword tokens (ids like 3-4) and empty nodes (ids like 3.1) are allowed between the words
    names     the names of the columns in the comment `# global.columns`, or () if the format has no such comment
    """

    name: str
    columns: dict[str, int]
    least: int
    most: int
    comments: bool = False
    extras: bool = False
    misc: int | None = None
    names: tuple[str, ...] = ()


class Malformed(Exception):
    """Raised for a malformed line, with its offset in the sentence, the reason and a hint."""

    def __init__(self, offset: int, reason: str, hint: str = ""):
        super().__init__(reason)
        self.offset, self.reason, self.hint = offset, reason, hint


# "1" -> 1, ...: canonical decimals only, because "+1", "01" and "1_0" are not valid; extended for longer sentences
_NUMBER: dict[str, int] = {}
_DECIMALS: tuple[str, ...] = ()


def _grow(n: int) -> None:
    """Extend the tables of decimal numbers, in which ids and heads are looked up, to sentences of n words."""
    global _DECIMALS
    _DECIMALS = tuple(map(str, range(2 * n + 64)))
    _NUMBER.update(zip(_DECIMALS, range(len(_DECIMALS)), strict=True))


def parse_sentence(
    lines: list[str], layout: Layout, annotated: bool
) -> tuple[Sequence[int], list[tuple[str, ...]], list[int]]:
    """Check one sentence and split it into columns.

    lines      the lines of the sentence with their line ends, including comments but without empty lines
    annotated  whether heads must form a tree, possibly with several roots. Otherwise `_` is read as NO_HEAD, and trees
               are not checked

    Returns the offsets of the word lines in `lines`, the columns over the words (the last column may include line
    ends), and the heads. Raises Malformed. Time O(length of the text).
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
    last_is_read = layout.most - 1 in layout.columns.values()
    split = [(line.rstrip("\r\n") if last_is_read else line).split("\t") for line in lines[first:]]
    widths = set(map(len, split))
    text = "".join(lines)
    if "global.columns" in text:
        _check_names(lines[:first], layout)
    # every field must be a cell as `core.cells` defines it, which is tested for all lines at once
    if (
        len(widths) > 1
        or not layout.least <= min(widths) <= layout.most
        or "\0" in text
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
        or "\t\t" in text
        or "\t\n" in text
        or "\t\r" in text
        or text.endswith("\t")
    ):
        _find_line_error(lines, first, layout)
    columns = list(zip(*split, strict=True))
    ids = layout.columns["id"]
    if columns[ids] != _DECIMALS[1 : n + 1]:  # other lines than the words 1..n in order
        rows = _word_rows([fields[ids] for fields in split], first, layout)
        columns = list(zip(*(split[r - first] for r in rows), strict=True))
    head = layout.columns.get("head")
    return rows, columns, [NO_HEAD] * len(rows) if head is None else _heads(columns[head], rows, layout, annotated)


def column_names(line: str) -> tuple[str, ...] | None:
    """Return the columns that a comment `# global.columns = ID FORM ...` names, or None for another line."""
    key, equals, names = line.partition("=")
    return tuple(names.split()) if equals and key.removeprefix("#").strip() == "global.columns" else None


def _check_names(comments: list[str], layout: Layout) -> None:
    """Raise Malformed for a comment that names other columns than line 1, as happens when files are joined."""
    for offset, line in enumerate(comments):
        names = column_names(line)
        if names is not None and names != layout.names:
            reason = "`# global.columns` names other columns than line 1"
            raise Malformed(offset, reason, "columns are named once, in line 1; join files of the same columns only")


def _find_line_error(lines: list[str], first: int, layout: Layout) -> None:
    """Raise Malformed for the first line that is invalid independently of the other lines."""
    width = None
    for offset, line in enumerate(lines):
        body = line.rstrip("\n").removesuffix("\r")
        if "\0" in body:
            raise Malformed(offset, "NUL byte", "the file is damaged or is not a text file")
        if "\r" in body or line.endswith("\r"):
            raise Malformed(offset, "carriage return inside a line", "use \\n or \\r\\n as line end throughout")
        if offset < first:
            continue
        if not body.strip():
            raise Malformed(offset, "line of blanks only", "sentences are separated by empty lines")
        fields = body.split("\t")
        if not layout.least <= len(fields) <= layout.most or len(fields) != (width or len(fields)):
            _check_mark(body, offset)
            if body.startswith("#") and len(fields) < layout.least:
                _comment_error(lines, offset, layout)
            raise Malformed(offset, *_width_error(fields, layout, width))
        width = len(fields)
        for position, field in enumerate(fields):
            if not field:
                raise Malformed(offset, f"column {position + 1} is empty", "write _ for a missing value")


def _check_mark(text: str, offset: int) -> None:
    """Raise Malformed for a byte order mark, which is only valid at the beginning of a file."""
    if "\ufeff" in text:
        reason = "a byte order mark (U+FEFF) inside the file, probably because files were joined"
        raise Malformed(offset, reason, "delete it, and check that an empty line precedes the sentence")


def _comment_error(lines: list[str], offset: int, layout: Layout) -> None:
    """Raise Malformed for a comment that is not before the words of its sentence."""
    if not layout.comments:
        raise Malformed(offset, f"comment in {layout.name}, which does not allow comments", "delete the comment")
    words = (line.split("\t") for line in lines[offset:] if line[0] != "#")
    ids = layout.columns["id"]
    if _begins_sentence([fields[ids] for fields in words if len(fields) > ids]):
        raise Malformed(offset, "an empty line is missing before this comment", "add one between two sentences")
    raise Malformed(offset, "comment inside a sentence", "move it before the first word")


def _begins_sentence(ids: Sequence[str]) -> bool:
    """Return whether the first word id, ignoring multiword tokens and empty nodes, is 1, or there is no word id."""
    return next((text for text in ids if text.isdecimal()), "1") == "1"


#: how to recognise other formats: name -> (smallest number of columns, positions of the columns of heads)
_OTHER_FORMATS = {"CoNLL 2009": (14, (8, 9)), "CoNLL 2008": (11, (8,))}


def _width_error(fields: list[str], layout: Layout, earlier_width: int | None) -> tuple[str, str]:
    """Return (reason, hint) for a line with a wrong number of columns.

    `earlier_width` is the number of columns of the lines before, if there are any.
    """
    count, fewest = len(fields), layout.least
    expected = str(fewest) if fewest == layout.most else f"at least {fewest}"
    reason = f"{count} column{'s' if count > 1 else ''} where {layout.name} has {expected}"
    if earlier_width and fewest <= count <= layout.most:
        return (
            f"{count} columns where the lines before have {earlier_width}",
            "give all lines of a sentence the same columns",
        )
    if not fields[-1] and layout.least < count:
        return f"{reason}: a tab ends the line", "delete the tab at the end of the line"
    if count == 1:
        words = fields[0].split()
        if len(words) >= 4 and words[0][:1].isdecimal():
            return f"{reason}: they are separated by blanks", "separate columns by one tab, not by blanks"
        return reason, "write one word per line, and separate columns by one tab, not by blanks"
    for name, (columns, heads) in _OTHER_FORMATS.items():
        cells = [fields[i] for i in heads if count >= columns and fields[i] != "_"]
        if name != layout.name and cells and all(cell.isdecimal() for cell in cells):
            hint = "name the file .conll08" if name == "CoNLL 2008" else f"convert it to {layout.name}"
            return f"{reason}: it looks like {name}", hint
    plus_hint = ", or name the columns in line 1: # global.columns = ID FORM ..." if layout.names else ""
    if count > fewest:
        return reason, "delete the additional columns" + plus_hint
    return reason, "add the missing columns, with _ for missing values" + plus_hint


def _word_rows(ids: Sequence[str], first: int, layout: Layout) -> list[int]:
    """Return the offsets of the word lines of a sentence with multiword tokens or empty nodes. Checks every id."""
    rows: list[int] = []
    pending = None  # (offset, last word) of the multiword token that has begun but not ended
    empty = 0  # number of the last empty node after the current word
    for offset, text in enumerate(ids, first):
        expected = len(rows) + 1
        if text.isascii() and text.isdecimal():
            if text != str(expected):
                if text == "1":
                    raise _missing_line(offset, text, expected)
                raise Malformed(offset, f"id {_short(text)} where {expected} was expected", "number words 1, 2, 3 ...")
            rows.append(offset)
            empty = 0
            if pending and expected == pending[1]:
                pending = None
            continue
        begin, dash, end = text.partition("-")
        node, dot, index = text.partition(".")
        if rows and layout.extras and (begin == "1" or node == "0") and _begins_sentence(ids[offset - first :]):
            raise _missing_line(offset, text, expected)
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
            _check_mark(text, offset)
            allowed = "1, 1-2 or 1.1" if layout.extras else "1, 2, 3 ..."
            raise Malformed(offset, f"id {_short(text)!r} is not a word number", f"ids look like {allowed}")
    if pending:
        raise Malformed(pending[0], "multiword token ends after the last word", "end it within the sentence")
    if not rows:
        raise Malformed(first, "sentence without words", "add its words or delete it")
    return rows


def _missing_line(offset: int, text: str, expected: int) -> Malformed:
    """Return the error for a sentence that no empty line separates from the sentence before it.

    text      the id of the line with this offset
    expected  the id that should stand there
    """
    reason = f"an empty line is missing before id {_short(text)}, where {expected} was expected"
    return Malformed(offset, reason, "add one between two sentences")


def _heads(column: tuple[str, ...], rows: Sequence[int], layout: Layout, annotated: bool) -> list[int]:
    """Return the heads as numbers. Checks that they form a tree if `annotated` is set."""
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
    """Return the heads of a column that contains `_`, large numbers or invalid text."""
    if annotated and all(text == "_" for text in column):
        raise Malformed(
            rows[0], "no HEAD is annotated (a placeholder release without trees?)", "get a release that contains trees"
        )
    heads = []
    for row, text in zip(rows, column, strict=True):
        if text == "_":
            if annotated:
                raise Malformed(row, "HEAD is _ but other words have one", "annotate every word")
            heads.append(NO_HEAD)
        elif text.isascii() and text.isdecimal() and (text == "0" or text[0] != "0"):
            heads.append(int(text[:10]))  # ten digits exceed the number of words of any sentence
        else:
            raise Malformed(row, f"HEAD {_short(text)!r} is not a number", "heads are 0 .. number of words")
    return heads


def _is_number(text: str) -> bool:
    """Return whether a text consists of one to nine decimal digits."""
    return text.isascii() and text.isdecimal() and len(text) < 10


def _short(text: str) -> str:
    """Return the beginning of a field, long enough to find the field, for messages of one line."""
    return text if len(text) <= 30 else text[:30] + "..."


def find_cycle(heads: Sequence[int]) -> int:
    """Return a word on a cycle, or 0 if there is no cycle. Time O(n).

    heads  head of each word 1..n, at index word - 1: 0 for the root, NO_HEAD for a missing head
    """
    seen = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word > 0 and seen[word] == start:
            return word
    return 0
