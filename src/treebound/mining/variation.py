"""Variation n-grams: equal word sequences that are annotated differently in one treebank.

The method is DECCA's for dependencies (Dickinson & Meurers 2003; Boyd, Dickinson & Meurers 2008). A nucleus is a pair
of positions in one sentence. Two nuclei are occurrences of one construction if their words and all words between them
have equal forms. The annotation of a nucleus is the arc between its two words, with label and direction, or the absence
of an arc (NIL). The non-fringe heuristic also requires that the words before and after the nucleus are equal. The root
is placed before the first word, so that the arc from the root has a nucleus too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treebound.core.treebank import Treebank
from treebound.mining.suspects import Suspect

WINDOW = 30  #: the longest distance between the two words of a nucleus

_ROOT, _END, _WORDS = 0, 1, 2  # numbers of the root, of the place after the last word, and of the first form


def with_variation(
    suspects: Sequence[Suspect],
    treebank: Treebank,
    *,
    context: bool = False,
    tag_column: str = "upos",
    window: int = WINDOW,
) -> list[Suspect]:
    r"""Return suspects with their field `variation` computed from the whole treebank.

    Parameters
    ----------
    suspects : sequence of Suspect
        Suspects of the treebank; their field `sentence` is an index into it.
    treebank : Treebank
        The annotated treebank.
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
    counted = []
    for suspect in suspects:
        counts = tags if suspect.kind == "tag" else arcs
        otherwise, elsewhere = counts[treebank.offsets[suspect.sentence] + suspect.word - 1].tolist()
        counted.append(replace(suspect, variation=(otherwise, elsewhere)))
    return counted


def arc_variation(treebank: Treebank, *, context: bool, window: int = WINDOW) -> np.ndarray:
    """Count for each word's arc how often the same construction is annotated differently elsewhere.

    Parameters
    ----------
    treebank : Treebank
        A treebank with heads and labels.
    context : bool
        Apply the non-fringe heuristic: the words before and after the nucleus must also be equal.
    window : int
        The longest distance between a word and its head that is considered.

    Returns
    -------
    counts : int64[W, 2]
        For each word: the number of other occurrences with another annotation, and the number of all other occurrences.
        (0, 0) if the construction occurs once or its arc is longer than the window.
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
    """Count for each word how often its form, between the same two neighbours, has another tag elsewhere.

    Parameters
    ----------
    treebank : Treebank
        A treebank with tags.
    column : str
        Column of the tags: `upos` or `xpos`.

    Returns
    -------
    counts : int64[W, 2]
        For each word: the number of other occurrences with another tag, and the number of all other occurrences.
    """
    places = _places(treebank)
    word = np.flatnonzero(places.word >= 0)
    name = _renamed(_renamed(places.form[word], places, word - 1), places, word + 1)
    tags = treebank.columns[column].astype(np.int64)
    total, equal = _totals(name, name * len(treebank.vocab[column]) + tags)
    return np.column_stack([total - equal, total - 1])


def variation_scores(treebank: Treebank, *, context: bool = False, window: int = WINDOW) -> np.ndarray:
    """Score every word by the variation of its arc, as a baseline that ranks all words.

    The score is d / (e + 1). Here e counts the other occurrences of the word's construction, and d counts the
    occurrences among them that are annotated differently. The +1 counts the word's own occurrence, and ranks more
    frequent constructions higher.

    Parameters
    ----------
    treebank : Treebank
        A treebank with heads and labels.
    context : bool
        Apply the non-fringe heuristic, so that fewer words vary.
    window : int
        The longest distance between a word and its head that is considered.

    Returns
    -------
    scores : float64[W]
        Scores in [0, 1). Words with higher scores are more suspicious; 0 means no variation.
    """
    counts = arc_variation(treebank, context=context, window=window)
    return counts[:, 0] / (counts[:, 1] + 1)


@dataclass(frozen=True)
class _Places:
    """A treebank as a sequence of P places: for each sentence the root, its words and an end mark; place 0 is padding.

    form      int64[P]: number of the form
    sentence  int64[P]: index of the sentence
    word      int64[P]: index of the word in the treebank; -1 for root and end
    head      int64[P]: place of the head; -1 for root, end and words without a head
    count     number of different forms, including root and end
    """

    form: np.ndarray
    sentence: np.ndarray
    word: np.ndarray
    head: np.ndarray
    count: int


def _places(treebank: Treebank) -> _Places:
    """Return the places of a treebank."""
    lengths = treebank.lengths
    first = treebank.offsets[:-1] + 2 * np.arange(len(treebank)) + 1  # place of each root; place 0 is padding
    total = treebank.words + 2 * len(treebank) + 1
    form, word, head = np.full(total, _END, np.int64), np.full(total, -1, np.int64), np.full(total, -1, np.int64)
    sentence = np.full(total, -1, np.int64)
    sentence[1:] = np.repeat(np.arange(len(treebank)), lengths + 2)
    form[first] = _ROOT
    owner = np.repeat(np.arange(len(treebank)), lengths)
    word_place = np.arange(treebank.words) + 2 * owner + 2
    form[word_place] = treebank.columns["form"] + _WORDS
    word[word_place] = np.arange(treebank.words)
    head[word_place] = np.where(treebank.head >= 0, first[owner] + treebank.head, -1)
    return _Places(form, sentence, word, head, len(treebank.vocab["form"]) + _WORDS)


def _repeated(places: _Places, window: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (distance, first places of repeated n-grams, names of the n-grams) for distances from 1 to `window`.

    The distance of an n-gram is the number of places from its first word to its last word. Names are numbers: equal
    n-grams have the same name, others have different names. The name of an n-gram is computed
    from the name of its words except the last, and the form of the last word. An n-gram that occurs once is dropped,
    because no longer n-gram that begins with it can be repeated. Space O(words).
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
    """Return the names of n-grams that are one word longer than the n-grams with the names `name`.

    beside  for each n-gram, the place of the word that extends it
    """
    return np.unique(name * places.count + places.form[beside], return_inverse=True)[1].astype(np.int64)


def _totals(name: np.ndarray, annotated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count, for each occurrence of an n-gram, all its occurrences, and its occurrences with the same annotation.

    name       number of the n-gram, for each occurrence
    annotated  number of the combination of n-gram and annotation, for each occurrence
    """
    _, same, counts = np.unique(annotated, return_inverse=True, return_counts=True)
    return np.bincount(name, minlength=1)[name], counts[same]
