"""A new decoder, factor family, constraint or treebank is one file (or table) and one line.

Each test does what the recipe in CONTRIBUTING.md says, in a copy of the package, and uses the new thing from another
process; kernels run uncompiled there, as a copy would have to be compiled anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "treebound"


class Copy:
    """A copy of the package that can be written into."""

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

    def run(self, code: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(self.package.parent), "NUMBA_DISABLE_JIT": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


PROBLEM = """
import numpy as np
from treebound.core.problem import PartTable, Problem
head, mod = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 1])
"""


def test_a_decoder(copy: Copy) -> None:
    copy.add_file(
        "decoders/approximate/chain.py",
        '''
import numpy as np
from treebound.core.parse import Parse
from treebound.decoders.base import CheckedDecoder

class Chain(CheckedDecoder):
    """Every word below the one before it."""
    name, space, exact, supports, cite = "chain", "projective", False, frozenset({"arc"}), "nobody"

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
    """Of a shape that there is: siblings with features of their own."""
    copy.add_file(
        "factors/kin.py",
        """
from treebound.factors.family import Family
from treebound.factors.sibling import SIBLING
from treebound.factors.templates import TemplateSet

KIN = Family("kin", SIBLING.code, TemplateSet(("h", "s", "m"), ("h.tag s.tag m.tag",)), "nobody")
""",
    )
    copy.add_line("factors/__init__.py", "from treebound.factors.kin import KIN")
    copy.add_line("factors/__init__.py", "FAMILIES.register(KIN.name, KIN)")
    out = copy.run(
        """
from treebound.factors import templates_of
from treebound.features.scorer import compile_families
print(len(compile_families(("kin",), frozenset({"tag"}), templates_of(("kin",))).code))
"""
    )
    assert out == "1"


def test_a_constraint(copy: Copy) -> None:
    copy.add_file(
        "constraints/nothing_last.py",
        '''
import numpy as np

class NothingLast:
    """No word below the last one."""
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
    catalogue = copy.package / "treebanks" / "catalogue.toml"
    tables = catalogue.read_text(encoding="utf-8")
    first = "[tr_twt" + tables.split("[tr_twt", 1)[1].split("\n\n[", 1)[0]
    catalogue.write_text(tables + "\n" + first.replace("tr_twt", "xx_mine"), encoding="utf-8")
    out = copy.run('from treebound.treebanks.catalogue import CORPORA; print(CORPORA["xx_mine"].name)')
    assert out == "xx_mine"
