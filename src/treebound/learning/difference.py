"""The buffers in which kernels collect the features of a difference between two structures."""

from __future__ import annotations

import numpy as np


class Difference:
    """Growing buffers of weight slots with their signs and rates.

    Kernels append to the buffers without bounds checks, so `reserve` must be called first.
    """

    def __init__(self) -> None:
        self.slots = np.empty(0, np.int64)
        self.signs = np.empty(0, np.float32)
        self.rates = np.empty(0, np.float32)

    def reserve(self, capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return buffers of slots, signs and rates for at least `capacity` features.

        The dtypes are int64, float32 and float32. The rates are set to 1.
        """
        if capacity > len(self.slots):
            self.slots = np.empty(2 * capacity, np.int64)
            self.signs, self.rates = np.empty(2 * capacity, np.float32), np.empty(2 * capacity, np.float32)
        self.rates[:capacity] = 1.0
        return self.slots, self.signs, self.rates
