"""Test the scores of derivations against counts by hand."""

from __future__ import annotations

import pytest
from ccg_corpus import both, up, word
from scipy.stats import t

from treebound.systems.ccg.decoding import Decoded
from treebound.systems.ccg.evaluation import difference, evaluate
from treebound.treebanks.ccg.derivation import Derivation


def transitive(verb: str = "(S[dcl]\\NP)/NP") -> Derivation:
    subject, object_ = (up(word(noun, "NN", "N"), "NP") for noun in ("dogs", "cats"))
    return both(subject, both(word("see", "VBP", verb), object_, "fa"), "ba")


def decoded(derivation: Derivation, parsed: bool = True) -> Decoded:
    return Decoded((derivation,), parsed, 0.0, 0, 1.0, 1)


def test_scores_agree_with_counts_by_hand() -> None:
    gold = transitive()
    scores = evaluate([gold] * 3, [decoded(gold), decoded(transitive("(S[b]\\NP)/NP")), decoded(gold, False)])
    assert (scores.labelled.right, scores.labelled.predicted, scores.labelled.gold) == (2, 4, 4)
    assert (scores.unlabelled.right, scores.unlabelled.gold) == (4, 4)
    summary = scores.summary()
    assert summary["LF"] == summary["LP"] == summary["LR"] == 50
    assert summary["UF"] == 100
    assert summary["ST"] == pytest.approx(100 * 5 / 6)
    assert summary["exact"] == 50
    assert summary["coverage"] == pytest.approx(200 / 3)


def test_empty_input_and_different_sentences() -> None:
    assert evaluate([], []).summary()["LF"] == 0
    intransitive = both(up(word("cats", "NN", "N"), "NP"), word("sleep", "VBP", "S[dcl]\\NP"), "ba")
    with pytest.raises(ValueError, match="argument 2"):
        evaluate([transitive()], [decoded(intransitive)])
    renamed = transitive()
    renamed.leaves()[0].word = "birds"
    with pytest.raises(ValueError, match="not the derivations of the same sentences"):
        evaluate([transitive()], [decoded(renamed)])


def test_a_difference_and_its_interval() -> None:
    gold = transitive()
    right, wrong, none = decoded(gold), decoded(transitive("(S[b]\\NP)/NP")), decoded(gold, False)
    assert difference([gold] * 3, [right, right, none], [wrong, wrong, right]) == (100, 100, 100, 2)
    assert difference([gold], [none], [right]) == (0, 0, 0, 0)
    gain = difference([gold] * 4, [right] * 4, [right, right, right, wrong])
    assert gain.value == 25
    # jackknife: 33.3 three times and 0, with variance 625 / 3
    jackknife = [100 / 3] * 3 + [0]
    half = t.ppf(0.975, 3) * (3 * sum((x - 25) ** 2 for x in jackknife) / 4) ** 0.5
    assert gain.low == pytest.approx(25 - half)
    assert gain.high == pytest.approx(25 + half)
