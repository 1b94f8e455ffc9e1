"""Variation n-grams: word pairs that stand between the same words and are annotated differently in one treebank.

The method is DECCA's for dependencies (Dickinson & Meurers 2003; Boyd, Dickinson & Meurers 2008). A nucleus is a pair
of positions in one sentence. Two nuclei are occurrences of one construction if their words and all words between them
have equal forms. The annotation of a nucleus is the arc between its two words, with label and direction, or the absence
of an arc (NIL). The non-fringe heuristic also wants the word before the nucleus and the word after the nucleus to be
equal. The root stands before the first word, so that the arc from the root has a nucleus too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treebound.core.treebank import Treebank
from treebound.mining.suspects import Suspect

WINDOW = 30  #: the longest distance between the two words of a nucleus

_ROOT, _END, _WORDS = 0, 1, 2  # names of the root, of the place after the last word, and of the first form


def with_variation(
    suspects: Sequence[Suspect],
    treebank: Treebank,
    *,
    context: bool = False,
    tag_column: str = "upos",
    window: int = WINDOW,
) -> list[Suspect]:
    r"""Return the suspects with their field `variation` filled from the whole treebank.

    Parameters
    ----------
    suspects : sequence of Suspect
        Suspects whose `sentence` is an index into the treebank.
    treebank : Treebank
        The annotation that the suspects are from.
    context : bool
        Apply the non-fringe heuristic to heads and labels. Tags always use it.
    tag_column : str
        Column of the tags, for suspects of kind `tag`: `upos` or `xpos`.
    window : int
        The longest distance between a word and its head; a longer arc has the variation (0, 0).

    Notes
    -----
    Time O(window * words * log(words)), space O(words). Source: Boyd, Dickinson & Meurers (2008).

    Examples
    --------
    >>> from treebound.treebanks.document import read
    >>> word = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n".format
    >>> first = word(1, "Trees", "NOUN", 2, "nsubj") + word(2, "grow", "VERB", 0, "root") + "\n"
    >>> second = first.replace("nsubj", "dep")
    >>> treebank = read((first + first + second).encode()).treebank
    >>> suspect = Suspect(2, "3", 1, "Trees", "label", 2, "dep", "NOUN", 2, "nsubj", "NOUN", 1.5, True, 0.1)
    >>> with_variation([suspect], treebank)[0].variation
    (2, 2)
    """
    arcs = arc_variation(treebank, context=context, window=window)
    tags = tag_variation(treebank, tag_column) if any(s.kind == "tag" for s in suspects) else arcs
    filled = []
    for suspect in suspects:
        counts = tags if suspect.kind == "tag" else arcs
        otherwise, elsewhere = counts[treebank.offsets[suspect.sentence] + suspect.word - 1].tolist()
        filled.append(replace(suspect, variation=(otherwise, elsewhere)))
    return filled


def arc_variation(treebank: Treebank, *, context: bool, window: int = WINDOW) -> np.ndarray:
    """Count how often the construction of each word's arc is annotated otherwise elsewhere.

    Parameters
    ----------
    treebank : Treebank
        A treebank with heads and labels.
    context : bool
        Apply the non-fringe heuristic: the words beside the nucleus must be equal, too.
    window : int
        The longest distance between a word and its head that is looked at.

    Returns
    -------
    counts : int64[W, 2]
        Per word: occurrences elsewhere that are annotated otherwise, and all occurrences elsewhere.
        (0, 0) where the construction occurs once or its arc is longer than the window.
    """
    places = _places(treebank)
    labels = treebank.columns["deprel"].astype(np.int64)
    states = 2 * len(treebank.vocab["deprel"]) + 2
    counts = np.zeros((treebank.words, 2), np.int64)
    for distance, begin, name in _repeated(places, window):
        end = begin + distance
        if context:
            name = _renamed(_renamed(name, places, begin - 1), places, end + 1)
        from_left, from_right = places.head[end] == begin, places.head[begin] == end
        word = np.where(from_left, places.word[end], places.word[begin])
        state = np.where(from_left, 2, 3) + 2 * labels[word]
        state[~(from_left | from_right)] = 0
        total, equal = _totals(name, name * states + state)
        arc = state > 0
        counts[word[arc], 0] = (total - equal)[arc]
        counts[word[arc], 1] = total[arc] - 1
    return counts


def tag_variation(treebank: Treebank, column: str = "upos") -> np.ndarray:
    """Count how often the form of each word, between the same two neighbours, has another tag elsewhere.

    Parameters
    ----------
    treebank : Treebank
        A treebank with tags.
    column : str
        `upos` or `xpos`.

    Returns
    -------
    counts : int64[W, 2]
        Per word: occurrences elsewhere that have another tag, and all occurrences elsewhere.
    """
    places = _places(treebank)
    word = np.flatnonzero(places.word >= 0)
    name = _renamed(_renamed(places.form[word], places, word - 1), places, word + 1)
    tags = treebank.columns[column].astype(np.int64)
    total, equal = _totals(name, name * len(treebank.vocab[column]) + tags)
    return np.column_stack([total - equal, total - 1])


def variation_scores(treebank: Treebank, *, context: bool = False, window: int = WINDOW) -> np.ndarray:
    """Score every word by the variation of its arc, so that a baseline can rank all words.

    The score is otherwise / (elsewhere + 1): the share of the construction's occurrences, the word's own included, that
    are annotated otherwise than the word. Of equal shares elsewhere, the one of more occurrences scores higher.

    Parameters
    ----------
    treebank : Treebank
        A treebank with heads and labels.
    context : bool
        Apply the non-fringe heuristic: fewer words vary then.
    window : int
        The longest distance between a word and its head that is looked at.

    Returns
    -------
    scores : float64[W]
        In [0, 1); higher scores are more suspicious, and 0 means no variation.
    """
    counts = arc_variation(treebank, context=context, window=window)
    return counts[:, 0] / (counts[:, 1] + 1)


@dataclass(frozen=True)
class _Places:
    """The sentences one after the other, each with the root before and an end after its words; a margin around all.

    form      int64[P]: name of the form
    sentence  int64[P]: index of the sentence
    word      int64[P]: index of the word in the treebank; -1 where there is no word
    head      int64[P]: place of the head; -1 where there is no head
    count     number of names of forms
    """

    form: np.ndarray
    sentence: np.ndarray
    word: np.ndarray
    head: np.ndarray
    count: int


def _places(treebank: Treebank) -> _Places:
    """Lay out a treebank as places."""
    lengths = treebank.lengths
    first = treebank.offsets[:-1] + 2 * np.arange(len(treebank)) + 1  # place of each root; place 0 is the margin
    total = treebank.words + 2 * len(treebank) + 1
    form, word, head = np.full(total, _END, np.int64), np.full(total, -1, np.int64), np.full(total, -1, np.int64)
    sentence = np.full(total, -1, np.int64)
    sentence[1:] = np.repeat(np.arange(len(treebank)), lengths + 2)
    form[first] = _ROOT
    owner = np.repeat(np.arange(len(treebank)), lengths)
    place = np.arange(treebank.words) + 2 * owner + 2
    form[place] = treebank.columns["form"] + _WORDS
    word[place] = np.arange(treebank.words)
    head[place] = np.where(treebank.head >= 0, first[owner] + treebank.head, -1)
    return _Places(form, sentence, word, head, len(treebank.vocab["form"]) + _WORDS)


def _repeated(places: _Places, window: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield, per distance from 1, the places where repeated n-grams begin, and the names of these n-grams.

    An n-gram is named by the name of its part without the last word, and the last word: numbers, exact, O(words) space.
    A part that occurs once is never part of a repeated n-gram.
    """
    inner = places.form != _END
    begin = np.flatnonzero(inner)
    name = places.form[begin]
    for distance in range(1, window + 1):
        within = begin + distance < len(inner)
        begin, name = begin[within], name[within]
        within = inner[begin + distance] & (places.sentence[begin] == places.sentence[begin + distance])
        begin, name = begin[within], name[within]
        name = _renamed(name, places, begin + distance)
        repeated = np.bincount(name)[name] > 1 if len(name) else np.zeros(0, bool)
        begin, name = begin[repeated], name[repeated]
        if not len(begin):
            return
        yield distance, begin, name


def _renamed(name: np.ndarray, places: _Places, beside: np.ndarray) -> np.ndarray:
    """Return names that also tell apart the forms at some places beside the named n-grams."""
    return np.unique(name * places.count + places.form[beside], return_inverse=True)[1].astype(np.int64)


def _totals(name: np.ndarray, annotated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, per occurrence, how many have its name, and how many have its name and its annotation."""
    _, same, counts = np.unique(annotated, return_inverse=True, return_counts=True)
    return np.bincount(name, minlength=1)[name], counts[same]
