"""The reference of the Python interface, from docstrings: `make docs` writes it to build/docs, to be read offline."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pdoc

import treebound

#: what users import; `!` leaves out the modules below
PAGES = (
    "treebound",
    r"!treebound\.",
    "treebound.scores",
    "treebound.systems.graph.parser",
    "treebound.core.problem",
    "treebound.core.parse",
    "treebound.core.labelled",
    "treebound.core.errors",
    "treebound.decoders.exact.branch_and_bound.decoder",
    "treebound.decoders.confidence",
    "treebound.evaluation.certificates",
    "treebound.constraints",
    "treebound.treebanks.document",
)


def main() -> None:
    """Write the pages; index.html is the first."""
    output = Path("build/docs")
    for name in treebound.__all__:  # pdoc sees what a module holds, and these are there when they are asked for
        setattr(treebound, name, getattr(treebound, name))
    warnings.filterwarnings("ignore", "Error parsing type annotation")  # shown as they are written
    pdoc.render.configure(template_directory=Path(__file__).parent, show_source=False)
    shutil.rmtree(output, ignore_errors=True)
    pdoc.pdoc(*PAGES, output_directory=output)
    print(f"documentation: {output.resolve() / 'index.html'}")


if __name__ == "__main__":
    main()
