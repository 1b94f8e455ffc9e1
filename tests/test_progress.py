"""Progress lines if standard error is not a terminal, and commands that run without standard error."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import SENTENCES, TREEBOUND, conllu

from treebound.cli import application
from treebound.support import progress


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (("epoch 1/6", "", 250, 1000, 60.0), "epoch 1/6: 250 of 1,000, 25 %, about 3 min left"),
        (("", "sentences", 12, None, 4.0), "12 sentences, 3.0 a second"),
        (("", "sentences", 100, 1000, 5.0), "100 of 1,000 sentences, 10 %, about 45 s left"),
        (("x", "", 1, 400, 60.0), "x: 1 of 400, 0 %"),
        (("x", "", 4, 400, 240.0), "x: 4 of 400, 1 %, about 6 h 36 min left"),
        (("x", "", 12, 10, 60.0), "x: 12 of 10, 100 %, about 0 s left"),
        (("x", "", 0, None, 0.0), "x: 0"),
    ],
)
def test_lines(state: tuple, line: str) -> None:
    assert progress.line(*state) == line


def test_lines_come_now_and_then_whatever_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "_said", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for name in ("a", "b", "c"):  # each step takes too little time for a line of its own
        for _ in progress.over(range(20), name):
            now[0] += 1.0
    expected = "b: 10 of 20, 50 %, about 10 s left\nc: 20 of 20, 100 %, about 0 s left\n"
    assert sys.stderr.getvalue() == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["train", "parse", "jackknife", "tag", "check"])
def test_every_long_command_reports_its_progress(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Path
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "_said", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    made, train, dev = str(tmp_path / "made"), str(files / "train.conllu"), str(files / "dev.conllu")
    arguments = {
        "train": [train, dev, "-o", made, "--epochs", "1", "--bits", "14"],
        "parse": [str(files / "model.npz"), train, "-o", made],
        "jackknife": [train, "-o", made, "--columns", "upos", "--epochs", "1", "--bits", "14"],
        "tag": [str(files / "tagger.npz"), train, "-o", made],
        "check": [str(files / "model.npz"), str(files / "parsed.conllu")],
    }
    application()([command, *arguments[command]], standalone_mode=False)
    messages = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "of " in messages
    assert " %, about " in messages


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("progress")
    (folder / "train.conllu").write_text(conllu(SENTENCES * 30))
    (folder / "dev.conllu").write_text(conllu(SENTENCES))
    small = ["--epochs", "1", "--bits", "14"]
    files_given = [str(folder / "train.conllu"), str(folder / "dev.conllu")]
    application()(["train", *files_given, "-o", str(folder / "model.npz"), *small], standalone_mode=False)
    application()(
        ["train", "--system", "tagging", *files_given, "-o", str(folder / "tagger.npz"), *small], standalone_mode=False
    )
    model, parsed = str(folder / "model.npz"), str(folder / "parsed.conllu")
    application()(["parse", model, files_given[1], "-o", parsed], standalone_mode=False)
    return folder


@pytest.mark.parametrize("stderr", ["closed", "full"])
def test_nothing_needs_standard_error(stderr: str, files: Path, tmp_path: Path) -> None:
    if stderr == "full" and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    out = tmp_path / "m.npz"
    command = [TREEBOUND, "train", files / "train.conllu", files / "dev.conllu", "-o", out, "--epochs", 1, "--bits", 14]
    with open("/dev/full", "w") if stderr == "full" else open(os.devnull, "w") as sink:
        done = subprocess.run(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=sink,
            preexec_fn=(lambda: os.close(2)) if stderr == "closed" else None,
        )
    assert (done.returncode, done.stdout) == (0, b""), "messages for standard error do not go to another stream"
    assert out.read_bytes() == (files / "model.npz").read_bytes()
    faulty = subprocess.run(
        [TREEBOUND, "parse", str(tmp_path / "none.npz")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.close(2),
    )
    assert (faulty.returncode, faulty.stdout) == (1, b"")
