"""Find the runs that pages show: this run, and the reference run that is committed with the repository."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from studies.common import metrics
from studies.common import params as parameters
from studies.common.metrics import RERUN
from studies.common.params import Params
from studies.site import sources
from treebound.core.errors import InputError

REFERENCE, THIS_RUN = "reference", "this run"
MULTILINGUAL = "multilingual"  #: folder of the part of the reference run with many more corpora
#: description of a run that will become the reference; the file is written before the notebooks are executed
ORIGIN = Path("results", "reference", "origin.json")


@dataclass(frozen=True)
class Results:
    """The results of one run of the pipeline.

    name    REFERENCE or THIS_RUN; tables call it the provenance and use it as a column heading
    folder  folder with `metrics/` and, for this run, `predictions/`
    params  parameters of the run
    info    description of a reference run: commit, date, machine, checksums; empty for this run
    alone   True if pages show no other run, so that labels need not name the run
    """

    name: str
    folder: Path
    params: Params
    info: dict[str, Any] = field(default_factory=dict)
    alone: bool = False

    @property
    def title(self) -> str:
        """Return the name of the run, worded for use inside a sentence."""
        return title(self.name)

    def place(self, corpus: str) -> str:
        """Return the label of a corpus of this run. It names the run only if pages also show another run."""
        return corpus if self.alone else f"{corpus}, {self.name}"

    @property
    def keeps_sentences(self) -> bool:
        """Return True if the run should have the tables with one row per sentence.

        A reference run is committed without these tables.
        """
        return not self.info or (self.folder / "predictions").is_dir()

    @property
    def corpora(self) -> list[str]:
        """Return the corpora of the run, in the order of its parameters."""
        return list(self.params.corpora)

    def kept_table(self, name: str, **layout: Any) -> pd.DataFrame:
        """Return a table that a reference run stores because its metrics do not suffice to compute the table.

        The table is empty if the run does not store it.

        layout  arguments of `pandas.read_csv` that state which rows are the header and which columns the index
        """
        path = self.folder / "tables" / f"{name}.csv"
        try:
            return pd.read_csv(path, **layout)
        except FileNotFoundError:
            return pd.DataFrame()
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
            raise InputError("not a table", path=path, hint="restore the file from the repository") from None

    def predicted(self, *parts: str, **options: Any) -> pd.DataFrame:
        """Read a table of a stage with one row per sentence. Raises InputError if the file is missing or empty.

        parts    path of the file below the folder `predictions`
        options  arguments of `pandas.read_csv`
        """
        path = self.folder.joinpath("predictions", *parts)
        try:
            return pd.read_csv(path, **options)
        except FileNotFoundError:
            raise InputError("missing, though params.yaml asks for it", path=path, hint=RERUN) from None
        except pd.errors.EmptyDataError:
            raise InputError("the file is empty", path=path, hint=RERUN) from None

    def read(self, *parts: str) -> Any:
        """Return the content of a metrics file, see `metrics.read`, and record that it was read."""
        part = "multilingual part of " if self.folder.name == MULTILINGUAL else ""
        stage = parts[1] if parts[0] == "timing" else parts[0]  # times and memory are stored apart from results
        sources.record(part + self.title.removeprefix("" if part else "the "), self.info, stage)
        return metrics.read(self.folder, *parts)

    def has(self, *parts: str) -> bool:
        """Return True if the run has metrics at `parts`.

        A run that was made before a stage was added to the pipeline has no metrics of the stage.
        """
        return metrics.has(self.folder, *parts)


def title(run: str) -> str:
    """Return the name of a run, worded for use inside a sentence."""
    return run if run == THIS_RUN else f"the {run} run"


def this_run(root: Path) -> Results:
    """Return the results of the pipeline in this checkout.

    If the file ORIGIN exists, this run is itself the reference: `make reference` writes the file before it makes the
    pages.
    """
    folder, params = root / "results", root / "params.yaml"
    return _kept(folder, params, root / ORIGIN) or Results(THIS_RUN, folder, parameters.load(params))


def reference(root: Path) -> Results | None:
    """Return the reference run that is committed with the repository, or None if there is none."""
    folder = root / "results" / "reference"
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def multilingual(root: Path) -> Results | None:
    """Return the multilingual part of the reference run, or None if there is none.

    The multilingual part tests a few systems on many more corpora.
    """
    folder = root / "results" / "reference" / MULTILINGUAL
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def _kept(folder: Path, params: Path, origin: Path) -> Results | None:
    """Return the results in `folder` as a reference run, or None if its description `origin` does not exist."""
    if not origin.is_file():
        return None
    return Results(REFERENCE, folder, parameters.load(params), json.loads(origin.read_text(encoding="utf-8")))


def provenances(root: Path) -> list[Results]:
    """Return the reference run, if there is one, and then this run; the columns of every table have this order.

    If this run is about to become the reference, it is returned alone.
    """
    current = this_run(root)
    committed = reference(root) if current.name == THIS_RUN else None
    runs = [replace(current, alone=True)] if committed is None else [committed, current]
    sources.show([results.name for results in runs])
    return runs


def find_root(start: Path | None = None) -> Path:
    """Return the project folder: the nearest folder at or above `start` with params.yaml and dvc.yaml.

    start  None: the working folder

    papermill runs a notebook in the folder from which it was called, JupyterLab in the notebook's own folder. The
    search makes both work. Raises InputError if there is no project folder.
    """
    folder_of_start = (start or Path.cwd()).resolve()
    for folder in (folder_of_start, *folder_of_start.parents):
        if (folder / "params.yaml").is_file() and (folder / "dvc.yaml").is_file():
            return folder
    raise InputError(
        "no project here or in a parent folder (no params.yaml)",
        path=folder_of_start,
        hint="start Jupyter in the checkout",
    )
