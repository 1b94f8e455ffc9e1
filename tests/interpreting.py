"""Kernels run as the Python that they are written in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from numba.core.dispatcher import Dispatcher


@contextmanager
def interpreted(*modules: str) -> Iterator[None]:
    """Within, what these modules define and call of each other is not compiled; what else they call still is.

    For tests that take a search apart: it is compiled as a whole, and each of its parts would be once more, with all
    that it calls, to be called alone - half a minute for loops over ten arcs.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in map(sys.modules.__getitem__, modules):
            for name, function in list(vars(module).items()):
                if isinstance(function, Dispatcher) and function.py_func.__module__ in modules:
                    patch.setattr(module, name, function.py_func)
        yield
