"""Test a host program that uses treebound: it leaves numba, llvmlite and the process unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

#: The host uses the public functions; it has imported numba and numpy and has its own compiled function.
USE = """
import gc, locale, logging, multiprocessing, os, random, signal, sys, threading, warnings
import numba, numpy as np

@numba.njit
def own(x):
    return x.sum()

def use():
    import treebound
    scores = np.random.default_rng(1).normal(size=(5, 5))
    for space in ("projective", "non-projective"):
        parse = treebound.decode(scores, space=space, margins=True, marginals=True, k_best=2)
        assert not treebound.check(treebound.problem(scores, space=space), treebound.decode(scores, space=space))
    list(treebound.decode_all([scores, scores]))
"""

MODULES = USE + "use(); print(*(name for name in sys.modules if name.partition('.')[0] in ('numba', 'llvmlite')))"

COMPARE = (
    USE
    + """
import importlib, types
own(np.ones(2))
for name in sys.argv[1].split():
    importlib.import_module(name)

def attributes():
    "Return the identity of every attribute of the modules of numba and llvmlite and of the classes that they define."
    values = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("numba", "llvmlite"):
            continue
        for key, value in list(vars(module).items()):
            values[name, key] = value
            if isinstance(value, type) and value.__module__.partition(".")[0] in ("numba", "llvmlite"):
                for inner, member in list(vars(value).items()):
                    values[value.__module__, value.__qualname__, inner] = member
    return values

def process():
    "Return other state that a library could change for the whole process."
    root = logging.getLogger()
    mask = os.umask(0)
    os.umask(mask)
    return {
        "environment": dict(os.environ),
        "warnings": (list(warnings.filters), warnings.showwarning, warnings.formatwarning),
        "logging": (root.level, list(root.handlers), logging.lastResort, logging.raiseExceptions),
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "random": (random.getstate(), str(np.random.get_state())),
        "locale": locale.setlocale(locale.LC_ALL),
        "start method": multiprocessing.get_start_method(allow_none=True),
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count(), list(gc.callbacks)),
        "numpy": (np.geterr(), np.get_printoptions(), np.geterrcall()),
        "numba": {name: value for name, value in vars(numba.config).items() if name.isupper()},
        "system": (sys.excepthook, sys.displayhook, sys.getrecursionlimit(), sys.getswitchinterval(), sys.path[:],
                   sys.stdin, sys.stdout, sys.stderr, os.getcwd(), mask),
        "threads": (threading.excepthook, threading.active_count()),
    }

before, state = attributes(), process()
use()
after, later = attributes(), process()

changed = [key for key in before if before[key] is not after.get(key, before) and before[key] != after.get(key)]
changed += [key for key in state if state[key] != later[key]]
print(*changed, sep="\\n")
"""
)


def python(code: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=600
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_nothing_of_numba_llvmlite_or_the_process_is_changed() -> None:
    assert python(COMPARE, python(MODULES)) == ""


def test_the_comparison_notices_a_changed_attribute() -> None:
    change = "import numba.core.caching; numba.core.caching.IndexDataCacheFile = None; numba.config.CACHE_DIR = 'x'"
    lines = python(COMPARE.replace("use()\nafter", f"{change}\nafter"), "numba").splitlines()
    assert "numba.core.caching IndexDataCacheFile" in " ".join(lines).replace("'", "").replace(",", "")
    assert "numba" in lines


THREADS = """
import threading
import numpy as np

rng = np.random.default_rng(3)
matrices = [rng.normal(size=(n, n)) for n in (4, 7, 5, 9, 6, 8)]
barrier = threading.Barrier(len(matrices))
results = {}

def decode(i):
    barrier.wait()
    import treebound
    results[i] = treebound.decode(matrices[i], space=("projective", "non-projective")[i % 2])

threads = [threading.Thread(target=decode, args=(i,)) for i in range(len(matrices))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
import treebound
for i, matrix in enumerate(matrices):
    alone = treebound.decode(matrix, space=("projective", "non-projective")[i % 2])
    assert results[i].certified and list(results[i].heads) == list(alone.heads)
print("same")
"""


def test_threads_may_import_and_decode_at_once(tmp_path: Path) -> None:
    """Check that first calls of threads run during imports and compilations of other threads, without a cache."""
    assert python(THREADS, NUMBA_CACHE_DIR=str(tmp_path)) == "same"


def test_plain_numba_compiles_kernels_on_request() -> None:
    code = "from treebound.support.jit import kernel\nf = kernel(lambda x: x + 1)\nprint(type(f).__module__, f(1))"
    assert python(code) == "treebound.support.jit.target 2"
    assert python(code, TREEBOUND_PLAIN_NUMBA="1") == "numba.core.registry 2"


def test_an_untested_version_of_numba_is_reported_in_one_line() -> None:
    code = "import numba\nnumba.__version__ = '9.1.0'\nfrom treebound.support.jit import kernel\n"
    result = subprocess.run(
        [sys.executable, "-c", code + "print(kernel(lambda x: 2 * x)(2))"], capture_output=True, text=True, check=True
    )
    assert result.stdout == "4\n"
    (line,) = result.stderr.splitlines()
    assert line.startswith("treebound: numba 9.1.0 is not one of the tested versions")
