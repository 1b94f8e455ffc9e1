"""The tables, figures and pages of the committed reference made again from its metrics, with today's wording.

    python -m treebound.report.again [--notebooks build/again] [--computed FOLDER] [--out FOLDER]

Nothing is computed: no model, no parse. A page that shows models or single sentences (a code cell of its notebook is
tagged `computed`), which a reference is committed without, is taken over from its report as it is, and so is a table
that needs parses. With --computed, the folder in which the reference was computed, such a page reads them there. With
--out, the pages alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from treebound.core.errors import InputError
from treebound.experiments import params as parameters
from treebound.report import collect
from treebound.report.command import status
from treebound.report.execute import execute, read
from treebound.report.export import export
from treebound.report.render import render
from treebound.report.tables.targets import KEPT

#: folders of what a reference is committed without
NOT_KEPT = ("results/models", "results/predictions", "data/converted")
#: of a notebook's cell that reads them, and what a page shows by it
TAG, SHOWN = "computed", "models or single sentences"


def project(kept: Path, root: Path, computed: Path | None = None) -> Path:
    """A project in the folder `root` whose own run is the reference in `kept`, as it was before its pages were made.

    computed  folder in which the reference was computed; what was committed without is linked from there
    """
    (root / "results" / "reference").mkdir(parents=True)
    shutil.copyfile(kept / "params.yaml", root / "params.yaml")
    shutil.copyfile(kept.parents[1] / "dvc.yaml", root / "dvc.yaml")
    for name in ("metrics", "tables"):
        shutil.copytree(kept / name, root / "results" / name)
    for name in ("multilingual", "patterns"):
        shutil.copytree(kept / name, root / "results" / "reference" / name)
    shutil.copyfile(kept / "run.json", root / collect.ORIGIN)
    if (targets := kept / KEPT.name).is_file():
        shutil.copyfile(targets, root / KEPT)
    if computed:
        for name in NOT_KEPT:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).symlink_to(computed / name, target_is_directory=True)
    return root


def again(checkout: Path, notebooks: Path, out: Path | None = None, computed: Path | None = None) -> list[str]:
    """Execute the notebooks of a checkout into `notebooks` and render them into `out`; what was taken over, and why.

    out       folder of the pages; None to put pages, tables and figures in the place of the reference's
    computed  folder in which the reference was computed, with its models and parses; None where it is gone

    Raises InputError where there is no reference, or nothing computed in that folder.
    """
    kept, pages, said, before = checkout / "results" / "reference", [], [], Path.cwd()
    if not (kept / "run.json").is_file():
        raise InputError("no reference run", path=kept, hint="make reference")
    if computed and not (computed / "results" / "predictions").is_dir():
        raise InputError("nothing was computed here", path=computed, hint="the folder of the run, build/reference")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(root := project(kept, Path(folder) / "project", computed))
        try:
            if out is None:
                said += export(root, kept)
            for name in parameters.load(checkout / "params.yaml").notebooks:
                source, older = checkout / "notebooks" / f"{name}.ipynb", kept / "report" / f"{name}.html"
                if computed or not shows_what_is_not_kept(source):
                    pages.append(execute(source, notebooks / f"{name}.ipynb"))
                else:
                    said.append(f"{'taken over' if older.is_file() else 'left out'}: {name}, which shows {SHOWN}")
                    pages += [older] * older.is_file()
            render(pages, out or kept / "report")
        finally:
            os.chdir(before)
    return said


def shows_what_is_not_kept(notebook: Path) -> bool:
    """Whether one of its cells is tagged so. Raises InputError where there is no such notebook."""
    return any(TAG in cell.metadata.get("tags", ()) for cell in read(notebook).cells)


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m treebound.report.again", description=__doc__.partition("\n")[0])
    parser.add_argument("--notebooks", type=Path, default=Path("build/again"), help="where executed notebooks are kept")
    parser.add_argument("--computed", type=Path, help="folder in which the reference was computed: build/reference")
    parser.add_argument("--out", type=Path, help="folder for the pages alone, instead of all in results/reference")
    args = parser.parse_args(argv)

    def work() -> None:
        out = args.out.resolve() if args.out else None
        computed = args.computed.resolve() if args.computed else None
        for line in again(collect.find_root().resolve(), args.notebooks.resolve(), out, computed):
            print(line, file=sys.stderr)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
