"""What only parses tell of renewed rows comes into a reference; everything else stays."""

from __future__ import annotations

import shutil
from pathlib import Path

import made_up_results
import pandas as pd
import pytest

from treebound.experiments import params as parameters
from treebound.report import export, join

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with invented metrics and parses of which some rows are not there yet."""
    folder = tmp_path_factory.mktemp("run")
    made_up_results.project(folder, REPOSITORY, with_reference=False)
    shutil.copyfile(REPOSITORY / "dvc.yaml", folder / "dvc.yaml")
    (folder / "data").mkdir(exist_ok=True)
    return folder


def table(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, index_col=[0, 1, 2])


def test_rows_that_a_run_has_parsed_take_the_place_of_the_references(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join, "JOINED", {"significance-uas": 3})
    whole = tmp_path / "whole"
    export.export(run, whole, ["significance-uas"])
    every = table(whole / "tables" / "significance-uas.csv")
    (mine, absent), corpus = every.index[:2], every.index[0][0]
    reference = tmp_path / "reference"
    shutil.copytree(whole, reference)
    path = reference / "tables" / "significance-uas.csv"
    ours = every.assign(difference=99.0).iloc[1:]  # lacks the first row, has others with other figures
    elsewhere = pd.concat([ours.iloc[:1].rename(index={corpus: "xx_other"}), ours])
    path.write_text(elsewhere.to_csv(lineterminator="\n"))
    part = tmp_path / "part"
    shutil.copytree(run, part)
    rows = parameters.load(part / "params.yaml").decode
    for name in [name for name, row in rows.items() if (row.model, row.learner) == (absent[2], absent[1])]:
        (part / "results" / "predictions" / corpus / "decode" / f"{name}.csv").unlink(missing_ok=True)
    changed = join.join(part, reference)
    assert str(path) in changed
    found = table(path)
    assert found.index[0][0] == "xx_other"
    assert found.loc[found.index[0], "difference"] == 99.0
    assert found.loc[mine, "difference"] == pytest.approx(every.loc[mine, "difference"])
    assert found.index[-1] == mine  # new ones go to the end
    assert [label for label in every.index if found.loc[label, "difference"] == 99.0] == [absent]
    assert "xx_other" in path.with_suffix(".md").read_text()


def test_joining_keeps_the_order_of_what_is_there() -> None:
    kept = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    fresh = pd.DataFrame({"x": [20, 40]}, index=["b", "d"])
    assert join.joined(kept, fresh)["x"].to_dict() == {"a": 1, "b": 20, "c": 3, "d": 40}
    assert join.joined(pd.DataFrame(), fresh)["x"].to_dict() == {"b": 20, "d": 40}
