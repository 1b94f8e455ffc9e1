"""AD3: alternating directions dual decomposition (Martins et al. 2011), with bounds in the arithmetic of the search."""

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

POLISH = 0.02  #: first step of the polishing, in standard deviations of the arcs' scores


class AD3(DualDecomposition):
    """Tree, stars and products of `DualDecomposition`, made to agree by an augmented Lagrangian.

    space       "projective" or "non-projective"
    iterations  at most so many steps, in each of which every factor finds the nearest point of its polytope
    eta         weight of disagreement, over the standard deviation of the arcs' scores
    polish      subgradient steps from the multipliers that are reached, rounded where scores are integers: they bound
                all trees
    record      as of `DualDecomposition`
    Of the trees that were met, and the one with the largest sum of arcs' means, the best is returned. Status as there.
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

    def _found(self, given: Problem) -> Agreed:
        """O(stars + chart) an oracle; some of them for each factor in a step."""
        sd = deviation(given)
        graph, real = parted(given, self.space, 1.0 / sd)
        mean, hulls, steps = meet(graph, real, self.eta, self.iterations)
        task = parted(given, self.space)[1]
        start = _multipliers(task, hulls, sd)
        found = agree(graph, task, start, POLISH * sd, self.polish)
        found = found._replace(iterations=found.iterations + steps)
        into = np.empty(given.n, np.int32)
        if round_to_tree(graph, real, mean, into):
            value = PartScore(given).score(heads_of(task.arcs, into))
            if value > found.value:
                return found._replace(value=value, arcs=into)
        return found


def _multipliers(task: Parted, hulls: Hulls, sd: float) -> Multipliers:
    """The copies' multipliers as those of `dual_kernel`, integers where scores are; the products' shares in place."""
    index, products = task.arcs, task.products
    n, shift = len(index.right) - 1, hulls.shift * sd
    begin, end = hulls.first[1], hulls.first[n + 2]
    word, arc = np.repeat(np.arange(n + 1), np.diff(hulls.first[1 : n + 3])), hulls.arc[begin:end]
    child = index.head[arc] == word
    u, w = np.zeros(len(index.head)), np.zeros(len(index.head))
    u[arc[child]], w[arc[~child]] = -shift[begin:end][child], -shift[begin:end][~child]
    for f, phi in enumerate(products.phi):
        lo, hi = products.first[f], products.first[f + 1]
        wanted = shift[end + lo : end + hi]
        if phi < 0.0:
            products.share[lo] = np.clip(wanted.mean(), 0.0, -phi)
            continue
        share = np.maximum(0.0, -wanted)
        share = share * (phi / share.sum()) if share.sum() > 0.0 else np.full(hi - lo, phi / (hi - lo))
        products.share[lo:hi] = np.floor(share) if task.unit else share
        products.share[hi - 1] += phi - products.share[lo:hi].sum()
    if task.unit:
        products.share[:] = np.rint(products.share)
        u, w = np.rint(u), np.rint(w)
    return Multipliers(u, w)
