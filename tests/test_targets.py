"""Targets of the benchmarks: rules for meeting and storing them, and their table in the report. Nothing is timed."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from studies.site import collect, target_remarks, targets
from studies.site.show import Table
from treebound.core.errors import InputError

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def goals() -> ModuleType:
    return benchmark("goals")


def benchmark(name: str) -> ModuleType:
    """Import a module of the folder benchmarks, which is no package."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("measured", "target", "more", "met", "ratio"),
    [
        (120.0, 100, True, True, 1.2),
        (90.0, 100, True, False, 0.9),
        (2.0, 3, False, True, 1.5),
        (4.0, 2, False, False, 0.5),
        (0, 0, False, True, 1.0),
        (3, 0, False, False, 0.0),
        (0.0, 100, True, False, 0.0),
        (5.0, None, True, None, None),
    ],
)
def test_a_target_is_met_from_its_own_side(goals, measured, target, more, met, ratio) -> None:
    row = goals.Row("x", measured, target, more, "a note")
    assert row.met is met
    assert row.ratio == ratio
    assert ("MISSED" in str(row)) == (met is False)
    assert str(row).endswith("a note")


def test_figures_are_stored_by_name_and_by_command(goals, tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    goals.keep([goals.Row("a", 1.23456, 2), goals.Row("b", 3.0), goals.Row("c", 3.0, 4, False)], path, "make bench")
    assert json.loads(path.read_text()) == [
        {"name": "a", "measured": 1.235, "target": 2, "more": True, "met": False, "how": "make bench"},
        {"name": "c", "measured": 3.0, "target": 4, "more": False, "met": True, "how": "make bench"},
    ]
    goals.keep([goals.Row("d", np.float64(7.0), 7), goals.Row("e", np.nan, 1)], path, "python benchmarks/x.py")
    assert [row["name"] for row in json.loads(path.read_text())] == ["a", "c", "d"], "only measured targets are stored"
    goals.keep([goals.Row("a", 5.0, 2)], path, "make bench")
    goals.keep([goals.Row("d", 8.0, 7)], path, "python benchmarks/x.py --sentences 2")
    assert [(row["name"], row["measured"], row["how"]) for row in json.loads(path.read_text())] == [
        ("a", 5.0, "make bench"),
        ("d", 8.0, "python benchmarks/x.py --sentences 2"),
    ]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        (["benchmarks/x.py", "a b", "--keep"], "python benchmarks/x.py 'a b'"),
        (["/somewhere/benchmarks/x.py", "--keep", "to.json", "--n", "3"], "python benchmarks/x.py --n 3"),
        (["x.py", "--keep=to.json", "/home/me/model.npz"], "python benchmarks/x.py model.npz"),
        (["x.py", "--keep", "--n", "3"], "python benchmarks/x.py --n 3"),
    ],
)
def test_the_command_names_no_machine(goals, typed: list[str], stored: str) -> None:
    assert goals.command(typed) == stored


def test_figures_are_stored_in_the_chosen_file(goals, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    cli = argparse.ArgumentParser()
    goals.option(cli)
    path, rows = tmp_path / "targets.json", [goals.Row("a figure", 1.0, 2)]
    assert cli.parse_args([]).keep is None
    assert cli.parse_args(["--keep"]).keep == goals.KEPT == targets.KEPT
    goals.report(rows, None)
    assert not path.exists()
    goals.report(rows, cli.parse_args(["--keep", str(path)]).keep)
    assert len(json.loads(path.read_text())) == 1
    assert capsys.readouterr().out.count("MISSED") == 2


def test_benchmarks_with_targets_share_the_option() -> None:
    """Benchmarks that print targets have the option to store their figures."""
    with_targets = [path for path in BENCHMARKS.glob("*.py") if "import Row" in path.read_text()]
    names = {path.name for path in with_targets}
    assert names >= {"ccg.py", "ccg_integration.py", "classifiers.py", "own_scores.py", "training.py", "compiling.py"}
    for path in with_targets:
        text = path.read_text()
        assert "option(" in text or path.name == "targets.py", path.name


@pytest.mark.long
@pytest.mark.parametrize("name", ["ccg", "classifiers", "compiling", "crossing", "own_scores", "sampling", "training"])
def test_help_of_benchmarks(name: str) -> None:
    done = subprocess.run([sys.executable, BENCHMARKS / f"{name}.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--keep [FILE]" in done.stdout


# --- on the page


def test_the_table_of_targets_and_its_remark(tmp_path: Path) -> None:
    path = tmp_path / targets.KEPT
    path.parent.mkdir(parents=True)
    rows = [("fast", 12_000.0, 20_000, False), ("small", 300.0, 2048, True)]
    stored = [{"name": n, "measured": m, "target": t, "met": met, "how": "make bench"} for n, m, t, met in rows]
    path.write_text(json.dumps(stored))
    table = targets.targets(tmp_path)
    assert table.loc["fast"].tolist() == [12_000.0, "at least 20,000", "", "no", "make bench"]
    text = str(target_remarks.targets(table))
    assert text.startswith("1 of 2 targets is missed. ")
    assert str(target_remarks.targets(table.iloc[1:])).startswith("The only target is met.")
    assert "make bench" in Table(table, "x")._repr_html_()
    path.write_text('[{"name": "x"}]')
    with pytest.raises(InputError, match=r"targets\.json: not a list of targets"):
        targets.targets(tmp_path)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ({"measured": 0.6, "target": 0.5, "met": False}, "at most 0.5"),
        ({"measured": 0.4, "target": 0.5, "met": False}, "at least 0.5"),
        ({"measured": 0.4, "target": 0.5, "met": True}, "at most 0.5"),
        ({"measured": 2.0, "target": 2.0, "met": True}, "2"),
        ({"measured": 2.0, "target": 2.0, "met": True, "more": False}, "at most 2"),
        ({"measured": 100.0, "target": 100, "met": True}, "at least 100"),
    ],
)
def test_a_target_says_which_side_is_good(stored: dict, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / targets.KEPT
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"name": "en_ewt, x, %", "how": "make bench", **stored}]))
    assert targets.targets(tmp_path).loc["en_ewt, x", ["wanted", "unit"]].tolist() == [wanted, "%"]


@pytest.mark.parametrize(
    ("stored", "described"),
    [
        ("a/test: training, CPU seconds to 64b772b", ("a/test: training time relative to commit 64b772b", "times")),
        ("a test, one core, words per CPU second", ("a test, one core: speed", "words per CPU second")),
        (
            "sampling: UAS above exact search, mean",
            ("sampling: UAS minus the UAS of exact search, mean over corpora, one seed", "UAS points"),
        ),
        ("a test, F5: UAS above MaltParser's", ("a test, F5: UAS minus the UAS of MaltParser", "UAS points")),
        ("parsing 10 sentences, CPU s", ("parsing 10 sentences", "CPU s")),
        ("disagreements", ("disagreements", "")),
    ],
)
def test_a_figure_has_its_unit_beside_its_name(stored: str, described: tuple[str, str]) -> None:
    assert targets.described(stored) == described


def test_without_stored_figures_there_is_no_table(tmp_path: Path) -> None:
    table = targets.targets(tmp_path)
    assert table.empty
    assert "`make bench`" in str(target_remarks.targets(table))
    assert "no run has results for this table" in Table(table, "x")._repr_html_()


def test_the_reference_shows_the_stored_figures() -> None:
    table = targets.targets(BENCHMARKS.parent)
    stored = json.loads((BENCHMARKS.parent / "results" / "reference" / "targets.json").read_text())
    assert len(table) == len(stored) > 20, "a name occurs twice"


def test_the_stored_figures_of_the_reference_are_those_of_its_metrics(
    goals: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    recorded = benchmark("recorded")
    results = collect.reference(BENCHMARKS.parent)
    assert results is not None
    rows = [row for section in (recorded.transitions, recorded.samplers, recorded.grammars) for row in section(results)]
    how = "python benchmarks/recorded.py"
    goals.keep(rows, tmp_path / "targets.json", how)
    stored = json.loads((BENCHMARKS.parent / goals.KEPT).read_text(encoding="utf-8"))
    assert [entry for entry in stored if entry["how"] == how] == json.loads((tmp_path / "targets.json").read_text())
