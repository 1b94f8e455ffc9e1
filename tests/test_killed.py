"""Test how the runner treats DVC's files: repair of half-written ones (studies/pipeline/killed.py), few reads."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from studies.pipeline import killed, lockfile, run

PIPELINE = {"stages": {name: {"cmd": f"echo {name} > {name}.txt", "outs": [f"{name}.txt"]} for name in "abc"}}


def dvc(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "dvc", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert dvc("init", "--no-scm").returncode == 0
    Path("dvc.yaml").write_text(yaml.safe_dump(PIPELINE))
    assert dvc("repro").returncode == 0
    return tmp_path


def test_complete_files_are_not_changed(pipeline: Path, capsys: pytest.CaptureFixture) -> None:
    before = Path("dvc.lock").read_bytes()
    killed.repair()
    assert Path("dvc.lock").read_bytes() == before
    assert capsys.readouterr().err == ""


def test_a_truncated_lock_file_is_repaired(pipeline: Path) -> None:
    """Truncate the file at many positions: DVC can read the rest, and all entries before the last are kept."""
    from dvc.repo import Repo

    text = Path("dvc.lock").read_text()
    second = text.index("  b:")
    for end in sorted(
        {*range(0, len(text), 11), *range(second, second + 8)}
    ):  # and every position at the start of a name
        Path("dvc.lock").write_text(text[:end])
        killed.repair()
        with Repo() as repo:
            status = repo.status()
        # the entry of a is complete as soon as the entry of b begins
        assert ("a" not in status) == (end == second or end >= second + 3), end
    Path("dvc.lock").write_text("")
    killed.repair()
    assert dvc("repro").returncode == 0
    assert Path("dvc.lock").read_text() == text


@pytest.mark.parametrize("text", ["", "{", '{"write": {"a'])
def test_a_broken_rwlock_is_removed(pipeline: Path, text: str, capsys: pytest.CaptureFixture) -> None:
    killed.LOCKED.write_text(text)
    assert "corrupted" in dvc("repro").stderr
    killed.repair()
    assert "rwlock was half-written: removed" in capsys.readouterr().err
    assert dvc("repro").returncode == 0


def test_without_a_pipeline_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    killed.repair()
    assert list(tmp_path.iterdir()) == []


def test_control_c_ends_a_run_in_a_copy_without_a_traceback(tmp_path: Path) -> None:
    """Control-C reaches all processes of a run. The run ends when its stage has ended, and repairs dvc.lock."""
    for folder in (".dvc", "notebooks", "src", "results/reference"):
        (tmp_path / folder).mkdir(parents=True)
    stage = f"{sys.executable} -c \"import time; print('begun', flush=True); time.sleep(60)\" >&2"
    texts = {
        "dvc.yaml": yaml.safe_dump({"stages": {"sleep": {"cmd": stage}}}),
        "params.yaml": "slice: null",
        "overlay.yaml": "slice: 8",
        ".dvcignore": "",
        ".dvc/config": "[core]\n    analytics = false\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "studies.pipeline.scratch", "copy", "overlay.yaml", "--jobs", "1"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the tests may run where it is ignored
    )
    assert running.stderr is not None
    lines = iter(running.stderr.readline, "")
    assert "begun\n" in lines
    lock = tmp_path / "copy" / "dvc.lock"
    # DVC was interrupted, too
    lock.write_text("schema: '2.0'\nstages:\n  a:\n    cmd: echo\n  b:\n    cmd: echo\n    nfiles")
    os.killpg(running.pid, signal.SIGINT)
    shown = "".join(lines)
    assert running.wait(60) == 130
    assert "studies/pipeline" not in shown, shown
    assert yaml.safe_load(lock.read_text())["stages"] == {"a": {"cmd": "echo"}}


def test_the_runner_reads_dvc_lock_as_often_for_many_stages_as_for_one(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading dvc.lock once per stage takes a quarter of an hour for the thousand stages of a reference run."""
    from dvc.dvcfile import Lockfile
    from dvc.repo import Repo

    load, reads = Lockfile.load, []
    monkeypatch.setattr(Lockfile, "load", lambda self: reads.append(1) or load(self))
    counts = []
    for targets in (["a"], ["a", "b", "c"]):
        reads.clear()
        with Repo() as repo:
            assert run.jobs_of(repo, targets) == {}
        counts.append(len(reads))
    assert counts[0] == counts[1] >= 1


def made_anew(pipeline: dict[str, dict], names: Sequence[str]) -> str:
    """Run stages by DVC in a process of their own, as the runner does, and return dvc.lock."""
    Path("dvc.yaml").write_text(yaml.safe_dump({"stages": pipeline}))
    pid = run.start(names)
    assert os.waitpid(pid, 0)[1] == 0
    return Path("dvc.lock").read_text()


def test_dvc_lock_is_the_same_as_dvc_writes_it(pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change a first, a middle and the last stage, add one, and use values that YAML may write in several ways."""
    values = {"rate": 1e-05, "word": "no", "empty": None, "text": "a: b # c", "names": ["x", "ä"], "long": "word " * 40}
    Path("params.yaml").write_text(yaml.safe_dump(values))
    stages = {name: {"cmd": f"echo {name}{name} > {name}.txt", "outs": [f"{name}.txt"]} for name in "abcd"}
    stages["d"] |= {"deps": ["a.txt"], "params": list(values)}
    kept = Path("dvc.lock").read_text()
    with monkeypatch.context() as without_dvc:
        without_dvc.setattr("dvc.dvcfile.modify_yaml", None)
        ours = made_anew(stages, ["b", "d", "c"])
    assert ours != kept
    Path("dvc.lock").write_text(kept)
    monkeypatch.setattr(lockfile, "install", lambda names: None)
    assert made_anew(stages, ["b", "d", "c"]) == ours
    assert re.findall(r"^  (\w):", ours, re.MULTILINE) == list("abcd")


def test_parameters_with_anchors_leave_a_readable_dvc_lock(pipeline: Path) -> None:
    """Two entries that are written one after the other must not define the same anchor."""
    Path("params.yaml").write_text("first: &shared [x, y]\nsecond: *shared\n")
    stages = {name: {"cmd": f"echo {name} > {name}.txt", "outs": [f"{name}.txt"]} for name in "abcd"}
    for name in "bd":
        stages[name]["params"] = ["first", "second"]
    made_anew(stages, ["b"])
    text = made_anew(stages, ["d"])
    assert yaml.safe_load(text)["stages"]["b"]["params"]["params.yaml"] == {"first": ["x", "y"], "second": ["x", "y"]}
    assert dvc("status", "--quiet").returncode == 0
    # DVC itself writes anchors; the entry of a stage can then refer to the entry of another stage
    Path("dvc.lock").unlink()
    assert dvc("repro", "--force").returncode == 0
    with_anchors = Path("dvc.lock").read_text()
    assert "&id001" in with_anchors
    assert lockfile.entries(with_anchors, ["d"]) is None
    assert lockfile.with_entry(with_anchors, "  d:\n    cmd: new\n") is None
    Path("b.txt").write_text("changed")
    made_anew(stages, ["b", "d"])
    assert Path("b.txt").read_text() == "b\n"
    assert dvc("status", "--quiet").returncode == 0


def test_an_entry_is_replaced_or_added_in_its_section() -> None:
    text = "schema: '2.0'\nstages:\n  a:\n    cmd: x\n  ab:\n    cmd: y\n  b:\n    cmd: z\ndatasets:\n- name: a\n"
    assert lockfile.with_entry(text, "  ab:\n    cmd: new\n") == text.replace("cmd: y", "cmd: new")
    assert lockfile.with_entry(text, "  b:\n    cmd: new\n") == text.replace("cmd: z", "cmd: new")
    assert lockfile.with_entry(text, "  c:\n    cmd: new\n") == text.replace("datasets", "  c:\n    cmd: new\ndatasets")
    start = text[: text.index("  a:")]
    assert lockfile.with_entry(start, "  a:\n    cmd: x\n") == start + "  a:\n    cmd: x\n"
    for other in ("", "schema: '2.0'\n", "stages: {}\n", "stages: {a: {cmd: x}}\n", text[:-1]):
        assert lockfile.with_entry(other, "  a:\n    cmd: x\n") is None
        assert lockfile.entries(other, ["a"]) is None
    assert lockfile.with_entry(text, "  ? a\n  : cmd: x\n") is None
    kept = lockfile.entries(text, ["b", "ab", "c"])
    assert kept == start + "  b:\n    cmd: z\n  ab:\n    cmd: y\n"


def test_stages_that_have_not_changed_are_not_run_again(pipeline: Path) -> None:
    """The runner reads the entries of its stages alone; it must find them there."""
    times = {name: Path(f"{name}.txt").stat().st_mtime_ns for name in "abc"}
    Path("b.txt").write_text("changed")
    before = Path("dvc.lock").read_text()
    assert made_anew(PIPELINE["stages"], ["a", "b", "c"]) == before
    assert Path("b.txt").read_text() == "b\n"
    assert [Path(f"{name}.txt").stat().st_mtime_ns for name in "ac"] == [times["a"], times["c"]]
