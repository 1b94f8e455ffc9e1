"""Tables, remarks and figure of the approximations, with results and without any."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results

from studies.across.approximations import anytime, figures, remarks, tables
from studies.across.approximations.contestants import CONTESTANTS, EXACT
from studies.across.approximations.settings import Approximations
from studies.across.approximations.synthetic import SYNTHETIC
from studies.common import params as parameters
from studies.common.solvers import LENGTHS
from studies.riedel_clarke_2006.integer_programs.measure import SPACES
from studies.site import charts
from studies.site.collect import Results
from studies.site.show import Table

REPOSITORY = Path(__file__).parents[1]
MODEL = "carreras+grandchild+sibling"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    params = parameters.load(REPOSITORY / "params.yaml")
    folder = tmp_path_factory.mktemp("results")
    synthetic_results.write(folder, params)
    return Results("this run", folder, params)


def test_costs_are_sums_over_all_lengths(results):
    data = tables.contest([results])
    costs = tables.costs(data)
    assert len(costs) == len(CONTESTANTS) * 2 * (1 + len(SYNTHETIC))
    exact = costs.xs((MODEL, "projective", EXACT), level=("model", "space", "solver")).iloc[0]
    assert (exact["sentences"], exact["best tree, %"], exact["proved, %"], exact["UAS"]) == (16, 100.0, 100.0, 95.0)
    words, seconds = 4 * (5 + 15 + 25 + 35), 0.01 * (1 + 11 + 21 + 31)
    assert exact["words / CPU s"] == pytest.approx(words / seconds)
    assert np.isnan(costs.xs(("random", "projective", EXACT), level=("model", "space", "solver"))["UAS"].iloc[0])
    by_length = tables.lengths(data)
    counts = by_length.xs("sentences", level="decoder")
    assert (counts == 4).all(axis=None), "the number of sentences is the first row of a space"
    assert by_length.index.get_level_values("decoder")[:2].tolist() == ["sentences", EXACT]
    assert str(by_length.columns[0]).startswith("1–")
    errors = tables.errors(data).xs((MODEL, "projective"), level=("model", "space"))
    assert errors.iloc[-1].tolist() == [75.0, 50.0, 25.0, 16.0]
    assert errors.iloc[0].tolist() == [75.0, 0.0, 75.0, 16.0]


def test_exact_search_over_crossing_trees_is_compared_with_projective_trees(results):
    data = tables.contest([results])
    exact = (data["model"] == MODEL) & (data["solver"] == EXACT) & (data["space"] == "non-projective")
    slower = data.assign(seconds=data["seconds"].where(~exact, 3 * data["seconds"]))
    speeds = [tables.exact_speeds(slower, MODEL, space) for space in ("projective", "non-projective")]
    assert (speeds[0] / speeds[1]).tolist() == pytest.approx([3.0] * len(results.corpora))
    assert list(speeds[0].index) == results.corpora
    text = str(remarks.crossing(slower, MODEL))
    assert "takes 3 times the CPU time of branch and bound over projective trees" in text
    assert f"16 sentences from {len(results.corpora)} treebank" in text
    assert not remarks.crossing(slower, "no such model").sentences
    assert tables.exact_speeds(data.iloc[:0], MODEL, "projective").empty


def test_what_is_faster_at_the_same_accuracy_is_worth_it(results):
    worth = tables.worth(tables.contest([results]))
    second = list(CONTESTANTS)[1]
    for model in (MODEL, *SYNTHETIC):
        rows = worth.loc[(model, "projective")]
        assert rows.index[rows["worth it"]].tolist() == [second]
        assert rows.loc[second, "times as fast"] == pytest.approx(2.0)
    trained, dense = (tables.worth(part) for part in anytime.kinds(tables.contest([results])))
    assert pd.concat([trained, dense]).equals(worth)
    text, words = str(remarks.answer(trained)), int(trained["words"].max())
    assert text.startswith(
        f"With the scores of the model {MODEL} and projective trees, the fastest approximation that is as accurate as "
        f"{EXACT} ({second}) is 2.0 times as fast and finds 100.0 % of the best trees"
    )
    assert " With the same scores and non-projective trees, on which the models were not trained, 1 of " in text
    assert (
        " approximations are as accurate as branch and bound and at least 1.1 times as fast, the fastest of them 2.0 "
        "times as fast." in text
    )
    relaxed = trained.loc[(MODEL, "projective", remarks.RELAXATION)]
    assert (
        f"takes {1 / relaxed['times as fast']:.1f} times the CPU time of {EXACT}, finds "
        f"{relaxed['best tree, %']:.1f} % of the best trees, and changes UAS by {relaxed['UAS']:+.2f} points" in text
    )
    slow = trained.copy()
    slow.loc[(MODEL, "projective", remarks.RELAXATION), "times as fast"] = 1 / 1250
    assert f"it takes 1,250 times the CPU time of {EXACT}, finds " in str(remarks.answer(slow))
    assert "of TurboParser" not in str(remarks.answer(trained.drop(remarks.RELAXATION, level="solver")))
    assert f"The figures about approximations are for 16 test sentences with {words:,} words, in one run." in text
    third = list(CONTESTANTS)[2]
    faster = trained.copy()
    faster.loc[(MODEL, "projective", third), ["times as fast", "UAS"]] = [400.0, -3.0]
    assert (
        f" The fastest of all approximations ({third}) is 400.0 times as fast and changes UAS by -3.00 points."
        in str(remarks.answer(faster))
    )
    assert (
        "On the test sentences of tr_twt together, an approximation counts as a better choice if it is at least 1.1"
        in text
    )
    meaning = f"in the {words:,} words this means not one word fewer with the right head"
    assert f"0.05 points of UAS ({meaning}; one word is {100 / words:.3f} points; " in text
    assert "means at most 1 word fewer" in str(remarks.answer(trained.assign(words=2000.0)))
    several = trained.assign(words=[5000.0, *[9000.0] * (len(trained) - 1)])
    assert "in the smallest sample, 5,000 words, this means at most 2 words fewer" in str(remarks.answer(several))
    brief = str(remarks.in_brief(trained))
    assert f"1 of {len(CONTESTANTS) - 1} approximations (projective trees)" in brief
    assert "none of" in str(remarks.in_brief(trained.assign(**{"worth it": False})))
    assert f"Better choices are 1 of {len(CONTESTANTS) - 1} for projective" in text
    totals = tables.synthetic_totals(tables.synthetic(tables.contest([results])))
    text = str(remarks.synthetic(totals, dense))
    assert (
        "Over all lengths together, this many approximations are at least 1.1 times as fast as branch and bound" in text
    )
    assert f"find as many best trees: 1 of {len(CONTESTANTS) - 1} for projective" in text
    best = tables.best_approximations(worth)
    row = best.loc[(MODEL, "projective", second)]
    assert row[["sentences", "proved", "as good and faster", "compared"]].tolist() == [16, 16, 1, len(CONTESTANTS) - 1]
    assert row[["times as fast", "UAS difference", "best tree, %"]].tolist() == pytest.approx([2.0, 0.0, 100.0])
    assert np.isnan(best.loc[("random (synthetic)", "projective", second), "UAS difference"])
    none = worth.assign(**{"worth it": False})
    assert "0 of" in str(remarks.answer(trained.assign(**{"worth it": False})))
    most_accurate = tables.best_approximations(none).loc[(MODEL, "projective")]
    assert most_accurate["as good and faster"].tolist() == [0]
    assert (
        "no approximation is as accurate as branch and bound and at least 1.1 times as fast. The fastest of all "
        "approximations (" in str(remarks.answer(trained.assign(**{"worth it": False})))
    )
    slow = tables.best_approximations(none.assign(**{"times as fast": 0.5})).loc[(MODEL, "projective")]
    assert slow.index.tolist() == ["none is faster"]
    assert slow[["as good and faster", "faster", "compared"]].values.tolist() == [[0, 0, len(CONTESTANTS) - 1]]


def test_scores_of_trained_models_and_synthetic_scores_have_their_own_pages(results):
    """No row of a page is about the scores of the other page, and no row is lost."""
    data = tables.contest([results])
    trained, dense = anytime.kinds(data)
    assert set(trained["model"]) == {MODEL}
    assert set(dense["model"]) == set(SYNTHETIC)
    assert len(trained) + len(dense) == len(data)
    assert tables.costs(dense).dropna(axis="columns", how="all").columns.intersection(["UAS", "LAS"]).empty


def test_the_figure_and_the_other_remarks(results):
    trained, dense = anytime.kinds(tables.over_time([results]))
    chosen = anytime.informative(trained)
    for curves, models in ((trained, 1), (dense, len(SYNTHETIC))):
        figure = figures.over_time(curves, chosen)
        assert len(figure.axes) == 2 * models
        assert figure.axes[0].get_xscale() == "log"
        names = [text.get_text() for text in figure.axes[0].texts]
        assert names == [*chosen, EXACT, figures.PROOFS]
    text = str(remarks.over_time(trained, chosen))
    assert f"The figure shows {EXACT} and 4 of {len(CONTESTANTS) - 1} approximations: {list(CONTESTANTS)[1]}; " in text
    assert f"Within 10 ms of CPU time per sentence, {EXACT} has the best tree for 100.0 % ({MODEL})" in text
    data = tables.contest([results])
    dense = tables.synthetic(data)
    assert dense.index.tolist() == [(m, s, low) for m in SYNTHETIC for s in SPACES for low in (0, *LENGTHS)]
    row = dense.loc[("random", "projective", 20)]
    assert row[["sentences", "as good and faster"]].tolist() == [4, list(CONTESTANTS)[1]]
    assert (row["ms"], row["proved, %"], row["times as fast"]) == pytest.approx((1e3 * 0.01 * 21 / 4, 100.0, 2.0))
    by_length = tables.by_length(dense)
    assert by_length.index.names == ["scores", "trees", "words"]
    assert by_length.index.unique("words").tolist() == ["1–10", "11–20", "21–30", "over 30"]
    assert by_length.loc[("random", "projective", "21–30"), "CPU ms"] == row["ms"]
    totals = tables.synthetic_totals(dense)
    total = totals.loc[("random", "projective")]
    assert total[["proved, %", "decoder"]].tolist() == [100.0, list(CONTESTANTS)[1]]
    assert total["another decoder is faster"].startswith("1 to ")
    assert total["low"] < total["proved, %"] == total["high"]
    compared = tables.worth(data[data["model"].isin(SYNTHETIC)])
    text = str(remarks.synthetic(totals, compared))
    assert f"With synthetic scores, {EXACT} proves 100.0 % [" in text
    assert f"With 0 of {len(totals)} kinds of scores and trees, no decoder that finds as many best trees" in text
    alone = tables.synthetic_totals(tables.synthetic(data[data["solver"].isin([EXACT, *list(CONTESTANTS)[2:]])]))
    assert f"With {len(alone)} of {len(alone)} kinds of scores and trees, " in str(remarks.synthetic(alone, compared))
    assert set(alone["another decoder is faster"]) == {"at no length"}
    times = tables.synthetic_times(data)
    assert times.columns[:2].tolist() == list(CONTESTANTS)[:2]
    assert len(charts.times(times).axes) == 4
    assert len(synthetic_results.approximation_rows((MODEL,))["within"]) == len(CONTESTANTS) * 2 * 3


def test_the_anytime_figure_shows_the_decoders_that_cover_most_best_trees():
    def curve(solver: str, *shares: float) -> list[dict]:
        place = {"model": "m", "space": "projective", "solver": solver}
        return [{**place, "ms": float(10**i), "best": best, "proved": best / 2} for i, best in enumerate(shares)]

    rows = curve(EXACT, 0, 0, 100) + curve("late", 0, 0, 90) + curve("early", 40, 40, 40)
    rows += curve("early, slower", 0, 40, 60) + curve("middle", 10, 60, 70)
    data = pd.DataFrame(rows)
    # means of the highest share: early and late 170 / 3, early and middle 170 / 3, late and middle 160 / 3
    assert anytime.highest(data, ["early", "late"]) == pytest.approx(170 / 3)
    assert anytime.informative(data, 1) == ["middle"]
    assert anytime.informative(data, 2) == ["late", "early"]
    assert anytime.informative(data, 3) == ["late", "early", "middle"], "one decoder of each method"
    assert anytime.informative(data.iloc[:0]) == []
    table = anytime.moments(data, "best", (1.0, 100.0))
    assert table.loc[("projective", "late")].tolist() == [0, 90]
    assert list(table.columns) == [("m", "1 ms"), ("m", "100 ms")]
    assert len(anytime.moments(data[data["solver"] != EXACT].assign(proved=0.0), "proved")) == 0


def test_a_run_without_any_of_it(results, tmp_path):
    nothing = Results("this run", tmp_path, results.params.changed(Approximations()))
    data = tables.contest([nothing])
    empty = [f(data) for f in (tables.costs, tables.lengths, tables.errors, tables.worth)]
    empty += [
        tables.over_time([nothing]),
        anytime.moments(tables.over_time([nothing]), "best"),
        tables.synthetic(data),
        tables.by_length(tables.synthetic(data)),
        tables.synthetic_times(data),
    ]
    assert all(table.empty for table in empty)
    assert all("no run has results for this table" in Table(table, "empty")._repr_html_() for table in empty)
    assert tables.best_approximations(empty[3]).empty
    for text in (remarks.answer(empty[3]), remarks.synthetic(tables.synthetic_totals(empty[-3]), empty[3])):
        assert "pipeline.run approximations" in str(text)


def test_the_front_figure_has_every_decoder(results):
    points = tables.front(tables.contest([results]))
    assert len(points) == 2 * len(CONTESTANTS)
    assert points["corpus"].unique().tolist() == ["tr_twt, projective", "tr_twt, non-projective"]
    assert points.set_index(["corpus", "system"]).loc[("tr_twt, projective", EXACT), "proved"] == 100.0
    figure = charts.accuracy_speed(points)
    fills = [line.get_fillstyle() for line in figure.axes[0].get_lines()[1:]]
    assert sorted(fills) == ["full", *["none"] * (len(CONTESTANTS) - 1)]
    assert tables.front(tables.contest([results]).iloc[:0]).empty
