"""The runs that pages show: this one, and the maintainers' one that is committed with the repository."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from studies.common import metrics
from studies.common import params as parameters
from studies.common.metrics import RERUN
from studies.common.params import Params
from treebound.core.errors import InputError

REFERENCE, THIS_RUN = "reference", "this run"
#: where a run that is to become the reference says what it is, before its notebooks are executed
ORIGIN = Path("results", "reference", "origin.json")


@dataclass(frozen=True)
class Results:
    """The results of one run of the pipeline.

    name    provenance, the column head of tables: REFERENCE or THIS_RUN
    folder  holds `metrics/` and, for this run, `predictions/`
    params  the parameters of that run
    info    of a reference: commit, date, machine, checksums
    """

    name: str
    folder: Path
    params: Params
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What to call it in a sentence."""
        return self.name if self.name == THIS_RUN else f"the {self.name} run"

    @property
    def keeps_sentences(self) -> bool:
        """Whether what the stages wrote sentence by sentence should be there: a reference is committed without it."""
        return not self.info or (self.folder / "predictions").is_dir()

    @property
    def corpora(self) -> list[str]:
        """Corpora of the run, in the order of its parameters."""
        return list(self.params.corpora)

    def kept_table(self, name: str, **layout: Any) -> pd.DataFrame:
        """A table that a reference keeps because its metrics are not enough for it; no rows where it does not.

        layout  of the header and the index, as `pandas.read_csv` takes it
        """
        path = self.folder / "tables" / f"{name}.csv"
        try:
            return pd.read_csv(path, **layout)
        except FileNotFoundError:
            return pd.DataFrame()
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
            raise InputError("not a table", path=path, hint="take it from the repository again") from None

    def predicted(self, *parts: str, **options: Any) -> pd.DataFrame:
        """A table that a stage wrote sentence by sentence, as `pandas.read_csv` reads it."""
        path = self.folder.joinpath("predictions", *parts)
        try:
            return pd.read_csv(path, **options)
        except FileNotFoundError:
            raise InputError("missing, though params.yaml asks for it", path=path, hint=RERUN) from None
        except pd.errors.EmptyDataError:
            raise InputError("empty", path=path, hint=RERUN) from None

    def read(self, *parts: str) -> Any:
        """Content of a metrics file, as `metrics.read` gives it."""
        return metrics.read(self.folder, *parts)

    def has(self, *parts: str) -> bool:
        """Whether the run has metrics there: a run from before there was a stage has none of it."""
        return metrics.has(self.folder, *parts)


def this_run(root: Path) -> Results:
    """What the pipeline produced in this checkout; the reference itself where ORIGIN says so, as while `make reference`
    shows what it has computed.
    """
    folder, params = root / "results", root / "params.yaml"
    return _kept(folder, params, root / ORIGIN) or Results(THIS_RUN, folder, parameters.load(params))


def reference(root: Path) -> Results | None:
    """The maintainers' run that is committed with the repository; None where there is none."""
    folder = root / "results" / "reference"
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def multilingual(root: Path) -> Results | None:
    """The part of the maintainers' run that tests a few systems on many more corpora; None where there is none."""
    folder = root / "results" / "reference" / "multilingual"
    return _kept(folder, folder / "params.yaml", folder / "run.json")


def _kept(folder: Path, params: Path, origin: Path) -> Results | None:
    if not origin.is_file():
        return None
    return Results(REFERENCE, folder, parameters.load(params), json.loads(origin.read_text(encoding="utf-8")))


def provenances(root: Path) -> list[Results]:
    """The reference, where there is one, and this run: the order of the columns in every table. The reference alone
    where this run is the one that becomes it.
    """
    last = this_run(root)
    before = reference(root) if last.name == THIS_RUN else None
    return [results for results in (before, last) if results is not None]


def find_root(start: Path | None = None) -> Path:
    """The project's folder: the nearest one at or above `start` (the working folder) that has a params.yaml.

    papermill runs a notebook in the folder it was called from, JupyterLab in the notebook's own: rely on neither.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "params.yaml").is_file() and (folder / "dvc.yaml").is_file():
            return folder
    raise InputError("no project here or above (no params.yaml)", path=here, hint="start Jupyter in the checkout")
