"""Test head indices and predicate-argument dependencies on the examples of Hockenmaier & Steedman (2007)."""

from __future__ import annotations

import pytest
from ccg_corpus import read_parg

from treebound.core.errors import InputError
from treebound.treebanks import brackets
from treebound.treebanks.ccg import agreement, heads
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.dependencies import dependencies, write_parg
from treebound.treebanks.ccg.penn.translate import translate


@pytest.mark.parametrize(
    ("category", "indexed"),
    [
        ("(S[dcl]\\NP)/NP", "(S[dcl]\\NP_1)/NP_2"),
        ("NP[nb]/N", "NP[nb]_1/N_1"),
        ("(S[dcl]\\NP)/(S[b]\\NP)", "(S[dcl]\\NP_1)/(S[b]_2\\NP_1)_2"),
        ("((S[dcl]\\NP)/(S[to]\\NP))/NP", "((S[dcl]\\NP_1)/(S[to]_2\\NP_4)_2)/NP_4"),
        ("(NP\\NP)/(S[dcl]/NP)", "(NP_1\\NP_1)/(S[dcl]_2/NP_1)_2"),
        ("(S\\NP)/(S\\NP)", "(S_1\\NP_2)_1/(S_1\\NP_2)_1"),
        ("((S\\NP)\\(S\\NP))/NP", "((S_1\\NP_2)_1\\(S_1\\NP_2)_1)/NP_3"),
        ("(S[dcl]\\S[dcl])\\NP", "(S[dcl]\\S[dcl]_1)\\NP_2"),
    ],
)
def test_head_indices(category, indexed):
    assert heads.text(parse(category)) == indexed


def dependencies_of(text):
    (node,) = brackets.parse(text, traces=True)
    derivation = translate(node).derivation
    words = [leaf.word for leaf in derivation.leaves()]
    return {(words[d.head], d.slot, words[d.filler]) for d in dependencies(derivation)}


def test_local_dependencies_and_auxiliaries():
    tree = """(S (NP-SBJ (PRP He)) (VP (VBZ is) (VP (ADVP (RB just)) (VBG passing) (NP (DT the) (NN buck))
               (PP-DIR (TO to) (NP (JJ young) (NNS people))))))"""
    assert dependencies_of(tree) == {
        ("is", 1, "He"),
        ("is", 2, "passing"),
        ("passing", 1, "He"),
        ("passing", 2, "buck"),
        ("just", 2, "passing"),
        ("to", 2, "passing"),
        ("to", 3, "people"),
        ("the", 1, "buck"),
        ("young", 1, "people"),
    }


def test_extraction():
    tree = """(NP (NP (DT the) (NN book)) (SBAR (WHNP-1 (WDT which)) (S (NP-SBJ (NNS kings))
              (VP (VBD bought) (NP (-NONE- *T*-1)) (NP-TMP (JJ last) (NN year))))))"""
    assert {
        ("which", 1, "book"),
        ("which", 2, "bought"),
        ("bought", 1, "kings"),
        ("bought", 2, "book"),
    } <= dependencies_of(tree)


def test_reduced_relatives_and_control():
    tree = "(NP (NP (NNS workers)) (RRC (VP (VBN exposed) (NP (-NONE- *)) (PP-CLR (TO to) (NP (PRP it))))))"
    assert dependencies_of(tree) == {("exposed", 1, "workers"), ("exposed", 2, "to"), ("to", 1, "it")}
    tree = """(S (NP-SBJ (PRP she)) (VP (VBD asked) (NP-1 (NNP Bob))
              (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB sleep))))))"""
    assert {("sleep", 1, "Bob"), ("asked", 1, "she"), ("asked", 2, "to"), ("asked", 3, "Bob")} <= dependencies_of(tree)


def test_coordination_shares_arguments_and_heads():
    tree = "(S (NP-SBJ (NP (NNP Ann)) (CC and) (NP (NNP Bob))) (VP (VBP meet) (CC or) (VBP see) (NP (NNS cats))))"
    assert dependencies_of(tree) == {(verb, 1, who) for verb in ("meet", "see") for who in ("Ann", "Bob")} | {
        (verb, 2, "cats") for verb in ("meet", "see")
    }


def test_parg_files(tmp_path):
    (node,) = brackets.parse("(S (NP-SBJ (PRP He)) (VP (VBD saw) (NP (PRP it))))", traces=True)
    derivation = translate(node).derivation
    path = tmp_path / "a.parg"
    write_parg(path, [("wsj_0001.1", derivation)])
    assert path.read_text().splitlines()[1].split() == ["0", "1", "(S[dcl]\\NP)/NP", "1", "He", "saw"]
    assert read_parg(path) == [("wsj_0001.1", dependencies(derivation))]


def test_agreement_with_another_table(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("# theirs\nNP[nb]/N\tNP[nb]_145/N_145\n(S[dcl]\\NP)/NP\t(S[dcl]\\NP_7)/NP_7\nN\tN\n")
    comparison = agreement.compare(agreement.read_table(path), {"NP[nb]/N": 5, "(S[dcl]\\NP)/NP": 2, "N/N": 3})
    assert comparison.types == {"same": 2, "different": 1, "not in the table": 1}
    assert comparison.tokens == {"same": 5, "different": 2, "not in the table": 3}
    assert [(count, str(category)) for count, category, *_ in comparison.different] == [(2, "(S[dcl]\\NP)/NP")]
    path.write_text("NP N\n")
    with pytest.raises(InputError, match=r"table.txt:1: not a category and its indices"):
        agreement.read_table(path)
