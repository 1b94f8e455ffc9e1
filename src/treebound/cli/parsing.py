"""Commands that annotate sentences."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from treebound.cli.common import (
    MANY,
    Beams,
    Encoding,
    Limit,
    Marginals,
    Margins,
    Output,
    Scheduler,
    Threshold,
    Workers,
    chart_options,
    check_binary,
    check_files,
    choose,
    derives,
    files_read,
    finite,
    output_file,
    proofs_of,
    pruning,
    sentences_in,
)
from treebound.core.errors import InputError
from treebound.support.progress import counting, say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from treebound.cli.annotate import Written
    from treebound.treebanks.document import Document

PROVING = ("branch-and-bound", "dual-decomposition", "ad3")  #: decoders that leave a proof
BATCH = 100  #: sentences that a worker is given at a time


def parse(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files; standard input if none or -.")] = None,
    output: Output = None,
    decoder: Annotated[
        str, typer.Option(help="branch-and-bound, or another registered one to compare with, as ilp.")
    ] = "branch-and-bound",
    config: Annotated[
        str, typer.Option(help="Of branch-and-bound: tuned, or published: the bound of the paper, slower.")
    ] = "tuned",
    k: Annotated[
        str, typer.Option(help="Heads kept for each word: a number, none, or model: as in training.")
    ] = "model",
    threshold: Threshold = None,
    max_dp_calls: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Dynamic programs for a sentence, which is not proved where they do not do; 0: no limit.",
        ),
    ] = 0,
    beam: Annotated[
        int, typer.Option(min=0, max=1024, help="Of a transition model: sequences in the beam; 0: as in training.")
    ] = 0,
    beams: Beams = "model",
    limit: Limit = 0,
    integrate: Annotated[
        str,
        typer.Option(
            help="Of a CCG model: parse with the supertagger's scores, too: bp (belief propagation), dd (dual "
            "decomposition), exact (search with a proof), or none."
        ),
    ] = "none",
    iterations: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="Of that; 0: 1 of bp, 25 of dd, 50 in a node of exact.")
    ] = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    encoding: Encoding = "utf-8",
    margins: Margins = False,
    marginals: Marginals = False,
    scale: Annotated[
        float,
        typer.Option(
            min=0.0, help="Probabilities go as exp(scale * score / unit), see above; less makes them flatter."
        ),
    ] = 1.0,
    kbest: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Write the N best trees, with their scores, as a comment treebound_kbest. 0 writes none.",
        ),
    ] = 0,
    certificates: Annotated[
        Path | None,
        typer.Option(help="File for the proofs, which `treebound check --certificates` verifies. [default: none]"),
    ] = None,
    derivations: Annotated[
        Path | None,
        typer.Option(
            help="Of a CCG model: .auto file for its derivations, fragments where there is none of the whole; "
            "compressed as of --output, - for standard output. [default: none]"
        ),
    ] = None,
) -> None:
    """Parse CoNLL-U; the comments treebound_score, treebound_bound and treebound_status tell what is proved.

    Scores, bounds, margins and the scores of k-best trees are integers of graph models, in one unit, that of their
    weights: 1.0 of a margin as --cost asks for in training is 65536 of it (`treebound.load(MODEL).model.unit`).
    """
    from treebound.cli.annotate import Parsing, parsed
    from treebound.cli.columns import known_by
    from treebound.decoders.confidence import Assess
    from treebound.support.jit.cache import is_compiled
    from treebound.systems.registry import load

    choose("config", (config,), ("tuned", "published"))
    finite("scale", scale)
    if certificates is not None:
        check_binary(certificates, "a file of proofs", compressed=True)
    check_files([model, *files_read(files)], [output, *filter(None, (certificates, derivations))])
    chosen: dict[str, tuple[Any, Any]] = {"decoder": (decoder, "branch-and-bound"), "config": (config, "tuned")}
    chosen |= {"max_dp_calls": (max_dp_calls, 0), "beam": (beam, 0)}
    chosen |= {"integrate": (integrate, "none"), "iterations": (iterations, 0)}
    options: dict[str, Any] = {name: value for name, (value, default) in chosen.items() if value != default}
    if certificates is not None:
        if decoder not in PROVING or config != "tuned":
            raise InputError(f"certificates come from {', '.join(PROVING)}, tuned", hint="leave --decoder and --config")
        options["record"] = True
    try:
        parser: Any = load(model, **options | pruning(k, threshold) | chart_options(beams, limit))
    except InputError as error:
        if "'record'" in error.reason:
            raise InputError(
                "a parser of this model keeps no proofs", path=model, hint="leave out --certificates"
            ) from None
        raise
    assess = Assess(margins, marginals, kbest, scale) if margins or marginals or kbest else None
    if assess and not hasattr(parser, "problem"):
        raise InputError("only graph-based parsers say how sure they are", path=model, hint="leave those options out")
    if derivations is not None and not derives(parser):
        raise InputError("only CCG parsers make derivations", path=model, hint="leave out --derivations")
    how = Parsing(parser, assess, certificates is not None, derivations is not None)
    if hasattr(parser, "problem") and not is_compiled("kernels.features.scoring.score_sentence"):
        say("compiling, once per machine: a minute or two")
    with _proofs(certificates, certificates and proofs_of(parser)) as prove, _auto(derivations) as derive:

        def also(done: Written) -> None:
            for line in done.proofs:
                cast("Any", prove)(line)
            for lines in done.derivations:
                derive(lines)

        needed = ["head", "deprel", *(["misc"] if margins or marginals else [])]
        if hasattr(parser, "tags_of"):
            needed.append(parser.column)
        texts = Texts(files, encoding, parser.reads, known_by(parser.model), needed)
        _annotate(parsed, how, texts, output, workers, scheduler, also, clears=True)


def tag(
    model: Annotated[Path, typer.Argument(help="Tagger file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files; standard input if none or -.")] = None,
    output: Output = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Tag CoNLL-U: replace all columns that the file's taggers were trained to predict.

    Untagged text becomes trees by `treebound tag tagger.npz in.conllu | treebound parse model.npz`.
    """
    from treebound.cli.annotate import tagged
    from treebound.systems.tagging.several import Taggers

    check_files([model, *files_read(files)], [output])
    taggers = Taggers.load(model)
    texts = Texts(files, encoding, tuple(taggers.given), taggers.given, taggers.columns)
    _annotate(tagged, taggers, texts, output, workers, scheduler)


class Texts(NamedTuple):
    """Files to annotate, and their columns.

    files     paths; standard input if there are none
    encoding  encoding of all of them
    read      columns that a model looks at: a warning names those that are empty in the input
    known     column -> values that the model was trained on: a warning names columns that mostly hold others
    needed    columns that the input must have, because they are written
    """

    files: list[Path] | None
    encoding: str
    read: Sequence[str]
    known: Mapping[str, Collection[str]]
    needed: Sequence[str]


def _annotate(
    function: Callable[[Any, Document], Written],
    shared: Any,
    texts: Texts,
    output: Path | None,
    workers: int,
    scheduler: str | None,
    also: Callable[[Written], None] | None = None,
    clears: bool = False,
) -> None:
    """Read files in parts, annotate and write them in order; few parts are in memory at a time.

    also    what is done besides with every part
    clears  heads and claims are written: a warning says where claims of older versions stay in the input's comments
    """
    from treebound.cli.columns import Columns
    from treebound.support.workers import spread
    from treebound.treebanks.claims import has_older_claims
    from treebound.treebanks.document import stream

    def parts() -> Iterator[Document]:
        for path in texts.files or [Path("-")]:
            sentences, older, columns = 0, False, Columns(_name(path), texts.read, texts.known)
            source = sys.stdin.buffer if str(path) == "-" else path
            for document in stream(source, BATCH, encoding=texts.encoding, annotated=False, needed=texts.needed):
                columns.add(document.treebank)
                if not older and clears and has_older_claims(document):
                    older = True
                    say(
                        f"treebound: warning: {_name(path)}: comments score, bound and status as older versions of "
                        "treebound wrote them are kept; they say nothing about the new trees"
                    )
                sentences += len(document)
                yield document.to_conllu()
            columns.finish()
            if not sentences:
                say(f"treebound: warning: {_name(path)} has no sentences")

    results = spread(function, shared, parts(), workers=workers, scheduler=scheduler, short=True)
    with closing(results), output_file(output) as out, counting("sentences", _sentences(texts)) as advance:
        for done in results:
            out.write(done.text)
            if also is not None:
                also(done)
            advance(done.sentences)


def _sentences(texts: Texts) -> int | None:
    """Return the number of sentences of tabular files, for an estimate; None for a pipe, or a file that is refused."""
    from treebound.support.compression import READ_ERRORS
    from treebound.treebanks.lines import open_lines

    total = 0
    for path in texts.files or [Path("-")]:
        if not path.is_file():
            return None
        try:
            with closing(open_lines(path)[1]) as lines:
                total += sentences_in(lines, texts.encoding, str(path))
        except (InputError, *READ_ERRORS):
            return None
    return total or None


def _name(path: Path) -> str:
    return "<stdin>" if str(path) == "-" else str(path)


@contextmanager
def _proofs(path: Path | None, space: Any) -> Iterator[Callable[[bytes], None] | None]:
    """What writes a proof to a file, which appears when it is complete; None without a path."""
    if path is None:
        yield None
        return
    from treebound.evaluation.proofs import Writer
    from treebound.support.compression import writing

    with writing(path, otherwise=".gz") as file:
        yield Writer(file, space).write


@contextmanager
def _auto(path: Path | None) -> Iterator[Callable[[list[str]], None]]:
    """What writes the derivations of a sentence, numbered from 1, to an .auto file, which appears when it is complete.

    The fragments of a sentence without a derivation are numbered 7.1, 7.2 ... and have NUMPARSE=0.
    """
    if path is None:
        yield lambda lines: None
        return
    with output_file(path) as file:
        done = 0

        def write(lines: list[str]) -> None:
            nonlocal done
            done += 1
            for i, line in enumerate(lines, 1):
                name = f"{done}.{i}" if len(lines) > 1 else str(done)
                file.write(f"ID={name} PARSER=treebound NUMPARSE={int(len(lines) == 1)}\n{line}\n".encode())

        yield write
