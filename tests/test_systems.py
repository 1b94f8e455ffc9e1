"""Systems on the command line: they are trained, saved, and loaded by the kind of file. Each has one settings class."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from mutants import ModelFile
from synthetic import inflected_conllu, synthetic_treebank

import treebound
from studies.common import params as parameters
from studies.common.paths import is_trained, model_file
from studies.pipeline import pruner as pruner_stage
from studies.pipeline import train as train_stage
from studies.pipeline.trainers import transition
from studies.pipeline.trainers.graph import specification
from treebound.cli import application
from treebound.constraints import corpora
from treebound.core.errors import InputError, ModelError
from treebound.core.parse import Parse
from treebound.core.system import System
from treebound.core.treebank import Treebank
from treebound.factors.templates import digest
from treebound.learning.pruner import train_pruner
from treebound.learning.storage import Format, Header, Layout
from treebound.learning.survey import describe
from treebound.learning.system import Labelled
from treebound.support.settings import Checked, SettingError, option
from treebound.systems import registry
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.systems.registry import SYSTEMS, system_of
from treebound.treebanks import storage
from treebound.treebanks.document import read

REPOSITORY = Path(__file__).parents[1]


def call(*arguments: object) -> None:
    """Run the command line in this process."""
    typer.main.get_command(application()).main([str(a) for a in arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("systems")
    (path / "train.conllu").write_text(inflected_conllu(60, 1))
    (path / "dev.conllu").write_text(inflected_conllu(20, 2))
    return path


def test_train_without_options_is_the_pruned_combined_model_of_the_pipeline(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models are equal byte for byte: settings, pruner, conventions, templates, weights and history."""
    call("train", folder / "train.conllu", folder / "dev.conllu", "-o", tmp_path / "own.npz")
    treebanks = {split: read(folder / f"{split}.conllu").treebank for split in ("train", "dev")}
    describe(*treebanks.values())  # the catalogue does the same for its corpora
    monkeypatch.chdir(tmp_path)
    for split, treebank in (treebanks | {"test": treebanks["dev"]}).items():
        path = Path("data/converted/made_up") / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(treebank, path)
    tags = Path("data/tagged/made_up/tags.json")
    tags.parent.mkdir(parents=True)
    tags.write_text('{"tags": "gold"}')
    params = parameters.load(REPOSITORY / "params.yaml")
    params = dataclasses.replace(params, corpora=("made_up",))
    pruner_stage.run(params, "made_up")
    train_stage.run(params, "made_up", "combined-pruned")
    assert Path("own.npz").read_bytes() == model_file("made_up", "combined-pruned").read_bytes()


def test_params_and_the_class_have_the_same_defaults() -> None:
    params = parameters.load(REPOSITORY / "params.yaml")
    plain = synthetic_treebank(5, 1)
    assert specification(params, "combined-pruned", plain, params.seed) == Settings().adapted_settings(plain)
    assert specification(params, "combined", plain, params.seed) == Settings(threshold=0).adapted_settings(plain)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"learner": "svm"}, "learner: unknown value 'svm'; choose from mira, perceptron"),
        ({"k": "many"}, "k: Input should be a valid integer"),
        ({"cost": math.nan}, "cost: Input should be a finite number"),
        ({"families": ("sibling", "sibling")}, "families: a factor family is named twice"),
    ],
)
def test_settings_are_checked_however_they_are_made(values: dict[str, Any], message: str) -> None:
    for make in (lambda: Settings(**values), lambda: dataclasses.replace(Settings(), **values)):
        with pytest.raises(SettingError, match=message):
            make()


# --- templates ---


@pytest.fixture(scope="module")
def model() -> Model:
    learn = synthetic_treebank(60, 1, 12)
    spec = Settings(("adjacent-sibling", "sibling"), epochs=1, bits=14)
    return train(spec, learn, learn.select(np.arange(10)), train_pruner(learn, epochs=1, bits=12))


def trees(model: Model) -> list[tuple[list[int], float, list[str]]]:
    parser = Parser(model)
    return [(p.heads.tolist(), p.value, model.label_names(p)) for p in parser.parse(synthetic_treebank(15, 3, 12))]


def test_a_parser_goes_to_workers_with_its_weights_once(model: Model) -> None:
    parser, test = Parser(model), synthetic_treebank(5, 3, 12)
    sent = pickle.dumps(parser)
    assert len(sent) < len(pickle.dumps(model)) + model.weights.nbytes / 4
    for parse, unpickled in zip(parser.parse(test), pickle.loads(sent).parse(test), strict=True):
        assert (parse.heads.tolist(), parse.value) == (unpickled.heads.tolist(), unpickled.value)


def test_a_model_uses_the_templates_that_it_was_trained_with(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Templates that were edited after training do not change the model."""
    from treebound import factors
    from treebound.features import labels
    from treebound.learning import pruner
    from treebound.systems.graph import model as module

    model.save(tmp_path / "model.npz")
    before = trees(model)
    monkeypatch.setattr(factors, "HEAD", ("h.form",))
    monkeypatch.setattr(module, "OF_LABELS", dict.fromkeys(labels.TEMPLATES, ("m.form",)) | {"label-head": ()})
    monkeypatch.setattr(pruner, "PAIR", ("h.tag m.tag",))
    monkeypatch.setattr(pruner, "TEMPLATES", dict.fromkeys(pruner.TEMPLATES, ()))
    assert module.templates_for(model.spec)["arc-head"] == ("h.form",)
    assert trees(Model.load(tmp_path / "model.npz")) == before


def forged(model: Model, tmp_path: Path, lines: dict[str, Any]) -> Path:
    """Write a model file with other templates and correct digests, and return its path."""
    path = tmp_path / "model.npz"
    model.save(path)
    file = ModelFile(path.read_bytes())
    file.header["templates"]["lines"] |= lines
    file.header["templates"]["digest"] = digest(file.header["templates"]["lines"])
    path.write_bytes(file.written())
    return path


def test_a_file_with_other_templates_scores_by_them(model: Model, tmp_path: Path) -> None:
    changed = Model.load(forged(model, tmp_path, {"arc": []}))
    assert changed.templates["arc"] == ()
    assert trees(changed) != trees(model)


@pytest.mark.parametrize(
    "lines",
    [{"arc": ["h.colour"]}, {"arc": ["h+9.tag"]}, {"arc": ["s.tag"]}, {"arc": "h.tag"}, {"arc": [3]}, {"comb": []}],
)
def test_invalid_templates_are_refused(lines: dict[str, Any], model: Model, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="damaged model file"):
        Model.load(forged(model, tmp_path, lines))


def test_an_old_file_without_templates_is_refused_in_one_line(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    model.save(path)
    file = ModelFile(path.read_bytes())
    file.header["version"] = 1
    path.write_bytes(file.written())
    with pytest.raises(ModelError, match=r"model of version 1, this program reads 2; train it again") as caught:
        treebound.load(path)
    assert "\n" not in str(caught.value)


# --- systems ---


@pytest.mark.parametrize("options", [[], ["--in-loop", "--epochs", 1]])
def test_constrained_parsing_from_the_command_line(folder: Path, tmp_path: Path, options: list[str]) -> None:
    model, out = tmp_path / "model.npz", tmp_path / "out.conllu"
    assert "en_ewt" in corpora()
    own = ["--system", "constrained", "--constraints", "en_ewt", "--bits", 12, "--epochs", 2]
    call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, *own, *options)
    call("parse", model, folder / "dev.conllu", "-o", out)
    parsed, gold = read(out).treebank, read(folder / "dev.conllu").treebank
    assert (parsed.head == gold.head).mean() > 0.7
    assert "# treebound_status = optimal" in out.read_text()
    parser = treebound.load(model)
    parses = parser.parse(gold, workers=2)
    assert [p.heads.tolist() for p in parses] == [parsed.heads(i).tolist() for i in range(len(parsed))]
    assert [name for p in parses for name in parser.label_names(p)] == parsed.strings("deprel")
    with pytest.raises(InputError, match="no option 'k'"):
        call("parse", model, folder / "dev.conllu", "--k", 5)
    with pytest.raises(InputError, match="only graph-based models"):
        call("parse", model, folder / "dev.conllu", "--margins")


def test_tagging_is_a_system(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "tagger.npz"
    call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, "--system", "tagging", "--bits", 12)
    call("tag", model, folder / "dev.conllu", "-o", tmp_path / "out.conllu")
    with pytest.raises(InputError, match="--k is an option of"):
        call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, "--system", "tagging", "--k", 3)
    with pytest.raises(treebound.core.errors.TreeboundError, match=r"tagger\.npz: a tagger finds no trees"):
        call("parse", model, folder / "dev.conllu")


@dataclass(frozen=True)
class ToySettings(Checked):
    """Settings of the system `Toy`."""

    seed: int = option(1, "The word that the others hang on, from 1.")


@dataclass(frozen=True)
class ToyModel:
    seed: int

    def save(self, path: Path) -> None:
        TOY.save(path, {}, {"seed": np.array([self.seed])})


TOY = Format("toy", 1, Header, lambda _: {"seed": Layout(np.int64, {(1,)})})


class Toy(Labelled):
    """A system in twenty lines whose trees attach all words to one word, which the settings choose."""

    settings = ToySettings
    reads = ()

    def train(self, settings: ToySettings, train: Treebank, dev: Treebank, **how: Any) -> ToyModel:
        return ToyModel(settings.seed)

    def load(self, path: Path) -> ToyModel:
        return ToyModel(int(TOY.load(path)[1]["seed"][0]))

    def parser(self, model: ToyModel, **options: Any) -> Toy:
        self.model = model
        return self

    def parse(self, treebank: Treebank, workers: int = 1, **how: Any) -> list[Parse]:
        return [self._tree(int(n)) for n in treebank.lengths]

    def _tree(self, n: int) -> Parse:
        top = min(self.model.seed, n)
        heads = np.full(n + 1, top, np.int32)
        heads[[0, top]] = -1, 0
        return Parse(heads, math.nan, math.inf, "heuristic")

    def label_names(self, parse: Parse) -> list[str]:
        return ["_"] * (len(parse.heads) - 1)


@pytest.mark.parametrize("options", [{"beam": 4}, {"decoder": "eisner", "max_dp_calls": 9}])
def test_an_option_that_a_decoder_lacks_is_named(options: dict[str, Any], model: Model) -> None:
    with pytest.raises(InputError, match=f"has no option '{list(options)[-1]}'; leave it out"):
        Parser(model, **options)


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in ("graph", "tagging")])
def test_an_option_that_a_parser_lacks_is_named(name: str) -> None:
    system: Any = SYSTEMS[name]()
    there = f"; the options are {', '.join(system.options)}" if system.options else ""
    with pytest.raises(InputError, match=f"has no option 'turbo'; leave it out{there}$"):
        system.parser(None, **dict.fromkeys(system.options), turbo=1)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_has_all_required_members(name: str) -> None:
    required = {required for required in vars(System) if not required.startswith("_")}
    assert required > {"settings", "trees", "train"}
    assert required <= set(dir(SYSTEMS[name]()))
    assert name in registry.KINDS.values()


def test_a_new_system_needs_a_class_and_one_registration(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SYSTEMS, "_items", dict(SYSTEMS._items))
    monkeypatch.setattr(registry, "KINDS", dict(registry.KINDS))
    registry.register("toy", "toy", Toy)
    model, out = tmp_path / "model.npz", tmp_path / "out.conllu"
    call("train", folder / "train.conllu", folder / "dev.conllu", "-o", model, "--system", "toy", "--seed", 2)
    call("parse", model, folder / "dev.conllu", "-o", out)
    parsed = read(out).treebank
    assert all(parsed.heads(i)[2] == 0 for i in range(len(parsed)))
    assert "# treebound_score" not in out.read_text()
    list_ = tmp_path / "list.yaml"
    files = {name: str(folder / f"{name}.conllu") for name in ("train", "dev")}
    list_.write_text(json.dumps({"models": {"a": {"system": "toy", "seed": 2, **files}}}))
    call("train-many", list_, "-o", tmp_path / "models")
    assert (tmp_path / "models" / "a.npz").read_bytes() == model.read_bytes()
    assert isinstance(system_of(model), Toy)


def test_a_model_whose_package_is_not_installed_leaves_a_note(
    tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(transition.PACKAGES, "svm", ("no_such_module", "no-such-package"))
    monkeypatch.chdir(REPOSITORY)
    params, path = parameters.load(), tmp_path / "svm.npz"
    metrics, seconds = transition.train(params, "tr_twt", "svm", path)
    assert (metrics["missing"], set(seconds.values())) == ("no-such-package", {0.0})
    assert path.read_text() == "not trained: no-such-package is not installed\n"  # DVC warns of an empty file
    row = next(row for row in params.rows_of("tr_twt") if row.trained == "svm")
    loaded = transition.load(params, "tr_twt", row, path)
    gold = synthetic_treebank(3, 1)
    trees = loaded.trees(gold, loaded.parse(gold))
    assert trees.facts["missing"] == "no-such-package"
    assert [heads[1:].tolist() for heads in trees.heads] == [[0] * n for n in gold.lengths.tolist()]
    model.save(tmp_path / "graph.npz")
    assert (is_trained(path), is_trained(tmp_path / "graph.npz")) == (False, True)


def test_files_that_are_not_models_are_refused(tmp_path: Path, model: Model) -> None:
    model.pruner.save(tmp_path / "pruner.npz")
    with pytest.raises(ModelError, match="holds a 'pruner', which is not the model of a system"):
        treebound.load(tmp_path / "pruner.npz")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ModelError, match="truncated or foreign"):
        treebound.load(tmp_path / "text")
