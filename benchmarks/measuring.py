"""Cost of commands as a user runs them: CPU and wall-clock seconds, and peak memory of all their processes (Linux)."""

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
    """CPU seconds of all processes, wall-clock seconds, and peak memory in MiB."""

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
    """Run a command, wait for its end, and return its cost. The output of the command is discarded.

    text     input that is written to its standard input, or to a named pipe
    fifo     the named pipe
    servers  process ids of a cluster that works for the command; their CPU seconds and memory are included
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
    """Write a text to a process or a named pipe. Stop without an error if the reader has ended."""
    pipe = target.open("wb") if isinstance(target, Path) else target.stdin
    assert pipe is not None
    try:
        with pipe:
            for piece in text:
                pipe.write(piece)
    except BrokenPipeError:
        pass


def sentences_of(path: Path) -> list[bytes]:
    """Return the sentences of a CoNLL-U file, each with the empty line that ends it."""
    return [block + b"\n\n" for block in path.read_bytes().split(b"\n\n") if block.strip()]


def repeated(blocks: Sequence[bytes], sentences: int) -> Iterator[bytes]:
    """Yield a number of sentences by cycling through the blocks."""
    return itertools.islice(itertools.cycle(blocks), sentences)


class Peak:
    """Peak memory of some processes and their descendants together, sampled ten times per second."""

    def __init__(self, pids: Sequence[int]):
        self.pids, self.most, self.running = pids, 0, True
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self) -> None:
        while self.running:
            self.most = max(self.most, sum(map(held, self.pids)))
            time.sleep(0.1)

    def stop(self) -> float:
        """Stop sampling and return the peak in MiB."""
        self.running = False
        self.thread.join()
        return self.most / 1024


def held(pid: int) -> int:
    """Return the memory in KiB of a process and its descendants.

    It is the sum of their anonymous pages, where each shared page counts once, and the mapped files of the first
    process. The proportional size of mapped files is not used, because it depends on the other Python processes of the
    machine.
    """
    sizes = _memory(pid)
    return sizes.get("Rss", 0) - sizes.get("Anonymous", 0) + sum(_memory(p).get("Pss_Anon", 0) for p in family(pid))


def family(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    try:
        children = [
            int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()
        ]
    except OSError:  # the process has ended
        return []
    return [pid, *itertools.chain.from_iterable(map(family, children))]


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process and its running descendants."""
    total = 0
    for each in family(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def _memory(pid: int) -> dict[str, int]:
    """Return memory sizes in KiB by kind, as Linux reports them. The result is empty for a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)}
