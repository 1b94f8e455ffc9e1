"""Commands that train."""

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
    tell_compiling,
)
from treebound.cli.options import given, options_of
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
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Training treebank: CoNLL-U, CoNLL-X, brackets.")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="Treebank on which the best epoch is chosen.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    system: Annotated[
        str,
        typer.Option(
            help="What is trained: graph, constrained, transition, ccg, sampling, correcting (which chooses tags with "
            "trees), tagging, udpipe or spacy. --help-for shows the options of one."
        ),
    ] = "graph",
    **settings: Any,
) -> None:
    """Train a model on a treebank. Started again after a kill, it goes on at the last finished epoch.

    First it says what TRAIN holds and what is chosen by that; options say otherwise.
    """
    from treebound.systems import training

    check_binary(output, "a model")
    chosen = given(context, settings)
    _check_owner(system, chosen)
    recipe = training.recipe({"system": system, **chosen})  # a fault shows before anything is read
    kept = training.checkpoint_of(output)
    check_files([train_file, dev_file, *recipe.own_files], [output, kept])
    _check_replaced(output)
    job = _job(output.name, recipe, train_file, dev_file, output)
    for remark in job.remarks:
        say(f"{train_file}: {remark}")
    if training.compiles(recipe):
        tell_compiling()
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

    if is_standard(output):
        raise InputError("models cannot go to standard output", path=output, hint="name a folder")
    listed = training.listed(models)
    paths = {name: output / f"{name}.npz" for name in listed}
    given = [path for recipe, *files in listed.values() for path in (*files, *recipe.own_files)]
    check_distinct([models, *given], [p for path in paths.values() for p in (path, training.checkpoint_of(path))])
    output.mkdir(parents=True, exist_ok=True)
    check_files([], paths.values())
    jobs = []
    for name, of in listed.items():
        try:
            jobs.append(_job(name, *of, paths[name]))
        except InputError as error:
            raise InputError(f"models.{name}: {error}", path=models) from None
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


@options_of({"": Tagging})
def jackknife(
    context: typer.Context,
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Tagged treebank: CoNLL-U, CoNLL-X, brackets.")],
    output: Output = None,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    encoding: Encoding = "utf-8",
    **settings: Any,
) -> None:
    """Write a treebank as CoNLL-U with predicted columns: what a parser for predicted columns ought to learn from.

    Each tenth of it is tagged by taggers of the other nine. Settings are those of `train --system tagging`.
    """
    from treebound.support.settings import read
    from treebound.systems.tagging.jackknife import jackknife as predicted
    from treebound.systems.tagging.system import chosen

    wanted = read(Tagging, given(context, settings))
    check_files([train_file], [output])
    document = read_document(train_file, annotated=False, encoding=encoding)
    try:
        columns = chosen(wanted, document.treebank)
    except InputError as error:
        raise InputError(error.reason, path=train_file, hint=error.hint) from None
    how: dict[str, Any] = wanted.numbers | {"workers": workers, "scheduler": scheduler, "progress": over}
    found = predicted(document.treebank, columns, **how)
    filled = {name: [sentence.strings(name) for sentence in found] for name in columns}
    with output_file(output) as file:
        document.to_conllu().write(file, columns=filled)


def _check_owner(system: str, names: Iterable[str]) -> None:
    """InputError for an option of other systems than this one."""
    from treebound.systems.registry import SYSTEMS

    if system not in SYSTEMS:
        return
    own = {field.name for of in (SYSTEMS[system]().settings, Reading) for field in fields(of)}
    for name in (name for name in names if name not in own):
        who = [whose or "graph" for whose, of in SETTINGS.items() if name in {field.name for field in fields(of)}]
        option = f"--{name.replace('_', '-')}"
        raise InputError(
            f"{option} is an option of {', '.join(who)}, not of {system}", hint="leave it out, or see --system"
        )


def _check_replaced(output: Path) -> None:
    """InputError where something else than a model would be replaced by one."""
    if output.is_file():
        with output.open("rb") as file:
            start = file.read(2)
        if start not in (b"", b"PK"):  # model files are zip archives
            raise InputError("is there, and is no model", path=output, hint="name another file, or delete this one")


def _job(name: str, recipe: Recipe, train_file: Path, dev_file: Path, output: Path) -> Job:
    """A model to be trained, its treebanks read."""
    from treebound.systems.registry import SYSTEMS
    from treebound.systems.training import job

    trees = SYSTEMS[recipe.system]().trees
    encoding = recipe.reading.encoding
    (examples, many), (dev, many_in_dev) = (_trees(path, encoding, trees) for path in (train_file, dev_file))
    if trees and not recipe.reading.multi_root:
        if many is not None:
            raise _several_roots(train_file, many)
        if many_in_dev is not None:  # as in `convert`: what is to be learnt must be right, what is tested need not
            say(f"treebound: {_several_roots(dev_file, many_in_dev)}")
    return job(name, recipe, (train_file, dev_file), (examples, dev), output)


def _trees(path: Path, encoding: str, annotated: bool) -> tuple[Treebank, SeveralRoots | None]:
    """Read a treebank of any known format without its text, - for standard input."""
    from treebound.treebanks.trees import read_trees

    return read_trees(sys.stdin.buffer if str(path) == "-" else path, encoding, annotated)


def _several_roots(path: Path, many: SeveralRoots) -> InputError:
    """Return the fault of trees that `convert` leaves out of training: a parser with one root cannot find them."""
    others = f", and {many.more} more like it" if many.more else ""
    reason = f"sentence {many.sentence + 1} has {many.roots} roots{others}"
    return InputError(reason, path=path, line=many.line, hint="correct it or delete it, or train with --multi-root")
