"""Reading and writing treebank files: a `Treebank` and all that surrounds it, so that files are written byte for byte.

Whole files or pipes, tabular formats or trees of constituents (Penn brackets, Alpino XML,
Sinica Treebank):

    document = read("en_ewt-ud-dev.conllu")
    document.treebank                                   # the columns that parsers see
    document.write("parsed.conllu", heads=heads)        # comments, multiword tokens, empty nodes as they were
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

#: tabular formats by the name that `read` takes; the other formats hold constituents
LAYOUTS: dict[str, Layout] = {"conllu": CONLLU, "conllx": CONLLX, "conll08": CONLL08}
CONSTITUENTS = ("brackets", "alpino", "auto", "sinica")
FORMATS = (*LAYOUTS, *CONSTITUENTS)
#: sources of a treebank: a path, an open file, the bytes of a file, or lines
Source = str | Path | BinaryIO | TextIO | bytes | Iterable[bytes] | Iterable[str]

_NUMBERED = re.compile(rb"#\d+:\S*\.\[\d*\] ")  #: begins a line of the Sinica Treebank
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
    """A malformed sentence that lenient reading left out: where and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class Document:
    """Some sentences of a file, with all its lines.

    treebank  what parsers see
    blocks    per sentence its lines, line ends included: comments before it and the empty line after it
    rows      per sentence the offsets of its word lines within the block
    layout    the format's, for writing; constituents are turned into CoNLL-U when they are read
    bom       whether a byte order mark of UTF-8 stood in the file and is written
    header    the line `# global.columns = ...` of CoNLL-U Plus, which is written before the sentences
    tail      empty lines at the end that belong to no sentence
    skipped   what lenient reading left out
    tabular   whether the lines are those of the file; those of constituents were made of them
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
        """The sentences whose trees have more than one root."""
        if not len(self):
            return []
        roots = np.add.reduceat(self.treebank.head == 0, self.treebank.offsets[:-1], dtype=np.int64)
        return [int(i) for i in np.flatnonzero(roots > 1)]

    def line(self, i: int) -> int | None:
        """The line of the first word of sentence i in the file, from 1; None where trees of constituents were read.

        Of a document that was read as a whole. O(i).
        """
        if not self.tabular or self.skipped:
            return None
        return sum(map(len, self.blocks[:i])) + self.rows[i][0] + 1 + bool(self.header)

    def misc(self) -> list[list[str]] | None:
        """Return the column MISC of each word of each sentence; None where the format has no such column."""
        place = self.layout.misc
        if place is None:
            return None
        pairs = zip(self.blocks, self.rows, strict=True)
        return [[block[row].split("\t")[place].rstrip("\r\n") for row in rows] for block, rows in pairs]

    def select(self, indices: Iterable[int]) -> Document:
        """The sentences with these indices, in this order."""
        keep = [int(i) for i in indices]
        return replace(
            self,
            treebank=self.treebank.select(np.array(keep, np.int64)),
            blocks=[self.blocks[i] for i in keep],
            rows=[self.rows[i] for i in keep],
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
        """Write the sentences in UTF-8; what is not given stays byte for byte as it was read, if that was UTF-8.

        out       a path, replaced as a whole and compressed if it ends in .gz, .bz2 or .xz; or a binary file (also
                  `sys.stdout.buffer`), appended to
        heads     per sentence int[n + 1], as decoders return them (entry 0 is the root's and is ignored)
        labels    per sentence n strings, for DEPREL
        comments  per sentence lines `key = value`; one with the same key is replaced, others go after the last comment
        misc      per sentence n mappings, for MISC: `key=` that is there is replaced, others go to the end
        columns   name of a string column (for instance xpos) -> per sentence n strings

        Raises InputError where the file cannot be written, a label or comment does not fit into one field or line, or
        the format has no comments, MISC or such a column; ValueError where lengths do not match.
        """
        strings = dict(columns or {}) | ({"deprel": labels} if labels is not None else {})
        for name, given in (("heads", heads), ("comments", comments), ("misc", misc), *strings.items()):
            if given is not None and len(given) != len(self):
                raise ValueError(f"{len(given)} {name} for {len(self)} sentences")
        if comments is not None and not self.layout.comments:
            raise InputError(f"{self.layout.name} has no comments", hint="call to_conllu() first")
        written = {"head": heads, **strings, "misc": misc}
        _check_columns(self.layout, [name for name, values in written.items() if values is not None])
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
        """Return the same sentences as CoNLL-U without a byte order mark, with an empty line after each.

        CoNLL-U Plus keeps its columns. Returns the document itself where nothing is to be changed.
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
    r"""Read a whole file.

    source     a path, an open file, the bytes of a file, or lines as bytes or str; a file may be compressed by gzip,
               bzip2 or xz
    format     one of FORMATS; by default told from the name, else from the first character. A first line
               `# global.columns = ...` makes CoNLL-U Plus of CoNLL-U
    strict     stop at the first malformed line; else skip its sentence and list it in `skipped`
    encoding   encoding of the bytes, by Python's name; UTF-8 by default. XML names its own. A byte that is not in
               another encoding than UTF-8 stops the reading, strict or not
    annotated  every sentence must have a tree; else heads may be `_` (and are then NO_HEAD)
    needed     columns that a file of CoNLL-U Plus must have, such as head, deprel, misc; other formats have them all
               once they are CoNLL-U

    Raises InputError naming file, line, reason and what to do. Time and space O(bytes).

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
    """Read at most `sentences` sentences at a time, as `read` does otherwise; None: all at once.

    Writing all parts to one file in turn gives the input byte for byte. There is always at least one part, which has no
    sentences where the file is empty.
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
    """What a message or a Document must know about the file."""

    path: str
    layout: Layout
    strict: bool
    annotated: bool
    bom: bool = False
    header: str = ""
    tabular: bool = True


def _names(line: bytes) -> tuple[str, ...] | None:
    """Return the columns that a first line names; None if it names none."""
    return column_names(line.decode("utf-8", "replace")) if line.startswith(b"#") else None


def _check_columns(layout: Layout, names: Iterable[str], path: str | None = None) -> None:
    """Raise InputError for columns that the format does not have."""
    has = layout.columns if layout.misc is None else {*layout.columns, "misc"}
    missing = [name.upper() for name in dict.fromkeys(names) if name not in has]
    if missing and not layout.names:
        raise InputError(f"{layout.name} has no {missing[0]} column", path=path, hint="call to_conllu() first")
    if missing:
        hint = f"add {' and '.join(missing)} to `# global.columns` in line 1, and columns of _ to the words"
        reason = f"has no {' and no '.join(missing)} column"
        raise InputError(reason, path=path, line=1 if path else None, hint=hint)


def _sniff(path: str, head: Sequence[bytes]) -> str:
    first = head[-1].removeprefix(BOM) if head else b""
    if _names(first) is not None:
        return "conllu"
    suffix = stem_of(path).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    first = first.lstrip()
    known = {b"(": "brackets", b"<": "alpino"}
    if _NUMBERED.match(first):
        return "sinica"
    return known.get(first[:1], "auto" if first.startswith(b"ID=") else "conllu")


def _documents(
    parts: Iterable[tuple[int, int, list[bytes]]], sentences: int | None, context: _Context, skipped: list[Skipped]
) -> Iterator[Document]:
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
    """Collects sentences; strings become ids at once, so that a large file is held only once."""

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
        self.blocks.append(block)
        self.rows.append(rows)
        self.lengths.append(len(heads))
        self.heads.extend(heads)
        for name in STRING_COLUMNS:
            position = self.context.layout.columns.get(name)
            column = columns[position] if position is not None else ("_",) * len(heads)
            self.ids[name].extend(map(self.index[name].__getitem__, column))

    def document(self) -> Document:
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
    """Bracketed trees as lines of CoNLL-U. A line that is not text stops the reading, lenient or not."""
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
    """Alpino trees as lines of CoNLL-U. The file says its encoding; where it is not XML the reading stops."""
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
        hint = "is the file whole?"
        raise InputError(error.reason, path=context.path, line=error.line, hint=hint) from None


def _sinica_sentences(lines: Iterable[bytes], context: _Context, skipped: list[Skipped]) -> Iterator[bytes]:
    """Return trees of the Sinica Treebank as lines of CoNLL-U. A line that is not text stops the reading."""
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
    """Derivations of CCG as lines of CoNLL-U, see `treebanks.ccg.columns`."""
    for number, raw in enumerate(lines, 1):
        try:
            line = decode([raw])[0]
            if not line.strip() or line.startswith("ID="):
                continue
            derivation = from_text(line)
            if any(not is_cell(leaf.word + leaf.tag) for leaf in derivation.leaves()):
                raise ValueError("a word holds a tab, a line end or a NUL, which no column can")
        except (Malformed, ValueError) as error:
            if context.strict:
                hint = "correct it or leave it out"
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
    """One line from form, lemma, upos, xpos, feats, deprel (STRING_COLUMNS) and head."""
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
    """Return a MISC column with other values of some keys. All other items stay as they are, in their order."""
    if not new:
        return old
    added = [f"{key}={value}" for key, value in new.items()]
    kept = [] if old == "_" else [item for item in old.split("|") if item_key(item) not in new]
    if bad := [item for item in added if "|" in item or " " in item]:
        raise InputError(f"{bad[0]!r} does not fit into MISC", hint="values have no spaces and no |")
    return "|".join(kept + added)


def _with_comments(block: list[str], comments: Sequence[str]) -> list[str]:
    first = next(i for i, line in enumerate(block) if line not in BLANK)
    last = next(i for i in range(first, len(block)) if not block[i].startswith("#"))
    keys = {comment_key(f"#{comment}") for comment in comments} - {None}
    kept = [line for line in block[first:last] if comment_key(line) not in keys]
    end = "\r\n" if block[last].endswith("\r\n") else "\n"
    for comment in comments:
        if not is_line(comment):
            raise InputError(f"comment {comment!r} is not one line", hint="comments have no line ends and no NUL")
    return block[:first] + kept + [f"# {comment}{end}" for comment in comments] + block[last:]


def comment_key(line: str) -> str | None:
    """Return the key of a comment `# key = value`, None of other comments. Blanks are those of ASCII."""
    key, equals, _ = line[1:].partition("=")
    return key.strip(" \t") if equals else None


def item_key(item: str) -> str | None:
    """Return the key of an item `Key=value` of MISC, None of other items."""
    key, equals, _ = item.partition("=")
    return key if equals else None


def _closed(block: list[str]) -> list[str]:
    """The block with an empty line at its end (a file may lack its last one)."""
    end = "\r\n" if block[0].endswith("\r\n") else "\n"
    last = block[-1] if block[-1].endswith("\n") else block[-1] + end
    return [*block[:-1], last, end]


def concatenate(documents: Sequence[Document]) -> Document:
    """One CoNLL-U document of the sentences of several, in order. Raises ValueError where there are none."""
    if not documents:
        raise ValueError("nothing to concatenate")
    parts = [document.to_conllu() for document in documents]
    if len(parts) == 1:
        return parts[0]
    joined = io.BytesIO()
    for part in parts:
        replace(part, tail=[]).write(joined)
    joined.seek(0)
    whole = read(joined, "conllu")
    return replace(whole, skipped=[s for part in parts for s in part.skipped])
