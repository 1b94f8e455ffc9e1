"""Output rules: which derivation of a chart is returned, given scores of the lexical categories.

A decoder of the joint model leaves scores s of the lexical categories, and with them a distribution over the
derivations y of the chart, p(y) proportional to exp(f(y) + s y):

- the parser alone: s = 0;
- belief propagation: the logarithms of the chain's messages, so that p is the belief of the chart's factor;
- dual decomposition: minus the multipliers of the least bound. If both models agree there, the optimum of the joint
  model is a best derivation of p;
- exact search: minus the multipliers of the node that closed the search around the optimum, and -inf for the categories
  that this node excludes. The optimum is a best derivation of p.

`viterbi` returns the best derivation of p, `least-risk` the derivation that is expected to have the most correct
constituents under p (Goodman 1996). Both rules can be applied to every decoder. This separates the gain of a decoder
from the gain of an output rule. For the last two decoders p is not the posterior of the joint model, whose sums are
intractable: multipliers only move until both models agree.

Auli & Lopez (2011, section 5.1) return "the minimum risk parse from the current marginals" for belief propagation and
the best derivation for the parser and for dual decomposition. They do not say which loss they count.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.joint_kernels import most_expected

Output = Literal["viterbi", "least-risk"]
#: output rules of Auli & Lopez (2011): by decoder, and for all other decoders
PUBLISHED: dict[str, Output] = {"bp": "least-risk"}
OTHERS: Output = "viterbi"


def published(decoder: str) -> Output:
    """Return the output rule that the paper uses with a decoder."""
    return PUBLISHED.get(decoder, OTHERS)


def viterbi(packed: Packed, scores: np.ndarray) -> np.ndarray:
    """Return int32[I], the edges of the best derivation under scores float64[V]. O(E)."""
    return packed.best(scores)[2]


def least_risk(packed: Packed, scores: np.ndarray, probability: np.ndarray | None = None) -> np.ndarray:
    """Return int32[I], the edges of the derivation with the most expected correct constituents. O(E).

    A constituent is an item that a word or a combination made: its span, category, head and the head's lexical category
    (Goodman 1996). All derivations have the same number of constituents, so that recall and precision are equal.

    scores       float64[V], scores of the variables; variables with score -inf are not used
    probability  float64[I], probabilities of the items under the scores; None computes them
    """
    if probability is None:
        total, _, _, probability = packed.sums(scores)
        if total == -np.inf:  # the scores exclude every derivation
            return viterbi(packed, scores)
    chart, items = packed.chart, len(packed.chart.category)
    best = np.empty(items, np.int32)
    most_expected(chart.graph, chart.rule, probability, scores, np.empty(items), best)
    return best
