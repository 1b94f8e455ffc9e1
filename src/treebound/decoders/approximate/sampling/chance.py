"""Draw random numbers in kernels by SplitMix64 (Steele, Lea & Flood 2014, section 6). The state is one uint64."""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel

_STEP, _MIX, _MIX_AGAIN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@kernel
def uniform(state):
    """Draw a number in [0, 1), a multiple of 2^-53."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _30)) * _MIX
    z = (z ^ (z >> _27)) * _MIX_AGAIN
    return np.float64((z ^ (z >> _31)) >> _11) * 2.0**-53


@kernel
def below(state, n):
    """Draw an integer in 0 .. n - 1."""
    return int(uniform(state) * n)
