"""The certified optimum of the joint model: branch and bound over lexical categories under the dual bound, depth first.

Where dual decomposition ends without agreement, a category about which both sides disagree is required of its word, or
forbidden. With one category a word left both sides agree, so the search ends. What it leaves is a proof that plain code
checks (`evaluation.joint_proofs`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from treebound.checker.joint_proofs import Claim, Node, Proof, Statement
from treebound.systems.ccg.dual_decomposition import Best, descend, scores_left, whole
from treebound.systems.ccg.joint import UNIT, Analysis, Joint


class _Open(NamedTuple):
    """A node to come: its parent's bound and multipliers float64[V], what it decides and allows bool[V]."""

    bound: float
    multipliers: np.ndarray
    parent: int
    variable: int
    value: int
    allowed: np.ndarray


def search(joint: Joint, iterations: int, most: int) -> tuple[Analysis, list[Node]] | None:
    """The best derivation and the nodes that prove it: `optimal`, or `limit` after `most` nodes.

    iterations  of dual decomposition in a node, at most
    Its `scores` are those of the node that closed around it; of an unproved derivation perhaps those of the root.
    None where nothing is possible. O(nodes iterations (E + sum c_i c_i+1)).
    """
    v, best, nodes, bounds, rounds = len(joint.emission), Best(), list[Node](), list[float](), 0
    waiting = [_Open(np.inf, np.zeros(v), -1, -1, 0, joint.possible)]
    left, closed = np.zeros(v), -np.inf  # scores of the last node that closed around the best derivation, and its value
    while waiting and len(nodes) < most:
        at = waiting.pop()
        dual = descend(joint, at.allowed, at.multipliers, best, iterations)
        rounds += dual.rounds
        number = len(nodes)
        nodes.append(Node(at.parent, at.variable, at.value, whole(dual.multipliers)))
        bounds.append(dual.bound)
        if number == 0:
            left = scores_left(at.allowed, dual.multipliers)
        if dual.bound <= best.value:
            if best.value > closed and at.allowed[best.tags].all():
                left, closed = scores_left(at.allowed, dual.multipliers), best.value
            continue
        word = int(np.argmax(dual.conflict))
        variable = int(dual.tags[word])
        for value in (0, 1):  # the last one is looked at first
            others = joint.word != word
            others[variable] = True
            allowed = at.allowed & others if value else at.allowed & (np.arange(v) != variable)
            waiting.append(_Open(dual.bound, dual.multipliers, number, variable, value, allowed))
    if not len(best.tags):
        return None
    bound = max([best.value, *(open_node.bound for open_node in waiting)])
    found = joint.analysis(best.tags, bound, rounds, "limit", len(nodes))
    return replace(found, scores=left), _needed(nodes, bounds, bound)


def _needed(nodes: list[Node], bounds: list[float], bound: float) -> list[Node]:
    """Without those below nodes that a later, better derivation closed."""
    number: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if i == 0 or (node.parent in number and bounds[node.parent] > bound):
            number[i] = len(number)
    return [nodes[i]._replace(parent=number.get(nodes[i].parent, -1)) for i in number]


def statement(joint: Joint) -> Statement:
    """What the checker takes: chart and chain in whole numbers. The copy is good when the next chart is made."""
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
    """Lists of whole numbers."""
    return np.rint(scores / UNIT).astype(np.int64).tolist()


def proof(joint: Joint, found: Analysis, nodes: list[Node]) -> Proof:
    """What a decoder found, and its proof, as a file holds them."""
    edges = joint.packed.chart.graph.left
    return Proof(joint.words, len(joint.emission), len(edges), joint.edges_of(found.edges), nodes)


def claim(joint: Joint, found: Analysis, nodes: list[Node]) -> Claim:
    """What a decoder claims, in whole numbers."""
    bound = None if found.bound == np.inf else round(found.bound / UNIT)
    return Claim(proof(joint, found, nodes).derivation, round(found.value / UNIT), bound, nodes)
