"""What several commands share: options, and files that are checked before they are read or written."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from treebound.core.errors import InputError
from treebound.support.progress import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from treebound.checker.proofs import Of
    from treebound.treebanks.document import Document

COMPILING = 5.0  #: seconds between two lines that tell how long a compilation has taken


def tell_compiling() -> None:
    """Tell that kernels are compiled, once per machine, and every COMPILING seconds for how long so far."""
    from treebound.support.jit.cache import compiled_one

    say("compiling, once per machine: half a minute or more")
    started = told = time.monotonic()

    def tell() -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= COMPILING:
            told = now
            say(f"compiling: {now - started:.0f} s so far")

    compiled_one.append(tell)


DataDir = Annotated[Path, typer.Option(help="Folder for fetched and converted corpora.")]

CorpusPath = Annotated[
    str | None, typer.Option(help="Folder of a corpus that you have a licence for. [default: the catalogue's source]")
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write, compressed if its name ends in .gz, .bz2 or .xz; - for standard output. [default: "
        "standard output]",
    ),
]

Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Encoding of the input, by its name in Python: cp1252, utf-16, gb18030 ... Output is always UTF-8.",
    ),
]

Threshold = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Of the k heads of a word, keep those at least so many times as probable as the best one; 0: all. "
        "[default: as in training]",
    ),
]
Beams = Annotated[
    str, typer.Option(help="Beams of the supertagger, beta:k, tried in order, by commas; model: as in training.")
]

Limit = Annotated[int, typer.Option(min=0, max=50_000_000, help="Edges of the largest chart; 0: as in training.")]

Workers = Annotated[int, typer.Option(min=1, max=1024, help="Processes on this machine; results do not depend on it.")]

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786. [default: this machine]"
    ),
]

Margins = Annotated[
    bool,
    typer.Option(
        "--margins",
        help="Write TreeboundMargin= into MISC: the score difference between the best tree and the best tree without "
        "this arc. [default: none]",
    ),
]

Marginals = Annotated[
    bool,
    typer.Option(
        "--marginals", help="Write TreeboundMarginal= into MISC: the probability of the word's arc. [default: none]"
    ),
]

MANY = 1_000_000_000  #: more than this of anything is a mistake, and does not fit into what kernels count with


def derives(parser: Any) -> bool:
    """Whether a parser makes CCG derivations."""
    return getattr(parser, "derives", False)


def proofs_of(parser: Any) -> Of:
    """What its proofs are about."""
    return "derivations" if derives(parser) else parser.decoder.space


def read_document(path: Path, annotated: bool = True, encoding: str = "utf-8", needed: Sequence[str] = ()) -> Document:
    """Read a treebank of any known format, - for standard input; `needed` are columns that it must have."""
    from treebound.treebanks.document import read

    source = sys.stdin.buffer if str(path) == "-" else path
    return read(source, annotated=annotated, encoding=encoding, needed=needed)


def choose(kind: str, given: tuple[str, ...], valid: tuple[str, ...]) -> None:
    """InputError for a name that is none of the valid ones."""
    for name in given:
        if name not in valid:
            raise InputError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(filter(None, valid)))


def heads(k: str) -> int | None:
    """A number of heads that the pruner keeps, None for all."""
    if k == "none":
        return None
    if not k.isdecimal() or len(k) > 7 or not 1 <= int(k) <= 1_000_000:
        raise InputError(f"k is {k[:30]!r}", hint="give a number from 1, none or model")
    return int(k)


def pruning(k: str, threshold: float | None) -> dict[str, Any]:
    """Those of a graph-based parser's candidate heads that are given."""
    if threshold is not None:
        finite("threshold", threshold)
    return ({} if k == "model" else {"k": heads(k)}) | ({} if threshold is None else {"threshold": threshold})


def chart_options(beams: str, limit: int) -> dict[str, Any]:
    """Those of a CCG parser that are given."""
    from treebound.support.settings import split

    return ({} if beams == "model" else {"beams": split(beams)}) | ({"limit": limit} if limit else {})


def finite(name: str, number: float) -> None:
    """InputError for what is none."""
    if not abs(number) <= 1e300:  # nan is not
        raise InputError(f"{name} is {number}", hint="give a finite number")


def files_read(files: list[Path] | None) -> list[Path | None]:
    """Files to read, None for standard input."""
    return [None if str(path) == "-" else path for path in files or [Path("-")]]


def check_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Fail now rather than after an hour of work: outputs can be written, and overwrite nothing that is read.

    None, or a path `-` among the outputs, stands for a standard stream.
    """
    from treebound.support.atomic import check_distinct, check_writable

    outputs = [None if is_standard(path) else path for path in outputs]
    if outputs.count(None) > 1:
        raise InputError("two outputs go to standard output", hint="name a file for one of them")
    check_distinct(inputs, outputs)
    for path in outputs:
        if path is not None:
            check_writable(path)


def is_standard(path: Path | None) -> bool:
    """Whether an output is standard output: none is named, or -."""
    return path is None or str(path) == "-"


def check_binary(path: Path, what: str, compressed: bool = False) -> None:
    """Raise InputError where a file of arrays would be written to standard output, or under a name that misleads.

    what        the content of the file, for the message
    compressed  whether the content may be compressed as the name says
    """
    from treebound.support.compression import suffix_of

    if is_standard(path):
        raise InputError(f"{what} cannot go to standard output", path=path, hint="name a file")
    if suffix_of(path) and not compressed:
        hint = "name it without this ending, for instance .npz"
        raise InputError(f"{what} is not compressed in the way of {path.suffix}", path=path, hint=hint)


@contextmanager
def output_file(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that appears when it is complete, compressed if its name says so."""
    from treebound.support.compression import writing

    with nullcontext(sys.stdout.buffer) if path is None or is_standard(path) else writing(path) as file:
        yield file
        file.flush()  # a full disk shows here


def sentences_in(lines: Iterable[bytes], encoding: str, name: str) -> int:
    """Return the number of sentences of a tabular file: blocks of lines between empty lines."""
    from treebound.treebanks.lines import text_lines

    number, ended = 0, True
    for line in text_lines(lines, encoding, name)[1]:
        blank = line == b"\n" or line == b"\r\n"
        number += ended and not blank
        ended = blank
    return number
