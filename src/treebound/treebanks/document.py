"""Read and write treebank files without loss: a `Document` holds a `Treebank` and all lines of its file.

The input is a whole file or a pipe, in a tabular format or with constituent trees (Penn brackets, Alpino XML, CCG
derivations, Sinica Treebank):

    document = read("en_ewt-ud-dev.conllu")
    document.treebank                                   # the columns that parsers read
    document.write("parsed.conllu", heads=heads)        # keeps comments, multiword tokens and empty nodes
    for part in stream(sys.stdin.buffer, sentences=64): # a pipe, 64 sentences at a time
        ...
"""

from __future__ import annotations

import io
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from treebound.core.cells import HINT, is_cell, is_line
from treebound.core.dtypes import INDEX, OFFSET
from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.support.compression import READ_ERRORS, stem_of, writing
from treebound.treebanks import alpino, brackets, sinica
from treebound.treebanks.ccg.columns import heads_of, steps_of
from treebound.treebanks.ccg.derivation import from_text
from treebound.treebanks.conllu import CONLLU, plus
from treebound.treebanks.conllx import CONLL08, CONLLX
from treebound.treebanks.lines import BLANK, BOM, blocks, damaged, decode, open_lines, peek, text_lines, text_of
from treebound.treebanks.tabular import Layout, Malformed, column_names, parse_sentence

#: name of a tabular format for `read` -> its layout; the other formats contain constituent trees
LAYOUTS: dict[str, Layout] = {"conllu": CONLLU, "conllx": CONLLX, "conll08": CONLL08}
CONSTITUENTS = ("brackets", "alpino", "auto", "sinica")
FORMATS = (*LAYOUTS, *CONSTITUENTS)
#: sources of a treebank: a path, an open file, the bytes of a file, or lines
Source = str | Path | BinaryIO | TextIO | bytes | Iterable[bytes] | Iterable[str]

_NUMBERED = re.compile(rb"#\d+:\S*\.\[\d*\] ")  #: the beginning of a line of the Sinica Treebank
_SUFFIXES = {
    ".conllu": "conllu",
    ".conllup": "conllu",
    ".cupt": "conllu",
    ".conll": "conllx",
    ".conllx": "conllx",
    ".conll08": "conll08",
    ".mrg": "brackets",
    ".xml": "alpino",
    ".auto": "auto",
}


@dataclass(frozen=True)
class Skipped:
    """A malformed sentence that lenient reading left out: its line and the reason."""

    line: int
    reason: str


@dataclass(frozen=True)
class Document:
    """Sentences of a file: the columns that parsers read, and all lines for lossless writing.

    treebank  the columns of the sentences
    blocks    for each sentence its lines with their line ends, including comments and the empty line after it;
    rows      for each sentence the offsets of its word lines in its block
    layout    the columns of the lines. Constituent trees are converted to CoNLL-U when they are read
    tabular   True if the lines come from the file, False if they were converted from constituent trees
    bom       whether the file has a byte order mark of UTF-8, which is then written too
    header    the line `# global.columns = ...` of CoNLL-U Plus; it is written before the sentences
    tail      empty lines at the end that belong to no sentence
    skipped   the malformed sentences that lenient reading left out
    """

    treebank: Treebank
    blocks: list[list[str]]
    rows: list[Sequence[int]]
    layout: Layout = CONLLU
    bom: bool = False
    header: str = ""
    tail: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    tabular: bool = True

    def __len__(self) -> int:
        return len(self.blocks)

    def several_roots(self) -> list[int]:
        """Return the indices of the sentences whose trees have more than one root."""
        if not len(self):
            return []
        roots = np.add.reduceat(self.treebank.head == 0, self.treebank.offsets[:-1], dtype=np.int64)
        return [int(i) for i in np.flatnonzero(roots > 1)]

    def line(self, i: int) -> int | None:
        """Return the number, from 1, of the line in the file where the first word of sentence i is. Time O(i).

        Returns None for constituent trees and if sentences were skipped. The document must have been read as a whole.
        """
        if not self.tabular or self.skipped:
            return None
        return sum(map(len, self.blocks[:i])) + self.rows[i][0] + 1 + bool(self.header)

    def misc(self) -> list[list[str]] | None:
        """Return the column MISC of each word of each sentence, or None if the format has no such column."""
        position = self.layout.misc
        if position is None:
            return None
        pairs = zip(self.blocks, self.rows, strict=True)
        return [[block[row].split("\t")[position].rstrip("\r\n") for row in rows] for block, rows in pairs]

    def select(self, indices: Iterable[int]) -> Document:
        """Return a document of the sentences with these indices, in this order."""
        selected = [int(i) for i in indices]
        return replace(
            self,
            treebank=self.treebank.select(np.array(selected, np.int64)),
            blocks=[self.blocks[i] for i in selected],
            rows=[self.rows[i] for i in selected],
            tail=[],
        )

    def write(
        self,
        out: str | Path | BinaryIO,
        heads: Sequence[np.ndarray] | None = None,
        labels: Sequence[Sequence[str]] | None = None,
        comments: Sequence[Sequence[str]] | None = None,
        misc: Sequence[Sequence[Mapping[str, str]]] | None = None,
        columns: Mapping[str, Sequence[Sequence[str]]] | None = None,
    ) -> None:
        r"""Write the sentences in UTF-8 with new values. All other parts of a UTF-8 file stay as they were.

        Parameters
        ----------
        out : str, Path or binary file
            A path, which is replaced as a whole, and compressed if it ends in .gz, .bz2 or .xz. Or a binary file, for
            instance `sys.stdout.buffer`, to which the sentences are appended.
        heads : sequence of array, optional
            int[n + 1] for each sentence, as decoders return it. Entry 0 belongs to the root and is ignored.
        labels : sequence of sequence of str, optional
            n strings for each sentence, for the column DEPREL.
        comments : sequence of sequence of str, optional
            Lines `key = value` for each sentence. A comment with the same key is replaced; other comments follow the
            last one.
        misc : sequence of sequence of mapping, optional
            n mappings of keys to values for each sentence, for the column MISC. An item with the same key is replaced;
            others are appended.
        columns : mapping, optional
            Name of a string column, for instance xpos -> n strings for each sentence.

        Raises
        ------
        InputError
            If the file cannot be written, if a value does not fit into its field or line, or if the format lacks
            comments or a column.
        ValueError
            If lengths do not match.

        Notes
        -----
        O(bytes).

        Examples
        --------
        >>> import sys
        >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
        >>> text = word(1, "Trees", "NOUN", 2, "nsubj") + word(2, "grow", "VERB", 0, "root") + "\n"
        >>> document, out = read(text.encode()), io.BytesIO()
        >>> document.write(out, heads=[np.array([-1, 0, 1])], labels=[["root", "dep"]], comments=[["parser = example"]])
        >>> print(out.getvalue().decode().replace("\t", " ").rstrip())
        # parser = example
        1 Trees _ NOUN _ _ 0 root _ _
        2 grow _ VERB _ _ 1 dep _ _
        """
        strings = dict(columns or {}) | ({"deprel": labels} if labels is not None else {})
        for name, entries in (("heads", heads), ("comments", comments), ("misc", misc), *strings.items()):
            if entries is not None and len(entries) != len(self):
                raise ValueError(f"{len(entries)} {name} for {len(self)} sentences")
        if comments is not None and not self.layout.comments:
            raise InputError(f"{self.layout.name} has no comments", hint="call to_conllu() first")
        new_values = {"head": heads, **strings, "misc": misc}
        _check_columns(self.layout, [name for name, values in new_values.items() if values is not None])
        with writing(out) if isinstance(out, (str, Path)) else nullcontext(out) as file:
            if self.bom:
                file.write(BOM)
            file.write(self.header.encode())
            for i, (block, rows) in enumerate(zip(self.blocks, self.rows, strict=True)):
                if heads is not None:
                    if len(heads[i]) != len(rows) + 1:
                        raise ValueError(f"sentence {i}: {len(heads[i])} heads for {len(rows)} words and the root")
                    block = _with_column(
                        block, rows, self.layout.columns["head"], map(str, np.asarray(heads[i])[1:].tolist())
                    )
                for name, values in strings.items():
                    if len(values[i]) != len(rows):
                        raise ValueError(f"sentence {i}: {len(values[i])} values of {name} for {len(rows)} words")
                    block = _with_column(block, rows, self.layout.columns[name], values[i])
                if misc is not None and self.layout.misc is not None:
                    if len(misc[i]) != len(rows):
                        raise ValueError(f"sentence {i}: {len(misc[i])} entries of MISC for {len(rows)} words")
                    old = [block[row].split("\t")[self.layout.misc].rstrip("\r\n") for row in rows]
                    block = _with_column(block, rows, self.layout.misc, map(_merged_misc, old, misc[i]))
                if comments is not None:
                    block = _with_comments(block, comments[i])
                file.write(_encoded("".join(block)))
            file.write("".join(self.tail).encode())

    def to_conllu(self) -> Document:
        """Return the sentences as CoNLL-U without a byte order mark, with an empty line after each sentence.

        CoNLL-U Plus keeps its columns. Returns the document itself if nothing has to be changed.
        """
        if self.layout.comments and not self.bom:
            if all(block[-1] in BLANK for block in self.blocks):
                return self
            closed = [block if block[-1] in BLANK else _closed(block) for block in self.blocks]
            return replace(self, blocks=closed)
        if self.layout.comments:
            return replace(self, bom=False).to_conllu()
        columns = [self.treebank.strings(name) for name in STRING_COLUMNS]
        blocks: list[list[str]] = []
        rows: list[Sequence[int]] = []
        for a, b in zip(self.treebank.offsets[:-1].tolist(), self.treebank.offsets[1:].tolist(), strict=True):
            heads = self.treebank.head[a:b].tolist()
            words = zip(*(column[a:b] for column in columns), heads, strict=True)
            blocks.append([_conllu_line(i, word) for i, word in enumerate(words, 1)] + ["\n"])
            rows.append(range(b - a))
        return Document(self.treebank, blocks, rows, skipped=self.skipped)


def read(
    source: Source,
    format: str | None = None,
    strict: bool = True,
    encoding: str | None = None,
    annotated: bool = True,
    needed: Sequence[str] = (),
) -> Document:
    r"""Read a whole treebank file.

    Parameters
    ----------
    source : str, Path, file, bytes or iterable of lines
        A path, an open file, the bytes of a file, or its lines as bytes or str. A file may be compressed by gzip, bzip2
        or xz.
    format : str, optional
        One of `FORMATS`. By default, the format is detected from the suffix of the name, else from the first
        characters. A first line `# global.columns = ...` means CoNLL-U Plus.
    strict : bool, default True
        Stop at the first malformed line. Otherwise its sentence is skipped and listed in `skipped`.
    encoding : str, optional
        Python's name of the file's encoding, by default UTF-8. It is ignored for XML, which names its encoding. In
        another encoding than UTF-8, an invalid byte always stops the reading.
    annotated : bool, default True
        Require a tree for every sentence. Otherwise heads may be `_`, which are read as NO_HEAD.
    needed : sequence of str
        Columns that a file of CoNLL-U Plus must have, for instance head, deprel or misc. Files in other formats have
        all columns after conversion to CoNLL-U.

    Returns
    -------
    Document
        The treebank, as `document.treebank`, and all lines of the file.

    Raises
    ------
    InputError
        For a file that cannot be read. The message names file, line and reason, and says what to do.

    Notes
    -----
    Time and memory are O(bytes). `stream` reads a large file in parts.

    Examples
    --------
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> text = word(1, "Trees", "NOUN", 2, "nsubj") + word(2, "grow", "VERB", 0, "root") + "\n"
    >>> document = read(text.encode())
    >>> len(document), document.treebank.strings("form"), document.treebank.head.tolist()
    (1, ['Trees', 'grow'], [2, 0])
    """
    parts = list(stream(source, None, format, strict, encoding, annotated, needed))
    return parts[0]


def stream(
    source: Source,
    sentences: int | None,
    format: str | None = None,
    strict: bool = True,
    encoding: str | None = None,
    annotated: bool = True,
    needed: Sequence[str] = (),
) -> Iterator[Document]:
    r"""Read a treebank file in parts, for files that are larger than memory and for pipes.

    Parameters
    ----------
    source, format, strict, encoding, annotated, needed
        As for `read`.
    sentences : int or None
        Largest number of sentences of a part. None reads all sentences as one part.

    Yields
    ------
    Document
        At least one part; it has no sentences if the file is empty. Writing all parts to one file in order reproduces
        the input byte for byte.

    Raises
    ------
    InputError
        As for `read`, when the part with the fault is read.

    Notes
    -----
    Memory is O(bytes of a part).

    Examples
    --------
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> text = word(1, "Trees", "NOUN", 2, "nsubj") + word(2, "grow", "VERB", 0, "root") + "\n"
    >>> [len(part) for part in stream((text * 5).encode(), sentences=2)]
    [2, 2, 1]
    """
    path, lines = open_lines(source)
    with closing(lines) if isinstance(source, (str, Path)) else nullcontext():
        try:
            head, lines = peek(lines)
            bom = False
            if (format or _sniff(path, head)) != "alpino":
                bom, lines = text_lines(lines, "utf-8" if encoding is None else encoding, path)
                head, lines = peek(lines)
            format = format or _sniff(path, head)
            if format not in FORMATS:
                raise InputError(f"unknown format {format!r}", path=path, hint="choose from " + ", ".join(FORMATS))
            skipped: list[Skipped] = []
            context = _Context(path, LAYOUTS.get(format, CONLLU), strict, annotated, bom)
            if format in CONSTITUENTS:
                lines = _CONVERTERS[format](lines, context, skipped)
                context = _Context(path, CONLLU, strict, True, tabular=False)
            elif format == "conllu" and len(head) == 1 and (names := _names(head[0])) is not None:
                context = replace(context, layout=plus(names, path), header=text_of([next(lines)], path)[0])
                _check_columns(context.layout, [*needed, *(["head"] if annotated else [])], path)
            yield from _documents(blocks(lines, 1 + bool(context.header)), sentences, context, skipped)
        except READ_ERRORS as error:
            raise damaged(path, error) from None


@dataclass(frozen=True)
class _Context:
    """Properties of the file that messages and Documents need."""

    path: str
    layout: Layout
    strict: bool
    annotated: bool
    bom: bool = False
    header: str = ""
    tabular: bool = True


def _names(line: bytes) -> tuple[str, ...] | None:
    """Return the columns that the first line of CoNLL-U Plus names, or None for any other line."""
    return column_names(line.decode("utf-8", "replace")) if line.startswith(b"#") else None


def _check_columns(layout: Layout, names: Iterable[str], path: str | None = None) -> None:
    """Raise InputError if the format lacks one of the named columns."""
    available = layout.columns if layout.misc is None else {*layout.columns, "misc"}
    missing = [name.upper() for name in dict.fromkeys(names) if name not in available]
    if missing and not layout.names:
        raise InputError(f"{layout.name} has no {missing[0]} column", path=path, hint="call to_conllu() first")
    if missing:
        hint = f"add {' and '.join(missing)} to `# global.columns` in line 1, and columns of _ to the words"
        reason = f"has no {' and no '.join(missing)} column"
        raise InputError(reason, path=path, line=1 if path else None, hint=hint)


def _sniff(path: str, head: Sequence[bytes]) -> str:
    """Return the format of a file, detected from its name and its first lines."""
    first = head[-1].removeprefix(BOM) if head else b""
    if _names(first) is not None:
        return "conllu"
    suffix = stem_of(path).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    first = first.lstrip()
    formats = {b"(": "brackets", b"<": "alpino"}
    if _NUMBERED.match(first):
        return "sinica"
    return formats.get(first[:1], "auto" if first.startswith(b"ID=") else "conllu")


def _documents(
    parts: Iterable[tuple[int, int, list[bytes]]], sentences: int | None, context: _Context, skipped: list[Skipped]
) -> Iterator[Document]:
    """Yield documents of at most `sentences` sentences from blocks of lines; always at least one document."""
    builder = _Builder(context, skipped)
    yielded = False
    for start, blank, raw in parts:
        if blank == len(raw):
            builder.tail = [line.decode() for line in raw]
            continue
        if sentences is not None and len(builder.blocks) == sentences:
            yield builder.document()
            yielded = True
            builder = _Builder(replace(context, bom=False, header=""), [])
        try:
            block = [line.decode() for line in raw[:blank]] + decode(raw[blank:])
            end = len(block) - (block[-1] in BLANK)
            rows, columns, heads = parse_sentence(block[blank:end], context.layout, context.annotated)
        except Malformed as error:
            line = start + blank + error.offset
            if context.strict:
                raise InputError(error.reason, path=context.path, line=line, hint=error.hint) from None
            builder.skipped.append(Skipped(line, error.reason))
            continue
        if blank:
            rows = [blank + row for row in rows]
        builder.add(block, rows, columns, heads)
    if builder.blocks or builder.tail or builder.skipped or not yielded:
        yield builder.document()


class _Builder:
    """A builder of documents. Strings become ids when a sentence is added, so that a large file is stored once."""

    def __init__(self, context: _Context, skipped: list[Skipped]):
        self.context, self.skipped = context, skipped
        self.blocks: list[list[str]] = []
        self.rows: list[Sequence[int]] = []
        self.tail: list[str] = []
        self.lengths: list[int] = []
        self.heads = array("i")
        self.ids = {name: array("i") for name in STRING_COLUMNS}
        self.index: dict[str, defaultdict[str, int]] = {}
        for name in STRING_COLUMNS:
            index: defaultdict[str, int] = defaultdict()
            index.default_factory = index.__len__  # an unseen string gets the next id
            self.index[name] = index

    def add(self, block: list[str], rows: Sequence[int], columns: list[tuple[str, ...]], heads: list[int]) -> None:
        """Add a sentence: its lines, the offsets of its word lines, its columns and its heads."""
        self.blocks.append(block)
        self.rows.append(rows)
        self.lengths.append(len(heads))
        self.heads.extend(heads)
        for name in STRING_COLUMNS:
            position = self.context.layout.columns.get(name)
            column = columns[position] if position is not None else ("_",) * len(heads)
            self.ids[name].extend(map(self.index[name].__getitem__, column))

    def document(self) -> Document:
        """Return the document of the sentences that were added."""
        offsets = np.zeros(len(self.lengths) + 1, OFFSET)
        np.cumsum(self.lengths, out=offsets[1:])
        treebank = Treebank(
            name=Path(self.context.path).name,
            offsets=offsets,
            columns={name: np.array(ids, INDEX) for name, ids in self.ids.items()},
            vocab={name: Vocabulary(index) for name, index in self.index.items()},
            head=np.array(self.heads, INDEX),
        )
        context = self.context
        return Document(
            treebank,
            self.blocks,
            self.rows,
            context.layout,
            context.bom,
            context.header,
            self.tail,
            self.skipped,
            context.tabular,
        )


def _bracket_sentences(lines: Iterable[bytes], context: _Context, skipped: list[Skipped]) -> Iterator[bytes]:
    """Yield bracketed trees as lines of CoNLL-U. A line that cannot be decoded always stops the reading."""
    for tree in brackets.parse("".join(text_of(lines, context.path))):
        if isinstance(tree, brackets.BadTree):
            if context.strict:
                raise InputError(tree.reason, path=context.path, line=tree.line, hint=tree.hint)
            skipped.append(Skipped(tree.line, tree.reason))
            continue
        for i, word in enumerate(brackets.dependencies(tree), 1):
            yield _conllu_line(i, (word.form, "_", word.tag[:2], word.tag, "_", word.label, word.head)).encode()
        yield b"\n"


def _alpino_sentences(lines: Iterable[bytes], context: _Context, skipped: list[Skipped]) -> Iterator[bytes]:
    """Yield Alpino trees as lines of CoNLL-U. The file names its encoding. Text that is not XML stops the reading."""
    try:
        for tree in alpino.parse(lines):
            if isinstance(tree, alpino.BadTree):
                if context.strict:
                    raise InputError(tree.reason, path=context.path, line=tree.line, hint=tree.hint)
                skipped.append(Skipped(tree.line, tree.reason))
                continue
            for i, word in enumerate(alpino.dependencies(tree), 1):
                row = (word.form, word.root, word.pos, word.pos, "_", word.label, word.head)
                yield _conllu_line(i, row).encode()
            yield b"\n"
    except alpino.UnreadableXml as error:
        hint = "check whether the file is complete"
        raise InputError(error.reason, path=context.path, line=error.line, hint=hint) from None


def _sinica_sentences(lines: Iterable[bytes], context: _Context, skipped: list[Skipped]) -> Iterator[bytes]:
    """Yield trees of the Sinica Treebank as lines of CoNLL-U. A line that cannot be decoded stops the reading."""
    for tree in sinica.parse(text_of(lines, context.path)):
        if isinstance(tree, sinica.BadTree):
            if context.strict:
                raise InputError(tree.reason, path=context.path, line=tree.line, hint=tree.hint)
            skipped.append(Skipped(tree.line, tree.reason))
            continue
        for i, word in enumerate(tree, 1):
            row = (word.form, "_", sinica.coarse(word.tag), word.tag, "_", word.label, word.head)
            yield _conllu_line(i, row).encode()
        yield b"\n"


def _auto_sentences(lines: Iterable[bytes], context: _Context, skipped: list[Skipped]) -> Iterator[bytes]:
    """Yield CCG derivations as lines of CoNLL-U, see `treebanks.ccg.columns`."""
    for number, raw in enumerate(lines, 1):
        try:
            line = decode([raw])[0]
            if not line.strip() or line.startswith("ID="):
                continue
            derivation = from_text(line)
            if any(not is_cell(leaf.word + leaf.tag) for leaf in derivation.leaves()):
                raise ValueError("a word contains a tab, a line end or a NUL, which no column allows")
        except (Malformed, ValueError) as error:
            if context.strict:
                hint = "correct the line or leave it out"
                raise InputError(str(error), path=context.path, line=number, hint=hint) from None
            skipped.append(Skipped(number, str(error)))
            continue
        rows = zip(derivation.leaves(), steps_of(derivation), heads_of(derivation), strict=True)
        for i, (leaf, steps, head) in enumerate(rows, 1):
            row = (leaf.word, "_", leaf.tag[:2], leaf.tag, steps, str(leaf.category), head)
            yield _conllu_line(i, row).encode()
        yield b"\n"


_CONVERTERS = {
    "brackets": _bracket_sentences,
    "alpino": _alpino_sentences,
    "auto": _auto_sentences,
    "sinica": _sinica_sentences,
}


def _conllu_line(i: int, word: Sequence[Any]) -> str:
    """Return the CoNLL-U line of word i from its form, lemma, upos, xpos, feats, deprel and head."""
    form, lemma, upos, xpos, feats, deprel, head = word
    return f"{i}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{'_' if head < 0 else head}\t{deprel}\t_\t_\n"


def _encoded(text: str) -> bytes:
    """Return a text in UTF-8. Raises InputError for a lone surrogate, which UTF-8 does not have."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        reason = f"{text[error.start]!r} cannot be written in UTF-8"
        raise InputError(reason, hint="give labels, tags and comments without surrogates") from None


def _with_column(block: list[str], rows: Sequence[int], position: int, values: Iterable[str]) -> list[str]:
    """Return the lines of a sentence with new values in one column. Raises InputError."""
    block = list(block)
    for row, value in zip(rows, values, strict=True):
        if not is_cell(value):
            raise InputError(f"{value!r} does not fit into a column", hint=HINT)
        fields = block[row].split("\t")
        end = fields[position][len(fields[position].rstrip("\r\n")) :]
        fields[position] = value + end
        block[row] = "\t".join(fields)
    return block


def _merged_misc(old: str, new: Mapping[str, str]) -> str:
    """Return a MISC column with new values for some keys. Other items are kept in their order."""
    if not new:
        return old
    added = [f"{key}={value}" for key, value in new.items()]
    unchanged = [] if old == "_" else [item for item in old.split("|") if item_key(item) not in new]
    if misfits := [item for item in added if "|" in item or " " in item]:
        raise InputError(f"{misfits[0]!r} does not fit into MISC", hint="values have no spaces and no |")
    return "|".join(unchanged + added)


def _with_comments(block: list[str], comments: Sequence[str]) -> list[str]:
    """Return the lines of a sentence with new comments, which replace comments with the same keys."""
    first = next(i for i, line in enumerate(block) if line not in BLANK)
    last = next(i for i in range(first, len(block)) if not block[i].startswith("#"))
    keys = {comment_key(f"#{comment}") for comment in comments} - {None}
    unchanged = [line for line in block[first:last] if comment_key(line) not in keys]
    end = "\r\n" if block[last].endswith("\r\n") else "\n"
    for comment in comments:
        if not is_line(comment):
            raise InputError(f"comment {comment!r} is not one line", hint="comments have no line ends and no NUL")
    return block[:first] + unchanged + [f"# {comment}{end}" for comment in comments] + block[last:]


def comment_key(line: str) -> str | None:
    """Return the key of a comment `# key = value`, or None for other comments. Strips only spaces and tabs."""
    key, equals, _ = line[1:].partition("=")
    return key.strip(" \t") if equals else None


def item_key(item: str) -> str | None:
    """Return the key of an item `Key=value` of MISC, or None for other items."""
    key, equals, _ = item.partition("=")
    return key if equals else None


def _closed(block: list[str]) -> list[str]:
    """Return the lines of a sentence followed by an empty line, which the end of a file may lack."""
    end = "\r\n" if block[0].endswith("\r\n") else "\n"
    last = block[-1] if block[-1].endswith("\n") else block[-1] + end
    return [*block[:-1], last, end]


def concatenate(documents: Sequence[Document]) -> Document:
    """Concatenate documents into one CoNLL-U document. Raises ValueError if there are no documents."""
    if not documents:
        raise ValueError("nothing to concatenate")
    parts = [document.to_conllu() for document in documents]
    if len(parts) == 1:
        return parts[0]
    joined = io.BytesIO()
    for part in parts:
        replace(part, tail=[]).write(joined)
    joined.seek(0)
    result = read(joined, "conllu")
    return replace(result, skipped=[s for part in parts for s in part.skipped])
