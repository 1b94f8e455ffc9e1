"""Commands that say how good a parsed file is, and whether it is as it says."""

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
    gold: Annotated[Path, typer.Argument(help="Treebank with the right trees.")],
    predicted: Annotated[Path, typer.Argument(help="The same sentences as parsed.")],
    all_words: Annotated[
        bool, typer.Option("--all-words", help="Count punctuation as well. [default: all words but punctuation]")
    ] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Attachment scores of a parsed file, labelled ones too where both files have labels.

    LAS counts the same words as UAS. A missing label, _, counts as any other label, as in the evaluators of the CoNLL
    shared tasks: it is right where both files have it. A warning says how many there are.
    Punctuation is what has UPOS PUNCT in GOLD, whatever its form; a file without UPOS has none. --encoding is that of
    GOLD; PREDICTED may be in UTF-8, as parse writes it, or in the same encoding.
    """
    from treebound.checker.certificates import tree_faults
    from treebound.learning.survey import PUNCTUATION
    from treebound.metrics.attachment import evaluate as score
    from treebound.metrics.attachment import is_labelled

    right, parsed = read_document(gold, encoding=encoding), _predicted(predicted, encoding)
    truth, found = right.treebank, parsed.treebank
    truth.meta["punctuation"] = PUNCTUATION
    if not len(truth):
        raise InputError("has no sentences", path=gold, hint="give a treebank")
    for i, (one, other) in enumerate(zip(truth, found, strict=False)):
        if one.strings("form") != other.strings("form"):
            raise InputError(
                f"sentence {i + 1} is not that of {gold}",
                path=predicted,
                line=parsed.line(i),
                hint="give the file that was parsed from it",
            )
    if len(truth) != len(found):
        raise InputError(
            f"{len(found)} sentences, {gold} has {len(truth)}",
            path=predicted,
            hint="give the file that was parsed from it",
        )
    no_trees = [i for i in range(len(found)) if tree_faults(found.heads(i), int(found.lengths[i]), "any", False)]
    if no_trees:
        line, first = parsed.line(no_trees[0]), no_trees[0] + 1
        place = f"{predicted}: " + (f"line {line}: " if line else "")
        say(f"treebound: warning: {place}{len(no_trees)} of {len(found)} sentences are no trees, first {first}")
    if all_words:
        truth.meta["punctuation"] = {"column": "upos", "tags": []}
    labels = [sentence.strings("deprel") for sentence in found] if is_labelled(found) else None
    if labels is not None and is_labelled(truth):
        _warn_of_labels(gold, truth, predicted, found)
    summary = score(truth, [found.heads(i) for i in range(len(found))], labels).summary
    print(f"sentences\t{summary['sentences']}\nwords scored\t{summary['scored_words']}")
    print(f"UAS\t{summary['uas']:.2f}\ncomplete\t{summary['complete']:.2f}")
    if "las" in summary:
        print(f"LAS\t{summary['las']:.2f}\ncomplete, labelled\t{summary['complete_labelled']:.2f}")


def _warn_of_labels(gold: Path, truth: Treebank, predicted: Path, found: Treebank) -> None:
    """Say which of two files with labels has words without, and if most labels of one are not labels of the other."""
    from treebound.cli.columns import MOSTLY
    from treebound.learning.survey import unseen
    from treebound.metrics.attachment import unlabelled

    for path, treebank in ((gold, truth), (predicted, found)):
        if missing := unlabelled(treebank):
            say(
                f"treebound: warning: {path}: {missing:,} of {treebank.words:,} words have the label _, "
                "which counts as any other"
            )
    share = unseen(truth, found, "deprel")
    if share > MOSTLY:
        say(f"treebound: warning: {predicted}: {100 * share:.0f} % of the labels are none of {gold}")


@dataclass(frozen=True)
class Proofs(Group):
    """The proofs that are checked."""

    SECTION = "Proofs"
    fast: Annotated[bool, typer.Option("--fast", help="Check trees and scores, no proofs. [default: all]")] = False
    certificates: Annotated[
        Path | None, typer.Option(help="Proofs that parse wrote. [default: proofs that a search proposes]")
    ] = None
    sample: Annotated[
        int, typer.Option(min=0, help="Check the proofs of so many sentences, drawn at random; 0: of all.")
    ] = 0
    seed: Annotated[int, typer.Option(min=0, help="Seed of --sample.")] = 1

    def drawn(self, total: int) -> set[int] | None:
        """Numbers of the sentences, from 1, whose proofs are checked; None: all."""
        if not self.sample:
            return None
        return set(random.Random(self.seed).sample(range(1, total + 1), min(self.sample, total)))

    def note(self, drawn: set[int] | None) -> str:
        """What the summary says of a sample."""
        if drawn is None or self.fast:
            return ""
        return f"; proofs of {len(drawn)} sentences drawn with seed {self.seed}, of no others"


@grouped
def check(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    parsed: Annotated[Path, typer.Argument(help="What `treebound parse` wrote with this model; - for standard input.")],
    candidates: Candidates,
    charts: Charts,
    proofs: Proofs,
    workers: Workers = 1,
    encoding: Encoding = "utf-8",
) -> None:
    """Verify trees, scores, bounds and labels of a parsed file, all but the labels in exact arithmetic of its own.

    Verified of every sentence: its heads are a tree of the model's space, the tree has the score, and what the status
    promises:

    \b
    optimal     no tree scores more
    gap, limit  no tree scores more than the bound; nothing where that is inf
    heuristic   nothing else; the bound is inf
    infeasible  there is no tree

    With --valid, the tree and its labels keep the rules, and the promise is about trees that keep them: no valid tree
    scores more. Trees are those over the candidate heads of each word (--k and --threshold); of a CCG model,
    derivations of its charts (--beams, --limit), whose certificates must be given. Every statement about other trees is
    proved by a search tree of linear bounds, read from a file or else proposed by a search; its every step is checked
    by code that shares nothing with the search. The summary counts what is proved, and says what was not looked at:
    with --fast or --sample proofs, always margins, marginals and that lists of k best trees are complete (their trees
    and scores are checked, but with --valid).
    Faults go to standard output, one a line; there being any, the exit status is 1.
    """
    from treebound.cli.checking import Summary
    from treebound.cli.columns import Columns, known_by
    from treebound.support.workers import spread
    from treebound.treebanks.document import stream

    parser = _checkable(model, candidates.options() | charts.options())
    if derives(parser) and proofs.certificates is None:
        raise InputError("derivations are checked with their proofs", hint="give --certificates, as to parse")
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
                    print(f"sentence {number}: {fault}")
                summary.add(result)
                advance(1)
        if stored:
            stored.finish()
    say(f"{summary}{proofs.note(drawn)}")
    if summary.faults:
        raise typer.Exit(1)


@contextmanager
def _stored(proofs: Proofs, parser: Any) -> Iterator[Any]:
    """The proofs of a file, None where none is given or needed. Raises InputError for proofs about other spaces."""
    from treebound.checker.proofs import reading

    if proofs.certificates is None or (proofs.fast and not derives(parser)):
        yield None
        return
    with reading(proofs.certificates) as stored:
        if stored.space != proofs_of(parser):
            raise InputError(
                f"proofs about {_named(stored.space)}, but the model's are about {_named(proofs_of(parser))}",
                path=proofs.certificates,
                line=1,
                hint="give the file of the same run",
            )
        if (stored.valid is None) != (getattr(parser, "validity", None) is None):
            kind = "all trees" if stored.valid is None else "valid trees"
            reason = f"proofs about {kind}, but --valid is {'given' if stored.valid is None else 'not given'}"
            raise InputError(reason, path=proofs.certificates, line=1, hint="give --valid as it was given to parse")
        yield stored


def _predicted(path: Path, encoding: str) -> Document:
    """Read a parsed file, in UTF-8 or in the encoding of GOLD. Wrong letters do not pass: forms are those of GOLD."""
    encodings = (encoding,) if str(path) == "-" else ("utf-8", encoding)
    try:
        return read_document(path, False, encodings[0], ("head",))
    except InputError:
        if encodings[0] == encoding:
            raise
        return read_document(path, False, encoding, ("head",))


def _checkable(path: Path, options: dict[str, Any]) -> Any:
    """The parser of a model. ModelError where nothing that it says can be checked."""
    from treebound.systems.registry import load

    parser = load(path, **options)
    if not (derives(parser) or hasattr(parser, "problem")):
        raise ModelError("proves nothing that could be checked", path=path, hint="name a graph-based or a CCG model")
    return parser


def _how(parser: Any, parsed: str, certificates: Path | None) -> tuple[Callable[[Any, Claimed], Checked], Any]:
    """The function that checks a sentence, and what it is to know."""
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

    stored   a `Reader` of certificates, or none; chosen  the sentences whose proofs are checked, None for all
    columns  looks at the columns of all sentences
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
    """What to read, its name, and the number of its sentences; 0 where they cannot be counted first and need not be."""
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
        kept = list(lines)
    except READ_ERRORS as error:
        raise damaged(name, error) from None
    return kept, name, sentences_in(kept, encoding, name)
