"""The memory that a feature difference is collected in."""

from __future__ import annotations

import numpy as np


class Difference:
    """Weight slots, their signs and rates: kernels append one after another without looking whether there is room."""

    def __init__(self) -> None:
        self.slots = np.empty(0, np.int64)
        self.signs = np.empty(0, np.float32)
        self.rates = np.empty(0, np.float32)

    def reserve(self, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(slots int64[*], signs, rates float32[*]) with room for so many features; rates are 1."""
        if room > len(self.slots):
            self.slots = np.empty(2 * room, np.int64)
            self.signs, self.rates = np.empty(2 * room, np.float32), np.empty(2 * room, np.float32)
        self.rates[:room] = 1.0
        return self.slots, self.signs, self.rates
