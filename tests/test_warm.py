"""The warm interpreter: commands behave as in a new process, imports happen once, and no process outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from studies.pipeline import warm

#: a module whose import leaves a trace, and a command that runs
SLOW = "import os\nopen(os.environ['TRACE'], 'a').write('imported\\n')\n"
COMMAND = """import os, sys, slow
print(os.getcwd(), os.environ.get("WORD"), sys.argv[1:], __name__, input())
print("aside", file=sys.stderr)
sys.exit({"code": 7, "text": "error: told so", "none": None}[sys.argv[1]] if sys.argv[1] != "crash" else 1 / 0)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "command.py").write_text(COMMAND)
    (tmp_path / "sleeper.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    (tmp_path / "elsewhere").mkdir()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    for name, value in {"PYTHONPATH": path, "TRACE": str(tmp_path / "trace")}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def serving(folder: Path) -> Iterator[Path]:
    with warm.interpreter(["slow"]):
        yield folder


def start(folder: Path, *command: str, **options: object) -> subprocess.Popen:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, "-m", "studies.pipeline.warm", *command], cwd=folder / "elsewhere", text=True, **pipes
    )


def ends(process: int) -> bool:
    """Return whether the process with this number ends or becomes a zombie within ten seconds."""
    for _ in range(200):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(process, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(("how", "status"), [("code", 7), ("text", 1), ("none", 0), ("crash", 1)])
@pytest.mark.parametrize("served", [True, False])
def test_a_command_behaves_as_in_a_new_process(
    served: bool, how: str, status: int, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if served:
        request.getfixturevalue("serving")
    monkeypatch.setenv("WORD", "given later")
    running = start(folder, "command", how, "--option")
    out, err = running.communicate("typed\n")
    assert out == f"{folder / 'elsewhere'} given later ['{how}', '--option'] __main__ typed\n"
    assert err.startswith("aside\n")
    assert {"text": "told so", "crash": "ZeroDivisionError"}.get(how, "") in err
    assert running.returncode == status


def test_warm_modules_are_imported_once(serving: Path) -> None:
    running = [start(serving, "command", "none") for _ in range(3)]
    outs = [process.communicate("x\n")[0] for process in running]
    assert len(outs) == 3
    assert all(out.endswith("__main__ x\n") for out in outs)
    assert (serving / "trace").read_text() == "imported\n"


def test_a_command_that_is_killed_takes_its_fork_along(serving: Path) -> None:
    running = start(serving, "sleeper")
    fork = int(running.stdout.readline())  # type: ignore[union-attr]
    assert fork != running.pid
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert ends(fork)


def test_a_fork_that_is_killed_fails_its_command(serving: Path) -> None:
    running = start(serving, "sleeper")
    os.kill(int(running.stdout.readline()), signal.SIGKILL)  # type: ignore[union-attr]
    assert running.wait(10) == 1


def test_the_end_of_the_interpreter_is_the_end_of_its_forks(folder: Path) -> None:
    with warm.interpreter([]):
        running = start(folder, "sleeper")
        fork = int(running.stdout.readline())  # type: ignore[union-attr]
    assert warm.ADDRESS not in os.environ
    assert ends(fork)
    assert running.wait(10) == 1


def test_without_the_interpreter_commands_run_by_themselves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(warm.ADDRESS, str(folder / "gone"))
    assert start(folder, "command", "none").communicate("x\n")[0].endswith("__main__ x\n")
    with warm.interpreter(["no_such_module"]):
        assert start(folder, "command", "none").communicate("x\n")[0].endswith("__main__ x\n")


def test_control_c_ends_a_command_but_not_the_interpreter(serving: Path) -> None:
    """Control-C reaches all processes. The interpreter ends with the process that started it, without a message."""
    running = start(serving, "sleeper")
    fork = int(running.stdout.readline())  # type: ignore[union-attr]
    interpreter = int(Path(f"/proc/{fork}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(interpreter, signal.SIGINT)
    os.kill(fork, signal.SIGINT)
    assert "KeyboardInterrupt" in running.communicate(timeout=10)[1]
    assert ends(fork)
    assert start(serving, "command", "none").communicate("x\n")[0].endswith("__main__ x\n")
    assert (serving / "trace").read_text() == "imported\n", "the interpreter still runs the command"
