"""Charts of sentences: building, scoring, summing over derivations and reading derivations off.

The supertags are variables, one for each lexical category of each word in the order of the lattice. The `scores` of the
variables are added to the weights of the leaves. The scores are 0 for the parser alone. Belief propagation passes
its messages as these scores, and dual decomposition passes its multipliers with the sign changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebound.kernels.chart.hypergraph import Hypergraph, inside
from treebound.kernels.chart.marginals import log_inside_outside
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.packing import TOO_LARGE, Chart, build, workspace
from treebound.systems.ccg.rule_features import LEAF, UNARY, Sentence, expect_steps, score_steps
from treebound.systems.ccg.words import Words
from treebound.treebanks.ccg.categories import parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.rules import is_raised

PAIRS = 1 << 16  #: largest number of unknown pairs of categories that are looked up at once


def sentence_of(words: Words, s: int, choices: Lattice) -> Sentence:
    """Return sentence s with the categories of a lattice. O(n + C) for n words with C categories in all."""
    a, b = words.offsets[s], words.offsets[s + 1]
    before = [np.concatenate([[0], np.cumsum(words.mark[a:b] == kind)]).astype(np.int32) for kind in (1, 2)]
    word = np.repeat(np.arange(b - a, dtype=np.int32), np.diff(choices.first))
    return Sentence(words.form[a:b], words.tag[a:b], before[0], before[1], choices.first, choices.tags, word)


class Charts:
    """A builder of charts with up to `limit` edges.

    All charts share memory, so each new chart invalidates the previous one.
    """

    def __init__(self, grammar: Grammar, weights: np.ndarray, limit: int):
        self.grammar, self.weights, self.limit = grammar, weights, limit
        self.workspace = workspace(limit)
        self.unknown = np.empty(PAIRS if grammar.productive else 0, np.int64)

    def chart(self, sentence: Sentence, limit: int | None = None) -> Packed | None:
        """Return the scored chart of a sentence, or None if it has more than `limit` edges.

        limit  largest number of edges of this chart; None uses the limit of the object
        """
        limit = self.limit if limit is None else limit
        while True:
            tables = self.grammar.tables()
            status, items, edges, missing, cell = build(sentence, tables, self.workspace, limit, self.unknown)
            if missing == 0:
                break
            self.grammar.fill(np.unique(self.unknown[:missing]).tolist())
        if status == TOO_LARGE:
            return None
        ws = self.workspace
        graph = Hypergraph(ws.first[: items + 1], ws.left[:edges], ws.right[:edges], ws.var[:edges], ws.weight[:edges])
        chart = Chart(graph, ws.rule[:edges], ws.category[:items], ws.head[:items], ws.state[:items], cell)
        score_steps(sentence, tables, chart, self.weights)
        return Packed(self.grammar, sentence, chart)


@dataclass
class Packed:
    """A chart of E edges, I items and V variables, with its sentence.

    Methods take `scores`, float64[V] scores of the variables; None stands for zeros.

    If the chart has a complete derivation, edges that no complete derivation uses have score 0.
    """

    grammar: Grammar
    sentence: Sentence
    chart: Chart

    @property
    def parsed(self) -> bool:
        """Return whether the chart has a derivation of the whole sentence."""
        first = self.chart.graph.first
        return int(first[-1]) > int(first[-2])

    def _scores(self, scores: np.ndarray | None) -> np.ndarray:
        """Return the scores of the variables, followed by 0 for edges without a variable."""
        variable_scores = np.zeros(len(self.sentence.category)) if scores is None else scores
        return np.append(variable_scores, 0.0)

    def best(self, scores: np.ndarray | None = None) -> tuple[float, np.ndarray, np.ndarray]:
        """Return (score of the best derivation, float64[I] best score of each item, int32[I] best edge of each item).

        The score of the best derivation is -1e30 if the chart has no derivation. O(E).
        """
        items = len(self.chart.category)
        value, edge = np.empty(items), np.empty(items, np.int32)
        return inside(self.chart.graph, self._scores(scores), value, edge), value, edge

    def sums(self, scores: np.ndarray | None = None) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Sum over all derivations; return (log partition function, variables, inner, outer). O(E).

        The last three are the probabilities of the variables, float64[V]; the logarithms of the items' inside sums,
        float64[I], and the probabilities of the items, float64[I].
        """
        items, variable_scores = len(self.chart.category), self._scores(scores)
        inner, outer, marginal = np.empty(items), np.empty(items), np.empty(len(variable_scores))
        log_z = log_inside_outside(self.chart.graph, variable_scores, inner, outer, marginal)
        return log_z, marginal[:-1], inner, outer

    def expect(self, counts: np.ndarray, scores: np.ndarray | None = None) -> float:
        """Add the expected features to counts float64[2^bits] and return the log partition function. O(E)."""
        log_z, _, inner, outer = self.sums(scores)
        if log_z > -np.inf:
            variable_scores = self._scores(scores)
            expect_steps(self.sentence, self.grammar.tables(), self.chart, inner, outer, variable_scores, counts)
        return log_z

    def derivation(self, best: np.ndarray, strings: Sequence[tuple[str, str]], item: int | None = None) -> Derivation:
        """Return the derivation that consists of best edges, for one item or for the whole sentence.

        best     int32[I], the best edge of each item
        item     number of the item; None stands for the whole sentence
        strings  (form, tag) of the words
        """
        graph, rules, names = self.chart.graph, self.chart.rule, self.grammar.categories
        top = int(graph.left[best[len(self.chart.category) - 1]]) if item is None else item
        stack, order = [top], []
        while stack:
            i = stack.pop()
            order.append(i)
            stack += [int(tail[best[i]]) for tail in (graph.left, graph.right) if tail[best[i]]]
        constituents: list[Derivation] = []
        for i in reversed(order):  # the right child's subtree was listed first
            e, category = int(best[i]), parse(names[self.chart.category[i]])
            rule = int(rules[e])
            if rule == LEAF:
                form, tag = strings[self.sentence.word[graph.var[e]]]
                constituents.append(Derivation(category, word=form, tag=tag))
            elif rule <= UNARY:
                child = constituents.pop()
                constituents.append(
                    Derivation(category, "tr" if is_raised(category, child.category) else "tc", 0, (child,))
                )
            else:
                binary = self.grammar.rule(rule)
                right, left = constituents.pop(), constituents.pop()
                constituents.append(Derivation(category, binary.rule, binary.head, (left, right)))
        (root,) = constituents
        return root

    def fragments(self, scores: np.ndarray | None = None) -> list[tuple[int, int, int]]:
        """Return (begin, end, item) of the fewest constituents that cover the sentence of n words. O(I + n^2).

        Among covers of equal size the best-scoring one is returned. A cover always exists since every word has a
        category.
        """
        _, value, _ = self.best(scores)
        n = len(self.sentence.form)
        cover: list[tuple[int, float]] = [(0, 0.0)]
        last: list[tuple[int, int, int]] = [(0, 0, 0)]
        for j in range(1, n + 1):
            options = []
            for i in range(j):
                a, b = self.chart.cell[i, j]
                if a < b:
                    item = int(a + np.argmax(value[a:b]))
                    options.append(((cover[i][0] + 1, cover[i][1] - float(value[item])), (i, j, item)))
            least, step = min(options)
            cover.append(least)
            last.append(step)
        out = []
        while n:
            out.append(last[n])
            n = last[n][0]
        return out[::-1]
