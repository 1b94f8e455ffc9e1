"""The command line. Heavy imports stand in the commands that need them: `treebound --help` answers at once."""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, cast

import typer
from typer.exceptions import TyperException

from treebound.core.errors import InputError, TreeboundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from treebound.annotate import Written
    from treebound.checking import Claimed
    from treebound.core.treebank import Treebank
    from treebound.training import Job, Recipe
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
CorpusPath = Annotated[str | None, typer.Option(help="Folder of a corpus that you have a licence for.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes on this machine.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786.")
]
INTERRUPTED = 130  #: exit status after Control-C, by convention; typer returns it
SAY_EVERY = 30.0  #: seconds between two lines on how far one is
BATCH = 100  #: sentences that a worker is given at a time

#: treebank files say nothing about how they are to be used; these are the conventions of Universal Dependencies
PUNCTUATION = {"column": "upos", "tags": ["PUNCT"]}


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
def train(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Training treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    families: Annotated[
        str, typer.Option(help="Factor families beside arcs, separated by commas; empty for arcs alone.")
    ] = "adjacent-sibling,outermost-grandchild,grandchild,sibling",
    learner: Annotated[str, typer.Option(help="mira or perceptron.")] = "mira",
    epochs: Annotated[int, typer.Option(min=1)] = 6,
    k: Annotated[int, typer.Option(min=1, help="Heads that the pruner keeps for each word.")] = 10,
    bits: Annotated[int, typer.Option(min=8, max=28, help="Log2 of the number of weights.")] = 22,
    c: Annotated[float, typer.Option("--C", help="Largest step of the mira update.")] = 0.01,
    cost: Annotated[float, typer.Option(help="Margin asked for each wrong head.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    max_dp_calls: Annotated[int, typer.Option(min=1, help="Limit for a training sentence.")] = 200,
    tag: Annotated[str, typer.Option(help="Column of the fine tags: xpos or upos; by default what is annotated.")] = "",
    multi_root: Annotated[bool, typer.Option("--multi-root", help="Sentences may have several roots.")] = False,
    patterns: Annotated[str, typer.Option(help="Hand-crafted patterns: a shipped file, as en_ud, or your own.")] = "",
    labels: Annotated[str, typer.Option(help="How arcs are labelled: none, joint, second-stage or both.")] = "both",
    label_cost: Annotated[float, typer.Option(help="Margin asked for each wrong label.")] = 0.25,
    non_projective: Annotated[bool, typer.Option("--non-projective", help="Arcs of a tree may cross.")] = False,
) -> None:
    """Train a model on a treebank. Started again after a kill, it goes on at the last finished epoch."""
    from treebound import training

    recipe = training.Recipe(
        families=families,  # type: ignore[arg-type]  # it splits the text
        learner=learner,
        epochs=epochs,
        k=k,
        bits=bits,
        C=c,
        cost=cost,
        seed=seed,
        max_dp_calls=max_dp_calls,
        tag=tag,
        multi_root=multi_root,
        patterns=patterns,
        labels=labels,
        label_cost=label_cost,
        non_projective=non_projective,
    )
    recipe.spec()  # a fault shows before anything is read
    _writable(output)
    done = training.train(_progress, _job(output.name, recipe, train_file, dev_file, output))
    if done.model is None:
        raise cast("TreeboundError", done.error)
    done.model.save(output)
    _say(f"{output}: {done.accuracy}")


@app.command()
def train_many(
    models: Annotated[Path, typer.Argument(metavar="LIST", help="YAML: `settings` of all and `models`, see below.")],
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
    from treebound import training

    listed = training.listed(models)
    jobs = []
    for name, (recipe, train_file, dev_file) in listed.items():
        output.mkdir(parents=True, exist_ok=True)
        path = output / f"{name}.npz"
        _writable(path)
        jobs.append(_job(name, recipe, train_file, dev_file, path))
    alone = workers == 1 and scheduler is None
    faults = 0
    for path, done in training.train_many(
        jobs, output, workers=workers, scheduler=scheduler, progress=_progress if alone else None
    ):
        if done.error is not None:
            faults += 1
            _say(f"treebound: error: {done.name}: {done.error}")
        else:
            _say(f"{path}: {done.accuracy}, " + (f"{done.seconds:.0f} s of CPU" if done.seconds else "there already"))
    if faults:
        raise typer.Exit(1)


def _job(name: str, recipe: Recipe, train_file: Path, dev_file: Path, output: Path) -> Job:
    """A model to be trained, its treebanks read."""
    from treebound.training import job

    examples, dev = (
        _described(_read(path).treebank, recipe.tag, not recipe.multi_root) for path in (train_file, dev_file)
    )
    return job(name, recipe, (train_file, dev_file), (examples, dev), output)


@app.command()
def parse(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files; standard input if none or -.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    decoder: Annotated[str, typer.Option(help="Any registered decoder.")] = "branch-and-bound",
    config: Annotated[str, typer.Option(help="tuned or published (branch-and-bound).")] = "tuned",
    k: Annotated[
        str, typer.Option(help="Heads kept for each word: a number, none, or model: as in training.")
    ] = "model",
    max_dp_calls: Annotated[int, typer.Option(min=0, help="Limit for a sentence; 0: no limit.")] = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    margins: Annotated[
        bool, typer.Option("--margins", help="MISC Margin: what the best tree without the word's arc scores less.")
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="MISC Marginal: probability of the word's arc.")
    ] = False,
    scale: Annotated[float, typer.Option(min=0.0, help="Scale of scores in probabilities, exp(scale * score).")] = 1.0,
    kbest: Annotated[int, typer.Option(min=0, help="Comment kbest: scores and heads of the so many best trees.")] = 0,
    certificates: Annotated[
        Path | None, typer.Option(help="File for the proofs, which `treebound check --certificates` verifies.")
    ] = None,
) -> None:
    """Parse CoNLL-U; comments of each sentence give its score, the proved bound and the status.

    Margins are in units of the model's scores; scores in comments are integers where the model's are fixed-point.
    """
    from treebound.annotate import Parsing, parsed
    from treebound.decoders.confidence import Assess
    from treebound.parser import load

    _choose("config", (config,), ("tuned", "published"))
    options: dict[str, Any] = {"decoder": decoder}
    if certificates is not None:
        if decoder != "branch-and-bound" or config != "tuned":
            raise InputError("only branch-and-bound, tuned, writes certificates", hint="leave --decoder and --config")
        _writable(certificates)
        options["record"] = True
    if decoder == "branch-and-bound":
        options |= {"config": config, "max_dp_calls": max_dp_calls}
    if k != "model":
        options["k"] = _heads(k)
    parser = load(model, **options)
    assess = Assess(margins, marginals, kbest, scale) if margins or marginals or kbest else None
    how = Parsing(parser, assess, certificates is not None)
    with _proofs(certificates, parser.decoder.space) as prove:
        _annotate(parsed, how, files, output, workers, scheduler, prove)


@app.command()
def train_tagger(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Tagged treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Tagger file to write.")],
    tag: Annotated[str, typer.Option(help="Column to predict: xpos or upos; by default what is annotated.")] = "",
    epochs: Annotated[int, typer.Option(min=1)] = 6,
    bits: Annotated[int, typer.Option(min=8, max=28, help="Log2 of the number of weights.")] = 22,
    seed: Annotated[int, typer.Option(min=0)] = 1,
) -> None:
    """Train a part-of-speech tagger."""
    from treebound.tagging.learn import train_tagger as train_model

    _choose("tag", (tag,), ("", "xpos", "upos"))
    _writable(output)
    examples, dev = (_described(_read(path, annotated=False).treebank, tag) for path in (train_file, dev_file))
    for path, treebank in ((train_file, examples), (dev_file, dev)):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank")
    column = examples.meta["tag"]
    tagger = train_model(examples, dev, column=column, epochs=epochs, bits=bits, seed=seed, progress=_progress)
    tagger.save(output)
    _say(f"{output}: {column} accuracy on dev {max(record['dev_accuracy'] for record in tagger.history):.2f}")


@app.command()
def tag(
    model: Annotated[Path, typer.Argument(help="Tagger file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="CoNLL-U files; standard input if none or -.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
) -> None:
    """Tag CoNLL-U: replace the column that the tagger was trained to predict."""
    from treebound.annotate import tagged
    from treebound.tagging.tagger import Tagger

    _annotate(tagged, Tagger.load(model), files, output, workers, scheduler)


@app.command()
def evaluate(
    gold: Annotated[Path, typer.Argument(help="Treebank with the right trees.")],
    predicted: Annotated[Path, typer.Argument(help="The same sentences as parsed.")],
    all_words: Annotated[bool, typer.Option("--all-words", help="Count punctuation as well.")] = False,
) -> None:
    """Attachment scores of a parsed file, labelled ones too where both files have labels."""
    from treebound.evaluation.attachment import evaluate as score
    from treebound.evaluation.attachment import has_labels

    truth, found = _described(_read(gold).treebank), _read(predicted, annotated=False).treebank
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
    fast: Annotated[bool, typer.Option("--fast", help="Check trees and scores, no proofs.")] = False,
    certificates: Annotated[
        Path | None, typer.Option(help="Proofs that parse wrote; without them, a search proposes new ones.")
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
    from treebound.checking import Checking, Summary, checked
    from treebound.evaluation.proofs import reading
    from treebound.parser import load
    from treebound.workers import spread

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
        with closing(results), _advancing("sentences", total) as advance:
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
    from treebound.checking import Claimed
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
            return path, name, sum(line.startswith(b"1\t") for line in lines)
    name, lines = open_lines(sys.stdin.buffer if str(path) == "-" else path)
    if not needed:
        return lines, name, 0
    kept = list(lines)
    return kept, name, sum(line.startswith(b"1\t") for line in kept)


def _annotate(
    function: Callable[[Any, Document], Written],
    shared: Any,
    files: list[Path] | None,
    output: Path | None,
    workers: int,
    scheduler: str | None,
    prove: Callable[[bytes], None] | None = None,
) -> None:
    """Read files in parts, annotate and write them in order; few parts are in memory at a time."""
    from treebound.treebanks.document import stream
    from treebound.workers import spread

    def parts() -> Iterator[Document]:
        for path in files or [Path("-")]:
            for document in stream(sys.stdin.buffer if str(path) == "-" else path, BATCH, annotated=False):
                yield document.to_conllu()

    results = spread(function, shared, parts(), workers=workers, scheduler=scheduler, short=True)
    with closing(results), _output(output) as out, _bar("sentences") as advance:
        for done in results:
            out.write(done.text)
            for line in done.proofs:
                cast("Any", prove)(line)
            advance(done.sentences)


def _read(path: Path, annotated: bool = True) -> Document:
    from treebound.treebanks.document import read

    return read(sys.stdin.buffer if str(path) == "-" else path, annotated=annotated)


def _described(treebank: Treebank, tag: str = "", single_root: bool = True) -> Treebank:
    """The treebank with what its file does not say: which columns serve as tags, and the tree space."""
    if not tag:
        tag = "xpos" if any(s != "_" for s in treebank.vocab["xpos"].strings) else "upos"
    treebank.meta.update(
        single_root=single_root, tag=tag, coarse="upos", punctuation=dict(PUNCTUATION), attributes=["lower", "suffix"]
    )
    return treebank


def _choose(kind: str, given: tuple[str, ...], valid: tuple[str, ...]) -> None:
    for name in given:
        if name not in valid:
            raise InputError(f"unknown {kind} {name!r}", hint="choose from " + ", ".join(filter(None, valid)))


def _heads(k: str) -> int | None:
    if k == "none":
        return None
    if not k.isdecimal() or int(k) < 1:
        raise InputError(f"k is {k!r}", hint="give a number from 1, none or model")
    return int(k)


def _writable(path: Path) -> None:
    """Fail now rather than after an hour of training."""
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError("cannot be written", path=path, hint="name a file in a folder that you may write")


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete."""
    from treebound.treebanks.atomic import replacing

    with nullcontext(sys.stdout.buffer) if path is None else replacing(path) as file:
        yield file
        file.flush()


@contextmanager
def _proofs(path: Path | None, space: Any) -> Iterator[Callable[[bytes], None] | None]:
    """What writes a proof to a file, which appears when it is complete; None without a path."""
    if path is None:
        yield None
        return
    from treebound.evaluation.proofs import Writer
    from treebound.treebanks.atomic import replacing

    with replacing(path) as file:
        writer = Writer(file, space)
        yield writer.write
        writer.close()


def _progress(items: Iterable, what: str) -> Iterable:
    """A bar over `items` on stderr where that is a terminal."""
    from tqdm import tqdm

    return tqdm(items, what, file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


@contextmanager
def _bar(unit: str) -> Iterator[Callable[[int], object]]:
    """A progress bar on stderr where that is a terminal."""
    from tqdm import tqdm

    with tqdm(unit=f" {unit}", file=sys.stderr, disable=not sys.stderr.isatty(), leave=False) as bar:
        yield bar.update


@contextmanager
def _advancing(unit: str, total: int) -> Iterator[Callable[[int], object]]:
    """How far one is and how long it will take (total 0: unknown): a bar, or where stderr is no terminal a line every
    half a minute.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(unit=f" {unit}", total=total or None, file=sys.stderr, leave=False) as bar:
            yield bar.update
        return
    started = said = time.monotonic()
    done = 0

    def advance(count: int) -> None:
        nonlocal done, said, started
        done += count
        now = time.monotonic()
        if done == count:
            started = said = now  # the first item loads compiled code
        elif now - said >= SAY_EVERY:
            left = f" of {total}, about {(now - started) / (done - 1) * (total - done):.0f} s left"
            _say(f"{done}{left if total >= done else f' {unit}'}")
            said = now

    yield advance


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _fail(message: str, code: int = 1) -> NoReturn:
    _say(f"treebound: error: {message}")
    raise SystemExit(code)


def main() -> NoReturn:
    """Entry point: every failure is one line on stderr and a non-zero exit status."""
    try:
        result = app(standalone_mode=False)
        if result == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
        raise SystemExit(result if isinstance(result, int) else 0)
    except TreeboundError as error:
        _fail(str(error))
    except TyperException as error:
        _fail(f"{error.format_message().rstrip(chr(46))}; see --help", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
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
