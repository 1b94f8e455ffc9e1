"""Run the commands of this package and report their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable

from treebound.core.errors import TreeboundError


def status(work: Callable[[], object]) -> int:
    """Run `work` and return the exit status. An error of treebound becomes one line on standard error."""
    try:
        work()
    except TreeboundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
