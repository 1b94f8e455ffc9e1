"""Write the tables and figures of a run as files, and its verdicts on the claims of the papers.

    python -m studies.site.export FOLDER [--only TABLE...]

The command writes FOLDER/tables (CSV and Markdown), FOLDER/figures (SVG and PNG) and FOLDER/claims.csv from the results
of the project in the working folder, and replaces what these folders held. With --only, it writes the named tables and
nothing else; the previous content of both folders is removed all the same. A table or figure for which
the run has no results is left out, with a message.
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

Tables = dict[str, tuple[str, Callable[[Results], pd.DataFrame]]]  #: file name -> (title, function that makes it)
Figures = dict[str, tuple[str, Callable[[Results], Figure]]]  #: file name -> (alternative text, function that makes it)
FOLDERS = ("tables", "figures")
DPI = 150


def registered(attribute: str) -> dict[str, tuple[str, Callable[[Results], Any]]]:
    """Merge the dictionaries called `attribute`, TABLES or FIGURES, from the modules `files` of all questions."""
    entries: dict[str, tuple[str, Callable[[Results], Any]]] = {}
    for _, module in modules_of_questions("files"):
        entries |= getattr(module, attribute, {})
    return entries


def export(root: Path, out: Path, only: Sequence[str] = ()) -> list[str]:
    """Write tables and figures of the run in the project `root` under `out`; return the omissions with their reasons.

    only  names of tables; they alone are written, without figures and claims. Empty writes everything

    The folders tables and figures are replaced in either case, so that files of earlier exports disappear.
    """
    run, tables = collect.this_run(root), registered("TABLES")
    selected = {name: tables[name] for name in only or tables}
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:  # the old files stay until all new ones are written
        staging = Path(folder)
        for name in FOLDERS:
            (staging / name).mkdir()
        left_out = _written(run, selected, {} if only else registered("FIGURES"), staging)
        if not only:
            claims.write(root, run, out / claims.NAME)
        for name in FOLDERS:
            shutil.rmtree(out / name, ignore_errors=True)
            os.replace(staging / name, out / name)
    return left_out


def _written(run: Results, tables: Tables, figures: Figures, out: Path) -> list[str]:
    """Write tables and figures into folders below `out`; return the omissions with their reasons."""
    left_out = []
    for name, (title, table) in tables.items():
        try:
            data = table(run)
        except InputError as error:
            left_out.append(f"table {name}: {error}")
            continue
        if data.empty:
            left_out.append(f"table {name}: this run has no rows for it")
            continue
        _write(out / "tables" / f"{name}.csv", data.to_csv(lineterminator="\n").encode())
        _write(out / "tables" / f"{name}.md", f"# {title}\n\n{markdown(data)}\n".encode())
    for name, (title, draw) in figures.items():
        try:
            figure = draw(run)
        except InputError as error:
            left_out.append(f"figure {name}: {error}")
            continue
        as_svg(figure, title).save(out / "figures" / f"{name}.svg")
        _write(out / "figures" / f"{name}.png", _png(figure))
    return left_out


def markdown(data: pd.DataFrame) -> str:
    """Return a DataFrame as a Markdown table of GitHub's dialect.

    The levels of a column name are joined. Floats have two decimals, p-values three.
    """
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
    """Return the label of a row or column as a tuple with one entry per index level."""
    return label if isinstance(label, tuple) else (label,)


def _cell(value: object, name: str) -> str:
    """Format a value for a Markdown table."""
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if pd.isna(value):
        return NOTHING
    if isinstance(value, float):
        return p_value(value) if is_p(name) else f"{value:.2f}"
    return str(value)


def _png(figure: Figure) -> bytes:
    """Return a figure as PNG."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as file:
        file.write(content)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies.site.export", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder in which tables/ and figures/ are written")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(registered("TABLES")),
        default=(),
        metavar="TABLE",
        help="names of the only tables to write (default: all tables, figures and claims)",
    )
    arguments = parser.parse_args(argv)

    def work() -> None:
        for line in export(collect.find_root(), arguments.folder, arguments.only):
            print(f"left out: {line}", file=sys.stderr)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
