"""Random valid steps of proofs: shares within their range, any slopes and any multipliers."""

import math

import numpy as np

from treebound.checker.majorants import PRODUCT_FAMILIES
from treebound.checker.stars import STAR_FAMILIES
from treebound.core.certificate import Step
from treebound.core.problem import NONE

#: families that only multipliers can bound
ALWAYS_STARS = STAR_FAMILIES - PRODUCT_FAMILIES - {"valency"}


def random_shares(table, rng, integer):
    """Return random valid shares of the parts of a family, of shape [F] or [F, r]."""
    top = np.where(table.score == -np.inf, 10_000, abs(table.score))
    filled = table.arcs != NONE
    if filled.shape[1] == 2 and filled.all() and rng.random() < 0.5:
        share = top * rng.choice([0.0, 0.5, 1.0, rng.random()], len(top))
        return np.floor(share) if integer else share
    out = np.zeros(table.arcs.shape)
    for i, (phi, mine) in enumerate(zip(table.score, filled, strict=True)):
        if phi < 0:
            out[i, 0] = math.floor(rng.random() * (top[i] + 1)) if integer else rng.random() * top[i]
            out[i, 0] = min(out[i, 0], top[i])
        else:
            cuts = np.sort(rng.random(mine.sum() - 1)) * phi
            cuts = np.floor(cuts) if integer else cuts
            out[i, mine] = np.diff([0.0, *cuts, phi])
    return out


def random_step(problem, exact, rng, space):
    """Return a random valid step for all families that are not in `exact`."""
    integer, shares, stars, slope = problem.unit > 0, {}, False, None
    draw = rng.integers if integer else rng.uniform
    for family, table in problem.parts.items():
        if family in exact:
            continue
        if family == "grand-sibling" and space == "projective" and rng.random() < 0.5:
            share = rng.random(len(table)) * np.minimum(abs(table.score), 10_000)
            shares[family] = np.floor(share) if integer else share
        elif family in ALWAYS_STARS or (family in STAR_FAMILIES and rng.random() < 0.3):
            stars = True
        elif family == "valency":
            slope = draw(-50, 50, problem.n + 1)
        else:
            shares[family] = random_shares(table, rng, integer)
    u, w = (draw(-30, 30, problem.arcs) * (rng.random(problem.arcs) < 0.5) for _ in range(2))
    return Step(shares, None, slope, *((u, w) if stars or rng.random() < 0.2 else (None, None)))
