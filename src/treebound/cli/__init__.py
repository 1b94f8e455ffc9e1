"""The command line. Heavy imports stand in the commands that need them: `treebound --help` answers at once."""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, cast

import typer
from typer.exceptions import TyperException

from treebound.cli.options import given, options_of
from treebound.core.errors import InputError, TreeboundError
from treebound.learning.reading import Reading
from treebound.support.progress import counting as _bar
from treebound.support.progress import over as _progress
from treebound.support.progress import say as _say
from treebound.systems.constrained.settings import Settings as Constrained
from treebound.systems.graph.settings import Settings as Graph
from treebound.systems.peers.settings import Settings as Peers
from treebound.systems.tagging.settings import Settings as Tagging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from treebound.cli.annotate import Written
    from treebound.cli.checking import Claimed
    from treebound.core.treebank import Treebank
    from treebound.systems.training import Job, Recipe
    from treebound.treebanks.document import Document

app = typer.Typer(
    name="treebound",
    help="Exact dependency parsing with non-local features, with a certificate for every sentence.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataDir = Annotated[Path, typer.Option(help="Folder for fetched and converted corpora.")]
CorpusPath = Annotated[
    str | None, typer.Option(help="Folder of a corpus that you have a licence for. [default: the catalogue's source]")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write. [default: standard output]")]
Workers = Annotated[int, typer.Option(min=1, max=1024, help="Processes on this machine; results do not depend on it.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786. [default: this machine]"
    ),
]
UNREAD = 141  #: exit status where the reader of our output has gone, by convention: 128 + SIGPIPE
INTERRUPTED = 130  #: exit status after Control-C, by convention; typer returns it
MANY = 1_000_000_000  #: more than this of anything is a mistake, and does not fit into what kernels count with
BATCH = 100  #: sentences that a worker is given at a time
FEW = 50  #: words of which it is no wonder if none has features


@app.command()
def fetch(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue, see data/README.md.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Fetch corpora and check their checksums."""
    from treebound.experiments.fetch import fetch_corpus

    for corpus in corpora:
        _say(f"{corpus}: in {fetch_corpus(corpus, path, data_dir)}")


@app.command()
def convert(
    corpora: Annotated[list[str], typer.Argument(help="Names from the catalogue; fetched first if need be.")],
    data_dir: DataDir = Path("data"),
    path: CorpusPath = None,
) -> None:
    """Convert fetched corpora to CoNLL-U and columns, one file a split."""
    from treebound.experiments.fetch import fetch_corpus
    from treebound.treebanks.catalogue import CORPORA
    from treebound.treebanks.convert import convert as convert_corpus

    for corpus in corpora:
        convert_corpus(CORPORA[corpus], fetch_corpus(corpus, path, data_dir), data_dir / "converted")
        _say(f"{corpus}: in {data_dir / 'converted' / corpus}")


@app.command()
@options_of({"": Graph, "constrained": Constrained, "tagging": Tagging, "udpipe, spacy": Peers, " ": Reading})
def train(
    context: typer.Context,
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Training treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    system: Annotated[
        str, typer.Option(help="What is trained: graph, constrained, tagging, udpipe or spacy; options say whose.")
    ] = "graph",
    **settings: Any,
) -> None:
    """Train a model on a treebank. Started again after a kill, it goes on at the last finished epoch.

    First it says what TRAIN holds and what is chosen by that; options say otherwise.
    """
    from treebound.systems import training

    recipe = training.recipe({"system": system, **given(context, settings)})  # a fault shows before anything is read
    kept = training.checkpoint_of(output)
    _outputs([train_file, dev_file, *recipe.own_patterns], [output, kept])
    job = _job(output.name, recipe, train_file, dev_file, output)
    for remark in job.remarks:
        _say(f"{train_file}: {remark}")
    if training.compiles(recipe):
        _say("compiling, once per machine: a minute or two")
    done = training.train(_progress, job)
    if done.model is None:
        raise cast("TreeboundError", done.error)
    done.model.save(output)
    _say(f"{output}: {done.report}")


@app.command()
def train_many(
    models: Annotated[Path, typer.Argument(metavar="LIST", help="YAML: `settings` of all and `models`, see above.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model files.")],
    workers: Workers = 1,
    scheduler: Scheduler = None,
) -> None:
    """Train all models of a list, several at a time. Started again, it leaves out those that are finished.

    LIST names two treebanks for each model, from the folder that LIST is in, and whatever settings it has of its own.
    Settings are options of `treebound train` with _ for -. NAME.npz is written as soon as NAME is trained:

    \b
    settings: {epochs: 4}
    models:
      english: {train: en/train.conllu, dev: en/dev.conllu}
      arcs: {train: en/train.conllu, dev: en/dev.conllu, families: []}
    """
    from treebound.support.atomic import check_distinct
    from treebound.systems import training

    listed = training.listed(models)
    paths = {name: output / f"{name}.npz" for name in listed}
    given = [path for recipe, *files in listed.values() for path in (*files, *recipe.own_patterns)]
    check_distinct([models, *given], [p for path in paths.values() for p in (path, training.checkpoint_of(path))])
    output.mkdir(parents=True, exist_ok=True)
    _outputs([], paths.values())
    jobs = [_job(name, *of, paths[name]) for name, of in listed.items()]
    for job in jobs:
        for remark in job.remarks:
            _say(f"{job.name}: {remark}")
    alone = workers == 1 and scheduler is None
    faults = 0
    for path, done in training.train_many(
        jobs, output, workers=workers, scheduler=scheduler, progress=_progress if alone else None
    ):
        if done.error is not None:
            faults += 1
            _say(f"treebound: error: {done.name}: {done.error}")
        else:
            _say(f"{path}: {done.report}, " + (f"{done.seconds:.0f} s of CPU" if done.seconds else "there already"))
    if faults:
        raise typer.Exit(1)


def _job(name: str, recipe: Recipe, train_file: Path, dev_file: Path, output: Path) -> Job:
    """A model to be trained, its treebanks read."""
    from treebound.systems.training import job

    read = _read(train_file), _read(dev_file)
    if not recipe.reading.multi_root:
        if fault := _several_roots(train_file, read[0]):
            raise fault
        if fault := _several_roots(dev_file, read[1]):
            _say(f"treebound: {fault}")  # as in `convert`: what is to be learnt must be right, what is tested need not
    examples, dev = (document.treebank for document in read)
    return job(name, recipe, (train_file, dev_file), (examples, dev), output)


def _several_roots(path: Path, document: Document) -> InputError | None:
    """What `convert` leaves out of training: trees that a parser with one root cannot find."""
    several = document.several_roots()
    if not several:
        return None
    others = f", and {len(several) - 1} more like it" if len(several) > 1 else ""
    roots, line = int((document.treebank.heads(several[0]) == 0).sum()), document.line(several[0])
    reason = f"sentence {several[0] + 1} has {roots} roots{others}"
    return InputError(reason, path=path, line=line, hint="correct it or delete it, or train with --multi-root")


@app.command()
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
    max_dp_calls: Annotated[
        int,
        typer.Option(
            min=0,
            max=MANY,
            help="Dynamic programs for a sentence, which is not proved where they do not do; 0: no limit.",
        ),
    ] = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    margins: Annotated[
        bool,
        typer.Option(
            "--margins", help="MISC Margin: what the best tree without the word's arc scores less. [default: none]"
        ),
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="MISC Marginal: probability of the word's arc. [default: none]")
    ] = False,
    scale: Annotated[
        float,
        typer.Option(
            min=0.0, help="Probabilities go as exp(scale * score / unit), see above; less makes them flatter."
        ),
    ] = 1.0,
    kbest: Annotated[
        int, typer.Option(min=0, max=MANY, help="Comment kbest: scores and heads of the so many best trees; 0: none.")
    ] = 0,
    certificates: Annotated[
        Path | None,
        typer.Option(help="File for the proofs, which `treebound check --certificates` verifies. [default: none]"),
    ] = None,
) -> None:
    """Parse CoNLL-U; comments of each sentence give its score, the proved bound and the status.

    Scores, bounds, margins and the scores of k-best trees are integers in one unit, that of the model's weights: 1.0 of
    a margin as --cost asks for in training is 65536 of it (`treebound.load(MODEL).model.unit`).
    """
    from treebound.cli.annotate import Parsing, parsed
    from treebound.decoders.confidence import Assess
    from treebound.systems.registry import load

    _choose("config", (config,), ("tuned", "published"))
    _finite("scale", scale)
    _outputs([model, *_inputs(files)], [output, *([certificates] if certificates else [])])
    chosen = {"decoder": (decoder, "branch-and-bound"), "config": (config, "tuned"), "max_dp_calls": (max_dp_calls, 0)}
    options: dict[str, Any] = {name: value for name, (value, default) in chosen.items() if value != default}
    if certificates is not None:
        if decoder != "branch-and-bound" or config != "tuned":
            raise InputError("only branch-and-bound, tuned, writes certificates", hint="leave --decoder and --config")
        options["record"] = True
    if k != "model":
        options["k"] = _heads(k)
    parser: Any = load(model, **options)
    assess = Assess(margins, marginals, kbest, scale) if margins or marginals or kbest else None
    if assess and not hasattr(parser, "problem"):
        raise InputError("only graph-based parsers say how sure they are", path=model, hint="leave those options out")
    how = Parsing(parser, assess, certificates is not None)
    with _proofs(certificates, certificates and parser.decoder.space) as prove:
        _annotate(parsed, how, files, output, workers, scheduler, prove, parser.reads)


@app.command()
def decode(
    scores: Annotated[Path, typer.Argument(help="Scores of arcs in a .npz file of numpy, see above.")],
    output: Output = None,
    decoder: Annotated[
        str, typer.Option(help="branch-and-bound, or another registered one to compare with, as eisner.")
    ] = "branch-and-bound",
    space: Annotated[str, typer.Option(help="projective, or non-projective: arcs may cross.")] = "projective",
    multi_root: Annotated[
        bool, typer.Option("--multi-root", help="Sentences may have several roots. [default: one]")
    ] = False,
    k_best: Annotated[
        int, typer.Option(min=1, max=MANY, help="Comment kbest: scores and heads of the so many best trees; 1: none.")
    ] = 1,
    margins: Annotated[
        bool,
        typer.Option(
            "--margins", help="MISC Margin: what the best tree without the word's arc scores less. [default: none]"
        ),
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="MISC Marginal: probability of the word's arc. [default: none]")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--check", help="Prove every tree by the checker of `treebound check`. [default: not]")
    ] = False,
    workers: Workers = 1,
) -> None:
    """Decode scores of one's own, of a neural parser say: exact trees as CoNLL-U, with what is proved about them.

    SCORES holds a matrix a sentence, [n + 1, n + 1], head first, 0 being the root, as np.savez("scores.npz", *matrices)
    writes them, or as arc_0, arc_1, ..; labels_0, .. are [n + 1, n + 1, L] with label_names, forms the words of all
    sentences. `python -m pydoc treebound.scores.archive` says all; `treebound.decode` does the same in Python.
    """
    from treebound.scores.command import decoded

    _outputs([scores], [output])
    how = {"space": space, "single_root": not multi_root, "decoder": decoder}
    how |= {"k_best": k_best, "margins": margins, "marginals": marginals}

    def progress(items: Iterable, total: int) -> Iterator:
        with _bar("sentences", total or None) as advance:
            for item in items:
                yield item
                advance(1)

    text = decoded(scores, how, workers, verify, progress)
    with _output(output) as out:
        out.write(text)


@app.command()
def train_tagger(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Tagged treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Tagger file to write.")],
    columns: Annotated[
        str,
        typer.Option(
            help="Columns to predict, some of upos,xpos,feats,lemma. auto: all that TRAIN fills, which are all that a "
            "parser trained on it can read."
        ),
    ] = "auto",
    epochs: Annotated[int, typer.Option(min=1, max=MANY, help="Passes over TRAIN; the best one on DEV is kept.")] = 6,
    bits: Annotated[
        int, typer.Option(min=8, max=28, help="Log2 of the number of weights; fewer make a smaller, coarser tagger.")
    ] = 22,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 63) - 1, help="Of the order of sentences; equal seeds give equal taggers.")
    ] = 1,
    jackknifed: Annotated[
        Path | None,
        typer.Option(
            help="Write TRAIN here as CoNLL-U with predicted columns, a tenth at a time by taggers of the others: what "
            "a parser for predicted columns ought to be trained on. Takes ten times as long. [default: none]"
        ),
    ] = None,
    workers: Workers = 1,
) -> None:
    """Train taggers of some columns, into one file: `treebound tag` fills them all.

    --workers is for --jackknifed.
    """
    from treebound.learning.survey import ENOUGH, filled
    from treebound.support.settings import split
    from treebound.systems.tagging.several import COLUMNS, accuracies, train_taggers
    from treebound.systems.tagging.several import jackknifed as predicted

    wanted = split(columns)
    if wanted != ("auto",):
        _choose("column", wanted or ("",), COLUMNS)
    _outputs([train_file, dev_file], filter(None, (output, jackknifed)))
    document, dev = _read(train_file, annotated=False), _read(dev_file, annotated=False).treebank
    examples = document.treebank
    for path, treebank in ((train_file, examples), (dev_file, dev)):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank")
    if wanted == ("auto",):
        wanted = tuple(name for name in COLUMNS if filled(examples, name) >= ENOUGH)
    if not wanted:
        raise InputError("has no tags in any column", path=train_file, hint="give a tagged treebank")
    settings = {"epochs": epochs, "bits": bits, "seed": seed}
    taggers = train_taggers(examples, dev, wanted, progress=_progress, **settings)
    taggers.save(output)
    scores = ", ".join(f"{column} {score:.2f}" for column, score in accuracies(dev, taggers).items())
    _say(f"{output}: accuracy on dev: {scores}")
    if jackknifed is not None:
        found = predicted(examples, wanted, workers=workers, progress=_progress, **settings)
        filled_in = {name: [sentence.strings(name) for sentence in found] for name in wanted}
        document.to_conllu().write(jackknifed, columns=filled_in)


@app.command()
def tag(
    model: Annotated[Path, typer.Argument(help="Tagger file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files; standard input if none or -.")] = None,
    output: Output = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
) -> None:
    """Tag CoNLL-U: replace all columns that the file's taggers were trained to predict.

    Untagged text becomes trees by `treebound tag tagger.npz in.conllu | treebound parse model.npz`.
    """
    from treebound.cli.annotate import tagged
    from treebound.systems.tagging.several import Taggers

    _outputs([model, *_inputs(files)], [output])
    _annotate(tagged, Taggers.load(model), files, output, workers, scheduler)


@app.command()
def evaluate(
    gold: Annotated[Path, typer.Argument(help="Treebank with the right trees.")],
    predicted: Annotated[Path, typer.Argument(help="The same sentences as parsed.")],
    all_words: Annotated[
        bool, typer.Option("--all-words", help="Count punctuation as well. [default: all words but punctuation]")
    ] = False,
) -> None:
    """Attachment scores of a parsed file, labelled ones too where both files have labels.

    Punctuation is what has UPOS PUNCT in GOLD, whatever its form; a file without UPOS has none.
    """
    from treebound.evaluation.attachment import evaluate as score
    from treebound.evaluation.attachment import has_labels
    from treebound.learning.survey import PUNCTUATION

    truth, found = _read(gold).treebank, _read(predicted, annotated=False).treebank
    truth.meta["punctuation"] = PUNCTUATION
    if truth.strings("form") != found.strings("form") or truth.lengths.tolist() != found.lengths.tolist():
        raise InputError(f"not the sentences of {gold}", path=predicted, hint="give the file that was parsed from it")
    if all_words:
        truth.meta["punctuation"] = {"column": "upos", "tags": []}
    labels = [sentence.strings("deprel") for sentence in found] if has_labels(found) else None
    summary = score(truth, [found.heads(i) for i in range(len(found))], labels).summary
    print(f"sentences\t{summary['sentences']}\nwords scored\t{summary['scored_words']}")
    print(f"UAS\t{summary['uas']:.2f}\ncomplete\t{summary['complete']:.2f}")
    if "las" in summary:
        print(f"LAS\t{summary['las']:.2f}\ncomplete, labelled\t{summary['complete_labelled']:.2f}")


@app.command()
def check(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    parsed: Annotated[Path, typer.Argument(help="What `treebound parse` wrote with this model; - for standard input.")],
    k: Annotated[str, typer.Option(help="As given to parse.")] = "model",
    fast: Annotated[bool, typer.Option("--fast", help="Check trees and scores, no proofs. [default: all]")] = False,
    certificates: Annotated[
        Path | None, typer.Option(help="Proofs that parse wrote. [default: those that a search proposes]")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="Check the proofs of so many sentences, drawn; 0: of all.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawing.")] = 1,
    workers: Workers = 1,
) -> None:
    """Verify trees, scores, bounds and labels of a parsed file, all but the labels in exact arithmetic of its own.

    Verified of every sentence: its heads are a tree of the model's space, the tree has the score, and what the status
    promises:

    \b
    optimal     no tree scores more
    gap, limit  no tree scores more than the bound; nothing where that is inf
    heuristic   nothing else; the bound is inf
    infeasible  there is no tree

    Trees are those over the candidate heads of each word (--k). Every statement about other trees is proved by a search
    tree of linear bounds, read from a file or else proposed by a search; its every step is checked by code that shares
    nothing with the search. The summary counts what is proved, and says what was not looked at: with --fast or --sample
    proofs, always margins, marginals and that lists of k best trees are complete (their trees and scores are checked).
    Faults go to standard output, one a line; there being any, the exit status is 1.
    """
    from treebound.cli.checking import Checking, Summary, checked
    from treebound.evaluation.proofs import reading
    from treebound.support.workers import spread
    from treebound.systems.graph.parser import load

    parser = load(model, **({} if k == "model" else {"k": _heads(k)}))
    source, name, total = _counted(parsed, sample > 0)
    chosen = None if not sample else set(random.Random(seed).sample(range(1, total + 1), min(sample, total)))
    summary = Summary()
    with nullcontext() if certificates is None or fast else reading(certificates) as stored:
        if stored and stored.space != parser.decoder.space:
            raise InputError(
                f"proofs about {stored.space} trees, but the model's are {parser.decoder.space}",
                path=certificates,
                line=1,
                hint="give the file of the same run",
            )
        how = Checking(parser, name, certificates if stored else None)
        results = spread(checked, how, _claims(source, stored, fast, chosen), workers=workers, short=True)
        with closing(results), _bar("sentences", total or None) as advance:
            for number, result in enumerate(results, 1):
                for fault in result.faults:
                    print(f"sentence {number}: {fault}")
                summary.add(result)
                advance(1)
        if stored:
            stored.finish()
    drawn = (
        "" if chosen is None or fast else f"; proofs of {len(chosen)} sentences drawn with seed {seed}, of no others"
    )
    _say(f"{summary}{drawn}")
    if summary.faults:
        raise typer.Exit(1)


def _claims(source: Any, stored: Any, fast: bool, chosen: set[int] | None) -> Iterator[Claimed]:
    """The sentences of a parsed file with their proofs.

    stored  a `Reader` of certificates, or none; chosen  the sentences whose proofs are checked, None for all
    """
    from treebound.cli.checking import Claimed
    from treebound.treebanks.document import stream

    number = 0
    # one sentence at a time: a problem is built from the words of its own sentence alone
    for document in stream(source, 1, annotated=False):
        if len(document):
            number += 1
            proof = stored.line() if stored else None
            yield Claimed(number, document, proof, not fast and (chosen is None or number in chosen))


def _counted(path: Path, needed: bool) -> tuple[Any, str, int]:
    """What to read, its name, and the number of its sentences; 0 where they cannot be counted first and need not be."""
    from treebound.treebanks.lines import open_lines

    if str(path) != "-" and (path.is_file() or not path.exists()):
        name, lines = open_lines(path)
        with lines:
            return path, name, _first_words(lines)
    name, lines = open_lines(sys.stdin.buffer if str(path) == "-" else path)
    if not needed:
        return lines, name, 0
    kept = list(lines)
    return kept, name, _first_words(kept)


def _first_words(lines: Iterable[bytes]) -> int:
    """How many sentences some lines hold, by their first words."""
    return sum(line.startswith(b"1\t") for line in lines)


def _annotate(
    function: Callable[[Any, Document], Written],
    shared: Any,
    files: list[Path] | None,
    output: Path | None,
    workers: int,
    scheduler: str | None,
    prove: Callable[[bytes], None] | None = None,
    read: tuple[str, ...] = (),
) -> None:
    """Read files in parts, annotate and write them in order; few parts are in memory at a time.

    read  columns that a model looks at: a warning says which of them the input lacks
    """
    from treebound.support.workers import spread
    from treebound.treebanks.document import stream

    def parts() -> Iterator[Document]:
        for path in files or [Path("-")]:
            for i, document in enumerate(
                stream(sys.stdin.buffer if str(path) == "-" else path, BATCH, annotated=False)
            ):
                if i == 0:
                    _warn_of_empty(document.treebank, read, path)
                yield document.to_conllu()

    results = spread(function, shared, parts(), workers=workers, scheduler=scheduler, short=True)
    with closing(results), _output(output) as out, _bar("sentences", _sentences(files)) as advance:
        for done in results:
            out.write(done.text)
            for line in done.proofs:
                cast("Any", prove)(line)
            advance(done.sentences)


def _sentences(files: list[Path] | None) -> int | None:
    """How many sentences some tabular files hold, for an estimate; None for a pipe, and for what cannot be read."""
    from treebound.treebanks.lines import READ_ERRORS, open_lines

    total = 0
    for path in files or [Path("-")]:
        if not path.is_file():
            return None
        try:
            with closing(open_lines(path)[1]) as lines:
                total += _first_words(lines)
        except (InputError, *READ_ERRORS):
            return None
    return total or None


def _warn_of_empty(treebank: Treebank, columns: tuple[str, ...], path: Path) -> None:
    """Say which of these columns the first sentences of a file lack altogether; a few words may lack features."""
    if treebank.words < FEW:
        columns = tuple(name for name in columns if name != "feats")
    empty = [name for name in columns if treebank.words and set(treebank.strings(name)) == {"_"}]
    if empty:
        name = "<stdin>" if str(path) == "-" else path
        _say(f"treebound: warning: {name}: {', '.join(empty)} empty, which the model reads; see treebound tag")


def _read(path: Path, annotated: bool = True) -> Document:
    from treebound.treebanks.document import read

    return read(sys.stdin.buffer if str(path) == "-" else path, annotated=annotated)


def _choose(kind: str, given: tuple[str, ...], valid: tuple[str, ...]) -> None:
    for name in given:
        if name not in valid:
            raise InputError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(filter(None, valid)))


def _heads(k: str) -> int | None:
    if k == "none":
        return None
    if not k.isdecimal() or len(k) > 7 or not 1 <= int(k) <= 1_000_000:
        raise InputError(f"k is {k[:30]!r}", hint="give a number from 1, none or model")
    return int(k)


def _finite(name: str, number: float) -> None:
    if not abs(number) <= 1e300:  # nan is not
        raise InputError(f"{name} is {number}", hint="give a finite number")


def _inputs(files: list[Path] | None) -> list[Path | None]:
    """Files to read, None for standard input."""
    return [None if str(path) == "-" else path for path in files or [Path("-")]]


def _outputs(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Fail now rather than after an hour of work: outputs can be written, and overwrite nothing that is read."""
    from treebound.support.atomic import check_distinct, check_writable

    outputs = list(outputs)
    check_distinct(inputs, outputs)
    for path in outputs:
        if path is not None:
            check_writable(path)


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete."""
    from treebound.support.atomic import replacing

    with nullcontext(sys.stdout.buffer) if path is None else replacing(path) as file:
        yield file
        file.flush()  # a full disk shows here


@contextmanager
def _proofs(path: Path | None, space: Any) -> Iterator[Callable[[bytes], None] | None]:
    """What writes a proof to a file, which appears when it is complete; None without a path."""
    if path is None:
        yield None
        return
    from treebound.evaluation.proofs import Writer
    from treebound.support.atomic import replacing

    with replacing(path) as file:
        writer = Writer(file, space)
        yield writer.write
        writer.close()


def _fail(message: str, code: int = 1) -> NoReturn:
    """End with one line, whatever stands in the names and numbers that it tells of."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    _say(f"treebound: error: {shown if len(shown) <= 1000 else shown[:1000] + ' ...'}")
    _end(code)


def _end(code: int) -> NoReturn:
    """End without a complaint about what standard output could not take: that has been said, or nobody wants it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    raise SystemExit(code)


def _open_standard_streams() -> None:
    """Give a program that was started without standard streams (`>&-`) some, so that no file takes their numbers.

    What is to be read or written there fails with one line; errors, which nobody wanted, vanish.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest number that is free
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def main() -> NoReturn:
    """Entry point: every failure is one line on stderr and a non-zero exit status."""
    _open_standard_streams()
    try:
        result = app(standalone_mode=False)
        if result == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
        _end(result if isinstance(result, int) else 0)
    except SystemExit as ended:  # typer takes a pipe that is closed for a failure, and ends with 1
        if isinstance(ended.__context__, BrokenPipeError):
            _end(UNREAD)
        raise
    except TreeboundError as error:
        _fail(str(error))
    except TyperException as error:
        _fail(f"{error.format_message().rstrip(chr(46))}; see --help", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe (head, less) has seen enough
        _end(UNREAD)
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        _fail("out of memory; parse with fewer workers, or prune more (--k)")
    except Exception as error:  # a fault of ours: say which, in one line
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        at = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        _fail(f"internal error at {at}: {type(error).__name__}: {error}; please report it", 70)


if __name__ == "__main__":
    main()
