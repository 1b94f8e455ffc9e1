"""Read params.yaml into frozen dataclasses. The error for an unknown key lists the valid keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from studies.common.fields import STRICT, Above, Corpus, Count, Keep, Name, Positive, Section, Tags, heads
from studies.common.paths import modules_of_questions
from treebound.core.errors import InputError
from treebound.core.spaces import Space
from treebound.support import yamlfile
from treebound.support.settings import Seed, SettingError
from treebound.systems.graph.settings import Family, Learner, Settings
from treebound.systems.sampling.settings import Settings as Sampling
from treebound.systems.transition.settings import Settings as Transition

T = TypeVar("T", bound=Section)
#: system -> name of the module of `pipeline.trainers` that trains models of the system and parses with them
SYSTEMS = {"graph": "graph", "transition": "transition", "sampling": "sampling", "udpipe": "peers", "spacy": "peers"}


def _path(text: str) -> str:
    """Return a text that can be the name of a file, or raise ValueError."""
    if not yamlfile.file_name(text):
        raise ValueError(f"{text!r} cannot be a path")
    return text


def _system(name: str) -> str:
    """Return the name of a system, or raise ValueError if it is not one of SYSTEMS."""
    if name not in SYSTEMS:
        raise ValueError(f"unknown system {name!r}; choose from {', '.join(SYSTEMS)}")
    return name


SystemName = Annotated[str, AfterValidator(_system)]


@dataclass(frozen=True, config=STRICT)
class Tagger:
    """Settings of the tagger for corpora with predicted tags, see `systems.tagging.learn`.

    folds  number of jackknife folds that tag the training set
    """

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    folds: Annotated[int, Field(ge=2, le=1000)]


@dataclass(frozen=True, config=STRICT)
class Pruner:
    """Settings of the first-order pruner.

    - ks: numbers of best heads for which the oracle recall is measured.
    - thresholds: fractions of the best head's probability. The oracle recall is also measured among the k heads of
      `train` whose probability is at least this fraction.
    """

    epochs: Positive
    bits: Annotated[int, Field(ge=8, le=28)]
    ks: tuple[Positive, ...]
    thresholds: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = ()  # the parameters of older runs lack this key


@dataclass(frozen=True, config=STRICT)
class GraphModel:
    """Settings of one graph-based model, in addition to the common settings in `train`.

    - families: factor families besides arcs.
    - threshold: threshold of the pruner; 0 keeps the k best heads, as in the papers.
    - pruner_folds: number of jackknife folds for pruning the training sentences; each fold is pruned by a pruner
      trained on the other folds.
    - epochs: passes over the training set; null takes the value of `train`.
    """

    families: tuple[Family, ...] = ()
    learner: Learner = "mira"
    space: Space = "projective"
    threshold: Annotated[float, Field(ge=0, lt=1)] = 0.0
    pruner_folds: Annotated[int, Field(ge=0, le=1000)] = 0
    epochs: Positive | None = None


#: system -> class of the settings of its models; packages of other projects accept any numbers and names
_SETTINGS: dict[str, Any] = {"graph": GraphModel, "transition": Transition, "sampling": Sampling}


@dataclass(frozen=True, config=STRICT)
class Model:
    """A model to train.

    - system: one of SYSTEMS.
    - settings: settings of the system, as `_SETTINGS` checks them.
    - same_as: name of another model that differs only in learner, tags or seed; tables show the name of the other model
      instead of the model's own name. Empty: tables show the model's own name.
    - corpora: corpora that have the model; empty: all.
    - tags, seed: tags and seed for training and testing; None: the values of the corpus and of the run.
    """

    system: SystemName = "graph"
    settings: Any = None
    same_as: str = ""
    corpora: tuple[Name, ...] = ()
    tags: Tags | None = None
    seed: Seed | None = None

    @property
    def learner(self) -> Learner:
        """Return the learner of a graph-based model; for other systems, the default."""
        return self.settings.learner if self.system == "graph" else "mira"


_COMMON = ("system", "same_as", "corpora", "tags", "seed")


def _settings_of(value: dict[str, Any]) -> Any:
    """Return the class of a model's settings, which depends on the key `system` in `value`."""
    return _SETTINGS.get(value.get("system", "graph"), dict[str, int | FiniteFloat | str])


def model(value: Any) -> Model:
    """Make a model from its keys in params.yaml. Raises ValidationError if a key or a value is invalid.

    Keys that are not common to all models are settings of the system.
    """
    if not isinstance(value, dict):
        return TypeAdapter(Model).validate_python(value)
    common = {key: value[key] for key in _COMMON if key in value}
    own = {key: value[key] for key in value if key not in _COMMON}
    checked = TypeAdapter(Model).validate_python(common)
    return replace(checked, settings=TypeAdapter(_settings_of(value)).validate_python(own))


@dataclass(frozen=True, config=STRICT)
class Decoder:
    """A registered decoder with its options, as an entry of `decoders` in params.yaml.

    sentences  decode only this many sentences of the test split, the first ones; None: all
    gold       True also scores the gold trees, so that search errors and model errors can be told apart
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
        """Return the keyword arguments for the decoder, without options that are None."""
        ours = ("decoder", "sentences", "gold")
        names = [field.name for field in fields(self) if field.name not in ours]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True, config=STRICT)
class Parsing:
    """Settings for parsing with a model, which give one row of the tables.

    - decoder, k: a key of `decoders`, and the number of candidate heads per word (none: no pruning). Graph-based models
      need both.
    - beam: width of the beam of transition-based models; None: the width of training.
    - rerank: for models that sample, rerank a list of this many trees instead of searching; None: search.
    - corpora: corpora that have the row; empty: all that have the model.
    - timed: True if the benchmark times the row; None: it times rows that all corpora have.
    """

    decoder: str = ""
    k: Keep | None = None
    beam: Annotated[int, Field(ge=1, le=1024)] | None = None
    rerank: Positive | None = None
    corpora: tuple[Name, ...] = ()
    timed: bool | None = None


@dataclass(frozen=True)
class Row:
    """A row of the tables: a model, and how the test split is parsed with it.

    trained  key of the model in `models`
    model    name of the model in tables
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
        """Return k in the form that the parser takes."""
        return heads(self.k)

    @property
    def key(self) -> dict[str, str]:
        """Return the columns that identify the row in tables."""
        return {"row": self.name, "model": self.model, "learner": self.learner, "decoder": self.decoder} | {
            "k": str(self.k)
        }

    @property
    def everywhere(self) -> bool:
        """Return True for a graph-based row that all corpora have, and that sets neither tags nor a seed of its own."""
        return self.system == "graph" and not self.corpora and self.tags is None and self.seed is None

    @property
    def benchmarked(self) -> bool:
        """Return True if the benchmark times the row."""
        return not self.corpora if self.timed is None else self.timed


@dataclass(frozen=True, config=STRICT)
class Benchmark:
    """Settings of the timed runs of the benchmark. They follow an untimed run that compiles.

    repeats  number of timed runs
    seconds  no further run starts once the timed runs have taken this many CPU seconds in total
    """

    repeats: Positive
    seconds: Above


@dataclass(frozen=True, config=STRICT, kw_only=True)
class Params:
    """The content of params.yaml.

    A field with a default may be missing in the parameters of an older run.

    - forms: True if pages show words of treebanks. A report that is published shows their numbers, because not every
      treebank allows copies of its text.
    """

    treebanks: tuple[Corpus, ...] = ()  # the parameters of older runs lack this key
    corpora: Annotated[tuple[Name, ...], Field(min_length=1)]
    paths: dict[Name, Annotated[str, AfterValidator(_path)]]
    seed: Seed
    slice: Positive | None
    forms: bool = True
    tags: dict[Name, Tags] = Field(default_factory=dict)
    tagger: Tagger = Tagger(epochs=6, bits=22, folds=10)
    pruner: Pruner
    models: dict[Name, Model]
    train: Settings
    decoders: dict[Name, Decoder]
    decode: dict[Name, dict[Name, Parsing]]
    benchmark: Benchmark
    notebooks: tuple[Name, ...]
    questions: dict[str, Any] = Field(default_factory=dict)  #: section -> settings of a question; see `section`

    def __post_init__(self) -> None:
        self._check_names()
        for row in self.rows.values():
            self._check_row(row)
        for corpus in self.corpora:
            names: dict[Row, str] = {}
            for row in self.rows_of(corpus):
                tags, seed = self.tags_and_seed(corpus, row)
                same = replace(row, name="", trained="", timed=None, corpora=(), tags=tags, seed=seed)
                if (first_name := names.setdefault(same, row.name)) != row.name:
                    raise ValueError(f"decode: {first_name} and {row} are the same row of {corpus}")

    def shown(self, words: Sequence[str]) -> list[str]:
        """Return the words of a sentence as pages show them: the words, or their numbers if `forms` is False."""
        return list(words) if self.forms else [str(i) for i in range(1, len(words) + 1)]

    def section(self, kind: type[T]) -> T:
        """Return the settings of a question, which are identified by their class.

        If the file lacks the section, the result has the default values of the class. With these defaults, the stages
        of the question do nothing.
        """
        settings = self.questions.get(_question(kind))
        return settings if isinstance(settings, kind) else kind()

    def changed(self, settings: Section) -> Params:
        """Return a copy of the parameters in which one question has the given settings."""
        return replace(self, questions=self.questions | {_question(type(settings)): settings})

    def check(self, params: Params) -> None:
        """Raise ValueError if `treebanks` lacks a corpus on which all models are compared."""
        self.check_treebanks(self.corpora)

    def check_treebanks(self, corpora: Iterable[str]) -> None:
        """Raise ValueError if `treebanks` lacks any of the corpora."""
        if self.treebanks and (missing := [corpus for corpus in corpora if corpus not in self.treebanks]):
            raise ValueError(f"{missing[0]} is missing in treebanks")

    def check_trained(self, *models: str) -> None:
        """Raise ValueError unless every model in `models` belongs to a row of the results that all corpora have."""
        trained = list(dict.fromkeys(row.trained for row in self.rows.values() if row.everywhere))
        if unknown := [model for model in models if model not in trained]:
            raise ValueError(f"no row trains {unknown[0]!r}; choose from {', '.join(trained)}")

    def check_decoder(self, name: str) -> None:
        """Raise ValueError if there is no decoder with this name."""
        if name not in self.decoders:
            raise ValueError(f"no decoder {name!r}; choose from {', '.join(self.decoders)}")

    def _check_names(self) -> None:
        """Raise ValueError if `decode` or `same_as` names an unknown model, or if two rows have the same name."""
        places: dict[str, str] = {}
        for key, parsings in self.decode.items():
            if key not in self.models:
                raise ValueError(f"decode: no model {key!r}; choose from {', '.join(self.models)}")
            for name in parsings:
                if (first_model := places.setdefault(name, key)) != key:
                    raise ValueError(f"decode: {first_model} and {key} both have a row {name!r}")
        for name, model in self.models.items():
            if model.same_as and model.same_as not in self.models:
                raise ValueError(f"models: {name}: no model {model.same_as!r}; choose from {', '.join(self.models)}")

    def _check_row(self, row: Row) -> None:
        """Raise ValueError if a row lacks a key, or names an unknown decoder or corpus.

        Also raise ValueError if the row uses predicted tags of a corpus whose tags are gold.
        """
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
                raise ValueError(
                    f"models: {row.trained}: predicted tags of {corpus}, whose tags are gold; change its entry in tags"
                )

    @cached_property
    def rows(self) -> dict[str, Row]:
        """Return the rows of the tables by name."""
        return {name: self._row(key, name) for key, parsings in self.decode.items() for name in parsings}

    def _row(self, key: str, name: str) -> Row:
        """Combine a model and its settings for parsing into a row.

        key   key of the model in `models`
        name  name of the row in `decode`
        """
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
        """Return the settings of the graph-based models by their names in tables."""
        own = {name: model for name, model in self.models.items() if not model.same_as}
        return {name: model.settings for name, model in own.items() if model.system == "graph"}

    def has(self, corpus: str, model: str) -> bool:
        """Return True if a model is trained on a corpus."""
        return not self.models[model].corpora or corpus in self.models[model].corpora

    def rows_of(self, corpus: str) -> list[Row]:
        """Return the rows of a corpus: first the rows that all corpora have, then the rows that only some have."""
        of_corpus = [row for row in self.rows.values() if not row.corpora or corpus in row.corpora]
        return sorted(of_corpus, key=lambda row: bool(row.corpora))

    def row(self, name: str) -> Row:
        """Return a row by its name. Raises InputError if there is no row with this name."""
        if name not in self.rows:
            raise InputError(f"decode: no row {name!r}", path="params.yaml", hint=f"it has {', '.join(self.rows)}")
        return self.rows[name]

    def tags_and_seed(self, corpus: str, row: Row | Model) -> tuple[Tags, int]:
        """Return the tags and the seed with which a row, or a model, is trained and tested."""
        return row.tags or self.tags_of(corpus), self.seed if row.seed is None else row.seed

    def plain(self, corpus: str, row: Row | Model) -> bool:
        """Return True if a row, or a model, has the tags of the corpus and the seed of the run.

        Rows with this property can be compared and stand together in tables.
        """
        return self.tags_and_seed(corpus, row) == (self.tags_of(corpus), self.seed)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """Return the learners of the rows that all corpora have."""
        return tuple(dict.fromkeys(row.learner for row in self.rows.values() if row.everywhere))

    def tags_of(self, corpus: str) -> Tags:
        """Return the tags on which the parsers of a corpus are trained and tested."""
        return self.tags.get(corpus, "gold")

    def limit(self, split: str, most: int | None = None) -> int | None:
        """Return the number of sentences of a split that are used, from the first, at most `most`; None means all."""
        if self.slice is None:
            return most
        count = self.slice if split == "train" else max(1, self.slice // 4)
        return count if most is None else min(count, most)


def sections() -> dict[str, type[Section]]:
    """Map the name of each question's section of params.yaml to the class of its settings.

    The file `settings.py` in the folder of the question defines the class. Raises InputError if such a file does not
    define exactly one class.
    """
    classes = {}
    for question, module in modules_of_questions("settings"):
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Section)]
        own = [kind for kind in kinds if kind.__module__ == module.__name__]
        if len(own) != 1:
            hint = "derive the class of the settings, and no other class, from common.fields.Section"
            raise InputError(f"{len(own)} classes of settings, and one is needed", path=module.__file__, hint=hint)
        classes[question] = own[0]
    return classes


def _question(kind: type) -> str:
    """Return the name of the section of params.yaml whose settings have the class `kind`."""
    return kind.__module__.split(".")[-2]


def load(path: Path = Path("params.yaml")) -> Params:
    """Read and check a parameter file. Raises InputError with file, line, reason and the valid choices."""
    tree, data = yamlfile.read(path, hint="run from the project's folder")
    kinds: dict[str, type] = {name: kind for name, kind in get_type_hints(Params).items() if name != "questions"}
    kinds |= (of_questions := sections())
    data = data if isinstance(data, dict) else {}
    if unknown := [key for key in data if key not in kinds]:
        line = yamlfile.line_of(tree, (unknown[0],))
        raise InputError(
            f"{_dotted(unknown[:1])}: unknown key", path=path, line=line, hint=f"valid keys are {', '.join(kinds)}"
        )
    place: tuple[int | str, ...] = ()
    try:
        section_settings: dict[str, Any] = {}
        core = {key: value for key, value in data.items() if key not in of_questions}
        if isinstance(core.get("models"), dict):
            models = {}
            for name, value in core["models"].items():
                place = ("models", name)
                models[name] = model(value)
            core["models"] = models
        for name, kind in of_questions.items():
            if data.get(name) is not None:
                place = (name,)
                section_settings[name] = TypeAdapter(kind).validate_python(data[name])
        place = ()
        params = TypeAdapter(Params).validate_python(core | {"questions": section_settings})
    except ValidationError as error:
        raise _input_error(error, place, path, tree, data, kinds) from None
    except SettingError as error:  # settings of a system that do not fit together
        loc = (*place, error.key)
        line, reason = yamlfile.line_of(tree, loc), f"{_dotted(loc)}: {error.reason}"
        raise InputError(reason, path=path, line=line, hint=error.hint) from None
    for name, settings in {"corpora": params, **section_settings}.items():
        try:
            settings.check(params)
        except ValueError as error:
            raise InputError(f"{name}: {error}", path=path, line=yamlfile.line_of(tree, (name,))) from None
    return params


def _dotted(loc: Sequence[int | str]) -> str:
    """Return the keys `loc` with dots between them; line breaks and other control characters are escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in ".".join(map(str, loc)))


def _input_error(
    error: ValidationError, place: tuple[int | str, ...], path: Path, tree: Any, data: dict[str, Any], kinds: dict
) -> InputError:
    """Convert the first error of pydantic to an InputError with line, reason and valid keys.

    place  keys that lead to the part of the file that pydantic has checked
    tree   the parsed file, with line numbers
    data   the content of the file
    kinds  key of the file -> type of its value
    """
    unknown = (
        "unexpected_keyword_argument",
        "extra_forbidden",
    )  # report an unknown key first: a misspelt key also counts as missing
    first = min(error.errors(), key=lambda e: e["type"] not in unknown)
    loc = (*place, *first["loc"])
    where = _dotted(loc)
    reason, hint = first["msg"].removeprefix("Value error, "), ""
    if first["type"] in unknown:
        known = _model_keys(data["models"][loc[1]]) if loc[0] == "models" else _keys(kinds[str(loc[0])], loc[1:-1])
        reason, hint = "unknown key", "valid keys are " + ", ".join(known)
    elif first["type"] in ("missing", "missing_argument"):
        reason = "missing key"
    text = f"{where}: {reason}" if where else reason
    return InputError(text, path=path, line=yamlfile.line_of(tree, loc), hint=hint)


def _model_keys(value: dict[str, Any]) -> list[str]:
    """Return the valid keys of a model, which depend on the key `system` in `value`."""
    return [*_COMMON, *(field.name for field in fields(_settings_of(value)))]


def _keys(kind: Any, loc: Sequence[int | str]) -> list[str]:
    """Return the valid keys of the dataclass that is reached from the type `kind` by following the keys `loc`."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(arg for arg in get_args(kind) if arg is not type(None))
    if loc and is_dataclass(kind):
        return _keys(get_type_hints(kind)[str(loc[0])], loc[1:])
    if loc:  # go into the values of a dict or the items of a tuple
        return _keys(get_args(kind)[1 if get_origin(kind) is dict else 0], loc[1:])
    return [field.name for field in fields(kind)]


def digest(*values: Any) -> str:
    """Return a short hash of values (JSON data), by which metrics files and checkpoints identify their parameters."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]
