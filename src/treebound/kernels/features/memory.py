"""Fast reading of weights: prefetching, and sums of rows in vectors of a fixed width.

Scoring spends most of its time waiting for weights: a table has millions of them, and every feature reads another
address. These addresses are known early. The functions below have a Python body that defines their meaning. Compiled
code uses processor instructions that numba does not offer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 8  #: number of entries that `add_row` adds at once


def prefetch(array: np.ndarray, index: Any) -> None:
    """Ask the processor to fetch the cache line of array[index]; the processor may ignore the request."""


def add_row(total: np.ndarray, row: int, array: np.ndarray, start: int, width: int) -> None:
    """Add array[start : start + width] to total[row, :width]; width must be a multiple of LANES.

    Numba chooses the width of vectors for the processor and adds the remaining entries one by one. For rows of about
    forty labels, the remainder would be most of the row.
    """
    total[row, :width] += array[start : start + width]


def sum_of(weights: np.ndarray, i: Any, j: Any) -> Any:
    """Return weights[i] + weights[j] as float64.

    The sum is exact for float32. Integers are added first, so that only their sum is converted.
    """
    return np.float64(weights[i]) + np.float64(weights[j])


@overload(sum_of, strict=False)
def _sum_of(weights: Any, i: Any, j: Any) -> Any:
    if isinstance(weights.dtype, types.Integer):
        return lambda weights, i, j: np.float64(np.int64(weights[np.uint64(i)]) + np.int64(weights[np.uint64(j)]))
    return lambda weights, i, j: np.float64(weights[np.uint64(i)]) + np.float64(weights[np.uint64(j)])


@overload(prefetch, strict=False)
def _prefetch(array: Any, index: Any) -> Any:
    return lambda array, index: _fetch(array, index)


@overload(add_row, strict=False)
def _add_row(total: Any, row: Any, array: Any, start: Any, width: Any) -> Any:
    return lambda total, row, array, start, width: _add(total, row, array, start, width)


@intrinsic
def _fetch(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # arguments of the instruction: read access, all cache levels, data cache
        builder.call(function, [place, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def _add(typing: Any, total: Any, row: Any, array: Any, start: Any, width: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, columns = _data(context, builder, total, args[0])
        begin, _ = _data(context, builder, array, args[2])
        first, begin = builder.gep(out, [builder.mul(args[1], columns)]), builder.gep(begin, [args[3]])
        with cgutils.for_range_slice(builder, args[4].type(0), args[4], args[4].type(LANES)) as (y, _):
            place, current = _vector(builder, first, y, total.dtype)
            _, addend = _vector(builder, begin, y, array.dtype)
            if total.dtype != array.dtype:
                real = isinstance(total.dtype, types.Float)
                widen = builder.sext if not real else builder.fpext if array.dtype == types.float32 else builder.sitofp
                addend = widen(addend, current.type)
            sums = (builder.fadd if isinstance(total.dtype, types.Float) else builder.add)(current, addend)
            builder.store(sums, place, align=total.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(total, row, array, start, width), generate


def _data(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, Any]:
    """Return the address of the elements of an array, and the size of its last dimension."""
    struct = context.make_array(kind)(context, builder, array)
    return struct.data, cgutils.unpack_tuple(builder, struct.shape)[-1]


def _vector(builder: Any, data: Any, index: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the address of LANES consecutive numbers of an array, and these numbers."""
    kind = ir.VectorType(data.type.pointee, LANES)
    place = builder.bitcast(builder.gep(data, [index]), kind.as_pointer())
    return place, builder.load(place, align=dtype.bitwidth // 8)
