"""Messages from products to arcs (Smith & Eisner 2008, section 4): closed forms, for factors of any number of arcs.

Oracle: tests/test_belief_propagation.py enumerates the settings of a factor's arcs.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel

MOST = 1.0 - 1e-12  #: no belief is more certain, or messages would be infinite
LARGEST = 50.0  #: of a factor's logarithm


@kernel
def send(products, phi, belief, message, damping, total):
    """Every factor tells each of its arcs how much likelier it is in, given what the others think.

    products  `kernels.bounded.Products`
    phi       float64[F]  logarithms of the factors' weights where all arcs are in; 0 otherwise
    belief    float64[V]  probabilities of the arcs, all messages counted in
    message   float64[K]  log odds, aligned with products.var; a new one is (1 - damping) of it and damping of the old
    total     float64[V]  OUT sums of the messages to each arc
    Returns the largest change of a message. O(K r), r the arcs of a factor.
    """
    first, var = products.first, products.var
    total[:] = 0.0
    moved = 0.0
    for f in range(len(phi)):
        lo, hi = first[f], first[f + 1]
        gain = np.expm1(min(LARGEST, max(-LARGEST, phi[f])))
        for j in range(lo, hi):
            others = 1.0
            for i in range(lo, hi):
                if i != j:
                    others *= _without(belief[var[i]], message[i])
            new = (1.0 - damping) * np.log1p(gain * min(MOST, others)) + damping * message[j]
            moved = max(moved, abs(new - message[j]))
            total[var[j]] += new
            products.share[j] = new
    message[:] = products.share
    return moved


@kernel(inline="always")
def _without(belief, message):
    """The probability of an arc without one of the messages that went into it."""
    p = min(MOST, max(1.0 - MOST, belief))
    odds = np.log(p / (1.0 - p)) - message
    return 1.0 / (1.0 + np.exp(-odds))
