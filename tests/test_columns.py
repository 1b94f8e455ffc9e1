"""Test the warnings about columns that are empty, exchanged or full of values that are unknown to a model."""

from __future__ import annotations

import io

import pytest

from treebound.cli.columns import FEWEST, PART, Columns
from treebound.core.treebank import Treebank
from treebound.learning.conventions import conventions, training_meta
from treebound.treebanks.document import read

KNOWN = {"upos": ["N", "V"], "xpos": ["nn", "vb"], "feats": ["_", "A=1"]}


def treebank(*words: tuple[str, str, str]) -> Treebank:
    """Return one sentence of words with these UPOS, XPOS and FEATS."""
    rows = [f"{i}\tw\t_\t{upos}\t{xpos}\t{feats}\t{i - 1}\tx\t_\t_\n" for i, (upos, xpos, feats) in enumerate(words, 1)]
    return read(io.BytesIO("".join([*rows, "\n"]).encode())).treebank


def warnings(capsys: pytest.CaptureFixture[str], *parts: Treebank, known: dict[str, list[str]] = KNOWN) -> list[str]:
    columns = Columns("f", ("xpos", "upos", "feats"), known)
    for part in parts:
        columns.add(part)
    columns.finish()
    return [line.removeprefix("treebound: warning: f") for line in capsys.readouterr().err.splitlines()]


def test_known_values_raise_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert warnings(capsys, treebank(*[("N", "nn", "_"), ("V", "vb", "A=1")] * 20)) == []


def test_half_of_the_words_is_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert warnings(capsys, treebank(*[("N", "nn", "_"), ("N", "q", "_")] * 10)) == []
    (line,) = warnings(capsys, treebank(*[("N", "nn", "_"), ("N", "q", "_")] * 10, ("N", "q", "_")))
    assert (
        line
        == ": the model does not know the xpos of 11 of 21 words (52 %): is it annotated like the training treebank?"
    )


def test_exchanged_columns_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = warnings(capsys, treebank(*[("nn", "N", "_"), ("vb", "V", "_")] * 5))
    assert line.endswith("words (100 %), but it knows the values of upos: are xpos and upos exchanged?")


def test_few_words_raise_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert warnings(capsys, treebank(*[("N", "q", "_")] * (FEWEST - 1))) == []
    assert len(warnings(capsys, *[treebank(("N", "q", "_"))] * FEWEST)) == 1


def test_only_words_with_features_count(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = warnings(capsys, treebank(*[("N", "nn", "_")] * 90, *[("N", "nn", "B=2")] * 6))
    assert "the feats of 6 of 6 words" in line


def test_a_column_that_was_empty_in_training_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    empty = treebank(*[("N", "_", "_")] * 60)
    assert warnings(capsys, empty) == [": xpos, feats empty, but the model reads them; `treebound tag` can fill them"]
    assert warnings(capsys, empty, known=KNOWN | {"xpos": ["_"], "feats": ["_"]}) == []
    assert warnings(capsys, empty, known={}) == [
        ": xpos, feats empty, but the model reads them; `treebound tag` can fill them"
    ]


def test_a_later_part_is_named_and_a_column_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = treebank(("N", "nn", "A=1")), treebank(("N", "q", "A=1"))
    (line,) = warnings(capsys, *[good] * PART, *[bad] * PART, *[bad] * PART)
    assert line.startswith(f", sentences {PART + 1} to {2 * PART}: the model does not know the xpos")


def test_a_model_file_contains_the_values_of_the_used_columns() -> None:
    train = treebank(("V", "vb", "A=1"), ("N", "nn", "_"))
    assert conventions(training_meta(train))["values"] == {"upos": ["N", "V"], "xpos": ["nn", "vb"]}
    train.meta["attributes"] = ["feats", "suffix"]
    assert conventions(training_meta(train))["values"]["feats"] == ["A=1", "_"]
    assert "values" not in train.meta
