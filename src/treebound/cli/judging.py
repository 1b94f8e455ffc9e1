"""Commands that evaluate a parsed file (`evaluate`) and verify its claims (`check`)."""

from __future__ import annotations

import random
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treebound.cli.common import Encoding, Workers, derives, proofs_of, read_document, sentences_in
from treebound.cli.groups import Candidates, Charts, Group, grouped
from treebound.core.errors import InputError, ModelError
from treebound.support.progress import counting, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from treebound.cli.checking import Checked, Claimed
    from treebound.cli.columns import Columns
    from treebound.core.treebank import Treebank
    from treebound.treebanks.document import Document


def evaluate(
    gold: Annotated[Path, typer.Argument(help="Treebank with the gold trees.")],
    predicted: Annotated[Path, typer.Argument(help="The same sentences with predicted trees.")],
    all_words: Annotated[
        bool, typer.Option("--all-words", help="Count punctuation as well. [default: do not count punctuation]")
    ] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Print the attachment scores of a parsed file.

    UAS counts right heads. LAS counts right heads with right labels, if both files have labels. LAS counts the same
    words as UAS. Punctuation is every word with UPOS PUNCT in GOLD; a file without UPOS has no punctuation. The label _
    counts as any other label, as in the evaluators of the CoNLL shared tasks, with a warning. --encoding is the
    encoding of GOLD; PREDICTED may be in UTF-8 or in the same encoding.

    \b
    Example:
    treebound evaluate test.conllu parsed.conllu
    """
    from treebound.checker.certificates import tree_faults
    from treebound.learning.survey import PUNCTUATION
    from treebound.metrics.attachment import evaluate as score
    from treebound.metrics.attachment import is_labelled

    parsed = _predicted(predicted, encoding)
    truth, predictions = read_document(gold, encoding=encoding).treebank, parsed.treebank
    truth.meta["punctuation"] = PUNCTUATION
    if not len(truth):
        raise InputError("has no sentences", path=gold, hint="give a treebank")
    for i, (annotated, parse) in enumerate(zip(truth, predictions, strict=False)):
        if annotated.strings("form") != parse.strings("form"):
            raise InputError(
                f"the words of sentence {i + 1} differ from {gold}",
                path=predicted,
                line=parsed.line(i),
                hint="give a parse of the same file",
            )
    if len(truth) != len(predictions):
        raise InputError(
            f"{len(predictions)} sentences, but {gold} has {len(truth)}",
            path=predicted,
            hint="give a parse of the same file",
        )
    lengths = predictions.lengths.tolist()
    no_trees = [i for i, n in enumerate(lengths) if tree_faults(predictions.heads(i), n, "any", False)]
    if no_trees:
        line, first = parsed.line(no_trees[0]), no_trees[0] + 1
        place = f"{predicted}: " + (f"line {line}: " if line else "")
        say(f"treebound: warning: {place}{len(no_trees)} of {len(lengths)} sentences have no tree, first {first}")
    if all_words:
        truth.meta["punctuation"] = {"column": "upos", "tags": []}
    labels = [sentence.strings("deprel") for sentence in predictions] if is_labelled(predictions) else None
    if labels is not None and is_labelled(truth):
        _warn_of_labels(gold, truth, predicted, predictions)
    summary = score(truth, [predictions.heads(i) for i in range(len(predictions))], labels).summary
    print(f"sentences\t{summary['sentences']}\nwords scored\t{summary['scored_words']}")
    print(f"UAS\t{summary['uas']:.2f}\ncomplete\t{summary['complete']:.2f}")
    if "las" in summary:
        print(f"LAS\t{summary['las']:.2f}\ncomplete, labelled\t{summary['complete_labelled']:.2f}")


def _warn_of_labels(gold: Path, truth: Treebank, predicted: Path, predictions: Treebank) -> None:
    """Warn of words without a label, and of predicted labels that mostly do not appear in the gold file."""
    from treebound.cli.columns import MOSTLY
    from treebound.learning.survey import unseen
    from treebound.metrics.attachment import unlabelled

    for path, treebank in ((gold, truth), (predicted, predictions)):
        if missing := unlabelled(treebank):
            say(
                f"treebound: warning: {path}: {missing:,} of {treebank.words:,} words have the label _, "
                "which counts as any other label"
            )
    share = unseen(truth, predictions, "deprel")
    if share > MOSTLY:
        say(f"treebound: warning: {predicted}: {100 * share:.0f} % of the labels do not appear in {gold}")


@dataclass(frozen=True)
class Proofs(Group):
    """Options that choose the proofs to check."""

    SECTION = "Proofs"
    fast: Annotated[
        bool, typer.Option("--fast", help="Check trees and scores, but no proofs. [default: check proofs, too]")
    ] = False
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Read the proofs from this file of `treebound parse --certificates`. [default: search for proofs]"
        ),
    ] = None
    sample: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Check the proofs of N randomly chosen sentences only. 0 checks all proofs."
        ),
    ] = 0
    seed: Annotated[int, typer.Option(min=0, help="Random seed for --sample.")] = 1

    def drawn(self, total: int) -> set[int] | None:
        """Return the numbers of the sentences, from 1, whose proofs are checked; None for all."""
        if not self.sample:
            return None
        return set(random.Random(self.seed).sample(range(1, total + 1), min(self.sample, total)))

    def note(self, drawn: set[int] | None) -> str:
        """Return the note about a sample of proofs for the summary."""
        if drawn is None or self.fast:
            return ""
        return f"; only the proofs of {len(drawn)} sentences, drawn with seed {self.seed}, were checked"


@grouped
def check(
    model: Annotated[Path, typer.Argument(help="Model file that parsed the sentences.")],
    parsed: Annotated[
        Path, typer.Argument(help="Output of `treebound parse` with this model; - reads standard input.")
    ],
    candidates: Candidates,
    charts: Charts,
    proofs: Proofs,
    workers: Workers = 1,
    encoding: Encoding = "utf-8",
) -> None:
    """Verify the trees, scores and proofs of a parsed file.

    The verification shares no code with the search. The command verifies four things for every sentence: its heads are
    a tree, the tree has the score that the file states, the labels are right for the model, and the status is true:

    \b
    optimal     no tree scores more
    gap, limit  no tree scores more than the bound
    heuristic   no claim about other trees; the bound is inf
    infeasible  the sentence has no tree

    The trees are those over the candidate heads of each word, so --k and --threshold must be the same as for parse.
    With --valid, the tree and its labels must also keep the rules, and the claims are about valid trees. CCG models
    need --certificates, and the same --beams and --limit as for parse.

    A proof is a search tree with linear bounds. It is read from a file, or a search proposes it; each of its steps is
    verified in exact arithmetic. Margins, marginals and the completeness of k-best lists are not verified; the summary
    names everything that was not checked. Each fault is one line on standard output, with the file and the number of
    the sentence. The exit status is then 1.

    \b
    Examples:
    treebound check model.npz parsed.conllu
    treebound check model.npz parsed.conllu --certificates proofs.gz --workers 2
    """
    from treebound.cli.checking import Summary
    from treebound.cli.columns import Columns, known_by
    from treebound.support.workers import spread
    from treebound.treebanks.document import stream

    parser = _checkable(model, candidates.options() | charts.options())
    if derives(parser) and proofs.certificates is None:
        raise InputError(
            "the check of a CCG model needs its proofs",
            hint="give the file that `treebound parse --certificates` wrote",
        )
    source, name, total = _counted(parsed, encoding, proofs.sample > 0)
    drawn = proofs.drawn(total)
    summary = Summary()
    with _stored(proofs, parser) as stored:
        # one sentence at a time: a problem is built from the words of its own sentence alone
        documents = stream(source, 1, encoding=encoding, annotated=False, needed=("head", "deprel"))
        checked, how = _how(parser, name, proofs.certificates if stored else None)
        columns = Columns(name, parser.reads, known_by(parser.model))
        claims = _claims(documents, stored, proofs.fast, drawn, columns)
        results = spread(checked, how, claims, workers=workers, short=True)
        with closing(results), counting("sentences", total or None) as advance:
            for number, result in enumerate(results, 1):
                for fault in result.faults:
                    print(f"{name}: sentence {number}: {fault}")
                summary.add(result)
                advance(1)
        if stored:
            stored.finish()
    if not summary.verdicts:
        say(f"treebound: warning: {name}: has no sentences")
    say(f"{summary}{proofs.note(drawn)}")
    if summary.verdicts["faulty"] == summary.verdicts.total() > 1:
        say("every sentence has a fault: was the file parsed with this model and with the same options?")
    if summary.faults:
        raise typer.Exit(1)


@contextmanager
def _stored(proofs: Proofs, parser: Any) -> Iterator[Any]:
    """Yield a `Reader` of the certificate file, or None if no file is needed.

    Raises InputError for proofs that do not fit the parser: about another tree space, or with or without --valid.
    """
    from treebound.checker.proofs import reading

    if proofs.certificates is None or (proofs.fast and not derives(parser)):
        yield None
        return
    with reading(proofs.certificates) as stored:
        if stored.space != proofs_of(parser):
            raise InputError(
                f"proofs about {_named(stored.space)}, but the model needs proofs about {_named(proofs_of(parser))}",
                path=proofs.certificates,
                line=1,
                hint="give the file of the same run",
            )
        if (stored.valid is None) != (getattr(parser, "validity", None) is None):
            kind = "all trees" if stored.valid is None else "valid trees"
            reason = f"proofs about {kind}, but --valid is {'given' if stored.valid is None else 'not given'}"
            raise InputError(reason, path=proofs.certificates, line=1, hint="use the same --valid as for parse")
        yield stored


def _predicted(path: Path, encoding: str) -> Document:
    """Read a parsed file in UTF-8 or in the encoding of GOLD. Forms that differ reveal a wrong encoding."""
    encodings = (encoding,) if str(path) == "-" else ("utf-8", encoding)
    try:
        return read_document(path, False, encodings[0], ("head",))
    except InputError:
        if encodings[0] == encoding:
            raise
        return read_document(path, False, encoding, ("head",))


def _checkable(path: Path, options: dict[str, Any]) -> Any:
    """Load a model as a parser. Raises ModelError for a system whose output cannot be verified."""
    from treebound.systems.registry import load

    parser = load(path, **options)
    if not (derives(parser) or hasattr(parser, "problem")):
        raise ModelError("models of this system have no proofs", path=path, hint="name a graph-based or a CCG model")
    return parser


def _how(parser: Any, parsed: str, certificates: Path | None) -> tuple[Callable[[Any, Claimed], Checked], Any]:
    """Return the function that checks one sentence, and the object that is its first argument."""
    if derives(parser):
        from treebound.cli import checking_derivations

        assert certificates is not None
        return checking_derivations.checked, checking_derivations.Checking(parser, parsed, certificates)
    from treebound.cli import checking, checking_valid

    valid = getattr(parser, "validity", None) is not None
    check = checking_valid.checked if valid else checking.checked
    return check, checking.Checking(parser, parsed, certificates)


def _named(space: str) -> str:
    return space if space == "derivations" else f"{space} trees"


def _claims(
    documents: Iterator[Document], stored: Any, fast: bool, chosen: set[int] | None, columns: Columns
) -> Iterator[Claimed]:
    """Yield the sentences of a parsed file, each a document, with their proofs.

    stored   a `Reader` of certificates, or None
    fast     whether to check no proofs
    chosen   numbers of the sentences whose proofs are checked; None for all
    columns  object that warns about the columns of the sentences
    """
    from treebound.cli.checking import Claimed

    number = 0
    for document in documents:
        if len(document):
            number += 1
            columns.add(document.treebank)
            proof = stored.line() if stored else None
            yield Claimed(number, document, proof, not fast and (chosen is None or number in chosen))
    columns.finish()


def _counted(path: Path, encoding: str, needed: bool) -> tuple[Any, str, int]:
    """Return the source to read, its name, and its number of sentences, or 0 if the number is unknown and not needed.

    needed  whether the number must be known; standard input is then read into memory
    """
    from treebound.support.compression import READ_ERRORS
    from treebound.treebanks.lines import damaged, open_lines

    standard = str(path) == "-"
    if (standard or (path.exists() and not path.is_file())) and not needed:
        return (sys.stdin.buffer, "<stdin>", 0) if standard else (path, str(path), 0)
    name, lines = open_lines(sys.stdin.buffer if standard else path)
    try:
        if not standard and path.is_file():
            with lines:
                return path, name, sentences_in(lines, encoding, name)
        stored = list(lines)
    except READ_ERRORS as error:
        raise damaged(name, error) from None
    return stored, name, sentences_in(stored, encoding, name)
