"""Claims of the papers and their verdicts, on invented figures, and the shipped files of claims."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results
import yaml

from studies.common import params as parameters
from studies.qian_liu_2013.comparison.files import claimed
from studies.site import claim_pages, claims, collect, export, published, sources
from studies.site.claims.judge import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_EFFECT,
    NOT_TESTED,
    REPLICATED,
    SMALLER,
    Judged,
    effect_of,
    judge,
)
from studies.site.claims.load import Claim, Paper, load, read
from studies.site.claims.measured import Measured, Scale, exact, over_seeds, share
from studies.site.claims.measures import PAPERS
from studies.site.claims.show import Replication, frame, replication
from studies.site.pooled import Z
from studies.site.rows import named_rows
from studies.site.show import typeset
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]
STUDIES = REPOSITORY / "src" / "studies"
TEXTS = {"name": "a", "claim": "It helps.", "section": "4", "published": "1.0"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with the reference's parameters."""
    folder = tmp_path_factory.mktemp("project") / "project"
    return synthetic_results.project(folder, REPOSITORY, overlay="reference.yaml")


@pytest.fixture(scope="module")
def unchanged(root: Path) -> collect.Results:
    """Return the run for tests that change no file, so that its parameters are read only once."""
    return collect.this_run(root)


@pytest.fixture
def run(root: Path, tmp_path: Path) -> collect.Results:
    """Return a copy of the run whose files a test may change."""
    shutil.copytree(root, tmp_path / "project")
    return collect.this_run(tmp_path / "project")


def claim(**settings: object) -> Claim:
    return Claim.model_validate(TEXTS | {"measure": "UAS", "rows": ("a", "b"), "than": 0} | settings)


def judged(run: collect.Results, **settings: object) -> Judged:
    (judgement,) = judge([run], [Paper(key="p", cite="P", title="T", claims=(claim(**settings),))])
    return judgement


def change(run: collect.Results, place: str, **figures: object) -> None:
    """Overwrite figures in the metrics files that match the pattern `place`."""
    for path in sorted((run.folder / "metrics").glob(place)):
        path.write_text(json.dumps(json.loads(path.read_text()) | figures))


# --- verdicts


def shown(*values: float, half: float = 0.05) -> tuple[Measured, ...]:
    """Return one measured value per treebank, with an interval of half width `half`.

    If `half` is NaN, there are no intervals.
    """
    return tuple(Measured(f"t{i}", value, value - half, value + half) for i, value in enumerate(values))


def verdict(values: tuple[Measured, ...], **settings: object) -> str:
    return Judged(Paper(key="p", cite="P", title="T"), claim(**settings), values).verdict


@pytest.mark.parametrize(
    ("settings", "values", "expected"),
    [
        # no effect was published, so any effect in the right direction replicates the claim
        ({}, (0.4, 0.5, 0.45, 0.42, 0.48), REPLICATED),
        # the pooled interval is [0.40, 0.50]
        ({"effects": [0.5], "margin": 0.1}, (0.4, 0.5, 0.45, 0.42, 0.49), REPLICATED),
        (
            {"effects": [0.4, 0.6], "margin": 0.1},
            (0.4, 0.5, 0.45, 0.42, 0.49),
            REPLICATED,
        ),  # the published effect is the mean of both
        ({"effects": [0.6], "margin": 0.1}, (0.4, 0.5, 0.45, 0.42, 0.48), SMALLER),
        # the effect exceeds the published one
        ({"effects": [0.1], "margin": 0.1}, (0.4, 0.5, 0.45, 0.42, 0.48), REPLICATED),
        ({"effects": [0.6], "margin": 0.1}, (0.02, -0.02, 0.01, 0.03, -0.01), NO_EFFECT),
        ({"effects": [0.6], "margin": 0.02}, (0.02, -0.02, 0.01, 0.03, -0.01), INCONCLUSIVE),
        ({}, (0.02, -0.02, 0.01, 0.03, -0.01), INCONCLUSIVE),  # without a published effect, no size can be excluded
        ({"effects": [0.2], "margin": 0.1}, (0.4, -0.4, 0.2, 0.3, -0.1), INCONCLUSIVE),
        ({"effects": [0.2], "margin": 0.1}, (-0.4, -0.5, -0.45), CONTRADICTED),
        ({"test": "less", "effects": [-0.5], "margin": 0.1}, (-0.4, -0.5, -0.45, -0.42, -0.49), REPLICATED),
        ({"test": "less", "effects": [-0.6], "margin": 0.1}, (-0.4, -0.5, -0.45, -0.42, -0.48), SMALLER),
        ({"test": "less", "effects": [-0.6], "margin": 0.1}, (0.02, -0.02, 0.01, 0.03, -0.01), NO_EFFECT),
        ({"test": "at least", "than": -0.18}, (-0.02, 0.02, 0.0), REPLICATED),
        # the treebanks agree by chance: the interval extends 1.96 standard errors of their own
        ({"test": "at most", "than": 5}, (5.0, 5.0), INCONCLUSIVE),
        ({"test": "at most", "than": 5.01}, (5.0, 5.0), INCONCLUSIVE),
        ({"test": "at most", "than": 5.03}, (5.0, 5.0), INCONCLUSIVE),
        ({"test": "at most", "than": 5.04}, (5.0, 5.0), REPLICATED),
        ({"test": "more", "than": 5.04}, (5.0, 5.0), CONTRADICTED),
        ({"test": "within", "tolerance": 0.5}, (0.1, -0.1, 0.0), REPLICATED),
        ({"test": "within", "tolerance": 0.05}, (0.1, -0.1, 0.0), INCONCLUSIVE),
        ({"test": "within", "tolerance": 0.5}, (1.1, 0.9, 1.0), CONTRADICTED),
        (
            {"measure": "speed", "than": 1, "effects": [4, 9], "margin": 1.1},
            (5.0, 6.0, 7.0),
            REPLICATED,
        ),  # the geometric mean is 6
        ({"measure": "speed", "than": 1, "effects": [9], "margin": 1.1}, (5.5, 6.0, 6.5), SMALLER),
        # the effect is within 10 %
        ({"measure": "speed", "than": 1, "effects": [2], "margin": 1.1}, (1.01, 0.99, 1.02), NO_EFFECT),
        ({"otherwise": "fewer epochs"}, (0.4, 0.5, 0.45, 0.42, 0.48), INCONCLUSIVE),
        ({}, (), NOT_TESTED),
    ],
)
def test_the_pooled_interval_is_compared(settings: dict, values: tuple[float, ...], expected: str) -> None:
    assert verdict(shown(*values), **settings) == expected


def test_one_treebank_has_the_interval_of_its_sentences() -> None:
    measured = shown(0.4)
    assert verdict(measured, effects=[0.44], margin=0.1) == REPLICATED
    assert verdict(measured, effects=[0.5], margin=0.1) == SMALLER
    assert verdict((exact("x", 0.4),)) == INCONCLUSIVE
    reason = Judged(Paper(key="p", cite="P", title="T"), claim(), (exact("x", 0.4),)).because
    assert "The value has no interval" in reason
    assert "one treebank" in reason
    judgement = Judged(Paper(key="p", cite="P", title="T"), claim(), shown(0.4))
    assert judgement.brief.endswith("(t0), one treebank.")
    assert judgement.because.endswith("one treebank, which says nothing about others.")
    # two splits of one treebank do not count as two treebanks
    both = tuple(Measured(f"x, {split}", 0.4, 0.3, 0.5) for split in ("dev", "test"))
    effect = effect_of(both)
    assert (effect.treebanks, effect.pooled) == (1, None)
    assert (effect.low, effect.high) == pytest.approx((0.3, 0.5))


def test_all_of_them_is_not_nearly_all() -> None:
    every = (share("x", 50, 50), share("y", 60, 60))
    but_one = (share("x", 49, 50), share("y", 60, 60))
    settings = {"measure": "proved", "rows": ("a",), "test": "all", "than": None}
    assert verdict(every, **settings) == REPLICATED
    assert verdict(but_one, **settings) == CONTRADICTED
    assert verdict(but_one, **settings, limit="stopped after 9 steps") == INCONCLUSIVE
    judgement = Judged(Paper(key="p", cite="P", title="T"), claim(**settings, limit="stopped after 9 steps"), but_one)
    assert judgement.because.startswith("Row a: below 100 % on 1 of 2 treebanks; the lowest value is 98.0 %")
    assert Judged(judgement.paper, judgement.claim, every).because == "Row a: 100 % on all 2 treebanks."
    splits = (share("x, dev", 50, 50), share("x, test", 60, 60))
    reason = Judged(judgement.paper, judgement.claim, splits).because
    assert reason == "Row a: 100 % on each of 2 measurements (x, dev; x, test)."
    assert "were stopped after 9 steps" in judgement.because


def test_shares_and_ratios_are_pooled_on_their_scales() -> None:
    pooled = effect_of((share("x", 99, 100), share("y", 100, 100), share("z", 98, 100)), Scale.ODDS)
    assert 90 < pooled.low < pooled.value < pooled.high < 100
    pooled = effect_of((exact("x", 2.0), exact("y", 8.0)), Scale.LOG)
    assert pooled.value == pytest.approx(4)
    assert 0 < pooled.low < pooled.high


def test_a_pooled_share_lies_between_the_shares() -> None:
    every = effect_of((share("x", 72, 72), share("y", 80, 80)), Scale.ODDS, 5.0)
    assert (every.value, every.high) == (100, 100)
    assert 90 < every.low < 99.5, "each treebank has a standard error although they agree"
    assert every.pooled is not None
    assert 0 < float(every.pooled.p) < 0.2
    none = effect_of((share("x", 0, 72), share("y", 0, 80)), Scale.ODDS)
    assert (none.value, none.low) == (0, 0)
    alone = effect_of((share("x, dev", 72, 72), share("x, test", 80, 80)), Scale.ODDS)
    assert (alone.treebanks, alone.value, alone.high) == (1, 100, 100)
    assert 90 < alone.low < 99.5


def test_a_pooled_correlation_and_its_prediction_stay_below_one() -> None:
    strong = tuple(Measured(name, r, r - 0.1, r + 0.05) for name, r in (("x", 0.9), ("y", 0.8), ("z", 0.6)))
    effect = effect_of(strong, Scale.FISHER)
    assert effect.pooled is not None
    assert 0.6 < effect.value < 0.9
    assert Scale.FISHER.back(float(effect.pooled.predicted_high)) < 1
    assert Scale.FISHER.to(1.0) < np.inf


def test_values_beside_a_claim_are_reported_and_decide_nothing() -> None:
    paper, values = Paper(key="p", cite="P", title="T"), shown(0.4, 0.5, 0.45)
    two = claim(beside=("c", "d"))
    entry = Judged(paper, two, values, shown(-0.4, -0.5))
    assert entry.verdict == Judged(paper, two, values).verdict == REPLICATED
    assert "Beside this test, c against d: -0.40" in entry.because
    assert "Beside this test" in entry.brief
    pooled = Judged(paper, two, values, shown(-0.4, -0.5, -0.3)).because
    assert "Beside this test, c against d: -0.40" in pooled
    assert "over 3 treebanks" in pooled.partition("Beside")[2]


def test_equal_effects_are_tested_against_both_ends() -> None:
    paper = Paper(key="p", cite="P", title="T")
    within = claim(test="within", tolerance=0.5)
    near = Judged(paper, within, shown(0.1, -0.1, 0.0))
    assert near.verdict == REPLICATED
    assert near.p is not None
    assert near.p < 0.025
    far = Judged(paper, within, shown(1.1, 0.9, 1.0))
    assert far.verdict == CONTRADICTED
    assert far.p is not None
    assert far.p < 0.025


def test_an_undecided_effect_below_the_published_one_is_named() -> None:
    paper, values = Paper(key="p", cite="P", title="T"), shown(0.2, -0.2, 0.1, 0.0)
    below = Judged(paper, claim(effects=[1.3], margin=0.1), values)
    assert below.words == "inconclusive: not as large as published"
    assert Judged(paper, claim(effects=[0.1], margin=0.1), values).words == "inconclusive: wide interval"
    assert Judged(paper, claim(), values).words == "inconclusive: wide interval"
    differs = Judged(paper, claim(effects=[1.3], otherwise="fewer epochs"), values)
    assert differs.words == "inconclusive: test differs"


def test_differences_between_seeds_widen_the_interval() -> None:
    rows = [[0.4, 0.3, 0.5], [0.6, 0.5, 0.7], [0.2, 0.1, 0.3]]
    (several, alone) = over_seeds([("x", rows), ("y", rows[:1])])
    assert (several.value, several.seeds) == (pytest.approx(0.4), 3)
    sentences, training = (0.1 / Z) ** 2, np.var([0.4, 0.6, 0.2], ddof=1) / 3
    assert several.high - several.value == pytest.approx(Z * np.sqrt(sentences + training))
    assert (alone.low, alone.high, alone.seeds) == (0.3, 0.5, 1)


def test_p_values_are_adjusted_within_a_paper(unchanged: collect.Results) -> None:
    paper = next(paper for paper in load() if paper.key.startswith("qian"))
    judged = [entry for entry in judge([unchanged], [paper]) if entry.claim and not entry.claim.ours]
    pairs = [(judgement.p, judgement.adjusted) for judgement in judged if judgement.adjusted is not None]
    assert len(pairs) > 5
    assert all(p <= adjusted <= 1 for p, adjusted in pairs)
    least = min(pairs)
    assert least[1] == pytest.approx(min(1, least[0] * len(pairs)))


def test_claims_of_the_paper_and_of_this_project_are_adjusted_apart(unchanged: collect.Results) -> None:
    paper = next(paper for paper in load() if paper.key.startswith("qian"))
    tested = [entry.claim for entry in judge([unchanged], [paper]) if entry.adjusted is not None and entry.claim]
    mixed = [entry.model_copy(update={"ours": i % 3 == 0}) for i, entry in enumerate(tested)]
    both = judge([unchanged], [paper.model_copy(update={"claims": tuple(mixed)})])
    for ours in (False, True):
        alone = [entry for entry in mixed if entry.ours == ours]
        expected = judge([unchanged], [paper.model_copy(update={"claims": tuple(alone)})])
        adjusted = [entry.adjusted for entry in both if entry.claim is not None and entry.claim.ours == ours]
        assert adjusted == [entry.adjusted for entry in expected]
        assert len(adjusted) > 1


def test_what_cannot_be_tested_says_why() -> None:
    paper = Paper(key="p", cite="P", title="T")
    needs = Judged(paper, Claim.model_validate(TEXTS | {"needs": "a licence"}))
    assert (needs.verdict, needs.because) == (NOT_TESTED, "A test of this claim needs a licence.")
    assert Judged(paper, None).verdict == NOT_TESTED
    assert (
        Judged(paper, claim(), missing="the run lacks the row “a”").because == "Not tested: the run lacks the row “a”."
    )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"rows": ("great-aunt", "carreras")}, "Not tested: the run lacks the row “great-aunt”."),
        ({"rows": ("no one", "great-aunt")}, "Not tested: the run lacks the rows “no one” and “great-aunt”."),
        ({"rows": ("all factors", "carreras"), "corpora": ("ptb",)}, "Not tested: the run lacks the corpus “ptb”."),
        (
            {"measure": "LF of CCG", "rows": ("AST", "widest worst")},
            "Not tested: the run lacks the row “widest worst”.",
        ),
        ({"measure": "UAC", "rows": ("constraints", "rules")}, "Not tested: the run lacks the row “rules”."),
        ({"measure": "search", "rows": ("default", "slow")}, "Not tested: the run lacks the row “slow”."),
        ({"measure": "UAS of samplers", "rows": ("combined", "x")}, "Not tested: the run lacks the row “x”."),
        ({"measure": "UAS of classifiers", "rows": ("quadratic F5", "x")}, "Not tested: the run lacks the row “x”."),
        ({"measure": "score in the end", "rows": ("greedy", "x")}, "Not tested: the run lacks the row “x”."),
        ({"measure": "LF of the joint CCG", "rows": ("AST parser", "x")}, "Not tested: the run lacks the row “x”."),
    ],
)
def test_a_claim_without_results_names_what_is_missing(settings: dict, reason: str, unchanged: collect.Results) -> None:
    assert judged(unchanged, **settings).because == reason


def test_an_older_run_lacks_the_figures_of_a_newer_measure(run: collect.Results) -> None:
    for path in (run.folder / "metrics" / "constraints" / "nl_alpino").glob("*.json"):
        fold = json.loads(path.read_text())
        fold.pop("reading_cpu_s")
        path.write_text(json.dumps(fold))
    judgement = judged(run, measure="whole run, ratio", rows=("constraints", "baseline"), test="less", than=2)
    assert judgement.because == (
        "Not tested: the run has the rows “constraints” and “baseline”, but no figure of the measure “whole run, "
        "ratio” that compares them."
    )
    for stage, settings in (
        ("confidence", {"measure": "lists", "rows": (), "test": "all", "than": None}),
        ("ccg", {"measure": "LF of CCG", "rows": ("reverse", "AST")}),
    ):
        shutil.rmtree(run.folder / "metrics" / stage)
        measure = f"the run has no figure of the measure “{settings['measure']}”"
        reason = f"Not tested: {measure} on a corpus that counts for the claim."
        assert judged(run, **settings).because == reason


# --- measures: a changed figure changes the verdict


def test_a_changed_accuracy_changes_the_verdict(run: collect.Results) -> None:
    rows = ("all factors", "carreras")
    assert 100.0 not in {m.value for m in judged(run, rows=rows).measured}
    for path in run.folder.glob("predictions/*/decode/*/*.csv"):
        data = pd.read_csv(path, dtype={"words": str})
        right = "combined" in path.name
        data.assign(correct=data["scored"] * right).to_csv(path, index=False)
    judgement = judged(run, rows=rows)
    assert judgement.verdict == REPLICATED
    assert {m.value for m in judgement.measured} == {100.0}
    assert {m.place for m in judgement.measured} == set(run.corpora)
    counts = yaml.safe_load((REPOSITORY / "params" / "reference.yaml").read_text())["seeds"]["combined"]
    assert {m.place: m.seeds for m in judgement.measured} == {c: counts.get(c, counts["default"]) for c in run.corpora}
    assert judged(run, rows=rows[::-1]).verdict == CONTRADICTED
    assert len(judged(run, rows=rows, corpora=("en_ewt",)).measured) == 1
    # the rows of the first pair do not differ
    assert judged(run, rows=("combined", "no pruning", "carreras")).verdict == CONTRADICTED


def test_a_row_that_a_run_lacks_is_not_tested(run: collect.Results) -> None:
    assert judged(run, rows=("great-aunt", "carreras")).verdict == NOT_TESTED
    places = [m.place for m in judged(run, rows=("carreras+pattern", "carreras")).measured]
    assert places == ["pt_petrogold", "en_ewt", "ptb_sample"]


def test_a_reference_keeps_the_differences_of_its_claims(run: collect.Results, tmp_path: Path) -> None:
    whole = claimed(run)
    assert set(whole["interval"]) == {"paired"}
    stored = tmp_path / "kept"
    shutil.copytree(run.folder / "metrics", stored / "metrics")
    reference = dataclasses.replace(run, folder=stored, info={"commit": "f" * 40})
    bare = claimed(reference)
    assert set(bare["interval"]) == {"unpaired"}
    pd.testing.assert_series_equal(bare["difference"], whole["difference"])
    assert export.export(run.folder.parent, stored, only=("differences",)) == []
    pd.testing.assert_frame_equal(claimed(reference), whole)


def test_speed_and_calls_are_compared_step_by_step(run: collect.Results) -> None:
    steps = ("k = 3", "k = 5", "k = 10", "k = 20", "no pruning")
    speed = {"measure": "speed", "rows": steps, "compare": "next", "than": 1}
    assert judged(run, **speed).verdict == REPLICATED
    path = run.folder / "metrics" / "benchmark" / "tr_twt.json"
    rows = json.loads(path.read_text())
    for row in rows:
        if row["row"] == "combined-k5":
            row.update(cpu_s=100.0, cpu_s_range=[99.0, 101.0])
    path.write_text(json.dumps(rows))
    assert judged(run, **speed).verdict == INCONCLUSIVE
    calls = {"measure": "calls", "rows": steps[::-1], "compare": "next", "than": 1}
    assert judged(run, **calls).verdict == REPLICATED
    synthetic_results.change_rows(run.folder, "*", "combined-unpruned", dp_calls=1)
    assert judged(run, **calls).verdict == CONTRADICTED


def test_a_search_that_gives_up_is_not_exact(run: collect.Results) -> None:
    exact_search = {"measure": "proved", "rows": ("carreras+sibling",), "test": "all", "than": None}
    assert judged(run, **exact_search).verdict == REPLICATED
    synthetic_results.change_rows(run.folder, "zh_gsd", "sibling*", certified=59)
    assert judged(run, **exact_search).verdict == CONTRADICTED
    work = {"measure": "calls of a row", "rows": ("published search",), "test": "at most", "than": 50}
    assert judged(run, **work).verdict == CONTRADICTED
    synthetic_results.change_rows(run.folder, "*", "*published*", dp_calls=600)
    judgement = judged(run, **work)
    assert (judgement.verdict, judgement.measured[0].value) == (REPLICATED, 10.0)


def test_a_model_that_ad3_decodes_is_a_row_of_its_own(run: collect.Results) -> None:
    named = named_rows(run.params, "tr_twt", "mira")
    assert named["second-order"].name == "second-order"
    assert named["second-order by AD3"].name == "second-order-ad3"
    for path in run.folder.glob("predictions/*/decode/*/second-order-ad3.csv"):
        data = pd.read_csv(path, dtype={"words": str})
        data.assign(correct=0).to_csv(path, index=False)
    rows = ("all factors", "second-order by AD3")
    judgement = judged(run, rows=rows, effects=[0.35], margin=0.1)
    assert judgement.verdict == REPLICATED
    assert {m.place for m in judgement.measured} == set(run.params.decode["second-order"]["second-order-ad3"].corpora)
    exactly = judged(run, rows=("all factors", "second-order"))
    assert {m.value for m in exactly.measured}.isdisjoint(m.value for m in judgement.measured)


def test_folds_have_an_interval_of_leaving_one_out(run: collect.Results) -> None:
    gain = {"measure": "UAC", "rows": ("constraints", "baseline")}
    (same,) = judged(run, **gain).measured
    assert same.value == pytest.approx(same.low) == pytest.approx(same.high)  # all invented folds have the same figures
    path = run.folder / "metrics" / "constraints" / "nl_alpino" / "0.json"
    fold = json.loads(path.read_text())
    fold["systems"]["constraints"]["heads"] = 0
    path.write_text(json.dumps(fold))
    (changed,) = judged(run, **gain).measured
    assert changed.low < changed.value < changed.high
    assert changed.value < same.value
    assert judged(run, measure="first iteration", rows=("constraints",), than=24).verdict == REPLICATED
    assert judged(run, measure="better", rows=("constraints",), than=50).verdict == REPLICATED


@pytest.mark.parametrize("listed", [c for p in load() for c in p.claims if c.measure], ids=lambda c: c.name)
def test_every_claim_can_be_judged_by_the_reference(listed: Claim, unchanged: collect.Results) -> None:
    judgement = judge([unchanged], [Paper(key="p", cite="P", title="T", claims=(listed,))])[0]
    assert judgement.measured or listed.corpora == ("ptb",)


# --- files


def write(folder: Path, **settings: object) -> Path:
    path = folder / "paper.toml"
    values = TEXTS | {"measure": "UAS", "rows": ["arc", "carreras"], "than": 0} | settings
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    path.write_text("\n".join(['key = "p"', 'cite = "P"', 'title = "T"', "", "[[claims]]", *lines, ""]))
    return path


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rowz": ["a"]}, "paper.toml:13: a: rowz: unknown key; valid keys are name, claim"),
        ({"measure": "beauty"}, "paper.toml:10: a: measure: no measure 'beauty'; choose from "),
        ({"test": "prettier"}, "paper.toml:13: a: test: Input should be 'more'"),
        ({"test": "within"}, "paper.toml:5: a: give tolerance with the test within"),
        ({"than": None}, "paper.toml:5: a: than is missing"),
        ({"test": "all"}, "paper.toml:5: a: remove than"),
        ({"margin": 1.0}, "paper.toml:5: a: give effects with margin"),
        ({"measure": ""}, "paper.toml:5: a: give a measure, or under needs"),
        ({"section": None}, "paper.toml:5: a: section: Field required"),
        ({"rows": ["arc", "great-aunt"]}, "paper.toml:11: a: rows: no row 'great-aunt'; choose from all factors"),
    ],
)
def test_misspelt_keys_are_reported_with_their_line(settings: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read(write(tmp_path, **settings), parameters.load(REPOSITORY / "params.yaml"))


def test_files_of_claims_are_read_strictly(tmp_path: Path) -> None:
    path = write(tmp_path)
    text = path.read_text()
    assert len(read(path).claims) == 1
    path.write_text(text + text[text.index("[[claims]]") :])
    with pytest.raises(InputError, match=r"paper.toml:19: a: rows: the file has an earlier claim of this name"):
        read(path)
    path.write_text(text + "=")
    with pytest.raises(InputError, match="not valid TOML"):
        read(path)
    path.write_text("colour = 1\n" + text)
    with pytest.raises(InputError, match=r"paper.toml:1: colour: unknown key; valid keys are key, cite"):
        read(path)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/claims.toml")), ids=lambda path: path.parent.name)
def test_shipped_claims_name_existing_rows_and_pages(path: Path) -> None:
    params = parameters.load(REPOSITORY / "params.yaml")
    paper = read(path, params)
    corpora = set(
        tomllib.loads((REPOSITORY / "src" / "treebound" / "treebanks" / "catalogue.toml").read_text(encoding="utf-8"))
    )
    assert paper.claims
    for listed in paper.claims:
        assert not listed.page or listed.page in params.notebooks
        assert set(listed.corpora) <= corpora
        if listed.measure:
            assert listed.page, f"{listed.name}: give the page that has the table with the measured values"


def test_published_figures_are_those_that_are_stored() -> None:
    for folder in PAPERS:
        paper = read(folder / "claims.toml")
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("published.toml"))
        stored = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)}
        assert published.paper(folder.name)["cite"] == paper.cite
        for listed in paper.claims:
            for number in re.findall(r"\d+(?:\.\d+)?", listed.published):
                assert float(number) in stored, f"{listed.name}: add {number} to a published.toml of {folder.name}"


# --- what is shown


def test_the_table_links_to_pages_and_carries_itself_as_csv(root: Path) -> None:
    table = replication(root)
    data = table._repr_mimebundle_()
    of_papers = [paper for paper in load() if not all(claim.ours for claim in paper.claims)]
    assert data["text/html"].count("<tbody>") == len(of_papers) + 1 == 5  # including our own claims
    assert 'href="20-main-comparison.ipynb#claim-qian-liu-2013-all-factors"' in data["text/html"]
    assert 'href="claims.csv"' in data["text/html"]
    exported = pd.read_csv(pd.io.common.StringIO(data["text/csv"]))
    assert list(exported["verdict"]) == [
        judgement.verdict for judgement in claims.verdicts(root, collect.this_run(root))
    ]
    page_claims = replication(root, "50-integer-programming")
    names = {c.name for paper in load() for c in paper.claims if c.page == "50-integer-programming"}
    assert {judgement.claim.name for judgement in page_claims.judged["this run"] if judgement.claim} == names
    assert "text/csv" not in page_claims._repr_mimebundle_(), "the page links to the file of all claims"
    assert replication(root, "32-confidence").caption.startswith("The table has 1 claim of this project. Judged by")
    for name in {c.page for paper in load() for c in paper.claims if c.page}:
        for run, judged in replication(root, name).judged.items():
            alone = {entry.claim: entry.adjusted for entry in judged}
            assert alone == {e.claim: e.adjusted for e in table.judged[run] if e.claim in alone}, "one p-value each"
    assert replication(root, "70-classifiers").caption.startswith("The table has 5 claims of this project. Judged by ")
    odd = Judged(Paper(key="p", cite="<P>", title="T"), claim(claim="a < b"), (exact("x", 1.0),))
    html = Replication({"run": [odd]}, "c")._repr_mimebundle_()["text/html"]
    assert "&lt;P&gt;" in html
    assert "a &lt; b" in html
    assert ">Verdict<" in html


def test_the_reasons_of_inconclusive_claims_stand_above_their_table() -> None:
    paper, values = Paper(key="p", cite="P", title="T"), shown(0.2, -0.2, 0.1, 0.0)
    wide = Judged(paper, claim(), values)
    differs = [
        Judged(paper, claim(otherwise=text), values) for text in ("fewer epochs; no tags", "fewer epochs", "C = 1")
    ]
    markup = Replication({"r": [wide, *differs]}, "c", claims.NAME)._repr_mimebundle_()["text/html"]
    why = "Why 4 claims stay inconclusive: wide interval (1); the test differs (3): fewer epochs (2); C = 1 (1)."
    assert f"</summary><p>{typeset(why)}</p>" in markup
    assert "Why" not in Replication({"r": [wide]}, "c", claims.NAME)._repr_mimebundle_()["text/html"]
    assert "Why" not in Replication({"r": [wide, *differs]}, "c")._repr_mimebundle_()["text/html"]


def test_the_summary_counts_verdicts_paper_by_paper() -> None:
    paper = Paper(key="p", cite="P", title="T")
    every = [Judged(paper, claim(), shown(value)) for value in (1, 1, -1)]
    every.append(Judged(paper, claim(ours=True), shown(1.0)))  # our own claims are not counted as claims of a paper
    absent = Judged(Paper(key="q", cite="Q", title="T"), None)
    tally = "P, 3 claims: 2 replicated (2 on one treebank), 1 contradicted (1 on one treebank)."
    assert str(claims.summary([*every, absent])) == tally
    ours = Judged(Paper(key="r", cite="R", title="T"), claim(ours=True), shown(1.0))
    assert str(claims.summary([*every, ours])) == tally  # a paper with claims of this project alone does not count
    none = Judged(paper, claim(effects=[2.0], margin=0.1), shown(0.0))
    assert "1 no effect this large (1 on one treebank)" in str(claims.summary([none]))
    pooled = Judged(paper, claim(), shown(1.0, 1.1, 1.2), adjusted=0.01)
    text = " The claim that is replicated over several treebanks stays significant after adjustment for the number"
    assert f"P, 1 claim: 1 replicated.{text}" in str(claims.summary([pooled]))
    lost = dataclasses.replace(pooled, adjusted=0.1)
    assert "The claim that is replicated over several treebanks does not stay significant" in str(
        claims.summary([lost])
    )
    assert "Of 2 claims that are replicated over several treebanks, 1 stays significant" in str(
        claims.summary([pooled, lost])
    )
    assert pooled.because == f"{pooled.brief} {pooled.spread}"
    assert "I² is" in pooled.spread
    for file, expected in (("", False), ("claims.csv", True)):
        html = Replication({"run": [pooled]}, "c", file)._repr_mimebundle_()["text/html"]
        assert ("I² is" in html) == expected, "the page with all claims has the sentences about treebanks"
        assert "more than 0 UAS points" in html
    figures = frame([*every, absent])["figures"].tolist()
    assert figures[2:] == ["-1.00 UAS points [-1.05, -0.95] (t0)", "+1.00 UAS points [+0.95, +1.05] (t0)", ""]


def test_a_mean_of_ratios_is_called_geometric_and_names_its_ends() -> None:
    work = claim(measure="calls of a row", rows=("a",), test="at most", than=54.7)
    judgement = Judged(Paper(key="p", cite="P", title="T"), work, (exact("x", 5.0), exact("y", 80.0)))
    assert judgement.because.startswith("20.0 calls a sentence (geometric mean) [")
    assert judgement.spread.startswith("The values range from 5.0 (x) to 80.0 calls a sentence (y).")
    plain = Judged(Paper(key="p", cite="P", title="T"), claim(test="less"), shown(0.02, -0.02, 0.01))
    assert plain.verdict == INCONCLUSIVE
    half = (plain.effect.high - plain.effect.low) / 2
    assert f"an estimate of at most {-half:+.2f} UAS points would be significant" in plain.spread
    assert "geometric" not in plain.because


def test_rows_have_the_order_of_verdicts_and_untested_claims_come_last() -> None:
    paper = Paper(key="p", cite="P", title="T")
    values = {"none": (), "open": shown(0.0), "yes": shown(1.0), "no": shown(-1.0), "also": shown(1.0)}
    entries = [Judged(paper, claim(name=name), measured) for name, measured in values.items()]

    def names(judged: dict[str, list[Judged]], file: str) -> list[str]:
        html = Replication(judged, "c", file)._repr_mimebundle_()["text/html"]
        return re.findall(r'id="claim-p-(\w+)"', html)

    for file in ("", "claims.csv"):
        assert names({"run": entries}, file) == ["no", "yes", "also", "open", "none"]
        untested = [Judged(paper, entry.claim) for entry in entries]
        both = names({"reference": entries, "this run": untested}, file)
        assert both == ["no", "yes", "also", "open", "none"], "a verdict of either run counts"
    exported = Replication({"run": entries}, "c", "claims.csv")._repr_mimebundle_()["text/csv"]
    assert list(pd.read_csv(pd.io.common.StringIO(exported))["name"]) == list(values), "the CSV keeps the paper's order"


def test_the_page_of_all_claims_folds_away_how_treebanks_differ() -> None:
    pooled = Judged(Paper(key="p", cite="P", title="T"), claim(), shown(1.0, 1.1, 1.2), adjusted=0.25)
    html = Replication({"run": [pooled]}, "c", "claims.csv")._repr_mimebundle_()["text/html"]
    in_sight, _, folded = html.partition('<details class="more">')
    assert "[" in in_sight
    assert "Adjusted p = 0.250." in in_sight
    assert "I² is" in folded.partition("</details>")[0]
    assert f"p = {pooled.p:.3f}." in folded.partition("</details>")[0]
    assert 'class="more"' not in Replication({"run": [pooled]}, "c")._repr_mimebundle_()["text/html"]


def test_what_needs_the_errors_of_treebanks_is_said_only_where_they_are_known() -> None:
    paper, least = Paper(key="p", cite="P", title="T"), "least width"
    known = Judged(paper, claim(), shown(1.0, 1.1, 1.2))
    unknown = Judged(paper, claim(), shown(1.0, 1.1, 1.2, half=float("nan")))
    agreeing = Judged(paper, claim(), shown(1.0, 1.001, 1.0, half=0.5))
    assert "I² is" in known.spread
    assert "I² is" not in unknown.spread
    assert frame([known, unknown])["I2"].notna().tolist() == [True, False]
    assert [least in entry.because for entry in (known, unknown, agreeing)] == [False, False, True]


def test_the_committed_verdicts_are_those_of_the_committed_metrics(tmp_path: Path) -> None:
    committed = collect.reference(REPOSITORY)
    assert committed is not None
    claims.write(REPOSITORY, committed, tmp_path / "claims.csv")
    same = (tmp_path / "claims.csv").read_bytes() == (committed.folder / "claims.csv").read_bytes()
    assert same, "run: python -m studies.site.claims"


def test_only_the_claims_of_a_page_are_sources_of_its_tables(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_stages", {})
    replication(root, "50-integer-programming")
    (entry,) = [run for run in sources.bundle()[sources.SOURCES] if run["run"] == "this run"]
    assert "constraints" in entry["stages"]
    assert not {"ccg", "ccg-integration", "decode"} & set(entry["stages"])


def test_a_page_says_where_the_other_claims_of_its_paper_are() -> None:
    """The counts of the pages of a paper add up to the claims of the paper that this project has not made itself."""
    text = str(claim_pages.elsewhere("80-sampling"))
    (paper,) = [paper for paper in load() if paper.cite == "Zhang et al. (2014)"]
    own = [claim.page for claim in paper.claims if not claim.ours]
    here, there = own.count("80-sampling"), own.count("81-sampling-and-proof")
    assert here + there == len(own)
    assert text == (
        f"This page has {here} of {len(own)} claims of Zhang et al. (2014); "
        f"[page 81](81-sampling-and-proof.ipynb) has {there}."
    )
    assert "2 cannot be tested here." in str(claim_pages.elsewhere("20-main-comparison"))
    assert str(claim_pages.elsewhere("70-classifiers")) == "", "all claims of the paper are on this page"
