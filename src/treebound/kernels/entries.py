"""The entries of a table that are not zero, and a bit for each place that tells where they stand.

Files of models and of unfinished training hold nothing else of their tables. Kernels move bytes, whatever numbers they
are: an entry is zero if all its bits are.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel

WORDS = {4: np.uint32, 8: np.uint64}  #: bytes of an entry -> the type by which it is moved


def taken(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (kept, entries) of a table of numbers of four or eight bytes.

    kept     uint8[size // 8 + 1]: bits as `numpy.packbits` writes them, set where an entry is not zero; then one more
             bit, which is set and marks the end
    entries  [E] of the type of the table

    O(size).
    """
    words = table.view(WORDS[table.itemsize])
    kept = np.zeros(len(table) // 8 + 1, np.uint8)
    entries = np.empty(_mark(words, kept), words.dtype)
    _take(words, entries)
    return kept, entries.view(table.dtype)


def restored(kept: np.ndarray, entries: np.ndarray, size: int) -> np.ndarray:
    """Return a table of `size` numbers of the type of `entries`.

    kept     uint8[size // 8 + 1], entries  [E]: as of `taken`; that they fit together is not checked

    O(size).
    """
    table: np.ndarray = np.zeros(size, entries.dtype)
    words = WORDS[entries.itemsize]
    _restore(kept, entries.view(words), table.view(words))
    return table


@kernel
def _mark(table, kept):
    """OUT kept. Return the number of entries that are not zero."""
    count = 0
    for place in range(len(table)):
        if table[place] != 0:
            kept[place >> 3] |= np.uint8(128 >> (place & 7))
            count += 1
    kept[len(table) >> 3] |= np.uint8(128 >> (len(table) & 7))
    return count


@kernel
def _take(table, entries):
    """OUT entries: those of the table that are not zero."""
    count = 0
    for place in range(len(table)):
        if table[place] != 0:
            entries[count] = table[place]
            count += 1


@kernel
def _restore(kept, entries, table):
    """OUT table, which is zero: its other entries."""
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
