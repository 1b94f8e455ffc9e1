"""Parallel work on a Dask cluster, through joblib's Dask backend; see `support.workers.spread`.

Items are passed to joblib in calls of limited size, and the next call begins before the last one has ended. Therefore
few items are held at a time, and workers do not wait for each other. docs/cluster.md describes how to use a cluster.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
import warnings
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError as FutureCancelledError
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError, TreeboundError
from treebound.support.extras import needs

with needs("cluster"):
    import cloudpickle
    import dask
    from distributed import Client
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
    from joblib import Parallel, delayed
    from joblib._dask import DaskDistributedBackend

AHEAD = 2  #: items per thread of the cluster in one call of joblib; two calls run at a time
#: Dask keeps the last 1,000 messages of each connection; a message here holds a hundred sentences, so 10 are kept
FEW_MESSAGES = {"distributed.admin.low-level-log-length": 10}
PATIENCE = 20  #: seconds within which the scheduler must answer, and must have a worker


class Backend(DaskDistributedBackend):
    """joblib's Dask backend with two corrections (joblib 1.6).

    The original backend computes in this process if the cluster has a single worker thread. It also waits for ever for
    a lost task, because it passes on results but not the scheduler's errors.
    """

    def effective_n_jobs(self, n_jobs: int = 1) -> int:
        return max(2, super().effective_n_jobs(n_jobs))

    def submit(self, func: Any, callback: Any = None) -> Any:
        future = super().submit(func, callback)
        future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)


def spread(
    function: Callable[[Any, Any], Any], shared: Any, items: Iterable, scheduler: str, ordered: bool
) -> Iterator[Any]:
    """Yield the result function(shared, item) for every item, computed on a cluster; see `support.workers.spread`."""
    with _connected(scheduler) as client:
        # shared data is the result of a task, because Dask recomputes results, but not scattered data, of lost workers
        remote = client.submit(pickle.loads, cloudpickle.dumps(shared), pure=False)

        def begin(some: list) -> Generator:
            parallel = Parallel(
                n_jobs=-1,
                backend=Backend(client=client, wait_for_workers_timeout=PATIENCE),
                batch_size=1,
                pre_dispatch="all",
                return_as="generator" if ordered else "generator_unordered",
            )
            # joblib would scatter a bare item to one worker, and lose it with this worker
            # an item in a tuple is part of its task
            return parallel(delayed(_call)(function, remote, (item,)) for item in some)

        remaining, running = iter(items), deque[Generator]()
        try:
            while some := list(islice(remaining, AHEAD * max(1, sum(client.ncores().values())) if ordered else None)):
                running.append(begin(some))
                if len(running) == 2:
                    yield from running.popleft()
            for results in running:
                yield from results
        except KilledWorker as error:
            raise TreeboundError(
                f"{scheduler}: several workers died while they ran the same task ({error.task})",
                hint="look into their logs; a frequent reason is too little memory",
            ) from None
        except (CancelledError, FutureCancelledError, CommClosedError):
            raise TreeboundError(
                f"{scheduler}: the connection to the scheduler was lost",
                hint="start the scheduler and this command again",
            ) from None
        finally:
            for results in running:
                results.close()


def _call(function: Callable[[Any, Any], Any], shared: Any, item: tuple[Any]) -> Any:
    """Call a function with the shared data and one item."""
    return function(shared, item[0])


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """Yield a client of the scheduler, after checking its workers.

    Raises InputError if the scheduler does not answer, has no worker, or if a worker runs another version of treebound.
    """
    if not re.fullmatch(r"(\w+://)?[^/\s]+:\d+/?", scheduler):
        raise InputError(f"{scheduler!r} is not an address", hint="give an address such as tcp://HOST:8786")
    # errors are raised below, and tracebacks would only repeat them
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        with dask.config.set(FEW_MESSAGES):
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{scheduler}: no scheduler answers ({reason})", hint="start one with: dask scheduler"
        ) from None
    with client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # a model is large, and is sent once
        warnings.filterwarnings("ignore", ".*tasks")  # joblib warns of calls that are cancelled after an error
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(
                f"{scheduler}: the scheduler has no worker", hint=f"start one with: dask worker {scheduler}"
            ) from None
        try:
            digests = client.run(digest)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{scheduler}: a worker cannot import treebound ({reason})", hint="install this version there"
            ) from None
        ours = digest()
        for worker, theirs in digests.items():
            if theirs != ours:
                raise InputError(
                    f"{scheduler}: {worker} runs another version of treebound", hint="install this version there"
                )
        yield client


@cache
def digest() -> str:
    """Return a hash of the sources of this package, which identifies the version of the program."""
    checksum, package = hashlib.blake2b(digest_size=16), Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        checksum.update(f"{source.relative_to(package).as_posix()}\0".encode() + source.read_bytes())
    return checksum.hexdigest()
