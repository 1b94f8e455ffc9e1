"""Tables that only the reference run has: rows of single corpora, seeds, gold tags, limited searches, more languages.

All figures are invented. The parameters are taken from the reference run.
"""

from __future__ import annotations

import dataclasses
import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results
import yaml

from studies.across.overview import abstract
from studies.common import params as parameters
from studies.pipeline import reference, run, warm
from studies.pipeline.scratch import overlaid
from studies.qian_liu_2013.comparison import errors, gains, others, repeats
from studies.qian_liu_2013.comparison import headline as headlines
from studies.qian_liu_2013.comparison import remarks as comparison_remarks
from studies.qian_liu_2013.comparison import tables as comparison_tables
from studies.qian_liu_2013.confidence import remarks as confidence_remarks
from studies.qian_liu_2013.confidence import tables as confidence_tables
from studies.qian_liu_2013.confidence.settings import Confidence
from studies.qian_liu_2013.languages import remarks as languages_remarks
from studies.qian_liu_2013.languages import tables as languages_tables
from studies.qian_liu_2013.speed import remarks as speed_remarks
from studies.qian_liu_2013.speed import tables as speed_tables
from studies.qian_liu_2013.steps import remarks as steps_remarks
from studies.qian_liu_2013.steps import tables as steps_tables
from studies.qian_liu_2013.tuning import remarks as tuning_remarks
from studies.qian_liu_2013.tuning import tables as tuning_tables
from studies.riedel_clarke_2006.constraints import remarks as constraints_remarks
from studies.riedel_clarke_2006.constraints import tables as constraints_tables
from studies.riedel_clarke_2006.integer_programs import remarks as integer_programs_remarks
from studies.riedel_clarke_2006.integer_programs import tables as integer_programs_tables
from studies.site import claims, collect, export, frames
from studies.site.execute import execute
from studies.site.rows import configurations, learners_of, main_rows, seeds_of, sweep
from studies.site.show import NOTE, Remarks, typeset
from studies.zhang_2014.comparison import tables as sampling_tables
from treebound.core.errors import InputError

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a project: a run with the parameters of the reference, and two references.

    One reference has the default parameters, and the other has more languages.
    """
    folder = tmp_path_factory.mktemp("project") / "project"
    synthetic_results.project(folder, REPOSITORY, overlay="reference.yaml")
    more = folder / "results" / "reference" / "multilingual"
    base = yaml.safe_load((REPOSITORY / "params.yaml").read_text())
    over = yaml.safe_load((REPOSITORY / "params" / "multilingual.yaml").read_text())
    more.mkdir()
    (more / "params.yaml").write_text(yaml.safe_dump(overlaid(base, over)))
    (more / "run.json").write_text("{}")
    synthetic_results.write(more, parameters.load(more / "params.yaml"), seed=2)
    return folder


@pytest.fixture(scope="module")
def results(root: Path) -> list[collect.Results]:
    return collect.provenances(root)


def test_every_published_system_has_a_row_of_ours(results: list[collect.Results]) -> None:
    table = comparison_tables.comparison(results, "mira").loc["this paper"]
    ours = table["this run"]
    hand_crafted = ours.index == "B&B + hand-crafted"
    assert ours[~hand_crafted].notna().all(axis=None)
    assert set(ours.columns[ours[hand_crafted].notna().iloc[0]]) == {"en_ewt", "ptb_sample", "pt_petrogold"}
    assert "not run: this run has no such row on tr_twt, zh_gsd" in table["", "note"]["B&B + hand-crafted"]
    third = comparison_tables.comparison(results, "mira").xs("other parsers")
    assert third[third.index.str.startswith("third order")]["this run"].notna().all(axis=None)


def test_rows_of_one_corpus_are_in_the_tables_of_their_learner(results: list[collect.Results]) -> None:
    this = results[-1]
    assert learners_of(this.params) == ["mira", "perceptron"]
    variant = main_rows(this.params, "perceptron", "tr_twt")["carreras+sibling"]
    metrics = yaml.safe_load((this.folder / "metrics/decode/tr_twt" / f"{variant.trained}.json").read_text())[
        variant.name
    ]
    table = comparison_tables.comparison(results, "perceptron")
    assert table.loc[("this paper", "B&B + all sibling")]["this run", "tr_twt"] == metrics["uas"]
    assert np.isnan(table.loc[("this paper", "B&B + all sibling")]["this run", "en_ewt"])
    assert ("perceptron", "carreras+sibling", "tr_twt") in comparison_tables.accuracy(results).index
    tested = comparison_tables.significance(this, ["tr_twt"])
    assert ("tr_twt", "perceptron", "carreras+sibling") in tested.index
    # only the seed varies, and only for corpora with several seeds
    varied = others.variants(results).query("model == 'carreras+pattern'")
    assert set(varied.index.get_level_values("corpus")) == {"ptb_sample"}
    assert set(varied.index.get_level_values("seed")) == {2, 3}


def test_main_rows_search_to_the_end(results: list[collect.Results]) -> None:
    params = results[-1].params
    assert main_rows(params, "mira")["combined"].decoder == "tuned"
    assert main_rows(params, "mira")["third-order"].decoder == "model1"
    assert {run.model for run in sweep(params)} == {"combined"}
    compared = configurations(params)
    assert [run.decoder for run in compared] == ["published", "tuned-carreras-first", "tuned-first"]


def test_significance_over_arcs_uses_the_differing_words(results: list[collect.Results]) -> None:
    this = results[-1]
    tested = comparison_tables.significance(this, ["tr_twt"])
    assert (tested["p (words)"].between(0, 1)).all()
    runs = main_rows(this.params, "mira")
    words = comparison_tables.comparison(results, "mira")  # words won minus words lost give the difference in UAS
    row = tested.loc[("tr_twt", "mira", "combined")]
    scored = frames.sentences(this, "tr_twt", runs["combined"])["scored"].sum()
    assert (row["only it"] - row["only the baseline"]) * 100 / scored == pytest.approx(row["difference"])
    assert len(words)
    text = str(comparison_remarks.significance(tested))
    better = int(((tested["p"] < 0.05) & (tested["difference"] > 0)).sum())
    assert f"the system is significantly better in {better or 'none'} of {len(tested)} comparisons, and" in text


def test_seeds_are_averaged_and_compared_seed_by_seed(results: list[collect.Results]) -> None:
    data = repeats.seeds(results)
    this = results[-1]
    assert set(data.index.get_level_values("corpus")) == set(this.corpora)
    seeds = data.xs(("this run", "tr_twt", "mira"))["", "seeds"]
    assert seeds[["carreras", "carreras+sibling", "combined", "second-order"]].tolist() == [5] * 4
    assert set(seeds) == {3, 5}
    uas = {}
    for model in ("carreras", "combined"):
        variants = frames.variants(this).query(
            f"corpus == 'tr_twt' and model == '{model}' and learner == 'mira' and seed != 1"
        )
        main = frames.decode(this).query(f"corpus == 'tr_twt' and model == '{model}' and k == '10'")
        own = main[main["decoder"] == main_rows(this.params, "mira")[model].decoder]["uas"]
        uas[model] = np.array([own.iloc[0], *variants.sort_values("seed")["uas"]])
    row = data.loc[("this run", "tr_twt", "mira", "combined")]
    assert row["UAS", "mean"] == pytest.approx(uas["combined"].mean())
    assert row["UAS", "deviation"] == pytest.approx(uas["combined"].std(ddof=1))
    gain = uas["combined"] - uas["carreras"]
    assert row["UAS over the baseline", "mean"] == pytest.approx(gain.mean())
    assert row["UAS over the baseline", "deviation"] == pytest.approx(gain.std(ddof=1))
    assert np.isnan(data.loc[("this run", "tr_twt", "mira", "carreras")]["UAS over the baseline", "mean"])
    alone = data.loc[[("this run", "tr_twt", "mira", "combined")]]
    assert f"over 5 seeds, is {gain.mean():+.2f} (" in str(comparison_remarks.seeds(alone))


def test_gold_tags_are_shown_beside_predicted_tags(results: list[collect.Results]) -> None:
    data = repeats.tags(results)
    assert set(data.index.droplevel(0)) == {
        (corpus, "mira", model) for corpus in ("en_ewt", "ptb_sample") for model in ("carreras", "combined")
    }
    np.testing.assert_allclose(data["UAS", "difference"], data["UAS", "gold"] - data["UAS", "predicted"])
    assert "points with predicted tags, and by" in str(comparison_remarks.tags(data))


def test_errors_of_the_search_differ_from_errors_of_the_model(results: list[collect.Results]) -> None:
    data = errors.errors(results[-1])
    assert set(data.index.get_level_values("search")) == {"one-call", "root-only"}
    row = data.loc[("tr_twt", "combined", "one-call")]
    assert row["the search", "search errors, %"] == 20.0  # by construction, every fifth sentence
    assert row["the search", "proved, %"] == 80.0
    assert row["the exact tree", "gold out of reach, %"] == pytest.approx(100 / 3)
    # gold trees of even sentences tie with the best tree unless they are out of reach
    assert row["the exact tree", "is the gold tree, %"] == pytest.approx(100 / 3)
    assert row["the exact tree", "gold scores less, %"] == pytest.approx(100 / 3)
    # the search misses sentences 0, 5, 10, ...; gold is in reach for two thirds, and scores more in even sentences
    assert row["the search", "search errors below gold, %"] == pytest.approx(100 / 3)
    assert "one-call misses the best tree in 20.0" in str(comparison_remarks.errors(data))


def test_more_languages_are_those_of_their_parameters(root: Path) -> None:
    more = collect.multilingual(root)
    assert more is not None
    data = languages_tables.multilingual(more)
    assert list(data.index.get_level_values("corpus")) == list(more.params.corpora)
    exact = ["carreras", "carreras+sibling", "combined", "non-projective", "second-order-crossing"]
    assert list(data["UAS"].columns) == exact
    text = str(languages_remarks.multilingual(data))
    systems = str(languages_remarks.systems(data))
    assert systems.startswith("The systems are `carreras` (the Carreras baseline)")
    assert all(f"`{name}`" in systems for name in data["UAS"])
    assert f"over the baseline carreras on {len(data)} more corpora" in text
    assert "what non-projective gains over combined" in text
    assert "p" not in data.columns.get_level_values(1)


def test_the_table_of_more_languages_can_be_written_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    assert export.main([str(tmp_path), "--only", "multilingual"]) == 0
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"multilingual.csv", "multilingual.md"}


def test_more_languages_are_tested_if_the_run_stored_the_missing_metrics(root: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"  # a separate project, as in `make reference`
    synthetic_results.project(more, REPOSITORY, overlay="multilingual.yaml", with_reference=False)
    stored = tmp_path / "kept"
    shutil.copytree(more / "results" / "metrics", stored / "metrics")
    whole = collect.this_run(more)
    results = dataclasses.replace(whole, folder=stored, info={"commit": "f" * 40})
    assert export.export(more, stored, only=("differences", "significance-uas")) == []
    data = languages_tables.multilingual(results)
    pd.testing.assert_frame_equal(data, languages_tables.multilingual(whole))
    for system, seeds in (("carreras+sibling", 3), ("combined", 3), ("non-projective", 1)):
        against = data[f"{system} against the baseline"]
        missing = against.index[against["seeds"].isna()].get_level_values("corpus")
        assert list(missing) == ["en_craft"] * (system == "non-projective")  # its crossing trees take too long
        against = against.drop(index="en_craft", level="corpus") if len(missing) else against
        assert (against["seeds"] == seeds).all()
        assert (against["low"] < against["UAS"]).all()
        assert (against["UAS"] < against["high"]).all()
    np.testing.assert_allclose(
        data["combined against the baseline", "UAS"], data["UAS", "combined"] - data["UAS", "carreras"], atol=1e-12
    )
    first = languages_remarks.multilingual(data).sentences[0]
    gains = data["combined against the baseline"]
    better, worse = int((gains["low"] > 0).sum()), int((gains["high"] < 0).sum())
    counts = f"(significantly better on {better or 'none'} of {len(data)} corpora, worse on {worse or 'none'})"
    assert counts in first
    assert len(first) < 440, "the answer has at most four lines"
    shares = np.where(np.arange(len(data)) < 2, 25.0, 1.0)  # two corpora with many crossing trees
    crossing = data.copy()
    crossing["", "crossing, %"] = shares
    text = str(languages_remarks.crossing(crossing))
    gained = data["non-projective against the baseline"].droplevel("language").dropna()
    many, few = gained.iloc[:2], gained.iloc[2:]["UAS"]
    assert all(
        f"{row.UAS:+.2f} [{row.low:+.2f}, {row.high:+.2f}] on {row.Index} (25 %)" in text for row in many.itertuples()
    )
    assert f"on the other {len(few)} corpora it changes UAS by {few.mean():+.2f} on average" in text
    assert not languages_remarks.crossing(data.drop(columns="non-projective against the baseline", level=0)).sentences
    shown = languages_tables.gained(data)
    assert list(shown) == [
        "crossing, %",
        "carreras+sibling (3)",
        "combined (3)",
        "non-projective (1)",
        *list(shown)[4:],
    ]
    row = gains.iloc[0]
    text = typeset(f"{row['UAS']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]")
    assert shown["combined (3)"].iloc[0].replace("\u00a0", " ") == text
    several = data.copy()
    several.loc[several.index[0], ("combined against the baseline", "seeds")] = 2
    assert languages_tables.gained(several)["combined"].iloc[0].endswith("(2)")
    assert list(languages_tables.of_systems(data, "LAS", "proved optimal, %")["LAS"]) == list(data["LAS"])
    unlabelled = data.copy()
    unlabelled.loc[unlabelled.index[0], "LAS"] = np.nan
    labelled = languages_tables.labelled(unlabelled)
    assert labelled["", NOTE].tolist() == [languages_tables.UNLABELLED, *[""] * (len(data) - 1)]
    assert list(labelled["proved optimal, %"]) == list(data["proved optimal, %"])
    assert languages_tables.labelled(languages_tables.multilingual(None)).empty
    table = languages_tables.pooled(data)
    assert table.loc["combined", "trainings"] == "means of 3 seeds"
    assert table.loc["combined", ["corpora", "above 0", "below 0"]].tolist() == [len(data), better, worse]
    assert table.loc["combined", "mean"] == pytest.approx(gains["UAS"].mean())
    assert f"combined {table.loc['combined', 'mean']:+.2f} [{table.loc['combined', 'low']:+.2f}, " in first
    assert table["highest"].isna().all(), "one language cannot be left out"
    codes = ["aa", *["bb"] * (len(data) - 1)]
    index = pd.MultiIndex.from_arrays([codes, data.index.get_level_values("corpus")], names=data.index.names)
    several = data.set_axis(index)
    ends = languages_tables.pooled(several).loc["combined", ["lowest mean without one language", "highest"]].tolist()
    assert ends == pytest.approx(sorted([gains["UAS"].iloc[0], gains["UAS"].iloc[1:].mean()]))
    assert languages_remarks.multilingual(data.head(languages_remarks.FEWEST - 1)).sentences[1:] == ()
    assert languages_tables.limit(results) == 10000
    assert "after 10,000 calls" in str(languages_remarks.limits(languages_tables.limit(results)))
    assert not languages_remarks.limits(languages_tables.limit(None)).sentences


def test_runs_without_these_rows_report_it(tmp_path: Path) -> None:
    synthetic_results.project(tmp_path, REPOSITORY, with_reference=False)
    both = collect.provenances(tmp_path)
    for data, remark in (
        (repeats.seeds(both), comparison_remarks.seeds),
        (repeats.tags(both), comparison_remarks.tags),
        (errors.errors(both[-1]), comparison_remarks.errors),
        (languages_tables.multilingual(collect.multilingual(tmp_path)), languages_remarks.multilingual),
    ):
        assert data.empty
        assert "No " in str(remark(data)) or "no such part" in str(remark(data))


def test_tables_of_sampling_have_means_over_seeds(results: list[collect.Results]) -> None:
    this = results[-1]
    table = sampling_tables.accuracy([this])
    for parser, count, data in (
        ("sampling full", 3, sampling_tables.measured(this)),
        ("combined", 5, pd.concat([frames.decode(this), frames.variants(this)])),
    ):
        row = sampling_tables.rows_of(this, "tr_twt")[parser]
        repeats_of_row = [repeat.name for repeat in seeds_of(this.params, "tr_twt", row).values()]
        uas = data[(data["corpus"] == "tr_twt") & data["row"].isin(repeats_of_row)]["uas"]
        assert len(uas) == count
        assert table.loc[("this run", "tr_twt"), parser] == pytest.approx(uas.mean())


def test_total_calls_are_counted_beside_the_published_ones(results: list[collect.Results]) -> None:
    total = speed_tables.pruning_table(results, "total DP calls")
    assert total.loc["branch and bound, no pruning", ("published", "PTB")] == 132161
    decoded = frames.decode(results[-1]).query("corpus == 'zh_gsd' and model == 'combined' and k == 'none'")
    assert total.loc["branch and bound, no pruning", ("this run", "zh_gsd")] == decoded["dp_calls"].iloc[0]
    assert "this run: combined" in total["", "note"].iloc[0]  # the other reference varied another model


def test_peers_are_on_or_behind_the_frontier(results: list[collect.Results]) -> None:
    points = speed_tables.accuracy_and_speed(results[-1])
    assert {"udpipe", "spacy", "third-order", "combined"} <= set(points["system"])
    text = str(speed_remarks.frontier(points, speed_tables.beaten(points)))
    behind = points[(points["corpus"] == "tr_twt") & (points["group"] != "others")]
    own = points[(points["corpus"] == "tr_twt") & (points["system"] == "udpipe")].iloc[0]
    better = ((behind["uas"] >= own["uas"]) & (behind["words_per_cpu_s"] >= own["words_per_cpu_s"])).sum()
    row = speed_tables.beaten(points).loc[("tr_twt", "udpipe")]
    assert row[["our rows", "more accurate and faster"]].tolist() == [len(behind), better]
    assert "parsers of others in both accuracy and speed" in text
    more = points.assign(sees=[("lemma",) if group == "mira" else () for group in points["group"]])
    assert speed_tables.beaten(more)["with more columns of the treebank"].sum() > 0


@pytest.fixture(scope="module")
def forks() -> Iterator[None]:
    """Start kernels as forks of one interpreter, as in a run of the pipeline."""
    with warm.interpreter(run.IMPORTED, run.ENVIRONMENT):
        yield


@pytest.mark.parametrize(
    "name", ["index", "99-appendix", "20-main-comparison", "30-accuracy-and-speed", "42-steps", "60-multilingual"]
)
def test_notebooks_show_the_reference_run(name: str, root: Path, forks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    execute(REPOSITORY / "notebooks" / f"{name}.ipynb", root / "executed" / f"{name}.ipynb")


@pytest.fixture(scope="module")
def shown(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the exported tables and figures of the run, as in `make reference`.

    A separate process exports them.
    """
    folder = tmp_path_factory.mktemp("shown")
    reference.export(root, folder)
    return folder


def test_tables_and_figures_are_written_as_files(root: Path, shown: Path, tmp_path: Path) -> None:
    assert export.export(root, tmp_path) == []
    names = {path.stem for path in (tmp_path / "tables").glob("*.csv")}
    assert names == {path.stem for path in (tmp_path / "tables").glob("*.md")} == set(export.registered("TABLES"))
    for name in export.registered("FIGURES"):
        assert (tmp_path / "figures" / f"{name}.svg").read_text().startswith("<svg")
        assert (tmp_path / "figures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    read = pd.read_csv(tmp_path / "tables" / "seeds.csv", header=[0, 1], index_col=[0, 1, 2, 3])
    assert read.shape == repeats.seeds([collect.this_run(root)]).shape
    first = (tmp_path / "tables" / "seeds.md").read_text().splitlines()
    assert first[2].startswith("|  | corpus | learner | system | seeds | UAS mean |")
    assert first[3].count("---:") == 9
    for path in (tmp_path / "figures").iterdir():
        assert (shown / "figures" / path.name).read_bytes() == path.read_bytes()


def test_a_failed_export_leaves_the_old_files(root: Path, tmp_path: Path) -> None:
    older = tmp_path / "out" / "tables" / "older.md"
    older.parent.mkdir(parents=True)
    older.write_text("of before")
    half = shutil.copytree(root, tmp_path / "half")
    shutil.rmtree(half / "results" / "predictions")
    with pytest.raises(InputError):
        export.export(half, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["tables", "older.md"]


def test_a_row_cannot_be_listed_twice(tmp_path: Path) -> None:
    base = yaml.safe_load((REPOSITORY / "params.yaml").read_text())
    repeated = base["models"]["carreras"] | {"corpora": ["tr_twt"], "tags": "gold", "seed": base["seed"]}
    base["models"]["again"] = repeated | {"same_as": "carreras"}
    base["decode"]["again"] = {"again": base["decode"]["carreras"]["carreras"]}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(base, sort_keys=False))
    with pytest.raises(InputError, match="decode: carreras and again are the same row of tr_twt"):
        parameters.load(tmp_path / "params.yaml")


# committed reference: its pages and tables agree with its metrics


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project whose own run is the committed reference, as in `make reference` before it renders pages."""
    root, source = tmp_path_factory.mktemp("committed"), REPOSITORY / "results" / "reference"
    (root / "results" / "reference").mkdir(parents=True)
    shutil.copyfile(source / "params.yaml", root / "params.yaml")
    shutil.copyfile(REPOSITORY / "dvc.yaml", root / "dvc.yaml")
    for name in ("metrics", "tables"):
        shutil.copytree(source / name, root / "results" / name)
    shutil.copytree(source / "multilingual", root / "results" / "reference" / "multilingual")
    shutil.copyfile(source / "run.json", root / collect.ORIGIN)
    return root


def _page(name: str) -> str:
    """Return the text of a committed page without its code, with ordinary spaces."""
    page = (REPOSITORY / "results" / "reference" / "report" / f"{name}.html").read_text(encoding="utf-8")
    page = re.sub(r"<details>.*?</details>", "", page[page.index("<main") :], flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\xa0", " ")


def _plain(sentence: object) -> str:
    return typeset(re.sub(r"\[([^\]]*)\]\([^)]*\.ipynb\)", r"\1", str(sentence))).replace("\xa0", " ")


def test_the_committed_tables_are_those_of_the_committed_metrics(committed: Path, tmp_path: Path) -> None:
    assert export.export(committed, tmp_path, only=list(export.registered("TABLES"))) == []
    for path in (tmp_path / "tables").iterdir():
        assert path.read_bytes() == (REPOSITORY / "results" / "reference" / "tables" / path.name).read_bytes(), (
            path.name
        )


def test_the_committed_pages_agree_with_the_committed_metrics(committed: Path) -> None:
    (run,) = results = collect.provenances(committed)
    assert run.name == "reference"
    gained, steps = (
        headlines.gains(results, models=gains.FAMILIES),
        steps_tables.step_tests(steps_tables.steps(results)),
    )
    seen, curves = frames.convert(run).attrs["seen"], speed_tables.lengths(results)
    uas, speed = (speed_tables.pruning_table(results, figure) for figure in ("UAS", "w/s"))
    more, data = (
        languages_tables.multilingual(collect.multilingual(committed)),
        constraints_tables.cross_validated(results),
    )
    contest = integer_programs_tables.contest(results)
    sizes = frames.convert(run).query("split == 'test'").set_index("corpus")["sentences"]
    section = run.params.section(Confidence)
    assert section is not None
    findings = abstract.abstract(run, claims.verdicts(committed, run), None, ()).findings
    by_page = {
        "index": [Remarks(tuple(finding.text for finding in findings))],
        "20-main-comparison": [
            gains.answer(headlines.gains([run]), languages_tables.pictured(run, collect.multilingual(committed))),
            *(gains.families(gained, learner) for learner in ("perceptron", "mira")),
            gains.exactness(comparison_tables.accuracy(results)),
            comparison_remarks.significance(comparison_tables.significance(run)),
            comparison_remarks.errors(errors.errors(run)),
            speed_remarks.peers(others.peers(results), seen, steps),
        ],
        "30-accuracy-and-speed": [
            speed_remarks.pruning(uas, speed, {run.title: run.params.train.k}),
            speed_remarks.frontier(points := speed_tables.accuracy_and_speed(run), speed_tables.beaten(points)),
            speed_remarks.repeats(speed_tables.benchmarked(run)),
        ],
        "31-length": [speed_remarks.length(curves)],
        "32-confidence": [
            confidence_remarks.calibration(confidence_tables.measured(run), sizes, section.sentences, section.model)
        ],
        "40-tuning": [tuning_remarks.tuning(tuning_tables.tunings(results))],
        "42-steps": [steps_remarks.changes(steps_tables.steps(results), steps)],
        "50-integer-programming": [constraints_remarks.accuracy(data), constraints_remarks.times(data)],
        "51-arena": [integer_programs_remarks.arena(contest, integer_programs_tables.arena_lengths(contest))],
        "60-multilingual": [languages_remarks.multilingual(more)],
    }
    for name, sentences in by_page.items():
        page = _page(name)
        for sentence in (stated for remark in sentences for stated in remark.sentences):
            assert _plain(sentence) in page, name


def test_the_committed_pages_are_the_references_own() -> None:
    info = json.loads((REPOSITORY / "results" / "reference" / "run.json").read_text(encoding="utf-8"))
    folder = REPOSITORY / "results" / "reference" / "report"  # a page may be older than the newest notebook
    names = parameters.load(REPOSITORY / "params.yaml").notebooks
    pages = {name: _page(name) for name in names if (folder / f"{name}.html").is_file()}
    assert len(pages) >= 14
    index, appendix = pages["index"], pages.pop("99-appendix")
    for fact in (info["commit"][:12], info["date"], info["machine"]["cpu"]):
        assert fact in appendix
    assert not info.get("renewed"), "all pages come from one run of one commit"
    assert "not recorded" not in appendix
    assert "on your machine" not in appendix
    assert not re.search(r"(confirmed|differs?|not run) here", index), "a reference is compared with no other run"
    for name, text in pages.items():
        assert "this run" not in text.lower(), name
        assert "0.000000" not in text, name


def test_tracked_results_are_small() -> None:
    """The tracked results are at most 6.4 MB. No figure is stored twice."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "results"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    files = [REPOSITORY / name for name in listed.stdout.splitlines() if (REPOSITORY / name).is_file()]
    assert sum(path.stat().st_size for path in files) <= 6_400_000
    assert (REPOSITORY / "results" / "reference" / "run.json").stat().st_size <= 20_000
    figures = [path.read_bytes() for path in files if path.suffix in (".svg", ".png")]
    assert len(figures) == len(set(figures)) > 40


def test_pages_are_made_anew_only_from_a_finished_run_with_equal_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"build/reference: no finished run; run `make reference` first"):
        reference.shown_anew("new")
    (tmp_path / "params").mkdir()
    shutil.copyfile(REPOSITORY / "params.yaml", "params.yaml")
    shutil.copyfile(REPOSITORY / reference.OVERLAY, reference.OVERLAY)
    base, overlay = (yaml.safe_load(path.read_text()) for path in (Path("params.yaml"), reference.OVERLAY))
    used = overlaid(base, overlay) | {"seed": 7, "forms": True}
    reference.FINISHED.parent.mkdir(parents=True)
    reference.FINISHED.write_text("{}")
    (reference.FOLDER / "params.yaml").write_text(yaml.safe_dump(used))
    with pytest.raises(InputError, match=r"other parameters since the run: seed; run `make reference`"):
        reference.shown_anew("new")
