"""Contribution of each learning step: the stage on a synthetic treebank, tables and remarks on synthetic metrics."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from synthetic import synthetic_treebank

from studies.common import params as parameters
from studies.common.params import Params
from studies.pipeline.scratch import overlaid
from studies.pipeline.trainers.graph import specification
from studies.qian_liu_2013.steps import measure as stage_module
from studies.qian_liu_2013.steps import remarks, tables
from studies.qian_liu_2013.steps.figures import by_arcs, by_epoch
from studies.qian_liu_2013.steps.settings import Step, Steps
from studies.site.collect import Results
from studies.site.show import NOTHING, Table
from treebound.core.errors import InputError
from treebound.plots.svg import as_svg
from treebound.treebanks import storage

REPOSITORY = Path(__file__).parents[1]
RUNS = {
    "base": Step(),
    "head-bigram": Step(add=("head-bigram",)),
    "fewer": Step(drop=("sibling",), learner="perceptron", max_dp_calls=1),
    "joint": Step(labels="joint"),
    "no-features": Step(unseen=("feats",)),
    "no-lemmas": Step(unseen=("lemma", "feats")),
    "patterns": Step(add=("pattern",)),
    "longer": Step(epochs=3),
    "bare": Step(word_pairs=False),
    "pruned": Step(threshold=0.1, pruner_folds=2),
}


def settings(runs: dict[str, Step], corpora: tuple[str, ...] = ("made_up",)) -> Params:
    """Return the project's parameters with the given runs, small models and two epochs."""
    loaded = parameters.load(REPOSITORY / "params.yaml")
    small = dataclasses.replace(loaded.train, epochs=2, bits=14, label_bits=14, k=5)
    steps = Steps(model="carreras+grandchild+sibling", runs=runs, corpora=corpora)
    pruner = dataclasses.replace(loaded.pruner, bits=12, epochs=1)
    # `replace` validates all parameters, so rows of the project's own corpora must stay valid
    return dataclasses.replace(loaded, corpora=(*loaded.corpora, *corpora), train=small, pruner=pruner).changed(steps)


# --- the stage


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """Return the metrics that the stage writes for every run of RUNS.

    The corpus has labels and lemmas, but no features and no patterns.
    """
    folder = tmp_path_factory.mktemp("steps")
    converted = folder / "data" / "converted" / "made_up"
    converted.mkdir(parents=True)
    for split, sentences, seed in (("train", 60, 1), ("dev", 15, 2)):
        treebank = synthetic_treebank(sentences, seed, max_words=12)
        treebank.meta["attributes"] = ["suffix", "lemma"]
        storage.save(treebank, converted / f"{split}.npz")
        (converted / f"{split}.conllu").write_text(split)
    tags = folder / "data" / "tagged" / "made_up" / "tags.json"
    tags.parent.mkdir(parents=True)
    tags.write_text('{"tags": "gold"}')
    params = settings(RUNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in RUNS:
            stage_module.run(params, "made_up", name)
        with pytest.raises(InputError, match=r"no run 'bas'.*its runs: base, head-bigram"):
            stage_module.run(params, "made_up", "bas")
        assert not list(Path("build/checkpoints").iterdir())
    metrics_folder = folder / "results" / "metrics" / "steps" / "made_up"
    return {name: json.loads((metrics_folder / f"{name}.json").read_text()) for name in RUNS}


def test_one_thing_is_changed_at_a_time(trained: dict[str, dict]) -> None:
    base = trained["base"]

    def different(name: str) -> dict:
        return {k: v for k, v in trained[name]["spec"].items() if v != base["spec"][k]}

    assert base["spec"]["families"] == ["adjacent-sibling", "outermost-grandchild", "grandchild", "sibling"]
    assert different("head-bigram") == {"families": [*base["spec"]["families"], "head-bigram"]}
    fewer = {"families": base["spec"]["families"][:3], "learner": "perceptron", "max_dp_calls": 1}
    assert different("fewer") == fewer
    assert different("joint") == {"labels": "joint"}
    assert different("longer") == {"epochs": 3}
    assert different("pruned") == {"threshold": 0.1, "pruner_folds": 2}
    assert trained["pruned"]["heads_a_word"] < base["heads_a_word"] <= 5
    assert 0.5 < trained["pruned"]["recall"] < base["recall"] <= 1
    assert base["attributes"] == ["lemma", "suffix"]
    assert different("no-lemmas") == {}
    assert trained["no-lemmas"]["attributes"] == ["suffix"]
    assert trained["no-lemmas"]["history"] != base["history"], "lemmas are features"
    assert different("bare") == {}
    assert trained["bare"]["history"] != base["history"], "pairs of words are features"
    assert trained["patterns"] == {"applies": False}, "a change of one run does not affect the next run"


def test_columns_that_a_corpus_lacks_are_not_removed(trained: dict[str, dict]) -> None:
    assert trained["no-features"] == {"applies": False}
    assert trained["patterns"] == {"applies": False}
    assert all(trained[name]["applies"] for name in RUNS if name not in ("no-features", "patterns"))


def test_a_corpus_without_labels_stays_without() -> None:
    examples = synthetic_treebank(5, 1)
    params = settings(RUNS)
    spec = specification(params, "carreras", examples, params.seed)
    assert stage_module.changed(spec, examples, RUNS["joint"])[0].labels == "joint"
    unlabelled = dataclasses.replace(spec, labels="none")
    assert stage_module.changed(unlabelled, examples, RUNS["joint"])[0] == unlabelled


def test_figures_agree_with_the_words(trained: dict[str, dict]) -> None:
    dev = synthetic_treebank(15, 2, max_words=12)
    for row in (row for row in trained.values() if row["applies"]):
        marks = "".join(row["right"])
        assert len(row["right"]) == row["sentences"] == row["certified"] == 15
        assert len(marks) == row["scored_words"] < row["words"] == dev.words
        assert row["uas"] == pytest.approx(100 * (marks.count("h") + marks.count("l")) / len(marks))
        assert row["las"] == pytest.approx(100 * marks.count("l") / len(marks))
        assert 0 < row["las_all"] <= row["uas_all"] <= 100
        assert row["training_sentences"] == 60
        best = max(row["history"], key=lambda epoch: epoch["dev_las"])
        assert row["best_epoch"] == best["epoch"]
        assert "cpu_seconds" not in best, "without times, the same run gives the same bytes"
    assert trained["base"]["uas"] == pytest.approx(
        trained["base"]["history"][trained["base"]["best_epoch"] - 1]["dev_uas"]
    )


def test_a_longer_training_begins_with_the_shorter_one(trained: dict[str, dict]) -> None:
    assert len(trained["longer"]["history"]) == 3
    assert trained["longer"]["history"][:2] == trained["base"]["history"]


# --- tables and remarks


def metrics(right: list[str], labels: bool = True, dev: tuple[float, ...] = (70.0, 75.0), capped: int = 0) -> dict:
    """Return metrics as the stage writes them for sentences with these marks."""
    words = "".join(right)
    uas, las = (100 * sum(mark in marks for mark in words) / len(words) for marks in ("hl", "l"))
    history = [
        {"epoch": i, "dev_uas": value + 5, "dp_calls": 200, "capped": capped} | ({"dev_las": value} if labels else {})
        for i, value in enumerate(dev, 1)
    ]
    figures = {"uas": uas, "uas_all": uas - 1} | ({"las": las, "las_all": las - 1} if labels else {})
    best = 1 + dev.index(max(dev))
    counts = {"training_sentences": 100, "sentences": len(right), "certified": len(right), "best_epoch": best}
    return {"applies": True, "right": right, "history": history, **figures, **counts}


BASE = ["llh-"] * 40
SYNTHETIC: dict[str, dict] = {
    "base": metrics(BASE, capped=3),
    "better": metrics(["lll-"] * 30 + ["llh-"] * 10),  # 30 correct labels more
    "worse": metrics(["l-h-"] * 30 + ["llh-"] * 10),  # 30 correct heads less
    "unclear": metrics(["lll-"] + ["llh-"] * 38 + ["-lh-"]),
    "same": metrics(BASE, dev=(70.0, 75.0, 75.05, 74.0)),
    "absent": {"applies": False},
}
STEPS = {
    "base": Step(),
    "better": Step(add=("head-bigram",)),
    "worse": Step(unseen=("feats",), drop=("sibling",)),
    "unclear": Step(labels="joint", max_dp_calls=0),
    "same": Step(epochs=4),
    "absent": Step(unseen=("lemma",)),
}


def results(
    folder: Path, metrics_by_run: dict[str, dict], corpora: tuple[str, ...] = ("made_up",), name: str = "this run"
):
    for corpus in corpora:
        target = folder / "metrics" / "steps" / corpus
        target.mkdir(parents=True)
        for run, data in metrics_by_run.items():
            (target / f"{run}.json").write_text(json.dumps(data))
    return Results(name, folder, settings({run: STEPS[run] for run in metrics_by_run}, corpora))


def test_the_table_has_a_row_a_change_and_stars_where_it_is_significant(tmp_path: Path) -> None:
    unlabelled = results(tmp_path / "b", {n: metrics(BASE, labels=False) for n in ("base", "same")}, name="reference")
    data = tables.steps([unlabelled, results(tmp_path / "a", SYNTHETIC, ("made_up", "another"))])
    assert tables.steps([unlabelled], ["nowhere"]).empty
    tests = tables.step_tests(data)
    table = tables.step_table(data, tests)
    assert list(table.index) == ["base", "same", "better", "worse", "unclear", "absent"]
    assert table["", "changed"].tolist() == [
        NOTHING,
        "epochs = 4",
        "with head-bigram",
        "without sibling, feats",
        "labels = joint, max_dp_calls = 0",
        "without lemma",
    ]
    ours = table["made_up, this run"]
    assert ours["LAS"].tolist()[:5] == [50.0, 50.0, 50 + 100 * 30 / 160, 50 - 100 * 30 / 160, 50.0]
    assert ours["LAS minus base"].tolist()[1:5] == ["+0.00", "+18.75 *", "-18.75 *", "+0.00"]
    assert ours["UAS minus base"].tolist()[1:5] == ["+0.00", "+0.00", "-18.75 *", "-0.62"]
    assert ours.loc["absent"].isna().all()
    assert str(ours.loc["base", "UAS minus base"]) == "nan"
    assert list(table["made_up, reference"].columns) == ["UAS", "UAS minus base"], "no labels, no LAS"
    assert "another, this run" in table.columns.get_level_values(0)
    html = Table(table, "x")._repr_html_()
    assert html.count("<td>18.75</td>") == 0
    assert "+18.75 *" in html

    row = tests.loc[("made_up, this run", "LAS", "better")]
    assert (row["only it"], row["only the base"], row["difference"]) == (30, 0, 18.75)
    assert row["low"] > 0
    assert row["p"] < 0.01
    assert row["p (words)"] == pytest.approx(2 * 0.5**30)
    even = tests.loc[("made_up, this run", "LAS", "unclear")]
    assert (even["only it"], even["only the base"], even["p (words)"]) == (1, 1, 1.0)
    assert ("made_up, reference", "LAS", "same") not in tests.index


def test_remarks_name_helpful_and_useless_steps(tmp_path: Path) -> None:
    data = tables.steps([results(tmp_path, SYNTHETIC)])
    text = repr(remarks.changes(data, tables.step_tests(data)))
    assert text.startswith(
        "These trainings were run on made_up, this run only. "
        "Against base, at the 5 % level: of 4 variations, 1 lowers LAS (worse -18.75) and 1 raises it (better +18.75); "
        "of 4 variations, 1 lowers UAS (worse -18.75) and none raises it."
    )
    assert "better and same have exactly the same right heads as base." in text
    assert "By chance alone, fewer than one of 8 tests would be significant." in text
    assert "right heads and labels" not in text
    twice = tables.steps([results(tmp_path / "twice", SYNTHETIC | {"unclear": SYNTHETIC["worse"]})])
    alike = "worse and unclear have exactly the same right heads and labels, so the counts above contain this result 2"
    assert alike in repr(remarks.changes(twice, tables.step_tests(twice)))


def test_remarks_where_nothing_helps(tmp_path: Path) -> None:
    data = tables.steps([results(tmp_path, {name: SYNTHETIC[name] for name in ("base", "unclear", "worse")})])
    text = repr(remarks.changes(data, tables.step_tests(data)))
    assert "of 2 variations, 1 lowers LAS (worse -18.75) and none raises it" in text
    assert "exactly the same" not in text
    alone = tables.steps([results(tmp_path / "alone", {"base": SYNTHETIC["base"], "absent": SYNTHETIC["absent"]})])
    assert "No training was compared with base." in repr(remarks.changes(alone, tables.step_tests(alone)))


def test_epochs(tmp_path: Path) -> None:
    data = tables.steps([results(tmp_path, SYNTHETIC)])
    curves = tables.step_epochs(data)
    assert len(curves) == 4 * 2 + 4
    figure = by_epoch(curves, "LAS")
    (panel,) = figure.axes
    assert {line.get_label() for line in panel.lines} == {"base", "better", "same", "unclear", "worse"}
    assert max(panel.lines, key=lambda line: line.get_zorder()).get_label() == "base"
    assert "<svg" in as_svg(figure, "x")._repr_svg_()
    with pytest.raises(ValueError, match="at least one panel"):
        by_epoch(curves.assign(LAS=float("nan")), "LAS")


def test_training(tmp_path: Path) -> None:
    table = tables.step_training(tables.steps([results(tmp_path, SYNTHETIC)]))
    assert [name for _, name in table.index] == ["base", "better", "worse", "unclear", "same"]
    row = table.loc[("made_up, this run", "base")]
    assert row["training, last epoch"].tolist() == [2.0, 3.0]
    assert row["epochs"].tolist() == [2, 2]
    assert row["with punctuation"].tolist() == [74.0, 49.0]


def test_without_any_such_training(tmp_path: Path) -> None:
    nothing = Results("this run", tmp_path, parameters.load(REPOSITORY / "params.yaml"))
    older = dataclasses.replace(nothing, params=nothing.params.changed(Steps()))
    data = tables.steps([older, nothing])
    tests, curves = tables.step_tests(data), tables.step_epochs(data)
    trained = tables.step_training(data)
    for table in (tests, curves, trained, tables.step_table(data, tests)):
        assert not len(table)
        Table(table, "x")._repr_html_()
    assert "which the default run leaves out" in repr(remarks.changes(data, tests))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    r = results(tmp_path, {name: SYNTHETIC[name] for name in ("base", "same")})
    (tmp_path / "metrics" / "steps" / "made_up" / "same.json").unlink()
    with pytest.raises(InputError, match=r"steps/made_up/same.json.*run python -m studies"):
        tables.steps([r])


# --- params.yaml


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "big"}, "steps: no model 'big'; choose from arc, carreras"),
        ({"corpora": ["en"]}, "steps: no corpus 'en'; choose from tr_twt"),
        (
            {"runs": {"base": {"epochs": 3}}},
            "base is the first run, with which the others are compared; it must change",
        ),
        ({"runs": {"exact": {"max_dp_calls": None}}}, "exact changes nothing"),
        ({"runs": {"tri-sibling": {"add": ["sibling"]}}}, "tri-sibling: carreras+grandchild+sibling has sibling alre"),
        ({"runs": {"x": {"drop": ["comb"]}}}, "x: carreras+grandchild+sibling has no comb; it has adjacent-sibling"),
        ({"runs": {"x": {"add": ["comp"]}}}, "unknown factor family 'comp'; choose from adjacent-sibling"),
        ({"runs": {"x": {"unseen": ["tag"]}}}, "unseen.0: Input should be 'prefix', 'suffix'"),
        ({"runs": {"x": {"epoch": 3}}}, "x.epoch: unknown key; valid keys are add, drop, unseen, word_pairs, labels"),
        ({"corpus": "tr_twt"}, "steps.corpus: unknown key; valid keys are model, runs, corpora"),
    ],
)
def test_one_line_errors(change: dict, message: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    text = yaml.safe_load((REPOSITORY / "params.yaml").read_text())
    path.write_text(yaml.safe_dump(overlaid(text, {"steps": change}), sort_keys=False))
    with pytest.raises(InputError) as caught:
        parameters.load(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"{path}:" in str(caught.value)


def test_changes_in_words() -> None:
    runs = parameters.load(REPOSITORY / "params.yaml").section(Steps).runs
    assert str(runs["base"]) == ""
    assert str(runs["no-lemmas"]) == "without lemma"
    assert str(runs["limit-1"]) == "max_dp_calls = 1"
    assert len({str(step) for step in runs.values()}) == len(runs)


def test_accuracy_against_the_remaining_arcs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {"base": Step(), "narrow": Step(threshold=0.01), "learnt": Step(threshold=0.01, pruner_folds=2)}
    monkeypatch.setattr("test_steps.STEPS", STEPS | runs)
    settings_by_run = {"base": (10.0, 0.0, 0, 50.0), "narrow": (4.0, 0.01, 0, 49.5), "learnt": (4.5, 0.01, 2, 50.25)}
    metrics_by_run = {
        name: SYNTHETIC["base"]
        | {"heads_a_word": heads, "recall": 0.9, "uas": uas, "spec": {"threshold": threshold, "pruner_folds": folds}}
        for name, (heads, threshold, folds, uas) in settings_by_run.items()
    }
    older = results(tmp_path / "older", SYNTHETIC, name="older")
    data = tables.steps([older, results(tmp_path / "new", metrics_by_run | {"better": SYNTHETIC["better"]})])
    arcs = tables.step_arcs(data)
    assert arcs["training"].tolist() == ["base", "narrow", "learnt"], (
        "only training runs with other pruning and with counts"
    )
    assert arcs["learnt"].tolist() == [False, False, True]
    tests = tables.step_tests(data)
    thresholds = tables.thresholds(arcs, tests)
    assert [use for _, use, _ in thresholds.index] == ["parsing", "training and parsing"]
    assert thresholds["heads per word"].tolist() == [4.0, 4.5]
    assert thresholds["heads per word, base"].tolist() == [10.0, 10.0]
    assert thresholds["UAS change"].tolist() == [-0.5, 0.25]
    text = repr(remarks.pruned(thresholds))
    narrow = tests.loc[("made_up, this run", "UAS", "narrow")]
    assert thresholds["p"].iloc[0] == narrow["p"]
    assert "a threshold leaves 40 to 45 % of the heads that the base keeps, and changes UAS by -0.50 [" in text
    assert f"[{narrow['low']:+.2f}, {narrow['high']:+.2f}], p = {narrow['p']:.3f} (0.01 parsing)" in text
    assert " (0.01 training and parsing) points. 0 of 2 changes are significant at the 5 % level" in text
    (panel,) = by_arcs(arcs, "UAS").axes
    assert [line.get_xdata().tolist() for line in panel.lines] == [[4.5, 10.0], [4.0, 10.0]]
    trained = tables.step_training(data)["dev"]
    assert trained["heads a word"].dropna().tolist() == [10.0, 4.0, 4.5]
    unlike = results(
        tmp_path / "unlike", {"base": SYNTHETIC["base"], "narrow": metrics_by_run["narrow"]}, name="unlike"
    )
    assert tables.step_arcs(tables.steps([unlike])).empty, "the base run has no counts"
    nothing = tables.step_arcs(tables.steps([older]))
    assert nothing.empty
    assert "run `python -m studies.pipeline.run steps`" in repr(
        remarks.pruned(tables.thresholds(nothing, tables.step_tests(data)))
    )
