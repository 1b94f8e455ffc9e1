"""Variation n-grams, compared with a plain comparison of all pairs of positions."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from treebound.core.treebank import Treebank
from treebound.mining.suspects import Suspect
from treebound.mining.variation import arc_variation, tag_variation, variation_scores, with_variation
from treebound.treebanks.document import read


def treebank(rng: random.Random, sentences: int, forms: str = "abc") -> Treebank:
    """Return a treebank of short sentences with few forms, labels and tags, so that n-grams recur. Arcs may cross."""
    lines = []
    for _ in range(sentences):
        n = rng.randint(1, 6)
        order = rng.sample(range(1, n + 1), n)
        heads = {word: rng.choice(order[:i]) if i else 0 for i, word in enumerate(order)}
        for m in range(1, n + 1):
            form, tag, label = rng.choice(forms), rng.choice("NV"), rng.choice("xyz")
            lines.append(f"{m}\t{form}\t_\t{tag}\t_\t_\t{heads[m]}\t{label}\t_\t_\n")
        lines.append("\n")
    return read("".join(lines).encode()).treebank


def nuclei(bank: Treebank, context: bool, window: int) -> list[tuple[tuple[str, ...], tuple[str, str], int]]:
    """Return (forms, annotation, dependent) of all pairs of positions that are at most `window` apart.

    - forms: from the first to the second position, and one more on either side if `context` is true.
    - annotation: direction and label of the arc between the positions, or ("NIL", "").
    - dependent: its number in the treebank, or -1 if there is no arc.
    """
    pairs = []
    for i, sentence in enumerate(bank):
        forms = ["<before>", "<root>", *sentence.strings("form"), "<end>"]
        heads, labels = sentence.heads, ["", *sentence.strings("deprel")]
        for a, b in combinations(range(sentence.n + 1), 2):
            if b - a > window:
                continue
            annotation, dependent = ("NIL", ""), -1
            if heads[b] == a:
                annotation, dependent = ("right", labels[b]), b
            elif a and heads[a] == b:
                annotation, dependent = ("left", labels[a]), a
            seen = tuple(forms[a + (0 if context else 1) : b + (3 if context else 2)])
            pairs.append((seen, annotation, int(bank.offsets[i]) + dependent - 1 if dependent > 0 else -1))
    return pairs


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("window", [1, 3, 30])
def test_counts_are_those_of_all_pairs(seed: int, context: bool, window: int) -> None:
    bank = treebank(random.Random(seed), 25, "abc"[: 1 + seed % 3])
    expected = np.zeros((bank.words, 2), np.int64)
    pairs = nuclei(bank, context, window)
    for seen, annotation, word in pairs:
        if word >= 0:
            others = [other for other_seen, other, _ in pairs if other_seen == seen]
            expected[word] = sum(other != annotation for other in others), len(others) - 1
    assert expected.any()
    np.testing.assert_array_equal(arc_variation(bank, context=context, window=window), expected)


@pytest.mark.parametrize("seed", range(6))
def test_tags_are_compared_between_equal_neighbours(seed: int) -> None:
    bank = treebank(random.Random(seed), 25)
    places = []
    for sentence in bank:
        forms = ["<root>", *sentence.strings("form"), "<end>"]
        places += [
            (forms[m - 1], forms[m], forms[m + 1], sentence.strings("upos")[m - 1]) for m in range(1, sentence.n + 1)
        ]
    expected = [
        (
            sum(other[:3] == place[:3] and other[3] != place[3] for other in places),
            sum(o[:3] == place[:3] for o in places) - 1,
        )
        for place in places
    ]
    assert any(otherwise for otherwise, _ in expected)
    assert tag_variation(bank, "upos").tolist() == [list(pair) for pair in expected]


def test_suspects_get_the_counts_of_their_word() -> None:
    bank = treebank(random.Random(5), 40, "ab")
    arcs, tags = arc_variation(bank, context=False), tag_variation(bank)
    suspects = []
    for i, sentence in enumerate(bank):
        for m in range(1, sentence.n + 1):
            kind = ("head", "label", "tag")[(i + m) % 3]
            suspects.append(Suspect(i, str(i + 1), m, "a", kind, 0, "x", "N", 0, "y", "V", 1.0, True, 0.5))
    result = with_variation(suspects, bank)
    for suspect in result:
        counts = tags if suspect.kind == "tag" else arcs
        assert suspect.variation == tuple(counts[bank.offsets[suspect.sentence] + suspect.word - 1])
    assert len({suspect.variation for suspect in result}) > 5


def test_a_planted_error_scores_highest() -> None:
    good = "1\ta\t_\tN\t_\t_\t2\tx\t_\t_\n2\tb\t_\tV\t_\t_\t0\troot\t_\t_\n\n"
    bank = read((good * 9 + good.replace("\tx\t", "\ty\t") + good * 3).encode()).treebank
    scores = variation_scores(bank)
    assert scores.argmax() == 18  # the first word of the tenth sentence has the planted error
    assert scores[18] == pytest.approx(12 / 13)
    assert scores[0] == pytest.approx(1 / 13)
    assert scores[1] == 0


def test_empty_and_unannotated_treebanks_have_no_variation() -> None:
    assert len(variation_scores(read(b"").treebank)) == 0
    bank = read(b"1\ta\t_\tN\t_\t_\t_\t_\t_\t_\n\n" * 3, annotated=False).treebank
    assert not variation_scores(bank).any()


def test_the_root_is_a_position_before_the_first_word() -> None:
    once = "1\ta\t_\tN\t_\t_\t0\troot\t_\t_\n2\tb\t_\tV\t_\t_\t1\tx\t_\t_\n\n"
    other_sentence = "1\ta\t_\tN\t_\t_\t2\tx\t_\t_\n2\tb\t_\tV\t_\t_\t0\troot\t_\t_\n\n"
    counts = arc_variation(read((once * 2 + other_sentence).encode()).treebank, context=False)
    assert counts.tolist() == [[1, 2], [1, 2]] * 2 + [[2, 2], [2, 2]]
