"""Test kernels that only kernels call: they stay intermediate code until Python calls them, also in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit

from treebound.support.jit import kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

MODULE = """
import numpy as np
from numba.core import event
from treebound.support.jit import kernel

@kernel
def smallest(x):
    if len(x) == 0:
        raise ValueError("no numbers")
    return x.min()

@kernel
def twice(x):
    return 2 * smallest(x)

@kernel
def thrice(x):
    return 3 * smallest(x)

@kernel
def fourfold(x):
    return 4 * smallest(x)

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
"""


def run(folder: Path, calls: str) -> str:
    """Return the results of the calls, followed by the names of the module's functions that were compiled for them."""
    code = (
        f"from sums import *; x = np.array([5, 3, 4]); print({calls}, "
        "[name for name in Compiled.names if name in globals()])"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_kernels_are_compiled_once_for_kernels_and_completely_for_python(tmp_path):
    (tmp_path / "sums.py").write_text(MODULE)
    assert run(tmp_path, "twice(x)") == "6 ['twice', 'smallest']"
    assert run(tmp_path, "twice(x)") == "6 []"
    assert run(tmp_path, "thrice(x)") == "9 ['thrice']"  # linked from the cache
    assert run(tmp_path, "smallest(x), twice(x)") == "3 6 ['smallest']"
    assert run(tmp_path, "smallest(x), thrice(x), twice(x)") == "3 9 6 []"
    # machine code from the cache cannot be linked
    assert run(tmp_path, "smallest(x), fourfold(x), smallest(x)") == "3 12 3 ['fourfold']"


def test_functions_of_other_packages_are_compiled_as_usual():
    """Check that functions outside the package get the entry points that inner kernels lack.

    Function pointers, for instance, need these entry points.
    """
    from numba import types

    @njit(types.int64(types.int64))
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x) * 2

    @njit
    def chosen(functions, i, x):
        return functions[i](x)

    assert outer(1) == 4
    assert not any(hasattr(version.library, "inner") for version in inner.overloads.values())
    assert chosen((inner, inner), 1, 1) == 2


def test_a_kernel_has_no_machine_code_until_python_calls_it():
    @kernel
    def inner(x):
        return x + 1

    @kernel
    def outer(x):
        return inner(x) * 2

    assert outer(1) == 4
    (version,) = inner.overloads.values()
    assert version.library.inner
    with pytest.raises(TypeError, match="no entry"):
        version.entry_point(1)
    assert inner(1) == 2
    (version,) = inner.overloads.values()
    assert not version.library.inner
    assert inner(1.5) == 2.5
    assert outer(1.5) == 5.0


def test_errors_of_inner_functions_reach_python():
    @kernel
    def inner(x):
        if len(x) == 0:
            raise ValueError("no numbers")
        return x[0]

    @kernel
    def outer(x):
        return inner(x)

    for function in (outer, inner, outer):
        with pytest.raises(ValueError, match="no numbers"):
            function(np.zeros(0))
        assert function(np.ones(1)) == 1.0
