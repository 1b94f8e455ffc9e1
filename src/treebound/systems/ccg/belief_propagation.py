"""Loopy belief propagation between the chain of the supertagger and the charts of the parser.

Both are factors of the same variables, the lexical categories of words (Auli & Lopez 2011, section 4.1). The chain's
message to a word is f b e: what its forward and backward sums say of the categories, and the emissions; it is the score
of the leaves of the chart. The chart's message o, its outside sums, enters the chain's sums beside the emissions. The
belief of a category is f b e o. Exact where the transitions do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.joint_kernels import Chain, chain_messages, chart_messages
from treebound.systems.ccg.output import Output, least_risk, viterbi

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


def decode(joint: Joint, iterations: int, output: Output = "least-risk") -> Analysis:
    """Decode with the messages of belief propagation. Nothing is proved."""
    found = propagate(joint, iterations)
    return analysis(joint, found, output if found.rounds else "viterbi")


def analysis(joint: Joint, found: Beliefs, output: Output = "least-risk") -> Analysis:
    """Return the derivation of an output rule under the messages of one round.

    The least risk is the output of Smith & Eisner (2008) and of Auli & Lopez. Under `viterbi` it is the best derivation
    of the chart with the chain's sum-product messages as scores of its leaves: the mode of the belief of the chart's
    factor.
    """
    if output == "least-risk":
        edges = least_risk(joint.packed, found.messages, found.items)
    else:
        edges = viterbi(joint.packed, found.messages)
    tags, own = joint.read(edges)
    value = own + joint.chain_score(tags)
    return Analysis(tags, edges, value, np.inf, "heuristic", found.rounds, converged=found.converged)
