"""The command line. Heavy imports stand in the commands that need them: `treebound --help` answers at once."""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, cast

import typer
from typer.exceptions import TyperException

from treebound.core.errors import InputError, TreeboundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from treebound.annotate import Written
    from treebound.core.parse import Parse
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
Workers = Annotated[int, typer.Option(min=1, max=1024, help="Processes on this machine.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this Dask scheduler do it: tcp://HOST:8786.")
]
UNREAD = 141  #: exit status where the reader of our output has gone, by convention: 128 + SIGPIPE
INTERRUPTED = 130  #: exit status after Control-C, by convention; typer returns it
MANY = 1_000_000_000  #: more than this of anything is a mistake, and does not fit into what kernels count with
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

    settings = {
        "families": families,
        "learner": learner,
        "epochs": epochs,
        "k": k,
        "bits": bits,
        "C": c,
        "cost": cost,
        "seed": seed,
        "max_dp_calls": max_dp_calls,
        "tag": tag,
        "multi_root": multi_root,
        "patterns": patterns,
        "labels": labels,
        "label_cost": label_cost,
        "non_projective": non_projective,
    }
    recipe = training.recipe_of(settings)
    recipe.spec()  # a fault shows before anything is read
    kept = training.checkpoint_of(output)
    _outputs([train_file, dev_file, *_own_patterns(recipe)], [output, kept])
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
    from treebound.treebanks.atomic import check_distinct

    listed = training.listed(models)
    paths = {name: output / f"{name}.npz" for name in listed}
    given = [path for recipe, *files in listed.values() for path in (*files, *_own_patterns(recipe))]
    check_distinct([models, *given], [p for path in paths.values() for p in (path, training.checkpoint_of(path))])
    output.mkdir(parents=True, exist_ok=True)
    _outputs([], paths.values())
    jobs = [_job(name, *of, paths[name]) for name, of in listed.items()]
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

    read = _read(train_file), _read(dev_file)
    if not recipe.multi_root:
        if fault := _several_roots(train_file, read[0]):
            raise fault
        if fault := _several_roots(dev_file, read[1]):
            _say(f"treebound: {fault}")  # as in `convert`: what is to be learnt must be right, what is tested need not
    examples, dev = (_described(document.treebank, recipe.tag, not recipe.multi_root) for document in read)
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


def _own_patterns(recipe: Recipe) -> list[Path]:
    """The file of patterns of a recipe, where it is no shipped one."""
    return [Path(recipe.patterns)] if recipe.patterns and Path(recipe.patterns).is_file() else []


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
    max_dp_calls: Annotated[int, typer.Option(min=0, max=MANY, help="Limit for a sentence; 0: no limit.")] = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    margins: Annotated[
        bool, typer.Option("--margins", help="MISC Margin: what the best tree without the word's arc scores less.")
    ] = False,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="MISC Marginal: probability of the word's arc.")
    ] = False,
    scale: Annotated[float, typer.Option(min=0.0, help="Scale of scores in probabilities, exp(scale * score).")] = 1.0,
    kbest: Annotated[
        int, typer.Option(min=0, max=MANY, help="Comment kbest: scores and heads of the so many best trees.")
    ] = 0,
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
    _finite("scale", scale)
    _outputs([model, *_inputs(files)], [output, *([certificates] if certificates else [])])
    options: dict[str, Any] = {"decoder": decoder}
    if certificates is not None:
        if decoder != "branch-and-bound" or config != "tuned":
            raise InputError("only branch-and-bound, tuned, writes certificates", hint="leave --decoder and --config")
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
    epochs: Annotated[int, typer.Option(min=1, max=MANY)] = 6,
    bits: Annotated[int, typer.Option(min=8, max=28, help="Log2 of the number of weights.")] = 22,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 63) - 1)] = 1,
) -> None:
    """Train a part-of-speech tagger."""
    from treebound.tagging.learn import train_tagger as train_model

    _choose("tag", (tag,), ("", "xpos", "upos"))
    _outputs([train_file, dev_file], [output])
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

    _outputs([model, *_inputs(files)], [output])
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
    fast: Annotated[bool, typer.Option("--fast", help="Check trees and scores, not the proofs.")] = False,
    certificates: Annotated[
        Path | None, typer.Option(help="Proofs that parse wrote; without them, a search looks for new ones.")
    ] = None,
) -> None:
    """Verify the trees, scores, bounds and labels of a parsed file, all but the labels in plain exact arithmetic.

    The proof of a bound is read or, without a file, proposed by a search; its every step is then checked by code that
    shares nothing with the search. That takes seconds for a long sentence.
    """
    from treebound.decoders.record import certificate
    from treebound.evaluation.certificates import check_parse
    from treebound.evaluation.proofs import reading
    from treebound.parser import load
    from treebound.treebanks.document import stream

    parser = load(model, record=certificates is None, **({} if k == "model" else {"k": _heads(k)}))
    sentences = optimal = 0
    faults: list[str] = []
    with nullcontext() if certificates is None else reading(certificates) as stored, _bar("sentences") as advance:
        # one sentence at a time: a problem is built from the words of its own sentence alone
        for document in stream(sys.stdin.buffer if str(parsed) == "-" else parsed, 1, annotated=False):
            if not len(document):
                continue
            sentences += 1
            claim = _claim(document, parsed, sentences)
            optimal += claim.certified
            problem = parser.problem(document.treebank, 0)
            space = stored.space if stored else parser.decoder.space
            found = check_parse(problem, claim, space=space)
            proof = stored.next(problem) if stored else None
            if fast or found:
                pass
            elif proof:
                found = check_parse(problem, claim, proof, space)
            elif stored:
                found = ["no proof is stored"] if claim.certified else []
            elif claim.certified:
                record = parser.decoder.decode(problem).record
                found = check_parse(problem, claim, certificate(record), space) if record else ["no proof found"]
            if not found and parser.model.labelling.names:
                best = parser.model.label_names(parser.labelled(claim, document.treebank, 0))
                given = document.treebank.strings("deprel")
                words = enumerate(zip(given, best, strict=True), 1)
                found = [f"word {m}: label {a}, the model's is {b}" for m, (a, b) in words if a != b]
            faults += [f"sentence {sentences}: {fault}" for fault in found]
            advance(1)
        if stored:
            stored.finish()
    for fault in faults:
        print(fault)
    _say(f"{sentences} sentences, {optimal} claimed optimal, {len(faults)} faults")
    if faults:
        raise typer.Exit(1)


def _claim(document: Document, path: Path, number: int) -> Parse:
    """The parse that the comments of a document's only sentence claim."""
    from treebound.core.parse import Parse

    comments = (line[1:].partition("=") for line in document.blocks[0] if line.startswith("#"))
    claims = {key.strip(): value.strip() for key, _, value in comments}
    try:
        value, bound, status = float(claims["score"]), float(claims["bound"]), claims["status"]
    except (KeyError, ValueError) as error:
        raise InputError(
            f"sentence {number}: no valid comments score, bound and status ({error})",
            path=path,
            hint="give a file that `treebound parse` wrote",
        ) from None
    return Parse(document.treebank.heads(0), value, bound, cast("Any", status))


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
    from treebound.treebanks.atomic import check_distinct, check_writable

    outputs = list(outputs)
    check_distinct(inputs, outputs)
    for path in outputs:
        if path is not None:
            check_writable(path)


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete."""
    from treebound.treebanks.atomic import replacing

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


def _say(message: str) -> None:
    with suppress(OSError):  # nobody reads standard error any more, or its disk is full
        print(message, file=sys.stderr, flush=True)


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
