"""params.yaml as frozen dataclasses. An unknown key is an error that lists the valid ones."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from treebound.core.errors import InputError
from treebound.support import yamlfile
from treebound.support.settings import Seed
from treebound.systems.graph.settings import Family, Labels, Learner, Settings, Space

_STRICT = ConfigDict(extra="forbid")


def _keep(value: Any) -> int | str:
    """A number of heads that the pruner leaves each word, or "none" (no pruning)."""
    if value == "none" or (type(value) is int and 1 <= value <= 1_000_000):
        return value
    raise ValueError(f"expected a number of heads from 1, or none, not {value!r}")


def _path(text: str) -> str:
    """What can be the name of a file."""
    if not yamlfile.file_name(text):
        raise ValueError(f"{text!r} cannot be a path")
    return text


Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Above = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Keep = Annotated[int | str, PlainValidator(_keep)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*$")]
Tags = Literal["gold", "predicted"]
PeerName = Literal["udpipe", "spacy"]
Attribute = Literal["prefix", "suffix", "length", "feats", "lemma"]  # those that not every corpus has


@dataclass(frozen=True, config=_STRICT)
class Tagger:
    """The tagger of corpora whose tags are predicted; see systems.tagging.learn. Training tags by `folds` folds."""

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    folds: Annotated[int, Field(ge=2, le=1000)]


@dataclass(frozen=True, config=_STRICT)
class Pruner:
    """First-order pruner; `ks`: where its oracle recall is measured."""

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    ks: tuple[Positive, ...]


@dataclass(frozen=True, config=_STRICT)
class ModelParams:
    """What a model's settings differ in from `train`; a plain list gives the factor families beside arcs."""

    families: tuple[Family, ...]
    space: Space = "projective"


def _model(value: Any) -> Any:
    return {"families": value} if isinstance(value, list | tuple) else value


@dataclass(frozen=True, config=_STRICT)
class Decoder:
    """A registered decoder with options.

    sentences  decode only the first so many of the test split
    gold       score the gold trees as well, which tells errors of the search from errors of the model
    """

    decoder: str
    config: Literal["tuned", "published"] | None = None
    space: Space | None = None
    backbone: Literal["eisner", "carreras", "grandparent-sibling"] | None = None
    max_dp_calls: Positive | None = None
    max_nodes: Positive | None = None
    root_steps: Positive | None = None
    node_steps: Positive | None = None
    stars: Count | None = None
    eliminate: bool | None = None
    sentences: Positive | None = None
    gold: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the decoder, as far as given."""
        ours = ("decoder", "sentences", "gold")
        names = [field.name for field in fields(self) if field.name not in ours]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=_STRICT)
class Run:
    """One row of the tables: a model, how its scores are decoded, and how many heads the pruner leaves."""

    model: str
    learner: Learner
    decoder: str
    k: Keep

    def __str__(self) -> str:
        return f"{self.model}.{self.learner}.{self.decoder}.k{self.k}"

    @property
    def heads(self) -> int | None:
        """k as the parser takes it."""
        return None if self.k == "none" else int(self.k)


@dataclass(frozen=True, config=_STRICT)
class Variant:
    """A row that one corpus has besides: trained and tested with these tags, and with this seed.

    With the tags and the seed of the other rows (`Params.plain`) it stands in the same tables as they do.
    """

    corpus: Name
    model: str
    learner: Learner
    decoder: str
    k: Keep
    tags: Tags
    seed: Seed

    def __str__(self) -> str:
        return f"{self.run}.{self.tags}.seed{self.seed}"

    @property
    def run(self) -> Run:
        """The row that it is a variant of."""
        return Run(self.model, self.learner, self.decoder, self.k)


@dataclass(frozen=True, config=_STRICT)
class Benchmark:
    """Timed runs, after one that compiles: `repeats` of them, fewer once they have taken `seconds` of CPU together."""

    repeats: Positive
    seconds: Above


@dataclass(frozen=True, config=_STRICT)
class Ablation:
    """The same scores under several configurations of the search; each is a set of its keyword arguments.

    sentences     how many of the test split
    max_dp_calls  where a search gives up, unless its configuration says otherwise
    """

    model: str
    learner: Learner
    k: Positive
    sentences: Positive
    max_dp_calls: Positive
    configurations: Annotated[dict[Name, dict[str, bool | int | FiniteFloat | str]], Field(min_length=2)]


@dataclass(frozen=True, config=_STRICT)
class Confidence:
    """Whose margins, marginals and `trees` best trees are measured, on the first `sentences` of dev and test."""

    model: str
    learner: Learner
    decoder: str
    k: Keep
    trees: Positive
    sentences: Positive

    @property
    def heads(self) -> int | None:
        """k as the parser takes it."""
        return None if self.k == "none" else int(self.k)


@dataclass(frozen=True, config=_STRICT)
class Arena:
    """Branch and bound beside integer programs on the scores of `models`; see treebound.experiments.arena.

    sentences  how many of the test split
    seconds    that a program has for one
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    learner: Learner
    k: Positive
    sentences: Positive
    seconds: Above


@dataclass(frozen=True, config=_STRICT)
class CrossValidation:
    """The labelled parser with hard constraints, by folds; see treebound.experiments.cross_validation.

    corpora   those with an every-tenth split and a file of constraints
    k         labels that an arc may carry, the best ones; q: numbers of variables a word
    analysed  the fold on which families are left out one at a time, and a model is trained with them in the loop
    """

    corpora: tuple[Name, ...] = ()
    folds: tuple[Literal[0, 2, 3, 4, 5, 6, 7, 8, 9], ...] = (0, 2, 3, 4, 5, 6, 7, 8, 9)
    epochs: Positive = 5
    k: Positive = 5
    q: tuple[Positive, ...] = (2, 5, 10, 20, 50)
    analysed: Annotated[int, Field(ge=0, le=9)] = 0


@dataclass(frozen=True, config=_STRICT)
class Step:
    """What one training differs in from the base system; what is not given stays as it is there.

    add, drop  factor families that its model has, or lacks
    unseen     attributes of words that it does not see: their templates are left out
    word_pairs whether factors of more than one arc have templates over two of their words
    """

    add: tuple[Family, ...] = ()
    drop: tuple[Family, ...] = ()
    unseen: tuple[Attribute, ...] = ()
    word_pairs: bool = True
    labels: Labels | None = None
    learner: Learner | None = None
    epochs: Positive | None = None
    max_dp_calls: Count | None = None

    def __str__(self) -> str:
        """In words; empty if nothing is changed."""
        parts = [f"with {', '.join(self.add)}"] if self.add else []
        lacks = (*self.drop, *self.unseen, *([] if self.word_pairs else ["word-pair templates"]))
        parts += [f"without {', '.join(lacks)}"] if lacks else []
        return ", ".join((*parts, *(f"{name} = {value}" for name, value in self.settings.items())))

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of the settings that it sets, families aside."""
        names = ("labels", "learner", "epochs", "max_dp_calls")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=_STRICT)
class Steps:
    """What each step of learning brings on dev: trainings that differ in one thing; see treebound.experiments.steps.

    corpora         those that are trained on, perhaps none
    model, learner  the base system, with the settings of `train`
    runs            its variations; the first changes nothing: the others are compared with it
    """

    model: str
    learner: Learner
    runs: Annotated[dict[Name, Step], Field(min_length=2)]
    corpora: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        (first, base), *others = self.runs.items()
        if base != Step():
            raise ValueError(f"runs: {first} is the first one, which the others are compared with: it changes nothing")
        for name, step in others:
            if step == base:
                raise ValueError(f"runs: {name} changes nothing")

    @property
    def base(self) -> str:
        """The name of the run that the others are compared with."""
        return next(iter(self.runs))


@dataclass(frozen=True, config=_STRICT)
class PeerRun:
    """A parser of others, trained and tested on one corpus."""

    corpus: Name
    peer: PeerName


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Params:
    """The whole of params.yaml. What has a default may be missing in the parameters of an older run."""

    corpora: Annotated[tuple[Name, ...], Field(min_length=1)]
    paths: dict[Name, Annotated[str, AfterValidator(_path)]]
    seed: Seed
    slice: Positive | None
    tags: dict[Name, Tags] = Field(default_factory=dict)
    tagger: Tagger = Tagger(epochs=6, bits=22, folds=10)
    pruner: Pruner
    models: dict[Name, Annotated[ModelParams, BeforeValidator(_model)]]
    trained: tuple[str, ...]
    learners: tuple[Learner, ...]
    train: Settings
    decoders: dict[Name, Decoder]
    decode: tuple[Run, ...]
    variants: tuple[Variant, ...] = ()
    benchmark: Benchmark
    peers: tuple[PeerRun, ...] = ()
    peer_settings: dict[PeerName, dict[str, int | FiniteFloat | str]] = Field(default_factory=dict)
    notebooks: tuple[Name, ...]
    ablation: Ablation | None = None  # a reference run from before there was one has none
    confidence: Confidence | None = None  # older runs have none
    cross_validation: CrossValidation = CrossValidation()
    arena: Arena | None = None  # older runs have none
    steps: Steps | None = None  # older runs have none

    def __post_init__(self) -> None:
        if unknown := [model for model in self.trained if model not in self.models]:
            raise ValueError(f"trained: no model {unknown[0]!r}; choose from {', '.join(self.models)}")
        for where, run in [("decode", run) for run in self.decode] + [("variants", v.run) for v in self.variants]:
            for kind, name, known in (
                ("model", run.model, self.trained if where == "decode" else self.models),
                ("learner", run.learner, self.learners if where == "decode" else get_args(Learner)),
                ("decoder", run.decoder, self.decoders),
            ):
                if name not in known:
                    raise ValueError(f"{where}: {run}: no {kind} {name!r}; choose from {', '.join(known)}")
        for variant in self.variants:
            if variant.corpus not in self.corpora:
                choice = ", ".join(self.corpora)
                raise ValueError(f"variants: {variant}: no corpus {variant.corpus!r}; choose from {choice}")
            if variant.tags == "predicted" != self.tags_of(variant.corpus):
                raise ValueError(f"variants: {variant}: predicted tags of a corpus whose tags are gold; see tags")
        if strange := [run.corpus for run in self.peers if run.corpus not in self.corpora]:
            raise ValueError(f"peers: no corpus {strange[0]!r}; choose from {', '.join(self.corpora)}")
        if self.ablation is not None and self.ablation.model not in self.trained:
            raise ValueError(f"ablation: no model {self.ablation.model!r}; choose from {', '.join(self.trained)}")
        if (row := self.confidence) is not None and (row.model not in self.trained or row.decoder not in self.decoders):
            raise ValueError(f"confidence: no model {row.model!r} or decoder {row.decoder!r} is trained or listed")
        if self.arena is not None and (unknown := [m for m in self.arena.models if m not in self.trained]):
            raise ValueError(f"arena: no model {unknown[0]!r}; choose from {', '.join(self.trained)}")
        if self.steps is not None:
            self._check_steps(self.steps)
        if self.cross_validation.analysed not in self.cross_validation.folds:
            raise ValueError(f"cross_validation: fold {self.cross_validation.analysed} is analysed, but not listed")
        if len({str(run) for run in self.decode}) < len(self.decode):
            raise ValueError("decode: the same row is listed twice")
        if twice := [v for v in self.variants if self.plain(v) and v.run in self.decode]:
            raise ValueError(f"variants: {twice[0]}: its corpus has this row already, under decode")
        if len({(v.corpus, str(v)) for v in self.variants}) < len(self.variants):
            raise ValueError("variants: the same row is listed twice")
        if len(set(self.peers)) < len(self.peers):
            raise ValueError("peers: the same row is listed twice")

    def _check_steps(self, steps: Steps) -> None:
        if steps.model not in self.models:
            raise ValueError(f"steps: no model {steps.model!r}; choose from {', '.join(self.models)}")
        if unknown := [corpus for corpus in steps.corpora if corpus not in self.corpora]:
            raise ValueError(f"steps: no corpus {unknown[0]!r}; choose from {', '.join(self.corpora)}")
        families = self.models[steps.model].families
        for name, step in steps.runs.items():
            if there := [family for family in step.add if family in families]:
                raise ValueError(f"steps: {name}: {steps.model} has {there[0]} already")
            if missing := [family for family in step.drop if family not in families]:
                raise ValueError(f"steps: {name}: {steps.model} has no {missing[0]}; it has {', '.join(families)}")

    def plain(self, variant: Variant) -> bool:
        """Whether a variant has the tags and the seed of the rows of its corpus: a row that this corpus alone has."""
        return variant.tags == self.tags_of(variant.corpus) and variant.seed == self.seed

    def tags_of(self, corpus: str) -> Tags:
        """The tags that the parsers of a corpus are trained and tested on."""
        return self.tags.get(corpus, "gold")

    def limit(self, split: str) -> int | None:
        """Number of sentences of a split that are used; None: all."""
        if self.slice is None:
            return None
        return self.slice if split == "train" else max(1, self.slice // 4)


def load(path: Path = Path("params.yaml")) -> Params:
    """Read and check a parameter file. Raises InputError with file, line, reason and the valid choices."""
    tree, data = yamlfile.read(path, hint="run from the project's folder")
    try:
        return TypeAdapter(Params).validate_python(data)
    except ValidationError as error:
        unknown = ("unexpected_keyword_argument", "extra_forbidden")  # first: a misspelt key is also a missing one
        first = min(error.errors(), key=lambda e: e["type"] not in unknown)
        where = ".".join(map(str, first["loc"]))
        reason, hint = first["msg"].removeprefix("Value error, "), ""
        if first["type"] in unknown:
            reason, hint = "unknown key", "valid keys are " + ", ".join(_keys(first["loc"][:-1]))
        elif first["type"] in ("missing", "missing_argument"):
            reason = "missing key"
        raise InputError(
            f"{where}: {reason}" if where else reason, path=path, line=yamlfile.line_of(tree, first["loc"]), hint=hint
        ) from None


def digest(*values: Any) -> str:
    """A short hash of parameters (JSON data), for metrics files and checkpoints."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _keys(loc: tuple[int | str, ...]) -> list[str]:
    """Valid keys of the dataclass at a place in the file."""
    kinds: dict[int | str, type] = {
        "pruner": Pruner,
        "train": Settings,
        "benchmark": Benchmark,
        "decoders": Decoder,
        "ablation": Ablation,
        "confidence": Confidence,
        "cross_validation": CrossValidation,
        "arena": Arena,
        "steps": Step if loc[1:2] == ("runs",) else Steps,
    }
    return [field.name for field in fields(kinds.get(loc[0], Run) if loc else Params)]
