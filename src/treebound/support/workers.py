"""Parallel work on many items, by forked processes on this machine or by the workers of a Dask cluster.

    for text in spread(annotate, parser, documents, workers=2): ...
    for text in spread(annotate, parser, documents, scheduler="tcp://10.0.0.1:8786"): ...

The results are the same as in one process, whatever the number of workers, because no call
depends on another. Items are consumed on demand and few are in progress at a time, so memory does not grow with their
number.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice, pairwise
from typing import Any, TypeVar

from treebound.core.errors import TreeboundError

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH = 100  #: short items in a batch
AHEAD = 4  #: items in progress per worker
PR_SET_PDEATHSIG = 1  #: option of Linux's prctl: send this process a signal when its parent ends


def spread(
    function: Callable[[Shared, Item], Result],
    shared: Shared,
    items: Iterable[Item],
    *,
    workers: int = 1,
    scheduler: str | None = None,
    ordered: bool = True,
    short: bool = False,
) -> Generator[Result, None, None]:
    """Yield the result function(shared, item) for every item.

    Parameters
    ----------
    function
        Function of two arguments. With a scheduler, it must be defined in a module.
    shared
        First argument of every call; sent to each worker once.
    items
        Second arguments of the calls. With a scheduler, shared data, items and results must be picklable.
    workers
        Number of processes on this machine; 1 computes in this process. Ignored if a scheduler is given.
    scheduler
        Address of a Dask scheduler, whose workers do all the work. A worker that is lost is replaced by another one.
    ordered
        Whether results come in the order of the items, or as soon as they are ready. If not, a cluster gets all items
        at once, which suits few long items.
    short
        Whether items take moments. If so, the first item is computed in this process: no processes are started for a
        single item, and forked processes inherit compiled kernels instead of loading or compiling them.

    Raises
    ------
    Exception
        Whatever `function` raises. Whatever `items` raises, after the results of the items before.
    TreeboundError
        If workers are lost.
    InputError
        If the cluster cannot be used.
    """
    faults: list[Exception] = []
    items = _until_fault(items, faults)
    if scheduler is not None:
        from treebound.support import cluster

        yield from cluster.spread(function, shared, items, scheduler, ordered)
    elif workers == 1:
        for item in items:
            yield function(shared, item)
    else:
        for item in islice(items, short):
            yield function(shared, item)
        yield from _local(function, shared, items, workers, ordered)
    if faults:
        raise faults[0]


def in_batches(
    function: Callable[[Shared, tuple[int, int]], list[Result]],
    shared: Shared,
    count: int,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Callable[[Iterable, str], Iterable] | None = None,
) -> list[Result]:
    """Return the results of `count` short items in order, computed in batches.

    function  function(shared, (begin, end)) returns the list of the results of items begin to end - 1
    progress  function that takes the results and the name of the loop, and yields the results while it shows progress

    The other parameters have the same meaning as for `spread`.
    """
    batches = [(begin, min(begin + BATCH, count)) for begin in range(0, count, BATCH)]
    results = spread(function, shared, batches, workers=workers, scheduler=scheduler, short=True)
    single_results = (result for of_batch in results for result in of_batch)
    return list(progress(single_results, "parse") if progress else single_results)


def blocks(count: int, size: int) -> list[range]:
    """Divide `count` short items into ranges of `size` items for `spread`, with smaller ranges at both ends.

    The first range is computed before workers start, and the last ranges decide how long one worker is still busy after
    the others have ended. The smaller ranges have an eighth of `size` items.
    """
    few = max(1, size // 8)
    middle = max(few, count - size)
    starts = [0, *range(few, middle, size), *range(middle, count, few), count]
    return [range(begin, end) for begin, end in pairwise(starts) if begin < end]


def _until_fault(items: Iterable[Item], faults: list[Exception]) -> Iterator[Item]:
    """Yield the items up to an exception, which is appended to `faults`."""
    try:
        yield from items
    except Exception as fault:
        faults.append(fault)


def _local(
    function: Callable[[Any, Any], Any], shared: Any, items: Iterable, workers: int, ordered: bool
) -> Iterator[Any]:
    """Yield the results of workers on this machine.

    Forked processes share memory and compiled kernels with this process, so only items and results are sent. Where
    processes cannot be forked, threads are used, which are slower because they share one interpreter.
    """
    pool: Executor
    if sys.platform == "linux":
        context = multiprocessing.get_context("fork")
        # processes fork before anything is sent
        pool = ProcessPoolExecutor(workers, context, _initialise, (function, shared))
        submit = lambda item: pool.submit(_call_work, item)  # noqa: E731
    else:
        pool = ThreadPoolExecutor(workers)
        submit = lambda item: pool.submit(function, shared, item)  # noqa: E731
    waiting: deque[Future] = deque()
    try:
        for item in items:
            waiting.append(submit(item))
            if len(waiting) == AHEAD * workers:
                yield _next(waiting, ordered)
        while waiting:
            yield _next(waiting, ordered)
    except BrokenProcessPool:
        raise TreeboundError("a worker process was killed", hint="if memory ran out, use fewer workers") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _next(waiting: deque[Future], ordered: bool) -> Any:
    """Remove and return the first result, or with `ordered` False any result that is ready."""
    if not ordered:
        wait(waiting, return_when=FIRST_COMPLETED)
        done = next(future for future in waiting if future.done())
        waiting.remove(done)
        return done.result()
    return waiting.popleft().result()


_work: tuple[Callable[[Any, Any], Any], Any]  # set in a forked process: function and shared data


def _initialise(function: Callable[[Any, Any], Any], shared: Any) -> None:
    """Initialise a forked process, so that it ends with its parent, and silently on Control-C."""
    global _work
    _work = function, shared
    gc.freeze()  # the collector skips existing objects, so their memory pages are not copied
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _call_work(item: Any) -> Any:
    """Call the function that `_initialise` stored in this forked process, with one item."""
    function, shared = _work
    return function(shared, item)
