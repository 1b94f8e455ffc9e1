"""Test the compiler of kernels: references are counted, refused calls stay refused, garbage collection is restored."""

from __future__ import annotations

import gc
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit, types
from numba.core.errors import TypingError
from numba.core.runtime import _nrt_python, rtsys
from numba.extending import overload

from treebound.support.jit import kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray | None


class Nested(NamedTuple):
    pair: Pair
    other: Pair
    size: int


@kernel
def handed_on(nested, times):
    """Pass a tuple of tuples of arrays, some of them new, through variables, lists and calls."""
    tuples = [nested]
    for i in range(times):
        pair = Pair(nested.pair.first + i, None)
        nested = Nested(pair, nested.other, nested.size + 1)
        if i % 2 == 0:
            tuples.append(nested)
    last_other = tuples[-1].other
    return tuples[len(tuples) // 2].pair, last_other.first.sum() + tuples[-1].pair.first[0]


def test_every_reference_is_released():
    _nrt_python.memsys_enable_stats()
    array = np.arange(3.0)
    nested = Nested(Pair(array, None), Pair(np.ones(2), None), 0)
    handed_on(nested, 1)
    before = rtsys.get_allocation_stats()
    for times in range(20):
        pair, total = handed_on(nested, times)
        assert total == 2.0 + sum(range(times if times % 2 else max(0, times - 1)))
        assert len(pair.first) == 3
    del pair
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 100
    np.testing.assert_array_equal(array, [0.0, 1.0, 2.0])


def only_integers(x):
    """Raise NotImplementedError in Python; compiled code uses the overload below."""
    raise NotImplementedError


@overload(only_integers)
def _only_integers(x):
    if isinstance(x, types.Integer):
        return lambda x: x + 1
    return None


@kernel
def call_twice(x):
    return only_integers(x) + only_integers(x)


def test_refused_calls_stay_refused_and_the_collector_is_enabled_again():
    for _ in range(2):
        assert call_twice(1) == 4
        with pytest.raises(TypingError):
            call_twice(1.5)
        assert gc.isenabled()


def test_host_and_kernels_call_an_overloaded_function_in_turns():
    """Check that host functions and kernels find their own implementations, which numba stores in one table."""

    @njit
    def host(x):
        return np.sort(x).sum() + only_integers(1)

    @kernel
    def in_kernel(x):
        return np.sort(x).sum() + only_integers(1)

    @njit
    def host_later(x):
        return np.sort(x)[0] + only_integers(2)

    @kernel
    def in_kernel_later(x):
        return np.sort(x)[0] + only_integers(2)

    array = np.array([3.0, 1.0])
    assert [function(array) for function in (host, in_kernel, host_later, in_kernel_later)] == [6.0, 6.0, 4.0, 4.0]
    integers = np.array([3, 1])
    assert [function(integers) for function in (in_kernel_later, host_later, in_kernel, host)] == [4, 4, 6, 6]
