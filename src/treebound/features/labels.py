"""Score the labels of arcs by templates, and choose the best label of each arc.

Labels are scored arc by arc. The best labelled tree is therefore the best tree after each arc's best label score has
been added to ("folded into") the arc's score, and any decoder chooses arcs and labels jointly. A labeller with
templates over the tree around an arc needs a finished tree: it is a second stage (McDonald, Lerman & Pereira 2006,
section 2.3).
"""

from __future__ import annotations

import numpy as np

from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.factors.templates import Lines, lines
from treebound.features.compiling import compile_templates
from treebound.kernels.features.labels import (
    best_labels,
    context_features,
    context_words,
    label_features,
    score_context,
    score_labels,
)
from treebound.kernels.features.scoring import LINE, Output, Place
from treebound.kernels.features.templates import packed

#: features of one word of the arc with the arc's direction
HEAD = lines("""
    h.form; h.tag; h.form h.tag; h.coarse; h.lower; h.suffix h.tag; h.feats; h.tag h.feats; h.lemma
    h-1.tag h.tag; h.tag h+1.tag; h-1.tag h.tag h+1.tag
""")
MODIFIER = lines("""
    m.form; m.tag; m.form m.tag; m.coarse; m.lower; m.suffix m.tag; m.prefix m.tag; m.length m.tag
    m.feats; m.tag m.feats; m.lemma; m.lemma m.feats
    m-1.tag m.tag; m.tag m+1.tag; m-1.tag m.tag m+1.tag; m-2.tag m-1.tag m.tag; m.tag m+1.tag m+2.tag
    m-1.form m.tag; m.tag m+1.form; m-1.form m.form; m.form m+1.form
""")
#: features of both words with the arc's direction
PAIR = lines("""
    h.form m.form; h.form h.tag m.tag; h.tag m.form m.tag; h.form m.tag; h.tag m.form; h.coarse m.coarse
    h.coarse m.form; h.form m.coarse; h.lower m.lower; h.suffix m.suffix; h.suffix h.tag m.tag; h.tag m.suffix m.tag
    h.tag h.feats m.tag m.feats; h.tag m.tag m.feats; h.tag h.feats m.tag; h.feats m.feats; h.form m.feats
    h.lemma m.lemma; h.lemma m.tag; h.tag m.lemma; h.lemma m.tag m.feats
    h.tag h+1.tag m-1.tag m.tag; h-1.tag h.tag m-1.tag m.tag; h.tag h+1.tag m.tag m+1.tag; h-1.tag h.tag m.tag m+1.tag
    h.tag m-1.tag m.tag m+1.tag; h-1.tag h.tag h+1.tag m.tag
    h.form m-1.tag m.tag; h.form m.tag m+1.tag; h.tag m-1.form m.tag; h.tag m.tag m+1.form
""")
#: features of both words with the arc's direction and distance
FAR = lines("h.tag m.tag; h.coarse m.coarse; h.tag m.form; h.form m.tag")

#: words around an arc in its tree (`kernels.features.labels.context_words`), and their features
WORDS = ("h", "m", "g", "l", "r", "a", "z")
TREE = lines("""
    g.tag h.tag m.tag; g.coarse h.coarse m.form; g.coarse h.form m.coarse; g.tag m.tag; g.form m.tag
    l.tag h.tag m.tag; h.tag m.tag r.tag; l.tag h.tag m.tag r.tag; l.coarse h.coarse m.form; h.coarse m.form r.coarse
    l.form m.form; m.form r.form; l.form m.tag; m.tag r.form; l.coarse h.form m.coarse; h.form m.coarse r.coarse
    a.tag h.tag m.tag; h.tag m.tag z.tag; a.form m.tag; m.tag z.form; a.tag m.tag z.tag; a.form h.tag m.tag
    a.form h.form; a.form m.form; a.lower h.coarse m.coarse; z.lower h.coarse m.coarse
    a.tag m.form; m.form z.tag; h.form m.tag a.tag; h.form m.tag z.tag
""")

TEMPLATES: Lines = {"label": PAIR, "label-head": HEAD, "label-mod": MODIFIER, "label-far": FAR, "label-context": TREE}


class Labeller:
    """Scores of labels as sums of hashed weights.

    Parameters
    ----------
    names : tuple of str
        The labels, in the order of their numbers.
    attributes : frozenset of str
        Token attributes that the corpus uses.
    first : int
        Index of the first label weight in the array of all weights, after the weights of arcs and parts.
    bits : int
        log2 of the number of weights among which a row of weights may begin; only every LINE-th weight begins a row.
    tree : bool
        Whether to use templates over the tree. If so, only `of_tree` and `tree_features` may be called.
    templates : dict
        Templates under the keys of TEMPLATES.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        attributes: frozenset[str],
        first: int,
        bits: int,
        tree: bool,
        templates: Lines = TEMPLATES,
    ):
        self.names, self.tree = names, tree
        self.place = Place(first, (1 << bits) // LINE - 1)
        self.width = width(len(names))
        salt = "label-tree" if tree else "label"
        self.groups = (
            compile_templates(templates["label-head"], ("h",), salt + "-head", attributes),
            compile_templates(templates["label-mod"], ("m",), salt + "-mod", attributes),
            compile_templates(templates["label"], ("h", "m"), salt, attributes),
            compile_templates(templates["label-far"], ("h", "m"), salt + "-far", attributes),
        )
        self.context = compile_templates(
            templates["label-context"] if tree else (), WORDS, salt + "-context", attributes
        )
        self.packed, self.packed_context = packed(self.groups), packed((self.context,))

    def of_arcs(self, weights: np.ndarray, rows: np.ndarray, n: int, head: np.ndarray, mod: np.ndarray) -> np.ndarray:
        """Return [A, width], the score of each label on each arc; columns after the last label are meaningless.

        The scores are float64, or int32 for `narrowed` weights; sums of some hundred weights do not overflow int32.
        """
        out = np.zeros((len(head), self.width), np.int32 if weights.dtype == np.int16 else np.float64)
        score_labels(self.packed, rows, n, head, mod, weights, self.place, out)
        return out

    def of_tree(self, weights: np.ndarray, rows: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """Return [n, width], the score of each label on the arc into each word of a tree, in the form of `of_arcs`."""
        words = context_words(heads)
        out = self.of_arcs(weights, rows, len(heads) - 1, words[0], words[1])
        if self.tree:
            score_context(self.packed_context, rows, words, weights, self.place, out)
        return out

    def best(
        self, scores: np.ndarray, gold: np.ndarray | None = None, cost: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the score, float64[A], and the number, int32[A], of the best label of each row.

        gold  int32[A], gold labels; `cost` is added to the score of all other labels, as in MIRA

        Among labels with equal scores, the label with the lowest number is the best.
        """
        if gold is None:
            gold, cost = np.zeros(len(scores), np.int32), 0.0
        return best_labels(scores, len(self.names), gold, cost)

    def room(self, arcs: int) -> int:
        """Return the number of features that `arc_features` or `tree_features` appends for this number of arcs."""
        return arcs * sum(len(templates.seed) for templates in (*self.groups, self.context))

    def arc_features(
        self,
        head: np.ndarray,
        mod: np.ndarray,
        labels: np.ndarray,
        sign: float,
        rows: np.ndarray,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
    ) -> int:
        """Append the slots of the weights that score labels[i] on the arc head[i] -> mod[i], for every i.

        The slots are written to `slots`, and `sign` to `signs`, from index `count` on. `rows` are the hashes of the
        sentence (`TokenTable.sentence`). Return the new count.
        """
        return label_features(self.groups, rows, head, mod, labels, Output(slots, signs, sign, self.place), count)

    def tree_features(
        self,
        words: np.ndarray,
        labels: np.ndarray,
        sign: float,
        rows: np.ndarray,
        n: int,
        slots: np.ndarray,
        signs: np.ndarray,
        count: int,
    ) -> int:
        """Append the slots of the weights that score labels[i] on the arc in words[:, i], also by the tree around it.

        The slots are written to `slots`, and `sign` to `signs`, from index `count` on. Return the new count.

        words  columns of the result of `treebound.kernels.features.labels.context_words`
        """
        count = self.arc_features(words[0], words[1], labels, sign, rows, slots, signs, count)
        return context_features(self.context, rows, words, n, labels, Output(slots, signs, sign, self.place), count)


def width(labels: int) -> int:
    """Return the length of a row of weights for this number of labels, a multiple of eight."""
    return -(-labels // 8) * 8


def weights_of(labels: int, bits: int) -> int:
    """Return the number of weights that a labeller of this number of labels needs: 2 ** bits plus one row."""
    return (1 << bits) + width(labels)


def inventory(treebank: Treebank) -> tuple[str, ...]:
    """Return the labels of a treebank in alphabetical order."""
    return tuple(sorted(treebank.values("deprel")))


def numbered(treebank: Treebank, names: tuple[str, ...]) -> np.ndarray:
    """Return int32[W], the index in `names` of each word's label, or -1 if `names` lacks the label."""
    ids = numbers(treebank.vocab["deprel"], names)
    return ids[treebank.columns["deprel"]] if len(ids) else np.empty(0, np.int32)


def numbers(vocabulary: Vocabulary, names: tuple[str, ...]) -> np.ndarray:
    """Return int32[V], the index in `names` of each string of a vocabulary, or -1 if `names` lacks the string."""
    number = {name: i for i, name in enumerate(names)}
    return np.array([number.get(string, -1) for string in vocabulary.strings], np.int32)
