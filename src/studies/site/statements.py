"""Sample statements of the pages, each with the cells that it was computed from, for proofreading.

    python -m studies.site.statements [--notebooks results/notebooks] [--sample 50] [--seed 0]

The sample takes one statement from each page in turn, so that it does not consist mainly of statements of long pages.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from studies.site.command import status
from studies.site.execute import read
from studies.site.show import STATEMENTS
from treebound.core.errors import InputError


class Statement(NamedTuple):
    """A sentence that a page computed, with its page, its heading and its cells."""

    page: str
    section: str
    says: str
    cells: str


def statements(folder: Path) -> dict[str, list[Statement]]:
    """Map each page to its statements, in order. Raises InputError if the folder has no statements."""
    by_page: dict[str, list[Statement]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        section = "top"
        for cell in read(path).cells:
            for title in re.findall("^## (.*)$", cell.source, re.M) if cell.cell_type == "markdown" else ():
                section = title
            for output in cell.get("outputs", ()):
                for entry in output.get("data", {}).get(STATEMENTS, ()):
                    stated = Statement(path.stem, section, entry["says"], entry["cells"])
                    by_page.setdefault(path.stem, []).append(stated)
    if not by_page:
        raise InputError("no executed notebooks with statements", path=folder, hint="run studies.site.execute first")
    return by_page


def sample(by_page: dict[str, list[Statement]], count: int, seed: int) -> list[Statement]:
    """Draw `count` statements without repetition, taking one from each page in turn."""
    draw = random.Random(seed)
    remaining = {page: draw.sample(pool, len(pool)) for page, pool in sorted(by_page.items())}
    drawn: list[Statement] = []
    while len(drawn) < count and any(remaining.values()):
        drawn += [pool.pop() for pool in remaining.values() if pool]
    return sorted(drawn[:count])


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies.site.statements", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--notebooks",
        type=Path,
        default=Path("results/notebooks"),
        help="folder of executed notebooks (default: %(default)s)",
    )
    parser.add_argument(
        "--sample", type=int, default=50, metavar="N", help="number of statements to sample (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the sample (default: %(default)s)")
    args = parser.parse_args(argv)

    def work() -> None:
        for number, statement in enumerate(sample(statements(args.notebooks), args.sample, args.seed), 1):
            print(
                f"{number}. [{statement.page}, {statement.section}]", textwrap.fill(statement.says, 110), "", sep="\n"
            )
            print(textwrap.indent(statement.cells, "    "), "", sep="\n")

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
