"""Test that a new decoder, family, constraint or treebank needs one file and one line, and a study one folder.

Each test follows the recipe in CONTRIBUTING.md in a copy of the package and uses the addition in another process.
Kernels run uncompiled there, because the copy would have to be compiled again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from synthetic import synthetic_treebank

from studies.pipeline import scratch
from treebound.treebanks import catalogue, storage

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "treebound"


class Copy:
    """A copy of the package that tests may change."""

    def __init__(self, folder: Path):
        self.package = folder / "treebound"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))

    def add_file(self, name: str, text: str) -> None:
        path = self.package / name
        assert not path.exists()
        path.write_text(text, encoding="utf-8")

    def add_line(self, name: str, line: str) -> None:
        path = self.package / name
        path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        path = self.package / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, code: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(self.package.parent), "NUMBA_DISABLE_JIT": "1"}
        result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


PROBLEM = """
import numpy as np
from treebound.core.problem import PartTable, Problem
head, mod = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 1])
"""


KIN = """
import numpy as np
from treebound.checker.certificates import check_parse
from treebound.core.errors import UnsupportedError
from treebound.core.problem import PartTable, Problem
from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.record import certificate

head, mod = np.array([0, 1, 1, 3, 3]), np.array([1, 2, 3, 1, 2])
kin = PartTable("kin", np.array([[1, 2]]), np.array([8.0]))
problem = Problem(3, head, mod, np.array([1.0, 0.0, 1.0, 1.0, 4.0]), {"kin": kin})

try:
    parse = DECODERS["branch-and-bound"](record=True).decode(problem)
    print(parse.heads.tolist(), parse.value, check_parse(problem, parse, certificate(parse.record)))
except UnsupportedError as error:
    print(error)
"""


def test_a_decoder(copy: Copy) -> None:
    copy.add_file(
        "decoders/approximate/chain.py",
        '''
import numpy as np
from treebound.core.parse import Parse
from treebound.decoders.base import CheckedDecoder

class Chain(CheckedDecoder):
    """Attach every word to the word before it."""
    name, space, exact, supports, cite = "chain", "projective", False, frozenset({"arc"}), "none"

    def _decode(self, problem):
        heads = np.arange(-1, problem.n, dtype=np.int32)
        value = problem.arc[problem.head + 1 == problem.mod].sum()
        return Parse(heads, float(value), np.inf, "heuristic")
''',
    )
    copy.add_line("decoders/__init__.py", '_register("chain", "approximate.chain", "Chain")')
    out = copy.run(
        PROBLEM
        + """
from treebound.decoders import DECODERS
parse = DECODERS["chain"]().decode(Problem(2, head, mod, np.array([1.0, 2.0, 4.0, 8.0])))
print("chain" in DECODERS, parse.heads.tolist(), parse.value, parse.status)
"""
    )
    assert out == "True [-1, 0, 1] 5.0 heuristic"


def test_a_factor_family(copy: Copy) -> None:
    """Add a family with the shape of siblings and its own features: it can be decoded and checked."""
    copy.add_file(
        "factors/kin.py",
        """
from treebound.factors.family import Family
from treebound.factors.sibling import SIBLING
from treebound.factors.templates import TemplateSet

KIN = Family("kin", SIBLING.code, TemplateSet(("h", "s", "m"), ("h.tag s.tag m.tag",)), "none")
""",
    )
    copy.add_line("factors/__init__.py", "from treebound.factors.kin import KIN")
    copy.add_line("factors/__init__.py", "FAMILIES.register(KIN.name, KIN)")
    compiled = """
from treebound.factors import templates_of
from treebound.features.scorer import compile_families
print(len(compile_families(("kin",), frozenset({"tag"}), templates_of(("kin",))).code))
"""
    assert copy.run(compiled) == "1"
    assert copy.run(KIN) == "branch-and-bound does not score kin; leave the family out"
    name = '"kin", "pattern"'
    copy.change("core/problem.py", '"pattern"', name)
    copy.change("decoders/exact/branch_and_bound/decoder.py", '"pattern"', name)
    copy.change("checker/majorants.py", '"pattern"', name)
    assert copy.run(KIN) == "[-1, 0, 1, 1] 10.0 []"


def test_a_constraint(copy: Copy) -> None:
    copy.add_file(
        "constraints/nothing_last.py",
        '''
import numpy as np

class NothingLast:
    """Forbid dependents of the last word."""
    name, code = "nothing-last", "X1"

    def start(self, variables):
        return []

    def violated(self, variables, selection):
        return []

    def forbidden(self, variables):
        return [(int(v),) for v in np.flatnonzero(variables.head == variables.n)]
''',
    )
    copy.add_line("constraints/__init__.py", "from treebound.constraints.nothing_last import NothingLast")
    copy.add_line("constraints/__init__.py", 'CONSTRAINTS.register("nothing-last", NothingLast)')
    out = copy.run(
        PROBLEM
        + """
from treebound.constraints import parse
from treebound.constraints.as_parts import with_forbidden
from treebound.constraints.rows import Words
from treebound.core.labelled import LabelledProblem

inner = Problem(2, head, mod, np.array([1.0, 2.0, 4.0, 8.0]))
labelled = LabelledProblem(inner, np.zeros((4, 1), np.int32), inner.arc[:, None], ("dep",))
constraints = parse("[nothing-last]", "mine.toml", ())
print(with_forbidden(labelled, Words.of(["a", "b"], ["A", "B"]), constraints).arc.tolist())
"""
    )
    assert out == "[1.0, 2.0, 4.0, -inf]"


def test_a_treebank(copy: Copy) -> None:
    path = copy.package / "treebanks" / "catalogue.toml"
    tables = path.read_text(encoding="utf-8")
    first = "[tr_twt" + tables.split("[tr_twt", 1)[1].split("\n\n[", 1)[0]
    path.write_text(tables + "\n" + first.replace("tr_twt", "xx_copy"), encoding="utf-8")
    out = copy.run('from treebound.treebanks.catalogue import CORPORA; print(CORPORA["xx_copy"].name)')
    assert out == "xx_copy"


def test_the_treebank_of_the_recipe() -> None:
    """Read the table in CONTRIBUTING.md, which describes files on the machine of the reader."""
    (table,) = re.findall(r"```toml\n(.*?)```", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    (corpus,) = catalogue.load(table)
    assert isinstance(corpus.source, catalogue.UserPath)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Follow CONTRIBUTING.md in a copy of the project: add a folder, a stage, a section of params.yaml and a page."""
    project = tmp_path / "project"
    scratch.prepare(project, {"corpora": ["tr_twt"], "notebooks": ["99-lengths"]}, PROJECT)
    folder = project / "src/studies/across/lengths"
    folder.mkdir()
    for name, text in QUESTION.items():
        (folder / name).write_text(text)
    with (project / "dvc.yaml").open("a") as file:
        file.write(STAGE)
    with (project / "params.yaml").open("a") as file:
        file.write(SECTION)
    cells = [new_code_cell('corpus = ""', metadata={"tags": ["parameters"]}), *map(new_code_cell, CELLS)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), project / "notebooks/99-lengths.ipynb")
    for split, sentences in (("train", 9), ("dev", 3), ("test", 5)):
        path = project / "data/converted/tr_twt" / f"{split}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.save(synthetic_treebank(sentences, seed=1, max_words=6), path)
    (project / "data/tagged/tr_twt").mkdir(parents=True)
    (project / "data/tagged/tr_twt/tags.json").write_text('{"tags": "gold"}')
    return project


def run_in(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python with the code of a copy of the project."""
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    command = (sys.executable, "-m", *command)
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


MEASURE = ("studies.across.lengths.measure", "tr_twt")


def test_a_study_and_its_page(study: Path) -> None:
    notebook = "99-lengths.ipynb"
    for command in (
        ("dvc", "repro", "--single-item", "lengths@tr_twt"),
        ("studies.site.execute", f"notebooks/{notebook}", f"results/notebooks/{notebook}"),
    ):
        run = run_in(study, *command)
        assert run.returncode == 0, run.stderr[-2000:]
    shown = (study / "results/notebooks" / notebook).read_text()
    assert "tr_twt: " in shown
    assert "sentences of at most 3 words" in shown


def test_a_misspelt_setting_of_a_study(study: Path) -> None:
    replace_in(study / "params.yaml", "lengths: {longest:", "lengths: {lengthiest:")
    run = run_in(study, *MEASURE)
    assert run.returncode == 1
    assert "lengths.lengthiest: unknown key; valid keys are longest" in run.stderr


def test_a_study_without_a_section_in_the_parameters(study: Path) -> None:
    (study / "dvc.yaml").write_text(f"stages:{STAGE}")
    replace_in(study / "params.yaml", SECTION, "")
    run = run_in(study, "studies.pipeline.run", "lengths")
    assert run.returncode == 1
    assert "failed to reproduce 'lengths@tr_twt': Parameters 'lengths' are missing from 'params.yaml'" in run.stderr


def test_settings_of_a_study_without_their_base_class(study: Path) -> None:
    replace_in(study / "src/studies/across/lengths/settings.py", "Lengths(Section)", "Lengths")
    run = run_in(study, *MEASURE)
    assert run.returncode == 1
    assert "lengths/settings.py: 0 classes of settings, and one is needed; derive the class" in run.stderr
    assert run.stderr.count("\n") == 1


QUESTION = {
    "__init__.py": "",
    "settings.py": '''
from pydantic.dataclasses import dataclass
from studies.common.fields import STRICT, Positive, Section

@dataclass(frozen=True, config=STRICT)
class Lengths(Section):
    """Settings of the count of short sentences."""
    longest: Positive = 10
''',
    "measure.py": '''
import numpy as np
from studies.across.lengths.settings import Lengths
from studies.common import stage
from studies.common.corpus import load

def run(params, corpus):
    """Count the short sentences of the test split."""
    words = np.diff(load(corpus, "test").offsets)
    metrics = {"sentences": int((words <= params.section(Lengths).longest).sum())}
    stage.write_metrics(stage.METRICS / "lengths" / f"{corpus}.json", metrics)

if __name__ == "__main__":
    stage.main(run)
''',
    "tables.py": '''
import pandas as pd

def lengths(results):
    """Return the number of short sentences, one row per corpus."""
    return pd.DataFrame([r.read("lengths", f"{c}.json") | {"corpus": c} for r in results for c in r.corpora])
''',
    "remarks.py": '''
from studies.site.sentences import about

@about()
def lengths(data, longest):
    """Yield one sentence for each row of `tables.lengths`."""
    for row in data.itertuples():
        yield f"{row.corpus}: {row.sentences} sentences of at most {longest} words."
''',
}
SECTION = "lengths: {longest: 3}\n"
STAGE = """
  lengths:
    matrix: {corpus: "${corpora}"}
    cmd: python -m studies.across.lengths.measure ${item.corpus}
    params: [lengths]
    deps: ["data/converted/${item.corpus}", "data/tagged/${item.corpus}", src/studies/across/lengths]
    outs: ["results/metrics/lengths/${item.corpus}.json": {cache: false}]
"""
CELLS = (
    """
from studies.across.lengths import remarks, tables
from studies.across.lengths.settings import Lengths
from studies.site import collect, parameters

parameters.check(corpus=corpus)
results = [collect.this_run(collect.find_root())]
""",
    "remarks.lengths(tables.lengths(results), results[0].params.section(Lengths).longest)",
)
