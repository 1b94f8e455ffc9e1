"""Decode by AD3, alternating directions dual decomposition (Martins et al. 2011), with exact bounds for integers."""

from __future__ import annotations

import numpy as np

from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.ad3_kernel import Hulls, meet, round_to_tree
from treebound.decoders.approximate.charted import deviation, positive
from treebound.decoders.approximate.dual_decomposition import DualDecomposition, parted
from treebound.decoders.approximate.dual_kernel import Agreed, Parted, agree
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.head_stars.tables import Multipliers

POLISH = 0.02  #: first step size of the final subgradient steps, in standard deviations of the arcs' scores


class AD3(DualDecomposition):
    """Decoder that makes the factors of `DualDecomposition` agree by an augmented Lagrangian.

    The factors are the tree, the head stars, and the parts that are not within one head star (products). The result is
    the best tree among two kinds: the trees that the iterations met, and the tree with the largest sum of arc means. An
    arc mean is the average of all copies of the arc. The status means the same as in `DualDecomposition`.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees.
    iterations : int
        Maximum number of steps. In each step, every factor finds the nearest point of its polytope.
    eta : float
        Weight of the penalty on disagreement between copies of an arc, divided by the standard deviation of the arcs'
        scores.
    polish : int
        Number of subgradient steps after the last iteration. They start from the multipliers of the last iteration,
        rounded if scores are integers. Every step gives an upper bound on the scores of all trees.
    record : bool
        Whether to store the multipliers of the best bound, see `DualDecomposition`.
    """

    name = "ad3"
    cite = "Martins, Smith, Figueiredo & Aguiar (2011); Martins et al. (2015), sections 4-6"

    def __init__(
        self,
        space: Space = "projective",
        iterations: int = 60,
        eta: float = 2.0,
        polish: int = 40,
        record: bool = False,
    ):
        positive("eta", eta)
        positive("polish", polish)
        super().__init__(space, iterations, record=record)
        self.eta, self.polish = eta, int(polish)

    def _agreed(self, problem: Problem) -> Agreed:
        """Return the best tree, the best bound, and the multipliers that prove it. O(stars + chart) per oracle call."""
        sd = deviation(problem)
        graph, real = parted(problem, self.space, 1.0 / sd)
        mean, hulls, steps = meet(graph, real, self.eta, self.iterations)
        task = parted(problem, self.space)[1]
        start = _multipliers(task, hulls, sd)
        agreed = agree(graph, task, start, POLISH * sd, self.polish)
        agreed = agreed._replace(iterations=agreed.iterations + steps)
        into = np.empty(problem.n, np.int32)
        if round_to_tree(graph, real, mean, into):
            value = PartScore(problem).score(heads_of(task.arcs, into))
            if value > agreed.value:
                return agreed._replace(value=value, arcs=into)
        return agreed


def _multipliers(task: Parted, hulls: Hulls, sd: float) -> Multipliers:
    """Return the multipliers u and w of `dual_kernel` that correspond to `hulls.shift`; change `task.products.share`.

    The scores of `hulls` were divided by `sd`. Multipliers and shares are integers if the scores are integers.
    """
    index, products = task.arcs, task.products
    n, shift = len(index.right) - 1, hulls.shift * sd
    begin, end = hulls.first[1], hulls.first[n + 2]
    word, arc = np.repeat(np.arange(n + 1), np.diff(hulls.first[1 : n + 3])), hulls.arc[begin:end]
    child = index.head[arc] == word
    u, w = np.zeros(len(index.head)), np.zeros(len(index.head))
    u[arc[child]], w[arc[~child]] = -shift[begin:end][child], -shift[begin:end][~child]
    for f, phi in enumerate(products.phi):
        lo, hi = products.first[f], products.first[f + 1]
        target = shift[end + lo : end + hi]
        if phi < 0.0:
            products.share[lo] = np.clip(target.mean(), 0.0, -phi)
            continue
        share = np.maximum(0.0, -target)
        share = share * (phi / share.sum()) if share.sum() > 0.0 else np.full(hi - lo, phi / (hi - lo))
        products.share[lo:hi] = np.floor(share) if task.unit else share
        products.share[hi - 1] += phi - products.share[lo:hi].sum()
    if task.unit:
        products.share[:] = np.rint(products.share)
        u, w = np.rint(u), np.rint(w)
    return Multipliers(u, w)
