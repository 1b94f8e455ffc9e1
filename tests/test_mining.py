"""Mining for annotation errors: margins against enumeration, planted errors, resumed runs, unusual treebanks."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interrupted import Stop
from oracles.score import scores
from oracles.trees import trees
from synthetic import synthetic_treebank

import treebound
from treebound.core.errors import InputError
from treebound.core.vocabulary import Vocabulary
from treebound.learning.folds import fold_of
from treebound.mining.mine import Mined
from treebound.mining.parts import folds_of
from treebound.mining.preparation import joined, prepare
from treebound.mining.sentences import Miner
from treebound.mining.settings import Settings
from treebound.mining.tags import TagMiner
from treebound.systems.graph.candidates import pruner_for
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.settings import Settings as Graph
from treebound.systems.graph.trainer import train
from treebound.systems.tagging.learn import train_tagger
from treebound.systems.tagging.sequence import best_tags, contexts
from treebound.systems.tagging.words import word_table
from treebound.treebanks.document import read
from treebound.treebanks.projectivise import is_projective

SMALL = {"families": ("adjacent-sibling", "grandchild"), "epochs": 2, "bits": 14, "pruner_bits": 14}


def parser_of(space: str = "projective", **settings) -> Parser:
    examples = synthetic_treebank(120, 1)
    spec = Graph(**SMALL | settings, space=space).adapted_settings(examples)
    return Parser(train(spec, examples, None, pruner_for(spec, examples)))


def shuffled_heads(sentences: int, seed: int, longest: int, space: str = "projective"):
    """Return short synthetic sentences whose annotation is a random tree."""
    rng = np.random.default_rng(seed)
    treebank = synthetic_treebank(sentences, seed, max_words=longest)
    heads = []
    for n in treebank.lengths.tolist():
        every = trees(n, space)
        heads.append(every[rng.integers(len(every)), 1:])
    return treebank.with_heads(np.concatenate(heads))


def best_labelled(parser: Parser, treebank, i: int, heads: np.ndarray, space: str, word: int, head: int, label: int):
    """Return the score of the best labelled tree in which a word has this head and label, by enumeration.

    If `word` is 0, all labelled trees count.
    heads: heads of the annotation. Their arcs are added to the pruner's candidate arcs.
    """
    n = len(heads) - 1
    arcs = np.zeros((n + 1, n + 1), bool)
    arcs[heads[1:], np.arange(1, n + 1)] = True
    table = parser.token_table(treebank)
    problem, _ = parser.problem_with(table, i, arcs)
    every, score = trees(n, space, problem.single_root), scores(problem, space)
    if word:
        keep = every[:, word] == head
        of_arc = parser.label_scores(table, i, np.array([head], np.int32), np.array([word], np.int32))[0]
        return score[keep].max() + float(of_arc[label]) - float(of_arc.max())
    return score.max()


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_margins_are_those_of_all_labelled_trees(space: str) -> None:
    parser = parser_of(space)
    treebank = shuffled_heads(40, 5, 6, space)
    miner = Miner(parser, treebank, [str(i) for i in range(40)], np.arange(40))
    names, kinds = parser.model.labelling.names, set()
    for i in range(40):
        heads = treebank.heads(i)
        mined = miner.mine(i)
        words = [suspect.word for suspect in mined.suspects]
        best = best_labelled(parser, treebank, i, heads, space, 0, 0, 0)
        differs = mined.tree.heads != heads
        labels = ["", *treebank[i].strings("deprel")]
        assert words == [m for m in range(1, len(heads)) if differs[m] or labels[m] != mined.tree.labels[m]]
        for s in mined.suspects:
            kinds.add(s.kind)
            assert (s.head, s.label) == (heads[s.word], labels[s.word])
            assert (s.proposed_head, s.proposed_label) == (mined.tree.heads[s.word], mined.tree.labels[s.word])
            rival = best_labelled(parser, treebank, i, heads, space, s.word, s.head, names.index(s.label))
            assert s.margin * parser.model.unit == best - rival
            assert s.certified
            assert 0 <= s.marginal <= 1
    assert kinds == {"head", "label"}


def test_the_best_labels_are_those_of_all_labelled_trees() -> None:
    """Arc scores of the problem include the best label scores, so no labelling of a tree scores more."""
    parser = parser_of(labels="joint")
    treebank = shuffled_heads(10, 3, 3)
    table = parser.token_table(treebank)
    for i in range(10):
        n = len(treebank.heads(i)) - 1
        nothing = np.zeros((n + 1, n + 1), bool)
        problem, whole = parser.problem_with(table, i, nothing)
        plain = parser._scored(table, i, parser._candidates(table, i, parser.k)[0])
        each = parser.label_scores(table, i, problem.head, problem.mod)
        assert whole
        assert each.shape[1] == len(parser.model.labelling.names)
        assert problem.arc.tolist() == [a + max(row) for a, row in zip(plain.arc.tolist(), each.tolist(), strict=True)]


def test_an_arc_that_crosses_has_a_margin_in_projective_trees() -> None:
    parser = parser_of()
    treebank = shuffled_heads(60, 8, 6, "non-projective")
    miner, crossing = Miner(parser, treebank, [""] * 60, np.arange(60)), 0
    for i in range(60):
        heads = treebank.heads(i)
        if is_projective(heads):
            continue
        mined = miner.mine(i)
        doubted = [s for s in mined.suspects if s.kind == "head"]
        assert [s.word for s in doubted] == np.flatnonzero(mined.tree.heads != heads).tolist()
        assert all(0 <= s.margin < np.inf and s.certified and 0 <= s.marginal <= 1 for s in doubted)
        crossing += len(doubted)
    assert crossing > 10


def test_a_label_that_the_model_does_not_know_scores_nothing() -> None:
    parser = parser_of()
    treebank = synthetic_treebank(30, 1)
    odd = replace(
        treebank,
        columns=treebank.columns | {"deprel": np.zeros(treebank.words, np.int32)},
        vocab=treebank.vocab | {"deprel": Vocabulary(["odd"])},
    )
    suspects = [s for i in range(30) for s in Miner(parser, odd, [""] * 30, np.arange(30)).mine(i).suspects]
    assert len(suspects) == treebank.words
    assert all(np.isfinite(s.margin) and s.margin >= 0 and not s.certified for s in suspects)
    table = parser.token_table(odd)
    for s in suspects:
        if s.kind == "label":
            ends = np.array([s.head], np.int32), np.array([s.word], np.int32)
            best = float(parser.label_scores(table, s.sentence, *ends).max())
            assert s.margin * parser.model.unit == max(0.0, best)


@pytest.mark.parametrize("tags_given", ["", "upos"])
def test_margins_of_tags_are_those_of_all_sequences(tags_given: str) -> None:
    examples = synthetic_treebank(60, 1)
    tagger = train_tagger(examples, column="upos", epochs=2, bits=12, tag_column="" if not tags_given else "xpos")
    treebank = synthetic_treebank(40, 9, max_words=4)
    rng = np.random.default_rng(0)
    wrong = treebank.columns["upos"].copy()
    flipped = rng.random(len(wrong)) < 0.3
    wrong[flipped] = rng.choice(np.unique(wrong), flipped.sum())
    treebank = replace(treebank, columns=treebank.columns | {"upos": wrong})
    miner = TagMiner(tagger, treebank, [str(i) for i in range(40)], np.arange(40))
    suspects = miner.mine()
    assert len(suspects) > 5
    tags = treebank.strings("upos")
    number = {tag: i for i, tag in enumerate(tagger.tags)}
    groups = word_table(treebank, tagger.dictionary, tagger.tag_column)[2]
    for i in range(40):
        some = [s for s in suspects if s.sentence == i]
        a, b = treebank.offsets[i : i + 2].tolist()
        lists = [sorted({*tagger.dictionary.lists[groups[w]], number[tags[w]]}) for w in range(a, b)]
        values = {sequence: score_of(miner, i, sequence) for sequence in itertools.product(*lists)}
        best = max(values.values())
        for s in some:
            assert s.tag == tags[a + s.word - 1]
            rival = max(v for sequence, v in values.items() if sequence[s.word - 1] == number[s.tag])
            assert s.margin * tagger.unit == pytest.approx(best - rival, rel=1e-12)
            assert s.certified


def score_of(miner: TagMiner, i: int, sequence: tuple[int, ...]) -> int:
    """Return the score of one tag sequence, computed by giving every word a single candidate."""
    total, a = 0, int(miner.treebank.offsets[i])
    pieces = [(a + k, a + k + 1) for k in range(len(sequence))] if miner.tagger.tag_column else [(a, a + len(sequence))]
    for begin, end in pieces:
        start = int(miner.starts[begin if miner.tagger.tag_column else i])
        context = contexts(miner.tagger.compiled, miner.rows[:, start:], end - begin)
        group = np.array([miner.single + tag for tag in sequence[begin - a : end - a]], np.int32)
        none, out = np.empty(0, np.int32), np.empty(end - begin, np.int32)
        total += best_tags(miner.tagger.compiled, context, group, miner.candidates, miner.table, none, 0, out)
    return total


# --- treebanks ---

WORDS = {"DET": ("the", "a"), "NOUN": ("cat", "dog", "bird", "tree"), "VERB": ("sees", "hears", "likes"), ".": (".",)}
PATTERN = (("DET", 2, "det"), ("NOUN", 3, "nsubj"), ("VERB", 0, "root"), ("DET", 5, "det"), ("NOUN", 3, "obj"))


def consistent(sentences: int, seed: int = 0) -> list[list[list[str]]]:
    """Return CoNLL-U rows of sentences that are all annotated consistently."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(sentences):
        rows = []
        length = int(rng.integers(3, 6))
        for m, (tag, head, label) in enumerate(PATTERN[: length if length != 4 else 5], 1):
            form = WORDS[tag][rng.integers(len(WORDS[tag]))]
            rows.append([str(m), form, form, tag, "_", "_", str(head), label, "_", "_"])
        out.append(rows)
    return out


def text_of(sentences: list[list[list[str]]], ids: bool = True) -> str:
    blocks = []
    for i, rows in enumerate(sentences):
        comment = f"# sent_id = s-{i}\n" if ids else ""
        blocks.append(comment + "".join("\t".join(row) + "\n" for row in rows) + "\n")
    return "".join(blocks)


def documents(sentences: list[list[list[str]]], **how):
    return read(io.BytesIO(text_of(sentences, **how).encode()), "conllu")


def test_planted_errors_are_at_the_top() -> None:
    sentences = consistent(200)
    places = [i for i, rows in enumerate(sentences) if len(rows) == 5]
    heads, labels, tags = places[3], places[40], places[80]
    sentences[heads][3][6] = "3"  # in the planted error, the article depends on the verb
    sentences[labels][1][7] = "obj"
    sentences[tags][4][3] = "VERB"
    mined = treebound.mine(documents(sentences), Settings(folds=4, tags="upos"), training=SMALL)
    of_trees = [s for s in mined.suspects if s.kind != "tag"]
    assert {(s.sentence, s.word, s.kind) for s in of_trees[:2]} == {(heads, 4, "head"), (labels, 2, "label")}
    by_place = {s.sentence: s for s in of_trees[:2]}
    assert by_place[heads].proposed_head == 5
    assert by_place[labels].proposed_label == "nsubj"
    assert by_place[heads].sent_id == f"s-{heads}"
    first = next(s for s in mined.suspects if s.kind == "tag")
    assert (first.sentence, first.word, first.tag, first.proposed_tag) == (tags, 5, "VERB", "NOUN")
    assert mined.trees[heads].heads.tolist() == [-1, 2, 3, 0, 5, 3]
    assert mined.trees[heads].labels == ["", "det", "nsubj", "root", "det", "obj"]
    doubts = [s.doubt for s in mined.suspects]
    assert doubts == sorted(doubts, reverse=True)


def test_a_reference_does_not_show_the_answers() -> None:
    """Mining ignores reference sentences that the treebank also contains; the other ones reveal the planted error."""
    sentences, corrected = consistent(60, 1), consistent(150, 2)
    treebank = [[["1", "Hallo", "_", "VERB", "_", "_", "0", "root", "_", "_"]], *sentences]
    treebank[5] = [row.copy() for row in treebank[5]]
    treebank[5][0][6], treebank[5][0][7] = "3", "mark"
    whole = documents([*treebank, *corrected]).treebank
    reference = documents([*treebank, *corrected])
    mined = treebound.mine(documents(treebank), reference=[reference.treebank], training=SMALL)
    prepared = prepare(documents(treebank).treebank, [reference.treebank], {})
    forms = {tuple(s.strings("form")) for s in documents(treebank).treebank}
    new_sentences = [i for i in range(len(whole)) if tuple(whole[i].strings("form")) not in forms]
    assert prepared.usable.tolist() == new_sentences
    assert any(f"{len(whole) - len(new_sentences)} sentences of the reference" in line for line in mined.remarks)
    assert (mined.suspects[0].sentence, mined.suspects[0].word) == (5, 1)


def test_several_references_are_one() -> None:
    parts = [documents(consistent(20, seed)).treebank for seed in (1, 2)]
    whole = joined(parts)
    assert [s.strings("form") for s in whole] == [s.strings("form") for part in parts for s in part]
    assert [s.heads.tolist() for s in whole] == [s.heads.tolist() for part in parts for s in part]


def equal_results(first: Mined, second: Mined) -> bool:
    trees = [{i: (t.heads.tolist(), t.labels) for i, t in mined.trees.items()} for mined in (first, second)]
    return list(map(str, first.suspects)) == list(map(str, second.suspects)) and trees[0] == trees[1]


def test_the_result_does_not_depend_on_workers() -> None:
    treebank = synthetic_treebank(90, 2)
    settings = Settings(folds=3, tags="upos")
    assert equal_results(*(treebound.mine(treebank, settings, training=SMALL, workers=workers) for workers in (1, 2)))


@pytest.mark.parametrize("last", ["fold-1, epoch 2", "fold-2, parse", "fold-1, tagger"])
def test_a_killed_run_resumes(tmp_path: Path, last: str) -> None:
    treebank, settings = synthetic_treebank(60, 2), Settings(folds=3, tags="upos")
    messages: list[str] = []

    def stop(items: Iterable, what: str) -> Iterable:
        messages.append(what)
        if what.startswith(last):
            raise Stop
        return items

    def tell(items: Iterable, what: str) -> Iterable:
        messages.append(what)
        return items

    with pytest.raises(Stop):
        treebound.mine(treebank, settings, training=SMALL, folder=tmp_path, progress=stop)
    finished = {what for what in messages[:-1] if what.startswith("fold-") and "epoch" in what and "pruner" not in what}
    messages.clear()
    resumed = treebound.mine(treebank, settings, training=SMALL, folder=tmp_path, progress=tell)
    assert finished
    assert not {what for what in finished if "fold-0" in what} & set(messages)
    if last.startswith("fold-1, epoch"):
        assert not any(what.startswith("fold-1, epoch 1") for what in messages)
        assert any(what.startswith("fold-1, epoch 2") for what in messages)
    assert equal_results(resumed, treebound.mine(treebank, settings, training=SMALL))
    assert list(tmp_path.iterdir()) == []


def test_work_files_of_other_data_are_not_used(tmp_path: Path) -> None:
    def stop(items: Iterable, what: str) -> Iterable:
        if what.startswith("fold-1, parse"):
            raise Stop
        return items

    settings = Settings(folds=3)
    with pytest.raises(Stop):
        treebound.mine(synthetic_treebank(60, 2), settings, training=SMALL, folder=tmp_path, progress=stop)
    assert any(tmp_path.iterdir())
    other_treebank = synthetic_treebank(60, 3)
    assert equal_results(
        treebound.mine(other_treebank, settings, training=SMALL, folder=tmp_path),
        treebound.mine(other_treebank, settings, training=SMALL),
    )


def test_every_sentence_is_judged_by_a_model_of_the_others() -> None:
    treebank = documents(consistent(37)).treebank
    divided = folds_of(prepare(treebank, [], {}), 4)
    member = fold_of(37, 4)
    assert sorted(i for part in divided for i in part.sentences.tolist()) == list(range(37))
    for part in divided:
        assert len({int(member[i]) for i in part.sentences}) == 1
        assert sorted([*part.sentences.tolist(), *part.learnt.tolist()]) == list(range(37))


def test_odd_treebanks_are_mined() -> None:
    """Treebanks may have no ids, several roots, crossing arcs, unknown tags, the label `_`, or 100-word sentences."""
    sentences = consistent(60)
    sentences[1] = [[str(m), "x", "_", "QQ", "_", "_", "0", "root", "_", "_"] for m in (1, 2)]
    crossing = [(1, 3, "a"), (2, 4, "b"), (3, 0, "root"), (4, 3, "c")]
    sentences[2] = [[str(m), "y", "_", "ZZ", "_", "_", str(h), label, "_", "_"] for m, h, label in crossing]
    sentences[3][0][7] = "_"
    sentences[4] = [[str(m), "z", "_", "NOUN", "_", "_", str(m - 1), "dep", "_", "_"] for m in range(1, 101)]
    mined = treebound.mine(documents(sentences, ids=False), Settings(folds=3, tags="upos"), training=SMALL)
    assert any("leaves out 1 sentences with several roots" in line for line in mined.remarks)
    assert any("1 sentences with unlabelled words" in line for line in mined.remarks)
    assert all(np.isfinite(s.margin) and s.margin >= 0 for s in mined.suspects)
    assert any((s.sentence, s.sent_id) == (4, "5") for s in mined.suspects)
    assert any(s.sentence == 1 and s.kind == "head" for s in mined.suspects)


def test_a_treebank_without_labels_or_with_many_roots() -> None:
    sentences = consistent(40)
    for rows in sentences:
        for row in rows:
            row[7] = "_"
    mined = treebound.mine(documents(sentences), Settings(folds=2), training=SMALL)
    assert not mined.count("label")
    assert any("no labels" in line for line in mined.remarks)
    several = consistent(40)
    for rows in several[:20]:
        rows[0][6], rows[0][7] = "0", "root"
    assert not prepare(documents(several).treebank, [], {}).examples.meta["single_root"]


@pytest.mark.parametrize("sentences", [0, 1, 4])
def test_too_few_sentences(sentences: int) -> None:
    with pytest.raises(InputError, match="no sentences" if not sentences else f"{sentences} sentences? for 5 folds"):
        treebound.mine(documents(consistent(sentences)), training=SMALL)
