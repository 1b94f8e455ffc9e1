"""What `treebound train` and `treebound train-many` do: models from files, by settings that have a name each.

A list of models is a YAML file:

    settings: {epochs: 4, bits: 20}      # of all models, as far as they have no others
    models:
      english:                           # english.npz in the folder of the output
        train: en/train.conllu           # from the folder of this file
        dev: en/dev.conllu
      english-arcs: {train: en/train.conllu, dev: en/dev.conllu, families: []}

Settings are those of `Recipe`, the options of `treebound train` with _ for -. The same files and settings give the same
bytes, on any machine and with any number of workers.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from treebound.core.errors import InputError, ModelError, TreeboundError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.evaluation.attachment import has_labels
from treebound.factors.pattern_language import load as load_patterns
from treebound.support import yamlfile
from treebound.support.workers import spread
from treebound.systems.graph.model import Model
from treebound.systems.graph.pruner import train_pruner
from treebound.systems.graph.spec import Calls, Cost, Epochs, Heads, ModelSpec, Rate, Seed
from treebound.systems.graph.survey import CHOICES, describe, remarks
from treebound.systems.graph.trainer import accuracy
from treebound.systems.graph.trainer import train as train_model

#: those of the model `combined` of params.yaml; patterns join them where a file of patterns is named
FAMILIES = ("adjacent-sibling", "outermost-grandchild", "grandchild", "sibling", "comb")
RECALL = 0.99  #: share of dev's heads that the pruner ought to keep
#: fields of an epoch's record that differ from run to run
TIMING = ("cpu_seconds", "wall_seconds")

Progress = Callable[[Iterable, str], Iterable]


def split(value: Any) -> Any:
    """Names from a text that separates them by commas."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class Recipe:
    """How a model is trained; the fields are the options of `treebound train`, where they are explained.

    The defaults are those of the model `combined` of params.yaml, learnt by mira; a test compares them.
    """

    families: Annotated[tuple[str, ...], BeforeValidator(split)] = FAMILIES
    learner: str = "mira"
    epochs: Epochs = 6
    k: Heads = 10
    bits: Annotated[int, Field(ge=8, le=28)] = 22
    C: Rate = 0.01
    cost: Cost = 0.5
    seed: Seed = 1
    max_dp_calls: Annotated[Calls, Field(ge=1)] = 100
    tag: str = ""
    attributes: Annotated[tuple[str, ...], BeforeValidator(split)] = ("auto",)
    multi_root: bool = False
    patterns: str = ""
    labels: str = "both"
    label_cost: Cost = ModelSpec.label_cost
    non_projective: bool = False

    def spec(self) -> ModelSpec:
        """As the trainer takes it. Raises InputError for a name that is none."""
        if self.tag not in ("", "xpos", "upos"):
            raise InputError(f"unknown tag {self.tag!r}", hint="choose from xpos, upos")
        for name in self.attributes if self.attributes not in (("auto",), ("none",)) else ():
            if name not in CHOICES:
                hint = f"choose from {', '.join(CHOICES)}; or auto or none alone"
                raise InputError(f"unknown attribute {name!r}", hint=hint)
        families = self.families
        if self.patterns and "pattern" not in families:
            families += ("pattern",)
            load_patterns(self.patterns)  # a fault in them shows now rather than after the pruner's training
        return ModelSpec(
            families,
            self.learner,  # type: ignore[arg-type]
            self.epochs,
            self.k,
            self.bits,
            self.C,
            self.cost,
            self.seed,
            self.max_dp_calls,
            labels=self.labels,  # type: ignore[arg-type]
            label_bits=min(28, max(12, self.bits + 1)),
            label_cost=self.label_cost,
            space="non-projective" if self.non_projective else "projective",
        )


class SettingError(InputError):
    """A setting that there is not, or that cannot have this value."""

    def __init__(self, key: str, reason: str, hint: str = ""):
        super().__init__(f"{key}: {reason}", hint=hint)
        self.key, self.reason = key, reason


def recipe_of(settings: dict[str, Any]) -> Recipe:
    """The recipe with these settings. Raises SettingError."""
    try:
        return TypeAdapter(Recipe).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        if "unexpected" in first["type"] or "extra" in first["type"]:
            valid = "train, dev, " + ", ".join(f.name for f in fields(Recipe))
            raise SettingError(key, "unknown key", f"valid keys are {valid}") from None
        raise SettingError(key, first["msg"]) from None


@dataclass(frozen=True)
class Job:
    """A model to be trained: its treebanks are read and checked.

    key         identifies the settings and the data; the model's meta has it as `recipe`
    remarks     what ought to be known of the data before training: a line each
    checkpoint  kept after every epoch where its folder exists: on this machine, or on a file system that workers share
    """

    name: str
    recipe: Recipe
    train: Treebank = field(repr=False)
    dev: Treebank = field(repr=False)
    key: str
    checkpoint: Path
    remarks: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Trained:
    """A model with the seconds that its training took, or what went wrong.

    kept  share of dev's heads that the pruner keeps; None where the model was there already
    """

    name: str
    model: Model | None
    seconds: float = 0.0
    kept: float | None = None
    error: TreeboundError | None = None

    @property
    def accuracy(self) -> str:
        """Of the best epoch."""
        assert self.model is not None
        best = max(self.model.history, key=accuracy)
        scores = f"dev UAS {best['dev_uas']:.2f}" + (f", LAS {best['dev_las']:.2f}" if "dev_las" in best else "")
        if self.kept is None:
            return scores
        advice = "" if self.kept >= RECALL else "; a larger --k would keep more"
        return f"{scores} (k {self.model.spec.k} keeps {100 * self.kept:.2f} % of dev's heads{advice})"


def job(name: str, recipe: Recipe, files: tuple[Path, Path], treebanks: tuple[Treebank, Treebank], output: Path) -> Job:
    """Of a training and a dev treebank, whose files are named in messages. Raises InputError where they cannot do."""
    for path, treebank in zip(files, treebanks, strict=True):
        if not len(treebank):
            raise InputError("has no sentences", path=path, hint="give a treebank")
    describe(*treebanks, tag=recipe.tag, wanted=recipe.attributes, single_root=not recipe.multi_root)
    for treebank in treebanks:
        treebank.meta["patterns"] = recipe.patterns
    if recipe.labels != "none" and not has_labels(treebanks[0]):
        raise InputError("not every word has a label", path=files[0], hint="train with --labels none")
    digest = hashlib.blake2b(json.dumps(asdict(recipe), sort_keys=True).encode(), digest_size=16)
    digest.update(load_patterns(recipe.patterns).digest.encode() if recipe.patterns else b"")
    for treebank in treebanks:
        for array in (treebank.offsets, treebank.head, *(treebank.columns[c] for c in STRING_COLUMNS)):
            digest.update(array.tobytes())
        digest.update("\0".join(chain.from_iterable(treebank.vocab[c].strings for c in STRING_COLUMNS)).encode())
    known = remarks(*treebanks, projective=not recipe.non_projective, k=recipe.k)
    return Job(name, recipe, *treebanks, digest.hexdigest(), checkpoint_of(output), known)


def checkpoint_of(output: Path) -> Path:
    """Where the training of a model file is kept while it goes on: beside the file, not beside what a link names."""
    return output.absolute().with_name(f".{output.name}.checkpoint.npz")


def compiles(recipe: Recipe) -> bool:
    """Whether this machine has yet to compile what training by the recipe runs: a minute or two in which nothing moves.

    Judged by the kernels of the first sentence that are compiled last.
    """
    from treebound.kernels import CACHE_DIR

    kernels = ("updates.step", "climb_kernel.climb_heads") if recipe.non_projective else ("updates.step",)
    return not all(any(CACHE_DIR.rglob(f"{kernel}-*.nbi")) for kernel in kernels)


def train(progress: Progress | None, job: Job) -> Trained:
    """Train a model, from its checkpoint if there is one; errors of use are returned, not raised."""
    recipe, started = job.recipe, time.process_time()
    checkpoint = job.checkpoint if job.checkpoint.parent.is_dir() else None
    try:
        pruner = train_pruner(job.train, epochs=3, bits=min(recipe.bits, 20), seed=recipe.seed, progress=progress)
        kept = pruner.recall(job.dev, [recipe.k])[recipe.k]
        model = train_model(recipe.spec(), job.train, job.dev, pruner, checkpoint=checkpoint, progress=progress)
    except TreeboundError as error:
        return Trained(job.name, None, error=error)
    model.history = [{key: record[key] for key in record if key not in TIMING} for record in model.history]
    model.meta = model.meta | {"recipe": job.key}
    return Trained(job.name, model, time.process_time() - started, kept)


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
        model = finished(path, job.key)
        if model is not None:
            yield path, Trained(job.name, model)
        else:
            missing.append(job)
    for done in spread(train, progress, missing, workers=workers, scheduler=scheduler, ordered=False):
        path = folder / f"{done.name}.npz"
        if done.model is not None:
            done.model.save(path)
        yield path, done


def finished(path: Path, key: str) -> Model | None:
    """The model of a file if it was trained by the recipe with this key."""
    try:
        model = Model.load(path)
    except ModelError:
        return None
    return model if model.meta.get("recipe") == key else None


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
            recipe = recipe_of(settings)
            recipe.spec()
        except SettingError as error:
            where = (*place, error.key) if error.key in own else ("settings", error.key)
            raise fault(error.reason, *where, hint=error.hint or "see treebound train-many --help") from None
        except InputError as error:
            raise fault(error.reason, *place, hint=error.hint) from None
        found[str(name)] = recipe, path.parent / str(files["train"]), path.parent / str(files["dev"])
    return found
