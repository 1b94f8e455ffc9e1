"""Run branch and bound uncompiled, with all searches for head stars cut off at once.

The program prints each parse that is not proved optimal or is not the best tree.

NUMBA_DISABLE_JIT=1 python tests/cut_off_stars.py FIRST LAST
"""

import sys

import numpy as np
from oracles.score import best
from strategies import random_problem

from treebound.decoders.exact.branch_and_bound import agreement
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound

FAMILIES = ("grandchild", "sibling", "tri-sibling", "comb", "adjacent-sibling")


def main() -> None:
    """Decode random problems over non-projective trees while head stars are bounded but not solved."""
    agreement.NODE_LIMIT = 1
    decoder = BranchAndBound(space="non-projective", root_steps=12, node_steps=4)
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        rng = np.random.default_rng(seed)
        chosen = [f for f in FAMILIES if rng.random() < 0.7]
        problem = random_problem(
            rng, chosen, max_n=5, space="non-projective", kind="mixed", feasible=True, integer=seed % 2 == 0
        )
        parse = decoder.decode(problem)
        value, _ = best(problem, "non-projective")
        slack = 0.0 if problem.unit else 1e-9 * max(1.0, abs(value))
        if parse.status != "optimal" or not abs(parse.value - value) <= slack:
            print(f"seed {seed}: {parse.status} {parse.value}, not {value}")


if __name__ == "__main__":
    main()
