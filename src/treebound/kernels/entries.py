"""Compact storage of a table: its entries that are not zero, and one bit per entry that tells whether it is zero.

Model files and checkpoints store the tables that are declared sparse in this form. Kernels copy bytes without regard to
the type of number: an entry is zero if all its bits are zero.
"""

from __future__ import annotations

import numpy as np

from treebound.support.jit import kernel

WORDS = {4: np.uint32, 8: np.uint64}  #: the type as which an entry is copied, by its size in bytes


def taken(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (bits, entries) of a table of numbers of four or eight bytes. O(size).

    - Bits: uint8[size // 8 + 1], in the order of `numpy.packbits`. A bit is set if the entry is not zero. One further
      bit, which is always set, marks the end.
    - Entries: [E], the entries that are not zero, of the type of the table.
    """
    words = table.view(WORDS[table.itemsize])
    nonzero = np.zeros(len(table) // 8 + 1, np.uint8)
    entries = np.empty(_mark(words, nonzero), words.dtype)
    _collect(words, entries)
    return nonzero, entries.view(table.dtype)


def restored(nonzero: np.ndarray, entries: np.ndarray, size: int) -> np.ndarray:
    """Return a table of `size` numbers of the type of `entries`. O(size).

    `nonzero` uint8[size // 8 + 1] (the bits) and `entries` [E] are the results of `taken`. Their consistency is not
    checked.
    """
    table: np.ndarray = np.zeros(size, entries.dtype)
    words = WORDS[entries.itemsize]
    _restore(nonzero, entries.view(words), table.view(words))
    return table


@kernel
def _mark(table, nonzero):
    """Set the bits of `nonzero` for the entries of the table that are not zero, and return their number."""
    count = 0
    for index in range(len(table)):
        if table[index] != 0:
            nonzero[index >> 3] |= np.uint8(128 >> (index & 7))
            count += 1
    nonzero[len(table) >> 3] |= np.uint8(128 >> (len(table) & 7))
    return count


@kernel
def _collect(table, entries):
    """Write the entries of the table that are not zero to `entries`."""
    count = 0
    for index in range(len(table)):
        if table[index] != 0:
            entries[count] = table[index]
            count += 1


@kernel
def _restore(nonzero, entries, table):
    """Write the entries to a table of zeros, at the positions that the bits of `nonzero` mark."""
    entry = np.uint64(0)
    for byte in range(len(nonzero)):
        bits = np.int64(nonzero[byte])
        index = 8 * byte
        while bits != 0:
            if bits & 128 and index < len(table):
                table[np.uint64(index)] = entries[entry]
                entry += np.uint64(1)
            bits = (bits << 1) & 255
            index += 1
