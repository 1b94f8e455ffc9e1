"""Test that a run continues where files of ended stages are missing (studies/pipeline: run, unfinished)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from studies.pipeline import reference, run, unfinished
from treebound.core.errors import InputError

#: the corpus is read by the model, and the model and the settings are read by the metric
PIPELINE = {
    "stages": {
        "corpus": {"cmd": "echo corpus > corpus.txt", "outs": ["corpus.txt"]},
        "model": {"cmd": "mkdir -p models; cat corpus.txt > models/a", "deps": ["corpus.txt"], "outs": ["models/a"]},
        "metric": {
            "cmd": "cat models/a settings > results/metrics/a",
            "deps": ["models", "settings"],
            "outs": [{"results/metrics/a": {"cache": False}}],
        },
    }
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with the ended run of the pipeline, whose corpus and models are missing."""
    path = tmp_path / "build" / "run"
    for name in ("models", "results/metrics"):
        (path / name).mkdir(parents=True)
    monkeypatch.chdir(path)
    command = [sys.executable, "-m", "dvc"]
    subprocess.run([*command, "init", "--no-scm"], check=True, capture_output=True)
    Path("dvc.yaml").write_text(yaml.safe_dump(PIPELINE))
    Path("settings").write_text("1\n")
    subprocess.run([*command, "repro"], check=True, capture_output=True)
    Path("corpus.txt").unlink()
    shutil.rmtree("models")
    shutil.rmtree(".dvc/cache")
    return path


def to_run(allow_missing: bool) -> set[str]:
    from dvc.repo import Repo

    with Repo() as repo:
        return set(run.jobs_of(repo, (), allow_missing))


def test_missing_files_alone_are_no_reason_to_run(folder: Path) -> None:
    assert to_run(allow_missing=True) == set()
    assert to_run(allow_missing=False) == {"corpus", "model", "metric"}


def test_a_stage_that_runs_gets_the_missing_files_that_it_reads(folder: Path) -> None:
    Path("settings").write_text("2\n")
    assert to_run(allow_missing=True) == {"corpus", "model", "metric"}
    Path("corpus.txt").write_text("corpus\n")
    assert to_run(allow_missing=True) == {"model", "metric"}
    assert (
        subprocess.run([sys.executable, "-m", "studies.pipeline.run", "--allow-missing"], check=False).returncode == 0
    )
    assert Path("results/metrics/a").read_text() == "corpus\n2\n"
    assert to_run(allow_missing=False) == set()


def test_a_missing_file_that_is_not_the_one_that_was_read_is_a_reason_to_run(folder: Path) -> None:
    lock = yaml.safe_load(Path("dvc.lock").read_text())
    lock["stages"]["corpus"]["outs"][0]["md5"] = "0" * 32
    Path("dvc.lock").write_text(yaml.safe_dump(lock))
    assert to_run(allow_missing=True) == {"corpus", "model", "metric"}


def test_a_changed_result_is_a_reason_to_run(folder: Path) -> None:
    Path("results/metrics/a").write_text("edited\n")
    assert "metric" in to_run(allow_missing=True)


def test_a_stored_run_continues_in_an_empty_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = folder.parents[1]
    monkeypatch.chdir(project)
    run_folder = folder.relative_to(project)
    size = unfinished.save((run_folder, Path("build/none")), Path("stored"))
    assert size == sum(path.stat().st_size for path in Path("stored").iterdir()) > 0
    for name in ("dvc.lock", "results"):
        shutil.move(run_folder / name, project / Path(name).name)
    unfinished.restore((run_folder, Path("build/none")), Path("stored"))
    assert (run_folder / "dvc.lock").read_bytes() == Path("dvc.lock").read_bytes()
    monkeypatch.chdir(folder)
    assert to_run(allow_missing=True) == set()


def test_an_archive_is_written_only_if_its_content_changed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in ("a", "b"):
        (folder / "results/predictions" / corpus).mkdir(parents=True)
        (folder / "results/predictions" / corpus / "row.csv").write_text("1,2\n")
    monkeypatch.chdir(folder.parents[1])
    stored = Path("stored")

    def numbers() -> dict[str, int]:
        """The inode of each archive: a file that is written gets another one."""
        unfinished.save((Path("build/run"),), stored)
        return {path.name: path.stat().st_ino for path in stored.iterdir()}

    first = numbers()
    assert set(first) == {"run-a.tar.xz", "run-b.tar.xz", "record.tar.xz"}
    (folder / "results/predictions/a/row.csv").touch()
    assert numbers() == first
    (folder / "results/predictions/a/row.csv").write_text("1,3\n")
    assert {name for name, number in numbers().items() if number != first[name]} == {"run-a.tar.xz"}
    shutil.rmtree(folder)
    unfinished.restore((Path("build/run"),), stored)
    assert (folder / "results/predictions/a/row.csv").read_text() == "1,3\n"
    assert (folder / "results/predictions/b/row.csv").read_text() == "1,2\n"


def test_a_large_archive_is_divided_and_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, stored = folder / "results/predictions/a", Path("stored")
    corpus.mkdir(parents=True)
    for name in "xyz":
        (corpus / name).write_text(name)
    monkeypatch.chdir(folder.parents[1])
    unfinished.save((Path("build/run"),), stored)
    assert {path.name for path in stored.iterdir()} == {"run-a.tar.xz", "record.tar.xz"}
    largest = (stored / "run-a.tar.xz").stat().st_size - 1
    monkeypatch.setattr(unfinished, "LARGEST", largest)
    unfinished.save((Path("build/run"),), stored)
    assert {path.name for path in stored.glob("run-a-*")} == {path.name for path in stored.glob("run-*")} != set()
    assert max(path.stat().st_size for path in stored.glob("run-*")) <= largest
    shutil.rmtree(folder)
    unfinished.restore((Path("build/run"),), stored)
    assert {path.name: path.read_text() for path in corpus.iterdir()} == {name: name for name in "xyz"}


def test_the_command_stores_the_reference_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = folder.parents[1]
    monkeypatch.chdir(project)
    shutil.move(folder, reference.FOLDER)
    Path("results").mkdir()
    subprocess.run([sys.executable, "-m", "studies.pipeline.reference", "--save"], check=True)
    shutil.rmtree(reference.FOLDER)
    reference.FOLDER.mkdir()
    unfinished.restore((reference.FOLDER, reference.MORE_FOLDER), reference.UNFINISHED)
    assert (reference.FOLDER / "results/metrics/a").read_text() == "corpus\n1\n"


def test_a_run_that_is_there_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = folder.parents[1]
    monkeypatch.chdir(project)
    run_folder = folder.relative_to(project)
    unfinished.save((run_folder,), Path("stored"))
    (folder / "results/metrics/a").write_text("newer\n")
    unfinished.restore((run_folder,), Path("stored"))
    assert (folder / "results/metrics/a").read_text() == "newer\n"


def test_without_a_run_there_is_nothing_to_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run to store"):
        unfinished.save((Path("build/run"),), Path("stored"))
    assert list(tmp_path.iterdir()) == []
    unfinished.restore((Path("build/run"),), Path("stored"))
    assert list(tmp_path.iterdir()) == []


def test_an_archive_writes_into_the_folder_of_its_run_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stored").mkdir()
    with tarfile.open("stored/run-a.tar.xz", "w:xz") as archive:
        for name in ("build/run/results/a", "build/run/../../outside", "elsewhere/a"):
            archive.addfile(tarfile.TarInfo(name))
    unfinished.restore((Path("build/run"),), Path("stored"))
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"build/run/results/a", "stored/run-a.tar.xz"}


def test_models_for_pages_leave_the_record_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that DVC's record and the times are as before after models were trained again that pages load."""
    folder = tmp_path / "run"
    times, record = folder / "results/metrics/timing/train/tr_twt/arc.json", folder / "dvc.lock"

    def run(folder: Path, *names: str) -> int:
        assert names == ("train@tr_twt-arc",)
        for path in (times, record):
            path.write_text("changed")
        (folder / "model").touch()
        return 0

    times.parent.mkdir(parents=True)
    for path in (times, record):
        path.write_text("of the run")
    monkeypatch.setattr(reference, "FOLDER", folder)
    monkeypatch.setattr(reference.scratch, "run", run)
    reference.train("train@tr_twt-arc")
    assert (folder / "model").is_file()
    assert times.read_text() == record.read_text() == "of the run"
