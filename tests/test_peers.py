"""Parsers of other projects read the same words and return trees. Packages that are not installed are skipped."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from synthetic import synthetic_treebank

from studies.pipeline.decode import table_of
from studies.pipeline.trainers.peers import reported
from treebound.core.errors import InputError
from treebound.core.vocabulary import Vocabulary
from treebound.metrics.attachment import evaluate
from treebound.systems.peers.peer import Peer, package, root_label, single_rooted
from treebound.systems.peers.registry import PEERS, udpipe

#: settings for few epochs and little data
SETTINGS = {"udpipe": {"iterations": 2, "hidden_layer": 50}, "spacy": {"epochs": 2}}


def labelled_treebank(sentences: int, seed: int):
    """Return the synthetic treebank with the tag of a word as its label, and "top" as the label of roots."""
    treebank = synthetic_treebank(sentences, seed, max_words=12)
    strings = [tag if head else "top" for tag, head in zip(treebank.strings("upos"), treebank.head, strict=True)]
    labels = Vocabulary(sorted(set(strings)))
    ids = np.array([labels.get(s) for s in strings], np.int32)
    return replace(treebank, columns=treebank.columns | {"deprel": ids}, vocab=treebank.vocab | {"deprel": labels})


def installed(name: str) -> Peer:
    peer = PEERS[name]
    if find_spec(peer.module.partition(".")[0]) is None:
        pytest.skip(f"{peer.package} is not installed: make peers")
    return peer


@pytest.mark.parametrize("name", list(PEERS))
def test_learns_parses_and_can_be_loaded(name: str, tmp_path: Path) -> None:
    peer = installed(name)
    train, dev, test = labelled_treebank(300, 1), labelled_treebank(40, 2), labelled_treebank(60, 3)
    peer.train(train, dev, tmp_path / "model", seed=1, **SETTINGS[name])
    parse = peer.load(tmp_path / "model")
    trees = parse(test)
    for (heads, labels), n in zip(trees, test.lengths, strict=True):
        assert len(heads) == n + 1
        assert len(labels) == n
        assert heads[0] == -1
        assert (heads[1:] == 0).sum() == 1
        at_root = labels[int(np.flatnonzero(heads == 0)[0]) - 1]
        assert at_root == ("root" if name == "udpipe" else "top")  # UDPipe demands this label of a single root
        assert "ROOT" not in labels
    chains = [np.arange(-1, n) for n in test.lengths]  # every word depends on the word before it
    assert evaluate(test, [heads for heads, _ in trees]).summary["uas"] > 60
    assert evaluate(test, chains).summary["uas"] < 40
    table = table_of(test, reported(train, {}, test, trees))
    assert table["correct"].sum() >= table["correct_labelled"].sum() > 0.5 * table["scored"].sum()
    blind = test.with_heads(np.full(test.words, -1, np.int32))
    nothing = replace(blind, columns=blind.columns | {"deprel": np.zeros(test.words, np.int32)})
    reparsed = parse(nothing)
    assert all((a == b).all() and x == y for (a, x), (b, y) in zip(trees, reparsed, strict=True)), "it sees gold trees"


@pytest.mark.parametrize("name", list(PEERS))
def test_an_unknown_setting_is_refused(name: str, tmp_path: Path) -> None:
    train = labelled_treebank(3, 1)
    with pytest.raises(InputError, match=r"options: unknown setting 'epoch'; choose from (iterations|epochs), "):
        PEERS[name].train(train, train, tmp_path / "model", seed=1, epoch=2)
    assert not (tmp_path / "model").exists()


def test_a_setting_of_spacy_is_a_number(tmp_path: Path) -> None:
    train = labelled_treebank(3, 1)
    with pytest.raises(InputError, match="options: epochs=many is not a number"):
        PEERS["spacy"].train(train, train, tmp_path / "model", seed=1, epochs="many")


@pytest.mark.parametrize("name", list(PEERS))
def test_a_foreign_file_is_refused(name: str, tmp_path: Path) -> None:
    peer = installed(name)
    (tmp_path / "model").write_bytes(b"not a model")
    with pytest.raises(InputError, match="not a"):
        peer.load(tmp_path / "model")


def test_a_missing_package_is_an_input_error() -> None:
    class Missing(udpipe.UDPipe):
        module = "no_such_package_anywhere"

    with pytest.raises(InputError, match=r"no_such_package_anywhere is not installed; run: .*treebound\[peers\]"):
        package(Missing())


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([-1, 2, 0, 2], [-1, 2, 0, 2]),
        ([-1, 2, 0, 0], [-1, 2, 0, 2]),
        ([-1, -1, 0, -1], [-1, 0, 1, 1]),
    ],
)
def test_one_root_is_left(heads: list[int], expected: list[int]) -> None:
    assert single_rooted(np.array(heads, np.int32), True).tolist() == expected


def test_several_roots_stay_where_they_may() -> None:
    assert single_rooted(np.array([-1, 0, -1, 2], np.int32), False).tolist() == [-1, 0, 0, 2]


def test_the_root_label_is_the_most_frequent_label_of_roots() -> None:
    treebank = labelled_treebank(20, 5)
    assert root_label(treebank) == "top"
    labels = np.where(treebank.head == 0, treebank.columns["deprel"], treebank.vocab["deprel"].get("N"))
    labels[np.flatnonzero(treebank.head == 0)[0]] = treebank.vocab["deprel"].get("N")
    assert root_label(replace(treebank, columns=treebank.columns | {"deprel": labels})) == "top"


def test_roots_get_the_label_of_training() -> None:
    """Packages use their own label for roots, which is replaced by the label of the training treebank."""
    treebank = labelled_treebank(20, 5)
    trees = [
        (treebank.heads(i), ["ROOT" if tag == "V" else tag for tag in s.strings("upos")])
        for i, s in enumerate(treebank)
    ]
    table = table_of(treebank, reported(treebank, {}, treebank, trees))
    assert (table["correct"] == table["scored"]).all()
    wrong = sum(tag == "V" and head > 0 for tag, head in zip(treebank.strings("upos"), treebank.head, strict=True))
    assert table["scored"].sum() - table["correct_labelled"].sum() == wrong
