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

from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.joint_kernels import Chain, chain_messages, chart_messages, most_expected

Output = Literal["least-risk", "best"]
SETTLED = 1e-6  #: beliefs that change less have converged


class Beliefs(NamedTuple):
    """messages float64[V]: logarithms of f b e, the scores of the chart's variables.

    belief float64[V], items float64[I]: probabilities of variables and of the chart's items; 0 where there was no round
    """

    messages: np.ndarray
    belief: np.ndarray
    items: np.ndarray
    rounds: int
    converged: bool


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
    v, first = len(joint.emission), joint.choices.first
    memory = Chain(np.empty(v), np.empty(v), np.empty(v), np.empty(v), np.empty(joint.words))
    outside, belief, messages = np.zeros(v), np.zeros(v), np.empty(v)
    for number in range(1, iterations + 1):
        before = belief
        possible = chain_messages(joint.emission, outside, joint.choices, joint.transitions.potential, memory, messages)
        if not possible or (sums := joint.packed.sums(messages))[0] == -np.inf:
            return  # underflow: what was found before stands
        _, belief, _, items = sums
        settled = number > 1 and float(np.abs(belief - before).max()) < SETTLED
        yield Beliefs(messages.copy(), belief, items, number, settled)
        if settled:
            return
        if number < iterations:
            chart_messages(belief, messages, first, outside)


def least_risk(packed: Packed, beliefs: Beliefs) -> np.ndarray:
    """int32[I] edges of the derivation with the most expected correct constituents.

    A constituent is an item that a word or a combination made: its span, category, head and the head's lexical category
    (Goodman 1996). All derivations have as many of them, so that recall and precision are the same. O(E).
    """
    chart, items = packed.chart, len(packed.chart.category)
    best = np.empty(items, np.int32)
    most_expected(chart.graph, chart.rule, beliefs.items, beliefs.messages, np.empty(items), best)
    return best


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
