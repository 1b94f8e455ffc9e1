"""Gold derivations as charts of one derivation: their features are counted as those of any other chart."""

from __future__ import annotations

import numpy as np

from treebound.kernels.chart.hypergraph import Hypergraph
from treebound.systems.ccg.grammar import (
    BACKWARD,
    BACKWARD_COMPOSITION,
    FORWARD,
    FORWARD_COMPOSITION,
    Grammar,
)
from treebound.systems.ccg.packing import COMPOSED_BACKWARD, COMPOSED_FORWARD, DEPTH, PLAIN, RAISED, Chart
from treebound.systems.ccg.rule_features import GOAL, LEAF, UNARY, Sentence, expect_steps
from treebound.treebanks.ccg.derivation import Derivation


class UnreachableError(Exception):
    """A derivation that no chart of the grammar contains: why."""


def gold_chart(grammar: Grammar, sentence: Sentence, derivation: Derivation) -> Chart:
    """The chart of a derivation of a sentence among whose variables its lexical categories are.

    Raises UnreachableError: steps that the grammar does not have, more than DEPTH unary steps, none of the normal form.
    """
    number = grammar.number
    pairs = [node.children for node in derivation.nodes() if len(node.children) == 2]
    grammar.know((number[str(left.category)], number[str(right.category)]) for left, right in pairs)
    tables = grammar.tables()
    steps: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)]  # left, right, var, rule of the edge of each item
    items: list[tuple[int, int, int]] = [(0, 0, PLAIN)]  # category, head, state
    none, word = len(sentence.category), 0
    made: list[int] = []
    for node in _children_first(derivation):
        category = number[str(node.category)]
        if not node.children:
            a, b = sentence.first[word], sentence.first[word + 1]
            found = a + np.flatnonzero(sentence.category[a:b] == category)
            if not len(found):
                raise UnreachableError("a lexical category that the word may not have")
            steps.append((0, 0, int(found[0]), LEAF))
            items.append((category, int(found[0]), PLAIN))
            word += 1
        elif len(node.children) == 1:
            child = made.pop()
            of, head, state = items[child]
            a, b = tables.unary_first[of], tables.unary_first[of + 1]
            found = a + np.flatnonzero(tables.unary_result[a:b] == category)
            if not len(found):
                raise UnreachableError("a unary step that is unknown")
            depth = max(RAISED - 1, state) + 1
            if depth >= RAISED + DEPTH:
                raise UnreachableError("too many unary steps in a row")
            steps.append((child, 0, none, UNARY - int(found[0])))
            items.append((category, head, depth))
        else:
            right, left = made.pop(), made.pop()
            rule = grammar.number_of(items[left][0], items[right][0], category)
            state = _state(int(tables.kind[rule]), items[left][2], items[right][2])
            steps.append((left, right, none, rule))
            items.append((category, items[right][1] if tables.head[rule] else items[left][1], state))
        made.append(len(items) - 1)
    if not tables.root[items[-1][0]]:
        raise UnreachableError("a root category that is unknown")
    steps.append((len(items) - 1, 0, none, GOAL))
    items.append((0, 0, PLAIN))
    left, right, var, rules = np.array(steps[1:], np.int32).T.copy()
    first = np.concatenate([[0], np.arange(len(steps))]).astype(np.int32)
    category, head, state = np.array(items, np.int32).T.copy()
    n = len(sentence.form)
    graph = Hypergraph(first, left, right, var, np.zeros(len(left)))
    return Chart(graph, rules, category, head, state, np.zeros((n + 1, n + 1, 2), np.int32))


def count_features(grammar: Grammar, sentence: Sentence, chart: Chart, counts: np.ndarray) -> None:
    """Add the features of a chart of one derivation to counts float64[2^bits]."""
    items = len(chart.category)
    # every item has the probability 1, and scores that sum to 0
    none = np.zeros(len(sentence.category) + 1)
    expect_steps(sentence, grammar.tables(), chart, np.zeros(items), np.ones(items), none, counts)


def _state(kind: int, left: int, right: int) -> int:
    if left == COMPOSED_FORWARD and kind in (FORWARD, FORWARD_COMPOSITION):
        raise UnreachableError("not in normal form")
    if right == COMPOSED_BACKWARD and kind in (BACKWARD, BACKWARD_COMPOSITION):
        raise UnreachableError("not in normal form")
    return {FORWARD_COMPOSITION: COMPOSED_FORWARD, BACKWARD_COMPOSITION: COMPOSED_BACKWARD}.get(kind, PLAIN)


def _children_first(derivation: Derivation) -> list[Derivation]:
    """All constituents, children before parents, left before right."""
    stack, found = [derivation], []
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children)
    return found[::-1]
