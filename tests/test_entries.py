"""Tables by their entries that are not zero."""

from __future__ import annotations

import numpy as np
import pytest

from treebound.kernels.entries import restored, taken


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 4097])
def test_a_table_is_its_entries_and_their_places(size: int, dtype: type) -> None:
    rng = np.random.default_rng(size)
    for density in (0.0, 0.1, 0.5, 1.0):
        table = np.where(rng.random(size) < density, rng.integers(1, 9, size), 0).astype(dtype)
        kept, entries = taken(table)
        assert kept.tolist() == np.packbits(np.append(table != 0, True)).tolist()
        assert entries.tolist() == table[table != 0].tolist()
        assert entries.dtype == table.dtype
        assert restored(kept, entries, size).tolist() == table.tolist()


def test_bytes_come_back_as_they_were() -> None:
    table = np.array([0.0, -0.0, 5e-324, 1.0])
    assert restored(*taken(table), 4).tobytes() == table.tobytes()
