"""Choose the explored sentences of a page: the stored file of a run, or sentences decoded with a model of this run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studies.across.explore.models import loaded, model_path
from studies.across.explore.records import recorded, sentences
from studies.across.explore.stored import NAME, Stored, read
from studies.common.paths import STUDIES
from studies.site import collect, parameters
from studies.site import rows as site_rows
from studies.site.collect import Results
from treebound.core.errors import InputError
from treebound.treebanks.catalogue import CORPORA

LANGUAGE = "en"  #: language of the sentences
#: file of the reference run, in the checkout that contains this module
REPOSITORY = STUDIES.parents[1] / "results" / "reference" / NAME


@dataclass(frozen=True)
class Source:
    """The explored sentences of a page, and one sentence that states where they come from.

    stored  the explored sentences; None if no run has any
    """

    stored: Stored | None
    origin: str


def choose(root: Path, corpus: str = "", model: str = "", repository: Path = REPOSITORY) -> Source:
    """Return the explored sentences of the project `root`.

    The stored file of this run comes first, then a model of this run on an English corpus, then the stored file of the
    reference run. A corpus that is named is used in any case, whatever its language.

    corpus, model  names in this run; an empty text chooses an English corpus, and the model with the most factors
    repository     file of the reference run if the project has none

    Raises SettingError for an unknown name, and InputError for a damaged file.
    """
    run = collect.this_run(root)
    if named := parameters.known("corpus", corpus, run.corpora):
        return _decoded(root, run, parameters.one("corpus", " ".join(named), run.corpora), model)
    stored = root / "results" / NAME
    if stored.is_file():
        return Source(read(stored), f"The file `results/{NAME}` of {run.title} has the decoded sentences.")
    english = [name for name in run.corpora if name in CORPORA and CORPORA[name].language == LANGUAGE]
    ready = [name for name in english if model_path(root, name, _model(run, model)).is_file()]
    if ready and run.name == collect.THIS_RUN:
        return _decoded(root, run, ready[0], model)
    reference = next((path for path in (root / "results" / "reference" / NAME, repository) if path.is_file()), None)
    if reference is None:
        return Source(None, "No run has decoded sentences, because no model of an English corpus was trained.")
    reason = "" if run.name != collect.THIS_RUN else "This run has no model of an English corpus. "
    return Source(read(reference), f"{reason}The sentences were decoded for the reference run.")


def _decoded(root: Path, run: Results, corpus: str, model: str) -> Source:
    """Decode the sentences with a model of this run. Raises InputError if the model was not trained."""
    name = _model(run, model)
    text = f"The sentences were decoded with the model `{name}` of {run.title}, trained on {corpus}."
    return Source(recorded(loaded(root, corpus, name), sentences()), text)


def _model(run: Results, model: str) -> str:
    """Return the name of a trained model: the named model, or the model with the most factors."""
    try:
        return site_rows.tour_row(run.params, model, 10).trained
    except InputError:
        return site_rows.tour_row(run.params, model, "none").trained
