"""Gold derivations as charts with a single derivation, whose features are counted as in any chart."""

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
    """Raised for a derivation that no chart of the grammar contains; the message gives the reason."""


def gold_chart(grammar: Grammar, sentence: Sentence, derivation: Derivation) -> Chart:
    """Return the chart that contains only `derivation`. Its lexical categories must be variables of the sentence.

    UnreachableError if the grammar lacks a step, more than DEPTH unary steps follow one another, or the derivation is
    not in normal form.
    """
    number = grammar.number
    pairs = [node.children for node in derivation.nodes() if len(node.children) == 2]
    grammar.know((number[str(left.category)], number[str(right.category)]) for left, right in pairs)
    tables = grammar.tables()
    steps: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)]  # left, right, var, rule of the edge of each item
    items: list[tuple[int, int, int]] = [(0, 0, PLAIN)]  # category, head, state
    no_variable, word = len(sentence.category), 0
    open_items: list[int] = []
    for node in _children_first(derivation):
        category = number[str(node.category)]
        if not node.children:
            a, b = sentence.first[word], sentence.first[word + 1]
            matches = a + np.flatnonzero(sentence.category[a:b] == category)
            if not len(matches):
                raise UnreachableError("a lexical category that the word may not have")
            steps.append((0, 0, int(matches[0]), LEAF))
            items.append((category, int(matches[0]), PLAIN))
            word += 1
        elif len(node.children) == 1:
            child = open_items.pop()
            child_category, head, state = items[child]
            a, b = tables.unary_first[child_category], tables.unary_first[child_category + 1]
            matches = a + np.flatnonzero(tables.unary_result[a:b] == category)
            if not len(matches):
                raise UnreachableError("a unary step that is unknown")
            depth = max(RAISED - 1, state) + 1
            if depth >= RAISED + DEPTH:
                raise UnreachableError("too many unary steps in a row")
            steps.append((child, 0, no_variable, UNARY - int(matches[0])))
            items.append((category, head, depth))
        else:
            right, left = open_items.pop(), open_items.pop()
            rule = grammar.number_of(items[left][0], items[right][0], category)
            state = _state(int(tables.kind[rule]), items[left][2], items[right][2])
            steps.append((left, right, no_variable, rule))
            items.append((category, items[right][1] if tables.head[rule] else items[left][1], state))
        open_items.append(len(items) - 1)
    if not tables.root[items[-1][0]]:
        raise UnreachableError("a root category that is unknown")
    steps.append((len(items) - 1, 0, no_variable, GOAL))
    items.append((0, 0, PLAIN))
    left, right, var, rules = np.array(steps[1:], np.int32).T.copy()
    first = np.concatenate([[0], np.arange(len(steps))]).astype(np.int32)
    category, head, state = np.array(items, np.int32).T.copy()
    n = len(sentence.form)
    graph = Hypergraph(first, left, right, var, np.zeros(len(left)))
    return Chart(graph, rules, category, head, state, np.zeros((n + 1, n + 1, 2), np.int32))


def count_features(grammar: Grammar, sentence: Sentence, chart: Chart, counts: np.ndarray) -> None:
    """Add the features of a chart with a single derivation to counts float64[2^bits]."""
    items = len(chart.category)
    # every item has probability 1 and an inner score of 0, so that every feature counts once
    zero_scores = np.zeros(len(sentence.category) + 1)
    expect_steps(sentence, grammar.tables(), chart, np.zeros(items), np.ones(items), zero_scores, counts)


def _state(kind: int, left: int, right: int) -> int:
    """Return the state of the item that a combination makes of two items with the states `left` and `right`.

    kind  kind of the combination

    UnreachableError if the normal form forbids the combination.
    """
    if left == COMPOSED_FORWARD and kind in (FORWARD, FORWARD_COMPOSITION):
        raise UnreachableError("not in normal form")
    if right == COMPOSED_BACKWARD and kind in (BACKWARD, BACKWARD_COMPOSITION):
        raise UnreachableError("not in normal form")
    return {FORWARD_COMPOSITION: COMPOSED_FORWARD, BACKWARD_COMPOSITION: COMPOSED_BACKWARD}.get(kind, PLAIN)


def _children_first(derivation: Derivation) -> list[Derivation]:
    """Return all constituents, children before parents, left before right."""
    stack, order = [derivation], []
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    return order[::-1]
