"""What `treebound train` and `treebound train-many` do: models from files, by settings that have a name each.

A list of models is a YAML file:

    settings: {epochs: 4, bits: 20}      # of all models, as far as they have no others
    models:
      english:                           # english.npz in the folder of the output
        train: en/train.conllu           # from the folder of this file
        dev: en/dev.conllu
      english-arcs: {train: en/train.conllu, dev: en/dev.conllu, families: []}
      english-spacy: {system: spacy, train: en/train.conllu, dev: en/dev.conllu}

Settings are those of the system and of `treebound.learning.reading.Reading`: the options of `treebound train` with _
for -. The same files and settings give the same bytes, on any machine and with any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError, ModelError, TreeboundError
from treebound.core.treebank import Treebank
from treebound.factors.pattern_language import load as load_patterns
from treebound.learning.reading import Reading
from treebound.learning.survey import describe, remarks
from treebound.support import yamlfile
from treebound.support.settings import Checked, SettingError, read
from treebound.support.workers import spread
from treebound.systems.registry import SYSTEMS

Progress = Callable[[Iterable, str], Iterable]


@dataclass(frozen=True)
class Recipe:
    """Which system is trained, how, and how its treebanks are read."""

    system: str
    settings: Any
    reading: Reading

    @property
    def own_files(self) -> list[Path]:
        """The files of patterns and features, where some are named that are no shipped ones."""
        named = (
            self.reading.patterns,
            getattr(self.settings, "features", ""),
            getattr(self.settings, "constraints", ""),
        )
        return [Path(name) for name in named if name and Path(name).is_file()]


def recipe(given: Mapping[str, Any]) -> Recipe:
    """The recipe with these settings, `system` being one of them. Raises SettingError."""
    name = str(given.get("system", "graph"))
    if name not in SYSTEMS:
        raise SettingError("system", f"unknown system {name!r}", "choose from " + ", ".join(SYSTEMS))
    of_reading = {f.name for f in fields(Reading)}
    reading = read(Reading, {key: value for key, value in given.items() if key in of_reading})
    own = {key: value for key, value in given.items() if key not in of_reading and key != "system"}
    settings: Checked = read(SYSTEMS[name]().settings, own, "system", "train", "dev", *of_reading)
    if reading.patterns:
        load_patterns(reading.patterns)  # a fault in them shows now rather than after the pruner's training
        families = getattr(settings, "families", ("pattern",))
        if "pattern" not in families:
            settings = replace(settings, families=(*families, "pattern"))  # type: ignore[call-arg]
    return Recipe(name, settings, reading)


@dataclass(frozen=True)
class Job:
    """A model to be trained: its treebanks are read and checked.

    remarks     what ought to be known of the data before training: a line each
    checkpoint  kept after every epoch where its folder exists: on this machine, or on a file system that workers share
    """

    name: str
    recipe: Recipe
    train: Treebank = field(repr=False)
    dev: Treebank = field(repr=False)
    checkpoint: Path
    remarks: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Trained:
    """A model, what is said of it, and the CPU seconds that it took; or what went wrong."""

    name: str
    model: Any
    report: str = ""
    seconds: float = 0.0
    error: TreeboundError | None = None


def job(name: str, recipe: Recipe, files: tuple[Path, Path], treebanks: tuple[Treebank, Treebank], output: Path) -> Job:
    """Of a training and a dev treebank, whose files are named in messages. Raises InputError where they cannot do."""
    for path, treebank in zip(files, treebanks, strict=True):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank")
    system, reading = SYSTEMS[recipe.system](), recipe.reading
    describe(*treebanks, reading if system.attributes else replace(reading, attributes=("none",)))
    try:
        settings = system.fitted(recipe.settings, treebanks[0])
    except InputError as error:
        if isinstance(error, SettingError) or error.path:
            raise
        raise InputError(error.reason, path=files[0], hint=error.hint) from None
    known = []
    if system.trees:
        projective = getattr(settings, "space", "") == "projective"
        k = (settings.k or "none") if recipe.system == "graph" else ""
        known = remarks(*treebanks, projective=projective, k=k)
    return Job(name, replace(recipe, settings=settings), *treebanks, checkpoint_of(output), known)


def checkpoint_of(output: Path) -> Path:
    """Where the training of a model file is kept while it goes on: beside the file, not beside what a link names."""
    return output.absolute().with_name(f".{output.name}.checkpoint.npz")


def compiles(recipe: Recipe) -> bool:
    """Whether this machine has yet to compile what training by the recipe runs: a minute or two in which nothing moves.

    Judged by the kernels of the first sentence that are compiled last.
    """
    from treebound.support.jit.cache import is_compiled

    of_systems = {
        "graph": ["kernels.features.updates.step"],
        "transition": ["systems.transition.greedy.parse_greedily"],
        "ccg": ["systems.ccg.rule_features.expect_steps"],
        "sampling": ["systems.sampling.search.next_pair"],
        "correcting": ["systems.sampling.search.next_pair"],
    }
    kernels = list(of_systems.get(recipe.system, []))
    if getattr(recipe.settings, "space", "") == "non-projective":
        kernels.append("decoders.approximate.climb_kernel.climb_heads")
    return not is_compiled(*kernels)


def train(progress: Progress | None, job: Job) -> Trained:
    """Train a model, from its checkpoint if there is one; errors of use are returned, not raised."""
    system, started = SYSTEMS[job.recipe.system](), time.process_time()
    checkpoint = job.checkpoint if job.checkpoint.parent.is_dir() else None
    try:
        model = system.train(job.recipe.settings, job.train, job.dev, checkpoint=checkpoint, progress=progress)
        return Trained(job.name, model, system.report(model, job.dev), time.process_time() - started)
    except TreeboundError as error:
        return Trained(job.name, None, error=error)


def train_many(
    jobs: Sequence[Job],
    folder: Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Path, Trained]]:
    """Train and write <folder>/<name>.npz of every job that is not there with the same settings and data.

    Yields models as they are finished, their files written; those that are there come first, with 0 seconds.
    workers, scheduler  as for `treebound.support.workers.spread`
    progress            for one worker
    """
    missing = []
    for job in jobs:
        path = folder / f"{job.name}.npz"
        model = finished(path, job)
        if model is not None:
            yield path, Trained(job.name, model, SYSTEMS[job.recipe.system]().report(model, job.dev))
        else:
            missing.append(job)
    for done in spread(train, progress, missing, workers=workers, scheduler=scheduler, ordered=False):
        path = folder / f"{done.name}.npz"
        if done.model is not None:
            done.model.save(path)
        yield path, done


def finished(path: Path, job: Job) -> Any:
    """The model of a file if it is what this job would give; None if there is none, or nothing tells."""
    system = SYSTEMS[job.recipe.system]()
    key = system.key(job.recipe.settings, job.train, job.dev)
    try:
        model = system.load(path)
    except ModelError:
        return None
    return model if key and model.key == key else None


def listed(path: Path) -> dict[str, tuple[Recipe, Path, Path]]:
    """name -> recipe, training treebank, dev treebank. Raises InputError with the line of a fault."""
    tree, data = yamlfile.read(path, hint="give a list of models")

    def fault(reason: str, *keys: str, hint: str = "see treebound train-many --help") -> InputError:
        return InputError(f"{'.'.join(keys)}: {reason}", path=path, line=yamlfile.line_of(tree, keys), hint=hint)

    if not isinstance(data, dict) or not isinstance(data.get("models"), dict) or not data["models"]:
        raise fault("no models are listed", "models")
    if unknown := data.keys() - {"settings", "models"}:
        raise fault("unknown key", str(min(unknown, key=str)), hint="valid keys are settings, models")
    common = data.get("settings") or {}
    if not isinstance(common, dict):
        raise fault("not settings but a single value", "settings")
    found = {}
    for name, own in data["models"].items():
        place = ("models", str(name))
        if not isinstance(own, dict):
            raise fault("no settings", *place, hint="give at least train and dev")
        if not yamlfile.file_name(str(name)) or Path(str(name)).name != str(name):
            raise fault("not the name of a file", *place)
        if str(name) in found:
            raise fault("listed twice", *place)
        files = {key: own.get(key, common.get(key)) for key in ("train", "dev")}
        for key, value in files.items():
            if not isinstance(value, str) or not yamlfile.file_name(value):
                raise fault("no file is named", *place, key, hint="name a treebank")
        settings = {key: value for key, value in {**common, **own}.items() if key not in files}
        try:
            chosen = recipe(settings)
        except SettingError as error:
            where = (*place, error.key) if error.key in own else ("settings", error.key)
            raise fault(error.reason, *where, hint=error.hint or "see treebound train-many --help") from None
        except InputError as error:
            raise fault(error.reason, *place, hint=error.hint) from None
        found[str(name)] = chosen, path.parent / str(files["train"]), path.parent / str(files["dev"])
    return found
