"""The multiplicative hash that joins the 64-bit hashes of a feature's atoms."""

from __future__ import annotations

from treebound.support.jit import kernel

M1 = -7046029254386353131  #: 0x9E3779B97F4A7C15, odd: x = (x ^ atom) * M1 for every atom in turn
M2 = -4658895280553007687  # 0xBF58476D1CE4E5B9


@kernel(inline="always")
def finish(x):
    """Spread the entropy of a joined hash over all bits."""
    x ^= x >> 31
    x *= M2
    return x ^ (x >> 29)
