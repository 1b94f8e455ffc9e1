"""Oracles: the derivations in the charts of adaptive supertagging that are most, or least, like gold derivations.

The similarity to a gold derivation is a sum over steps. It counts lexical categories, constituents (span and category),
and pairs of heads that are combined and depend on one another. Single steps do not see dependencies that are passed on
through other categories. The labelled F-score of the most similar derivation is therefore a lower bound on the best
F-score in the chart, and the least similar one gives an upper bound on the worst F-score. If a chart contains the gold
derivation, that derivation is the most similar one. Huang (2008) finds the best F-score itself, in charts whose items
know all open slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treebound.support.jit import kernel
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, Packed, sentence_of
from treebound.systems.ccg.decoding import Adaptive, Decoded, Supertagged
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.rule_features import LEAF
from treebound.systems.ccg.words import Words
from treebound.treebanks.ccg.dependencies import dependencies
from treebound.treebanks.ccg.derivation import Derivation

MOST = 4  #: largest number of gold categories per span: unary steps give a span several


class Oracle(Adaptive):
    """Adaptive supertagging that returns the derivation of each chart that is most like the gold derivation.

    With `worst`, it returns the least similar derivation. O(E) per chart.
    """

    def __init__(self, *arguments: Any, gold: Sequence[Derivation], worst: bool = False):
        super().__init__(*arguments)
        self.gold, self.sign = gold, -1.0 if worst else 1.0

    def _best(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> tuple[float, Derivation, None]:
        """Score the edges by their similarity to the gold derivation and return the best derivation."""
        graph = packed.chart.graph
        graph.weight[:] = self.sign * shared(packed, self.gold[s])
        value, _, edge = packed.best()
        return value, packed.derivation(edge, tagged.strings(s)), None


def shared(packed: Packed, gold: Derivation) -> np.ndarray:
    """Return float64[E], the similarity of each edge of a chart to a gold derivation. O(E + n^2)."""
    n, number = len(packed.sentence.form), packed.grammar.number
    span_categories = np.full((n + 1, n + 1, MOST), -1, np.int32)
    right = np.array([number.get(str(leaf.category), -1) for leaf in gold.leaves()], np.int32)
    for begin, end, node in _spans(gold):
        of_span = span_categories[begin, end]
        of_span[min(np.count_nonzero(of_span >= 0), MOST - 1)] = number.get(str(node.category), -1)
    linked = np.zeros((n, n), bool)
    for dependency in dependencies(gold):
        linked[dependency.head, dependency.filler] = linked[dependency.filler, dependency.head] = True
    out = np.zeros(len(packed.chart.rule))
    _share(packed.sentence, packed.chart, span_categories, right, linked, out)
    return out


def _spans(derivation: Derivation) -> list[tuple[int, int, Derivation]]:
    """Return (begin, end, node) for all constituents."""
    constituents: list[tuple[int, int, Derivation]] = []
    open_spans: list[tuple[int, int]] = []  # spans of the constituents that no parent has taken yet
    begin = len(derivation.leaves())
    for node in reversed(list(derivation.nodes())):  # children before parents, from right to left
        if not node.children:
            begin -= 1
            span = begin, begin + 1
        else:
            parts = [open_spans.pop() for _ in node.children]
            span = parts[0][0], parts[-1][1]
        open_spans.append(span)
        constituents.append((*span, node))
    return constituents


@kernel
def _share(sentence, chart, gold, right, linked, out):
    """Write the similarity of every edge to `out` float64[E].

    gold    int32[n + 1, n + 1, MOST], gold categories of spans, padded with -1;
    right   int32[n], gold categories of words, -1 for unknown ones;
    linked  bool[n, n], whether two words depend on each other
    """
    graph, n = chart.graph, len(sentence.form)
    for i in range(n):
        for j in range(i + 1, n + 1):
            for item in range(chart.cell[i, j, 0], chart.cell[i, j, 1]):
                alike = False
                for k in range(gold.shape[2]):
                    alike |= gold[i, j, k] == chart.category[item]
                for e in range(graph.first[item], graph.first[item + 1]):
                    out[e] = alike
                    if chart.rule[e] == LEAF:
                        out[e] = right[i] == chart.category[item]
                    elif chart.rule[e] >= 0:
                        a = sentence.word[chart.head[graph.left[e]]]
                        b = sentence.word[chart.head[graph.right[e]]]
                        out[e] += linked[a, b]


def nearest(charts: Charts, words: Words, s: int, tags: np.ndarray, gold: Derivation) -> Derivation | None:
    """Return the derivation over lexical categories `tags` int32[n] that is most like the derivation `gold`.

    Return None if these categories have no derivation, or if the chart has too many edges.
    """
    choices = Lattice(np.arange(len(tags) + 1, dtype=np.int32), tags)
    packed = charts.chart(sentence_of(words, s, choices))
    if packed is None or not packed.parsed:
        return None
    packed.chart.graph.weight[:] = shared(packed, gold)
    return packed.derivation(packed.best()[2], words.strings[words.offsets[s] : words.offsets[s + 1]])


def best_of_gold_categories(model: CCGModel, words: Words, gold: Sequence[Derivation]) -> list[Decoded]:
    """Return the derivations over gold lexical categories that are most like the gold derivations.

    Sentences with a category that the model lacks, or without a derivation, count as not parsed.
    """
    number, charts, results = model.tagger.number, Charts(model.made_grammar(), np.zeros(1), model.spec.limit), []
    for s, derivation in enumerate(gold):
        leaves = derivation.leaves()
        tags = np.array([number.get(str(leaf.category), -1) for leaf in leaves], np.int32)
        best = nearest(charts, words, s, tags, derivation) if (tags >= 0).all() else None
        results.append(Decoded(tuple(leaves) if best is None else (best,), best is not None, 0.0, 0, 1.0, 0))
    return results
