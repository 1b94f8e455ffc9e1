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

import pandas as pd
from matplotlib.figure import Figure

from studies.figures import figures
from studies.site import claims, collect, tables
from studies.site.collect import Results
from studies.site.command import status
from studies.site.show import NOTHING, is_p, p_value
from studies.site.tables import sampling
from treebound.core.errors import InputError
from treebound.plots.style import style
from treebound.plots.svg import as_svg
from treebound.support.atomic import replacing

Tables = dict[str, tuple[str, Callable[[Results], pd.DataFrame]]]  #: name of the files -> (title, table)
FOLDERS = ("tables", "figures")
TABLES: Tables = {
    "corpora": ("What the conversion counted", lambda r: tables.conversion([r])),
    "pruner": ("Oracle recall of the pruner, %", lambda r: tables.pruner([r])),
    "tagging": ("Accuracy of predicted tags", lambda r: tables.tagging([r])),
    "table-2-mira": ("Table 2, learner: MIRA, UAS in %", lambda r: tables.comparison([r], "mira")),
    "table-2-perceptron": ("Table 2, learner: perceptron, UAS in %", lambda r: tables.comparison([r], "perceptron")),
    "accuracy": ("UAS, LAS, complete matches and trees proved optimal, %", lambda r: tables.accuracy([r])),
    "significance-uas": ("Differences from the baseline, UAS points", lambda r: tables.significance(r)),
    "significance-las": ("Differences from the baseline, LAS points", lambda r: tables.significance(r, figure="LAS")),
    "differences": ("Differences that claims are about, UAS points", claims.differences_of),
    "seeds": ("Mean and standard deviation over seeds, %", lambda r: tables.seeds([r])),
    "tags": ("Predicted and gold tags, %", lambda r: tables.tags([r])),
    "errors": ("Errors of the search and of the model", lambda r: tables.errors(r)),
    "peers": ("Parsers of others", lambda r: tables.peers([r])),
    "table-3-uas": ("Table 3, UAS in %", lambda r: tables.pruning_table([r], "UAS")),
    "table-3-las": ("Table 3, LAS in %", lambda r: tables.pruning_table([r], "LAS")),
    "table-3-speed": ("Table 3, words per (CPU) second", lambda r: tables.pruning_table([r], "w/s")),
    "dp-calls": ("DP calls per sentence", lambda r: tables.pruning_table([r], "DP calls")),
    "dp-calls-total": ("DP calls of the test sets", lambda r: tables.pruning_table([r], "total DP calls")),
    "length": ("Work against sentence length", lambda r: tables.length_table(tables.lengths([r]))),
    "benchmark": ("Every row of the benchmark", lambda r: tables.benchmarked(r)),
    "tuning": ("The published search and the tuned one", lambda r: tables.tuning_table(tables.tunings([r]))),
    "ablation": ("Configurations of the search", lambda r: tables.ablation_table(tables.ablations([r]))),
    "training": ("Every trained model", lambda r: tables.training([r])),
    "steps": ("What each step of learning brings on dev, %", lambda r: _steps(r)),
    sampling.KEPT: ("Parsers that sample against others, UAS on test", lambda r: sampling.gains(r, sampling.PAIRS)),
    "steps-significance": ("Trainings against the base on dev", lambda r: tables.step_tests(tables.steps([r]))),
}
#: name of the files -> (what there is to see, figure)
Figures = dict[str, tuple[str, Callable[[Results], Figure]]]
FIGURES: Figures = {
    "accuracy-speed": (
        "UAS against words per CPU second, one panel a corpus",
        lambda r: figures.accuracy_speed(tables.accuracy_and_speed(r)),
    ),
    "figure-4-time": (
        "Mean parsing time against sentence length",
        lambda r: figures.against_length(_milliseconds(r), "ms", "mean time, ms"),
    ),
    "figure-5-calls": (
        "Mean number of DP calls against sentence length",
        lambda r: figures.against_length(tables.lengths([r]), "mean_dp_calls", "mean DP calls"),
    ),
    "tuning": (
        "Work of the published search and of the tuned one",
        lambda r: figures.tuning(tables.tunings([r]), {"dp_calls": "DP calls", "nodes": "nodes", "seconds": "seconds"}),
    ),
}
MULTILINGUAL = "multilingual"  #: the table of the run on more corpora
DPI = 150


def export(root: Path, out: Path, only: Sequence[str] = ()) -> list[str]:
    """Write tables and figures of the run in the project `root` under `out`; returns what was left out, and why.

    only  names of tables: these alone, no figures and no claims
    """
    run = collect.this_run(root)
    more = collect.multilingual(root)
    wanted = {**TABLES, MULTILINGUAL: ("More corpora, %", lambda _: tables.multilingual(more))}
    wanted = {name: wanted[name] for name in only or wanted}
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:  # what stood there stays until all is written
        fresh = Path(folder)
        for name in FOLDERS:
            (fresh / name).mkdir()
        left_out = _written(run, wanted, {} if only else FIGURES, fresh)
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


def _steps(results: Results) -> pd.DataFrame:
    data = tables.steps([results])
    return tables.step_table(data, tables.step_tests(data))


def _milliseconds(results: Results) -> pd.DataFrame:
    curves = tables.lengths([results])
    return curves.assign(ms=1e3 * curves["mean_s"])


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
        "--only", nargs="+", choices=[*TABLES, MULTILINGUAL], default=(), metavar="TABLE", help="some tables"
    )
    arguments = parser.parse_args(argv)

    def work() -> None:
        for line in export(collect.find_root(), arguments.folder, arguments.only):
            print(f"left out: {line}", file=sys.stderr)

    return status(work)


if __name__ == "__main__":
    sys.exit(main())
