"""Options that several commands have, and checks of files before they are read or written."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, get_args

import typer

from treebound.core.errors import InputError
from treebound.core.spaces import Space
from treebound.support.progress import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from treebound.checker.proofs import Of
    from treebound.treebanks.document import Document

COMPILING = 5.0  #: seconds between two progress lines of a compilation


def report_compiling() -> None:
    """Report that kernels are being compiled, and every COMPILING seconds how long it has taken so far."""
    from treebound.support.jit.cache import compiled_one

    say("compiling, once per machine: half a minute or more")
    started = reported = time.monotonic()

    def report() -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= COMPILING:
            reported = now
            say(f"compiling: {now - started:.0f} s so far")

    compiled_one.append(report)


DataDir = Annotated[Path, typer.Option(help="Folder that holds the downloaded and the converted corpora.")]

CorpusPath = Annotated[
    str | None,
    typer.Option(
        help="Read the corpus from this folder, for instance a corpus that you have a licence for. [default: download "
        "from the source in the catalogue]"
    ),
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the result to this file. It is compressed if its name ends in .gz, .bz2 or .xz. - writes to "
        "standard output. [default: standard output]",
    ),
]

Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Encoding of the input files, as Python names it: utf-8, cp1252, utf-16, gb18030, ... Output is always "
        "UTF-8.",
    ),
]

Threshold = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Drop a candidate head if its probability is below this fraction of the best head's probability. 0 "
        "keeps all candidates. [default: the value used in training]",
    ),
]
Beams = Annotated[
    str,
    typer.Option(
        metavar="BEAMS",
        help="Beams of the supertagger, as a list of beta:k separated by commas. The parser tries them in order "
        "until it finds a derivation. model uses the beams that the training settings name.",
    ),
]

Limit = Annotated[
    int,
    typer.Option(min=0, max=50_000_000, help="Give up a chart with more edges than this. 0 uses the training limit."),
]

Workers = Annotated[
    int, typer.Option(min=1, max=1024, help="Number of worker processes. The output does not depend on it.")
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on the workers of the Dask scheduler at this address, for instance tcp://HOST:8786. [default: run on "
        "this machine]",
    ),
]

Margins = Annotated[
    bool,
    typer.Option(
        "--margins",
        help="Write TreeboundMargin= into MISC: the score difference between the best tree and the best tree without "
        "this arc. [default: no margins]",
    ),
]

Marginals = Annotated[
    bool,
    typer.Option(
        "--marginals",
        help="Write TreeboundMarginal= into MISC: the probability of the word's arc. [default: no marginals]",
    ),
]


def decoder_names() -> list[str]:
    """Return the names of all decoders, for completion in the shell."""
    from treebound.decoders import DECODERS

    return list(DECODERS)


SPACES: tuple[Space, ...] = get_args(Space)
MANY = 1_000_000_000  #: largest count that an option accepts; larger ones overflow the counters of the kernels


def derives(parser: Any) -> bool:
    """Return whether a parser makes CCG derivations."""
    return getattr(parser, "derives", False)


def proofs_of(parser: Any) -> Of:
    """Return the objects that a parser's proofs are about: "derivations", or the name of the tree space."""
    return "derivations" if derives(parser) else parser.decoder.space


def read_document(path: Path, annotated: bool = True, encoding: str = "utf-8", needed: Sequence[str] = ()) -> Document:
    """Read a treebank of any known format. A path `-` is standard input.

    needed  columns that the treebank must have
    """
    from treebound.treebanks.document import read

    source = sys.stdin.buffer if str(path) == "-" else path
    return read(source, annotated=annotated, encoding=encoding, needed=needed)


def choose(kind: str, names: tuple[str, ...], valid: tuple[str, ...]) -> None:
    """Raise InputError if one of `names` is not in `valid`; `kind` is the noun for the names in the message."""
    for name in names:
        if name not in valid:
            raise InputError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(filter(None, valid)))


def heads(k: str) -> int | None:
    """Parse the value of --k: a number of candidate heads, or `none` for all, which returns None."""
    if k == "none":
        return None
    if not k.isdecimal() or len(k) > 7 or not 1 <= int(k) <= 1_000_000:
        raise InputError(f"k is {k[:30]!r}", hint="give a positive number, none or model")
    return int(k)


def pruning(k: str, threshold: float | None) -> dict[str, Any]:
    """Return the keyword arguments of a graph-based parser for --k and --threshold."""
    if threshold is not None:
        finite("threshold", threshold)
    return ({} if k == "model" else {"k": heads(k)}) | ({} if threshold is None else {"threshold": threshold})


def chart_options(beams: str, limit: int) -> dict[str, Any]:
    """Return the keyword arguments of a CCG parser for --beams and --limit."""
    from treebound.support.settings import split

    return ({} if beams == "model" else {"beams": split(beams)}) | ({"limit": limit} if limit else {})


def finite(name: str, number: float) -> None:
    """Raise InputError unless a number is finite."""
    if not abs(number) <= 1e300:  # the comparison is false for nan
        raise InputError(f"{name} is {number}", hint="give a finite number")


def files_read(files: list[Path] | None) -> list[Path | None]:
    """Return the files to read, with None for standard input."""
    return [None if str(path) == "-" else path for path in files or [Path("-")]]


def check_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Check before any work that all outputs can be written and that no output overwrites an input.

    None and the path `-` are standard streams. Raises InputError.
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
    """Return whether an output is standard output: no path, or the path `-`."""
    return path is None or str(path) == "-"


def check_binary(path: Path, content: str, compressed: bool = False) -> None:
    """Raise InputError if a binary file would go to standard output, or wrongly has the ending of a compressed file.

    content     description of the content, for the message
    compressed  True if the file is compressed as the ending of its name says; then every ending is valid
    """
    from treebound.support.compression import suffix_of

    if is_standard(path):
        raise InputError(f"{content} cannot go to standard output", path=path, hint="name a file")
    if suffix_of(path) and not compressed:
        hint = "name it without this ending, for instance .npz"
        raise InputError(f"{content} cannot be compressed as {path.suffix}", path=path, hint=hint)


@contextmanager
def output_file(path: Path | None) -> Iterator[BinaryIO]:
    """Open an output: standard output, or a file that appears when it is complete, compressed as its name says."""
    from treebound.support.compression import writing

    with nullcontext(sys.stdout.buffer) if path is None or is_standard(path) else writing(path) as file:
        yield file
        file.flush()  # raises here if the disk is full


def sentences_in(lines: Iterable[bytes], encoding: str, name: str) -> int:
    """Return the number of sentences of a tabular file: blocks of lines between empty lines."""
    from treebound.treebanks.lines import text_lines

    number, ended = 0, True
    for line in text_lines(lines, encoding, name)[1]:
        blank = line == b"\n" or line == b"\r\n"
        number += ended and not blank
        ended = blank
    return number
