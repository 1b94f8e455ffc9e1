"""The workers of a Dask cluster, through joblib's Dask backend. See docs/cluster.md and `support.workers.spread`.

Every call of joblib gets a limited number of items, and the next one begins before the last one has ended: so few items
are held at a time, and workers need not wait for each other.
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

AHEAD = 2  #: items for each thread of the cluster in one call of joblib; two calls are under way at a time
#: Dask keeps the last 1,000 messages of each connection, and ours hold a hundred sentences each
FEW_MESSAGES = {"distributed.admin.low-level-log-length": 10}
PATIENCE = 20  #: seconds within which the scheduler must answer and have a worker


class Backend(DaskDistributedBackend):
    """joblib's Dask backend with two corrections (joblib 1.6).

    With one worker thread it would leave the cluster aside and compute in this process; and it waits for ever for a
    task that is lost, since only results are passed on to whoever waits, not the scheduler's errors.
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
    """As `support.workers.spread`."""
    with _connected(scheduler) as client:
        # the result of a task, not scattered data: it is made again if all workers that hold it are lost
        given = client.submit(pickle.loads, cloudpickle.dumps(shared), pure=False)

        def begin(some: list) -> Generator:
            parallel = Parallel(
                n_jobs=-1,
                backend=Backend(client=client, wait_for_workers_timeout=PATIENCE),
                batch_size=1,
                pre_dispatch="all",
                return_as="generator" if ordered else "generator_unordered",
            )
            # an item in a tuple goes with its task; joblib would scatter it to one worker, and lose it with that one
            return parallel(delayed(_call)(function, given, (item,)) for item in some)

        rest, running = iter(items), deque[Generator]()
        try:
            while some := list(islice(rest, AHEAD * max(1, sum(client.ncores().values())) if ordered else None)):
                running.append(begin(some))
                if len(running) == 2:
                    yield from running.popleft()
            for results in running:
                yield from results
        except KilledWorker as error:
            raise TreeboundError(
                f"{scheduler}: workers died of the same task again and again ({error.task})",
                hint="their logs say why; often they have too little memory",
            ) from None
        except (CancelledError, FutureCancelledError, CommClosedError):
            raise TreeboundError(f"{scheduler}: the scheduler has gone", hint="start it and this again") from None
        finally:
            for results in running:
                results.close()


def _call(function: Callable[[Any, Any], Any], shared: Any, item: tuple[Any]) -> Any:
    return function(shared, item[0])


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """A client of the scheduler, whose workers are there and run this very program."""
    if not re.fullmatch(r"(\w+://)?[^/\s]+:\d+/?", scheduler):
        raise InputError(f"{scheduler!r} is no address", hint="give one like tcp://HOST:8786")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what fails is raised; a traceback helps nobody
    try:
        with dask.config.set(FEW_MESSAGES):
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{scheduler}: no scheduler ({reason})", hint="start one with: dask scheduler") from None
    with client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # a model is large, and goes once
        warnings.filterwarnings("ignore", ".*tasks")  # joblib on calls that are given up after an error
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(f"{scheduler}: no worker", hint=f"start one with: dask worker {scheduler}") from None
        try:
            digests = client.run(digest)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{scheduler}: a worker cannot import treebound ({reason})", hint="install this version there"
            ) from None
        here = digest()
        for worker, found in digests.items():
            if found != here:
                raise InputError(f"{scheduler}: {worker} runs another treebound", hint="install this version there")
        yield client


@cache
def digest() -> str:
    """Identifies the program: a hash of the sources of this package."""
    found, here = hashlib.blake2b(digest_size=16), Path(__file__).parent
    for source in sorted(here.rglob("*.py")):
        found.update(f"{source.relative_to(here).as_posix()}\0".encode() + source.read_bytes())
    return found.hexdigest()
