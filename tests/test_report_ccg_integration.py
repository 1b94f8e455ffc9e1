"""Tables of the joint CCG model, from invented figures.

A run without the joint model has no tables and says how to make them.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results

from studies.auli_lopez_2011.ccg import remarks as ccg_remarks
from studies.auli_lopez_2011.ccg.settings import CCG, CCGParser
from studies.auli_lopez_2011.ccg_integration import contrasts, figures, measure, summaries, tables
from studies.auli_lopez_2011.ccg_integration import remarks as ccg_integration_remarks
from studies.auli_lopez_2011.ccg_integration.settings import CCGIntegration
from studies.common import params
from studies.site import published, sentences
from studies.site.claims.judge import judge
from studies.site.claims.load import load
from studies.site.claims.measures import MEASURES
from studies.site.collect import Results
from studies.site.outcomes import outcomes
from treebound.systems.ccg.belief_propagation import SETTLED

PROJECT = Path(__file__).parents[1]


@pytest.fixture
def results(tmp_path: Path) -> list[Results]:
    """Return a run with one parser."""
    settings = CCG(("xx",), {"xx": CCGParser("xx")}, ("0.1:20", "0.01:20"))
    joint = CCGIntegration((1, 5, 25), 60)
    run_params = replace(params.load(PROJECT / "params.yaml"), corpora=("xx",)).changed(settings).changed(joint)
    synthetic_results.write(tmp_path, run_params)
    return [Results("this run", tmp_path, run_params)]


def test_tables_show_the_output_of_the_stage(results: list[Results]) -> None:
    scored = tables.accuracy(results)
    assert scored.loc[(tables.PRINTED, "CCGbank", "BP, k = 1"), ("dev", "reverse", "LF")] == 88.35
    assert scored.loc[(tables.PRINTED, "CCGbank", "DD, k = 25"), ("test", "reverse", "ST")] == 94.82
    ours = scored.loc[("this run", "xx")]
    usual = [tables.name(d, k) for d, k in expected_columns()]
    assert ours.index[::2].tolist() == usual
    rules = ["Viterbi" if name.startswith("BP") else "least risk" for name in usual]
    assert ours.index[1::2].tolist() == [f"{name}, {rule}" for name, rule in zip(usual, rules, strict=True)]
    assert ours.loc["parser alone", ("test", "AST", "LF")] == 81
    assert ours.loc["exact", ("test", "reverse", "LF")] == 87
    against = summaries.against_parser(tables.differences(results))
    by_rule = against.loc[("this run", "xx", "AST")]
    assert by_rule.loc[("least risk", "BP, k = 1"), ["difference", "low", "high"]].tolist() == [1, 1, 1]
    assert by_rule.loc[("Viterbi", "BP, k = 1, Viterbi"), ["difference", "low", "high"]].tolist() == [3, 3, 3]
    counted = outcomes(against, [*summaries.KEYS, summaries.RULE]).loc[("this run", "xx", "AST")]
    assert ", the largest: " in counted.loc["least risk", "significantly better"]
    assert summaries.AS_PUBLISHED not in counted.index
    between = contrasts.against_bp(results)
    rows = between.loc[("this run", "xx", "AST")]
    assert set(rows["iterations"]) == {25}
    assert set(rows.index) == {
        f"DD{steps}, k = 25{rule}" for rule in ("", ", least risk") for steps in ("", ", steps as published")
    }
    own_rules = contrasts.against_bp(results, own_rules=True)
    assert set(own_rules["rule of DD"]) == {"Viterbi"}
    assert set(own_rules["rule of BP"]) == {"least risk"}
    text = str(ccg_integration_remarks.decoders(between, against, own_rules))
    wins_of_own = [int((own_rules[end] * sign > 0).sum()) or "none" for end, sign in (("low", 1), ("high", -1))]
    counts = f"DD is better in {wins_of_own[0]} of {len(own_rules)} and BP in {wins_of_own[1]}."
    assert f"With the output rule of the paper for each, {counts}" in text
    better = int((between["low"] > 0).sum())
    start = (
        f"On test, dual decomposition (DD) is significantly better in {better or 'none'} of {len(between)} comparisons"
    )
    assert text.startswith(start)
    largest = between["difference"].idxmax()
    named = f"{largest[3]}; {largest[1]}, {largest[2]} order, {between.loc[largest, 'sentences']:,.0f} sentences"
    assert f"{sentences.difference(between.loc[largest])} ({named}) points (95 % intervals). A comparison is a" in text
    assert "There is 1 parser with one training each." in text
    spread = between.assign(difference=np.arange(len(between)) - 1.0)
    smallest, largest = (f"({row[3]}; {row[1]}, {row[2]} order, " for row in spread.index[[0, -1]])
    text_of_spread = str(ccg_integration_remarks.decoders(spread, against, own_rules)).replace("\u2212", "-")
    assert re.search(
        rf"is -1\.00 \[.*\] {re.escape(smallest)}.* to \+{len(between) - 2}\.00 \[.*\] {re.escape(largest)}",
        text_of_spread,
    )
    assert "Each comparison uses one output rule for both decoders (Viterbi and least risk)." in text
    by_paper = between.assign(**{"rule of DD": "Viterbi", "rule of BP": "least risk"})
    assert "the derivation of least risk, as in the paper." in str(
        ccg_integration_remarks.decoders(by_paper, against, own_rules)
    )
    assert f"in {int((against['low'] > 0).sum())} of {len(against)} comparisons, and the parser alone in" in text
    rules = str(ccg_integration_remarks.rules(scored))
    assert rules.endswith("A row with the name of a rule uses the named rule instead.")
    assert "uses the step sizes of the paper" in str(ccg_integration_remarks.steps(tables.curves(results)))
    tests = contrasts.named_tests(tables.differences(results)).loc[("this run", "xx", "AST", "BP, k = 1")]
    assert tests.loc["parser alone, least risk", "difference"] == 1
    optimum = contrasts.of_optimum(tables.differences(results)).loc[("this run", "xx", "AST")]
    assert optimum.index.tolist() == ["parser alone", "BP, k = 1, Viterbi"]
    every = contrasts.of_optimum(tables.differences(results))
    meaning = str(ccg_integration_remarks.meaning(every))
    rows = every.xs("BP, k = 1, Viterbi", level="against")
    (_, _, order), row = rows["difference"].idxmax(), rows.loc[rows["difference"].idxmax()]
    ends = f"[{row['low']:+.2f}, {row['high']:+.2f}] (xx, {order} order, {row['sentences']:.0f} sentences) points."
    assert "LF of the proved optimum minus LF of BP, k = 1, Viterbi is " in meaning
    assert f"{row['difference']:+.2f} {ends}" in meaning
    assert f"Each of the {len(every)} rows of the table is one comparison: a parser (1, one training each)" in meaning
    errors = tables.errors(results)
    assert errors.loc[("this run", "xx", "DD, k = 1"), ("dev", "AST", "below optimum, %")] == 100
    assert errors.loc[("this run", "xx", "DD, k = 1"), ("dev", "AST", "mean loss")] == 8
    assert errors.loc[("this run", "xx", "BP, k = 5"), ("dev", "AST", "below optimum, %")] == 0
    nearest = summaries.closest(errors)
    row = nearest.loc[("this run", "xx", "AST")]
    assert (row["proved optima"], row["parser alone, below optimum, %"]) == (49, 100)
    assert row["closest decoders"].startswith("BP, k = 5")
    text = str(ccg_integration_remarks.errors(nearest))
    assert "of the derivations of the parser alone score less than the proved optimum (49" in text
    assert "misses the optimum least often is BP, k = 5" in text
    exact_by_risk = summaries.closest(errors.rename(index={"BP, k = 5": "exact, least risk"}))
    assert not exact_by_risk["closest decoders"].str.contains("exact").any(), "it is not approximate"


def test_decoders_are_compared_by_output_rule_and_order() -> None:
    keys = ["run", "parser", "order", "decoder"]
    rows = [
        ("r", "xx", order, f"DD {rule}", 1.0 * high, 0.5 * high, 2.0 * high, rule, rule)
        for rule, order, high in (("a", "AST", 0), ("a", "reverse", -1), ("a", "reverse", 1), ("b", "AST", 0))
    ]
    columns = [*keys, "difference", "low", "high", "rule of DD", "rule of BP"]
    between = pd.DataFrame(rows, columns=columns).set_index(keys)
    between[["low", "high"]] = np.sort(between[["low", "high"]], axis=1)
    assert ccg_integration_remarks.against_bp(between).endswith(
        "would be significant, if the comparisons did not share sentences. DD is better in 1 of 2 comparisons with a "
        "in the reverse order; BP is better in 1 of 2 comparisons with a "
        "in the reverse order; neither is better in any of 1 comparisons with b."
    )
    other = between.iloc[-1:].assign(**{"rule of BP": "c"})
    assert ccg_integration_remarks.against_bp(other).endswith(
        " Neither is better in any of 1 comparisons with b for DD and c for BP."
    )


def expected_columns() -> list[tuple[str, int]]:
    return [("parser", 0), *((name, k) for name in ("bp", "dd", "dd-published") for k in (1, 5, 25)), ("exact", 0)]


def test_speed_curves_beams_and_proofs(results: list[Results]) -> None:
    speed = tables.speed(results)
    assert speed.loc[(tables.PRINTED, "CCGbank 00", "DD, k = 25"), ("reverse", "sentences / s")] == 1.9
    assert speed.loc[("this run", "xx", "parser alone"), ("AST", "sentences / s")] == 100
    assert speed.loc[("this run", "xx", "parser alone"), ("AST", "below optimum, %")] == 100
    shares = [100 / speed.loc[("this run", "xx", "parser alone"), (order, "sentences / s")] for order in tables.ORDERS]
    text = str(ccg_integration_remarks.cost(speed))
    slowest = [speed.loc[("this run", "xx"), (order, "sentences / s")].min() for order in tables.ORDERS]
    low, high = sorted(share * rate for share, rate in zip(shares, slowest, strict=True))
    assert text.endswith(f"takes {low:.0f} to {high:.0f} % of the time of the slowest decoder.")
    assert str(ccg_integration_remarks.cost(speed.loc[[tables.PRINTED]])) == ""
    curves = tables.curves(results)
    assert curves["iterations"].max() == 60
    assert curves[curves["iterations"] > 50]["LF"].isna().all()
    settled = tables.settled(results).loc[("this run", "xx", "AST")]
    assert settled.loc["BP"].tolist() == [0, 0, 0, 0, 0, 50]
    assert settled.loc["DD"].tolist() == [0, 100, 100, 100, 100, 100]
    assert tables.beams(results).xs("exact", level="decoder")["joint score"].tolist() == [5000, 5050]
    figure = figures.proof_times(tables.lengths(results).loc[["this run"]])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["AST order", "reverse order"]
    slowest, mean, *_ = figure.axes[0].lines
    assert (slowest.get_ydata() >= mean.get_ydata()).all()
    names = [text.get_text() for text in figure.axes[0].texts]
    assert names[:2] == ["slowest sentence", "xx"]
    bins = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert (bins[0], bins[-1]) == ("1–10", "≥ 41")
    short = tables.lengths(results).loc[["this run"]].query("`words from` < 21 or order == 'AST'")
    axes = figures.proof_times(short).axes[1]
    assert [text.get_gid() for text in axes.texts] == [None] * 2, "names of curves that end early have no leader lines"
    totals = summaries.proof_totals(tables.lengths(results))
    assert "The slowest proof took " in str(ccg_integration_remarks.proofs(totals, tables.lengths(results)))
    proofs = tables.lengths(results).loc[("this run", "xx", "AST")]
    assert proofs["sentences"].tolist() == [20, 20, 20, 20, 20]
    assert proofs["proved, %"].tolist() == [90, 100, 100, 100, 100]
    assert proofs["CPU ms"].tolist() == pytest.approx([10] * 5)
    gains = tables.differences(results)
    assert gains.loc[("this run", "xx", "AST exact", "AST parser"), "difference"] == pytest.approx(4)


def test_figures_have_the_expected_lines_and_panels(results: list[Results]) -> None:
    curves, lines = tables.curves(results), tables.baselines(results).loc[("this run", "xx")]
    assert [len(axes.lines) for axes in figures.accuracy(curves[curves["LF"].notna()], lines).axes] == [5, 5]
    settled_lines = figures.convergence(curves).axes[0].lines
    assert len({line.get_label() for line in settled_lines}) == len(settled_lines) == 6
    curves = tables.curves(results)
    beams = tables.of_parser(tables.beams(results), curves[curves["parser"] == "xx"]).reset_index()
    score, accuracy = figures.beams(beams).axes
    assert [text.get_text() for text in score.texts] == list(dict.fromkeys(beams["decoder"]))
    assert min(min(line.get_ydata()) for line in score.lines) == 0
    assert score.xaxis_inverted()
    assert len(accuracy.lines) == beams["decoder"].nunique()
    text = figures.last_in_words(curves[curves["parser"] == "xx"], "settled")
    assert "DD AST 100.0 % (60 iterations)" in text


def test_a_run_without_the_joint_model(results: list[Results]) -> None:
    none = [replace(results[0], params=results[0].params.changed(CCG()))]
    for table in (
        tables.errors,
        tables.curves,
        tables.settled,
        tables.beams,
        tables.lengths,
        tables.differences,
        tables.baselines,
    ):
        assert table(none).empty
    assert set(tables.accuracy(none).index.get_level_values("run")) == {tables.PRINTED}
    assert set(tables.speed(none).index.get_level_values("run")) == {tables.PRINTED}
    assert str(ccg_integration_remarks.errors(summaries.closest(tables.errors(none)))) == ccg_remarks.HOW
    gains, proofs = tables.differences(none), tables.lengths(none)
    between = contrasts.against_bp(none)
    assert str(ccg_integration_remarks.decoders(between, summaries.against_parser(gains), between)) == ccg_remarks.HOW
    assert str(ccg_integration_remarks.proofs(summaries.proof_totals(proofs), proofs)) == ccg_remarks.HOW
    assert contrasts.named_tests(gains).empty
    assert contrasts.of_optimum(gains).empty
    assert contrasts.untested(none, {}).empty


def test_claims_are_measured(results: list[Results]) -> None:
    (paper,) = (paper for paper in load() if paper.key == "auli-lopez-2011")
    ours = [claim for claim in paper.claims if claim.measure.endswith("the joint CCG")]
    assert len(ours) > 10
    for claim in ours:
        assert set(claim.rows) <= set(MEASURES[claim.measure].names(results[0].params))
        assert list(MEASURES[claim.measure].read(results[0], claim.rows, claim.compare))
    (faster,) = (claim for claim in ours if claim.name == "dd-converges-faster")
    assert "each changes by less than 10⁻⁶" in faster.claim
    assert SETTLED == 1e-6
    assert "a smaller tolerance than 10⁻⁶ takes belief propagation more iterations" in faster.otherwise
    dev, test = MEASURES["LF of the joint CCG"].read(results[0], ["reverse bp 1", "AST bp 1"], "each")
    assert (dev.place, round(dev.value, 9)) == ("xx, dev", 2)
    assert (test.low, test.high) == (pytest.approx(2), pytest.approx(2))
    (worse, _) = MEASURES["search errors of the joint CCG"].read(results[0], ["reverse parser"], "each")
    assert (worse.value, worse.high) == (100, 100)
    (proved, _) = MEASURES["proved of the joint CCG"].read(results[0], ["reverse exact"], "each")
    assert proved.value == 98
    (settled,) = MEASURES["settled of the joint CCG"].read(results[0], ["AST bp"], "each")
    assert settled.value == 50
    (speed,) = MEASURES["speed of the joint CCG"].read(results[0], ["AST bp 1", "AST parser"], "each")
    assert speed.value == 0.5
    assert (speed.low, speed.high) == (pytest.approx(0.5), pytest.approx(0.5))  # twice as long in every part
    (rule,) = {
        round(m.value, 9)
        for m in MEASURES["LF of the joint CCG"].read(
            results[0], ["reverse parser least-risk", "reverse parser"], "each"
        )
    }
    assert rule == 2
    convergence = MEASURES["convergence of the joint CCG"].read
    (faster,) = convergence(results[0], ["reverse bp", "reverse dd-published"], "each")
    # half of the BP runs end after 60 iterations without convergence
    assert (faster.value, faster.low, faster.high) == (12, 12, 12)
    assert not list(convergence(results[0], ["reverse bp", "reverse bp"], "each"))


def test_a_run_from_before_the_output_rules_were_crossed(results: list[Results]) -> None:
    """An older run has only the paper's output rules, one time per decoder and no counts.

    Claims that need more data are not tested.
    """
    path = results[0].folder / "metrics"
    for name in (path / "ccg-integration" / "xx.json", path / "timing" / "ccg-integration" / "xx.json"):
        data = json.loads(name.read_text())
        old_rows = [row for row in data["columns"] if measure.column_of(row).usual and row["decoder"] != "dd-published"]
        data["columns"] = [{k: v for k, v in row.items() if k not in ("output", "seconds")} for row in old_rows]
        for part in ("settled", "counts"):
            data.pop(part, None)
        if "differences" in data:
            names = [measure.column_named(row[end]) for row in data["differences"] for end in ("a", "b")]
            usual = [c.usual and c.decoder != "dd-published" for _, c in names]
            pairs = zip(data["differences"], usual[::2], usual[1::2], strict=True)
            data["differences"] = [row for row, a, b in pairs if a and b]
            data["curves"] = [row for row in data["curves"] if row["decoder"] != "dd-published"]
        name.write_text(json.dumps(data))
    name = path / "timing" / "ccg" / "xx.json"
    data = json.loads(name.read_text())
    del data["seconds"]
    name.write_text(json.dumps(data))
    assert len(tables.accuracy(results).loc[("this run", "xx")]) == 8
    assert (
        len(tables.speed(results).loc[("this run", "xx")]) == len(tables.errors(results).loc[("this run", "xx")]) == 8
    )
    curves, lines = tables.curves(results), tables.baselines(results).loc[("this run", "xx")]
    assert [len(axes.lines) for axes in figures.accuracy(curves[curves["LF"].notna()], lines).axes] == [4, 4]
    rules = summaries.against_parser(tables.differences(results)).index.unique(summaries.RULE)
    assert list(rules) == [summaries.AS_PUBLISHED]
    measured = {
        claim.name: list(MEASURES[claim.measure].read(results[0], claim.rows, claim.compare))
        for paper in load()
        if paper.key == "auli-lopez-2011"
        for claim in paper.claims
    }
    untested = {name for name, values in measured.items() if not values}
    assert untested == {
        *("bp-beats-parser", "bp-beats-parser-ast", "dd-beats-parser", "dd-as-good-as-bp", "dd-converges"),
        *("dd-converges-faster", "cost-dd", "optimum-better", "least-risk-better", "joint-training"),
    }
    assert [value.low == value.low for value in measured["speed"] + measured["cost-bp"]] == [False, False]
    (paper,) = (paper for paper in load() if paper.key == "auli-lopez-2011")
    table = contrasts.untested(results, {"this run": judge(results, [paper])}).loc["this run"]["missing in the run"]
    assert table["dual decomposition converges"] == "DD, steps as published (reverse order, Viterbi)"
    assert table["both algorithms are equally accurate"] == (
        "DD, steps as published, k = 25 (reverse order, Viterbi); BP, k = 25 (reverse order, Viterbi)"
    )
    assert str(ccg_integration_remarks.missing(table)).startswith(f"{len(table)} claims are not tested")
    assert "All rows use the rules of the paper" in str(ccg_integration_remarks.rules(tables.accuracy(results)))
    assert "No run on this page" in str(ccg_integration_remarks.steps(tables.curves(results)))
    between = contrasts.against_bp(results)
    assert between.index.tolist() == [("this run", "xx", order, "DD, k = 25") for order in tables.ORDERS]
    assert contrasts.of_optimum(tables.differences(results)).index.unique("against").tolist() == [
        "parser alone",
        "BP, k = 1",
    ]


def test_the_interval_of_a_ratio_of_speeds_covers_other_parts() -> None:
    """The interval of a speed ratio contains the true ratio about as often as its level says.

    Speeds are simulated for 27 parts of 10 sentences, whose lengths vary much more than the ratio.
    """
    from studies.auli_lopez_2011.claims import faster  # import site.claims first, because it imports this module

    rng, inside, widths = np.random.default_rng(2), 0, []
    for _ in range(400):
        length = rng.gamma(2, 1, 27)
        a, b = length * rng.lognormal(0, 0.1, 27), 2 * length * rng.lognormal(0, 0.1, 27)
        ratio = faster("xx", [270 / a.sum(), 270 / b.sum()], [a.tolist(), b.tolist()])
        assert ratio.low < ratio.value < ratio.high
        inside += ratio.low <= 2 <= ratio.high
        widths.append(np.log(ratio.high / ratio.low))
    assert 0.92 * 400 <= inside <= 0.985 * 400
    assert np.mean(widths) < 0.15
    assert np.isnan(faster("xx", [1.0, 2.0], [None, [1.0]]).low)
    assert np.isnan(faster("xx", [1.0, 2.0], [[1.0], [1.0]]).low)


def test_joint_training_is_compared_with_the_parser_that_it_began_with(tmp_path: Path) -> None:
    parsers = {name: CCGParser("xx") for name in ("xx", "xx-joint", "yy")}
    run_params = replace(params.load(PROJECT / "params.yaml"), corpora=("xx",)).changed(
        CCG(("xx",), parsers, ("0.1:20",))
    )
    synthetic_results.write(tmp_path, run_params)
    read = MEASURES["joint training, CCG"].read
    effects = list(read(Results("this run", tmp_path, run_params), ["reverse bp 25"], "each"))
    assert [(effect.place, effect.value) for effect in effects] == [("xx, dev", 0), ("xx, test", 0)]
    assert [(effect.low, effect.high) for effect in effects] == [(0, 0)] * 2  # all sentences have the same counts
    file = tmp_path / "metrics" / "ccg-integration" / "xx-joint.json"
    data = json.loads(file.read_text())
    counts = data["counts"]["dev"]["reverse"]
    counts["bp 25"] = [[right - i % 2, *others] for i, (right, *others) in enumerate(counts["bp 25"])][1:]
    counts["sentences"] = counts["sentences"][1:]
    del data["counts"]["test"]
    file.write_text(json.dumps(data))
    dev, test = read(Results("this run", tmp_path, run_params), ["reverse bp 25"], "each")
    assert dev.value == pytest.approx(-25 / 49)
    assert dev.low < dev.value < dev.high < 0
    assert (test.value, np.isnan(test.low)) == (0, True)


def test_published_tables_have_the_papers_figures() -> None:
    assert len(published.table(tables.PAPER, "accuracy")) == 5 * 4
    assert published.table(tables.PAPER, "training")["LF"].tolist() == [86.7, 86.7, 86.8, 87.2, 86.3, 85.6]
    assert published.table(tables.PAPER, "unsettled")["sentences"].max() == 41


@pytest.mark.filterwarnings("error")
def test_the_rows_of_a_parser_are_found_in_any_order() -> None:
    keys = ["run", "parser", "beam"]
    rows = [
        ("reference", "b", 1, 3.0),
        ("reference", "a", 1, 4.0),
        ("reference", "b", 2, 5.0),
        ("this run", "b", 1, 6.0),
    ]
    table = pd.DataFrame(rows, columns=[*keys, "LF"]).set_index(keys)
    curve = pd.DataFrame({"run": ["reference"] * 2, "parser": ["b"] * 2})
    assert tables.of_parser(table, curve)["LF"].to_dict() == {1: 3.0, 2: 5.0}
