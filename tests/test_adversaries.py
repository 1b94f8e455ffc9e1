"""Test that each generator of `tests/adversaries.py` runs a few cases and repeats them from their seeds."""

from __future__ import annotations

import re
from pathlib import Path

import adversaries
import pytest


@pytest.mark.parametrize("name", adversaries.GENERATORS)
def test_a_few_cases_of_each_generator(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    tables = []
    for _ in range(2):
        assert adversaries.main([name, "--minutes", "10", "--seed", "7", "--cases", "15"]) == 0
        printed = capsys.readouterr().out
        assert " 15 cases, " in printed
        assert "0 failures []" in printed
        tables.append(re.findall(r"^ +\d+  .+$", printed, re.M))
    assert tables[0] == tables[1] != []


def test_a_failure_is_printed_with_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    def case(seed: int) -> list[str]:
        if seed % 10 == 3:
            raise ValueError("a wrong result")
        return ["good"]

    assert adversaries.attack(case, 1, 100, 60.0, most=2) == [3, 13]
    printed = capsys.readouterr().out
    assert "seed 3:\n" in printed
    assert "seed 13:\n" in printed
    assert "ValueError: a wrong result" in printed
    assert "       11  good" in printed


def test_the_current_folder_does_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of seed 1831 writes its certificates into a file with a relative name."""
    monkeypatch.chdir(tmp_path)
    assert adversaries.main(["files", "--minutes", "10", "--seed", "1831", "--cases", "1"]) == 0
    assert list(tmp_path.iterdir()) == []
