"""Attachment scores: how many words have the right head, sentence by sentence, with and without punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank


def scored_words(treebank: Treebank) -> np.ndarray:
    """bool[W]: the words that count, i.e. all but punctuation as `meta["punctuation"]` defines it (nothing if absent).

    Punctuation is a matter of gold tags: `{"column": "upos", "tags": ["PUNCT"]}`.
    """
    rule = treebank.meta.get("punctuation")
    if not rule:
        return np.ones(treebank.words, bool)
    column = rule["column"]
    ids = [i for i in map(treebank.vocab[column].get, rule["tags"]) if i >= 0]
    return ~np.isin(treebank.columns[column], ids)


def join_heads(gold: Treebank, heads: Sequence[np.ndarray]) -> np.ndarray:
    """int32[W]: heads[i] is int[n_i + 1] for sentence i, with the root first. InputError where lengths differ."""
    if len(heads) != len(gold):
        raise InputError(f"{len(heads)} parses for the {len(gold)} sentences of {gold.name}")
    for i, (row, n) in enumerate(zip(heads, gold.lengths, strict=True)):
        if len(row) != n + 1:
            raise InputError(f"sentence {i + 1} of {gold.name} has {n} words, its parse {len(row) - 1}")
    return np.concatenate([np.asarray(row)[1:] for row in heads]) if len(gold) else np.empty(0, np.int32)


@dataclass(frozen=True)
class Evaluation:
    """Attachment scores of one parsed treebank.

    sentences  columns by name, one entry a sentence: n (words), scored (words that are not punctuation), correct
               (scored words with the gold head), complete (all scored words are correct; so is a sentence without any),
               and over all words, punctuation included, correct_all and complete_all; where there are labels also
               correct_labelled (head and label) and complete_labelled, correct_labelled_all and complete_labelled_all
    """

    sentences: dict[str, np.ndarray]

    @property
    def summary(self) -> dict[str, float]:
        """sentences, words, scored_words (counts); uas, complete (per cent); uas_all, complete_all with punctuation;
        where there are labels las, complete_labelled, las_all, complete_labelled_all.

        NaN where there is nothing to score.
        """
        total, count = {name: int(column.sum()) for name, column in self.sentences.items()}, len(self.sentences["n"])

        def per_cent(part: int, whole: int) -> float:
            return 100.0 * float(part) / float(whole) if whole else float("nan")

        out: dict[str, float] = {"sentences": count, "words": total["n"], "scored_words": total["scored"]}
        kinds = {"uas": "", "las": "_labelled"} if "correct_labelled" in total else {"uas": ""}
        for score, kind in kinds.items():
            for end, words in (("", total["scored"]), ("_all", total["n"])):
                out[score + end] = per_cent(total[f"correct{kind}{end}"], words)
                out[f"complete{kind}{end}"] = per_cent(total[f"complete{kind}{end}"], count)
        return out


def has_labels(treebank: Treebank) -> bool:
    """Whether every word has a label other than `_`, as training needs it."""
    return treebank.words > 0 and not unlabelled(treebank)


def is_labelled(treebank: Treebank) -> bool:
    """Whether any word has a label other than `_`, so that labelled scores mean something."""
    return unlabelled(treebank) < treebank.words


def unlabelled(treebank: Treebank) -> int:
    """Return the number of words whose label is `_`. O(words)."""
    number = treebank.vocab["deprel"].get("_")
    return int(treebank.counts("deprel")[number]) if number >= 0 else 0


def right_labels(gold: Treebank, labels: Sequence[Sequence[str]]) -> np.ndarray:
    """bool[W]: the words whose label is that of `gold`; labels[i] has n_i strings. InputError where lengths differ."""
    if [len(row) for row in labels] != gold.lengths.tolist():
        raise InputError(f"labels do not match the sentences of {gold.name}")
    number = gold.vocab["deprel"].get
    return np.array([number(s) for row in labels for s in row], np.int64) == gold.columns["deprel"]


#: what `marks` writes for a wrong head, a right one, and a right one with the right label
WRONG, HEAD, LABELLED = "-", "h", "l"


def marks(gold: Treebank, heads: Sequence[np.ndarray], labels: Sequence[Sequence[str]] | None = None) -> list[str]:
    """One string a sentence, one character for each of its scored words: WRONG, HEAD or LABELLED.

    What a test over single arcs needs of a parse, in a byte a word. heads, labels and errors as of `evaluate`.
    """
    code = np.where(join_heads(gold, heads) == gold.head, HEAD, WRONG)
    if labels is not None and is_labelled(gold):
        code[(code == HEAD) & right_labels(gold, labels)] = LABELLED
    counts = scored_words(gold)
    spans = zip(gold.offsets[:-1], gold.offsets[1:], strict=True)
    return ["".join(code[start:end][counts[start:end]]) for start, end in spans]


def evaluate(gold: Treebank, heads: Sequence[np.ndarray], labels: Sequence[Sequence[str]] | None = None) -> Evaluation:
    r"""Compare heads, int[n_i + 1] for every sentence i with the root first, with those of `gold`.

    labels  n_i strings for every sentence; labelled scores are given where they are and `gold` has labels. A label `_`
            counts as any other, as in the evaluators of the CoNLL shared tasks: it is right where both files have it
    InputError if `gold` is not annotated or the sentences do not match. O(words).

    Examples
    --------
    >>> from treebound.treebanks.document import read
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> text = word(1, "Trees", "NOUN", 2, "nsubj") + word(2, "grow", "VERB", 0, "root") + "\n"
    >>> gold = read(text.encode()).treebank
    >>> evaluate(gold, [np.array([-1, 0, 1])]).summary["uas"], evaluate(gold, [np.array([-1, 2, 0])]).summary["uas"]
    (0.0, 100.0)
    """
    if np.any(gold.head == NO_HEAD):
        i = int(np.searchsorted(gold.offsets, np.flatnonzero(gold.head == NO_HEAD)[0], side="right"))
        raise InputError(f"sentence {i} of {gold.name} is not annotated", hint="evaluate against a treebank with heads")
    right = join_heads(gold, heads) == gold.head
    counts = scored_words(gold)

    def per_sentence(flags: np.ndarray) -> np.ndarray:
        running = np.concatenate([[0], np.cumsum(flags)])
        return running[gold.offsets[1:]] - running[gold.offsets[:-1]]

    table = {
        "n": gold.lengths,
        "scored": per_sentence(counts),
        "correct": per_sentence(right & counts),
        "correct_all": per_sentence(right),
    }
    table["complete"] = table["correct"] == table["scored"]
    table["complete_all"] = table["correct_all"] == table["n"]
    if labels is not None and is_labelled(gold):
        both = right & right_labels(gold, labels)
        table["correct_labelled"] = per_sentence(both & counts)
        table["correct_labelled_all"] = per_sentence(both)
        table["complete_labelled"] = table["correct_labelled"] == table["scored"]
        table["complete_labelled_all"] = table["correct_labelled_all"] == table["n"]
    return Evaluation(table)
