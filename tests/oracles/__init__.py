"""Slow and simple reimplementations of the package's computations, for tests only; `src` never imports them."""
