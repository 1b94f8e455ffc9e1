"""Commands as a user runs them: CPU and wall seconds, and the most memory of all their processes together (Linux)."""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """CPU seconds of all processes, wall seconds, and the most memory in MiB."""

    cpu: float
    wall: float
    mebibytes: float


def measured(
    command: Sequence[str | Path],
    text: Iterator[bytes] | None = None,
    fifo: Path | None = None,
    servers: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
) -> Cost:
    """Run a command and wait for its end; its output is dropped.

    text     what is written to its standard input, or to a named pipe
    fifo     the named pipe
    servers  other processes that work for the command, a cluster: their CPU seconds and their memory count, too
    """
    before, started = sum(map(cpu_of, servers)), time.perf_counter()
    source = subprocess.PIPE if text is not None and fifo is None else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    peak = Peak([process.pid, *servers])
    if text is not None:
        threading.Thread(target=_feed, args=(process if fifo is None else fifo, text), daemon=True).start()
    assert process.stderr is not None
    messages = process.stderr.read()
    mebibytes = peak.stop()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))}\n{messages.decode()}")
    cpu = usage.ru_utime + usage.ru_stime + sum(map(cpu_of, servers)) - before
    return Cost(cpu, time.perf_counter() - started, mebibytes)


def _feed(target: subprocess.Popen | Path, text: Iterator[bytes]) -> None:
    """Write a text to a process or a named pipe; a reader that has ended is no error here."""
    pipe = target.open("wb") if isinstance(target, Path) else target.stdin
    assert pipe is not None
    try:
        with pipe:
            for piece in text:
                pipe.write(piece)
    except BrokenPipeError:
        pass


def sentences_of(path: Path) -> list[bytes]:
    """Return the sentences of a CoNLL-U file, each with the empty line behind it."""
    return [block + b"\n\n" for block in path.read_bytes().split(b"\n\n") if block.strip()]


def repeated(blocks: Sequence[bytes], sentences: int) -> Iterator[bytes]:
    """Yield so many sentences: all of the blocks in turn, over and over."""
    return itertools.islice(itertools.cycle(blocks), sentences)


class Peak:
    """The most memory that processes and those below them held together, looked at ten times a second."""

    def __init__(self, pids: Sequence[int]):
        self.pids, self.most, self.running = pids, 0, True
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self) -> None:
        while self.running:
            self.most = max(self.most, sum(map(held, self.pids)))
            time.sleep(0.1)

    def stop(self) -> float:
        """Return the most, in MiB."""
        self.running = False
        self.thread.join()
        return self.most / 1024


def held(pid: int) -> int:
    """Return KiB of a process and those below it: their own pages, shared ones once, and the first one's mapped files.

    The proportional size of mapped files would depend on what else on the machine runs Python at the moment.
    """
    sizes = _memory(pid)
    return sizes.get("Rss", 0) - sizes.get("Anonymous", 0) + sum(_memory(p).get("Pss_Anon", 0) for p in family(pid))


def family(pid: int) -> list[int]:
    """Return a process and all processes below it."""
    try:
        children = [
            int(child) for of in Path(f"/proc/{pid}/task").glob("*/children") for child in of.read_text().split()
        ]
    except OSError:  # it has ended
        return []
    return [pid, *itertools.chain.from_iterable(map(family, children))]


def cpu_of(pid: int) -> float:
    """Return CPU seconds of a process and those below it that still run."""
    total = 0
    for each in family(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def _memory(pid: int) -> dict[str, int]:
    """Return KiB by kind, as Linux reports them; nothing of a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)}
