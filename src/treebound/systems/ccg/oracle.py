"""Oracles: the best and the worst derivations of the charts that adaptive supertagging gives, judged by gold ones.

What a derivation is to share with the gold one is counted step by step: lexical categories, constituents (words and
category), and heads that are put together and depend on one another. The derivation that shares most is the best one.
Dependencies that are passed on through other categories are not seen by a single step, so the labelled F-score of what
is found bounds that of the best derivation from below, and of the worst one from above; where a chart holds the gold
derivation, that is the best one (Huang 2008 finds the best F-score itself, in charts whose items know all open slots).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treebound.support.jit import kernel
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, Packed, sentence_of
from treebound.systems.ccg.decoding import Adaptive, Found, Supertagged
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.rule_features import LEAF
from treebound.systems.ccg.words import Words
from treebound.treebanks.ccg.dependencies import dependencies
from treebound.treebanks.ccg.derivation import Derivation

MOST = 4  #: categories over the same words that count: unary steps follow one another


class Oracle(Adaptive):
    """Adaptive supertagging that takes the derivations most like `gold`, or least where `worst`; O(E) a chart."""

    def __init__(self, *how: Any, gold: Sequence[Derivation], worst: bool = False):
        super().__init__(*how)
        self.gold, self.sign = gold, -1.0 if worst else 1.0

    def _best(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> tuple[float, Derivation, None]:
        graph = packed.chart.graph
        graph.weight[:] = self.sign * shared(packed, self.gold[s])
        value, _, edge = packed.best()
        return value, packed.derivation(edge, tagged.strings(s)), None


def shared(packed: Packed, gold: Derivation) -> np.ndarray:
    """float64[E]: what each edge of a chart shares with a gold derivation of the same sentence. O(E + n^2)."""
    n, number = len(packed.sentence.form), packed.grammar.number
    wanted = np.full((n + 1, n + 1, MOST), -1, np.int32)
    right = np.array([number.get(str(leaf.category), -1) for leaf in gold.leaves()], np.int32)
    for begin, end, node in _spans(gold):
        of_span = wanted[begin, end]
        of_span[min(np.count_nonzero(of_span >= 0), MOST - 1)] = number.get(str(node.category), -1)
    linked = np.zeros((n, n), bool)
    for dependency in dependencies(gold):
        linked[dependency.head, dependency.filler] = linked[dependency.filler, dependency.head] = True
    out = np.zeros(len(packed.chart.rule))
    _share(packed.sentence, packed.chart, wanted, right, linked, out)
    return out


def _spans(derivation: Derivation) -> list[tuple[int, int, Derivation]]:
    """(begin, end, node) of all constituents."""
    found: list[tuple[int, int, Derivation]] = []
    made: list[tuple[int, int]] = []  # spans of the constituents that no parent has taken yet
    begin = len(derivation.leaves())
    for node in reversed(list(derivation.nodes())):  # children before parents, from right to left
        if not node.children:
            begin -= 1
            span = begin, begin + 1
        else:
            parts = [made.pop() for _ in node.children]
            span = parts[0][0], parts[-1][1]
        made.append(span)
        found.append((*span, node))
    return found


@kernel
def _share(sentence, chart, wanted, right, linked, out):
    """As `shared`. wanted int32[n + 1, n + 1, MOST] gold categories of spans, right int32[n] of words, -1 for none."""
    graph, n = chart.graph, len(sentence.form)
    for i in range(n):
        for j in range(i + 1, n + 1):
            for item in range(chart.cell[i, j, 0], chart.cell[i, j, 1]):
                alike = False
                for k in range(wanted.shape[2]):
                    alike |= wanted[i, j, k] == chart.category[item]
                for e in range(graph.first[item], graph.first[item + 1]):
                    out[e] = alike
                    if chart.rule[e] == LEAF:
                        out[e] = right[i] == chart.category[item]
                    elif chart.rule[e] >= 0:
                        a = sentence.word[chart.head[graph.left[e]]]
                        b = sentence.word[chart.head[graph.right[e]]]
                        out[e] += linked[a, b]


def nearest(charts: Charts, words: Words, s: int, tags: np.ndarray, gold: Derivation) -> Derivation | None:
    """The derivation of sentence s over lexical categories int32[n] that shares most with a gold one, if any."""
    choices = Lattice(np.arange(len(tags) + 1, dtype=np.int32), tags)
    packed = charts.chart(sentence_of(words, s, choices))
    if packed is None or not packed.parsed:
        return None
    packed.chart.graph.weight[:] = shared(packed, gold)
    return packed.derivation(packed.best()[2], words.strings[words.offsets[s] : words.offsets[s + 1]])


def best_of_gold_categories(model: CCGModel, words: Words, gold: Sequence[Derivation]) -> list[Found]:
    """The best derivations of a model's grammar over the gold categories alone.

    Sentences with a category that the model lacks, or without a derivation, count as not parsed.
    """
    number, charts, found = model.tagger.number, Charts(model.made_grammar(), np.zeros(1), model.spec.limit), []
    for s, derivation in enumerate(gold):
        leaves = derivation.leaves()
        tags = np.array([number.get(str(leaf.category), -1) for leaf in leaves], np.int32)
        best = nearest(charts, words, s, tags, derivation) if (tags >= 0).all() else None
        found.append(Found(tuple(leaves) if best is None else (best,), best is not None, 0.0, 0, 1.0, 0))
    return found
