"""Define the paths of the files that the pipeline reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

DATA = Path("data")  #: raw/<corpus> has the fetched files
CONVERTED = DATA / "converted"  #: has <corpus>/{train,dev,test}.{conllu,npz}
DERIVATIONS = DATA / "ccg"  #: has <corpus>/{train,dev,test}.{auto,parg}
MODELS = Path("results/models")
METRICS = Path("results/metrics")  #: has small JSON files, which git tracks
PREDICTIONS = Path("results/predictions")  #: has tables with one row per sentence, which DVC tracks
CHECKPOINTS = Path("build/checkpoints")
STUDIES = Path(__file__).parents[1]  #: source folder of this package, which has <paper>/<question>
#: the model file of a model that was not trained begins with this text; DVC warns of empty files
UNTRAINED = b"not trained: "


def model_file(corpus: str, model: str) -> Path:
    """Return the path of the trained file of a model that params.yaml names, for one corpus."""
    return MODELS / corpus / f"{model}.npz"


def is_trained(path: Path) -> bool:
    """Return False if a model file says only that the package of the learner is not installed."""
    with path.open("rb") as file:
        return file.read(len(UNTRAINED)) != UNTRAINED


def pruner_file(corpus: str) -> Path:
    """Return the path of the pruner of a corpus."""
    return model_file(corpus, "pruner")


def ccg_file(name: str) -> Path:
    """Return the path of a CCG parser, by its name under `ccg: parsers:`."""
    return MODELS / "ccg" / f"{name}.npz"


def modules_of_questions(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Import the module called `name` of every question that has such a module.

    Yields (question, module), sorted by the folder of the question.
    """
    for path in sorted(STUDIES.glob(f"*/*/{name}.py")):
        paper, question = path.parts[-3:-1]
        yield question, import_module(f"studies.{paper}.{question}.{name}")
