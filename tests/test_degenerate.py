"""Test treebanks with very little training data: every system trains and parses, or prints one error line."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from test_cli import assert_one_line, run

ROWS = [("ka", "PRON", 2, "nsubj"), ("lo", "VERB", 0, "root"), ("mi", "NOUN", 2, "obj"), (".", "PUNCT", 2, "punct")]
CROSSING = [("a", "X", 3, "dep"), ("b", "X", 4, "dep"), ("c", "X", 0, "root"), ("d", "X", 3, "dep")]


def sentence(rows: list[tuple[str, str, int, str]]) -> str:
    lines = [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_" for i, (form, tag, head, label) in enumerate(rows, 1)
    ]
    return "\n".join(lines) + "\n\n"


TREEBANKS = {
    "one sentence": sentence(ROWS),
    "one word each": sentence([("ka", "X", 0, "root")]) * 3,
    "one tag": sentence([(form, "X", head, label) for form, _, head, label in ROWS]) * 12,
    "one label": sentence([(form, tag, head, "dep") for form, tag, head, _ in ROWS]) * 12,
    "no tags, no labels": sentence([(form, "_", head, "_") for form, _, head, _ in ROWS]) * 12,
    "no projective tree": sentence(CROSSING) * 12,
}
SYSTEMS = {
    "graph": ("--epochs", 1, "--bits", 14),
    "transition": ("--epochs", 1),
    "transition svm": ("--learning", "svm"),
    "transition quadratic": ("--learning", "quadratic"),
    "transition memory": ("--learning", "memory"),
    "sampling": ("--epochs", 1),
    "tagging": ("--epochs", 1),
}
NEEDS = {"transition svm": "sklearn", "transition quadratic": "libsvm", "transition memory": "timblapi"}


@pytest.mark.parametrize("treebank", TREEBANKS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_trains_and_parses_or_prints_one_error_line(system: str, treebank: str, tmp_path: Path) -> None:
    if system in NEEDS and find_spec(NEEDS[system]) is None:
        pytest.skip(f"{NEEDS[system]} is not installed")
    train, text, model = tmp_path / "train.conllu", tmp_path / "text.conllu", tmp_path / "model.npz"
    train.write_text(TREEBANKS[treebank])
    text.write_text(sentence(ROWS) * 2)
    name = system.split()[0]
    trained = run("train", "--system", name, *SYSTEMS[system], train, train, "-o", model)
    if trained.returncode:
        assert treebank == "no tags, no labels"
        assert_one_line(trained, "train.conllu: ")
        assert not model.exists()
        return
    parsed = run("tag" if name == "tagging" else "parse", model, text)
    assert parsed.returncode == 0, parsed.stderr
    assert parsed.stdout.count("\n1\t") + parsed.stdout.startswith("1\t") == 2
