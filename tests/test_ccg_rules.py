"""Test categories, rules and derivations with examples of Hockenmaier & Steedman (2007)."""

from __future__ import annotations

import pickle

import pytest
from ccg_corpus import head_leaf

from treebound.core.errors import InputError
from treebound.treebanks.ccg import derivation
from treebound.treebanks.ccg.categories import functor, match, parse
from treebound.treebanks.ccg.rules import combine, is_raised, raised, unary

SAMPLE = (
    "(<T S[dcl] 1 2> (<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]/N>) (<L N NN NN board N>) ) "
    "(<T S[dcl]\\NP 0 2> (<L S[dcl]\\NP VBD VBD met S[dcl]\\NP>) (<L . . . . .>) ) )"
)


@pytest.mark.parametrize(
    "text", ["S[dcl]", "(S[dcl]\\NP)/NP", "((S\\NP)\\(S\\NP))/N[num]", "NP[conj]", "S[dcl]\\NP[conj]", ",", "N/N", ":"]
)
def test_categories_are_read_written_and_interned(text):
    category = parse(text)
    assert str(category) == text
    assert parse(text) is category
    assert pickle.loads(pickle.dumps(category)) is category


@pytest.mark.parametrize("text", ["", "(S", "S)", "S/", "/NP", "S[dcl", "S//NP", "S NP", "()"])
def test_invalid_categories_are_refused(text):
    with pytest.raises(ValueError, match="not a category"):
        parse(text)


def test_parts_of_a_category():
    give = parse("((S[dcl]\\NP)/NP)/PP")
    assert give.arity == 3
    assert [str(a) for _, a in give.arguments()] == ["PP", "NP", "NP"]
    assert str(give.target) == "S[dcl]"
    assert not give.is_modifier
    assert parse("(S\\NP)/(S\\NP)").is_modifier
    assert str(give.bare()) == "((S\\NP)/NP)/PP"
    assert functor(give.result, "/", give.argument) is give


def test_features():
    assert match(parse("S\\NP"), parse("S[dcl]\\NP")) == {"S": "dcl"}
    assert match(parse("S[ng]\\NP"), parse("S[dcl]\\NP")) is None
    assert match(parse("NP"), parse("NP[expl]")) is not None
    assert match(parse("NP"), parse("NP[conj]")) is None


@pytest.mark.parametrize(
    ("left", "right", "rule", "result"),
    [
        ("(S[dcl]\\NP)/NP", "NP", "fa", "S[dcl]\\NP"),
        ("NP", "S[dcl]\\NP", "ba", "S[dcl]"),
        ("(S\\NP)/(S\\NP)", "S[ng]\\NP", "fa", "S[ng]\\NP"),
        ("S[ng]\\NP", "(S\\NP)\\(S\\NP)", "ba", "S[ng]\\NP"),
        ("S/(S\\NP)", "(S[dcl]\\NP)/NP", "fc", "S[dcl]/NP"),
        ("S/(S\\NP)", "((S[dcl]\\NP)/NP)/NP", "fc", "(S[dcl]/NP)/NP"),
        ("(S[dcl]\\NP)/NP", "(S\\NP)\\(S\\NP)", "bx", "(S[dcl]\\NP)/NP"),
        ("S/S", "S[dcl]\\NP", "fx", "S[dcl]\\NP"),
        ("S[dcl]\\NP", "S\\S", "bc", "S[dcl]\\NP"),
        ("(S[to]\\NP)/NP", "((S\\NP)\\(S\\NP))/NP", "bs", "(S[to]\\NP)/NP"),
        ("conj", "NP", "conj", "NP[conj]"),
        (",", "S[dcl]\\NP", "conj", "S[dcl]\\NP[conj]"),
        ("NP", "NP[conj]", "coord", "NP"),
        ("conj", "N", "funny", "N"),
        ("NP", ",", "rp", "NP"),
        ("NP", ",", "tc", "S/S"),
        ("NP[nb]/N", "N", "fa", "NP"),
    ],
)
def test_combinations(left, right, rule, result):
    assert (rule, parse(result)) in [
        (combination.rule, combination.result) for combination in combine(parse(left), parse(right))
    ]


@pytest.mark.parametrize(
    ("left", "right"), [("NP", "NP"), ("S[dcl]", "S[dcl]"), ("(S[dcl]\\NP)/(S[b]\\NP)", "S[ng]\\NP"), ("N", "NP[conj]")]
)
def test_categories_that_do_not_combine(left, right):
    assert combine(parse(left), parse(right)) == []


def test_unary_rules():
    assert parse("NP") in [combination.result for combination in unary(parse("N"))]
    assert is_raised(raised(parse("NP"), parse("S")), parse("NP"))
    assert str(raised(parse("NP"), parse("(S\\NP)/NP"), forward=False)) == "((S\\NP)/NP)\\(((S\\NP)/NP)/NP)"
    assert not is_raised(parse("S/(S\\NP)"), parse("PP"))


def test_derivations_are_read_and_written(tmp_path):
    tree = derivation.from_text(SAMPLE)
    assert derivation.to_text(tree) == SAMPLE
    assert [leaf.word for leaf in tree.leaves()] == ["the", "board", "met", "."]
    assert [node.rule for node in tree.nodes()] == ["ba", "fa", "lex", "lex", "rp", "lex", "lex"]
    assert head_leaf(tree).word == "met"
    path = tmp_path / "a.auto"
    derivation.write(path, [derivation.Entry("wsj_0001.1", tree)])
    (entry,) = derivation.read(path)
    assert entry.name == "wsj_0001.1"
    assert entry.line == 2
    assert derivation.to_text(entry.derivation) == SAMPLE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SAMPLE + ")", "unexpected"),
        (SAMPLE[:-1], "never closed"),
        ("(<T NP 0 2> (<L N NN NN board N>) )", "1 children, not 2"),
        ("(<L N( NN NN board N>)", "not a category"),
        (")", "closing bracket"),
        ("board", "unexpected 'board'"),
        ("(<T NP 1 1> (<L N NN NN board N>) )", "head 1"),
    ],
)
def test_broken_derivations_are_named(tmp_path, text, reason):
    path = tmp_path / "b.auto"
    path.write_text(f"ID=1\n{SAMPLE}\nID=2\n{text}\n")
    with pytest.raises(InputError, match=rf"b\.auto:4: .*{reason}"):
        list(derivation.read(path))
