"""Penn brackets: stored trees, and the whole sample if a mirror has it."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from treebound.treebanks import brackets
from treebound.treebanks.document import read
from treebound.treebanks.head_rules import PENN, parse_rules
from treebound.treebanks.projectivise import is_projective

LABELS = {"AMOD", "DEP", "NMOD", "OBJ", "P", "PMOD", "PRD", "ROOT", "SBAR", "SUB", "VC", "VMOD"}


def golden() -> list[tuple[str, list[tuple[str, int, str]]]]:
    """Return pairs of a tree and its list of (form, head, label)."""
    text = Path(__file__).with_name("golden").joinpath("penn.txt").read_text()
    pairs = []
    for block in text.split("\n\n")[1:]:
        tree, *words = block.strip().split("\n")
        cells = [line.split() for line in words]
        pairs.append((tree, [(cell[0], int(cell[1]), cell[2]) for cell in cells]))
    return pairs


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


#: the published head rules, copied by hand a second time: direction, then items in order; braces enclose one item
PUBLISHED = """
NP  r {POS NN NNP NNPS NNS} NX JJR CD JJ JJS RB QP NP
NX  r {POS NN NNP NNPS NNS} NX JJR CD JJ JJS RB QP NP
ADJP  r NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP  l RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
NAC  r {NN NNS NNP NNPS} NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
QP  r $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
VP  l VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
S  r TO IN VP S SBAR ADJP UCP NP
SBAR  r WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ  r SQ S SINV SBARQ FRAG
SINV  r VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ  r VBZ VBD VBP VB MD VP SQ
PP  l IN TO VBG VBN RP FW
WHPP  l IN TO FW
CONJP  l CC RB IN
WHNP  r WDT WP WP$ WHADJP WHPP WHNP
WHADJP  r CC WRB JJ ADJP
WHADVP  l CC WRB
RRC  l VP NP ADVP ADJP PP
PRT  l RP
LST  l LS :
FRAG  l
UCP  l
INTJ  r
PRN  r
X  r
*  r
"""


@pytest.mark.parametrize("line", PUBLISHED.strip().split("\n"), ids=lambda line: line.split()[0])
def test_head_rules_have_the_published_order(line):
    """Remove one head child after another, and check that their order is the published one.

    The children contain every category of the published list twice.
    """
    label, direction, *_ = line.split()
    items = [item.strip("{}").split() for item in re.findall(r"\{[^}]*\}|\S+", line)[2:]]
    # in reverse order, so that without the list the last item would come first
    order = [kind for item in reversed(items) for kind in (*item, *item)]
    children = order if direction == "l" else order[::-1]
    expected = [kind for item in items for kind in (*item, *item)]
    removed = []
    while children:
        i = PENN.head_child(label, children)
        removed.append(children[i])
        children = children[:i] + children[i + 1 :]
    assert removed == expected


def test_every_head_rule_is_a_published_one():
    assert set(PENN.rules) == {line.split()[0] for line in PUBLISHED.strip().split("\n")}


def golden_heads() -> list[tuple[str, str, str]]:
    """Return triples of a label, a head word and the tree of one constituent."""
    text = Path(__file__).with_name("golden").joinpath("penn_heads.txt").read_text()
    rows = [line.split(None, 2) for line in text.splitlines() if not line.startswith("#")]
    return [(label, word, tree) for label, word, tree in rows]


@pytest.mark.parametrize(("label", "word", "tree"), golden_heads())
def test_golden_heads(label, word, tree):
    (parsed,) = brackets.parse(f"({tree})")
    assert tree.startswith(f"({label} ")
    assert [w.form for w in brackets.dependencies(parsed) if w.head == 0] == [word]


def test_golden_heads_show_every_label():
    assert {label for label, _, _ in golden_heads()} == {*PENN.rules, "WHATEV"} - {"*"}


def test_the_default_passes_over_punctuation():
    for label, rule in PENN.rules.items():
        children = [",", "Z1", "Z2", "."]
        assert children[PENN.head_child(label, children)] == ("Z1" if rule.from_left else "Z2")


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
