"""Work on many items in several processes: forked ones on this machine, or those of a Dask cluster.

    for text in spread(annotate, parser, documents, workers=2): ...
    for text in spread(annotate, parser, documents, scheduler="tcp://10.0.0.1:8786"): ...

Results are those of `function(shared, item)` in one process, whatever the number of workers: nothing that a worker does
depends on another. Items are taken as they are needed and few are on the way at a time, so memory does not grow with
their number.
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

BATCH = 100  #: short items that a worker is given at a time
AHEAD = 4  #: items that are on the way for each worker
PR_SET_PDEATHSIG = 1  #: of Linux's prctl: a signal for this process when its parent ends


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
    """function(shared, item) of every item, in the order of the items, or as they are done if not `ordered`.

    shared     what every call needs; goes to each worker once
    workers    processes on this machine; 1: this one. Without effect where a scheduler is given
    scheduler  address of a Dask scheduler, whose workers do all the work; a worker that ends is replaced by another.
               `function` is a module's, and shared, items and results can be pickled
    ordered    if not, a cluster gets all items at once: for items that are few and long
    short      items take moments: work on the first one here, so that processes are not made for one item alone, and
               inherit compiled kernels that each would otherwise have to load, or to compile

    Raises what `function` raises, what `items` raise after the results of the items before, TreeboundError where
    workers are lost, InputError where a cluster cannot be used.
    """
    faults: list[Exception] = []
    items = _sound(items, faults)
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
    """The results of `count` short items, in order; function(shared, (begin, end)) lists those of the items of a batch.

    progress  (results, what) -> the same results, told as they come; the rest as for `spread`
    """
    batches = [(begin, min(begin + BATCH, count)) for begin in range(0, count, BATCH)]
    found = spread(function, shared, batches, workers=workers, scheduler=scheduler, short=True)
    each = (result for of_batch in found for result in of_batch)
    return list(progress(each, "parse") if progress else each)


def blocks(count: int, size: int) -> list[range]:
    """Divide `count` short items into ranges for `spread`: `size` items in each but the first and the last ones.

    The first range is worked on before there are workers, and the last ones decide how long one worker is busy when
    the others have ended: they have an eighth of the items.
    """
    few = max(1, size // 8)
    middle = max(few, count - size)
    starts = [0, *range(few, middle, size), *range(middle, count, few), count]
    return [range(begin, end) for begin, end in pairwise(starts) if begin < end]


def _sound(items: Iterable[Item], faults: list[Exception]) -> Iterator[Item]:
    """The items up to an exception, which is kept."""
    try:
        yield from items
    except Exception as fault:
        faults.append(fault)


def _local(
    function: Callable[[Any, Any], Any], shared: Any, items: Iterable, workers: int, ordered: bool
) -> Iterator[Any]:
    """Forked processes share memory and compiled kernels with this one; nothing is sent but items and results.

    Where processes cannot be forked, threads take their place; they share one interpreter and so are slower.
    """
    pool: Executor
    if sys.platform == "linux":
        context = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(workers, context, _begin, (function, shared))  # forked before anything is sent
        submit = lambda item: pool.submit(_given, item)  # noqa: E731
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
    """The result of the first item that is waited for, or of one that is done."""
    if not ordered:
        wait(waiting, return_when=FIRST_COMPLETED)
        done = next(future for future in waiting if future.done())
        waiting.remove(done)
        return done.result()
    return waiting.popleft().result()


_work: tuple[Callable[[Any, Any], Any], Any]  # of a forked process: function and what its calls share


def _begin(function: Callable[[Any, Any], Any], shared: Any) -> None:
    """The start of a forked process. It ends with its parent, and silently on Control-C."""
    global _work
    _work = function, shared
    gc.freeze()  # what was there before is not looked at for cycles, nor are its pages copied
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _given(item: Any) -> Any:
    function, shared = _work
    return function(shared, item)
