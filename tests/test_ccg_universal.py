"""Test the translation of Universal Dependencies to CCG: hand-written sentences and random projective trees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treebound.treebanks.ccg import check, universal
from treebound.treebanks.ccg.universal import Words, translate

# word/UPOS/head/relation of each word -> categories
SENTENCES = {
    "Ann/PROPN/2/nsubj sees/VERB/0/root the/DET/4/det cat/NOUN/2/obj ./PUNCT/2/punct": r"N (S\NP)/NP NP[nb]/N N .",
    "he/PRON/3/nsubj may/AUX/3/aux sleep/VERB/0/root in/ADP/5/case May/PROPN/3/obl": (
        r"NP (S\NP)/(S\NP) S\NP ((S\NP)\(S\NP))/NP N"
    ),
    "he/PRON/4/nsubj is/AUX/4/cop a/DET/4/det king/NOUN/0/root": r"NP (S\NP)/NP NP[nb]/N N",
    "he/PRON/3/nsubj is/AUX/3/cop happy/ADJ/0/root": r"NP (S\NP)/(S[adj]\NP) S[adj]\NP",
    "she/PRON/2/nsubj said/VERB/0/root that/SCONJ/5/mark he/PRON/5/nsubj slept/VERB/2/ccomp": (
        r"NP (S\NP)/S S/S NP S\NP"
    ),
    "she/PRON/2/nsubj wants/VERB/0/root to/PART/4/mark sleep/VERB/2/xcomp": r"NP (S\NP)/(S\NP) (S\NP)/(S\NP) S\NP",
    "cats/NOUN/0/root ,/PUNCT/3/punct dogs/NOUN/1/conj and/CCONJ/5/cc cows/NOUN/1/conj": "N , N conj N",
    "the/DET/2/det man/NOUN/0/root who/PRON/4/nsubj slept/VERB/2/acl:relcl": r"NP[nb]/N N NP S\NP",
    "old/ADJ/2/amod men/NOUN/0/root of/ADP/4/case Rome/PROPN/2/nmod": r"N/N N (NP\NP)/NP N",
    "he/PRON/2/nsubj left/VERB/0/root because/SCONJ/5/mark she/PRON/5/nsubj slept/VERB/2/advcl": (
        r"NP S\NP ((S\NP)\(S\NP))/S NP S\NP"
    ),
    "Ann/PROPN/2/nsubj came/VERB/0/root and/CCONJ/5/cc Bob/PROPN/5/nsubj left/VERB/2/conj": r"N S\NP conj N S\NP",
    "ev/NOUN/3/obl de/ADP/1/case uyudu/VERB/0/root": r"N (S/S)\NP S",
}


def words(text):
    rows = [item.rsplit("/", 3) for item in text.split()]
    columns = [["", *column] for column in zip(*rows, strict=True)]
    return Words(columns[0], columns[1], columns[1], columns[3], [0, *map(int, columns[2][1:])])


@pytest.mark.parametrize(("text", "categories"), SENTENCES.items())
def test_sentences(text, categories):
    sentence = words(text)
    derivation = translate(sentence).derivation
    assert [str(leaf.category) for leaf in derivation.leaves()] == categories.split()
    assert list(check.faults(derivation, sentence.form[1:])) == []


RELATIONS = [key for table in universal.relations().values() for key in table] + ["obl", "advcl", "amod", "cc", "conj"]
UPOS = ["NOUN", "VERB", "ADJ", "ADV", "PRON", "DET", "ADP", "AUX", "CCONJ", "SCONJ", "PUNCT", "PROPN", "INTJ"]


@st.composite
def projective(draw):
    """Draw a random projective tree: the head of every span, then the heads of the spans to its left and right."""
    n = draw(st.integers(1, 7))
    heads = [0] * (n + 1)

    def span(first, last, head):
        while first <= last:
            end = draw(st.integers(first, last))
            top = draw(st.integers(first, end))
            heads[top] = head
            span(first, top - 1, top)
            span(top + 1, end, top)
            first = end + 1

    root = draw(st.integers(1, n))
    span(1, root - 1, root)
    span(root + 1, n, root)
    upos = ["", *(draw(st.sampled_from(UPOS)) for _ in range(n))]
    relation = ["", *(draw(st.sampled_from(RELATIONS)) for _ in range(n))]
    return Words(["", *(f"w{i}" for i in range(1, n + 1))], upos, upos, relation, heads)


@settings(max_examples=300, deadline=None)
@given(projective())
def test_derivations_are_licensed(sentence):
    result = translate(sentence)
    if result.derivation is None:
        assert result.failure, "a failure must have a description"
    else:
        assert list(check.faults(result.derivation, sentence.form[1:])) == []


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("a/NOUN/0/root b/NOUN/0/root", "2 roots"),
        ("a/NOUN/3/nsubj b/NOUN/4/obj c/VERB/0/root d/VERB/3/ccomp", "crossing arcs"),
    ],
)
def test_uncovered_trees_are_named(text, failure):
    assert translate(words(text)).failure == failure
