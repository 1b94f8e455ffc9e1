"""Convert lists, masked arrays and tensors of other libraries into numpy arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from treebound.core.errors import InputError

FLOAT64 = np.dtype(np.float64)  #: numpy's single object for this dtype in native byte order, so `is` can compare it
_GIVE = "give an array of numbers; for a tensor, tensor.detach().cpu().numpy()"
_GIVE_WIDER = "give float32; for a tensor, tensor.detach().cpu().float()"


def scores(name: str, value: Any) -> tuple[np.ndarray, bool]:
    """Return an array of scores and whether they are integers; masked entries become -inf.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : array
        A numpy array, nested lists of numbers, or an object with `__array__` or `__dlpack__`, of integers or floats. An
        array is not copied if it has the byte order of the machine and at most 64 bits per number.

    Raises
    ------
    InputError
        If the value has another type.

    Notes
    -----
    float64 keeps its values; float16 and float32 become float64 when scores are added up. Longer floats are rounded to
    float64. O(entries).
    """
    if type(value) is np.ndarray and value.dtype is FLOAT64:
        return value, False
    array = array_of(name, value)
    kind = array.dtype.kind
    if kind not in "iuf":
        raise _no_numbers(name, value, array)
    if isinstance(array, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(array), -np.inf, np.ma.getdata(array))
    if array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # -inf is a score; +inf is refused later
            array = array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")), kind in "iu"


def indices(name: str, value: Any) -> np.ndarray:
    """Return an int64 array. Raises InputError for masked entries, other dtypes and numbers beyond 32 bits."""
    array = array_of(name, value)
    if np.ma.is_masked(array):
        raise InputError(f"{name} has masked entries", hint="leave the masked entries out")
    array = np.ma.getdata(array)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise _no_numbers(name, value, array, "integers")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise InputError(f"{name} has numbers beyond 32 bits", hint="give indices")
    return array.astype(np.int64)


def flags(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return bool[shape]; masked entries become False. Raises InputError for another dtype or shape."""
    array = array_of(name, value)
    if array.dtype != bool or array.shape != shape:
        raise InputError(f"{name} is {shown(value, array)}", hint=f"give bool{list(shape)}")
    return np.asarray(np.ma.filled(array, False))


def brief(value: Any) -> str:
    """Return the repr of a value in one line of at most 60 characters, for messages."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else line[:57] + "..."


def is_flag(value: Any) -> bool:
    """Return whether a value is True, False, 0 or 1."""
    return isinstance(value, int | np.bool_ | np.integer) and value in (0, 1)


def is_size(value: Any) -> bool:
    """Return whether a value is a finite number that is at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    try:
        return 0.0 <= float(value) < np.inf
    except (OverflowError, TypeError):  # complex numbers, and integers that no float holds
        return False


def array_of(name: str, value: Any) -> np.ndarray:
    """Return a value as an array or masked array, of any dtype. Raises InputError if it cannot be converted.

    Memory of other libraries on the CPU is shared, not copied. bfloat16 becomes float32, if a library has registered
    bfloat16 with numpy (`ml_dtypes`, as JAX does).
    """
    if isinstance(value, np.ndarray):
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        return _widened(array)
    if value is None:
        raise InputError(f"{name} is None", hint=_GIVE)
    try:
        if _has_masked(value):
            return _joined(value)
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.asarray(np.from_dlpack(value))
        return _widened(np.asarray(value))
    except MemoryError:
        raise
    except Exception as error:  # other libraries raise errors of any class
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        if isinstance(value, list | tuple) and isinstance(error, ValueError):
            reason = "lists of different lengths, or not of numbers"
        narrow = "bfloat16" in reason.lower()  # numpy has no bfloat16
        raise InputError(f"{name}: {reason}", hint=_GIVE_WIDER if narrow else _GIVE) from None


def _widened(array: np.ndarray) -> np.ndarray:
    """Return an array of bfloat16 as float32; return other arrays unchanged."""
    return array.astype(np.float32) if array.dtype.kind == "V" and array.dtype.name == "bfloat16" else array


def _has_masked(value: Any) -> bool:
    """Return whether nested lists hold masked arrays, whose masks numpy would drop."""
    if isinstance(value, list | tuple):
        return any(_has_masked(item) for item in value)
    return isinstance(value, np.ma.MaskedArray)


def _joined(value: Any) -> np.ma.MaskedArray:
    """Return nested lists, some of which are masked arrays, as one masked array."""
    if isinstance(value, list | tuple):
        return np.ma.stack([_joined(item) for item in value])
    return np.ma.masked_all((), np.float64) if value is np.ma.masked else np.ma.asarray(value)


def _no_numbers(name: str, value: Any, array: np.ndarray, kind: str = "numbers") -> InputError:
    """Return the error for a value that is not an array of numbers, or of the given `kind`."""
    return InputError(f"{name} is {shown(value, array)}", hint=_GIVE.replace("numbers", kind, 1))


def shown(value: Any, array: np.ndarray) -> str:
    """Describe an array by its dtype and shape, or an object that numpy does not know by its type."""
    if array.dtype.kind == "O" and not array.shape:
        return f"a {type(value).__name__}"
    return f"{array.dtype}{list(array.shape)}"
