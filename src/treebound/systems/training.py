"""Training of models from treebank files: the work of `treebound train` and `treebound train-many`.

A list of models is a YAML file:

    settings: {epochs: 4, bits: 20}      # settings of all models; a model can override them
    models:
      english:                           # writes english.npz into the output folder
        train: en/train.conllu           # relative to the folder of this file
        dev: en/dev.conllu
      english-arcs: {train: en/train.conllu, dev: en/dev.conllu, families: []}
      english-spacy: {system: spacy, train: en/train.conllu, dev: en/dev.conllu}

Settings are named like the options of `treebound train`, with _ for -: the settings of the system and the fields of
`treebound.learning.reading.Reading`. The same files and settings produce the same bytes, on any machine and with any
number of workers.
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
    """Name of a system, settings of its training, and settings for reading its treebanks."""

    system: str
    settings: Any
    reading: Reading

    @property
    def own_files(self) -> list[Path]:
        """The user's files of patterns, features and constraints. Files that come with the program are left out."""
        named = (
            self.reading.patterns,
            getattr(self.settings, "features", ""),
            getattr(self.settings, "constraints", ""),
        )
        return [Path(name) for name in named if name and Path(name).is_file()]


def recipe(values: Mapping[str, Any]) -> Recipe:
    """Return the recipe for settings by name, including `system` (default: graph). Raises SettingError."""
    name = str(values.get("system", "graph"))
    if name not in SYSTEMS:
        raise SettingError("system", f"unknown system {name!r}", "choose from " + ", ".join(SYSTEMS))
    of_reading = {f.name for f in fields(Reading)}
    reading = read(Reading, {key: value for key, value in values.items() if key in of_reading})
    system_values = {key: value for key, value in values.items() if key not in of_reading and key != "system"}
    settings: Checked = read(SYSTEMS[name]().settings, system_values, "system", "train", "dev", *of_reading)
    if reading.patterns:
        load_patterns(reading.patterns)  # reports an error now rather than after the pruner's training
        families = getattr(settings, "families", ("pattern",))
        if "pattern" not in families:
            settings = replace(settings, families=(*families, "pattern"))  # type: ignore[call-arg]
    return Recipe(name, settings, reading)


@dataclass(frozen=True)
class Job:
    """A model to train, with its treebanks read and checked.

    checkpoint  file that is written after every epoch if its folder exists on the machine that trains
    remarks     properties of the data that the user should know before training, one line each
    """

    name: str
    recipe: Recipe
    train: Treebank = field(repr=False)
    dev: Treebank = field(repr=False)
    checkpoint: Path
    remarks: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Trained:
    """The result of a training job.

    model    the trained model; None after an error
    report   a line about the model
    seconds  CPU seconds of training
    error    the error that stopped the training, if any
    """

    name: str
    model: Any
    report: str = ""
    seconds: float = 0.0
    error: TreeboundError | None = None


def job(name: str, recipe: Recipe, files: tuple[Path, Path], treebanks: tuple[Treebank, Treebank], output: Path) -> Job:
    """Return the job of training a recipe on a train and a dev treebank.

    files   paths of the two treebanks, for messages
    output  path of the model file

    Raises InputError if the recipe cannot be trained on the treebanks.
    """
    for path, treebank in zip(files, treebanks, strict=True):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank with at least one sentence")
    system, reading = SYSTEMS[recipe.system](), recipe.reading
    describe(*treebanks, reading if system.attributes else replace(reading, attributes=("none",)))
    try:
        settings = system.adapted_settings(recipe.settings, treebanks[0])
    except InputError as error:
        if isinstance(error, SettingError) or error.path:
            raise
        raise InputError(error.reason, path=files[0], hint=error.hint) from None
    messages = []
    if system.trees:
        projective = getattr(settings, "space", "") == "projective"
        k = (settings.k or "none") if recipe.system == "graph" else ""
        messages = remarks(*treebanks, projective=projective, k=k)
    return Job(name, replace(recipe, settings=settings), *treebanks, checkpoint_of(output), messages)


def checkpoint_of(output: Path) -> Path:
    """Return the path of the checkpoint of a model file, in the folder of `output`; a symbolic link is not followed."""
    return output.absolute().with_name(f".{output.name}.checkpoint.npz")


def compiles(recipe: Recipe) -> bool:
    """Return whether training by the recipe must first compile kernels on this machine, for a minute or two.

    The test looks for the kernels that training compiles last.
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
    """Train a model, continuing from its checkpoint if there is one. A TreeboundError is returned, not raised."""
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
    """Train every job whose model file `<folder>/<name>.npz` is missing or has other settings or data.

    Yields the path and the result of each job after its file is written. A job that fails yields its error
    and writes no file. Finished model files come first, with 0 seconds. The other jobs follow in the order in which
    they finish.

    workers, scheduler  as for `treebound.support.workers.spread`
    progress            wraps an iterable to show progress; used with a single worker
    """
    unfinished = []
    for job in jobs:
        path = folder / f"{job.name}.npz"
        model = finished(path, job)
        if model is not None:
            yield path, Trained(job.name, model, SYSTEMS[job.recipe.system]().report(model, job.dev))
        else:
            unfinished.append(job)
    for trained in spread(train, progress, unfinished, workers=workers, scheduler=scheduler, ordered=False):
        path = folder / f"{trained.name}.npz"
        if trained.model is not None:
            trained.model.save(path)
        yield path, trained


def finished(path: Path, job: Job) -> Any:
    """Return the model in a file if its key equals the key of this job, else None.

    A key identifies settings and treebanks. For a system without keys, the result is always None.
    """
    system = SYSTEMS[job.recipe.system]()
    key = system.key(job.recipe.settings, job.train, job.dev)
    try:
        model = system.load(path)
    except ModelError:
        return None
    return model if key and model.key == key else None


def listed(path: Path) -> dict[str, tuple[Recipe, Path, Path]]:
    """Read a list of models; return name -> (recipe, path of train, path of dev). Raises InputError with a line."""
    tree, data = yamlfile.read(path, hint="give a list of models")

    def fault(reason: str, *keys: str, hint: str = "see treebound train-many --help") -> InputError:
        return InputError(f"{'.'.join(keys)}: {reason}", path=path, line=yamlfile.line_of(tree, keys), hint=hint)

    if not isinstance(data, dict) or not isinstance(data.get("models"), dict) or not data["models"]:
        raise fault("no models are listed", "models")
    if unknown := data.keys() - {"settings", "models"}:
        raise fault("unknown key", str(min(unknown, key=str)), hint="valid keys are settings, models")
    common = data.get("settings") or {}
    if not isinstance(common, dict):
        raise fault("must be settings, not a single value", "settings")
    recipes = {}
    for name, model_values in data["models"].items():
        entry = ("models", str(name))
        if not isinstance(model_values, dict):
            raise fault("has no settings", *entry, hint="give at least train and dev")
        if not yamlfile.file_name(str(name)) or Path(str(name)).name != str(name):
            raise fault("cannot be the name of a file", *entry)
        if str(name) in recipes:
            raise fault("listed twice", *entry)
        files = {key: model_values.get(key, common.get(key)) for key in ("train", "dev")}
        for key, value in files.items():
            if not isinstance(value, str) or not yamlfile.file_name(value):
                raise fault("must name a file", *entry, key, hint="name a treebank file")
        settings = {key: value for key, value in {**common, **model_values}.items() if key not in files}
        try:
            parsed = recipe(settings)
        except SettingError as error:
            location = (*entry, error.key) if error.key in model_values else ("settings", error.key)
            raise fault(error.reason, *location, hint=error.hint or "see treebound train-many --help") from None
        except InputError as error:
            raise fault(error.reason, *entry, hint=error.hint) from None
        recipes[str(name)] = parsed, path.parent / str(files["train"]), path.parent / str(files["dev"])
    return recipes
