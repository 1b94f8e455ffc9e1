"""Arrays of numbers from whatever holds them: lists, masked arrays, tensors of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from treebound.core.errors import InputError

FLOAT64 = np.dtype(np.float64)  #: the one object of this dtype, in the byte order of the machine
_GIVE = "give an array of numbers; of a tensor, tensor.detach().cpu().numpy()"
_GIVE_WIDER = "give float32; of a tensor, tensor.detach().cpu().float()"


def scores(name: str, given: Any) -> tuple[np.ndarray, bool]:
    """Return an array of scores and whether they are integers; masked entries are -inf.

    name   the argument, for messages
    given  a numpy array, nested lists of numbers, or an object with `__array__` or `__dlpack__`: any integers or
           floats. Arrays are not copied if they have the byte order of the machine and at most 64 bits a number

    float64 keeps its values; float16 and float32 become float64 when they are added. Longer floats are rounded to
    float64. Raises InputError for anything else. O(entries).
    """
    if type(given) is np.ndarray and given.dtype is FLOAT64:
        return given, False
    array = array_of(name, given)
    kind = array.dtype.kind
    if kind not in "iuf":
        raise _no_numbers(name, given, array)
    if isinstance(array, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(array), -np.inf, np.ma.getdata(array))
    if array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # -inf is a score; +inf is refused later
            array = array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")), kind in "iu"


def indices(name: str, given: Any) -> np.ndarray:
    """Return an array of integers, in which nothing is masked. Raises InputError."""
    array = array_of(name, given)
    if np.ma.is_masked(array):
        raise InputError(f"{name} has masked entries", hint="leave them out")
    array = np.ma.getdata(array)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise _no_numbers(name, given, array, "integers")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise InputError(f"{name} has numbers beyond 32 bits", hint="give indices")
    return array.astype(np.int64)


def flags(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return bool[shape]; masked entries are False. Raises InputError."""
    array = array_of(name, given)
    if array.dtype != bool or array.shape != shape:
        raise InputError(f"{name} is {shown(given, array)}", hint=f"give bool{list(shape)}")
    return np.asarray(np.ma.filled(array, False))


def brief(value: Any) -> str:
    """Return the repr of a value in one line of at most 60 characters, for messages."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else line[:57] + "..."


def is_flag(value: Any) -> bool:
    """Whether a value is True, False, 0 or 1."""
    return isinstance(value, int | np.bool_ | np.integer) and value in (0, 1)


def is_size(value: Any) -> bool:
    """Whether a value is a finite number that is at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    try:
        return 0.0 <= float(value) < np.inf
    except (OverflowError, TypeError):  # complex numbers, and integers that no float holds
        return False


def array_of(name: str, given: Any) -> np.ndarray:
    """Return an array, or a masked array, of any dtype. Raises InputError for what cannot be one.

    Memory of other libraries is shared, not copied, where it lies on the CPU. bfloat16, where a library has made it
    known to numpy (`ml_dtypes`, as JAX does), becomes float32.
    """
    if isinstance(given, np.ndarray):
        array = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)
        return _widened(array)
    if given is None:
        raise InputError(f"{name} is None", hint=_GIVE)
    try:
        if _has_masked(given):
            return _joined(given)
        if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
            return np.asarray(np.from_dlpack(given))
        return _widened(np.asarray(given))
    except MemoryError:
        raise
    except Exception as error:  # from another library, of any class
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        if isinstance(given, list | tuple) and isinstance(error, ValueError):
            reason = "lists of different lengths, or not of numbers"
        narrow = "bfloat16" in reason.lower()  # numpy has no such numbers
        raise InputError(f"{name}: {reason}", hint=_GIVE_WIDER if narrow else _GIVE) from None


def _widened(array: np.ndarray) -> np.ndarray:
    """Return bfloat16 as float32, other arrays as they are."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.name == "bfloat16" else array


def _has_masked(given: Any) -> bool:
    """Whether nested lists hold masked arrays, whose masks numpy would drop."""
    if isinstance(given, list | tuple):
        return any(_has_masked(x) for x in given)
    return isinstance(given, np.ma.MaskedArray)


def _joined(given: Any) -> np.ma.MaskedArray:
    """Return nested lists, some of which are masked arrays, as one masked array."""
    if isinstance(given, list | tuple):
        return np.ma.stack([_joined(x) for x in given])
    return np.ma.masked_all((), np.float64) if given is np.ma.masked else np.ma.asarray(given)


def _no_numbers(name: str, given: Any, array: np.ndarray, wanted: str = "numbers") -> InputError:
    return InputError(f"{name} is {shown(given, array)}", hint=_GIVE.replace("numbers", wanted, 1))


def shown(given: Any, array: np.ndarray) -> str:
    """Describe an array by dtype and shape, and an object that numpy does not know by its type."""
    if array.dtype.kind == "O" and not array.shape:
        return f"a {type(given).__name__}"
    return f"{array.dtype}{list(array.shape)}"
