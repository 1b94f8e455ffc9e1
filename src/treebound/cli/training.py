"""Commands that train."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from treebound.cli.common import MANY, Scheduler, Workers, check_files, choose, read_document
from treebound.cli.options import given, options_of
from treebound.core.errors import InputError, TreeboundError
from treebound.learning.reading import Reading
from treebound.support.progress import over, say
from treebound.systems.ccg.settings import Settings as CCG
from treebound.systems.constrained.settings import Settings as Constrained
from treebound.systems.graph.settings import Settings as Graph
from treebound.systems.peers.settings import Settings as Peers
from treebound.systems.sampling.settings import Settings as Sampling
from treebound.systems.tagging.settings import Settings as Tagging
from treebound.systems.transition.settings import Settings as Transition

if TYPE_CHECKING:
    from treebound.systems.training import Job, Recipe
    from treebound.treebanks.document import Document


SETTINGS = {
    "": Graph,
    "constrained": Constrained,
    "transition": Transition,
    "ccg": CCG,
    "sampling": Sampling,
    "tagging": Tagging,
    "udpipe, spacy": Peers,
    " ": Reading,
}


@options_of(SETTINGS)
def train(
    context: typer.Context,
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Training treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    system: Annotated[
        str,
        typer.Option(
            help="What is trained: graph, constrained, transition, ccg, sampling, tagging, udpipe or spacy; options "
            "say whose."
        ),
    ] = "graph",
    **settings: Any,
) -> None:
    """Train a model on a treebank. Started again after a kill, it goes on at the last finished epoch.

    First it says what TRAIN holds and what is chosen by that; options say otherwise.
    """
    from treebound.systems import training

    recipe = training.recipe({"system": system, **given(context, settings)})  # a fault shows before anything is read
    kept = training.checkpoint_of(output)
    check_files([train_file, dev_file, *recipe.own_files], [output, kept])
    job = _job(output.name, recipe, train_file, dev_file, output)
    for remark in job.remarks:
        say(f"{train_file}: {remark}")
    if training.compiles(recipe):
        say("compiling, once per machine: a minute or two")
    done = training.train(over, job)
    if done.model is None:
        raise cast("TreeboundError", done.error)
    done.model.save(output)
    say(f"{output}: {done.report}")


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
    given = [path for recipe, *files in listed.values() for path in (*files, *recipe.own_files)]
    check_distinct([models, *given], [p for path in paths.values() for p in (path, training.checkpoint_of(path))])
    output.mkdir(parents=True, exist_ok=True)
    check_files([], paths.values())
    jobs = [_job(name, *of, paths[name]) for name, of in listed.items()]
    for job in jobs:
        for remark in job.remarks:
            say(f"{job.name}: {remark}")
    alone = workers == 1 and scheduler is None
    faults = 0
    for path, done in training.train_many(
        jobs, output, workers=workers, scheduler=scheduler, progress=over if alone else None
    ):
        if done.error is not None:
            faults += 1
            say(f"treebound: error: {done.name}: {done.error}")
        else:
            say(f"{path}: {done.report}, " + (f"{done.seconds:.0f} s of CPU" if done.seconds else "there already"))
    if faults:
        raise typer.Exit(1)


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
        choose("column", wanted or ("",), COLUMNS)
    check_files([train_file, dev_file], filter(None, (output, jackknifed)))
    document, dev = read_document(train_file, annotated=False), read_document(dev_file, annotated=False).treebank
    examples = document.treebank
    for path, treebank in ((train_file, examples), (dev_file, dev)):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank")
    if wanted == ("auto",):
        wanted = tuple(name for name in COLUMNS if filled(examples, name) >= ENOUGH)
    if not wanted:
        raise InputError("has no tags in any column", path=train_file, hint="give a tagged treebank")
    settings = {"epochs": epochs, "bits": bits, "seed": seed}
    taggers = train_taggers(examples, dev, wanted, progress=over, **settings)
    taggers.save(output)
    scores = ", ".join(f"{column} {score:.2f}" for column, score in accuracies(dev, taggers).items())
    say(f"{output}: accuracy on dev: {scores}")
    if jackknifed is not None:
        found = predicted(examples, wanted, workers=workers, progress=over, **settings)
        filled_in = {name: [sentence.strings(name) for sentence in found] for name in wanted}
        document.to_conllu().write(jackknifed, columns=filled_in)


def _job(name: str, recipe: Recipe, train_file: Path, dev_file: Path, output: Path) -> Job:
    """A model to be trained, its treebanks read."""
    from treebound.systems.training import job

    read = read_document(train_file), read_document(dev_file)
    if not recipe.reading.multi_root:
        if fault := _several_roots(train_file, read[0]):
            raise fault
        if fault := _several_roots(dev_file, read[1]):
            say(f"treebound: {fault}")  # as in `convert`: what is to be learnt must be right, what is tested need not
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
