"""Test the translation of Penn trees to CCG: one golden tree per construction; all derivations are licensed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ccg_corpus import read_parg
from typer.testing import CliRunner

from treebound.cli import application
from treebound.core.errors import InputError
from treebound.plots.derivation import derivation_svg
from treebound.treebanks import brackets
from treebound.treebanks.ccg import check, derivation
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.penn import close
from treebound.treebanks.ccg.penn.translate import translate
from treebound.treebanks.ccg.penn.tree import from_node
from treebound.treebanks.convert_ccg import convert_ccgbank

GOLDEN = Path(__file__).with_name("golden") / "ccg.txt"


def golden():
    for block in GOLDEN.read_text().split("\n> ")[1:]:
        name, tree, words = block.strip().split("\n")
        yield pytest.param(tree, words.split(), id=name)


def translated(text):
    (node,) = brackets.parse(text, traces=True)
    return translate(node)


@pytest.mark.parametrize(("tree", "words"), list(golden()))
def test_constructions(tree, words):
    result = translated(tree)
    assert result.failure == ""
    assert [f"{leaf.word}/{leaf.category}" for leaf in result.derivation.leaves()] == words
    assert list(check.faults(result.derivation, [word.split("/")[0] for word in words])) == []


@pytest.mark.parametrize(
    ("tree", "failure"),
    [
        ("(S (NP-SBJ (-NONE- *)) (`` ``))", "no words but quotation marks"),
        (
            "(S (S (NP-SBJ-1 (PRP he)) (VP (VBD saw) (NP-2 (PRP it))))"
            " (CC and) (S (NP-SBJ=1 (PRP she)) (NP=2 (PRP him))))",
            "gapping of S",
        ),
    ],
)
def test_uncovered_constructions_are_named(tree, failure):
    result = translated(tree)
    assert result.derivation is None
    assert failure in result.failure


def test_forced_coordinations_are_counted():
    tree = "(VP (VBP are) (UCP-PRD (ADJP (JJ risky)) (CC and) (PP (IN in) (NP (NN doubt)))))"
    result = translated(tree)
    assert result.counts["unlike coordination"] == 1
    assert check.forced(result.derivation) == ["conj PP => S[adj]\\NP[conj]"]


def test_the_checker_reports_unlicensed_steps():
    noun = Derivation(parse("N"), word="cat", tag="NN")
    odd = Derivation(parse("S[dcl]"), "fa", 0, (noun, noun))
    assert list(check.faults(odd, ["cat", "cat"])) == ["N N => S[dcl]"]
    assert list(check.faults(noun, ["dog"])) == ["words 'cat' are not 'dog'"]
    raised = Derivation(parse("S/(S\\NP)"), "tr", 0, (Derivation(parse("PP"), word="in", tag="IN"),))
    assert list(check.faults(raised)) == ["PP => S/(S\\NP)"]


def test_a_ccgbank_at_a_path(tmp_path):
    for section in (0, 2, 23):
        folder = tmp_path / "bank" / "AUTO" / f"{section:02}"
        folder.mkdir(parents=True)
        entry = derivation.Entry(f"wsj_{section:02}01.1", translated("(NP (DT a) (NN cat))").derivation)
        derivation.write(folder / f"wsj_{section:02}01.auto", [entry])
    report = convert_ccgbank(tmp_path / "bank", tmp_path / "out")
    assert {name: split["sentences"] for name, split in report["splits"].items()} == {"train": 1, "dev": 1, "test": 1}
    assert report["all"]["unlicensed_steps"] == 0
    (entry,) = derivation.read(tmp_path / "out" / "ccgbank" / "dev.auto")
    assert entry.name == "wsj_0001.1"
    with pytest.raises(InputError, match="has no AUTO/00"):
        convert_ccgbank(tmp_path / "out", tmp_path / "out")


def test_the_sample(tmp_path):
    """Check the conversion of the Penn sample: at least 99 % of the sentences get a derivation.

    There are at most 550 categories, every step is licensed, and the files agree with the report.
    """
    mirror = os.environ.get("TREEBANK_MIRROR")
    if not mirror or not Path(mirror, "ptb_sample").is_dir():
        pytest.skip("needs a mirror of the treebanks: set TREEBANK_MIRROR")
    result = CliRunner().invoke(application(), ["convert", "ptb_sample", "--to", "ccg", "--data-dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "ccg" / "ptb_sample"
    report = json.loads((folder / "ccg.json").read_text())
    assert report["all"]["sentences"] == 3914
    assert report["all"]["coverage"] >= 99.0
    assert report["all"]["categories"] <= 550
    assert report["all"]["unlicensed_steps"] == 0
    entries = list(derivation.read(folder / "test.auto"))
    assert len(entries) == report["splits"]["test"]["derivations"]
    assert all(list(check.faults(entry.derivation)) == [] for entry in entries)
    assert [name for name, _ in read_parg(folder / "test.parg")] == [entry.name for entry in entries]


def test_ccgbank_needs_a_path(tmp_path):
    result = CliRunner().invoke(application(), ["convert", "ccgbank", "--to", "ccg", "--data-dir", str(tmp_path)])
    assert result.exit_code == 1


def test_prepositional_complements_of_a_treebank_that_does_not_mark_them():
    marked = "(S (NP-SBJ (PRP he)) (VP (VBD relied) (PP-CLR (IN on) (NP (PRP it)))))"
    (node,) = brackets.parse(marked, traces=True)
    assert close.learn([from_node(node)]) == [("rel", "on")]
    assert ("rel", "on") in close.pairs()
    (node,) = brackets.parse(marked.replace("-CLR", ""), traces=True)
    verbs = [str(translate(node, unmarked).derivation.leaves()[1].category) for unmarked in (False, True)]
    assert verbs == ["S[dcl]\\NP", "(S[dcl]\\NP)/PP"]


def test_derivations_are_drawn():
    drawn = derivation_svg(translated("(S (NP-SBJ (NNP A&B)) (VP (VBD slept)))").derivation)
    texts = [element.text for element in ElementTree.fromstring(drawn.markup).iter() if element.tag.endswith("}text")]
    assert sorted(texts) == sorted(["A&B", "N", "*", "NP", "slept", "S[dcl]\\NP", "<", "S[dcl]"])
    assert "A&B slept" in drawn.alt
