"""Work in several processes: same results in the same order, few items in memory, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studies.common.cores import cores
from treebound.core.errors import InputError, TreeboundError
from treebound.support.workers import AHEAD, blocks, in_batches, spread


def square(shared: int, item: int) -> int:
    return shared + item * item


def slow_first(shared: None, item: int) -> int:
    """Return the item, with a delay for the first item."""
    time.sleep(0.3 if item == 0 else 0.0)
    return item


def process_id(shared: None, item: int) -> int:
    return os.getpid()


def refuse(limit: int, item: int) -> int:
    if item == limit:
        raise InputError("is too much", path="item", line=item, hint="take less")
    return item


def end(last: int, item: int) -> int:
    if item == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("items", [0, 1, 5, 40])
def test_results_are_those_of_one_process_in_order(workers: int, short: bool, items: int) -> None:
    assert list(spread(square, 7, range(items), workers=workers, short=short)) == [7 + i * i for i in range(items)]


def test_results_are_ordered_unless_order_does_not_matter() -> None:
    assert list(spread(slow_first, None, range(6), workers=2)) == list(range(6))
    results = list(spread(slow_first, None, range(6), workers=2, ordered=False))
    assert sorted(results) == list(range(6))
    assert results[0] != 0


def test_several_processes_work_and_a_short_item_alone_needs_none() -> None:
    assert len(set(spread(process_id, None, range(200), workers=2)) - {os.getpid()}) == 2
    assert list(spread(process_id, None, range(1), workers=2, short=True)) == [os.getpid()]


@pytest.mark.parametrize("workers", [1, 2])
def test_items_are_taken_as_they_are_needed(workers: int) -> None:
    taken = 0

    def items():
        nonlocal taken
        while taken < 1000:
            taken += 1
            yield taken

    ahead = []
    for done, _ in enumerate(spread(square, 0, items(), workers=workers), 1):
        ahead.append(taken - done)
    assert taken == 1000
    assert max(ahead) < AHEAD * workers


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_the_work_arrive_as_they_are(workers: int) -> None:
    with pytest.raises(InputError, match="item:3: is too much; take less") as caught:
        list(spread(refuse, 3, range(10), workers=workers))
    assert caught.value.line == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_read_before_an_error_is_still_done(workers: int) -> None:
    def items():
        yield from range(3)
        raise InputError("line 4 is broken")

    results = spread(square, 0, items(), workers=workers)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(InputError, match="line 4"):
        next(results)


def test_a_killed_worker_is_an_error_that_says_so() -> None:
    with pytest.raises(TreeboundError, match="a worker process was killed; if memory ran out, use fewer workers"):
        list(spread(end, 2, range(20), workers=2))


ORPHANS = """
import os, sys, time
from treebound.support.workers import in_batches, spread

def sleep(shared, item):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(60)

list(spread(sleep, None, range(2), workers=2))
"""


def alive(pid: int) -> bool:
    """Return whether a process runs. A zombie process does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are threads")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(how: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(parent.stdout.readline()) for _ in range(2)]
    assert all(map(alive, pids))
    parent.send_signal(how)
    parent.wait()
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def _squares(shared: int, part: tuple[int, int]) -> list[int]:
    return [shared * i * i for i in range(*part)]


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
@pytest.mark.parametrize("workers", [1, 2])
def test_batches_lose_nothing(count: int, workers: int) -> None:
    messages: list[str] = []
    progress = lambda items, what: messages.append(what) or items  # noqa: E731
    assert in_batches(_squares, 3, count, workers=workers, progress=progress) == [3 * i * i for i in range(count)]
    assert messages == ["parse"]


@pytest.mark.parametrize("size", [1, 2, 8, 32])
def test_blocks_hold_every_item_once(size: int) -> None:
    for count in (0, 1, 3, 4, 31, 32, 36, 37, 100, 2077):
        ranges = blocks(count, size)
        assert [i for some in ranges for i in some] == list(range(count))
        assert all(0 < len(some) <= size for some in ranges)
        assert not ranges or max(len(ranges[0]), len(ranges[-1])) <= max(1, size // 8)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not restrict a process to cores")
def test_a_stage_counts_only_the_cores_that_it_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    assert 1 <= cores() <= len(allowed)
    code = "from studies.common.cores import cores; print(cores())"
    code = f"import os; os.sched_setaffinity(0, {{{min(allowed)}}}); {code}"
    restricted = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert restricted.stdout == "1\n"
