"""A warm interpreter: what imports slowly is imported once, and each command is a fork of that process.

    python -m studies.pipeline.warm MODULE [ARGUMENT]...

does what `python -m MODULE ARGUMENT...` does, with its folder, environment, streams and exit status: in a fork of the
warm interpreter within whose `interpreter(...)` it was started, else in this very process. Neither outlives the other.
Unix alone; nothing is kept from one command to the next.
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

ADDRESS = "TREEBOUND_WARM"  #: environment variable: the socket of the warm interpreter
STREAMS = (0, 1, 2)
PATIENCE = 1.0  #: seconds between two looks at whether the other side is still there


@contextmanager
def interpreter(modules: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Commands started within use a process that has imported `modules`, with `environment` added to its own.

    It ends with the block, and with this process however that ends.
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
        server.stdout.read()  # until it closes this: it listens, or has failed, and commands run by themselves
        os.environ[ADDRESS] = address
        try:
            yield
        finally:
            del os.environ[ADDRESS]
            server.stdin.close()
            server.wait()


def serve(address: str, modules: Sequence[str]) -> None:
    """Import `modules`, close standard output and fork for each command until standard input ends.

    A fork returns from here, and ends, when its command has ended.
    """
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
            _bury()
        else:
            _bury()
            return
    os.close(lifeline)
    _work(connection)


def _bury() -> None:
    """Wait for the forks that have ended: their CPU time counts as this process's."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _work(connection: socket.socket) -> None:
    """In a fork: become the command that asks at the other end of `connection`, and send its exit status there."""
    _, given, _, _ = socket.recv_fds(connection, 1, len(STREAMS))
    for stream, descriptor in zip(STREAMS, given, strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    with connection.makefile() as lines:
        request = json.loads(lines.readline())
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    threading.Thread(target=_die_with, args=(connection, os.getppid()), daemon=True).start()
    status = 1
    try:
        _run(request["command"])
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    finally:
        with suppress(ConnectionError):  # the command was ended meanwhile, as Jupyter ends kernels: nobody waits
            connection.sendall(bytes([status & 255]))
        connection.detach()  # closed by the end of the process: only then does the command return


def _die_with(connection: socket.socket, server: int) -> None:
    """End this process at once where the command that it stands for, or the warm interpreter, was ended."""
    descriptor = connection.fileno()
    while os.getppid() == server:
        if select.select([descriptor], [], [], PATIENCE)[0]:
            break
    os.kill(os.getpid(), signal.SIGKILL)


def _run(command: Sequence[str]) -> None:
    sys.argv[:] = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


def _ask(connection: socket.socket, command: Sequence[str]) -> int:
    """Have a fork run `command`; its exit status, or 1 where it or the parent of this process was ended."""
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
    """Command line; returns the exit status."""
    if not command:
        sys.exit("usage: python -m studies.pipeline.warm MODULE [ARGUMENT]...")
    if address := os.environ.get(ADDRESS):
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(address)
            except OSError:
                pass  # it has ended, or never began
            else:
                return _ask(connection, command)
    _run(command)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
