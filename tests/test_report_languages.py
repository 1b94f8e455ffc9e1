"""The page of fourteen languages: its tables and sentences, with invented results and without results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_results

from studies.site import collect, frames
from studies.site.charts import gains as drawn
from studies.zhang_2014.comparison import tables as comparison_tables
from studies.zhang_2014.languages import remarks
from studies.zhang_2014.languages import tables as languages_tables

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> collect.Results:
    """Return invented results of more corpora, one of which has no labels."""
    folder = tmp_path_factory.mktemp("run")
    synthetic_results.project(folder, REPOSITORY, overlay="multilingual.yaml", with_reference=False)
    return collect.this_run(folder)


def test_models_that_only_learn_heads_are_shown_beside_the_others(run: collect.Results) -> None:
    table = languages_tables.accuracy([run])
    assert list(table.columns[:5]) == [
        "carreras",
        "combined",
        "sampling turbo",
        "sampling full",
        "sampling full, best of 50",
    ]
    names = ("full", "full-unlabelled")  # large treebanks are used only by systems of Qian & Liu (2013)
    sampled = {corpus for name in names for corpus in run.params.models[name].corpora}
    assert {"es_conll07", "zh_sinica"} < sampled < set(run.corpora)
    assert set(table.index.get_level_values("corpus")) == sampled
    assert table["sampling full"].notna().all()
    assert np.isnan(table.xs("es_conll07", level="corpus")["sampling full, best of 50"].item())
    gained = languages_tables.gains([run])
    stored_gains = comparison_tables.gains(run, [("sampling full-unlabelled", "combined")])
    ours = gained.loc["sampling full minus combined"].xs("es_conll07", level="corpus")
    assert np.allclose(ours.to_numpy(), stored_gains.to_numpy(float))
    assert list(gained.index.unique("pair")) == [
        f"{row} minus {baseline}" for row, baseline in languages_tables.COMPARED
    ]
    lists = {50: len(sampled) - 1, 500: 5}
    crossing = 2 * len(run.params.models["full-crossing"].corpora)
    assert len(gained) == 3 * len(sampled) + sum(lists.values()) + crossing
    assert all(len(gained.loc[f"sampling full minus sampling full, best of {k}"]) == n for k, n in lists.items())


def test_published_accuracy_is_shown_beside_its_languages(
    run: collect.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert frames.LANGUAGES["cs"] == "Czech"
    code = languages_tables.accuracy([run]).index[0][0]  # a code without a name
    monkeypatch.setattr(frames, "LANGUAGES", {code: "Czech"})
    assert (languages_tables.accuracy([run]).loc["Czech", "published, full features"] == 91.04).all()
    monkeypatch.setattr(frames, "LANGUAGES", {})
    assert not len(languages_tables.accuracy([run]).filter(like="published").columns)


def test_a_mean_counts_a_language_once() -> None:
    """A language with two treebanks counts once, and the mean has Student's interval over languages."""
    keys = [("a less b", "xx", "one"), ("a less b", "xx", "two"), ("a less b", "yy", "three")]
    index = pd.MultiIndex.from_tuples(keys, names=["pair", "language", "corpus"])
    gained = pd.DataFrame({"difference": [1.0, 3.0, -4.0], "low": [-2.0, -1.0, -4.0], "high": [4.0, 7.0, -4.0]}, index)
    mean = languages_tables.means(gained).loc["a less b"]
    assert mean["difference"] == (2.0 - 4.0) / 2
    assert mean["high"] - mean["difference"] == pytest.approx(12.706205 * np.std([2.0, -4.0], ddof=1) / np.sqrt(2))
    assert (mean["languages"], mean["treebanks"], mean["ahead"]) == (2, 3, 1)


def test_sentences_and_picture(run: collect.Results) -> None:
    table, gained = languages_tables.accuracy([run]), languages_tables.gains([run])
    text = str(remarks.languages(languages_tables.means(gained), gained, table))
    count = len({language for language, _ in table.index})
    assert f"mean of {count} languages ({len(table)} treebanks)" in text
    assert "An error is due to the search" in text
    for low, high, verdict in ((-1.0, 1.0, "not significant"), (0.1, 1.0, "significantly above zero")):
        means = languages_tables.means(gained).assign(low=low, high=high)
        assert f"The mean difference is {verdict}, and" in str(remarks.languages(means, gained, table))
    assert f" of {len(gained.index.unique('pair'))} pairs, and the second in " in text
    assert "(95 % intervals). Treebank by treebank" in text
    labels = {
        label.get_text() for label in drawn(languages_tables.picture(gained), "another").axes[0].get_yticklabels()
    }
    assert labels == {f"{language}: {corpus}" for language, corpus in table.index}


def test_the_page_reports_missing_results() -> None:
    table, gained = languages_tables.accuracy([]), languages_tables.gains([])
    assert "no such part" in str(remarks.languages(languages_tables.means(gained), gained, table))
    assert not len(languages_tables.picture(gained))
    assert not len(table)
    assert table.index.names == ["language", "corpus"]  # queries that the page needs
