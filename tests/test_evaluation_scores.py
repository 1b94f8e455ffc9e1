"""Test attachment scores, significance and timing on a treebank that is small enough to count by hand."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.metrics.attachment import HEAD, LABELLED, WRONG, evaluate, marks, scored_words
from treebound.metrics.significance import jackknife_half_width, mcnemar, mcnemar_words, paired_bootstrap
from treebound.metrics.timing import Stopwatch, measure, speed


def treebank(tags, heads):
    """Return a treebank with a list of tags and a list of heads per sentence; every other column is `_`."""
    words = sum(map(len, tags))
    offsets = np.cumsum([0, *map(len, tags)])
    vocab = {name: Vocabulary(["_"]) for name in STRING_COLUMNS}
    columns = {name: np.zeros(words, np.int32) for name in STRING_COLUMNS}
    columns["upos"] = np.array([vocab["upos"].add(t) for row in tags for t in row], np.int32)
    meta = {"punctuation": {"column": "upos", "tags": ["PUNCT", "NEVER-SEEN"]}}
    return Treebank("synthetic", offsets, columns, vocab, np.array([h for row in heads for h in row], np.int32), meta)


GOLD = treebank([["NOUN", "VERB", "PUNCT"], ["VERB", "PUNCT"], ["PUNCT"]], [[2, 0, 2], [0, 1], [0]])
#: wrong heads: word 1 of the first sentence, the punctuation mark of the second
PARSED = [np.array([-1, 3, 0, 2]), np.array([-1, 0, 0]), np.array([-1, 0])]


def test_counts():
    table = evaluate(GOLD, PARSED).sentences
    assert table["n"].tolist() == [3, 2, 1]
    assert table["scored"].tolist() == [2, 1, 0]
    assert table["correct"].tolist() == [1, 1, 0]
    assert table["correct_all"].tolist() == [2, 1, 1]
    assert table["complete"].tolist() == [False, True, True]
    assert table["complete_all"].tolist() == [False, False, True]


def test_summary():
    summary = evaluate(GOLD, PARSED).summary
    assert summary == {
        "sentences": 3,
        "words": 6,
        "scored_words": 3,
        "uas": pytest.approx(200 / 3),
        "uas_all": pytest.approx(400 / 6),
        "complete": pytest.approx(200 / 3),
        "complete_all": pytest.approx(100 / 3),
    }
    perfect = evaluate(GOLD, [GOLD.heads(i) for i in range(3)]).summary
    assert perfect["uas"] == perfect["complete_all"] == 100.0


def test_labelled_scores():
    def labelled(rows):
        flat = [s for row in rows for s in row]
        vocabulary = Vocabulary(flat)
        ids = np.array([vocabulary.get(s) for s in flat], np.int32)
        columns, vocab = GOLD.columns | {"deprel": ids}, GOLD.vocab | {"deprel": vocabulary}
        return Treebank("synthetic", GOLD.offsets, columns, vocab, GOLD.head, GOLD.meta)

    gold = labelled([["nsubj", "root", "punct"], ["root", "punct"], ["root"]])
    labels = [["nsubj", "root", "dep"], ["root", "punct"], ["never-seen"]]
    table = evaluate(gold, PARSED, labels)
    assert table.sentences["correct_labelled"].tolist() == [1, 1, 0]  # word 1 of the first sentence has a wrong head
    assert table.sentences["correct_labelled_all"].tolist() == [1, 1, 0]
    assert table.sentences["complete_labelled"].tolist() == [False, True, True]
    assert table.summary["las"] == pytest.approx(200 / 3)
    assert table.summary["las_all"] == pytest.approx(200 / 6)
    assert table.summary["complete_labelled"] == pytest.approx(200 / 3)
    assert evaluate(gold, PARSED, [["obj", "root", "punct"], *labels[1:]]).summary["las"] == table.summary["las"]
    assert evaluate(gold, PARSED, [["nsubj", "dep", "punct"], *labels[1:]]).summary["las"] == pytest.approx(100 / 3)
    assert "las" not in evaluate(gold, PARSED).summary
    one_missing = labelled([["nsubj", "root", "_"], ["root", "punct"], ["root"]])
    assert (
        evaluate(one_missing, PARSED, labels).summary["las"] == table.summary["las"]
    )  # the word without a label is punctuation
    unlabelled = labelled([["_", "_", "_"], ["_", "_"], ["_"]])
    assert "las" not in evaluate(unlabelled, PARSED, labels).summary
    with pytest.raises(InputError, match="labels do not match the sentences of synthetic"):
        evaluate(gold, PARSED, labels[:2])


def test_the_only_label_of_a_treebank_is_scored():
    tree = treebank([["VERB"]], [[0]])
    tree = replace(tree, vocab=tree.vocab | {"deprel": Vocabulary(["root"])})
    assert evaluate(tree, [np.array([-1, 0])], [["root"]]).summary["las"] == 100.0


def test_without_a_punctuation_rule_every_word_counts():
    plain = treebank([["PUNCT"]], [[0]])
    plain.meta.clear()
    assert scored_words(plain).tolist() == [True]


def test_mismatched_parses_are_refused():
    with pytest.raises(InputError, match="2 parses for the 3 sentences"):
        evaluate(GOLD, PARSED[:2])
    with pytest.raises(InputError, match="sentence 2 of synthetic has 2 words, but its parse has 3"):
        evaluate(GOLD, [PARSED[0], PARSED[0], PARSED[2]])
    with pytest.raises(InputError, match="sentence 2 of synthetic is not annotated"):
        evaluate(treebank([["X"], ["X", "X"]], [[0], [0, -1]]), PARSED[:2])


def test_empty_treebank():
    empty = treebank([], [])
    assert len(evaluate(empty, []).sentences["n"]) == 0
    assert np.isnan(evaluate(empty, []).summary["uas"])


def frame(correct, scored=10):
    return {"correct": np.asarray(correct), "scored": np.full(len(correct), scored)}


def test_bootstrap():
    rng = np.random.default_rng(0)
    base = rng.integers(3, 8, 400)
    same = paired_bootstrap(frame(base), frame(base), samples=500)
    assert (same["difference"], same["low"], same["high"], same["p"]) == (0.0, 0.0, 0.0, 1.0)
    better = paired_bootstrap(frame(base + 1), frame(base), samples=500)
    assert better["difference"] == better["low"] == better["high"] == pytest.approx(10.0)
    assert better["p"] == pytest.approx(2 / 501)
    noisy = frame(base + rng.integers(-2, 3, 400))
    first, second = (paired_bootstrap(noisy, frame(base), samples=500, seed=3) for _ in range(2))
    assert first == second
    assert first["low"] < first["difference"] < first["high"]
    with pytest.raises(ValueError, match="same sentences"):
        paired_bootstrap(frame(base), frame(base[:-1]))


def test_bootstrap_interval_covers_a_null_difference_at_its_level():
    rng = np.random.default_rng(1)
    covered = 0
    for seed in range(200):
        a, b = rng.binomial(10, 0.8, (2, 100))
        test = paired_bootstrap(frame(a), frame(b), samples=300, seed=seed)
        covered += test["low"] <= 0 <= test["high"]
    assert 180 <= covered <= 199


@pytest.mark.parametrize(("level", "errors"), [(0.95, 1.96), (0.5, 0.674)])
def test_the_ends_of_the_bootstrap_interval_are_those_of_the_normal_approximation(level, errors):
    gain = np.random.default_rng(4).integers(-2, 4, 2000)
    test = paired_bootstrap(frame(5 + gain), frame(np.full(2000, 5)), level=level)
    half = errors * 10 * gain.std() / np.sqrt(2000)  # each sentence has ten scored words
    assert test["low"] == pytest.approx(test["difference"] - half, abs=0.08 * half)
    assert test["high"] == pytest.approx(test["difference"] + half, abs=0.08 * half)


def test_bootstrap_takes_data_frames():
    """Check that data frames of the studies give the same numbers as the library's dictionaries."""
    rng = np.random.default_rng(2)
    a, b = (frame(rng.integers(3, 8, 50)) for _ in range(2))
    assert paired_bootstrap(pd.DataFrame(a), pd.DataFrame(b), samples=100) == paired_bootstrap(a, b, samples=100)


def test_mcnemar():
    right = [GOLD.heads(i) for i in range(3)]
    assert mcnemar(GOLD, right, PARSED) == {"only_a": 1, "only_b": 0, "p": 1.0}
    assert mcnemar(GOLD, right, right)["p"] == 1.0
    many = treebank([["NOUN", "VERB"]] * 10, [[2, 0]] * 10)
    a = [np.array([-1, 2, 0])] * 10
    b = [np.array([-1, 0, 0])] * 10
    assert mcnemar(many, a, b)["p"] == pytest.approx(2 * 0.5**10)


def test_marks_of_every_scored_word():
    assert marks(GOLD, PARSED) == [WRONG + HEAD, HEAD, ""]
    labelled = replace(GOLD, columns=GOLD.columns | {"deprel": np.ones(GOLD.words, np.int32)})
    labelled = replace(labelled, vocab=GOLD.vocab | {"deprel": Vocabulary(["_", "a", "b"])})
    labels = [["a", "a", "b"], ["b", "a"], ["a"]]
    assert marks(labelled, PARSED, labels) == [WRONG + LABELLED, HEAD, ""]
    counted = evaluate(labelled, PARSED, labels).sentences
    labelled_marks = marks(labelled, PARSED, labels)
    assert [len(row) for row in labelled_marks] == counted["scored"].tolist()
    assert [row.count(LABELLED) for row in labelled_marks] == counted["correct_labelled"].tolist()
    assert [len(row) - row.count(WRONG) for row in labelled_marks] == counted["correct"].tolist()


def test_mcnemar_of_words_agrees_with_mcnemar_of_trees():
    right = [GOLD.heads(i) for i in range(3)]
    words = [np.array(list("".join(marks(GOLD, parsed)))) != WRONG for parsed in (right, PARSED)]
    assert mcnemar_words(*words) == mcnemar(GOLD, right, PARSED)
    with pytest.raises(ValueError, match="same words"):
        mcnemar_words(words[0], words[1][:-1])


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_the_jackknife_interval_of_a_mean_is_that_of_the_t_distribution(n):
    """Check the half width for means without one number each: it is the quantile of t times the standard error."""
    x = np.random.default_rng(n).normal(size=n)
    half = jackknife_half_width((x.sum() - x) / (n - 1), level=0.9)
    assert half == pytest.approx(stats.t.ppf(0.95, n - 1) * x.std(ddof=1) / np.sqrt(n))


def test_the_jackknife_needs_two_parts():
    with pytest.raises(ValueError, match="at least two parts"):
        jackknife_half_width(np.ones(1))


def use_the_processor():
    """Work until the clock of CPU seconds advances: it advances in steps of 4 ms in a process with a limit."""
    start = time.process_time()
    while time.process_time() == start:
        pass


def test_timing():
    assert Stopwatch().wall == Stopwatch().cpu == 0
    start = time.perf_counter()
    with Stopwatch() as watch:
        time.sleep(0.05)
    assert time.perf_counter() - start >= watch.wall >= 0.05 > watch.cpu >= 0
    calls = []
    runs = measure(lambda: calls.append(1), repeats=3, warmup=2)
    assert len(calls) == 5
    assert len(measure(lambda: calls.append(1))["cpu"]) == len(calls) - 5 == 5
    assert len(runs["wall"]) == len(runs["cpu"]) == 3
    assert len(measure(use_the_processor, repeats=9, seconds=0.0)["cpu"]) == 1
    summary = speed({"wall": np.array([1.0, 2.0, 4.0]), "cpu": np.array([1.0, 2.0, 0.5])}, words=10)
    assert summary == {"repeats": 3, "cpu_s": 1.0, "cpu_s_range": [0.5, 2.0], "wall_s": 2.0, "words_per_cpu_s": 10.0}
