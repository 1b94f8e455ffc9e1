"""Published figures, collected metrics and the tables made of them, with invented results."""

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
import yaml

from studies.across.corpora import tables as corpora_tables
from studies.hall_2006.transitions import tables as transitions_tables
from studies.qian_liu_2013.ablation import remarks as ablation_remarks
from studies.qian_liu_2013.ablation import tables as ablation_tables
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.qian_liu_2013.comparison import gains
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison import remarks as comparison_remarks
from studies.qian_liu_2013.comparison import tables as comparison_tables
from studies.qian_liu_2013.speed import remarks as speed_remarks
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.qian_liu_2013.tuning import remarks as tuning_remarks
from studies.qian_liu_2013.tuning import tables as tuning_tables
from studies.site import collect, frames, provenance, published, ratios
from studies.site.outcomes import outcomes
from studies.site.rows import sweep
from studies.site.show import NOTHING, Table
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]
QIAN_LIU = published.QIAN_LIU


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_results.project(tmp_path_factory.mktemp("project"), REPOSITORY)


@pytest.fixture(scope="module")
def results(root: Path) -> list[collect.Results]:
    return collect.provenances(root)


# --- published figures


def test_published_tables_are_whole() -> None:
    comparison = published.table(QIAN_LIU, "comparison")
    assert len(comparison) == 18  # rows of Table 2 that contain a figure
    assert comparison["id"].is_unique
    assert comparison["PTB"].between(92, 94).all()
    assert comparison["CTB"].dropna().between(86, 88).all()
    assert comparison["CTB"].isna().sum() == 6
    assert comparison.attrs["source"] == "Qian & Liu (2013), Table 2, page 44"
    for name in ("data-split", "speed", "calls", "training"):
        assert "page" in published.table(QIAN_LIU, name).attrs["source"]


def test_published_tables_agree_with_each_other() -> None:
    """Figures that the paper prints in two tables are equal in our copies of both, which would show copying errors."""
    comparison = published.table(QIAN_LIU, "comparison").set_index("id")
    speed = published.table(QIAN_LIU, "speed").set_index("id")
    calls = published.table(QIAN_LIU, "calls")
    for corpus in ("PTB", "CTB"):
        assert comparison.loc["combined", corpus] == speed.loc["k-10", f"{corpus} UAS"]
        assert comparison.loc["turbo-run", corpus] == speed.loc["turbo-full", f"{corpus} UAS"]
        assert comparison.loc["zhang-mcdonald-2012", corpus] == speed.loc["zhang-mcdonald-2012", f"{corpus} UAS"]
        pruned = speed.loc[["k-none", "k-20", "k-10", "k-5", "k-3"], [f"{corpus} UAS", f"{corpus} w/s"]]
        assert pruned[f"{corpus} UAS"].is_monotonic_decreasing
        assert pruned[f"{corpus} w/s"].is_monotonic_increasing
    np.testing.assert_allclose(calls["DP calls"] / calls["sentences"], calls["DP calls per sentence"], atol=0.05)


def test_unknown_published_names_list_the_known_names() -> None:
    with pytest.raises(InputError, match="choose from data-split, comparison"):
        published.table(QIAN_LIU, "table-9")
    with pytest.raises(InputError, match="no published figures"):
        published.table("nobody-1900", "comparison")


# --- collection


def test_rows_are_those_of_the_parameters(results: list[collect.Results]) -> None:
    for r in results:
        decoded, benchmark = frames.decode(r), frames.benchmark(r)
        ours = [run for run in r.params.rows.values() if run.everywhere]
        assert len(decoded) == len(benchmark) == len(r.params.corpora) * len(ours)
        assert list(decoded["model"]) == [run.model for run in ours] * len(r.params.corpora)
        assert set(frames.train(r)["model"]) == {run.model for run in ours}
        by_transitions = transitions_tables.measured(r)
        others = [run.name for run in r.params.rows.values() if run.system == "transition"]
        assert list(by_transitions["row"]) == others * len(r.params.corpora)
        assert (by_transitions["words_per_cpu_s"] > 0).all()
        assert set(frames.convert(r)["split"]) == {"train", "dev", "test"}
        assert set(frames.pruner(r)["k"]) == set(r.params.pruner.ks)
        assert set(frames.pruner_thresholds(r)["threshold"]) == set(r.params.pruner.thresholds)


def test_what_thresholds_leave(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    results = collect.provenances(tmp_path)
    table = corpora_tables.pruner_thresholds(results)
    corpus = table.index[0][0]
    assert list(table.columns) == [
        f"threshold {t}: {what}" for t in ("0.0001", "0.001", "0.01") for what in ("recall, %", "heads a word")
    ] + ["in"]
    assert table.loc[(corpus, "test"), "threshold 0.01: recall, %"] == pytest.approx(99)
    assert table.loc[(corpus, "test"), "threshold 0.001: heads a word"] == pytest.approx(6)
    for r in results:  # older runs did not measure thresholds
        for path in (r.folder / "metrics" / "pruner").glob("*.json"):
            path.write_text(json.dumps({"corpus": path.stem, "recall": json.loads(path.read_text())["recall"]}))
    assert corpora_tables.pruner_thresholds(collect.provenances(tmp_path)).empty


def test_files_of_a_removed_row_do_not_come_back(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    r = collect.this_run(tmp_path)
    removed = next(iter(r.params.rows))
    stale = tmp_path / "results" / "metrics" / "decode" / r.params.corpora[0] / f"{removed}.old.json"
    stale.write_text((stale.parent / f"{removed}.json").read_text())
    assert len(frames.decode(r)) == sum(row.everywhere for row in r.params.rows.values())


@pytest.mark.parametrize("damage", ["missing", "half written", "a row missing"])
def test_missing_and_damaged_files_are_named(tmp_path: Path, damage: str) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    r = collect.this_run(tmp_path)
    path = tmp_path / "results" / "metrics" / "benchmark" / f"{r.params.corpora[0]}.json"
    if damage == "missing":
        path.unlink()
    elif damage == "half written":
        path.write_text(path.read_text()[:100])
    else:
        path.write_text(json.dumps(json.loads(path.read_text())[1:]))
    with pytest.raises(InputError, match=rf"benchmark/{r.params.corpora[0]}.json.*run python -m studies"):
        frames.benchmark(r)


def test_without_a_reference_only_this_run_is_shown(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    (run,) = collect.provenances(tmp_path)
    assert (run.name, run.place("xx")) == ("this run", "xx")
    index = pd.MultiIndex.from_tuples([("this run", "a"), ("this run", "b")], names=["run", "corpus"])
    data = pd.DataFrame({"x": [1, 2], "in": "this run", "by": ["this run", "c"]}, index=index)
    assert Table(data, "c")._repr_html_().count("this run") == 1, "only the column `by` names another run"
    assert Table(data, "c")._repr_mimebundle_()["text/csv"].count("this run") == 1
    synthetic_results.project(tmp_path / "both", REPOSITORY)
    assert [r.place("xx") for r in collect.provenances(tmp_path / "both")] == ["xx, reference", "xx, this run"]
    assert Table(data, "c")._repr_html_().count("this run") == 4


def test_an_address_in_a_table_is_a_link_to_its_site() -> None:
    html = Table(pd.DataFrame({"source": ["https://www.example.org/a?b&c", "see https://x"]}), "c")._repr_html_()
    assert '<a href="https://www.example.org/a?b&amp;c">example.org</a>' in html
    assert '<td class="text">see https://x</td>' in html


def test_root_is_found_from_below_and_missed_elsewhere(root: Path, tmp_path: Path) -> None:
    assert collect.find_root(root / "results" / "metrics") == root
    with pytest.raises(InputError, match="no project here"):
        collect.find_root(tmp_path)


# --- tables


def test_comparison_shows_three_provenances_side_by_side(results: list[collect.Results]) -> None:
    table = comparison_tables.comparison(results, "perceptron")
    assert list(dict.fromkeys(table.columns.get_level_values(0))) == ["published", "reference", "this run", ""]
    row = table.loc[("this paper", "B&B + all sibling")]
    assert (row["published", "PTB"], row["published", "CTB"]) == (93.00, 87.05)
    for r in results:
        decoded = frames.decode(r).set_index(["corpus", "model", "learner", "decoder", "k"])
        for corpus in r.corpora:
            key = (corpus, "carreras+sibling", "perceptron", "tuned", "10")
            assert row[r.name, corpus] == decoded.loc[key, "uas"]


def test_every_row_without_a_figure_says_why(results: list[collect.Results]) -> None:
    for learner in ("perceptron", "mira"):
        table = comparison_tables.comparison(results, learner)
        ours = table.drop(columns=["published", ""], level=0)
        empty = ours.isna().any(axis=1)
        assert (table["", "note"][empty] != "").all()
        assert (table["", "note"][empty].str.contains("published figure only|not run")).all()
        assert not ours[~empty].empty


def test_a_model_that_the_parameters_do_not_list_is_not_run(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    params = yaml.safe_load((tmp_path / "params.yaml").read_text())
    del params["decode"]["carreras+sibling-perceptron"]
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    table = comparison_tables.comparison(collect.provenances(tmp_path), "perceptron")
    row = table.loc[("this paper", "B&B + all sibling")]
    assert row["", "note"] == "not run: this run has no such row"
    assert row["this run"].isna().all()
    assert row["reference"].notna().all()


def test_corpora_can_be_chosen_and_unknown_ones_are_refused(results: list[collect.Results]) -> None:
    name = results[0].corpora[0]
    assert set(comparison_tables.comparison(results, "mira", [name]).columns.get_level_values(1)) == {
        "PTB",
        "CTB",
        name,
        "note",
    }
    with pytest.raises(InputError, match="no results for corpus 'xx'"):
        comparison_tables.comparison(results, "mira", ["xx"])


def test_pruning_tables_take_each_figure_from_its_file(results: list[collect.Results]) -> None:
    this = results[-1]
    corpus = this.corpora[0]
    uas, speed, calls = (speed_tables.pruning_table(results, figure) for figure in ("UAS", "w/s", "DP calls"))
    keys = ["corpus", "model", "learner", "decoder", "k"]
    place = (corpus, "carreras+grandchild+sibling", "mira", "tuned", "none")
    decoded, timed = frames.decode(this).set_index(keys).loc[place], frames.benchmark(this).set_index(keys).loc[place]
    label = "branch and bound, no pruning"
    assert uas.loc[label, ("this run", corpus)] == decoded["uas"]
    assert speed.loc[label, ("this run", corpus)] == timed["words_per_cpu_s"]
    assert calls.loc[label, ("this run", corpus)] == decoded["dp_calls"] / decoded["sentences"]
    assert calls.loc[label, ("published", "PTB")] == 54.7
    assert uas.loc["branch and bound, k = 3", ("published", "CTB")] == 85.76


def test_tuning_compares_the_same_sentences_with_published_first(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    both = collect.provenances(tmp_path)
    data = tuning_tables.tunings(both)
    corpus = both[0].corpora[0]
    assert list(dict.fromkeys(data["corpus"])) == [f"{corpus}, reference", f"{corpus}, this run"]
    this = data[data["corpus"] == f"{corpus}, this run"].set_index("decoder")
    assert this.index[0] == "published"
    decoded = frames.decode(both[1]).set_index(["decoder", "k", "learner", "model"])
    tuned = decoded.loc[("tuned", "10", "mira", "carreras+grandchild+sibling")]
    assert this.loc["tuned", "dp_calls"] == tuned["dp_calls"] / tuned["sentences"]
    table = tuning_tables.tuning_table(data)
    ratio = this.loc["published", "nodes"] / this.loc["tuned", "nodes"]
    assert table.loc[(f"{corpus}, this run", "tuned"), ("times less than published", "nodes")] == ratio
    assert np.isnan(table.loc[(f"{corpus}, this run", "published"), ("times less than published", "nodes")])
    text = str(tuning_remarks.tuning(data))
    assert "Every tree is proved optimal." in text
    assert f"times the time of {this.index[-1]}" in text

    params = yaml.safe_load((tmp_path / "params.yaml").read_text())
    params["decoders"]["published"]["sentences"] = 20
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    synthetic_results.write(tmp_path / "results", collect.this_run(tmp_path).params)
    with pytest.raises(InputError, match="no corpus did the configurations decode the same"):
        tuning_tables.tunings([collect.this_run(tmp_path)])


def test_ablation_divides_by_the_first_configuration_of_the_same_corpus(root: Path) -> None:
    both = collect.provenances(root)
    data = ablation_tables.ablations(both)
    settings = both[1].params.section(Ablation)
    assert settings is not None
    names = list(settings.configurations)
    corpus = both[0].corpora[0]
    assert list(dict.fromkeys(data["corpus"])) == [f"{corpus}, reference", f"{corpus}, this run"]
    assert list(data["configuration"]) == 2 * names
    assert list(data["curve"].iloc[0]) == [2**e for e in range(11)]  # sorted by number of calls, not by digits
    corpus = f"{corpus}, this run"
    this = data[data["corpus"] == corpus].set_index("configuration")
    assert this.loc[names[0], "changed"] == NOTHING
    assert this.loc["published", "changed"] == "config = published, backbone = carreras"
    table = ablation_tables.ablation_table(data).loc[corpus]
    assert table.loc["published", ("this / first", "ms")] == this.loc["published", "ms"] / this.loc[names[0], "ms"]
    assert np.isnan(table.loc[names[0], ("this / first", "ms")])
    ranking = ablation_tables.ablation_ranking(data)
    assert ranking["ms"].is_monotonic_increasing
    nodes_of = [d.set_index("configuration")["nodes"] for _, d in data.groupby("corpus")]
    times = [nodes["published"] / nodes[names[0]] for nodes in nodes_of]
    assert ranking.loc["published", "nodes"] == pytest.approx(np.sqrt(times[0] * times[1]))
    text = str(ablation_remarks.ablation(data, ranking))
    assert f"({ranking.index[-1]}) times the time" in text
    assert "without proof" in text
    assert "proves every tree optimal" in str(ablation_remarks.ablation(data.assign(proved=100.0), ranking))


def test_a_reference_from_before_the_ablation_is_left_out(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY)
    path = tmp_path / "results" / "reference" / "params.yaml"
    settings = yaml.safe_load(path.read_text())
    del settings["ablation"]
    path.write_text(yaml.safe_dump(settings))
    both = collect.provenances(tmp_path)
    assert {name.split(", ")[1] for name in ablation_tables.ablations(both)["corpus"]} == {"this run"}
    with pytest.raises(InputError, match="no run has an ablation"):
        ablation_tables.ablations(both[:1])


def test_scores_that_differ_under_proof_are_not_hidden(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    this = collect.this_run(tmp_path)
    sentences = tuning_tables.tuned_sentences(this)
    by_corpus = tuning_tables.call_ratios(sentences)
    text = str(tuning_remarks.sentence_by_sentence(sentences, by_corpus))
    assert "their trees have the same score" in text
    (row,) = by_corpus.to_dict("records")
    published, tuned = (sentences.iloc[:, i].sum() for i in (1, 2))
    assert row["ratio"] == pytest.approx(published / tuned)
    assert row["low"] < row["ratio"] < row["high"]
    interval = f"{row['ratio']:.1f} [{row['low']:.1f}, {row['high']:.1f}]"
    assert f"By corpus, the ratio of the means is {interval} ({this.corpora[0]}), with 95 % intervals" in text
    run = next(run for run in this.params.rows.values() if run.decoder == "published")
    path = tmp_path / "results" / "predictions" / this.corpora[0] / "decode" / run.trained / f"{run}.csv"
    table = pd.read_csv(path)
    table.loc[3, "value"] -= 1
    table.loc[4, ["value", "status"]] = [0.0, "limit"]
    table.to_csv(path, index=False)
    sentences = tuning_tables.tuned_sentences(this)
    assert (len(sentences), sentences["proved"].sum(), sentences["same"].sum()) == (60, 59, 58)
    assert "On 1 of the 59 sentences that both prove, scores differ" in str(
        tuning_remarks.sentence_by_sentence(sentences, by_corpus)
    )


def test_ratios_of_means_have_the_interval_of_a_bootstrap_over_sentences() -> None:
    work = np.random.default_rng(1).gamma(2.0, 5.0, 400) + 1
    assert ratios.of_means([(2 * work, work)]) == pytest.approx((2, 2, 2))
    assert ratios.of_means([(2 * work, work), (8 * work[:50], work[:50])]) == pytest.approx((4, 4, 4))
    other = work * np.random.default_rng(2).lognormal(0.0, 0.4, 400)
    value, low, high = ratios.of_means([(work, other)])
    assert value == pytest.approx(work.sum() / other.sum())
    # the delta method for the logarithm of a ratio of means
    error = np.std(work / work.mean() - other / other.mean()) / np.sqrt(400)
    assert (np.log(high / value), np.log(value / low)) == pytest.approx((1.96 * error, 1.96 * error), rel=0.15)


def test_calls_of_the_ablation_have_intervals_if_sentences_are_stored(root: Path) -> None:
    both = collect.provenances(root)
    data, calls = ablation_tables.ablations(both), ablation_tables.ablation_calls(both)
    ranking = ablation_tables.ablation_ranking(data, calls)
    plain = ablation_tables.ablation_ranking(data)
    pd.testing.assert_frame_equal(ranking.drop(columns=["low", "high"]), plain)
    first = data["configuration"].iloc[0]
    assert (ranking.loc[first, ["low", "high"]] == 1).all()
    others = ranking.drop(first)
    assert (others["low"] < others["DP calls"]).all()
    assert (others["DP calls"] < others["high"]).all()
    text = str(ablation_remarks.ablation(data, ranking))
    row = others.loc[others["DP calls"].idxmax()]
    assert f"to {row['DP calls']:.2f} [{row['low']:.2f}, {row['high']:.2f}] ({row.name}) times its calls" in text
    assert "95 % intervals of calls by a bootstrap over sentences" in text
    assert "without a test" in str(ablation_remarks.ablation(data, plain))
    kept = dataclasses.replace(both[1], folder=root / "nowhere", info={"commit": "x"})
    assert ablation_tables.ablation_calls([both[0], kept]).empty


def test_remarks_follow_the_data(results: list[collect.Results]) -> None:
    table, tested = comparison_tables.comparison(results, "mira"), headlines.gains(results, models=gains.FAMILIES)
    text = str(gains.families(tested, "mira"))
    assert "In the paper all non-local factors together bring +0.36 UAS" in text
    assert "non-local factors and the learner mira, compared with our baseline in UAS: the model is" in text
    assert "has no gains" in str(gains.families(tested.iloc[:0], "mira"))
    names = ["run", "corpus", "learner", "system"]
    places = [("this run", corpus, "mira", "combined") for corpus in ("xx", "yy")]
    means = pd.DataFrame({"difference": [0.14, 0.3], "seeds": [3, 1]}, pd.MultiIndex.from_tuples(places, names=names))
    alone = pd.DataFrame({"difference": [-0.03, 0.3]}, means.index.droplevel("run"))
    beside = str(gains.with_one_seed(means, alone, "mira"))
    assert beside.endswith("as at the top of the page: xx -0.03 and +0.14 (3 seeds)."), "one seed has no mean"
    assert str(gains.with_one_seed(means, alone, "perceptron")) == ""
    assert str(gains.with_one_seed(means.iloc[:0], alone.iloc[:0], "mira")) == ""
    lifted = table.copy()
    ours = lifted.columns.get_level_values(0).isin(["reference", "this run"])
    lifted.loc[:, ours] = table.loc[:, ours] + 0.5
    assert "UAS with MIRA minus UAS with the perceptron: mean +0.50 over 5 pairs" in str(gains.learners(table, lifted))


def test_significance_tests_the_difference_from_the_baseline(results: list[collect.Results]) -> None:
    tested = comparison_tables.significance(results[-1])
    assert {"difference", "low", "high", "p"} <= set(tested.columns)
    assert (tested["low"] <= tested["difference"]).all()
    assert (tested["difference"] <= tested["high"]).all()
    uas = frames.decode(results[-1]).set_index(["model", "learner", "k"])["uas"]
    base, sibling = uas["carreras", "mira", "10"], uas["carreras+sibling", "mira", "10"]
    np.testing.assert_allclose(tested.loc[("tr_twt", "mira", "carreras+sibling"), "difference"], sibling - base)


def test_significant_differences_are_counted_and_named() -> None:
    rows = [("a", "mira", "x", 0.5, 0.01), ("a", "mira", "y", 0.7, 0.02), ("b", "mira", "x", -0.25, 0.04)]
    rows += [("b", "mira", "y", 0.1, 0.5), ("b", "mira", "z", 0.0, 1.0)]
    data = pd.DataFrame(rows, columns=["corpus", "learner", "system", "difference", "p"])
    data = data.assign(**{"p (words)": data["p"]}).set_index(["corpus", "learner", "system"])
    text = str(comparison_remarks.significance(data))
    assert "the system is significantly better in 2 of 5 comparisons, and the baseline in 1 (5 % level)." in text
    assert text.endswith("By chance alone, fewer than one would be significant.")
    assert "2 of 2 comparisons, and the baseline in none" in str(comparison_remarks.significance(data.iloc[:2]))
    named = outcomes(data, ["corpus", "learner"])
    assert named.loc[("a", "mira"), "significantly better"] == "y +0.70; x +0.50"
    assert named.loc[("b", "mira"), "significantly worse"] == "x \N{MINUS SIGN}0.25"
    assert named.loc[("b", "mira"), "not significant"] == 2


def test_every_table_of_accuracy_has_labelled_figures(results: list[collect.Results]) -> None:
    table = comparison_tables.accuracy(results)
    for r in results:
        decoded = frames.decode(r).set_index(["corpus", "model", "learner", "decoder", "k"])
        decoded_row = decoded.loc[("tr_twt", "carreras+sibling", "mira", "tuned", "10")]
        row = table.loc[("mira", "carreras+sibling", "tr_twt")][r.name]
        assert row.to_dict() == {
            "UAS": decoded_row["uas"],
            "LAS": decoded_row["las"],
            "complete": decoded_row["complete"],
            "complete, labelled": decoded_row["complete_labelled"],
            "proved, %": 100 * decoded_row["certified"] / decoded_row["sentences"],
        }
    assert (table["this run", "LAS"] < table["this run", "UAS"]).all()
    assert headlines.headline(results)["LAS, all factors"].notna().all()
    assert provenance.training(results)["dev LAS"].between(75, 76).all()
    las = speed_tables.pruning_table(results, "LAS")
    assert "published" not in las, "no labelled accuracy is published"
    assert las["this run"].notna().all(axis=None)
    assert ("", "LAS") in tuning_tables.tuning_table(tuning_tables.tunings(results))
    tested = comparison_tables.significance(results[-1], figure="LAS")
    las = frames.decode(results[-1]).set_index(["model", "learner", "k"])["las"]
    base, sibling = las["carreras", "mira", "10"], las["carreras+sibling", "mira", "10"]
    np.testing.assert_allclose(tested.loc[("tr_twt", "mira", "carreras+sibling"), "difference"], sibling - base)


def test_page_20_says_how_many_training_sentences_reached_the_limit(tmp_path: Path) -> None:
    """Page 20 shows the share of sentences at the limit in the last epoch, here 24 of 400.

    Files of older training runs have no such counts, and the page then has no such sentence.
    """
    run = collect.this_run(synthetic_results.project(tmp_path, Path(__file__).parents[1], with_reference=False))
    trained = provenance.training([run])
    graph = trained.dropna(subset=[provenance.CAPPED])
    assert len(graph) == len(trained) > 3
    assert set(graph[provenance.CAPPED]) == {6.0}
    remark = repr(comparison_remarks.training(graph, 100))
    assert "at most 100 dynamic programs" in remark
    assert "In the last epoch, 6.0 % of the training sentences of a model reached the limit" in remark
    assert "all factors" not in remark
    every = graph.rename(index={"carreras": "combined"})
    assert "With all factors" not in remark
    assert "model with all factors, the share is 6.0 %." in repr(comparison_remarks.training(every, 100))
    assert "without a limit" in repr(comparison_remarks.training(graph, 0))
    sliced = dataclasses.replace(run, params=dataclasses.replace(run.params, slice=48))
    assert set(frames.train(sliced)["capped"]) == {50.0}
    for path in (run.folder / "metrics" / "train").glob("*/*.json"):
        metrics = json.loads(path.read_text())
        for record in metrics["history"]:
            record.pop("capped", None)
        path.write_text(json.dumps(metrics))
    old = provenance.training([run])
    assert provenance.CAPPED not in old
    assert "did not count" in repr(comparison_remarks.training(old.iloc[:0], 100))


def test_without_labels_tables_leave_labelled_figures_out(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    params = tmp_path / "params.yaml"
    old = params.read_text()
    params.write_text(re.sub(r"(?m)^  labels: \S+", "  labels: none", old))
    assert params.read_text() != old
    shutil.rmtree(tmp_path / "results")
    synthetic_results.write(tmp_path / "results", collect.this_run(tmp_path).params)
    results = [collect.this_run(tmp_path)]
    assert list(comparison_tables.accuracy(results).columns) == [
        ("this run", name) for name in ("UAS", "complete", "proved, %")
    ]
    assert "LAS, all factors" not in headlines.headline(results)
    assert ("", "LAS") not in tuning_tables.tuning_table(tuning_tables.tunings(results))
    assert comparison_tables.significance(results[0], figure="LAS").empty


# --- display


def test_html_table_has_scopes_spans_and_a_caption() -> None:
    index = pd.MultiIndex.from_tuples([("g", "a"), ("g", "b"), ("h", "a")], names=["", "system"])
    columns = pd.MultiIndex.from_tuples([("ours", "x"), ("ours", "y"), ("", "note")])
    data = pd.DataFrame([[1.234, 1000, "<why>"], [float("nan"), 2, ""], [3.0, 3, ""]], index=index, columns=columns)
    html = Table(data, "A & B", digits=1)._repr_html_()
    assert "<caption>A &amp; B</caption>" in html
    assert '<th scope="colgroup" colspan="2">ours</th>' in html
    assert '<th scope="rowgroup" rowspan="2">g</th>' in html
    assert '<th scope="rowgroup">h</th>' in html, "a span of one row is not written"
    assert "<td>1.2</td><td>1,000</td>" in html
    assert f"<td>{NOTHING}</td>" in html
    assert html.endswith('</table>\n<ul class="notes">\n<li>g, a: &lt;why&gt;</li>\n</ul>'), "notes are below the table"
    assert "note</th>" not in html
    shared = Table(data.droplevel(0, axis=1).assign(note=["x", "", "x"]), "c")._repr_html_()
    assert "<li>g, a; h, a: x</li>" in shared, "rows with the same note share an item"
    model = Table(pd.DataFrame({"x": [1]}, index=["carreras+sibling"]), "c")._repr_html_()
    assert "carreras+<wbr>sibling" in model, "long names of models may break"


def test_short_names_of_rows_numbers_of_names_and_large_numbers() -> None:
    data = pd.DataFrame({"x": [9999.26, 12345.67]}, index=["pt_petrogold", "beam, 64"])
    html = Table(data, "c", digits=1)._repr_html_()
    assert '<table class="figures short">' in html
    assert ">beam,\u00a064</th>" in html, "a number stays beside its name"
    assert "<td>9,999.3</td>" in html
    assert "<td>12,346</td>" in html, "large numbers have no decimals"
    long = Table(data.rename(index={"beam, 64": "random walk, 64"}), "c")._repr_html_()
    assert '<table class="figures">' in long


def test_sentences_without_a_proof_are_described_by_their_lengths(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    this = collect.this_run(tmp_path)
    assert str(speed_remarks.without_proof(speed_tables.without_proof([this]))).startswith("Every sentence that these")
    for run, rows in zip(sweep(this.params)[-2:], ((3,), (5, 7)), strict=True):
        path = tmp_path / "results" / "predictions" / this.corpora[0] / "decode" / run.trained / f"{run}.csv"
        table = pd.read_csv(path, dtype={"words": str})
        table.loc[list(rows), "status"] = "limit"
        table.loc[list(rows), "n"] = [90 + row for row in rows]
        table.to_csv(path, index=False)
    data = speed_tables.without_proof([this])
    assert data["unproved"].tolist() == [1, 2]
    assert data[["shortest", "longest"]].to_numpy().tolist() == [[93, 93], [95, 97]]
    text = str(speed_remarks.without_proof(data))
    assert f"Without pruning, 2 of {data['sentences'].iloc[0]} sentences of " in text
    assert "(95 to 97 words) have no proof. They are too large" in text
    assert "(93 words) have no proof. Without" in text
    shutil.rmtree(this.folder / "predictions")
    assert speed_tables.without_proof([dataclasses.replace(this, info={"commit": "f" * 40})]).empty


def test_the_first_column_names_the_rows_if_its_labels_are_unique() -> None:
    index = pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")], names=["system", "role"])
    html = Table(pd.DataFrame({"UAS": [1.0, 2.0]}, index), "c")._repr_html_()
    assert '<th scope="row">a</th><td class="text">x</td>' in html
    assert '<th scope="col" class="index">system</th><th scope="col" class="text">role</th>' in html
    assert "rowgroup" not in html
