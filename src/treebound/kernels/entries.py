"""The entries of a table that are not zero, put back in their places: a model file holds nothing else of its tables."""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel


def restored(kept: np.ndarray, entries: np.ndarray, size: int) -> np.ndarray:
    """Return a table of `size` numbers of the type of `entries`.

    kept     uint8[size // 8 + 1]: bits as `numpy.packbits` writes them, one for each place, set where an entry stands
    entries  [E] of four or eight bytes each: as many as there are bits set among the first `size`; not checked

    O(size).
    """
    table: np.ndarray = np.zeros(size, entries.dtype)
    words = {4: np.uint32, 8: np.uint64}[entries.itemsize]  # the kernel moves bytes, whatever number they are
    _restore(kept, entries.view(words), table.view(words))
    return table


@kernel
def _restore(kept, entries, table):
    entry = np.uint64(0)
    for byte in range(len(kept)):
        bits = np.int64(kept[byte])
        place = 8 * byte
        while bits != 0:
            if bits & 128 and place < len(table):
                table[np.uint64(place)] = entries[entry]
                entry += np.uint64(1)
            bits = (bits << 1) & 255
            place += 1
