"""Tables of transition-based parsing, from invented figures and from trees with known errors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results
from scipy.stats import t
from synthetic import synthetic_treebank

from studies.common import params, stage
from studies.hall_2006.classifiers import figures as classifiers_figures
from studies.hall_2006.classifiers import remarks as classifiers_remarks
from studies.hall_2006.classifiers import tables as classifiers_tables
from studies.hall_2006.classifiers.settings import Classifiers
from studies.hall_2006.transitions import figures as transitions_figures
from studies.hall_2006.transitions import remarks as transitions_remarks
from studies.hall_2006.transitions import tables as transitions_tables
from studies.site import frames, published
from studies.site.charts import accuracy_speed
from studies.site.claims.load import load
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from treebound.core.treebank import Treebank
from treebound.metrics.attachment import WRONG, marks
from treebound.systems.transition.feature_models import load_models
from treebound.treebanks import storage

PROJECT = Path(__file__).parents[1]
CELL = {"section": 0, "share": 100, "complete": 10.0, "complete_labelled": 5.0, "words": 100, "sentences": 9}


@pytest.fixture
def results(tmp_path: Path) -> list[Results]:
    """Return a run with one corpus of two sections, two feature models and three learners.

    The third learner is not installed.
    """
    loaded = params.load(PROJECT / "params.yaml")
    learners = {name: loaded.section(Classifiers).learners[name] for name in ("quadratic", "memory", "perceptron")}
    section_settings = Classifiers(("xx",), {"xx": (0, 1)}, ("F2", "F5"), learners, (50,))
    rows, seconds = [], []
    for section in (0, 1):
        for features, gain in (("F2", 0), ("F5", 5)):
            for learner, base, cost in (("quadratic", 80, 40.0), ("memory", 78, 4.0), ("perceptron", 0, 0.0)):
                cell = CELL | {
                    "section": section,
                    "features": features,
                    "learner": learner,
                    "words": 100 + 200 * section,
                }
                figures = {"uas": base + gain + section, "las": base + gain - 2.0, "trained_words": 1000}
                rows.append(cell | (figures if base else {"missing": "Some package"}))
                each = {"trainings": [cost - section, cost + section]} if features == "F5" and base else {}
                seconds.append({"train_cpu_s": cost, "parse_cpu_s": cost / 4, **each})
    pairs = [("quadratic F5", "memory F5", 40, 20, 0.001), ("quadratic F2", "quadratic F5", 10, 30, 0.2)]
    tests = [dict(zip(("a", "b", "only_a", "only_b", "p", "scored"), (*p, 400), strict=True)) for p in pairs]
    tests[1] |= {"difference": -5.0, "low": -8.0, "high": -1.5}  # the first test has no interval, as in older runs
    points = [{"learner": "memory", "round": 1, "share": 50, "neighbours": k, "uas": 70.0, "las": k} for k in (3, 5)]
    points += [{"learner": "memory", "round": 2, "share": 100, "neighbours": 5, "uas": 71.0, "las": 66.0}]
    search = {"features": "F5", "train": {"sentences": 90}, "dev": {"sentences": 20}, "points": points}
    metrics = {"rows": rows, "tests": tests, "chosen": {"memory": {"neighbours": 5}}, "search": search}
    for path, content in (("", metrics), ("timing/", seconds)):
        file = tmp_path / "metrics" / f"{path}classifiers" / "xx.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(content))
    return [Results("this run", tmp_path, loaded.changed(section_settings))]


def test_sections_are_added_up(results: list[Results]) -> None:
    data = classifiers_tables.summed(results)
    table = classifiers_tables.table(data).loc["this run", "xx"]
    assert table.loc[("F5", "SVM"), "AS_U"] == pytest.approx((85 * 100 + 86 * 300) / 400)
    assert table.loc[("F2", "MBL"), "AS_L"] == 76
    assert table.loc[("F5", "MBL"), "training, CPU s"] == 8
    assert table.loc[("F5", "MBL"), "words / CPU s"] == 200
    assert np.isnan(table.loc[("F5", "perceptron"), "AS_U"])
    assert table.loc[("F5", "perceptron"), ""] == "Some package not installed"
    best = classifiers_tables.best(data, classifiers_tables.significance(results))
    row = best.loc[("this run", "xx")]
    assert row[["tags", "tested on"]].tolist() == ["gold", "18 sentences of sections 0, 1 of ten sections"]
    assert row[["best learner", "features", "UAS", "significantly worse"]].tolist() == ["SVM", "F5", 85.75, 1]
    assert row[["fastest training", "fastest, CPU s"]].tolist() == ["MBL", 8]
    assert row[["slowest training", "slowest, CPU s", "trainings"]].tolist() == ["SVM", 80, 2]
    text = str(classifiers_remarks.accuracy(best))
    assert text.startswith(
        "The highest UAS of each corpus, of all learners and feature models, comes from SVM with F5 (85.75 "
    )
    assert "Its UAS is significantly higher in 1 of " in text
    assert "8 CPU s (MBL, this run · xx) to 80 CPU s (SVM, this run · xx; mean of 2 trainings each)" in text
    mixed = pd.concat([best.assign(trainings=1), best.rename(index={"xx": "yy"})])
    assert "; mean of 1 to 2 trainings each)" in str(classifiers_remarks.accuracy(mixed))
    whole = data[data["missing"] == ""]
    for figure in (classifiers_figures.training_cost(whole), classifiers_figures.learning_curve(whole)):
        assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [2, 2]
        assert [text.get_text() for text in figure.axes[0].texts] == ["MBL", "SVM"]
    both = pd.concat([whole.assign(run="reference", las=1.0), whole])
    figure = classifiers_figures.training_cost(both)
    assert figure.axes[0].get_title(loc="left") == "xx (this run): accuracy"
    assert figure.axes[1].lines[1].get_ydata().max() == 80, "only the last run is drawn"
    assert len(figure.axes) == 2
    assert "83.0 % (SVM, " in classifiers_figures.growth_in_words(whole)
    accuracy = classifiers_figures.training_cost(whole).axes[0]
    heights = [list(line.get_ydata()) for line in accuracy.lines]
    assert heights == [[-2, -2], [0, 0]], "UAS is drawn as a difference to SVM"
    assert classifiers_tables.summed(results, ["yy"]).empty
    nothing = classifiers_remarks.accuracy(
        classifiers_tables.best(classifiers_tables.summed(results, ["yy"]), classifiers_tables.significance(results))
    )
    assert nothing.sentences == (classifiers_remarks.HOW,)


def test_learners_with_the_same_features_are_tested(results: list[Results]) -> None:
    table = classifiers_tables.significance(results)
    assert list(table.index) == [("this run", "xx", "F5", "SVM", "MBL")]
    row = table.iloc[0]
    assert row[["difference", "only first", "only second", "p", "better"]].tolist() == [5, 40, 20, 0.001, "SVM"]
    assert row[["low", "high"]].isna().all(), "no interval was stored"


def test_claims_are_measured(results: list[Results]) -> None:
    (r,) = results
    (gain,) = MEASURES["UAS of classifiers"].read(r, ["quadratic F5", "memory F5"], "each")
    assert (gain.place, gain.value) == ("xx", pytest.approx(5))
    assert 0 < gain.low < 5 < gain.high < 10
    (back,) = MEASURES["UAS of classifiers"].read(r, ["quadratic F5", "quadratic F2"], "each")
    assert tuple(back[:4]) == ("xx", 5, 1.5, 8), "the stored interval with the opposite sign"
    (cost,) = MEASURES["training time of classifiers"].read(r, ["quadratic F5", "memory F5"], "each")
    assert cost.value == 10
    # seconds of two trainings in sections 0 and 1: quadratic 79 and 81, memory 7 and 9; Welch's test on the log scale
    by_hand = np.array([2 / 2 / 80**2, 2 / 2 / 8**2])
    half = t.ppf(0.975, by_hand.sum() ** 2 / np.square(by_hand).sum()) * np.sqrt(by_hand.sum())
    assert (cost.low, cost.high) == pytest.approx((10 * np.exp(-half), 10 * np.exp(half)))
    (once,) = MEASURES["training time of classifiers"].read(r, ["quadratic F2", "memory F2"], "each")
    assert np.isnan(once.low), "one training has no interval"
    assert not list(MEASURES["UAS of classifiers"].read(r, ["memory F2", "memory F5"], "each"))


def test_memory_based_learning_is_compared_with_support_vector_machines(results: list[Results]) -> None:
    """The answer is about the two learners of the paper, with the richest features."""
    data, differences = classifiers_tables.summed(results), classifiers_tables.significance(results)
    table = classifiers_tables.duel(data, differences)
    assert list(table.index) == [("this run", "xx", "F5")]
    row = table.iloc[0]
    assert row[["UAS, SVM", "UAS, MBL", "SVM minus MBL, UAS", "p"]].tolist() == [85.75, 83.75, 5, 0.001]
    assert row[["training, CPU s, SVM", "training, CPU s, MBL"]].tolist() == [80, 8]
    assert row[["words / CPU s, SVM", "words / CPU s, MBL"]].tolist() == [20, 200]
    (text,) = classifiers_remarks.duel(table).sentences
    assert "(MBL) on 1 of 1 corpora with the richest features of this page (F5): +2.00 points." in text
    assert "significantly higher on 1 of 1 corpora" in text
    assert "Training takes 10.0 times as long" in text
    assert text.endswith("Each UAS comes from one seed, and each training time is the mean of 2 trainings.")
    assert "Over treebanks" not in text, "one treebank cannot be pooled"
    once = str(classifiers_remarks.duel(table.assign(trainings=1)))
    assert once.endswith("Each figure comes from one training run with one seed.")
    two = pd.concat([table, table.rename(index={"xx": "yy"})])
    two["SVM minus MBL, UAS"], two["low"], two["high"] = [1.0, 2.0], [0.8, 1.8], [1.2, 2.2]
    undecided = "the comparison is undecided: the mean difference is +1.50 points [-4.85, +7.85]."  # t(1) = 12.706
    assert undecided in str(classifiers_remarks.duel(two))
    two["SVM minus MBL, UAS"] = [5.0, 5.1]
    assert "each of which counts once, SVM is better: the mean" in str(classifiers_remarks.duel(two))
    untested = classifiers_tables.duel(data, differences.iloc[:0])
    assert "significantly" not in str(classifiers_remarks.duel(untested))
    alone = data[data["learner"] != classifiers_tables.MBL]
    assert str(classifiers_remarks.duel(classifiers_tables.duel(alone, differences))) == classifiers_remarks.HOW


def test_parameters_are_shown_with_the_sentences_they_were_chosen_on(results: list[Results]) -> None:
    table = classifiers_tables.chosen(results)
    assert list(table.index) == [("this run", "xx", "MBL")]
    assert table.iloc[0][["parameters", "points", "dev UAS", "dev LAS"]].tolist() == ["k 5", 2, 71, 66]
    text = str(classifiers_remarks.parameters(table))
    assert text.startswith("Successive halving chose the parameters in the table on xx.")
    assert "on up to 90 sentences and tested on 20 other sentences that no cell" in text
    assert "No parameters were searched for" in str(
        classifiers_remarks.parameters(classifiers_tables.chosen(results, ["yy"]))
    )


def test_sections_that_claims_cite_are_those_of_the_paper() -> None:
    """Claims and feature models only cite sections that the paper has.

    The stored copy of the paper has sections 2 to 4.4 and announces section 5.
    """
    known = set(published.table("hall_2006", "sections")["section"])
    (paper,) = (paper for paper in load() if paper.key == "hall-nivre-nilsson-2006")
    cited = {s for claim in paper.claims for s in claim.section.removesuffix(" (missing in our copy)").split(", ")}
    assert cited <= known
    text = (PROJECT / "src/treebound/systems/transition/feature_models.toml").read_text(encoding="utf-8")
    assert set(re.findall(r"Nilsson \(2006\), section ([\d.]+)", text)) <= known


def test_targets_rest_on_figures_that_a_page_shows(tmp_path: Path) -> None:
    """Parsers that read predicted tags are not compared with the figures of MaltParser, which read gold tags."""
    theirs = transitions_tables.maltparser()
    assert theirs.loc["tr_twt", "UAS"] == 82.80
    assert "gold tags" in theirs.attrs["source"]
    loaded = params.load(PROJECT / "params.yaml")
    loaded = replace(loaded, corpora=("tr_twt", "en_ewt"), tags={"en_ewt": "predicted"})
    synthetic_results.write(tmp_path, loaded)
    table = transitions_tables.compared_with_maltparser([Results("this run", tmp_path, loaded)])
    assert set(table.index.get_level_values("corpus")) == {"tr_twt"}
    rows = frames.of_systems(Results("this run", tmp_path, loaded), "transition")
    own = {row["row"]: row["uas"] for row in rows if row["corpus"] == "tr_twt"}
    assert table["difference"].tolist() == pytest.approx(
        [own[f"transition-{name}"] - 82.80 for name in table.index.unique("parser")]
    )
    text = str(transitions_remarks.maltparser(table, theirs.attrs["source"]))
    assert text.startswith("UAS of a parser minus UAS of MaltParser (tr_twt; gold tags, whole test set): ")
    assert f"whole test set): {table['difference'].max():+.2f}. Each" in text, "the invented parsers are equal"
    assert "MaltParser 1.9" in text
    assert "not tested" in text


def test_marks_are_read_where_the_stage_decode_writes_them(tmp_path: Path) -> None:
    loaded = params.load(PROJECT / "params.yaml")
    results = tmp_path / "results"
    synthetic_results.write(results, loaded)
    run, gold = Results("this run", results, loaded), synthetic_treebank(3, seed=1)
    path = tmp_path / stage.CONVERTED / "tr_twt" / "test.npz"
    path.parent.mkdir(parents=True)
    storage.save(gold, path)
    names = [*transitions_tables.measured(run)["row"], "both"]
    for name in names:
        row = loaded.row(name)
        file = results / "predictions" / "tr_twt" / "decode" / row.trained / f"{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({"sentence": range(3), "words": marks(gold, *annotated(gold))}).to_csv(file, index=False)
    table, marked = transitions_tables.marked(tmp_path, run, "tr_twt")
    assert list(marked) == names
    assert table is not None
    assert table.head.tolist() == gold.head.tolist()
    assert (transitions_tables.mended(marked)["new errors"] == 0).all()


def annotated(gold: Treebank) -> tuple[list[np.ndarray], list[list[str]]]:
    """Return heads and labels of every sentence."""
    return [gold.heads(i) for i in range(len(gold))], [sentence.strings("deprel") for sentence in gold]


def test_a_parser_that_reads_more_attributes_is_reported() -> None:
    """A remark says that one parser reads more attributes than another.

    The graph-based parser reads lemmas and suffixes if the treebank has them. The beam parser reads the same attributes
    as the greedy parser.
    """
    loaded = params.load(PROJECT / "params.yaml")
    gold = synthetic_treebank(5, seed=3)
    gold = replace(gold, meta=gold.meta | {"attributes": ["suffix", "lemma"]})
    marks = dict.fromkeys(("transition-greedy", "transition-beam", "both"), ())
    seen = transitions_tables.seen(Results("this run", Path(), loaded), "tr_twt", gold, marks)
    assert seen.loc["greedy", "attributes"] == "coarse, form, tag"
    assert seen.loc["both", "attributes"] == "coarse, form, lemma, lower, suffix, tag"
    row = {"errors of greedy": 200, "corrected, %": 25.0, "new errors": 30}
    table = pd.DataFrame([row, row], index=["beam", "both"])
    counts, caveat = transitions_remarks.mended(table, "tr_twt", seen).sentences
    assert counts.startswith("On tr_twt with gold tags, the other parsers (2) correct 25.0 % of the 200 words")
    assert caveat.startswith("Compared with greedy, these parsers read other attributes")
    assert caveat.endswith("not due to search alone: both.")
    alone = transitions_remarks.mended(table.iloc[:1], "tr_twt", seen)
    assert len(alone.sentences) == 1
    assert transitions_tables.seen(Results("this run", Path(), loaded), "tr_twt", None, {}).empty


def test_errors_are_counted_where_they_are() -> None:
    gold = synthetic_treebank(40, seed=3)
    heads = [gold.heads(i).copy() for i in range(len(gold))]
    labels = [gold[i].strings("deprel") for i in range(len(gold))]
    right = marks(gold, heads, labels)
    flat = []
    for row in heads:
        row = row.copy()
        # only arcs between neighbours are right
        row[1:] = np.where(np.abs(row[1:] - np.arange(1, len(row))) == 1, row[1:], 0)
        flat.append(row)
    tables = transitions_tables.errors(gold, {"gold": right, "flat": marks(gold, flat, labels)})
    assert all((table["gold"] == 0).all() for table in tables.values())
    distance = tables["distance"]["flat"]
    assert distance["root"] == distance["1"] == 0
    assert (distance[["2", "3 to 4", "5 to 8"]] == 100).all()
    wrong = "".join(marks(gold, flat, labels)).count(WRONG)
    for kind in ("distance", "depth", "length"):
        table = tables[kind]
        assert table["words"].sum() == sum(map(len, right))
        assert (table["words"] * table["flat"]).sum() / 100 == pytest.approx(wrong)
    assert tables["depth"].loc["1", "flat"] == 0
    mended = transitions_tables.mended({"flat": marks(gold, flat, labels), "gold": right})
    assert mended.loc["gold", "corrected, %"] == 100
    assert mended.loc["gold", "new errors"] == 0
    assert mended.loc["gold", "low"] < mended.loc["gold", "high"] == pytest.approx(100)
    rates = {kind: table for kind, table in tables.items() if kind != "label"}
    figure = transitions_figures.error_rates(rates)
    assert len(figure.axes) == 3
    assert all(label.get_rotation() == 0 for axes in figure.axes for label in axes.get_xticklabels())
    text = transitions_figures.rates_in_words(rates)
    assert "distance, root against from 9: gold 0 to 0 %, flat 0 to 100 %" in text


def test_what_is_mended_has_its_interval_and_the_best_parser_leads() -> None:
    row = {"errors of greedy": 200, "corrected, %": 25.0, "new errors": 30}
    text = str(transitions_remarks.mended(pd.DataFrame([row], index=["beam"]), "xx"))
    assert text.startswith("On xx, the other parsers (1) correct 25.0 % (beam) of the 200 words that the greedy parser")
    assert not transitions_remarks.mended({}, "xx").sentences, "sections without data have no text"
    assert "pipeline.run" in str(transitions_remarks.linear(pd.DataFrame(), "xx"))
    text = str(transitions_remarks.features(pd.DataFrame({"features": ["F6", "own.toml", "zhang-nivre", "F6"]})))
    assert text.startswith("`F6` is `F5` with the coarse tags of universal treebanks and `zhang-nivre` is the ")
    assert set(load_models()) - {"F1", "F2", "F3", "F4"} | {"auto"} == set(transitions_remarks.FEATURES)
    assert not transitions_remarks.features(pd.DataFrame({"features": ["own.toml"]})).sentences
    places = [("reference", "xx", "a"), *(("this run", corpus, name) for corpus in ("xx", "yy", "zz") for name in "ab")]
    index = pd.MultiIndex.from_tuples(places, names=["run", "corpus", "parser"])
    uas, speed = [99.0, 80.0, 85.5, 90.0, 89.0, 70.0, 71.0], [1.0, 300.0, 100.0, 5.0, 1.0, 5.0, 1.0]
    table = pd.DataFrame({"UAS": uas, "words / CPU s": speed}, index=index)
    text = str(transitions_remarks.parsers(table))
    assert text.startswith(
        "The parser b has the highest UAS of the transition-based parsers on 2 of 3 corpora (71.00 to"
    )
    assert "85.50 %; whole test sets). The fastest parser of each corpus (a) is 3.0 to 5.0 times as fast." in text
    assert "not tested" in text
    assert "make classifiers" in str(transitions_remarks.parsers(table.assign(UAS=np.nan)))


def test_parsers_without_a_speed_are_not_drawn() -> None:
    rows = [("this run", "xx", name) for name in ("a", "b", "c")]
    index = pd.MultiIndex.from_tuples([("reference", *rows[0][1:]), *rows], names=["run", "corpus", "parser"])
    table = pd.DataFrame({"UAS": [79.0, 80.0, 85.5, np.nan], "words / CPU s": [1e4, 1e4, np.nan, 1e3]}, index=index)
    (point,) = transitions_tables.points(table).to_dict("records")
    assert (point["corpus"], point["label"], point["uas"], point["words_per_cpu_s"]) == ("xx", "a", 80.0, 1e4)
    assert len(accuracy_speed(transitions_tables.points(table)).axes) == 1


def test_times_by_length_are_drawn() -> None:
    data = pd.DataFrame({"greedy": [1.0, 2.0, 4.0]}, index=pd.Index([10, 20, 40], name="words"))
    text = (
        "On xx, sentences of 40 words are 4 times as long as sentences of 10 words, and take 4.0 (greedy) times the CPU"
    )
    assert str(transitions_remarks.linear(data, "xx")) == f"{text} time (minimum of three runs each)."
    (points, line) = transitions_figures.time_by_length(data).axes[0].lines
    assert np.allclose(np.interp([10, 20, 40], line.get_xdata(), line.get_ydata()), points.get_ydata())
