"""Send messages from products to arcs (Smith & Eisner 2008, section 4), in closed form for any number of arcs.

Oracle: tests/test_belief_propagation.py enumerates the settings of a factor's arcs.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel

MOST = 1.0 - 1e-12  #: largest belief; at 1, messages would be infinite
LARGEST = 50.0  #: largest absolute logarithm of a factor's weight


@kernel
def send(products, phi, belief, message, damping, total):
    """Send messages from every factor to its arcs, and return the largest change of a message. O(K r).

    A factor has at most r arcs. A message says by how much the factor raises the log odds of the arc. It depends on the
    messages that the factor's other arcs receive from other factors.

    - products: `kernels.bounded.Products`.
    - phi: float64[F], logarithm of each factor's weight if all of its arcs are selected. If some of the arcs are not
      selected, the logarithm of the weight is 0.
    - belief: float64[V], probabilities of the arcs, with all messages included.
    - message: float64[K], log odds, aligned with products.var. Each message is replaced by the average of the new and
      the old message, with weights 1 - damping and damping.
    - total: float64[V], output, sums of the messages to each arc.
    """
    first, var = products.first, products.var
    total[:] = 0.0
    moved = 0.0
    for f in range(len(phi)):
        lo, hi = first[f], first[f + 1]
        gain = np.expm1(min(LARGEST, max(-LARGEST, phi[f])))
        for j in range(lo, hi):
            probability = 1.0
            for i in range(lo, hi):
                if i != j:
                    probability *= _without(belief[var[i]], message[i])
            new_message = (1.0 - damping) * np.log1p(gain * min(MOST, probability)) + damping * message[j]
            moved = max(moved, abs(new_message - message[j]))
            total[var[j]] += new_message
            products.share[j] = new_message
    message[:] = products.share
    return moved


@kernel(inline="always")
def _without(belief, message):
    """Return the probability that an arc would have if it had not received one of its messages."""
    p = min(MOST, max(1.0 - MOST, belief))
    odds = np.log(p / (1.0 - p)) - message
    return 1.0 / (1.0 + np.exp(-odds))
