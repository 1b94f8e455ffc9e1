"""params.yaml as frozen dataclasses. An unknown key is an error that lists the valid ones."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from treebound.core.errors import InputError
from treebound.core.spaces import Space
from treebound.support import yamlfile
from treebound.support.settings import Seed
from treebound.systems.ccg.settings import Checked_beams
from treebound.systems.ccg.settings import Settings as CCGSettings
from treebound.systems.correcting.settings import Settings as Correcting
from treebound.systems.graph.settings import Family, Labels, Learner, Settings
from treebound.systems.sampling.settings import Settings as Sampling
from treebound.systems.transition.settings import Settings as Transition

_STRICT = ConfigDict(extra="forbid")

#: system that a model may have -> module of `pipeline.trainers` that trains it and parses with it
SYSTEMS = {"graph": "graph", "transition": "transition", "sampling": "sampling", "udpipe": "peers", "spacy": "peers"}


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


def _system(name: str) -> str:
    """One of SYSTEMS."""
    if name not in SYSTEMS:
        raise ValueError(f"unknown system {name!r}; choose from {', '.join(SYSTEMS)}")
    return name


Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Above = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Keep = Annotated[int | str, PlainValidator(_keep)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*$")]
Tags = Literal["gold", "predicted"]
SystemName = Annotated[str, AfterValidator(_system)]
Attribute = Literal["prefix", "suffix", "length", "feats", "lemma"]  # those that not every corpus has


@dataclass(frozen=True, config=_STRICT)
class Tagger:
    """The tagger of corpora whose tags are predicted; see systems.tagging.learn. Training tags by `folds` folds."""

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    folds: Annotated[int, Field(ge=2, le=1000)]


@dataclass(frozen=True, config=_STRICT)
class Pruner:
    """First-order pruner.

    ks, thresholds  where its oracle recall is measured: of the k best heads, and of those of the k of `train` that are
                    at least so many times as probable as the best one
    """

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    ks: tuple[Positive, ...]
    thresholds: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = ()  # older runs have none


@dataclass(frozen=True, config=_STRICT)
class GraphModel:
    """Settings of a graph-based model that differ from `train`.

    families      factor families beside arcs
    threshold     of the pruner: 0 keeps the k best heads, as in the papers
    pruner_folds  folds of the jackknife by which training sentences are pruned
    """

    families: tuple[Family, ...] = ()
    learner: Learner = "mira"
    space: Space = "projective"
    threshold: Annotated[float, Field(ge=0, lt=1)] = 0.0
    pruner_folds: Annotated[int, Field(ge=0, le=1000)] = 0


#: settings of a system's models; a package of others takes numbers and names as they are
_SETTINGS: dict[str, Any] = {"graph": GraphModel, "transition": Transition, "sampling": Sampling}


@dataclass(frozen=True, config=_STRICT)
class Model:
    """A model that is trained.

    system    one of SYSTEMS
    settings  the settings of its system, as `_SETTINGS` checks them
    same_as   name in tables: that of another model which differs in learner, tags or seed alone; empty: its own
    corpora   corpora that have it; empty: all
    tags      tags that it is trained and tested with, and seed: those of the corpus and the run unless given here
    """

    system: SystemName = "graph"
    settings: Any = None
    same_as: str = ""
    corpora: tuple[Name, ...] = ()
    tags: Tags | None = None
    seed: Seed | None = None

    @property
    def learner(self) -> Learner:
        """Learner of a graph-based model; of others the default."""
        return self.settings.learner if self.system == "graph" else "mira"


_COMMON = ("system", "same_as", "corpora", "tags", "seed")


def _settings_of(value: dict[str, Any]) -> Any:
    """Class of the settings of a model that is given by its keys."""
    return _SETTINGS.get(value.get("system", "graph"), dict[str, int | FiniteFloat | str])


def model(value: Any) -> Model:
    """A model from its keys in params.yaml: those that are not common to all are settings of its system.

    Raises ValidationError.
    """
    if not isinstance(value, dict):
        return TypeAdapter(Model).validate_python(value)
    common = {key: value[key] for key in _COMMON if key in value}
    own = {key: value[key] for key in value if key not in _COMMON}
    checked = TypeAdapter(Model).validate_python(common)
    return replace(checked, settings=TypeAdapter(_settings_of(value)).validate_python(own))


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
class Parsing:
    """One way to parse with a model: one row of the tables.

    decoder  one of `decoders`, and k: heads of a word that the pruner keeps, or none (graph-based models need both)
    beam     width of the beam, by default that of training (transition-based models)
    rerank   no search but the best of so many trees (models that sample)
    corpora  corpora that have the row; empty: all that have the model
    timed    whether the benchmark has it; by default, rows that all corpora have
    """

    decoder: str = ""
    k: Keep | None = None
    beam: Annotated[int, Field(ge=1, le=1024)] | None = None
    rerank: Positive | None = None
    corpora: tuple[Name, ...] = ()
    timed: bool | None = None


@dataclass(frozen=True)
class Row:
    """One row of the tables: a model, and how the test split is parsed with it.

    trained  key of `models`; model: its name in tables
    """

    name: str
    trained: str
    model: str = ""
    system: str = "graph"
    learner: Learner = "mira"
    decoder: str = ""
    k: int | str = "none"
    corpora: tuple[str, ...] = ()
    tags: Tags | None = None
    seed: int | None = None
    timed: bool | None = None
    beam: int | None = None
    rerank: int | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def heads(self) -> int | None:
        """k as the parser takes it."""
        return heads(self.k)

    @property
    def key(self) -> dict[str, str]:
        """Columns that identify it in tables."""
        return {"row": self.name, "model": self.model, "learner": self.learner, "decoder": self.decoder} | {
            "k": str(self.k)
        }

    @property
    def everywhere(self) -> bool:
        """Whether it is a row of our own parser that all corpora have, with their tags and the seed of the run."""
        return self.system == "graph" and not self.corpora and self.tags is None and self.seed is None

    @property
    def benchmarked(self) -> bool:
        """Whether it is timed."""
        return not self.corpora if self.timed is None else self.timed


def heads(k: Keep) -> int | None:
    """Heads of a word as the parser takes them."""
    return None if k == "none" else int(k)


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
    k: Positive
    sentences: Positive
    max_dp_calls: Positive
    configurations: Annotated[dict[Name, dict[str, bool | int | FiniteFloat | str]], Field(min_length=2)]


@dataclass(frozen=True, config=_STRICT)
class Confidence:
    """Whose margins, marginals and `trees` best trees are measured, on the first `sentences` of dev and test."""

    model: str
    decoder: str
    k: Keep
    trees: Positive
    sentences: Positive

    @property
    def heads(self) -> int | None:
        """k as the parser takes it."""
        return heads(self.k)


@dataclass(frozen=True, config=_STRICT)
class Arena:
    """Branch and bound beside integer programs on the scores of `models`; see riedel_clarke_2006.integer_programs.

    sentences  how many of the test split
    seconds    that a program has for one
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    k: Positive
    sentences: Positive
    seconds: Above


@dataclass(frozen=True, config=_STRICT)
class Approximations:
    """Every decoder on the scores of `models`, and on made-up ones; see studies.across.approximations.measure.

    sentences  how many of the test split
    made_up    of how many of them, in order, the lengths are those of made-up scores; longest: in words
    calls      dynamic programs that branch and bound has for a sentence
    seconds    that a linear program has
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    k: Positive
    sentences: Positive
    made_up: Annotated[int, Field(ge=0, le=1_000_000_000)]
    longest: Positive
    calls: Positive
    seconds: Above


@dataclass(frozen=True, config=_STRICT)
class ScoreTime:
    """Sampling decoders beside proved optima on the scores of models; see studies.zhang_2014.score_time.measure.

    models     the first over projective and non-projective trees, the others over projective trees alone
    sentences  of the test split, evenly spaced
    patience   budgets: runs in a row that find nothing better, after which a search ends
    seeds      number of seeds: 1, 2 and so on
    """

    models: Annotated[tuple[str, ...], Field(min_length=1)]
    k: Positive
    sentences: Positive
    patience: Annotated[tuple[Positive, ...], Field(min_length=1)]
    seeds: Positive

    @property
    def model(self) -> str:
        """The first model."""
        return self.models[0]


@dataclass(frozen=True, config=_STRICT)
class CrossValidation:
    """The labelled parser with hard constraints, by folds; see studies.riedel_clarke_2006.constraints.measure.

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
class Classifiers:
    """The experiments of Hall, Nivre & Nilsson (2006); see studies.hall_2006.classifiers.measure.

    sections   of a corpus that has no split of its own here: sentence i is in section i % 10, and each of these is
               parsed by models of all others
    features   feature models, the poorest first; learners: by name
    shares     of the training set, in %, for the learning curve of the last feature model
    """

    corpora: tuple[Name, ...] = ()
    sections: dict[Name, tuple[Annotated[int, Field(ge=0, le=9)], ...]] = Field(default_factory=dict)
    features: Annotated[tuple[str, ...], Field(min_length=1)] = ("F1", "F2", "F3", "F4", "F5")
    learners: dict[Name, Transition] = Field(default_factory=dict)
    shares: tuple[Annotated[int, Field(ge=1, le=99)], ...] = (10, 20, 50)

    def __post_init__(self) -> None:
        if unknown := [corpus for corpus in self.sections if corpus not in self.corpora]:
            raise ValueError(f"sections: {unknown[0]} is none of the corpora")


@dataclass(frozen=True, config=_STRICT)
class ClassifierSearch:
    """Parameters of learners, chosen on dev by successive halving; see studies.hall_2006.classifiers.search.

    features  the feature model of all points
    grids     learner -> parameter -> its values; a point is one value of each
    first     share of the training set (%) that the first round has; each later one has three times as much, for the
              best third of its points
    """

    corpora: tuple[Name, ...] = ()
    features: str = "F5"
    grids: dict[Name, dict[Name, tuple[int | FiniteFloat, ...]]] = Field(default_factory=dict)
    first: Annotated[int, Field(ge=1, le=100)] = 12


@dataclass(frozen=True, config=_STRICT)
class TagCorrection:
    """Tags chosen with trees (Zhang et al. 2014, Table 3); see studies.zhang_2014.tag_correction.stage."""

    corpora: tuple[Name, ...] = ()
    settings: Correcting = Field(default_factory=Correcting)


@dataclass(frozen=True, config=_STRICT)
class CCGParser:
    """A CCG parser of a corpus that is translated to derivations; see studies.auli_lopez_2011.treebank.

    more       a corpus whose training derivations it learns from as well
    tags       that it is trained and tested with; predicted ones are those of taggers of the derivations' own words
    sentences  of training, at most, and a quarter as many of dev and test; a slice of the run may leave fewer
    """

    corpus: Name
    more: Name | None = None
    tags: Tags = "gold"
    sentences: Positive | None = None
    settings: CCGSettings = CCGSettings()


@dataclass(frozen=True, config=_STRICT)
class CCG:
    """Translation to CCG derivations, and supertaggers with parsers; see auli_lopez_2011.supertagging.

    derivations  corpora that are translated; parsers: by name, of some of them
    beams        beta:k of the single beams that are compared, narrow ones first
    """

    derivations: tuple[Name, ...] = ()
    parsers: dict[Name, CCGParser] = Field(default_factory=dict)
    beams: Annotated[Checked_beams, Field(min_length=1)] = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:20")

    def __post_init__(self) -> None:
        for name, parser in self.parsers.items():
            if unknown := {parser.corpus, parser.more} - {*self.derivations, None}:
                raise ValueError(f"parsers: {name}: {min(filter(None, unknown))} is none of the derivations")


@dataclass(frozen=True, config=_STRICT)
class CCGIntegration:
    """What is measured of the joint model of every parser of `ccg`; see studies.auli_lopez_2011.integration.measure.

    iterations  after which belief propagation and dual decomposition are compared; most: where both end, at the latest
    """

    iterations: Annotated[tuple[Positive, ...], Field(min_length=1)] = (1, 5, 25)
    most: Positive = 50

    def __post_init__(self) -> None:
        if max(self.iterations) > self.most:
            raise ValueError(f"most: {self.most} is less than one of the iterations")


@dataclass(frozen=True, config=_STRICT)
class Step:
    """What one training differs in from the base system; what is not given stays as it is there.

    add, drop  factor families that its model has, or lacks
    unseen     attributes of words that it does not see: their templates are left out
    word_pairs whether factors of more than one arc have templates over two of their words
    threshold, pruner_folds  of the pruner, and by how many folds it is jackknifed for training
    """

    add: tuple[Family, ...] = ()
    drop: tuple[Family, ...] = ()
    unseen: tuple[Attribute, ...] = ()
    word_pairs: bool = True
    labels: Labels | None = None
    learner: Learner | None = None
    epochs: Positive | None = None
    max_dp_calls: Count | None = None
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    pruner_folds: Annotated[int, Field(ge=2, le=1000)] | None = None

    def __str__(self) -> str:
        """In words; empty if nothing is changed."""
        parts = [f"with {', '.join(self.add)}"] if self.add else []
        lacks = (*self.drop, *self.unseen, *([] if self.word_pairs else ["word-pair templates"]))
        parts += [f"without {', '.join(lacks)}"] if lacks else []
        return ", ".join((*parts, *(f"{name} = {value}" for name, value in self.settings.items())))

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of the settings that it sets, families aside."""
        names = ("labels", "learner", "epochs", "max_dp_calls", "threshold", "pruner_folds")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=_STRICT)
class Steps:
    """What each step of learning brings on dev: trainings that differ in one thing; see qian_liu_2013.steps.

    corpora  corpora that are trained on, perhaps none
    model    the base system, with the settings of `train`
    runs     its variations; the first changes nothing: the others are compared with it
    """

    model: str
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


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Params:
    """The whole of params.yaml. What has a default may be missing in the parameters of an older run."""

    treebanks: tuple[Name, ...] = ()  # older runs have none
    corpora: Annotated[tuple[Name, ...], Field(min_length=1)]
    paths: dict[Name, Annotated[str, AfterValidator(_path)]]
    seed: Seed
    slice: Positive | None
    tags: dict[Name, Tags] = Field(default_factory=dict)
    tagger: Tagger = Tagger(epochs=6, bits=22, folds=10)
    pruner: Pruner
    models: dict[Name, Model]
    train: Settings
    decoders: dict[Name, Decoder]
    decode: dict[Name, dict[Name, Parsing]]
    benchmark: Benchmark
    notebooks: tuple[Name, ...]
    ablation: Ablation | None = None  # a reference run from before there was one has none
    confidence: Confidence | None = None  # older runs have none
    cross_validation: CrossValidation = CrossValidation()
    classifiers: Classifiers = Field(default_factory=Classifiers)
    classifier_search: ClassifierSearch = Field(default_factory=ClassifierSearch)
    tag_correction: TagCorrection = Field(default_factory=TagCorrection)
    ccg: CCG = Field(default_factory=CCG)
    ccg_integration: CCGIntegration = CCGIntegration()
    arena: Arena | None = None  # older runs have none
    approximations: Approximations | None = None  # likewise
    score_time: ScoreTime | None = None  # older runs have none
    steps: Steps | None = None  # older runs have none

    def __post_init__(self) -> None:
        self._check_names()
        for row in self.rows.values():
            self._check_row(row)
        for corpus in self.corpora:
            named: dict[Row, str] = {}
            for row in self.rows_of(corpus):
                tags, seed = self.tags_and_seed(corpus, row)
                same = replace(row, name="", trained="", timed=None, corpora=(), tags=tags, seed=seed)
                if (other := named.setdefault(same, row.name)) != row.name:
                    raise ValueError(f"decode: {other} and {row} are the same row of {corpus}")
        for what in ("ablation", "confidence", "arena", "approximations", "score_time"):
            settings = getattr(self, what)
            if settings is not None:
                trained = list(dict.fromkeys(row.trained for row in self.rows.values() if row.everywhere))
                models = getattr(settings, "models", None) or (settings.model,)
                if unknown := [model for model in models if model not in trained]:
                    raise ValueError(f"{what}: no row trains {unknown[0]!r}; choose from {', '.join(trained)}")
        if self.confidence is not None and self.confidence.decoder not in self.decoders:
            raise ValueError(
                f"confidence: no decoder {self.confidence.decoder!r}; choose from {', '.join(self.decoders)}"
            )
        if self.steps is not None:
            self._check_steps(self.steps)
        if self.cross_validation.analysed not in self.cross_validation.folds:
            raise ValueError(f"cross_validation: fold {self.cross_validation.analysed} is analysed, but not listed")

    def check_treebanks(self) -> None:
        """Raise ValueError where `treebanks` lacks a corpus that something is computed on."""
        users = {
            "corpora": self.corpora,
            "cross_validation.corpora": self.cross_validation.corpora,
            "classifiers.corpora": self.classifiers.corpora,
            "tag_correction.corpora": self.tag_correction.corpora,
            "ccg.derivations": self.ccg.derivations,
        }
        for key, corpora in users.items():
            if self.treebanks and (missing := [corpus for corpus in corpora if corpus not in self.treebanks]):
                raise ValueError(f"treebanks: {missing[0]} is missing, which {key} has")

    def _check_names(self) -> None:
        places: dict[str, str] = {}
        for key, ways in self.decode.items():
            if key not in self.models:
                raise ValueError(f"decode: no model {key!r}; choose from {', '.join(self.models)}")
            for name in ways:
                if (other := places.setdefault(name, key)) != key:
                    raise ValueError(f"decode: {other} and {key} both have a row {name!r}")
        for name, model in self.models.items():
            if model.same_as and model.same_as not in self.models:
                raise ValueError(f"models: {name}: no model {model.same_as!r}; choose from {', '.join(self.models)}")

    def _check_row(self, row: Row) -> None:
        if row.system == "graph":
            parsing = self.decode[row.trained][row.name]
            if missing := [key for key in ("decoder", "k") if not getattr(parsing, key)]:
                raise ValueError(f"decode: {row}: missing key {missing[0]}")
        if row.decoder and row.decoder not in self.decoders:
            raise ValueError(f"decode: {row}: no decoder {row.decoder!r}; choose from {', '.join(self.decoders)}")
        for place, corpora in (
            (f"decode: {row}", row.corpora),
            (f"models: {row.trained}", self.models[row.trained].corpora),
        ):
            if unknown := [name for name in corpora if name not in self.corpora]:
                raise ValueError(f"{place}: no corpus {unknown[0]!r}; choose from {', '.join(self.corpora)}")
        for corpus in row.corpora or self.corpora:
            if row.tags == "predicted" != self.tags_of(corpus):
                raise ValueError(f"models: {row.trained}: predicted tags of {corpus}, whose tags are gold; see tags")

    @cached_property
    def rows(self) -> dict[str, Row]:
        """The rows of the tables by name."""
        return {name: self._row(key, name) for key, ways in self.decode.items() for name in ways}

    def _row(self, key: str, name: str) -> Row:
        model, parsing = self.models[key], self.decode[key][name]
        corpora = tuple(c for c in parsing.corpora or model.corpora if not model.corpora or c in model.corpora)
        return Row(
            name,
            key,
            model.same_as or key,
            model.system,
            model.learner,
            parsing.decoder,
            "none" if parsing.k is None else parsing.k,
            corpora,
            model.tags,
            model.seed,
            parsing.timed,
            parsing.beam,
            parsing.rerank,
        )

    @property
    def graph_models(self) -> dict[str, GraphModel]:
        """Settings of the graph-based models by their names in tables."""
        own = {name: model for name, model in self.models.items() if not model.same_as}
        return {name: model.settings for name, model in own.items() if model.system == "graph"}

    def has(self, corpus: str, model: str) -> bool:
        """Whether a corpus has a model."""
        return not self.models[model].corpora or corpus in self.models[model].corpora

    def _check_steps(self, steps: Steps) -> None:
        if steps.model not in self.models or self.models[steps.model].system != "graph":
            raise ValueError(f"steps: no model {steps.model!r}; choose from {', '.join(self.models)}")
        if unknown := [corpus for corpus in steps.corpora if corpus not in self.corpora]:
            raise ValueError(f"steps: no corpus {unknown[0]!r}; choose from {', '.join(self.corpora)}")
        families = self.models[steps.model].settings.families
        for name, step in steps.runs.items():
            if there := [family for family in step.add if family in families]:
                raise ValueError(f"steps: {name}: {steps.model} has {there[0]} already")
            if missing := [family for family in step.drop if family not in families]:
                raise ValueError(f"steps: {name}: {steps.model} has no {missing[0]}; it has {', '.join(families)}")

    def rows_of(self, corpus: str) -> list[Row]:
        """The rows of a corpus, those that all corpora have before its own."""
        of_corpus = [row for row in self.rows.values() if not row.corpora or corpus in row.corpora]
        return sorted(of_corpus, key=lambda row: bool(row.corpora))

    def row(self, name: str) -> Row:
        """A row by its name. Raises InputError where there is none."""
        if name not in self.rows:
            raise InputError(f"decode: no row {name!r}", path="params.yaml", hint=f"it has {', '.join(self.rows)}")
        return self.rows[name]

    def tags_and_seed(self, corpus: str, row: Row | Model) -> tuple[Tags, int]:
        """Tags and seed that a row, or a model, is trained and tested with."""
        return row.tags or self.tags_of(corpus), self.seed if row.seed is None else row.seed

    def plain(self, corpus: str, row: Row | Model) -> bool:
        """Whether a row has the tags and the seed of its corpus: all such rows stand in the same tables."""
        return self.tags_and_seed(corpus, row) == (self.tags_of(corpus), self.seed)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learners of the rows that all corpora have."""
        return tuple(dict.fromkeys(row.learner for row in self.rows.values() if row.everywhere))

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
    place: tuple[int | str, ...] = ()
    try:
        if isinstance(data, dict) and isinstance(data.get("models"), dict):
            models = {}
            for name, value in data["models"].items():
                place = ("models", name)
                models[name] = model(value)
            place, data = (), data | {"models": models}
        params = TypeAdapter(Params).validate_python(data)
    except ValidationError as error:
        unknown = ("unexpected_keyword_argument", "extra_forbidden")  # first: a misspelt key is also a missing one
        first = min(error.errors(), key=lambda e: e["type"] not in unknown)
        loc = (*place, *first["loc"])
        where = ".".join(map(str, loc))
        reason, hint = first["msg"].removeprefix("Value error, "), ""
        if first["type"] in unknown:
            reason, hint = "unknown key", "valid keys are " + ", ".join(_keys(loc[:-1], data))
        elif first["type"] in ("missing", "missing_argument"):
            reason = "missing key"
        raise InputError(
            f"{where}: {reason}" if where else reason, path=path, line=yamlfile.line_of(tree, loc), hint=hint
        ) from None
    try:
        params.check_treebanks()
    except ValueError as error:
        raise InputError(str(error), path=path, line=yamlfile.line_of(tree, ("treebanks",))) from None
    return params


def digest(*values: Any) -> str:
    """A short hash of parameters (JSON data), for metrics files and checkpoints."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _keys(loc: tuple[int | str, ...], data: dict[str, Any]) -> list[str]:
    """Valid keys of the dataclass at a place in the file."""
    if loc[:1] == ("models",):
        return [*_COMMON, *(field.name for field in fields(_settings_of(data["models"][loc[1]])))]
    kinds: dict[int | str, type] = {
        "pruner": Pruner,
        "train": Settings,
        "benchmark": Benchmark,
        "decoders": Decoder,
        "ablation": Ablation,
        "confidence": Confidence,
        "cross_validation": CrossValidation,
        "classifiers": Classifiers,
        "classifier_search": ClassifierSearch,
        "tag_correction": Correcting if loc[1:2] == ("settings",) else TagCorrection,
        "ccg": CCGSettings if loc[-1:] == ("settings",) else CCGParser if loc[1:2] == ("parsers",) else CCG,
        "ccg_integration": CCGIntegration,
        "arena": Arena,
        "approximations": Approximations,
        "score_time": ScoreTime,
        "steps": Step if loc[1:2] == ("runs",) else Steps,
    }
    return [field.name for field in fields(kinds.get(loc[0], Parsing) if loc else Params)]
