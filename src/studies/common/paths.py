"""Name the files of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

DATA = Path("data")  #: raw/<corpus> holds the fetched files
CONVERTED = DATA / "converted"  #: <corpus>/{train,dev,test}.{conllu,npz}
DERIVATIONS = DATA / "ccg"  #: <corpus>/{train,dev,test}.{auto,parg}
MODELS = Path("results/models")
METRICS = Path("results/metrics")  #: small JSON files, tracked by git
PREDICTIONS = Path("results/predictions")  #: one row per sentence, tracked by DVC
CHECKPOINTS = Path("build/checkpoints")
STUDIES = Path(__file__).parents[1]  #: folder of the sources: <paper>/<question>


def model_file(corpus: str, model: str) -> Path:
    """Return the path of a model of params.yaml."""
    return MODELS / corpus / f"{model}.npz"


def pruner_file(corpus: str) -> Path:
    """Return the path of the pruner of a corpus."""
    return model_file(corpus, "pruner")


def ccg_file(name: str) -> Path:
    """Return the path of a CCG parser, by its name under `ccg: parsers:`."""
    return MODELS / "ccg" / f"{name}.npz"


def modules_of_questions(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Import the module `name` of every question that has one; yield question and module, sorted by folder."""
    for path in sorted(STUDIES.glob(f"*/*/{name}.py")):
        paper, question = path.parts[-3:-1]
        yield question, import_module(f"studies.{paper}.{question}.{name}")
