"""Run the cases of tests/cases: each script must print exactly its EXPECTED file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of tests/cases where scripts may write. They share the model that tiny/model.sh trains."""
    return Path(shutil.copytree(CASES, tmp_path_factory.mktemp("cases") / "cases"))


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CASES.glob("*/run.sh")))
def test_case_prints_what_is_expected(name: str, folder: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["sh", "run.sh"], cwd=folder / name, env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout == (CASES / name / "EXPECTED").read_text(encoding="utf-8"), result.stderr
    assert result.returncode == 0, result.stderr
