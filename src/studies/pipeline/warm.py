"""Start Python commands quickly: fork them from an interpreter that has imported slow modules in advance.

    python -m studies.pipeline.warm MODULE [ARGUMENT]...

This command has the same effect as `python -m MODULE ARGUMENT...`, with the same folder, environment, streams and exit
status. Inside a block of `interpreter(...)`, it runs in a fork of the warm interpreter; otherwise it runs in the
current process. If the requesting process or the warm interpreter ends, the fork ends, too. This works on Unix only. No
state passes from one command to the next.
"""

from __future__ import annotations

import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

ADDRESS = "TREEBOUND_WARM"  #: environment variable with the path of the socket of the warm interpreter
STREAMS = (0, 1, 2)
PATIENCE = 1.0  #: seconds between two checks that the other process still runs


@contextmanager
def interpreter(modules: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Start a warm interpreter, which imports `modules`; commands that start in the block run in its forks.

    environment  variables to add to the environment of the new process

    The new process ends with the block, and with the current process even if the latter is killed.
    """
    with tempfile.TemporaryDirectory(prefix="treebound-") as folder:
        address = str(Path(folder) / "warm")
        serve = f"from studies.pipeline.warm import serve; serve({address!r}, {list(modules)!r})"
        command = [sys.executable, "-c", serve]
        server = subprocess.Popen(
            command, env=os.environ | (environment or {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.read()  # returns when the server listens or has failed; see `main` for failures
        os.environ[ADDRESS] = address
        try:
            yield
        finally:
            del os.environ[ADDRESS]
            server.stdin.close()
            server.wait()


def serve(address: str, modules: Sequence[str]) -> None:
    """Import `modules`, close standard output, and fork for each command until standard input ends.

    In a fork, this function returns when the command has ended; the fork then ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Control-C, the end of the requester ends this process
    for module in modules:
        import_module(module)
    lifeline = os.dup(0)
    with socket.socket(socket.AF_UNIX) as listener:
        sources = (listener.fileno(), lifeline)
        listener.bind(address)
        listener.listen(64)
        os.dup2(2, 1)
        while lifeline not in select.select(sources, [], [])[0]:
            connection = listener.accept()[0]
            if os.fork() == 0:
                break
            connection.close()
            _reap()
        else:
            _reap()
            return
    os.close(lifeline)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _serve_command(connection)


def _reap() -> None:
    """Wait for the forks that have ended, so that their CPU time counts for this process."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _serve_command(connection: socket.socket) -> None:
    """Run in this fork the command that is requested over `connection`, and send back its exit status."""
    _, descriptors, _, _ = socket.recv_fds(connection, 1, len(STREAMS))
    for stream, descriptor in zip(STREAMS, descriptors, strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    with connection.makefile() as lines:
        request = json.loads(lines.readline())
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    threading.Thread(target=_end_with, args=(connection, os.getppid()), daemon=True).start()
    status = 1
    try:
        _run(request["command"])
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    finally:
        with suppress(ConnectionError):  # the requester may have been killed meanwhile, as Jupyter kills kernels
            connection.sendall(bytes([status & 255]))
        connection.detach()  # the end of this process closes the socket; only then may the requester return


def _end_with(connection: socket.socket, server: int) -> None:
    """End this process at once if the requesting command or the warm interpreter has ended."""
    descriptor = connection.fileno()
    while os.getppid() == server:
        if select.select([descriptor], [], [], PATIENCE)[0]:
            break
    os.kill(os.getpid(), signal.SIGKILL)


def _run(command: Sequence[str]) -> None:
    """Run a module with arguments as `python -m` does."""
    sys.argv[:] = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


def _request(connection: socket.socket, command: Sequence[str]) -> int:
    """Request that a fork of the warm interpreter runs `command`; wait, and return the exit status of the command.

    The status is 1 if the fork ends without reporting a status, or if the parent of this process has ended.
    """
    request = {"command": command, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    socket.send_fds(connection, [b"+"], STREAMS)
    connection.sendall(json.dumps(request).encode() + b"\n")
    parent, status = os.getppid(), 1
    while os.getppid() == parent:
        if select.select([connection], [], [], PATIENCE)[0]:
            if not (received := connection.recv(1)):
                break
            status = received[0]
    return status


def main(command: Sequence[str]) -> int:
    """Run the command line and return the exit status."""
    if not command:
        sys.exit("usage: python -m studies.pipeline.warm MODULE [ARGUMENT]...")
    if address := os.environ.get(ADDRESS):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(address)
            except OSError:
                pass  # the warm interpreter has ended, or never started
            else:
                return _request(connection, command)
    _run(command)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
