"""What the command lines of this package have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable

from treebound.core.errors import TreeboundError


def status(work: Callable[[], object]) -> int:
    """Do it; the exit status. An error of use is one line on standard error."""
    try:
        work()
    except TreeboundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
