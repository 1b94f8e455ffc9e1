"""Exact decoding of the joint model: depth-first branch and bound over lexical categories with the dual bound.

If dual decomposition ends without agreement, the search branches on a category about which both sides disagree: the
category is required of its word, or forbidden. With one category left per word both sides agree, so the search ends.
The search produces a proof that plain Python code can check (`checker.joint_proofs`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from treebound.checker.joint_proofs import Claim, Node, Proof, Statement
from treebound.systems.ccg.dual_decomposition import Best, descend, scores_left, whole
from treebound.systems.ccg.joint import UNIT, Analysis, Joint


class _Open(NamedTuple):
    """An open node of the search.

    bound        upper bound of the node's parent
    multipliers  float64[V], multipliers of the parent
    parent       number of the parent
    variable     the variable about which the node decides
    value        1 if the variable is required, 0 if it is forbidden
    allowed      bool[V], the variables that the node allows
    """

    bound: float
    multipliers: np.ndarray
    parent: int
    variable: int
    value: int
    allowed: np.ndarray


def search(joint: Joint, iterations: int, most: int) -> tuple[Analysis, list[Node]] | None:
    """Return the best derivation and the nodes that prove it; the status is `optimal`, or `limit` after `most` nodes.

    iterations  largest number of iterations of dual decomposition per node

    The `scores` of the result come from the node that allows the derivation and whose bound proves that no other
    derivation of the node is better. An unproved derivation may have the scores of the root. Return None if no
    derivation is possible. O(nodes iterations (E + sum c_i c_i+1)).
    """
    v, best, nodes, bounds, rounds = len(joint.emission), Best(), list[Node](), list[float](), 0
    waiting = [_Open(np.inf, np.zeros(v), -1, -1, 0, joint.possible)]
    # variable_scores: scores from the last closed node that allows the best derivation
    # closed: value of the best derivation when this node was closed
    variable_scores, closed = np.zeros(v), -np.inf
    while waiting and len(nodes) < most:
        node = waiting.pop()
        dual = descend(joint, node.allowed, node.multipliers, best, iterations)
        rounds += dual.rounds
        number = len(nodes)
        nodes.append(Node(node.parent, node.variable, node.value, whole(dual.multipliers)))
        bounds.append(dual.bound)
        if number == 0:
            variable_scores = scores_left(node.allowed, dual.multipliers)
        if dual.bound <= best.value:
            if best.value > closed and node.allowed[best.tags].all():
                variable_scores, closed = scores_left(node.allowed, dual.multipliers), best.value
            continue
        word = int(np.argmax(dual.conflict))
        variable = int(dual.tags[word])
        for value in (0, 1):  # the stack returns the required category first
            others = joint.word != word
            others[variable] = True
            allowed = node.allowed & others if value else node.allowed & (np.arange(v) != variable)
            waiting.append(_Open(dual.bound, dual.multipliers, number, variable, value, allowed))
    if not len(best.tags):
        return None
    bound = max([best.value, *(open_node.bound for open_node in waiting)])
    result = joint.analysis(best.tags, bound, rounds, "limit", len(nodes))
    return replace(result, scores=variable_scores), _needed(nodes, bounds, bound)


def _needed(nodes: list[Node], bounds: list[float], bound: float) -> list[Node]:
    """Return the nodes that a proof of the bound `bound` needs.

    A node with a bound of at most `bound` needs no descendants in the proof; they are left out.

    bounds  the bound of each node
    """
    number: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if i == 0 or (node.parent in number and bounds[node.parent] > bound):
            number[i] = len(number)
    return [nodes[i]._replace(parent=number.get(nodes[i].parent, -1)) for i in number]


def statement(joint: Joint) -> Statement:
    """Return the chart and the chain for the proof checker, with scores as whole multiples of UNIT.

    The lists are copies, so they stay valid after the next chart is built.
    """
    graph, possible = joint.packed.chart.graph, joint.possible.tolist()
    emission = _units(np.where(joint.possible, joint.emission, 0.0))
    return Statement(
        first=graph.first.tolist(),
        left=graph.left.tolist(),
        right=graph.right.tolist(),
        var=graph.var.tolist(),
        weight=_units(graph.weight),
        word=joint.word.tolist(),
        tag=joint.choices.tags.tolist(),
        emission=[score if able else None for score, able in zip(emission, possible, strict=True)],
        transition=_units(joint.transitions.score),
    )


def _units(scores: np.ndarray) -> Any:
    """Return scores as nested lists of whole multiples of UNIT."""
    return np.rint(scores / UNIT).astype(np.int64).tolist()


def proof(joint: Joint, analysis: Analysis, nodes: list[Node]) -> Proof:
    """Return the derivation of a decoder and its proof in the form that files hold."""
    edges = joint.packed.chart.graph.left
    return Proof(joint.words, len(joint.emission), len(edges), joint.edges_of(analysis.edges), nodes)


def claim(joint: Joint, analysis: Analysis, nodes: list[Node]) -> Claim:
    """Return the claim of a decoder, with scores as whole multiples of UNIT."""
    bound = None if analysis.bound == np.inf else round(analysis.bound / UNIT)
    return Claim(proof(joint, analysis, nodes).derivation, round(analysis.value / UNIT), bound, nodes)
