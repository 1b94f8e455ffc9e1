"""Commands that train models: `train`, `train-many` and `jackknife`."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from treebound.cli.common import (
    Encoding,
    Output,
    Scheduler,
    Workers,
    check_binary,
    check_files,
    is_standard,
    output_file,
    read_document,
    report_compiling,
)
from treebound.cli.options import options_of, typed
from treebound.core.errors import InputError, TreeboundError
from treebound.learning.reading import Reading
from treebound.support.progress import over, say
from treebound.systems.ccg.settings import Settings as CCG
from treebound.systems.constrained.settings import Settings as Constrained
from treebound.systems.correcting.settings import Settings as Correcting
from treebound.systems.graph.settings import Settings as Graph
from treebound.systems.peers.settings import Settings as Peers
from treebound.systems.sampling.settings import Settings as Sampling
from treebound.systems.tagging.settings import Settings as Tagging
from treebound.systems.transition.settings import Settings as Transition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from treebound.core.treebank import Treebank
    from treebound.systems.training import Job, Recipe
    from treebound.treebanks.trees import SeveralRoots


def system_names() -> list[str]:
    """Return the names of all systems, for completion in the shell."""
    from treebound.systems.registry import SYSTEMS

    return list(SYSTEMS)


SETTINGS = {
    "": Graph,
    "constrained": Constrained,
    "transition": Transition,
    "ccg": CCG,
    "sampling": Sampling,
    "correcting": Correcting,
    "tagging": Tagging,
    "udpipe, spacy": Peers,
    " ": Reading,
}


@options_of(SETTINGS)
def train(
    context: typer.Context,
    train_file: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Training treebank, in CoNLL-U, CoNLL-X or brackets.")
    ],
    dev_file: Annotated[
        Path, typer.Argument(metavar="DEV", help="Development treebank, on which the best epoch is chosen.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the model to this file.")],
    system: Annotated[
        str,
        typer.Option(
            autocompletion=system_names,
            help="System to train: graph, constrained, transition, ccg, sampling, correcting (chooses tags together "
            "with trees), tagging, udpipe or spacy. --help-for SYSTEM shows its options.",
        ),
    ] = "graph",
    **settings: Any,
) -> None:
    """Train a model on a treebank.

    The command first reports what TRAIN contains and which settings it derives from the contents. Options override
    these settings. If training is killed, the same command continues after the last finished epoch.

    \b
    Examples:
    treebound train train.conllu dev.conllu -o model.npz
    treebound train train.conllu dev.conllu -o fast.npz --families "" --epochs 5
    treebound train train.conllu dev.conllu -o tagger.npz --system tagging
    """
    from treebound.systems import training

    check_binary(output, "a model")
    chosen = typed(context, settings)
    _check_owner(system, chosen)
    recipe = training.recipe({"system": system, **chosen})  # raises for bad settings before any file is read
    checkpoint = training.checkpoint_of(output)
    check_files([train_file, dev_file, *recipe.own_files], [output, checkpoint])
    _check_replaced(output)
    job = _job(output.name, recipe, train_file, dev_file, output)
    for remark in job.remarks:
        say(f"{train_file}: {remark}")
    if checkpoint.is_file():
        say(f"{output}: continues after the last finished epoch, if {checkpoint} has the same data and settings")
    if training.compiles(recipe):
        report_compiling()
    result = training.train(over, job)
    if result.model is None:
        raise cast("TreeboundError", result.error)
    result.model.save(output)
    say(f"{output}: {result.report}")


def train_many(
    models: Annotated[Path, typer.Argument(metavar="LIST", help="YAML file with `settings` and `models`, see above.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the model files to this folder.")],
    workers: Workers = 1,
    scheduler: Scheduler = None,
) -> None:
    """Train all models of a list, several at a time.

    For each model, LIST names two treebanks, relative to the folder of LIST, and the settings of this model. Settings
    are options of `treebound train` with _ for -. NAME.npz is written as soon as NAME is trained. If the command is
    started again, it trains only the models that are not finished.

    \b
    Example of LIST:
    settings: {epochs: 4}
    models:
      english: {train: en/train.conllu, dev: en/dev.conllu}
      arcs: {train: en/train.conllu, dev: en/dev.conllu, families: []}

    \b
    Example:
    treebound train-many models.yaml -o models --workers 2
    """
    from treebound.support.atomic import check_distinct
    from treebound.systems import training

    if is_standard(output):
        raise InputError("models cannot go to standard output", path=output, hint="name a folder")
    listed = training.listed(models)
    paths = {name: output / f"{name}.npz" for name in listed}
    inputs = [path for recipe, *files in listed.values() for path in (*files, *recipe.own_files)]
    check_distinct([models, *inputs], [p for path in paths.values() for p in (path, training.checkpoint_of(path))])
    output.mkdir(parents=True, exist_ok=True)
    check_files([], paths.values())
    jobs = []
    for name, task in listed.items():
        try:
            jobs.append(_job(name, *task, paths[name]))
        except InputError as error:
            raise InputError(f"models.{name}: {error}", path=models) from None
    for job in jobs:
        for remark in job.remarks:
            say(f"{job.name}: {remark}")
    alone = workers == 1 and scheduler is None
    faults = 0
    for path, result in training.train_many(
        jobs, output, workers=workers, scheduler=scheduler, progress=over if alone else None
    ):
        if result.error is not None:
            faults += 1
            say(f"treebound: error: {result.name}: {result.error}")
        else:
            time = f"{result.seconds:.0f} s of CPU time" if result.seconds else "finished earlier"
            say(f"{path}: {result.report}, {time}")
    if faults:
        raise typer.Exit(1)


@options_of({"": Tagging})
def jackknife(
    context: typer.Context,
    train_file: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Tagged treebank, in CoNLL-U, CoNLL-X or brackets.")
    ],
    output: Output = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    encoding: Encoding = "utf-8",
    **settings: Any,
) -> None:
    """Write a treebank with predicted columns.

    The result is training data for a parser whose input will have predicted columns. The treebank is divided into ten
    folds. Each fold is tagged by taggers that are trained on the other nine. The Model options are settings
    of the taggers.

    \b
    Example:
    treebound jackknife train.conllu -o train-predicted.conllu --workers 2
    """
    from treebound.support.settings import read
    from treebound.systems.tagging.jackknife import jackknife as predicted
    from treebound.systems.tagging.system import chosen

    chosen_settings = read(Tagging, typed(context, settings))
    check_files([train_file], [output])
    document = read_document(train_file, annotated=False, encoding=encoding)
    try:
        columns = chosen(chosen_settings, document.treebank)
    except InputError as error:
        raise InputError(error.reason, path=train_file, hint=error.hint) from None
    how: dict[str, Any] = chosen_settings.numbers | {"workers": workers, "scheduler": scheduler, "progress": over}
    tagged = predicted(document.treebank, columns, **how)
    filled = {name: [sentence.strings(name) for sentence in tagged] for name in columns}
    with output_file(output) as file:
        document.to_conllu().write(file, columns=filled)


def _check_owner(system: str, names: Iterable[str]) -> None:
    """Raise InputError for an option that belongs to other systems only."""
    from treebound.systems.registry import SYSTEMS

    if system not in SYSTEMS:
        return
    own = {field.name for kind in (SYSTEMS[system]().settings, Reading) for field in fields(kind)}
    for name in (name for name in names if name not in own):
        owners = [whose or "graph" for whose, kind in SETTINGS.items() if name in {f.name for f in fields(kind)}]
        option = f"--{name.replace('_', '-')}"
        raise InputError(
            f"{option} is an option of {', '.join(owners)}, not of {system}", hint="leave it out, or see --system"
        )


def _check_replaced(output: Path) -> None:
    """Raise InputError if the output would replace a file that is not a model."""
    if output.is_file():
        with output.open("rb") as file:
            start = file.read(2)
        if start not in (b"", b"PK"):  # model files are zip archives
            raise InputError("exists and is not a model", path=output, hint="name another file, or delete this one")


def _job(name: str, recipe: Recipe, train_file: Path, dev_file: Path, output: Path) -> Job:
    """Read the treebanks of a model and return its training job."""
    from treebound.systems.registry import SYSTEMS
    from treebound.systems.training import job

    trees = SYSTEMS[recipe.system]().trees
    encoding = recipe.reading.encoding
    (examples, many), (dev, many_in_dev) = (_trees(path, encoding, trees) for path in (train_file, dev_file))
    if trees and not recipe.reading.multi_root:
        if many is not None:
            raise _several_roots(train_file, many)
        if many_in_dev is not None:  # only reported, as `convert` does: training data must be right, test data need not
            say(f"treebound: {_several_roots(dev_file, many_in_dev)}")
    return job(name, recipe, (train_file, dev_file), (examples, dev), output)


def _trees(path: Path, encoding: str, annotated: bool) -> tuple[Treebank, SeveralRoots | None]:
    """Return the treebank in a file of any known format, and the first tree with several roots, if any.

    The lines of the file are not stored. A path `-` is standard input.
    """
    from treebound.treebanks.trees import read_trees

    return read_trees(sys.stdin.buffer if str(path) == "-" else path, encoding, annotated)


def _several_roots(path: Path, many: SeveralRoots) -> InputError:
    """Return the error for sentences with several roots, which `convert` leaves out of training parts."""
    others = f" (several roots in {many.more + 1} sentences)" if many.more else ""
    reason = f"sentence {many.sentence + 1} has {many.roots} roots{others}"
    return InputError(reason, path=path, line=many.line, hint="correct it or delete it, or train with --multi-root")
