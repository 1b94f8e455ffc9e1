"""Loopy belief propagation between the chain of the supertagger and the charts of the parser.

Both are factors of the same variables, the lexical categories of words (Auli & Lopez 2011, section 4.1). The chain's
message to a word is f b e: what its forward and backward sums say of the categories, and the emissions; it is the score
of the leaves of the chart. The chart's message o, its outside sums, enters the chain's sums beside the emissions. The
belief of a category is f b e o. Exact where the transitions do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from treebound.kernels.chart.hypergraph import NEG
from treebound.systems.ccg.chain import forward_backward
from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.rule_features import LEAF

Output = Literal["least-risk", "best"]
SETTLED = 1e-6  #: beliefs that change less have converged
FAINTEST = -300.0  #: logarithm of the least message beside a word's largest, but for what is impossible


class Beliefs(NamedTuple):
    """messages float64[V]: logarithms of f b e, the scores of the chart's variables.

    belief float64[V], items float64[I]: probabilities of variables and of the chart's items; 0 where there was no round
    """

    messages: np.ndarray
    belief: np.ndarray
    items: np.ndarray
    rounds: int
    converged: bool


def _scaled(joint: Joint, message: np.ndarray) -> np.ndarray:
    """The largest of every word 0, none below FAINTEST; -inf stays."""
    message = message - np.maximum.reduceat(message, joint.choices.first[:-1])[joint.word]
    return np.where(message > -np.inf, np.maximum(message, FAINTEST), -np.inf)


def _chain_messages(joint: Joint, outside: np.ndarray) -> np.ndarray | None:
    """float64[V] logarithms of f b e, given those of the messages o; None where no sequence is possible."""
    v, emission, potential = len(outside), joint.emission, joint.transitions.potential
    alpha, beta, local = np.empty(v), np.empty(v), np.empty(v)
    chances = forward_backward(emission + outside, joint.choices, potential, alpha, beta, local, np.empty(joint.words))
    if chances == -np.inf:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # alpha is f times local, which holds e o
        message = np.log(alpha) - np.log(local) + np.log(beta) + emission
    return _scaled(joint, np.where(local > 0, message, -np.inf))


def propagate(joint: Joint, iterations: int) -> Beliefs:
    """The beliefs of the last round of `rounds`; its messages are the emissions where there is none."""
    none = np.zeros(len(joint.emission))
    found = Beliefs(joint.emission, none, np.zeros(len(joint.packed.chart.category)), 0, False)
    for one in rounds(joint, iterations):
        found = one
    return found


def rounds(joint: Joint, iterations: int) -> Iterator[Beliefs]:
    """Messages from the chain to the chart and back, until beliefs settle, `iterations` times at most.

    O(iterations (E + sum c_i c_i+1)).
    """
    outside, belief = np.zeros(len(joint.emission)), np.zeros(len(joint.emission))
    for number in range(1, iterations + 1):
        messages = _chain_messages(joint, outside)
        if messages is None or (sums := joint.packed.sums(messages))[0] == -np.inf:
            return  # underflow: what was found before stands
        before, (_, belief, _, items) = belief, sums
        settled = number > 1 and float(np.abs(belief - before).max()) < SETTLED
        yield Beliefs(messages, belief, items, number, settled)
        if settled:
            return
        if number < iterations:
            with np.errstate(divide="ignore", invalid="ignore"):
                message = np.log(belief) - messages
            outside = _scaled(joint, np.where(belief > 0, message, -np.inf))


def least_risk(packed: Packed, beliefs: Beliefs) -> np.ndarray:
    """int32[I] edges of the derivation with the most expected correct constituents.

    A constituent is an item that a word or a combination made: its span, category, head and the head's lexical category
    (Goodman 1996). All derivations have as many of them, so that recall and precision are the same. O(E).
    """
    graph, rule = packed.chart.graph, packed.chart.rule
    each = np.repeat(beliefs.items, np.diff(graph.first))
    weight = np.where(rule >= LEAF, each, 0.0)
    weight[(each == 0) | np.append(beliefs.messages == -np.inf, False)[graph.var]] = NEG
    return Packed(packed.grammar, packed.sentence, packed.chart._replace(graph=graph._replace(weight=weight))).best()[2]


def decode(joint: Joint, iterations: int, output: Output = "least-risk") -> Analysis:
    """The derivation of least risk, or the best one, under the messages of belief propagation. Nothing is proved."""
    found = propagate(joint, iterations)
    return analysis(joint, found, output if found.rounds else "best")


def analysis(joint: Joint, found: Beliefs, output: Output = "least-risk") -> Analysis:
    """The derivation of least risk, or the best one, by what a round has found."""
    edges = least_risk(joint.packed, found) if output == "least-risk" else joint.packed.best(found.messages)[2]
    tags, own = joint.read(edges)
    value = own + joint.chain_score(tags)
    return Analysis(tags, edges, value, np.inf, "heuristic", found.rounds, converged=found.converged)
