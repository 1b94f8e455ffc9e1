"""Lists of models: valid and refused lists, and second runs that only train missing models."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cli import SENTENCES, assert_one_line, conllu, run

from treebound.core.errors import InputError
from treebound.systems import training

LIST = """
settings: {epochs: 2, bits: 14, train: train.conllu, dev: dev.conllu}
models:
  arcs: {families: []}
  carreras:
    families: adjacent-sibling, outermost-grandchild
    labels: none
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.conllu").write_text(conllu(SENTENCES * 3))
    (tmp_path / "dev.conllu").write_text(conllu(SENTENCES))
    (tmp_path / "list.yaml").write_text(LIST)
    return tmp_path


def test_a_list_is_settings_of_all_and_of_each(folder: Path) -> None:
    models = training.listed(folder / "list.yaml")
    recipe, train, dev = models["carreras"]
    assert list(models) == ["arcs", "carreras"]
    settings = recipe.settings
    assert settings.families == ("adjacent-sibling", "outermost-grandchild")
    assert (settings.epochs, settings.bits, settings.labels, settings.k) == (2, 14, "none", 10)
    assert (train, dev) == (folder / "train.conllu", folder / "dev.conllu")
    assert models["arcs"][0].settings.families == ()
    assert models["arcs"][0].settings.labels == "both"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("models:", "model:", ": models: no models are listed"),
        ("models:", "other: 1\nmodels:", ":3: other: unknown key; valid keys are settings, models"),
        ("labels: none", "lables: none", r":7: models\.carreras\.lables: unknown key; valid keys are system, tr"),
        ("epochs: 2", "epochs: two", r":2: settings\.epochs: Input should be a valid integer"),
        ("epochs: 2", "epochs: 0", r":2: settings\.epochs: Input should be greater than or equal to 1"),
        ("labels: none", "labels: all", r":7: models\.carreras\.labels: unknown value 'all'; choose from none"),
        (
            "families: []",
            "families: [cousin]",
            r":4: models\.arcs\.families: unknown factor family 'cousin'; choose from ",
        ),
        (", dev: dev.conllu", "", r":4: models\.arcs\.dev: must name a file; name a treebank file"),
        ("arcs: {families: []}", "arcs: 3", r":4: models\.arcs: has no settings; give at least train and dev"),
        ("arcs:", "../arcs:", r":4: models\.\.\./arcs: cannot be the name of a file"),
        ("{families: []}", "{families: []", r":5: not valid YAML"),
        ("epochs: 2", "C: .nan", r":2: settings\.C: Input should be a finite number"),
        ("epochs: 2", "cost: -1", r":2: settings\.cost: Input should be greater than or equal to 0"),
        ("epochs: 2", f"k: {'9' * 5000}", r":2: not valid YAML: '9{30}' is not a valid value"),
        ("epochs: 2", f"k: {'9' * 30}", r":2: settings\.k: Input should be less than or equal to 1000000"),
        ("epochs: 2", "epochs: 2, epochs: 3", r":2: not valid YAML: the key 'epochs' is given twice"),
        ("  carreras:", "  arcs:", r":5: not valid YAML: the key 'arcs' is given twice"),
        ("  arcs:", "  1: {families: []}\n  '1':", r":[45]: models\.1: listed twice"),
        ("arcs:", '"a\\0":', r":4: models\.a.*: cannot be the name of a file"),
        ("dev.conllu", '"\\0.conllu"', r":4: models\.arcs\.dev: must name a file"),
        ("families: []", f"families: {'[' * 3000}{']' * 3000}", r": nested too deeply"),
    ],
)
def test_faults_are_named_with_their_line(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "list.yaml"
    assert old in LIST
    path.write_text(LIST.replace(old, new, 1))
    with pytest.raises(InputError, match=r"list\.yaml" + message):
        training.listed(path)


def test_a_missing_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        training.listed(tmp_path / "list.yaml")


def test_models_are_those_of_train_with_any_number_of_workers(folder: Path) -> None:
    first_folder, second_folder = folder / "one", folder / "two"
    done = run("train-many", folder / "list.yaml", "-o", first_folder)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in first_folder.iterdir()) == ["arcs.npz", "carreras.npz"]
    assert run("train-many", folder / "list.yaml", "-o", second_folder, "--workers", 2).returncode == 0
    single = folder / "arcs.npz"
    files = (folder / "train.conllu", folder / "dev.conllu", "-o", single)
    assert run("train", *files, "--epochs", 2, "--bits", 14, "--families", "").returncode == 0
    for name in ("arcs.npz", "carreras.npz"):
        assert (first_folder / name).read_bytes() == (second_folder / name).read_bytes()
    assert single.read_bytes() == (first_folder / "arcs.npz").read_bytes()

    written = {path: path.stat().st_mtime_ns for path in first_folder.iterdir()}
    repeated = run("train-many", folder / "list.yaml", "-o", first_folder, "--workers", 2)
    assert repeated.stderr.count("finished earlier") == 2
    assert {path: path.stat().st_mtime_ns for path in first_folder.iterdir()} == written
    # other settings or another treebank make another model, and a truncated file is not a model
    (folder / "list.yaml").write_text(LIST.replace("labels: none", "labels: joint"))
    repeated = run("train-many", folder / "list.yaml", "-o", first_folder)
    assert repeated.stderr.count("finished earlier") == 1
    (first_folder / "arcs.npz").write_bytes((first_folder / "arcs.npz").read_bytes()[:1000])
    assert run("train-many", folder / "list.yaml", "-o", first_folder).stderr.count("finished earlier") == 1
    assert (first_folder / "arcs.npz").read_bytes() == single.read_bytes()
    (folder / "train.conllu").write_text(conllu(SENTENCES * 4))
    assert run("train-many", folder / "list.yaml", "-o", first_folder).stderr.count("finished earlier") == 0


def test_treebanks_are_checked_before_anything_is_trained(folder: Path) -> None:
    (folder / "empty.conllu").write_text("")
    (folder / "list.yaml").write_text(LIST + "    dev: empty.conllu\n")
    done = run("train-many", folder / "list.yaml", "-o", folder / "models")
    assert_one_line(done, "empty.conllu: has no sentences; give a treebank")
    assert list((folder / "models").iterdir()) == []


def test_one_model_that_cannot_be_trained_does_not_stop_the_others(folder: Path) -> None:
    recipe, *files = training.listed(folder / "list.yaml")["arcs"]
    from treebound.cli.common import read_document

    def made(name: str, **changed: object) -> training.Job:
        treebanks = tuple(read_document(path).treebank for path in files)
        job = training.job(name, recipe, tuple(files), treebanks, folder / f"{name}.npz")
        return training.Job(**{**job.__dict__, **changed})

    unlabelled = made("bad").train
    unlabelled.columns["deprel"][:] = unlabelled.vocab["deprel"].add("_")
    jobs = [made("bad", train=unlabelled), made("good")]
    outcome = {done.name: done for _, done in training.train_many(jobs, folder)}
    assert outcome["bad"].model is None
    assert "not every word has a label" in str(outcome["bad"].error)
    assert outcome["good"].model is not None
    assert [path.name for path in folder.glob("*.npz")] == ["good.npz"]


def test_kernels_that_must_be_compiled_first_are_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, *files = training.listed(folder / "list.yaml")["arcs"]
    output = folder / "arcs.npz"
    assert run("train", *files, "-o", output, "--epochs", 1, "--bits", 14, "--families", "").returncode == 0
    assert not training.compiles(recipe)
    monkeypatch.setattr("numba.config.CACHE_DIR", str(folder / "another machine"))
    assert training.compiles(recipe)
