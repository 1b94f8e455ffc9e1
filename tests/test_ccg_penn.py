"""Penn trees -> CCG: golden trees, one a construction; every derivation licensed, its words those of the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebound.treebanks import brackets
from treebound.treebanks.ccg import check
from treebound.treebanks.ccg.penn.translate import translate

GOLDEN = Path(__file__).with_name("golden") / "ccg.txt"


def golden():
    for block in GOLDEN.read_text().split("\n> ")[1:]:
        name, tree, words = block.strip().split("\n")
        yield pytest.param(tree, words.split(), id=name)


def translated(text):
    (node,) = brackets.parse(text, traces=True)
    return translate(node)


@pytest.mark.parametrize(("tree", "words"), golden())
def test_constructions(tree, words):
    result = translated(tree)
    assert result.failure == ""
    assert [f"{leaf.word}/{leaf.category}" for leaf in result.derivation.leaves()] == words
    assert list(check.faults(result.derivation, [word.split("/")[0] for word in words])) == []
