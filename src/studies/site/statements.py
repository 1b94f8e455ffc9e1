"""Statements of the pages, sampled, each with the cells that it rests on: to be read one by one.

    python -m studies.site.statements [--notebooks results/notebooks] [--sample 50] [--seed 0]

Every page is drawn from in turn, so that long pages do not crowd out short ones.
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
    """A sentence that a page computed: on which page, under which heading, and from what."""

    page: str
    section: str
    says: str
    cells: str


def statements(folder: Path) -> dict[str, list[Statement]]:
    """Page -> its statements, in order. Raises InputError where the folder has no executed notebooks."""
    found: dict[str, list[Statement]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        section = "top"
        for cell in read(path).cells:
            for title in re.findall("^## (.*)$", cell.source, re.M) if cell.cell_type == "markdown" else ():
                section = title
            for output in cell.get("outputs", ()):
                for one in output.get("data", {}).get(STATEMENTS, ()):
                    stated = Statement(path.stem, section, one["says"], one["cells"])
                    found.setdefault(path.stem, []).append(stated)
    if not found:
        raise InputError("no executed notebooks with statements", path=folder, hint="run studies.site.execute")
    return found


def sample(found: dict[str, list[Statement]], count: int, seed: int) -> list[Statement]:
    """So many of them, without repetition, page after page."""
    draw = random.Random(seed)
    left = {page: draw.sample(said, len(said)) for page, said in sorted(found.items())}
    out: list[Statement] = []
    while len(out) < count and any(left.values()):
        out += [said.pop() for said in left.values() if said]
    return sorted(out[:count])


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies.site.statements", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--notebooks", type=Path, default=Path("results/notebooks"), help="folder of executed notebooks"
    )
    parser.add_argument("--sample", type=int, default=50, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (default: %(default)s)")
    args = parser.parse_args(argv)

    def work() -> None:
        for number, one in enumerate(sample(statements(args.notebooks), args.sample, args.seed), 1):
            print(f"{number}. [{one.page}, {one.section}]", textwrap.fill(one.says, 110), "", sep="\n")
            print(textwrap.indent(one.cells, "    "), "", sep="\n")

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
