"""Statements on pages, with invented figures.

A difference has its interval or p-value, and a figure has its sample and limits.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results

from studies.across.approximations import tables as approximations_tables
from studies.across.overview import page as readme
from studies.across.overview import practice, samples
from studies.across.validity.settings import ValidTrees
from studies.auli_lopez_2011.derivations import remarks as derivations_remarks
from studies.auli_lopez_2011.derivations import tables as derivations_tables
from studies.common import params as parameters
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.qian_liu_2013.comparison import errors, others
from studies.qian_liu_2013.comparison import gains as comparison_gains
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison import remarks as comparison_remarks
from studies.qian_liu_2013.comparison import tables as comparison_tables
from studies.qian_liu_2013.comparison.differences import differences
from studies.qian_liu_2013.confidence import remarks as confidence_remarks
from studies.qian_liu_2013.speed import remarks as speed_remarks
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.qian_liu_2013.steps import tables as steps_tables
from studies.qian_liu_2013.tuning import remarks as tuning_remarks
from studies.qian_liu_2013.tuning import tables as tuning_tables
from studies.riedel_clarke_2006.constraints import remarks as constraints_remarks
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.riedel_clarke_2006.integer_programs import remarks as integer_programs_remarks
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.site import collect, export, frames, provenance, published, seen, sentences, show
from studies.site.claims.judge import judge
from studies.site.claims.load import load
from studies.site.rows import main_rows, of_one_run

REPOSITORY = Path(__file__).parents[1]
RUN = "this run"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with the reference's parameters, and a reference."""
    folder = tmp_path_factory.mktemp("project") / "project"
    return synthetic_results.project(folder, REPOSITORY, overlay="reference.yaml")


@pytest.fixture(scope="module")
def this(root: Path) -> collect.Results:
    return collect.this_run(root)


# --- p-values


def test_no_p_is_printed_as_nothing() -> None:
    data = pd.DataFrame({"p": [1e-9, 0.0004, 0.0123], "p, sign": [0.0, 0.5, 1.0], "UAS": [0.0, 1.0, 2.0]})
    html = show.Table(data, "p", by_column={"p": 3, "p, sign": 4})._repr_html_()
    assert "<td>&lt; 0.001</td><td>&lt; 0.0001</td><td>0.00</td>" in html
    assert html.count("&lt; 0.001<") == 2
    assert "<td>0.012</td><td>1.0000</td>" in html
    assert "| < 0.001 | < 0.001 | 0.00 |" in export.markdown(data)
    assert show.p_in_words(1e-9) == "p < 0.001"
    assert show.p_in_words(0.25) == "p = 0.250"


def test_a_few_tests_get_no_remark_about_chance() -> None:
    assert sentences.by_chance(2, 0.05) == "fewer than one"
    assert sentences.by_chance(58, 0.05) == "about 3"


# --- the front page


def gains(*rows: tuple[str, str, float, float, float, int]) -> pd.DataFrame:
    """Return a table in the form of `headline.gains`, from rows (corpus, learner, difference, low, high, seeds)."""
    names = ["corpus", "learner", "difference", "low", "high", "seeds"]
    data = pd.DataFrame(rows, columns=names).assign(run="reference", system="combined")
    return data.set_index(["run", "corpus", "learner", "system"])


def test_gains_are_means_over_seeds_and_name_their_seeds() -> None:
    tested = gains(("a", "mira", 0.2, -0.26, 0.65, 1), ("b", "mira", 0.4, 0.1, 0.7, 3))
    text = str(comparison_gains.answer(tested))
    assert text.startswith("All factors change the UAS of the Carreras baseline by +0.30 [")
    assert "over 2 treebanks. One by one, as means over seeds, all factors are significantly better on 1 of 2" in text
    alone = str(comparison_gains.answer(tested.assign(seeds=1)))
    assert "One by one, with one seed each, all factors are" in alone
    assert "and the baseline on none, at the 5 % level (" in text
    assert "learner mira; means of 3 seeds on b; one training each elsewhere" in text


def test_many_results_over_seeds_are_counted_and_equal_values_have_no_name() -> None:
    index = pd.MultiIndex.from_product([["a", "b", "c"], ["x", "y", "z", "w"]])
    seeds = pd.Series([3, 3, 5, 1] * 3, index)
    assert sentences.seeds_in_words(seeds.iloc[:8]) == (
        "means of 3 seeds on a · x, a · y, b · x, b · y and of 5 seeds on a · z, b · z; one training each elsewhere"
    )
    assert sentences.seeds_in_words(seeds) == (
        "means of 3 seeds in 6 comparisons and of 5 seeds in 3 comparisons; one training each in 3"
    )
    shares = pd.Series([100.0, 99.98, 100.0], ["a", "b", "c"])
    assert sentences.span(shares, "{:.1f} %") == "100.0 %"
    assert sentences.span(shares, "{:.2f} %") == "99.98 % (b) to 100.00 % (a)"
    assert sentences.span(shares[:1], "{:.1f} %") == "100.0 % (a)"


def test_the_headline_is_a_mean_over_seeds_and_has_the_best_row(this: collect.Results) -> None:
    data = headlines.headline([this])
    values = headlines.accuracies(this)
    row = data.loc[(RUN, "tr_twt", "mira")]
    assert row["seeds"] == 5
    seeds = differences(this, [("UAS", "combined", "carreras")], ["tr_twt"]).xs("mira", level="learner")
    assert len(seeds) == 5
    assert row["gain, UAS"] == pytest.approx(seeds["difference"].mean())
    assert row["UAS, all factors"] == pytest.approx(
        np.mean([values["tr_twt", name] for name in ("combined", *(f"combined-seed{i}" for i in range(2, 6)))])
    )
    for (_, corpus, learner), line in data.iterrows():
        rows = headlines.contenders(this, corpus, learner)
        means = {name: headlines.mean_over_seeds(this, corpus, run, values)[0] for name, run in rows.items()}
        assert line["UAS, best row"] == max(means.values())
        assert means[line["best row"]] == line["UAS, best row"]
    assert {"second-order", "sampling", "transition-greedy"} <= set(headlines.contenders(this, "tr_twt", "mira"))
    for learner, lines in data.groupby("learner"):  # a comparison has one interval, whichever rows are the best
        for _, line in lines.iterrows():
            alone = headlines.over_baseline(this, str(learner), dict.fromkeys(this.corpora, line["best row"]))
            gain = alone.get(line.name[1])
            assert gain is None or [gain.low, gain.high] == pytest.approx(line[["low, best row", "high, best row"]])
    first = data.iloc[:1].assign(**{"best row": "carreras", "seeds, best row": 0})
    assert headlines.gain_table(first)["note"].tolist() == ["the best row is Carreras itself"]
    assert headlines.gain_table(data.iloc[:1])["note"].tolist() == [""]
    single_seed = data.loc[(RUN, "en_ewt", "perceptron")]  # this row has one seed
    assert single_seed["seeds"] == 1
    test = comparison_tables.significance(this, ["en_ewt"]).loc[("en_ewt", "perceptron", "combined")]
    assert single_seed[["gain, UAS", "low", "high"]].tolist() == pytest.approx(
        test[["difference", "low", "high"]].tolist()
    )


def test_the_results_show_the_best_row_and_the_seeds_of_every_gain() -> None:
    text, _ = readme.headline(REPOSITORY)
    stored = collect.reference(REPOSITORY)
    assert stored is not None
    data = headlines.headline([stored]).xs(readme.LEARNER, level="learner")
    for _, row in data.iterrows():
        for names in (headlines.GAIN, headlines.BEST_GAIN):
            gain, low, high, seeds = row[list(names)]
            assert f"{gain:+.2f} [{low:+.2f}, {high:+.2f}] ({seeds:.0f})" in text
        assert f"{row['UAS, best row']:.2f}, {row['best row']} |" in text
    clear = ((data["low"] > 0) | (data["high"] < 0)).sum()
    assert f"excludes 0 on {clear} of {len(data)} treebanks" in text


def test_every_row_of_the_results_lists_the_columns_that_it_reads() -> None:
    """The table of results lists, for each row, the additional columns that the parser reads.

    A transition parser with a plain feature model reads no lemmas, even if the treebank has them.
    """
    text, _ = readme.headline(REPOSITORY)
    cells = {line.split(" | ")[0]: line.split(" | ")[1] for line in text.splitlines() if line.startswith("| ")}
    assert cells["| transitions: transition-greedy"] == "nothing"
    assert cells["| transitions: transition-svm"] == "nothing"
    assert cells["| other projects: spacy"] == "nothing"
    assert "lemmas and morphological features (tr_twt" in cells["| graph: combined"]
    assert "Ours see" not in text


def test_what_a_parser_by_transitions_sees_is_that_of_its_feature_model(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(root, copy)
    path = copy / "results" / "metrics" / "train" / "tr_twt" / "greedy.json"
    metadata = json.loads(path.read_text())
    for features, sees in (("zhang-nivre-coarse", ()), ("auto", ("lemma", "feats")), ("F6", ())):
        path.write_text(json.dumps(metadata | {"spec": {"features": features}}))
        run = collect.this_run(copy)
        row = run.params.rows["transition-greedy"]
        assert seen.seen(run, "tr_twt", row, ["lemma", "feats"]) == sees
        assert seen.seen(run, "tr_twt", row, []) == ()
    assert seen.seen(run, "tr_twt", run.params.rows["combined"], ["lemma"]) == ("lemma",)
    assert seen.by_corpus({"a": ("lemma",), "b": (), "c": ("lemma",)}) == "lemmas (a, c)"


def test_a_correlation_reports_the_influence_of_one_pair_and_one_language() -> None:
    x = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0, 30.0, 31.0])
    y = pd.Series([0.3, 0.1, 0.4, 0.2, 0.0, 5.0, 6.0])
    languages = pd.Series(["a", "b", "c", "d", "e", "nl", "nl"], name="language")
    text = sentences.correlation(x, y, languages)
    assert "7 pairs" in text
    without = x[:5].corr(y[:5], method="spearman")
    assert without < 0 < x.corr(y, method="spearman")
    assert f"leaving out any one language gives {without:+.2f} to " in text


def test_the_readme_and_the_results_have_published_figures_of_neural_parsers() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    results = (REPOSITORY / readme.PAGE).read_text(encoding="utf-8")
    rows = practice.published()
    for row in rows.drop_duplicates("system").itertuples():
        for page in (text, results):
            assert row.source in page
            assert f"{row.UAS:.2f}" in page
            assert f"{row.LAS:.2f}" in page
    cells = {"best row": "x", "UAS, best row": 87.86, "best main row": "y", "UAS, best main row": 87.75}
    own = pd.DataFrame([cells | {"tags": "predicted"}], index=["en_ewt"])
    remark = str(practice.practice(rows, own))
    assert "87.86 UAS on en_ewt (x; 87.75 in the main comparison, y; gold segmentation, predicted tags, " in remark
    assert "punctuation left out), less than every" in remark
    same = own.assign(**{"best main row": "x", "UAS, best main row": 87.86})
    assert "87.86 UAS on en_ewt (x; gold segmentation" in str(practice.compared(rows, same))
    assert list(practice.table(rows)["source"]) == list(rows["source"])
    alone = str(practice.compared(rows, own))
    assert remark.endswith(alone)
    assert not alone.startswith("Published figures")
    above = str(practice.practice(rows, own.assign(**{"UAS, best row": 92.0})))
    assert "less than every" not in above


def test_models_and_seconds_of_training_are_of_the_same_models(this: collect.Results) -> None:
    facts = provenance.provenance([this])[RUN]
    names = provenance.models(this)
    seconds = sum(this.read("timing", "train", corpus, f"{name}.json")["cpu_s"] for corpus, name in names)
    assert facts["models trained"] == str(len(names))
    assert facts["training these models, CPU seconds"] == f"{seconds:,.0f}"
    assert ("tr_twt", "combined-seed2") in names
    assert ("tr_twt", "greedy") in names


# a reference is named as such, and its page says what it stores


def test_a_run_that_becomes_the_reference_is_named_so(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(root, copy)
    info = {"commit": "f" * 40, "date": "2031-01-02", "machine": {"cpu": "invented"}}
    (copy / collect.ORIGIN).write_text(json.dumps(info))
    (results,) = collect.provenances(copy)  # no second column for the reference that this run replaces
    assert (results.name, results.title) == ("reference", "the reference run")
    facts = provenance.provenance([results])["reference"]
    assert facts["commit"] == "f" * 12
    assert facts["date"] == "2031-01-02"
    assert facts["machine"] == "cpu invented"
    continued = provenance.provenance([dataclasses.replace(results, info=info | {"continued": True})])["reference"]
    assert continued["machine"].startswith("cpu invented (this machine finished the run;")
    assert collect.this_run(root).title == RUN


def test_the_samples_of_a_run_are_those_of_its_parameters(this: collect.Results) -> None:
    table = samples.samples([this]).loc[RUN]
    ablated = this.params.section(Ablation).sentences
    assert table.loc["ablation", "sample"] == f"{ablated} evenly spaced test sentences of each treebank"
    assert table.loc["decode, search published", "sample"] == "the first 300 test sentences of each treebank"
    assert table.loc["constraints", "treebanks"] == "nl_alpino"
    assert table.index.is_unique
    whole = dataclasses.replace(this, params=this.params.changed(ValidTrees()))
    assert "validity" in table.index
    assert "validity" not in samples.samples([whole]).loc[RUN].index, "a stage without treebanks has no sample"


def test_where_the_time_of_a_run_went(tmp_path: Path) -> None:
    noted = tmp_path / "stages.csv"
    noted.write_text("train@a,60.0,30.0\ntrain@a,120.0,90.0\ntrain@b,60.0,30.0\ndecode@a,6.0,600.0\n")
    params = collect.this_run(REPOSITORY).params
    without, run = collect.Results("reference", tmp_path / "none", params), collect.Results(RUN, tmp_path, params)
    spent = provenance.time_spent([without, run])
    assert list(spent.index) == [(RUN, "decode"), (RUN, "train")]
    assert spent.loc[(RUN, "train")].tolist() == [2, 2.0, 3.0]  # if a stage ran twice, the later time counts
    assert provenance.time_spent([without]).empty


def test_a_reference_replaces_missing_metrics_by_its_stored_tables(root: Path, tmp_path: Path) -> None:
    whole = collect.this_run(root)
    stored = tmp_path / "kept"
    names = ("significance-uas", "significance-las", "errors")
    shutil.copytree(whole.folder / "metrics", stored / "metrics")
    assert export.export(root, stored, only=names) == []
    reference = dataclasses.replace(whole, folder=stored, info={"commit": "f" * 40})
    for figure in ("UAS", "LAS"):
        pd.testing.assert_frame_equal(
            comparison_tables.significance(reference, ["tr_twt"], figure),
            comparison_tables.significance(whole, ["tr_twt"], figure),
        )
    pd.testing.assert_frame_equal(errors.errors(reference), errors.errors(whole), check_dtype=False)
    assert headlines.headline([reference])["low"].notna().all()
    sentences = tuning_tables.tuned_sentences(reference)
    ratios = tuning_tables.call_ratios(sentences)
    assert ratios.empty
    assert "does not store single sentences" in str(tuning_remarks.sentence_by_sentence(sentences, ratios))
    shutil.rmtree(stored / "tables")
    assert comparison_tables.significance(reference).empty
    assert headlines.headline([reference])["low"].notna().all(), "words count as two independent samples"


# --- the main comparison


def test_a_family_is_better_or_worse_only_where_that_is_significant(this: collect.Results) -> None:
    tested = headlines.gains([this], models=comparison_gains.FAMILIES)
    tested[["low", "high"]] = -1.0, 1.0
    tested.loc[(RUN, "tr_twt", "mira", "carreras+comb"), ["difference", "low", "high"]] = -0.3, -0.5, -0.1
    text = str(comparison_gains.families(tested, "mira"))
    rows = tested.xs("mira", level="learner")
    assert f"the model is significantly better in none of {len(rows)} comparisons, and the baseline in 1, at" in text
    assert "at the 5 % level (tr_twt · carreras+comb -0.30 [-0.50, -0.10]" in text
    assert "by chance alone, about 2 would be significant" in text


def test_a_sentence_names_at_most_two_significant_differences_the_largest_ones() -> None:
    values = [("a", 0.4), ("b", -0.9), ("c", 0.2), ("d", 0.6), ("e", 0.0)]
    data = pd.DataFrame(
        [(value, value - 0.1, value + 0.1) for _, value in values],
        columns=["difference", "low", "high"],
        index=[name for name, _ in values],
    )
    text = comparison_remarks.counted(data, "it is")
    assert text.startswith("it is significantly better in 3 of 5 comparisons, and the baseline in 1, at the 5 % level")
    assert text.endswith(" (largest: b -0.90 [-1.00, -0.80], d +0.60 [+0.50, +0.70])")
    assert comparison_remarks.counted(data, "it is", most=0).endswith("at the 5 % level")
    single = comparison_remarks.counted(data.loc[["e"]], "it is")
    assert single == "it is significantly better in none of 1 comparisons, and the baseline in none, at the 5 % level"


def test_the_answer_gives_the_mean_over_all_treebanks_beside_the_mean_over_those_of_the_page() -> None:
    tested = gains(("a", "mira", 0.2, -0.26, 0.65, 1), ("b", "mira", 0.4, 0.1, 0.7, 3))
    system = tested.index.get_level_values("system")[0]
    names = [f"{system}, mira"] * 4 + ["non-projective, mira"] * 4
    everywhere = pd.DataFrame({"system": names, "difference": [0.2, 0.4, -0.6, -0.8, *([9.0] * 4)]})
    everywhere = everywhere.assign(low=everywhere["difference"] - 0.3, high=everywhere["difference"] + 0.3)
    text = comparison_gains.answer(tested, everywhere).sentences[0]
    assert text.startswith("Over all 4 treebanks of the reference run, all factors change the UAS of the Carreras")
    assert "baseline by -0.20 [" in text
    assert "over the 2 treebanks of this page, by +0.30 [" in text
    alone = comparison_gains.answer(tested, everywhere.iloc[:2]).sentences[0]
    assert "Over all" not in alone


def test_a_mean_over_treebanks_keeps_their_own_errors() -> None:
    rows = pd.DataFrame({"difference": [0.47, 0.48], "low": [-0.08, -0.15], "high": [1.02, 1.11]})
    own = np.hypot(0.55, 0.63) / 2  # half the width that the errors of both alone give
    assert sentences.mean_with_interval(rows) == f"+0.47 [{0.475 - own:+.2f}, {0.475 + own:+.2f}]"
    assert sentences.mean_with_interval(rows.head(1)) == "+0.47"


def test_rows_that_a_limit_leaves_without_proof_are_counted(this: collect.Results) -> None:
    data = comparison_tables.accuracy([this])
    assert f"Every tree of all {len(data)} rows" in str(comparison_gains.exactness(data))
    data.loc[("mira", "carreras+tri-sibling", "zh_gsd"), (RUN, "proved, %")] = 97.8
    text = str(comparison_gains.exactness(data))
    assert f"Every tree of {len(data) - 1} of {len(data)} rows is proved" in text
    assert "In the other 1, a limit stopped some searches" in text
    assert "97.8 % of the trees are proved" in text


# peers


def test_columns_that_only_our_parsers_read_are_named_beside_the_claim(this: collect.Results) -> None:
    steps = steps_tables.step_tests(steps_tables.steps([this]))
    text = str(speed_remarks.peers(others.peers([this]), {"tr_twt": ["lemma", "feats"]}, steps))
    assert "Our graph-based and sampling parsers also see the treebank's own lemmas and morphological" in text
    assert "not due to the parsers alone" in text
    row = steps.loc[("tr_twt, this run", "UAS", "no-features")]
    assert f"UAS without morphological features {sentences.difference(row)}" in text
    assert f"[{row['low']:+.2f}, {row['high']:+.2f}], {show.p_in_words(row['p'])}" in text
    assert "On en_ewt, ptb_sample our parsers and the peers see forms and tags only." in text


def test_columns_that_parsers_read_are_stored_with_the_conversion(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(root, copy)
    path = copy / "results" / "metrics" / "convert" / "tr_twt.json"
    metadata = json.loads(path.read_text())
    path.write_text(json.dumps(metadata | {"meta": metadata["meta"] | {"attributes": ["suffix", "feats", "lemma"]}}))
    seen = frames.convert(collect.this_run(copy)).attrs["seen"]
    assert seen["tr_twt"] == ["lemma", "feats"]
    assert seen["zh_gsd"] == []


# --- several runs on one page


def test_a_corpus_that_two_runs_have_is_one() -> None:
    assert sentences.how_many_corpora(["a, reference", "b, reference", "a, this run"]) == "2 corpora (a in two runs)"
    assert sentences.how_many_corpora(["a"]) == "1 corpus"


def test_sums_over_corpora_count_no_sentence_twice(this: collect.Results) -> None:
    once = [dataclasses.replace(this, name="reference")]
    twice = [*once, this]
    assert str(derivations_remarks.translated(derivations_tables.translated(twice))) == str(
        derivations_remarks.translated(derivations_tables.translated(once))
    )
    for contest in (approximations_tables.contest, integer_programs_tables.contest):
        pd.testing.assert_frame_equal(of_one_run(contest(twice)), contest(once))
    pd.testing.assert_frame_equal(approximations_tables.over_time(twice), approximations_tables.over_time(once))
    learners = [[comparison_tables.comparison(runs, name) for name in ("perceptron", "mira")] for runs in (once, twice)]
    assert str(comparison_gains.learners(*learners[1])) == str(comparison_gains.learners(*learners[0]))


# --- pruning, speed, length


def test_pruning_names_the_k_of_training(this: collect.Results) -> None:
    uas, speed = (speed_tables.pruning_table([this], figure) for figure in ("UAS", "w/s"))
    text = str(speed_remarks.pruning(uas, speed, {RUN: 10}))
    slowest = speed.loc["branch and bound, no pruning", RUN].min()
    assert f"Without pruning, the speed is {slowest:,.0f} (" in text
    assert "words per CPU second. All models were trained with k = 10; the paper prunes in testing only." in text
    assert " and changes UAS by " in text
    assert "not tested" in text
    assert "In the paper, pruning with k = 10 multiplies speed by 1.3 (CTB) to 3.4 (PTB)" in text
    assert "All models were trained with no pruning; the" in str(speed_remarks.pruning(uas, speed, {RUN: "none"}))
    assert "Training: k = 10 (a), no pruning (b); the paper prunes in testing only." in str(
        speed_remarks.pruning(uas, speed, {"a": 10, "b": "none"})
    )


def test_sentences_without_proof_are_in_the_note_of_their_row(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(root, copy)
    synthetic_results.change_rows(copy / "results", "zh_gsd", "combined-unpruned", certified=57)
    notes = speed_tables.pruning_table([collect.this_run(copy)], "UAS")["", "note"]
    assert "not proved optimal: 3 of 60 sentences (zh_gsd)" in notes["branch and bound, no pruning"]
    assert "not proved" not in notes["branch and bound, k = 10"]


def test_the_dagger_of_the_paper_is_kept(this: collect.Results) -> None:
    speed = speed_tables.pruning_table([this], "w/s")["", "note"]
    assert "not directly comparable" in speed["Zhang & McDonald (2012) †"]
    assert "comparable" not in speed_tables.pruning_table([this], "UAS")["", "note"]["Zhang & McDonald (2012) †"]


def test_a_median_of_one_repeat_has_no_spread(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(root, copy)
    path = copy / "results" / "metrics" / "benchmark" / "tr_twt.json"
    rows = json.loads(path.read_text())
    rows[0] |= {"repeats": 1, "cpu_s_range": [rows[0]["cpu_s"]] * 2}
    path.write_text(json.dumps(rows))
    data = speed_tables.benchmarked(collect.this_run(copy))
    assert data.iloc[0]["repeats"] == 1
    assert np.isnan(data.iloc[0]["spread, %"])
    assert data.iloc[1:]["spread, %"].notna().all()
    assert f"1 of the {len(data)} rows were timed once and have no spread" in str(speed_remarks.repeats(data))


def curves(k: str, *seconds: float) -> pd.DataFrame:
    rows = [(10 * i + 1, 10 * i + 10, s) for i, s in enumerate(seconds)]
    data = pd.DataFrame(rows, columns=["lo", "hi", "mean_s"])
    return data.assign(corpus="a, this run", k=k, sentences=20, mean_dp_calls=data["mean_s"] * 1e3)


def test_the_page_on_length_answers_its_question() -> None:
    steep = pd.concat([curves("10", 0.001, 0.003, 0.005), curves("none", 0.001, 0.01, 1.0)])
    text = str(speed_remarks.length(steep))
    last, whole = np.log(100) / np.log(25.5 / 15.5), np.log(1000) / np.log(25.5 / 5.5)
    assert text.startswith("Whether growth is exponential stays open. From the first to the last bin of at least 10 ")
    assert f"{whole:.1f} (a, 1-10 to 21-30 words) without pruning" in text
    assert "For 1 of the 2 curves described here, growth is steeper" in text
    assert (
        f"Between the last two such bins, without pruning, the exponent is {last:.1f} (a, 11-20 to 21-30 words). In "
        "the last such bin, a sentence takes 1,000 ms (a, 21-30 words)." in text
    )
    few = str(speed_remarks.length(steep.assign(sentences=[20, 20, 3, 20, 20, 20])))
    assert "at k = 10, the exponent is" in few
    assert "a sentence takes 3 ms (a, 11-20 words)" in few, "the bin of three sentences is left out"


def test_what_is_proved_and_how_soon_is_counted(this: collect.Results) -> None:
    data = pd.DataFrame({"n": [3, 4, 9], "status": ["optimal", "optimal", "limit"], "dp_calls": [1, 5, 200]})
    run = main_rows(this.params, "mira")["combined"]
    text = str(speed_remarks.proofs(data.assign(nodes=[1, 3, 77]), "a", run))
    assert text.startswith(
        "Of 3 test sentences of a, parsed with combined (mira, k = 10, decoder tuned), 2 come with a proof"
    )
    assert "number of calls for a sentence is 200, and the largest search tree has 77 nodes." in text
    assert "come with a proof" in str(speed_remarks.proofs(frames.sentences(this, "tr_twt", run), "tr_twt", run))


def test_several_ways_to_decode_the_same_scores_are_distinguished() -> None:
    more = "projective tree with grandparents"
    ways = {"best head of each word": (80.0, 30.0), "projective tree": (81.0, 90.0), more: (82.5, 99.0)}
    table = pd.DataFrame(ways, index=["UAS", "the best tree, %"]).T
    text = str(speed_remarks.own_scores(table, 500))
    assert "In 30.0 % of 500 test sentences, the best heads of the words already form the best non-proj" in text
    assert f"have 81.00 (projective tree) and 82.50 ({more}) UAS; 90.0 to 99.0 % of them are proved" in text
    assert "not tested" in text
    table["the best tree, %"] = 100.0
    assert "; all of them are proved to be the best." in str(speed_remarks.own_scores(table, 500))
    assert "grandparents raise the UAS of the projective tree from 81.00 to 82.50." in str(
        speed_remarks.beyond_arcs(table)
    )
    for uas, change in ((80.0, "lower the UAS of the projective tree from 81.00 to 80.00."), (81.0, "do not change")):
        table.loc[more, "UAS"] = uas
        assert change in str(speed_remarks.beyond_arcs(table))


def test_a_search_over_all_heads_is_measured() -> None:
    searches = pd.DataFrame(
        {"CPU s": [0.5, 3.15], "other trees": [0, 5], "sentences": 100}, index=["allowed heads", "all heads"]
    )
    text = str(speed_remarks.all_heads(searches))
    assert text.startswith(
        "On 100 evenly spaced test sentences, the search over all heads takes 6.3 times the CPU time"
    )
    assert text.endswith("It finds another tree for 5.0 % [2.2, 11.2] of the sentences.")


def test_the_sentence_of_the_tour_has_the_largest_search() -> None:
    searched = pd.DataFrame({"nodes": [1, 3, 5], "dp_calls": [1, 7, 9]}, index=[4, 6, 7])
    assert str(speed_remarks.largest_search(searched, 7, "a", 30)) == (
        "1 of 3 test sentences of a with at most 30 words are solved in the first node, without branching. Sentence 8 "
        "is shown. None of the others has more nodes (5) or, with as many nodes, more calls of the dynamic program (9)."
    )


# --- confidence


def test_figures_of_confidence_say_their_sample() -> None:
    rows = [("a", 0.024, 100, 1100), ("b", 0.084, 400, 9000)]
    data = pd.DataFrame(rows, columns=["corpus", "calibration_error", "sentences", "scored_words"])
    text = str(confidence_remarks.calibration(data, {"a": 486, "b": 913}, 400))
    assert "a 2.4 points (100 of 486 test sentences, 1,100 words)" in text
    assert "b 8.4 points (400 of 913 test sentences" in text
    assert "request 400 sentences. The metrics of a were computed on fewer." in text
    assert "computed on fewer" not in str(confidence_remarks.calibration(data, {"a": 100, "b": 400}, 400))


# --- the tuned search


def test_a_part_of_a_test_set_is_named_as_a_part(this: collect.Results) -> None:
    data = tuning_tables.tunings([this])
    text = str(tuning_remarks.tuning(data))
    assert "Test sentences: all 60 (tr_twt, this run)" in text
    part = tuning_remarks.tuning(data.assign(of=486, certified=data["certified"] - 1))
    assert "the first 60 of 486 (tr_twt" in str(part)
    assert "Without the limit their work would be larger" in str(part)


# --- integer programs


def crossed(first: float, loop: float) -> pd.DataFrame:
    """Return a table in the form of `cross_validated`, for 100 sentences.

    first, loop: share of the time that the first iteration takes, with our loop and with the published loop.
    """
    row = {"run": RUN, "corpus": "nl", "sentences": 100, "folds": 9, "n": 1000, "long": 0, "slowest": 1.0}
    row |= {
        "few_iterations": 100,
        "short": 100,
        "slow": 0,
        "iterations": 200,
        "seconds": 10.0,
        "status": {"optimal": 100},
    }
    row |= {"heads": 900, "labelled": 850, "complete": 50, "complete_labelled": 40}
    systems = {
        constraints_tables.BASELINE: 0.0,
        constraints_tables.CONSTRAINTS: first,
        constraints_tables.PUBLISHED_LOOP: loop,
    }
    return pd.DataFrame([row | {"system": name, "first": 10 * share} for name, share in systems.items()])


def test_published_times_are_shown_beside_ours() -> None:
    text = str(constraints_remarks.times(crossed(0.03, 0.17)))
    assert "20 s for Chu-Liu-Edmonds on the corpus" in text
    assert "about 15 minutes, against about 25" in text


def test_published_bounds_are_no_figures() -> None:
    targets = constraints_tables.constraint_targets(crossed(0.03, 0.17))
    assert targets.loc[("published", "lp_solve"), "mean, s"] == "under 0.5"
    assert targets.loc[("published", "lp_solve"), "share of the first iteration, %"] == "over 50"
    assert "0.5000" not in show.Table(targets, "t", by_column={"mean, s": 4})._repr_html_()
    few = constraints_tables.approximation(crossed(0.03, 0.17))
    assert few.loc[("published", "Chu-Liu-Edmonds"), "CPU s"] == 20
    assert few.loc[("published", "q = 10"), "time saved, %"] == 80
    paper = published.table(constraints_tables.RIEDEL_CLARKE, "corpus").iloc[0]
    assert paper.tolist() == [13300, 14.6, 5.4]


def test_the_papers_corpus_is_shown_beside_ours(tmp_path: Path) -> None:
    synthetic_results.constraint_metrics(tmp_path, "nl_made_up", (0,))
    params = parameters.load(REPOSITORY / "params.yaml")
    settings = dataclasses.replace(params.section(Constraints), corpora=("nl_alpino",), folds=(0,))
    run = collect.Results(RUN, tmp_path, params.changed(settings))
    made = tmp_path / "metrics" / "convert"
    (made / "nl_made_up.json").rename(made / "nl_alpino.json")
    data = constraints_tables.folded_corpora([run])
    assert list(data.columns)[:2] == ["sentences", "words"]
    assert data.iloc[0].dropna().to_dict() == {
        "sentences": 13300,
        "words a sentence": 14.6,
        "arcs crossed by another, %": 5.4,
    }


def contest(**proved: tuple[int, int]) -> pd.DataFrame:
    """Return a table as `ilp.contest` does, for two bins of two sentences.

    proved: numbers of proofs per bin, by solver.
    """
    rows = [
        {"run": RUN, "corpus": "c", "model": "sib", "space": "projective", "solver": solver.replace("_", " ")}
        | {"longer_than": low, "sentences": 2, "proved": n, "seconds": seconds, "slowest": seconds, "limit": 5.0}
        for solver, counts in proved.items()
        for low, n in zip((0, 20), counts, strict=True)
        for seconds in [0.01 if solver == "branch_and_bound" else 1.0]
    ]
    return pd.DataFrame(rows)


def test_the_arena_says_limits_and_who_gave_up() -> None:
    data = contest(branch_and_bound=(2, 2), incremental=(2, 1), explicit=(2, 0))
    text = str(integer_programs_remarks.arena(data, integer_programs_tables.arena_lengths(data)))
    assert text.startswith("Branch and bound proves 4 of 4 problems, without a limit. Integer programs prove ")
    assert "The slowest problem of branch and bound takes 0.01 s. If two" in text
    assert "Integer programs prove 2 (explicit) to 3 (incremental) of 4, with a limit of 5 s of wall" in text
    assert "The problems are divided into 2 bins by corpus, model, set of trees and length (" in text
    assert "In 1 of the bins, at least one integer program proves every sentence." in text
    assert (
        "100 times as long as branch and bound in the median bin, and 100.0 times (c, sib, projective, up to 20" in text
    )
    assert "In 1 of 2 bins of this run, no program proved all sentences" in text


def test_a_constraint_family_without_effect_is_reported() -> None:
    names = ["fold", "sentences", "alone", "gold", "gained", "lost"]
    kinds = ["", "", "LAC", "trees that break it, %", "words, alone", "words, alone"]
    columns = pd.MultiIndex.from_arrays([kinds, names])
    index = pd.MultiIndex.from_tuples([("nl", "one"), ("nl", "two")])
    data = pd.DataFrame([[0, 90, 0.5, 1.0, 50, 2], [0, 90, 0.01, 0.0, 2, 1]], index=index, columns=columns)
    text = str(constraints_remarks.families(data))
    assert text.startswith("On nl, fold 0 (90 sentences), a family alone")
    assert "1 of 2 families have no significant effect on this fold: two." in text


# --- notebooks


def prose(name: str) -> str:
    cells = json.loads((REPOSITORY / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


@pytest.mark.parametrize(
    ("name", "unsupported"),
    [
        ("20-main-comparison", "All decoders are exact, so"),
        ("51-arena", "all of them do"),
        ("10-corpora", "needs a licence"),
        ("99-appendix", "on your machine"),
        ("40-tuning", "only a part of the sentences are left out"),
        ("00-tour", "so it may rise when the search moves on"),
        ("00-tour", "run the page again"),  # the report has no cells to run
        ("05-your-scores", "next cell"),
        ("06-playground", "next cell"),
        ("06-playground", "last cell"),
    ],
)
def test_no_prose_makes_claims_that_a_table_may_contradict(name: str, unsupported: str) -> None:
    assert unsupported not in prose(name)


def test_the_swapped_words_of_the_paper_are_reported() -> None:
    assert re.search(r"has swapped the two words", prose("50-integer-programming"))


def test_what_the_paper_trained_is_shown() -> None:
    rows = published.table(published.QIAN_LIU, "training").set_index("corpus")
    assert rows.loc["PTB"].tolist() == [674, 86.7, 6]
    assert rows.loc["CTB"].tolist() == [858, 71.5, 6]
    for name, call in (
        ("20-main-comparison", 'table(QIAN_LIU, "training")'),
        ("10-corpora", 'table(QIAN_LIU, "calls")'),
    ):
        source = (REPOSITORY / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8").replace('\\"', '"')
        assert call in source


def test_the_gains_of_families_are_those_of_the_claims(this: collect.Results) -> None:
    judged = {RUN: judge([this], load())}
    table = comparison_gains.by_family(judged)
    by_name = {entry.claim.name: entry for entry in judged[RUN] if entry.claim is not None}
    families = [family for _, family in table.index]
    measured = [family for name, family in comparison_gains.CLAIMED.items() if by_name[name].effect is not None]
    assert families == measured
    assert "pairs of siblings" in families
    row, claim = table.loc[(RUN, "pairs of siblings")], by_name["sibling"]
    assert (row["gain"], row["treebanks"]) == (claim.effect.value, claim.effect.treebanks)
    assert row[["PTB, published", "CTB, published"]].tolist() == [0.19, 0.16], "as in Table 2 of the paper"
    assert comparison_gains.by_family({RUN: []}).empty
