"""A host program with one function that numba caches: host.py without|with|late.

The argument says when the program uses treebound: never, before the function is defined, or after it is defined.
"""

import os
import sys

import numba
import numpy as np


def use_treebound():
    import treebound

    assert treebound.decode(np.zeros((3, 3))).certified


if sys.argv[1] == "with":
    use_treebound()


@numba.njit(cache=True)
def total(x):
    result = 0.0
    for value in x:
        result += value * value
    return result


if sys.argv[1] == "late":
    use_treebound()
assert total(np.ones(3)) == 3.0
stats = total.stats
place = os.path.relpath(stats.cache_path).partition("/")[0]
print("hits", sum(stats.cache_hits.values()), "misses", sum(stats.cache_misses.values()), "in", place)
print("numba's folder for caches:", numba.config.CACHE_DIR and os.path.relpath(numba.config.CACHE_DIR))
