"""The tables and figures of a run as files, CSV and Markdown, SVG and PNG, and its verdicts on the papers' claims.

    python -m studies.site.export FOLDER [--only TABLE...]

Writes FOLDER/tables, FOLDER/figures and FOLDER/claims.csv from the results of the project in the working folder; what
stood there before is replaced. With --only, some tables and nothing else. A table or figure that the run has no
results for is left out, with a line that says so.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from studies.common.paths import modules_of_questions
from studies.site import claims, collect
from studies.site.collect import Results
from studies.site.command import status
from studies.site.show import NOTHING, is_p, p_value
from treebound.core.errors import InputError
from treebound.plots.style import style
from treebound.plots.svg import as_svg
from treebound.support.atomic import replacing

Tables = dict[str, tuple[str, Callable[[Results], pd.DataFrame]]]  #: name of the files -> (title, table)
Figures = dict[str, tuple[str, Callable[[Results], Figure]]]  #: name of the files -> (what there is to see, figure)
FOLDERS = ("tables", "figures")
DPI = 150


def registered(what: str) -> dict[str, tuple[str, Callable[[Results], Any]]]:
    """Collect TABLES or FIGURES from `files.py` of every question that has one."""
    entries: dict[str, tuple[str, Callable[[Results], Any]]] = {}
    for _, module in modules_of_questions("files"):
        entries |= getattr(module, what, {})
    return entries


def export(root: Path, out: Path, only: Sequence[str] = ()) -> list[str]:
    """Write tables and figures of the run in the project `root` under `out`; returns what was left out, and why.

    only  names of tables: these alone, no figures and no claims
    """
    run, tables = collect.this_run(root), registered("TABLES")
    wanted = {name: tables[name] for name in only or tables}
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:  # what stood there stays until all is written
        fresh = Path(folder)
        for name in FOLDERS:
            (fresh / name).mkdir()
        left_out = _written(run, wanted, {} if only else registered("FIGURES"), fresh)
        if not only:
            claims.write(root, run, out / claims.NAME)
        for name in FOLDERS:
            shutil.rmtree(out / name, ignore_errors=True)
            os.replace(fresh / name, out / name)
    return left_out


def _written(run: Results, wanted: Tables, drawn: Figures, out: Path) -> list[str]:
    """Write these into the folders of `out`; what was left out, and why."""
    left_out = []
    for name, (title, table) in wanted.items():
        try:
            data = table(run)
        except InputError as error:
            left_out.append(f"table {name}: {error}")
            continue
        if data.empty:
            left_out.append(f"table {name}: this run has no such rows")
            continue
        _write(out / "tables" / f"{name}.csv", data.to_csv(lineterminator="\n").encode())
        _write(out / "tables" / f"{name}.md", f"# {title}\n\n{markdown(data)}\n".encode())
    for name, (title, draw) in drawn.items():
        try:
            figure = draw(run)
        except InputError as error:
            left_out.append(f"figure {name}: {error}")
            continue
        as_svg(figure, title).save(out / "figures" / f"{name}.svg")
        _write(out / "figures" / f"{name}.png", _png(figure))
    return left_out


def markdown(data: pd.DataFrame) -> str:
    """A DataFrame as a table of GitHub's Markdown; levels of columns are joined, floats have two decimals, p three."""
    flat = data.reset_index()
    names = [" ".join(str(part) for part in _levels(column) if str(part)) for column in flat.columns]
    last = [str(_levels(column)[-1]) for column in flat.columns]
    rows = [
        [_cell(value, name) for value, name in zip(row, last, strict=True)]
        for row in flat.itertuples(index=False, name=None)
    ]
    numbers = [pd.api.types.is_numeric_dtype(kind) for kind in flat.dtypes]
    rule = ["---:" if number else "---" for number in numbers]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [names, rule, *rows])


def _levels(label: object) -> tuple:
    return label if isinstance(label, tuple) else (label,)


def _cell(value: object, name: str) -> str:
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if pd.isna(value):
        return NOTHING
    if isinstance(value, float):
        return p_value(value) if is_p(name) else f"{value:.2f}"
    return str(value)


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    with style():
        figure.savefig(out, format="png", dpi=DPI, metadata={"Software": None})
    return out.getvalue()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies.site.export", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where tables/ and figures/ are written")
    parser.add_argument(
        "--only", nargs="+", choices=list(registered("TABLES")), default=(), metavar="TABLE", help="some tables"
    )
    arguments = parser.parse_args(argv)

    def work() -> None:
        for line in export(collect.find_root(), arguments.folder, arguments.only):
            print(f"left out: {line}", file=sys.stderr)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
