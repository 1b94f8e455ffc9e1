"""Attachment scores: the number of words with the right head in each sentence, with and without punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebound.core.dtypes import NO_HEAD
from treebound.core.errors import InputError
from treebound.core.treebank import Treebank


def scored_words(treebank: Treebank) -> np.ndarray:
    """Return bool[W]: the words that are scored, which are all words but punctuation.

    `treebank.meta["punctuation"]` defines punctuation by gold tags: `{"column": "upos", "tags": ["PUNCT"]}`. If it is
    absent, all words are scored.
    """
    rule = treebank.meta.get("punctuation")
    if not rule:
        return np.ones(treebank.words, bool)
    column = rule["column"]
    ids = [i for i in map(treebank.vocab[column].get, rule["tags"]) if i >= 0]
    return ~np.isin(treebank.columns[column], ids)


def join_heads(gold: Treebank, heads: Sequence[np.ndarray]) -> np.ndarray:
    """Return int32[W]: the heads of all words of a treebank in one array, without the roots.

    heads  heads[i] is int[n_i + 1] for sentence i, with the root first

    Raises InputError if the number of parses or the length of a parse does not match `gold`.
    """
    if len(heads) != len(gold):
        reason = f"{len(heads)} parses for the {len(gold)} sentences of {gold.name}"
        raise InputError(reason, hint="give one parse for each sentence")
    for i, (row, n) in enumerate(zip(heads, gold.lengths, strict=True)):
        if len(row) != n + 1:
            reason = f"sentence {i + 1} of {gold.name} has {n} words, but its parse has {len(row) - 1}"
            raise InputError(reason, hint="give n + 1 heads for n words")
    return np.concatenate([np.asarray(row)[1:] for row in heads]) if len(gold) else np.empty(0, np.int32)


@dataclass(frozen=True)
class Evaluation:
    """Attachment scores of one parsed treebank.

    sentences  columns by name, with one entry per sentence

    - n: number of all words
    - scored: number of scored words, which are all words but punctuation
    - correct: number of scored words with the gold head
    - complete: whether all scored words have the gold head; True for a sentence without scored words
    - correct_all, complete_all: like `correct` and `complete`, for all words including punctuation
    - correct_labelled, complete_labelled, correct_labelled_all, complete_labelled_all: like the four columns above, for
      words with the gold head and the gold label; only if there are labels
    """

    sentences: dict[str, np.ndarray]

    @property
    def summary(self) -> dict[str, float]:
        """Return the scores of the whole treebank by name.

        - `sentences`, `words`, `scored_words`: counts
        - `uas`, `uas_all`: per cent of scored words, and of all words
        - `las`, `las_all`: the same with labels; only if there are labels
        - `complete`, `complete_all`: per cent of sentences without a wrong head among scored words, and among all words
        - `complete_labelled`, `complete_labelled_all`: the same with labels; only if there are labels

        A score without any word or sentence to count is NaN.
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
    """Return whether every word has a label other than `_`, which labelled training requires."""
    return treebank.words > 0 and not unlabelled(treebank)


def is_labelled(treebank: Treebank) -> bool:
    """Return whether any word has a label other than `_`, so that labelled scores are meaningful."""
    return unlabelled(treebank) < treebank.words


def unlabelled(treebank: Treebank) -> int:
    """Return the number of words whose label is `_`. O(words)."""
    number = treebank.vocab["deprel"].get("_")
    return int(treebank.counts("deprel")[number]) if number >= 0 else 0


def right_labels(gold: Treebank, labels: Sequence[Sequence[str]]) -> np.ndarray:
    """Return bool[W]: the words whose label equals the gold label.

    labels  labels[i] holds the n_i labels of sentence i

    Raises InputError if the lengths do not match `gold`.
    """
    if [len(row) for row in labels] != gold.lengths.tolist():
        raise InputError(f"labels do not match the sentences of {gold.name}", hint="give one label for each word")
    number = gold.vocab["deprel"].get
    return np.array([number(s) for row in labels for s in row], np.int64) == gold.columns["deprel"]


#: characters of `marks`: a wrong head, the right head with a wrong label or without labels, the right head and label
WRONG, HEAD, LABELLED = "-", "h", "l"


def marks(gold: Treebank, heads: Sequence[np.ndarray], labels: Sequence[Sequence[str]] | None = None) -> list[str]:
    """Return one string per sentence, with one character per scored word.

    The characters are WRONG (wrong head), HEAD (right head) and LABELLED (right head and right label).

    Significance tests over words need only these marks, which take one byte per word. The arguments and the errors are
    the same as for `evaluate`.
    """
    code = np.where(join_heads(gold, heads) == gold.head, HEAD, WRONG)
    if labels is not None and is_labelled(gold):
        code[(code == HEAD) & right_labels(gold, labels)] = LABELLED
    counts = scored_words(gold)
    spans = zip(gold.offsets[:-1], gold.offsets[1:], strict=True)
    return ["".join(code[start:end][counts[start:end]]) for start, end in spans]


def evaluate(gold: Treebank, heads: Sequence[np.ndarray], labels: Sequence[Sequence[str]] | None = None) -> Evaluation:
    r"""Compare the heads of parses, and their labels if given, with the gold heads and labels.

    Parameters
    ----------
    gold : Treebank
        The annotated sentences. `gold.meta["punctuation"]` defines the words that are not scored, see `scored_words`.
    heads : sequence of array
        int[n_i + 1] for every sentence i of n_i words: the head of each word, with the root first, whose head is -1.
    labels : sequence of sequence of str, optional
        n_i labels for every sentence. Labelled scores are computed if labels are given and `gold` has labels. The label
        `_` is treated like any other label, as in the evaluators of the CoNLL shared tasks.

    Returns
    -------
    Evaluation
        Counts for every sentence, and `summary` with UAS, LAS and complete sentences in percent.

    Raises
    ------
    InputError
        If `gold` has words without heads, or if the number or the length of parses does not match.

    Notes
    -----
    O(words).

    References
    ----------
    Buchholz & Marsi (2006), CoNLL-X shared task on multilingual dependency parsing, section 4.

    Examples
    --------
    >>> import numpy as np
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
