"""Run compiled kernels as the Python code in which they are written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from numba.core.dispatcher import Dispatcher


@contextmanager
def interpreted(*modules: str) -> Iterator[None]:
    """Run the functions of the given modules uncompiled within the context.

    Functions of other modules stay compiled. This is for tests of single parts of a search. The search is compiled as a
    whole, and to call one part alone would compile it once more with all its callees: half a minute for loops over ten
    arcs.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in map(sys.modules.__getitem__, modules):
            for name, function in list(vars(module).items()):
                if isinstance(function, Dispatcher) and function.py_func.__module__ in modules:
                    patch.setattr(module, name, function.py_func)
        yield
