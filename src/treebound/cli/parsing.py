"""Commands that annotate sentences: `parse` and `tag`."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from treebound.cli.common import (
    Output,
    check_binary,
    check_files,
    derives,
    files_read,
    output_file,
    proofs_of,
    report_compiling,
    sentences_in,
)
from treebound.cli.groups import CCG, Certainty, Running, Search, Transitions, grouped
from treebound.core.errors import InputError
from treebound.support.progress import counting, say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from treebound.cli.annotate import Written
    from treebound.cli.valid import Report
    from treebound.treebanks.document import Document

Files = Annotated[
    list[Path] | None, typer.Argument(help="CoNLL-U files. Without a file, or for -, standard input is read.")
]
BATCH = 100  #: sentences per task of a worker


@grouped
def parse(
    model: Annotated[Path, typer.Argument(help="Model file that `treebound train` wrote.")],
    search: Search,
    certainty: Certainty,
    transitions: Transitions,
    ccg: CCG,
    running: Running,
    files: Files = None,
    output: Output = None,
) -> None:
    """Parse CoNLL-U files, and prove which trees are optimal.

    Each sentence gets three comments. treebound_score is the score of the tree, treebound_bound an upper bound on the
    score of every tree, and treebound_status is optimal if the tree is proved to be the best one. Graph-based models
    have integer scores; `treebound.load(MODEL).model.unit` is the integer that stands for a score of 1.0.

    \b
    Examples:
    treebound parse model.npz text.conllu -o parsed.conllu
    treebound parse model.npz text.conllu -o parsed.conllu --margins
    treebound parse model.npz text.conllu -o parsed.conllu --valid ud
    """
    from treebound.cli.annotate import Parsing, parsed
    from treebound.cli.columns import known_by
    from treebound.support.jit.cache import is_compiled

    options = search.options() | transitions.options() | ccg.options()
    assess, proofs = certainty.assess(), search.certificates
    if proofs is not None:
        check_binary(proofs, "a file of proofs", compressed=True)
    check_files([model, *files_read(files)], [output, *filter(None, (proofs, ccg.derivations))])
    parser = _loaded(model, options)
    if assess and not hasattr(parser, "problem"):
        raise InputError(
            "only graph-based models have margins, marginals and k-best trees",
            path=model,
            hint="leave those options out",
        )
    if ccg.derivations is not None and not derives(parser):
        raise InputError("only CCG models make derivations", path=model, hint="leave out --derivations")
    how = Parsing(parser, assess, proofs is not None, ccg.derivations is not None)
    if hasattr(parser, "problem") and not is_compiled("kernels.features.scoring.score_sentence"):
        report_compiling()
    report = _report(parser)
    with _proofs(proofs, parser) as prove, _auto(ccg.derivations) as derive:

        def write_others(part: Written) -> None:
            if report is not None:
                report.written(part.sentences, part.invalid)
            for line in part.proofs:
                cast("Any", prove)(line)
            for lines in part.derivations:
                derive(lines)

        needed = ["head", "deprel", *(["misc"] if certainty.margins or certainty.marginals else [])]
        if hasattr(parser, "tags_of"):
            needed.append(parser.column)
        texts = Texts(files, running.encoding, parser.reads, known_by(parser.model), needed, report)
        _annotate(parsed, how, texts, output, running, write_others, clears=True)
    if report is not None:
        report.finish()


def _report(parser: Any) -> Report | None:
    """Return the report about the rules of --valid, or None for a parser without rules."""
    if getattr(parser, "validity", None) is None:
        return None
    from treebound.cli.valid import Report

    return Report(parser.validity)


def _loaded(model: Path, options: dict[str, Any]) -> Any:
    """Load a model file as a parser with the options of the command line."""
    from treebound.systems.registry import load

    try:
        return load(model, **options)
    except InputError as error:
        if "'record'" in error.reason:
            raise InputError(
                "models of this system have no proofs", path=model, hint="leave out --certificates"
            ) from None
        raise


@grouped
def tag(
    model: Annotated[Path, typer.Argument(help="Tagger file that `treebound train --system tagging` wrote.")],
    running: Running,
    files: Files = None,
    output: Output = None,
) -> None:
    """Tag CoNLL-U files.

    All columns that the taggers were trained to predict are replaced.

    \b
    Examples:
    treebound tag tagger.npz text.conllu -o tagged.conllu
    treebound tag tagger.npz text.conllu | treebound parse model.npz -o parsed.conllu
    """
    from treebound.cli.annotate import tagged
    from treebound.systems.tagging.several import Taggers

    check_files([model, *files_read(files)], [output])
    taggers = Taggers.load(model)
    texts = Texts(files, running.encoding, tuple(taggers.given), taggers.given, taggers.columns)
    _annotate(tagged, taggers, texts, output, running)


class Texts(NamedTuple):
    """Files to annotate, and their columns.

    files     paths; None is standard input
    encoding  encoding of all files
    read      columns that the model reads; a warning names those that are empty in the input
    known     column -> values in the training treebank; a warning names columns with mostly unknown values
    needed    columns that the input must have, because they are written
    report    report about the rules of --valid; it reads every part of a file
    """

    files: list[Path] | None
    encoding: str
    read: Sequence[str]
    known: Mapping[str, Collection[str]]
    needed: Sequence[str]
    report: Report | None = None


def _annotate(
    function: Callable[[Any, Document], Written],
    shared: Any,
    texts: Texts,
    output: Path | None,
    running: Running,
    write_others: Callable[[Written], None] | None = None,
    clears: bool = False,
) -> None:
    """Read files in parts, annotate the parts, and write them in order; few parts are in memory at a time.

    write_others  writes the outputs of a part that do not go into the CoNLL-U file
    clears        whether new scores and statuses are written; a warning then names input files with the comments of
                  older versions of treebound, which are not removed
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
                if texts.report is not None:
                    texts.report.read(_name(path), document)
                if not older and clears and has_older_claims(document):
                    older = True
                    say(
                        f"treebound: warning: {_name(path)}: the comments score, bound and status that an older "
                        "version of treebound wrote are kept; they do not refer to the new trees"
                    )
                sentences += len(document)
                yield document.to_conllu()
            columns.finish()
            if not sentences:
                say(f"treebound: warning: {_name(path)} has no sentences")

    results = spread(function, shared, parts(), workers=running.workers, scheduler=running.scheduler, short=True)
    with closing(results), output_file(output) as out, counting("sentences", _sentences(texts)) as advance:
        for part in results:
            out.write(part.text)
            if write_others is not None:
                write_others(part)
            advance(part.sentences)


def _sentences(texts: Texts) -> int | None:
    """Return the number of sentences of tabular files for the progress bar; None for a pipe or an unreadable file."""
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
def _proofs(path: Path | None, parser: Any) -> Iterator[Callable[[bytes], None] | None]:
    """Yield the function that writes a proof to a file, which appears when it is complete; None without a path."""
    if path is None:
        yield None
        return
    from treebound.checker.proofs import Writer
    from treebound.support.compression import writing

    with writing(path, otherwise=".gz") as file:
        rules = getattr(parser, "validity", None)
        yield Writer(file, proofs_of(parser), "ud" if rules is not None else None).write


@contextmanager
def _auto(path: Path | None) -> Iterator[Callable[[list[str]], None]]:
    """Yield the function that writes the derivation or the fragments of one sentence to an .auto file.

    Sentences are numbered from 1. If sentence 7 has no derivation, its fragments are numbered 7.1, 7.2, ... and have
    NUMPARSE=0. The file appears when it is complete.
    """
    if path is None:
        yield lambda lines: None
        return
    with output_file(path) as file:
        sentences = 0

        def write(lines: list[str]) -> None:
            nonlocal sentences
            sentences += 1
            for i, line in enumerate(lines, 1):
                name = f"{sentences}.{i}" if len(lines) > 1 else str(sentences)
                file.write(f"ID={name} PARSER=treebound NUMPARSE={int(len(lines) == 1)}\n{line}\n".encode())

        yield write
