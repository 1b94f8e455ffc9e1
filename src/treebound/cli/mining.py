"""The command `mine`, which lists annotations that are perhaps wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from treebound.cli.common import (
    MANY,
    SPACES,
    Encoding,
    Workers,
    check_files,
    choose,
    is_standard,
    output_file,
    read_document,
    report_compiling,
)
from treebound.cli.groups import Group, grouped
from treebound.core.errors import InputError
from treebound.support.progress import over, say

if TYPE_CHECKING:
    from treebound.mining.mine import Mined
    from treebound.mining.suspects import Suspect
    from treebound.treebanks.document import Document

#: formats of the output, chosen by the ending of the file name
ENDINGS = (".tsv", ".conllu", ".html")


@dataclass(frozen=True)
class Judges(Group):
    """Options that choose the models whose trees are compared with the annotation."""

    SECTION = "Models that judge the annotation"
    folds: Annotated[
        int,
        typer.Option(
            min=2,
            max=1000,
            help="Divide TREEBANK into this many folds. Each fold is parsed by a model that is trained on the others.",
        ),
    ] = 5
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Train one model on this corrected treebank, and parse all of TREEBANK with it. Repeat the option for "
            "several files. [default: train on the folds of TREEBANK]",
        ),
    ] = None
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Parse TREEBANK with this graph-based model, and train no model. The model must not be trained on "
            "sentences of TREEBANK. [default: train on the folds of TREEBANK]",
        ),
    ] = None
    space: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: list(SPACES),
            help="Trees of the models: projective, which lists crossing arcs as suspects, or non-projective, which "
            "allows them and is slower.",
        ),
    ] = "projective"
    families: Annotated[
        str | None,
        typer.Option(
            help='Factor families of the models beside arcs, separated by commas; "" for arcs alone. [default: the '
            "families of `treebound train`]"
        ),
    ] = None
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of passes over the training sentences. [default: the value of `treebound train`]"
        ),
    ] = None
    bits: Annotated[
        int | None,
        typer.Option(min=12, max=28, help="Base-2 logarithm of the number of weights. [default: 22]"),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the order of the training sentences.")] = 1

    def training(self) -> dict[str, Any]:
        """Return the settings of training that the command line names."""
        from treebound.support.settings import split

        choose("space", (self.space,), SPACES)
        named = {"families": self.families, "epochs": self.epochs, "bits": self.bits, "seed": self.seed}
        settings = {name: split(value) for name, value in named.items() if value is not None}
        return settings | ({} if self.space == "projective" else {"space": self.space})


@dataclass(frozen=True)
class Listing(Group):
    """Options for the kinds and the number of the listed suspects."""

    SECTION = "Contents of the list"
    kinds: Annotated[
        str,
        typer.Option(
            help="Kinds of suspects, separated by commas: head, label. The kind label has only words whose head is not "
            "a suspect."
        ),
    ] = "head,label"
    tags: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="List suspect tags of this column as well: upos or xpos. [default: no tags]"
        ),
    ] = None
    top: Annotated[
        int,
        typer.Option(min=0, max=MANY, metavar="N", help="Write the first N suspects of the ranked list. 0 writes all."),
    ] = 0


@grouped
def mine(
    treebanks: Annotated[
        list[Path], typer.Argument(metavar="TREEBANK", help="Annotated treebank, of one or several files.")
    ],
    judges: Judges,
    listing: Listing,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the list to this file: a table (.tsv), a page for the browser (.html), or the treebank with "
            "marks in MISC (.conllu). Repeat the option for several files. - writes the table to standard output. "
            "[default: standard output]",
        ),
    ] = None,
    accept: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Correct TREEBANK instead of mining it: write it with the proposals of this table that have an x in "
            "the column accept. [default: mine the treebank]",
        ),
    ] = None,
    workers: Workers = 1,
    encoding: Encoding = "utf-8",
) -> None:
    """List annotations that are perhaps wrong.

    The most suspect one comes first. Every sentence is parsed by a model that was not trained on it. A word is a
    suspect if the best tree gives it another head or label than the annotation. Its margin is the score of the best
    tree minus the score of the best tree that keeps the annotated head and label of the word; both trees are proved to
    be optimal. Suspects are ranked by the margin divided by the square root of the number of words whose heads differ
    between the two trees. If the command is killed, the same command continues from the work files in the folder
    .OUTPUT.mine beside the first output.

    \b
    Examples:
    treebound mine treebank.conllu -o suspects.tsv -o suspects.html --workers 2
    treebound mine old.conllu --reference corrected.conllu -o suspects.tsv
    treebound mine --accept suspects.tsv treebank.conllu -o corrected.conllu
    """
    outputs = output or [Path("-")]
    tags = listing.tags or ""
    choose("column", (tags,), ("", "upos", "xpos"))
    named = [path for path in (judges.model, accept) if path is not None]
    check_files([*treebanks, *(judges.reference or []), *named], outputs)
    if accept is not None:
        _accept(accept, _read(treebanks, encoding), outputs, tags or "upos")
        return
    writers = [(path, _ending(path)) for path in outputs]
    document = _read(treebanks, encoding)
    mined = _mine(document, judges, listing, (treebanks[0], outputs, encoding), workers)
    for remark in mined.remarks:
        say(f"{treebanks[0]}: {remark}")
    suspects = _with_variation(mined.suspects[: listing.top or None], document, tags or "upos")
    for path, ending in writers:
        with output_file(path) as file:
            _writer(ending)(file, document, suspects, mined, treebanks[0].name)
    say(f"{treebanks[0]}: {mined.report}")


def _mine(
    document: Document, judges: Judges, listing: Listing, files: tuple[Path, list[Path], str], workers: int
) -> Mined:
    """Return the suspects of a document.

    files  the name of the treebank, the outputs, and the encoding of all input
    """
    from treebound.mining.mine import mine as mine_document
    from treebound.mining.settings import Settings
    from treebound.support.settings import read
    from treebound.systems import training

    name, outputs, encoding = files
    settings = read(Settings, {"folds": judges.folds, "kinds": listing.kinds, "tags": listing.tags or ""})
    reference = [read_document(path, encoding=encoding).treebank for path in judges.reference or []]
    if judges.model is None and training.compiles(training.recipe({"system": "graph"})):
        report_compiling()
    try:
        with _work_folder(outputs) as folder:
            return mine_document(
                document,
                settings,
                training=judges.training(),
                reference=reference,
                model=judges.model,
                folder=folder,
                workers=workers,
                progress=over,
            )
    except InputError as error:
        if error.path != document.treebank.name:
            raise
        raise InputError(error.reason, path=name, line=error.line, hint=error.hint) from None


def _read(treebanks: Sequence[Path], encoding: str) -> Document:
    """Read annotated treebanks as one document."""
    from treebound.treebanks.document import concatenate

    documents = [read_document(path, encoding=encoding) for path in treebanks]
    if len(documents) == 1:
        return documents[0]
    whole = concatenate(documents)
    return replace(whole, treebank=replace(whole.treebank, name=treebanks[0].name))


@contextmanager
def _work_folder(outputs: Sequence[Path]) -> Iterator[Path | None]:
    """Make the folder of the work files beside the first output; None if all output goes to standard output."""
    files = [path for path in outputs if not is_standard(path)]
    if not files:
        yield None
        return
    folder = files[0].absolute().with_name(f".{files[0].name}.mine")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = f"the folder for work files cannot be made: {error.strerror}"
        raise InputError(reason, path=folder, hint="name another output") from None
    yield folder
    if not any(folder.iterdir()):
        folder.rmdir()


def _ending(path: Path) -> str:
    """Return the ending that names the format of an output. Raises InputError for an unknown ending."""
    from treebound.support.compression import stem_of

    ending = ".tsv" if is_standard(path) else stem_of(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            "the ending names no known format", path=path, hint=f"name a file that ends in {', '.join(ENDINGS)}"
        )
    return ending


def _writer(ending: str) -> Callable[[BinaryIO, Document, list[Suspect], Mined, str], None]:
    """Return the function that writes suspects in a format."""
    from treebound.mining import output

    if ending == ".tsv":
        return lambda file, document, suspects, mined, title: output.write_tsv(file, suspects)
    if ending == ".conllu":
        return lambda file, document, suspects, mined, title: output.write_conllu(file, document, suspects)
    from treebound.mining.page import write_page

    return lambda file, document, suspects, mined, title: write_page(file, document, suspects, mined.trees, title)


def _with_variation(suspects: list[Suspect], document: Document, tag_column: str) -> list[Suspect]:
    """Add to each suspect how often its construction occurs elsewhere, and how often with another annotation."""
    from treebound.mining.variation import with_variation

    return with_variation(suspects, document.treebank, tag_column=tag_column)


def _accept(table: Path, document: Document, outputs: list[Path], tag_column: str) -> None:
    """Write a treebank with the accepted proposals of a table, and report every change."""
    from treebound.mining.accept import accept
    from treebound.mining.output import read_tsv

    if len(outputs) > 1:
        raise InputError("--accept writes one file", path=outputs[1], hint="name one output")
    rows = read_tsv(table)
    with output_file(outputs[0]) as file:
        changes = accept(document, rows, file, tag_column=tag_column)
    for change in changes:
        say(change)
    say(f"{table}: {len(changes):,} of {len(rows):,} proposals accepted")
