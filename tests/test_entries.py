"""Test the storage of tables by their nonzero entries."""

from __future__ import annotations

import numpy as np
import pytest

from treebound.kernels.entries import restored, taken


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 4097])
def test_a_table_is_stored_as_its_entries_and_their_positions(size: int, dtype: type) -> None:
    rng = np.random.default_rng(size)
    for density in (0.0, 0.1, 0.5, 1.0):
        table = np.where(rng.random(size) < density, rng.integers(1, 9, size), 0).astype(dtype)
        positions, entries = taken(table)
        assert positions.tolist() == np.packbits(np.append(table != 0, True)).tolist()
        assert entries.tolist() == table[table != 0].tolist()
        assert entries.dtype == table.dtype
        assert restored(positions, entries, size).tolist() == table.tolist()


def test_bytes_are_restored_exactly() -> None:
    table = np.array([0.0, -0.0, 5e-324, 1.0])
    assert restored(*taken(table), 4).tobytes() == table.tobytes()
