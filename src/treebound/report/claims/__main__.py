"""Write results/reference/claims.csv from the committed reference run: `python -m treebound.report.claims`."""

from __future__ import annotations

import sys

from treebound.core.errors import InputError
from treebound.report import collect
from treebound.report.claims.show import NAME, write
from treebound.report.command import status


def update() -> None:
    """Judge the reference run of this project."""
    root = collect.find_root()
    run = collect.reference(root)
    if run is None:
        raise InputError("there is no reference run", hint="make reference")
    write(root, run, run.folder / NAME)


if __name__ == "__main__":
    sys.exit(status(update))
