"""The folder of compiled code changes with every file that compiles functions."""

from pathlib import Path

import treebound
from treebound.kernels import _sources

PACKAGE = Path(treebound.__file__).parent


def test_every_file_that_compiles_functions_counts():
    counted = set(_sources(PACKAGE))
    compiling = {path for path in PACKAGE.rglob("*.py") if "@njit" in path.read_text() or "@jit" in path.read_text()}
    assert len(compiling) > 30
    assert compiling <= counted
    assert {path.parent.name for path in compiling} >= {"kernels", "compiled", "treebanks"}
    # constants that compiled functions take from their neighbours
    assert PACKAGE / "evaluation" / "compiled" / "tables.py" in counted
    assert PACKAGE / "cli.py" not in counted


def test_a_file_that_only_speaks_of_it_does_not_count(tmp_path):
    (tmp_path / "a.py").write_text("import numpy\n# import numba some day\n")
    (tmp_path / "b.py").write_text("if True:\n    from numba import njit\n")
    assert [path.name for path in _sources(tmp_path)] == ["b.py"]
