"""The study of annotation errors: alignment, planted errors, metrics against direct counts, and the page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import synthetic_results
from synthetic import synthetic_treebank

from studies.across.mining import figures, measure, rankings, remarks, samples, scoring, summaries, tables
from studies.across.mining.rankings import HEADS, LIST, MARGIN, MARGINAL, OURS, RANDOM, UNLISTED
from studies.across.mining.settings import Mining, Run
from studies.common import params as parameters
from studies.common import stage
from studies.site.collect import Results
from studies.site.execute import execute
from studies.site.show import Table
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.mining.groups import SYSTEMATIC
from treebound.mining.mine import mine
from treebound.mining.settings import Settings
from treebound.mining.suspects import Suspect
from treebound.plots.drawn import as_csv
from treebound.treebanks import storage
from treebound.treebanks.document import read
from treebound.treebanks.projectivise import crossing

REPOSITORY = Path(__file__).parents[1]
UNTESTED = "The differences were not tested."
SMALL = {"families": [], "epochs": 2, "bits": 14, "labels": "joint", "pruner_folds": 0}


def treebank_of(*sentences: list[tuple[str, int, str]]) -> Treebank:
    """Return a treebank of (form, head, label) triples."""
    lines = [
        "\n".join(f"{i}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_" for i, (form, head, label) in enumerate(words, 1))
        for words in sentences
    ]
    return read(("\n\n".join(lines) + "\n\n").encode()).treebank


def suspect(sentence: int, word: int, head: int, label: str, new_head: int, new_label: str, **more) -> Suspect:
    fields = {"margin": 1.0, "certified": True, "marginal": 0.1} | more
    return Suspect(sentence, "", word, "w", "head", head, label, "X", new_head, new_label, "X", **fields)


GO = [("Go", 0, "root"), ("home", 1, "obj"), ("now", 2, "advmod")]
STAY = [("Stay", 0, "root"), ("here", 1, "advmod")]


# --- samples


def test_sentences_are_aligned_by_their_forms_in_the_order_of_occurrence() -> None:
    old = treebank_of(GO, STAY, GO, [("Stop", 0, "root")], GO)
    fixed = [("Go", 0, "root"), ("home", 1, "advmod"), ("now", 1, "advmod")]
    new = treebank_of(STAY, fixed, [("Stop", 0, "root"), ("!", 1, "punct")], GO)
    assert samples.aligned(old, new).tolist() == [1, 0, 3, -1, -1]
    sample = samples.compared(old, new)
    assert sample.head_changed.nonzero()[0].tolist() == [2]
    assert sample.label_changed.nonzero()[0].tolist() == [1]
    assert (sample.sentences_known, int(sample.known.sum())) == (3, 8)
    assert sample.known.tolist() == [True] * 8 + [False] * 4


def is_tree(heads: np.ndarray) -> bool:
    for word in range(1, len(heads)):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = int(heads[word])
    return True


def test_planted_errors_keep_trees_and_have_the_requested_number() -> None:
    right = synthetic_treebank(60, 3)
    wrong = samples.with_planted_errors(right, 0.05, 1)
    changed = wrong.head != right.head
    assert changed.sum() == round(0.05 * right.words) > 10
    for i in range(len(right)):
        before, after = right.heads(i), wrong.heads(i)
        assert is_tree(after)
        assert ((before == 0) == (after == 0)).all()
        assert crossing(after).sum() <= crossing(before).sum()
    assert (samples.with_planted_errors(right, 0.05, 1).head == wrong.head).all()
    assert (samples.with_planted_errors(right, 0.05, 2).head != wrong.head).any()
    short = treebank_of(STAY, STAY)
    assert (samples.with_planted_errors(short, 0.9, 1).head == short.head).all(), "no word has another head to go to"


# --- metrics


@pytest.mark.parametrize("seed", range(20))
def test_precision_recall_and_average_precision_are_those_of_direct_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = 40
    wrong, counted = rng.random(words) < 0.3, rng.random(words) < 0.8
    scores = np.where(rng.random(words) < 0.7, rng.integers(0, 5, words), UNLISTED).astype(float)
    order = scoring.order_of(scores, counted, seed).tolist()
    assert sorted(order) == [w for w in range(words) if counted[w] and scores[w] > UNLISTED]
    assert all(scores[a] >= scores[b] for a, b in pairwise(order))
    assert order == scoring.order_of(scores, counted, seed).tolist()
    judged = scoring.judged(np.array(order), wrong, counted, (1, 5, 10, 39))
    errors = sum(bool(wrong[w]) and bool(counted[w]) for w in range(words))
    assert set(judged["at"]) == {str(k) for k in (1, 5, 10, 39) if k <= len(order)}
    for k, entry in judged["at"].items():
        hits = sum(bool(wrong[w]) for w in order[: int(k)])
        assert (entry["hits"], entry["recall"]) == (hits, hits / errors)
        assert entry["low"] <= hits / int(k) <= entry["high"]
    precisions = [
        sum(bool(wrong[v]) for v in order[: rank + 1]) / (rank + 1) for rank, w in enumerate(order) if wrong[w]
    ]
    assert judged["average_precision"] == pytest.approx(sum(precisions) / errors)


def test_words_with_equal_scores_are_not_ranked_by_their_place() -> None:
    scores = np.ones(200)
    order = scoring.order_of(scores, np.ones(200, bool), 0)
    assert 60 < order[:100].mean() < 140
    assert (order != scoring.order_of(scores, np.ones(200, bool), 1)).any()


def test_no_errors_and_no_suspects() -> None:
    nothing = scoring.judged(np.zeros(0, int), np.zeros(5, bool), np.ones(5, bool), (1,))
    assert nothing == {"at": {}, "average_precision": 0.0, "listed": 0, "hits": 0}


def changed_sample(counts: dict[str, int]) -> samples.Sample:
    """Return a sample of three-word sentences in which the third word moves from the second word to the first.

    counts: number of sentences for each label of the third word.
    """
    sentences = [[("a", 0, "root"), ("b", 1, "x"), ("c", 2, label)] for label, n in counts.items() for _ in range(n)]
    old = treebank_of(*sentences)
    fixed = [[first, second, (form, 1, label)] for first, second, (form, _, label) in sentences]
    return samples.compared(old, treebank_of(*fixed))


def test_changes_of_more_than_thirty_words_are_systematic_and_looked_for_in_the_group_view() -> None:
    sample = changed_sample({"many": SYSTEMATIC + 5, "enough": SYSTEMATIC + 1, "few": SYSTEMATIC})
    names = scoring.change_names(sample)
    assert Counter(names[names != ""].tolist()) == {
        "many, head moves left": SYSTEMATIC + 5,
        "enough, head moves left": SYSTEMATIC + 1,
        "few, head moves left": SYSTEMATIC,
    }
    changes = scoring.systematic(names)
    assert list(changes.items()) == [("many, head moves left", 35), ("enough, head moves left", 31)]
    some = [suspect(i, 3, 2, "many", 1, "many") for i in range(4)]
    some += [suspect(i, 2, 1, "x", 3, "x") for i in range(6)]  # a larger group of words with correct annotation
    assert scoring.found_in_groups(sample, some, changes) == [
        {"change": "many, head moves left", "count": 35, "row": 2, "suspects": 4, "hits": 4},
        {"change": "enough, head moves left", "count": 31, "row": 0, "suspects": 0, "hits": 0},
    ]


def test_systematic_changes_count_neither_as_hits_nor_as_misses() -> None:
    sample = changed_sample({"many": SYSTEMATIC + 1, "few": 2})
    treebank = sample.treebank
    some = [suspect(i, 3, 2, "many", 1, "many", margin=9.0 - i) for i in range(3)]
    some += [suspect(SYSTEMATIC + 1, 3, 2, "few", 1, "few", margin=2.0), suspect(0, 2, 1, "x", 3, "x", margin=1.0)]
    doubts = rankings.Doubts(*(np.zeros(treebank.words) for _ in range(3)))
    mined = replace(mine_of(treebank), suspects=some)
    metrics = measure.measured(sample, mined, doubts, Mining(ks=(1, 2, 5)), 1)
    assert [metrics["heads"][OURS]["at"][k]["hits"] for k in ("1", "2", "5")] == [1, 2, 4]
    sporadic = metrics["sporadic_heads"][OURS]
    assert {k: (entry["hits"], entry["recall"]) for k, entry in sporadic["at"].items()} == {
        "1": (1, 0.5),
        "2": (1, 0.5),
    }
    assert (metrics["sporadic"], metrics["heads_changed"]) == (2, SYSTEMATIC + 3)
    assert metrics["exact"] == {"errors": 4, "exact": 4}
    assert metrics["exact_at"]["5"] == {"errors": 4, "exact": 4}


def mine_of(treebank: Treebank):
    from treebound.mining.mine import Mined

    return Mined([], {}, len(treebank), treebank.words, [], 0.0)


# --- the stage


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two converted releases of a synthetic treebank."""
    folder = tmp_path_factory.mktemp("mining")
    right = synthetic_treebank(110, 5)
    wrong = samples.with_planted_errors(right, 0.04, 7)
    for name, treebank in (("xx", right), ("xx_r1.0", wrong)):
        for split, sentences in (("train", np.arange(70)), ("dev", np.arange(70, 110))):
            storage.save(treebank.select(sentences), folder / stage.CONVERTED / name / f"{split}.npz")
    return folder


RUNS = {
    "planted": Run("xx", ("train", "dev"), planted=0.03, folds=2, sentences=80, training=SMALL),
    "folds": Run("xx_r1.0", ("train", "dev"), later="xx", folds=2, training=SMALL),
    "reference": Run("xx_r1.0", ("dev",), later="xx", reference=True, training=SMALL),
}


def measured_in(project: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.chdir(project)
    params = parameters.load(REPOSITORY / "params.yaml").changed(Mining(runs=RUNS, ks=(5, 10, 20), trees=3))
    measure.run(params, name)
    return json.loads((stage.METRICS / "mining" / f"{name}.json").read_text())


@pytest.mark.parametrize("name", RUNS)
def test_errors_are_at_the_top_of_the_list(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = measured_in(project, name, monkeypatch)
    assert set(metrics["heads"]) == set(HEADS)
    base = metrics["heads_changed"] / metrics["words"]
    assert 0.02 < base < 0.05
    assert metrics["heads"][OURS]["at"]["10"]["hits"] / 10 > 5 * base
    assert metrics["heads"][OURS]["average_precision"] > metrics["heads"][RANDOM]["average_precision"]
    assert metrics["models"] == (1 if name == "reference" else 2)
    assert metrics["heads"][MARGIN]["listed"] == metrics["heads"][OURS]["listed"] == metrics["disagreements"]
    assert metrics["heads"][LIST]["listed"] >= metrics["disagreements"]
    assert metrics["heads"][MARGINAL]["listed"] == metrics["words_known"]
    assert not (project / stage.CHECKPOINTS / f"mining.{name}").exists()
    shown = (project / stage.PREDICTIONS / "mining" / f"{name}.jsonl").read_text().splitlines()
    assert len(shown) == (measure.EXAMPLES if name == "planted" else 0)


def test_a_second_run_writes_the_same_bytes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [stage.METRICS / "mining" / "planted.json", stage.PREDICTIONS / "mining" / "planted.jsonl"]
    monkeypatch.chdir(project)
    if not all(path.is_file() for path in files):
        measured_in(project, "planted", monkeypatch)
    before = [path.read_bytes() for path in files]
    measured_in(project, "planted", monkeypatch)
    assert [path.read_bytes() for path in files] == before


def test_scores_of_all_words_agree_with_those_of_suspects(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marginals of suspects come from another implementation and must agree with scores of all words.

    At least one of the three best trees lacks the annotated arc of a suspect.
    """
    monkeypatch.chdir(project)
    sample = samples.make(RUNS["folds"], 1)
    folder = project / "models"
    folder.mkdir()
    treebank, models = measure._trained(sample, RUNS["folds"], folder, 1)
    mined = mine(sample.treebank, Settings(folds=2), training=SMALL, folder=folder)
    doubts = rankings.doubts(treebank, models, mined.suspects, 3)
    heads = [s for s in mined.suspects if s.kind == "head"]
    assert len(heads) > 20
    for s in heads:
        w = rankings.place(treebank, s)
        assert doubts.improbable[w] == pytest.approx(1 - s.marginal, abs=1e-9)
        assert 1 <= doubts.absent[w] <= 3
    clean = np.setdiff1d(np.arange(len(treebank)), [s.sentence for s in heads])
    assert all(not doubts.absent[slice(*treebank.offsets[i : i + 2])].any() for i in clean)
    assert (doubts.entropy >= 0).all()
    scores = rankings.of_heads(treebank, mined.suspects, doubts, 1)
    assert {int(w) for w in np.flatnonzero(scores[OURS] > UNLISTED)} == {rankings.place(treebank, s) for s in heads}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("{treebank: en, splits: [dev], planted: 0.1}", "x: no treebank 'en'; choose from tr_twt"),
        ("{treebank: tr_twt, splits: [dev]}", "x: name either a later release or a share of planted errors"),
        ("{treebank: tr_twt, splits: [dev], planted: 0.1, reference: true}", "x: the reference is the training split"),
        ("{treebank: tr_twt, later: tr_twt, splits: [train], reference: true}", "x: the split train is mined"),
    ],
)
def test_runs_that_measure_nothing_are_refused(run: str, message: str, tmp_path: Path) -> None:
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    path = tmp_path / "params.yaml"
    path.write_text(text.replace("  runs:\n    planted:", f"  runs:\n    x: {run}\n    planted:"), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        parameters.load(path)


# --- the page


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    runs = {"later": Run("xx_r1.0", ("dev", "test"), later="xx", reference=True), "planted": RUNS["planted"]}
    folder = tmp_path_factory.mktemp("results")
    params = parameters.load(REPOSITORY / "params.yaml").changed(Mining(runs=runs))
    synthetic_results.write(folder, params)
    entry = {"words": ["a", "b", "c"], "word": 3, "annotated": [0, 1, 2], "proposed": [0, 1, 1], "right": 1}
    entry |= {"annotated_labels": ["r", "x", "y"], "proposed_labels": ["r", "x", "z"], "margin": 1.5, "changes": 1}
    long = entry | {"words": list("abcdefghijklmnopq")}
    path = folder / "predictions" / "mining" / "planted.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(e) + "\n" for e in (long, entry)), encoding="utf-8")
    return Results("this run", folder, params)


def test_tables_show_the_figures_of_the_stage(results: Results) -> None:
    data = tables.measured([results])
    assert data["run"].tolist() == ["later", "planted"]
    wide = tables.rankings(data)
    assert wide.columns.tolist() == ["P@50", "P@100", "P@200", "P@500", "P@1000", "average", "words listed"]
    assert wide.loc[("this run", "later", OURS)].tolist()[:3] == pytest.approx([90.0, 90.0, 90.0])
    assert wide.index.get_level_values("ranking").tolist() == 2 * list(HEADS)
    assert tables.recalls(data).loc[("this run", "later", OURS), "R@500"] == pytest.approx(45.0)
    sizes = tables.sizes(data).loc[("this run", "later")]
    assert sizes["suspected heads that are wrong, %"] == pytest.approx(50.0)
    assert sizes["source of the errors"] == "release xx"
    assert tables.systematic(data)["row of the group view"].tolist() == [1, "–"]
    assert tables.exact(data).loc[("this run", "planted"), "all"] == pytest.approx(75.0)
    assert tables.measured([results], ["planted"])["run"].tolist() == ["planted"]
    labels = tables.rankings(data.assign(labels_changed=[500, 0]), "labels")
    assert labels.loc[("this run", "planted", MARGIN)].dropna().index.tolist() == ["words listed"]
    assert labels.loc[("this run", "later", MARGIN)].notna().all()


def test_remarks_name_treebank_models_and_sample(results: Results) -> None:
    data = tables.measured([results])
    first = summaries.first_suspects(data)
    row = first.loc[("this run", "later")]
    assert row[["k", "errors, %"]].tolist() == [200, 90]
    assert row[["low", "high"]].tolist() == pytest.approx([85.1, 93.4], abs=0.05)
    assert (row["best other ranking"], row["its errors, %"]) == ("margin", 80)
    text = str(remarks.answer(first))
    share = "90.0 % [85.1, 93.4] of 200"
    assert text.startswith(
        f"The share of errors among the first suspects of the heads is {share} (planted) with models of the other "
        f"folds of the treebank (`treebound mine TREEBANK`) and {share} (later) with a model of the corrected later"
    )
    assert str(remarks.proofs(tables.sizes(data))).endswith("are proved for 99.3 % of the suspects of a run.")
    rivals = str(remarks.rivals(first))
    assert rivals == f"In 2 of 2 runs, no other ranking has more errors among the first words than {OURS}. " + UNTESTED
    behind = first.assign(**{"its errors, %": [95.0, 80.0]})
    assert "In 1 of 2 runs, no other" in str(remarks.rivals(behind))
    assert f"than {OURS}; in 1, another ranking has more: later (margin)." in str(remarks.rivals(behind))
    assert "75.0 %" in str(remarks.recall(data))
    assert "of the wrong heads in the list" in str(remarks.recall(data))
    totals = summaries.systematic_totals(data)
    counts = ["systematic changes", "with a row", "row has half the words"]
    assert totals.loc[("this run", "later"), counts].tolist() == [2, 1, 1]
    apart = str(remarks.sporadic(totals, data))
    assert apart.startswith("2 changes of 1 later release are systematic (they occur more than 30 times). Changes with")
    assert "a row in the group view: 1 of 2 (later). Changes whose row" in apart
    twice = pd.concat([data, data[data["run"] == "later"].assign(run="folds")])
    again = str(remarks.sporadic(summaries.systematic_totals(twice), twice))
    assert again.startswith("2 changes of 1 later release")
    assert "1 of 2 (later), 1 of 2 (folds)." in again
    shorter = remarks.answer(first.assign(k=float("nan")))
    assert str(shorter).startswith("The lists of later, planted are shorter")


def test_figures_and_examples(results: Results) -> None:
    figure = figures.precision(tables.points(tables.measured([results])))
    assert len(figure.axes) == 2
    drawn = as_csv(figure).splitlines()
    assert drawn[1].startswith(f"later,{OURS},top 50,90,")
    assert [text.get_text() for text in figure.axes[0].texts] == list(HEADS)
    numbered = replace(results, params=replace(results.params, forms=False))
    assert tables.examples(numbered)[0]["words"] == ["1", "2", "3"]
    (entry,) = tables.examples(results)
    assert entry["rank"] == 2, "long sentences are not drawn"
    annotated, proposed = figures.pair(entry)
    assert annotated.alt == "Annotated tree of the sentence with suspect 2; arcs that differ are blue"
    assert proposed.caption == "Best tree of the model of the sentence with suspect 2; arcs that differ are blue"
    assert proposed.markup.count("<text") == annotated.markup.count("<text") >= 6
    assert str(remarks.hidden([entry])) == ""
    assert str(remarks.hidden(tables.examples(numbered))).startswith("Numbers stand for the words, because")
    assert tables.example_table(tables.examples(numbered)).loc[2, ["word", "right head"]].tolist() == ["3", "1"]
    table = tables.example_table([entry])
    assert table.loc[2, ["word", "annotated head", "proposed head", "right head"]].tolist() == [
        "3 c",
        "2 b",
        "1 a",
        "1 a",
    ]


def test_a_run_without_any_of_it(results: Results, tmp_path: Path) -> None:
    nothing = Results("this run", tmp_path, results.params)
    data = tables.measured([nothing])
    empty = [f(data) for f in (tables.sizes, tables.rankings, tables.recalls, tables.systematic, tables.exact)]
    assert all("no run has results for this table" in Table(table, "empty")._repr_html_() for table in empty)
    assert tables.points(data).empty
    assert tables.examples(nothing) == []
    for remark in (remarks.answer(data), remarks.rivals(data), remarks.recall(data), remarks.sporadic(data, data)):
        assert "pipeline.run mining" in str(remark)
    assert str(remarks.proofs(tables.sizes(data))) == ""
    for summary in (summaries.first_suspects, summaries.systematic_totals):
        assert summary(data).empty


def test_the_page_is_rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = synthetic_results.project(tmp_path / "project", REPOSITORY, with_reference=False)
    monkeypatch.chdir(folder)
    executed = execute(REPOSITORY / "notebooks" / "34-annotation-errors.ipynb", folder / "page.ipynb")
    cells = [cell for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"]
    shown = [output for cell in cells for output in cell.outputs]
    assert not [output for output in shown if output.output_type == "error"]
    kinds = Counter(kind for output in shown if "data" in output for kind in output.data)
    assert kinds["text/html"] >= 8
    assert kinds["image/svg+xml"] >= 1
    assert isinstance(tables.measured([]), pd.DataFrame)
