"""Pages without repeated sentences: more than three sentences with one pattern are rows of a table."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import repeated_sentences
from nbformat.v4 import new_code_cell, new_notebook, new_output

from studies.site.outcomes import outcomes
from studies.site.sentences import significance_counts, wins
from studies.site.show import NOTHING, Remarks

REPOSITORY = Path(__file__).parents[1]
CORPORA = ("tr_twt", "pt_petrogold", "en_ewt", "zh_gsd")


@pytest.fixture(scope="module")
def names() -> list[str]:
    return repeated_sentences.names(REPOSITORY / "params.yaml")


def test_sentences_that_differ_in_names_and_numbers_share_a_pattern(names: list[str]) -> None:
    sentences = [
        f"On {corpus} (reference), a threshold of 0.0{i} leaves {i}.5 of 9.7 heads per word, combined and carreras."
        for i, corpus in enumerate(CORPORA, 1)
    ]
    assert len({repeated_sentences.pattern(sentence, names) for sentence in sentences}) == 1
    assert list(repeated_sentences.repeated(sentences, names)) == [sentences]
    assert not list(repeated_sentences.repeated(sentences[:3], names)), "three sentences are allowed"


def test_lists_of_different_lengths_share_a_pattern(names: list[str]) -> None:
    start = "UAS of sampling full against combined: significantly better at the 1 % level: "
    sentences = [f"{start}{', '.join(f'{c} (+0.{i})' for i, c in enumerate(CORPORA[:n]))}." for n in (1, 2, 3, 4)]
    assert list(repeated_sentences.repeated(sentences, names)) == [sentences]


def test_different_statements_and_fixed_caveats_are_allowed(names: list[str]) -> None:
    caveats = ["These differences were not tested for significance."] * 5
    different = [
        "Every tree of 81 of 86 rows is proved optimal for its model.",
        "Pruning with k = 10 multiplies speed by 7.2 to 53.1.",
        "The largest spread is 20.0 %, and 19 of the 140 rows were timed once.",
        "Training with F5 on zh_gsd takes 1 CPU s to 134 CPU s.",
    ]
    assert not list(repeated_sentences.repeated(caveats + different, names))


def test_sentences_of_remarks_and_of_markdown_are_read(tmp_path: Path, names: list[str]) -> None:
    remark = Remarks(tuple(f"On {corpus}, {i} trees are proved. It took {i} s." for i, corpus in enumerate(CORPORA)))
    data = remark._repr_mimebundle_()
    plain = {"text/markdown": "On ptb_sample, 4 trees are proved."}
    outputs = [new_output("display_data", data=kinds) for kinds in (data, plain)]
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps(new_notebook(cells=[new_code_cell("x", outputs=outputs)])), encoding="utf-8")
    groups = list(repeated_sentences.repeated(repeated_sentences.sentences(path), names))
    assert [len(group) for group in groups] == [5, 4]
    assert repeated_sentences.main(tmp_path, REPOSITORY / "params.yaml") == 1


def test_outcomes_count_significant_differences_by_group() -> None:
    keys = [("a", "x"), ("a", "y"), ("a", "z"), ("b", "x")]
    index = pd.MultiIndex.from_tuples(keys, names=["pair", "corpus"])
    data = pd.DataFrame({"difference": [0.5, 1.5, -2.0, 3.0], "p": [0.01, 0.001, 0.02, 0.9]}, index=index)
    table = outcomes(data, ["pair"])
    assert table.index.tolist() == [("a",), ("b",)]
    row = table.loc[("a",)]
    assert row["significantly better"] == "y +1.50; x +0.50", "the largest difference comes first"
    assert row["significantly worse"] == "z \N{MINUS SIGN}2.00"
    assert row[["tests", "differences", "not significant"]].tolist() == [3, "\N{MINUS SIGN}2.00 to +1.50", 0]
    assert table.loc[("b",), "significantly better"] == NOTHING
    assert outcomes(data, ["pair"], 0.005).loc[("a",), "significantly better"] == "y +1.50"
    by_interval = data.drop(columns="p").assign(low=[0.1, -0.1, -3.0, 1.0], high=[1.0, 3.0, -1.0, 5.0])
    assert outcomes(by_interval, ["pair"]).loc[("a",), "significantly better"] == "x +0.50"
    assert outcomes(data.iloc[:0], ["pair"]).empty
    many = data.assign(difference=[0.5, 1.5, 2.0, 3.0])
    assert outcomes(many, ["pair"]).loc[("a",), "significantly better"] == "3, the largest: z +2.00"
    assert significance_counts(data, "A is", "B") == (
        "A is significantly better in 2 of 4 comparisons, and B in 1 (5 % level). By chance alone, fewer than one "
        "would be significant."
    )
    assert wins(data, 0.005) == (1, 0)
    assert wins(by_interval) == (2, 1), "without p, the interval decides"
