"""Loopy belief propagation between the chain of the supertagger and the charts of the parser.

Chain and chart are factors over the same variables, the lexical categories of words (Auli & Lopez 2011, section 4.1).
The chain's message to a word is f b e, the product of its forward sums, backward sums and emissions. The message is the
score of the chart's leaves. The chart's message o, its outside sums, enters the chain's sums together with the
emissions. The belief of a category is f b e o. Beliefs are exact if the transitions have no influence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.joint_kernels import Chain, chain_messages, chart_messages
from treebound.systems.ccg.output import Output, least_risk, viterbi

SETTLED = 1e-6  #: largest change of a belief that counts as convergence


class Beliefs(NamedTuple):
    """The messages and beliefs after a round of belief propagation.

    messages   float64[V], logarithms of the chain's messages f b e (forward sums, backward sums, emissions), which are
               the scores of the chart's variables;
    belief     float64[V], probabilities of the variables, 0 before the first round;
    items      float64[I], probabilities of the chart's items, 0 before the first round;
    rounds     number of rounds;
    converged  whether the beliefs changed by less than SETTLED
    """

    messages: np.ndarray
    belief: np.ndarray
    items: np.ndarray
    rounds: int
    converged: bool


def propagate(joint: Joint, iterations: int) -> Beliefs:
    """Run up to `iterations` rounds of belief propagation and return the beliefs of the last round.

    If no round gives beliefs, the messages are the emissions and all beliefs are 0.
    """
    zeros = np.zeros(len(joint.emission))
    last = Beliefs(joint.emission, zeros, np.zeros(len(joint.packed.chart.category)), 0, False)
    for beliefs in rounds(joint, iterations):
        last = beliefs
    return last


def rounds(joint: Joint, iterations: int) -> Iterator[Beliefs]:
    """Pass messages between chain and chart until beliefs settle, and yield the beliefs of each round.

    There are at most `iterations` rounds. O(iterations (E + sum c_i c_i+1)) for E edges of the chart and c_i categories
    of word i.
    """
    v, first = len(joint.emission), joint.choices.first
    memory = Chain(np.empty(v), np.empty(v), np.empty(v), np.empty(v), np.empty(joint.words))
    outside, belief, messages = np.zeros(v), np.zeros(v), np.empty(v)
    for number in range(1, iterations + 1):
        before = belief
        possible = chain_messages(joint.emission, outside, joint.choices, joint.transitions.potential, memory, messages)
        if not possible or (sums := joint.packed.sums(messages))[0] == -np.inf:
            return  # underflow: the beliefs of the round before are the last ones
        _, belief, _, items = sums
        settled = number > 1 and float(np.abs(belief - before).max()) < SETTLED
        yield Beliefs(messages.copy(), belief, items, number, settled)
        if settled:
            return
        if number < iterations:
            chart_messages(belief, messages, first, outside)


def decode(joint: Joint, iterations: int, output: Output = "least-risk") -> Analysis:
    """Run belief propagation and return the derivation that an output rule chooses under the last messages.

    The result has no proof. If there is no round of belief propagation, the rule is `viterbi`.
    """
    beliefs = propagate(joint, iterations)
    return analysis(joint, beliefs, output if beliefs.rounds else "viterbi")


def analysis(joint: Joint, beliefs: Beliefs, output: Output = "least-risk") -> Analysis:
    """Return the derivation that an output rule chooses under the messages of one round.

    The rule `least-risk` gives the output of Smith & Eisner (2008) and of Auli & Lopez. The rule `viterbi` gives the
    best derivation of the chart, whose leaves have the chain's sum-product messages as scores. This derivation is the
    mode of the belief of the chart's factor.
    """
    if output == "least-risk":
        edges = least_risk(joint.packed, beliefs.messages, beliefs.items)
    else:
        edges = viterbi(joint.packed, beliefs.messages)
    tags, parser_score = joint.read(edges)
    value = parser_score + joint.chain_score(tags)
    return Analysis(tags, edges, value, np.inf, "heuristic", beliefs.rounds, converged=beliefs.converged)
