"""Compiled code that is damaged, foreign or cannot be kept: it is compiled again, with one line, and never run."""

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
from treebound.support.jit.cache import CheckedFile, folder_of, sources_of
from treebound.support.jit.compiled import compiled

PACKAGE = Path(treebound.__file__).parent
FUNCTION = "from numba import njit\n\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
SCRIPT = """
import sys, treebound.support.jit
sys.path.insert(0, sys.argv[1])
import small
print(small.twice(21), sum(small.twice.stats.cache_hits.values()))
"""


def twice(folder: Path, cache: Path, **environment: str) -> tuple[str, list[str]]:
    """What a program prints that calls a cached function: its value, and how often it was found; and its errors."""
    (folder / "small.py").write_text(FUNCTION)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.splitlines()


def test_damaged_compiled_code_is_compiled_again_with_one_line(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert twice(tmp_path, cache) == ("42 0", [])
    for suffix in (".nbi", ".nbc"):
        (damaged,) = (path for path in cache.rglob(f"*{suffix}") if path.name.startswith("small"))
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        value, errors = twice(tmp_path, cache)
        assert value == "42 0"
        assert len(errors) == 1
        assert errors[0].startswith("treebound: damaged compiled code in ")
    assert twice(tmp_path, cache) == ("42 1", []), "it has been kept again"


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    """Neither a fault nor code beside the sources, where nobody would notice that it is out of date."""
    (tmp_path / "cache").write_text("in the way")
    (tmp_path / "home").write_text("in the way")
    value, errors = twice(tmp_path, tmp_path / "cache", HOME=str(tmp_path / "home"), TMPDIR=str(tmp_path))
    assert value == "42 0"
    assert [line.split(" in ")[0] for line in errors] == ["treebound: compiled code cannot be kept"] * 2
    assert not list(tmp_path.rglob("*.nbi"))
    assert not list(tmp_path.glob("treebound-*")), "the folder of the run is gone with it"


def damages(content: bytes, seed: int) -> list[bytes]:
    """Ways in which a file is damaged, among them a pickle that would do something."""
    rng = random.Random(seed)
    flipped = []
    for _ in range(40):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        flipped.append(bytes(changed))
    cut = [content[: rng.randrange(len(content))] for _ in range(20)]
    other = [b"", b"\0" * len(content), content + b"x", pickle.dumps(("a", "b")), b"cos\nabort\n(tR."]
    return [damage for damage in [*flipped, *cut, *other] if damage != content]


@pytest.mark.parametrize("which", ["index", "data"])
def test_no_damage_is_unpickled(which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def cached() -> CheckedFile:
        return CheckedFile(str(tmp_path), "f", "stamp")

    cached().save("a signature", ["code"])
    assert cached().load("a signature") == ["code"]
    path = tmp_path / {"index": "f.nbi", "data": "f.1.nbc"}[which]
    whole = path.read_bytes()
    for damage in damages(whole, seed=1):
        path.write_bytes(damage)
        assert cached().load("a signature") is None
    cached().save("a signature", ["code"])
    assert cached().load("a signature") == ["code"]
    assert len(capsys.readouterr().err.splitlines()) == 1, "it is said once"


def test_data_of_another_signature_is_not_taken(tmp_path: Path) -> None:
    """Processes that fill a cache together number files alike: the index may be of one, the data of another."""
    one, two = (CheckedFile(str(tmp_path), "f", "stamp") for _ in range(2))
    one.save("a", "code of a")
    (tmp_path / "f.nbi").unlink()
    two.save("b", "code of b")  # takes the place of a's
    (tmp_path / "f.1.nbc").rename(tmp_path / "kept")
    (tmp_path / "f.nbi").unlink()
    one.save("a", "code of a")
    (tmp_path / "kept").rename(tmp_path / "f.1.nbc")
    assert one.load("a") is None
    assert CheckedFile(str(tmp_path), "f", "another state of the source").load("a") is None


TAKE = """
import sys
from treebound.support.jit.cache import Turn
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


def test_of_processes_that_start_together_one_compiles_and_nothing_is_lost(tmp_path: Path) -> None:
    """Both want the code for two types, in another order: each is compiled once, and both are kept."""
    (tmp_path / "small.py").write_text(FUNCTION)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def start(name: str, values: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", TOGETHER, str(tmp_path), name, values]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    both = [start("0", "(1, 1.5)"), start("1", "(1.5, 1)")]
    assert sum(int(process.communicate()[0]) for process in both) == 2
    assert start("0", "(1, 1.5)").communicate()[0] == "0\n"


def test_a_process_that_ended_while_it_compiled_holds_nobody_up(tmp_path: Path) -> None:
    take = "import os, sys\nfrom treebound.support.jit.cache import Turn\nTurn(sys.argv[1]).take()\n"
    command = [sys.executable, "-c", take + "os.kill(os.getpid(), 9)", str(tmp_path / "f.nbi.lock")]
    subprocess.run(command, check=False)
    assert CheckedFile(str(tmp_path), "f", "stamp").load("a signature") is None


def test_who_waits_too_long_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compilation of another process may have failed, and it go on with other things."""
    command = [sys.executable, "-c", TAKE + "input()", tmp_path / "f.nbi.lock"]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"\n"
    monkeypatch.setattr("treebound.support.jit.cache._PATIENCE", 0.1)
    cached = CheckedFile(str(tmp_path), "f", "stamp")
    started = time.monotonic()
    assert cached.load("a signature") is None
    assert time.monotonic() - started > 0.1
    cached.save("a signature", ["code"])
    assert cached.load("a signature") == ["code"]
    other.communicate(b"\n")


def test_the_state_of_a_file_is_that_of_all_whose_functions_constants_and_types_it_uses() -> None:
    counted = sources_of(PACKAGE / "evaluation" / "compiled" / "stars.py")
    assert PACKAGE / "evaluation" / "compiled" / "stars.py" in counted
    assert PACKAGE / "evaluation" / "compiled" / "tables.py" in counted, "constants"
    assert PACKAGE / "support" / "jit" / "cache.py" in counted, "how it is kept"
    assert PACKAGE / "decoders" / "__init__.py" not in counted
    counted = sources_of(PACKAGE / "decoders" / "exact" / "branch_and_bound" / "search.py")
    assert {PACKAGE / "core" / "dtypes.py", PACKAGE / "kernels" / "bounded.py"} <= set(counted)


def test_code_is_shared_by_copies_and_thrown_away_with_what_it_was_made_of(tmp_path: Path) -> None:
    """A change in a neighbour that a file does not import leaves what it has compiled."""

    def package(name: str, constant: int) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "constants.py").write_text(f"N = {constant}\n")
        (folder / "uses.py").write_text("from treebound.constants import N\n")
        (folder / "alone.py").write_text("M = 1\n")
        return folder

    one, same, other = package("one", 1), package("same", 1), package("other", 2)
    assert folder_of(one / "uses.py", one) == folder_of(same / "uses.py", same)
    assert folder_of(one / "uses.py", one) != folder_of(other / "uses.py", other)
    assert folder_of(one / "alone.py", one) == folder_of(other / "alone.py", other)
    assert folder_of(one / "alone.py", one) != folder_of(one / "uses.py", one)


def test_what_compiles_is_kept_by_its_own_state_wherever_it_stands() -> None:
    """No function of the package is kept by its path, which would have every checkout compile anew."""
    script = """
import treebound.kernels.features.hashing as module
from numba.core.dispatcher import Dispatcher
from treebound.support.jit.cache import folder_of
from pathlib import Path
functions = [f for f in vars(module).values() if isinstance(f, Dispatcher) and f.py_func.__module__ == module.__name__]
print(functions and {f._cache.cache_path for f in functions} == {str(folder_of(Path(module.__file__)))})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_a_function_that_is_not_there_is_not_said_to_be_missing_its_code() -> None:
    with pytest.raises(ValueError, match="no function kernels"):
        compiled("kernels.features.scoring.no_such_function")
