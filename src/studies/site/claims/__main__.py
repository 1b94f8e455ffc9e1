"""Write results/reference/claims.csv from the committed reference run: `python -m studies.site.claims`."""

from __future__ import annotations

import sys

from studies.site import collect
from studies.site.claims.show import NAME, write
from studies.site.command import status
from treebound.core.errors import InputError


def update() -> None:
    """Judge the reference run of this project and write its claims.csv."""
    root = collect.find_root()
    run = collect.reference(root)
    if run is None:
        raise InputError("there is no reference run", hint="make one with `make reference`")
    write(root, run, run.folder / NAME)


if __name__ == "__main__":
    sys.exit(status(update))
