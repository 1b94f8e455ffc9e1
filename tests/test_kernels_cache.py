"""Test compiled code that is damaged, foreign or cannot be stored: it is recompiled with one line and never run."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treebound
from treebound.support.jit import files
from treebound.support.jit.cache import is_compiled
from treebound.support.jit.files import folder_of, sources_of

PACKAGE = Path(treebound.__file__).parent
FUNCTION = "from treebound.support.jit import kernel\n\n@kernel\ndef twice(x):\n    return 2 * x\n"
SCRIPT = """
import sys, treebound.support.jit
sys.path.insert(0, sys.argv[1])
import small
print(eval("small." + sys.argv[2]), sum(small.twice.stats.cache_hits.values()))
"""


def twice(folder: Path, cache: Path, call: str = "twice(21)", **environment: str) -> tuple[str, list[str]]:
    """Call a cached function in a program; return its value with the number of cache hits, and the error lines."""
    (folder / "small.py").write_text(FUNCTION)
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), call],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip(), result.stderr.splitlines()


def test_damaged_compiled_code_is_recompiled_with_one_line(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert twice(tmp_path, cache) == ("42 0", [])
    (damaged,) = (path for path in cache.rglob("small*.kernel"))
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    value, errors = twice(tmp_path, cache)
    assert value == "42 0"
    assert len(errors) == 1
    assert errors[0].startswith("treebound: damaged compiled code in ")
    assert twice(tmp_path, cache) == ("42 1", []), "the recompiled code must be stored"


def test_without_a_writable_cache_code_is_compiled_in_memory(tmp_path: Path) -> None:
    """Check that an unwritable cache is no error and leaves no code next to the sources, where it could become
    outdated.
    """
    (tmp_path / "cache").write_text("in the way")
    (tmp_path / "home").write_text("in the way")
    value, errors = twice(tmp_path, tmp_path / "cache", HOME=str(tmp_path / "home"), TMPDIR=str(tmp_path))
    assert value == "42 0"
    assert [line.split(" in ")[0] for line in errors] == ["treebound: compiled code cannot be stored"] * 2
    assert all("set NUMBA_CACHE_DIR to a folder" in line for line in errors)
    assert not list(tmp_path.rglob("*.kernel"))
    assert not list(tmp_path.glob("treebound-*")), "the temporary folder must be removed"


def damages(content: bytes, seed: int) -> list[bytes]:
    """Return damaged versions of a file, among them a pickle that would execute code."""
    rng = random.Random(seed)
    flipped = []
    for _ in range(40):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        flipped.append(bytes(changed))
    cut = [content[: rng.randrange(len(content))] for _ in range(20)]
    replacements = [b"", b"\0" * len(content), content + b"x", pickle.dumps(("a", "b")), b"cos\nabort\n(tR."]
    return [damage for damage in [*flipped, *cut, *replacements] if damage != content]


def test_no_damage_is_unpickled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.kernel"
    files.write(path, pickle.dumps(("key", ["code"])))
    whole = path.read_bytes()
    assert files.read(path) == ("key", ["code"])
    for damage in damages(whole, seed=1):
        path.write_bytes(damage)
        assert files.read(path) is None
    assert len(capsys.readouterr().err.splitlines()) == 1, "a process must report damage once"


def test_code_of_another_key_is_not_used(tmp_path: Path) -> None:
    """Check that exchanged files of two compiled versions are not used, because their stored keys differ."""
    cache = tmp_path / "cache"
    assert twice(tmp_path, cache) == ("42 0", [])
    assert twice(tmp_path, cache, call="twice(1.5)") == ("3.0 0", [])
    first_path, second_path = cache.rglob("small*.kernel")
    first, second = first_path.read_bytes(), second_path.read_bytes()
    first_path.write_bytes(second)
    second_path.write_bytes(first)
    assert twice(tmp_path, cache) == ("42 0", [])
    assert twice(tmp_path, cache) == ("42 1", [])


TAKE = """
import sys
from treebound.support.jit.files import Turn
turn = Turn(sys.argv[1])
turn.take()
print(flush=True)
"""
TOGETHER = """
import sys, time, treebound.support.jit
from pathlib import Path
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
import small
(folder / sys.argv[2]).touch()
while not all((folder / name).exists() for name in "01"):
    time.sleep(0.001)
for value in eval(sys.argv[3]):
    small.twice(value)
print(sum(small.twice.stats.cache_misses.values()))
"""


def test_of_two_simultaneous_processes_one_compiles_and_both_results_are_stored(tmp_path: Path) -> None:
    """Compile for two types in two processes, in opposite order: each type is compiled once and both are stored."""
    (tmp_path / "small.py").write_text(FUNCTION)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def start(name: str, values: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", TOGETHER, str(tmp_path), name, values]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    both = [start("0", "(1, 1.5)"), start("1", "(1.5, 1)")]
    assert sum(int(process.communicate()[0]) for process in both) == 2
    assert start("0", "(1, 1.5)").communicate()[0] == "0\n"


def test_a_process_that_was_killed_during_compilation_blocks_no_other_process(tmp_path: Path) -> None:
    take = "import os, sys\nfrom treebound.support.jit.files import Turn\nTurn(sys.argv[1]).take()\n"
    command = [sys.executable, "-c", take + "os.kill(os.getpid(), 9)", str(tmp_path / "f.lock")]
    subprocess.run(command, check=False)
    files.Turn(tmp_path / "f.lock").take()


def test_a_process_that_waits_too_long_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a process stops waiting for another process after some time, and then compiles by itself.

    The compilation of the other process may have failed while this process goes on.
    """
    command = [sys.executable, "-c", TAKE + "input()", tmp_path / "f.lock"]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"\n"
    monkeypatch.setattr("treebound.support.jit.files._PATIENCE", 0.1)
    started = time.monotonic()
    files.Turn(tmp_path / "f.lock").take()
    assert 0.1 < time.monotonic() - started < 60
    holder.communicate(b"\n")


def test_the_state_of_a_file_covers_all_files_that_it_uses() -> None:
    counted = sources_of(PACKAGE / "checker" / "compiled" / "stars.py")
    assert PACKAGE / "checker" / "compiled" / "stars.py" in counted
    assert PACKAGE / "checker" / "compiled" / "tables.py" in counted, "constants must count"
    assert PACKAGE / "support" / "jit" / "cache.py" in counted, "the format of the cache must count"
    assert PACKAGE / "decoders" / "__init__.py" not in counted
    counted = sources_of(PACKAGE / "decoders" / "exact" / "branch_and_bound" / "search.py")
    assert {PACKAGE / "core" / "dtypes.py", PACKAGE / "kernels" / "bounded.py"} <= set(counted)


def test_copies_share_code_and_changed_sources_invalidate_it(tmp_path: Path) -> None:
    """Check that equal copies share compiled code.

    A changed file invalidates only its own code and the code of files that import it.
    """

    def package(name: str, constant: int) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "constants.py").write_text(f"N = {constant}\n")
        (folder / "uses.py").write_text("from treebound.constants import N\n")
        (folder / "alone.py").write_text("M = 1\n")
        return folder

    original, same, changed = package("one", 1), package("same", 1), package("other", 2)
    assert folder_of(original / "uses.py", original) == folder_of(same / "uses.py", same)
    assert folder_of(original / "uses.py", original) != folder_of(changed / "uses.py", changed)
    assert folder_of(original / "alone.py", original) == folder_of(changed / "alone.py", changed)
    assert folder_of(original / "alone.py", original) != folder_of(original / "uses.py", original)


def test_compiled_code_is_stored_by_state_and_not_by_path() -> None:
    """Check that no function is stored by its path; every checkout would then compile everything again."""
    script = """
import treebound.kernels.features.hashing as module
from numba.core.dispatcher import Dispatcher
from treebound.support.jit.files import folder_of
from pathlib import Path

functions = [f for f in vars(module).values() if isinstance(f, Dispatcher) and f.py_func.__module__ == module.__name__]
print(functions and {f._cache.cache_path for f in functions} == {str(folder_of(Path(module.__file__)))})
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() == "True", result.stderr


def test_an_unknown_function_is_reported_as_unknown() -> None:
    with pytest.raises(ValueError, match="no function kernels"):
        is_compiled("kernels.features.scoring.no_such_function")


def test_listeners_are_notified_of_each_compiled_function(tmp_path: Path) -> None:
    """Check that listeners are called for each compiled function, but not when compiled code is loaded.

    Commands show the progress of compilation by a listener.
    """
    (tmp_path / "small.py").write_text(FUNCTION)
    script = (
        "import sys, treebound.support.jit\nfrom treebound.support.jit.cache import compiled_one\n"
        "sys.path.insert(0, sys.argv[1])\nimport small\ncompiled_one.append(lambda: print('compiled'))\n"
        "print(small.twice(21), small.twice(2.0))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for lines in (["compiled", "compiled", "42 4.0"], ["42 4.0"]):
        command = [sys.executable, "-c", script, str(tmp_path)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert result.stdout.split("\n") == [*lines, ""]
