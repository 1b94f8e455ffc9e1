"""Penn brackets: golden trees, and the whole sample where a mirror has it."""

from __future__ import annotations

import os
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from treebound.treebanks import brackets
from treebound.treebanks.document import read
from treebound.treebanks.head_rules import PENN, parse_rules
from treebound.treebanks.projectivise import is_projective

LABELS = {"AMOD", "DEP", "NMOD", "OBJ", "P", "PMOD", "PRD", "ROOT", "SBAR", "SUB", "VC", "VMOD"}


def golden() -> list[tuple[str, list[tuple[str, int, str]]]]:
    """(tree, [(form, head, label)])."""
    text = Path(__file__).with_name("golden").joinpath("penn.txt").read_text()
    found = []
    for block in text.split("\n\n")[1:]:
        tree, *words = block.strip().split("\n")
        cells = [line.split() for line in words]
        found.append((tree, [(cell[0], int(cell[1]), cell[2]) for cell in cells]))
    return found


@pytest.mark.parametrize(("tree", "words"), golden(), ids=[" ".join(w[0] for w in words) for _, words in golden()])
def test_golden_trees(tree, words):
    (parsed,) = brackets.parse(tree)
    assert [(w.form, w.head, w.label) for w in brackets.dependencies(parsed)] == words


def test_golden_trees_show_every_label():
    assert {label for _, words in golden() for _, _, label in words} == LABELS


def test_columns_of_a_converted_tree():
    document = read([b"( (NP (PRP$ my) (NN|JJ own) (-NONE- *)) )\n"])
    assert document.treebank.strings("xpos") == ["PRP$", "NN|JJ"]
    assert document.treebank.strings("upos") == ["PR", "NN"]


def test_head_rules_of_every_constituent():
    """First item of the list that is there; else the first child in direction that is no punctuation."""
    assert len(PENN.rules) == 27  # the table has 26, and `*`
    for label, rule in PENN.rules.items():
        order = ["Z1", "Z2"] if rule.from_left else ["Z2", "Z1"]
        children = [",", "Z1", "Z2", "."]
        assert children[PENN.head_child(label, children)] == order[0]
        items = [sorted(item)[0] for item in rule.priorities]
        for first, second in pairwise(items):
            for pair in ([first, "Z1", second], [second, "Z1", first]):
                assert pair[PENN.head_child(label, pair)] == first
        for item in rule.priorities:
            for one in item:
                for two in item:
                    assert PENN.head_child(label, ["Z1", one, two, "Z1"]) == (1 if rule.from_left else 2)
    assert PENN.head_child("unheard-of", ["A", "B", "."]) == 1


@pytest.mark.parametrize("text", ["NP x NN\n* r", "NP r NN\nNP l NN\n* r", "NP r NN"])
def test_wrong_head_rules(text):
    with pytest.raises(ValueError, match=r"head rule|\*"):
        parse_rules(text)


def test_deep_trees_are_no_problem():
    n = 20_000
    tree = "( " + "(NP " * n + "(NN end)" + ")" * n + " )"
    assert read([tree.encode()]).treebank.head.tolist() == [0]


def test_the_whole_sample():
    folder = os.environ.get("TREEBANK_MIRROR")
    path = Path(folder or "", "ptb_sample", "treebank.zip")
    if not folder or not path.is_file():
        pytest.skip("needs a mirror of the treebanks: set TREEBANK_MIRROR")
    sentences = words = 0
    labels = set()
    with zipfile.ZipFile(path) as archive:
        for name in sorted(n for n in archive.namelist() if n.startswith("treebank/combined/wsj_")):
            treebank = read(archive.read(name).splitlines(keepends=True), "brackets").treebank
            for sentence in treebank:
                assert np.count_nonzero(sentence.heads == 0) == 1
                assert is_projective(sentence.heads)
            sentences += len(treebank)
            words += treebank.words
            labels |= set(treebank.strings("deprel"))
    assert (sentences, words, labels) == (3914, 94084, LABELS)
