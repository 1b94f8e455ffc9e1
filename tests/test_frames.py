"""Test the error analysis: candidates against the matcher, which counts in another way, and stored folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from synthetic import synthetic_treebank

from studies.qian_liu_2013.frames import CONSISTENT, FEWEST, SEEN, candidates
from studies.qian_liu_2013.held_out import crossvalidate, held_out
from studies.qian_liu_2013.patterns import annotated, evidence
from treebound.factors.pattern_language import parse
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train


def damaged(treebank, share: float, seed: int) -> np.ndarray:
    """Return the heads of a treebank, of which a random share is replaced by random heads."""
    rng = np.random.default_rng(seed)
    n = np.repeat(treebank.lengths, treebank.lengths)
    random_heads = rng.integers(0, n + 1)
    return np.where(rng.random(len(n)) < share, random_heads, treebank.head).astype(np.int32)


@pytest.fixture(scope="module")
def analysed():
    treebank = synthetic_treebank(400, seed=3)
    heads = damaged(treebank, 0.3, 1)
    return treebank, heads, candidates(treebank, heads, 200)


def test_candidates_agree_with_the_pattern_matcher(analysed) -> None:
    """Write each candidate as a pattern: the matcher must count the same occurrences, consistency and mistakes."""
    treebank, heads, table = analysed
    assert len(table) >= 30
    assert table["match"].str.contains("..8?", regex=False).any()
    assert (~table["match"].str.contains("..8?", regex=False)).any()
    text = "\n".join(f"[c{rank}]\nmatch = '{row.match}'\narcs = '{row.arcs}'" for rank, row in table.iterrows())
    counts = evidence(parse(text, "candidates"), treebank, heads)
    assert counts["matches"].tolist() == table["occurrences"].tolist()
    assert counts["consistency"].tolist() == pytest.approx(table["consistency"].tolist())
    assert counts["mistaken"].tolist() == table["mistaken"].tolist()
    assert (
        table["words"].to_numpy() <= counts["words"].to_numpy()
    ).all()  # a word in two matches of a frame counts once
    assert (table["words"] >= table["mistaken"] / 2).all()


def test_candidates_respect_the_thresholds_and_their_order(analysed) -> None:
    _, _, table = analysed
    assert (table["occurrences"] >= SEEN).all()
    assert (table["mistaken"] >= FEWEST).all()
    assert (table["consistency"] >= CONSISTENT).all()
    gain = table["new"] * table["consistency"]
    assert (gain.diff().dropna() <= 1e-9).all()
    assert (table["new"] <= table["words"]).all()


def test_a_parser_without_mistakes_has_no_candidates(analysed) -> None:
    treebank, _, _ = analysed
    assert len(candidates(treebank, treebank.head, 10)) == 0
    assert len(candidates(synthetic_treebank(0, seed=1), np.empty(0, np.int32), 10)) == 0


@pytest.mark.parametrize(("sentences", "folds"), [(1, 5), (7, 3), (60, 2), (1234, 5)])
def test_every_sentence_is_held_out_once(sentences: int, folds: int) -> None:
    parts = held_out(sentences, folds)
    assert len(parts) == folds
    assert sorted(np.concatenate(parts).tolist()) == list(range(sentences))
    if sentences >= 50 * folds:
        assert min(map(len, parts)) >= 0.7 * sentences / folds


def test_finished_folds_are_stored(tmp_path) -> None:
    treebank = synthetic_treebank(60, seed=5, max_words=8)
    spec = Settings((), labels="none", epochs=1, bits=12, k=4, max_dp_calls=20)
    heads = crossvalidate(treebank, spec, 2, tmp_path)
    assert heads.shape == treebank.head.shape
    assert (heads >= 0).all()
    assert (heads == treebank.head).mean() > 0.5
    first, second = sorted(tmp_path.iterdir())
    before = first.stat().st_mtime_ns
    second.unlink()
    assert (crossvalidate(treebank, spec, 2, tmp_path) == heads).all()
    assert first.stat().st_mtime_ns == before
    assert second.exists()
    crossvalidate(treebank, Settings((), labels="none", epochs=1, bits=13, k=4, max_dp_calls=20), 2, tmp_path)
    assert first.stat().st_mtime_ns != before  # other settings need new folds


def test_the_held_out_half_is_not_used_for_training(tmp_path) -> None:
    """Parse random trees: a parser can memorise them, but cannot predict them for held-out sentences."""
    treebank = synthetic_treebank(60, seed=5, max_words=8)
    rng = np.random.default_rng(0)
    head = []
    for n in treebank.lengths:  # all words depend on one random word
        root = int(rng.integers(1, n + 1))
        head += [0 if m == root else root for m in range(1, n + 1)]
    stars = treebank.with_heads(np.array(head, np.int32))
    spec = Settings((), labels="none", epochs=6, bits=16, k=4, max_dp_calls=20)
    unseen = crossvalidate(stars, spec, 2, tmp_path)
    model = train(spec, stars, stars, train_pruner(stars, epochs=2, bits=14))
    seen = np.concatenate([parse.heads[1:] for parse in Parser(model).parse(stars)])
    assert (unseen == stars.head).mean() + 0.3 < (seen == stars.head).mean()


def test_counts_are_written_above_patterns() -> None:
    columns = ["matches", "consistency", "mistaken", "words"]
    table = pd.DataFrame([[1, 1.0, 0, 0], [30, 0.96551, 6, 1]], ["a", "b"], columns)
    text = "about = 'x'\n\n# why\n# 7 matches, old\n[a]\nmatch = '[b] c'\n[b]\n"
    commented = annotated(text, table)
    assert commented.splitlines()[2:] == [
        "# why",
        "# 1 match, 100.0 % consistent, 0 mistaken (0 words)",
        "[a]",
        "match = '[b] c'",
        "# 30 matches, 96.6 % consistent, 6 mistaken (1 word)",
        "[b]",
    ]
    assert annotated(commented, table) == commented
