"""Test that the synthetic language has the trees that it claims."""

from synthetic import synthetic_treebank

from treebound.checker.certificates import tree_faults


def test_sentences_are_projective_trees_with_one_root():
    bank = synthetic_treebank(200, 0)
    assert len(bank) == 200
    assert 2 < bank.words / 200 < 20
    for sentence in bank:
        assert tree_faults(sentence.heads, sentence.n, "projective", True) == []
    repeated = synthetic_treebank(200, 0)
    assert repeated.head.tolist() == bank.head.tolist()
    assert repeated.strings("form") == bank.strings("form")
