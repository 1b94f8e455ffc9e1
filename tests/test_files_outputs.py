"""Test that outputs destroy nothing.

Devices, pipes and links remain, inputs are not overwritten, and partial files are removed.
"""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from test_cli import SENTENCES, TREEBOUND, assert_one_line, conllu, model, run  # noqa: F401

from treebound.core.errors import InputError, TreeboundError
from treebound.learning.storage import kind_of, save_arrays
from treebound.support.atomic import check_distinct, check_writable, replacing
from treebound.treebanks.document import read

# --- writing ---


def write(path: Path, content: bytes = b"new") -> None:
    with replacing(path) as file:
        file.write(content)


def test_a_link_to_a_device_is_written_through(tmp_path: Path) -> None:
    """Write to a device through a link: a faulty program run by root would replace the device itself."""
    (tmp_path / "null").symlink_to(os.devnull)
    write(tmp_path / "null")
    assert (tmp_path / "null").is_symlink()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["null"]


def test_a_named_pipe_is_written_through(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe")
    reader.join(60)
    assert received == [b"new"]
    assert (tmp_path / "pipe").is_fifo()


def test_an_array_file_is_written_to_a_pipe(tmp_path: Path) -> None:
    """Write a zip file to a pipe, which does not support the seeks of a zip writer."""
    os.mkfifo(tmp_path / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    save_arrays(tmp_path / "pipe", {"kind": "model", "version": 1}, {})
    reader.join(60)
    (tmp_path / "file").write_bytes(received[0])
    assert kind_of(tmp_path / "file") == "model"


@pytest.mark.parametrize("target_exists", [True, False])
def test_a_link_remains_and_its_target_is_replaced(target_exists: bool, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    if target_exists:
        target.write_bytes(b"old")
    link.symlink_to("folder/target")
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    with pytest.raises(TypeError):
        write(link, "half")  # type: ignore[arg-type]
    assert target.read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["folder", "link", "target"]


OBJECT = "ab/0123456789abcdef0123456789abcd"
LINKED = [
    ("plain", True),
    *((name, target_exists) for name in (OBJECT, f"{OBJECT}.dir") for target_exists in (True, False)),
]


@pytest.mark.parametrize(("name", "target_exists"), LINKED)
def test_a_link_into_a_cache_is_replaced_and_the_cache_is_unchanged(
    name: str, target_exists: bool, tmp_path: Path
) -> None:
    """Check links of DVC to files that are named by their content and write-protected; the files may be missing."""
    target, output = tmp_path / "cache" / name, tmp_path / "out" / "output"
    target.parent.mkdir(parents=True)
    output.parent.mkdir()
    if target_exists:
        target.write_bytes(b"old")
        target.chmod(0o444)
    output.symlink_to(target)
    check_writable(output)
    with pytest.raises(TypeError):
        write(output, "half")  # type: ignore[arg-type]
    assert output.is_symlink()
    write(output)
    assert output.read_bytes() == b"new"
    assert not output.is_symlink()
    assert os.access(output, os.W_OK)
    assert output.stat().st_mode & 0o200
    assert target.exists() == target_exists
    if target_exists:
        assert target.read_bytes() == b"old"
        assert stat.S_IMODE(target.stat().st_mode) == 0o444
    assert [p.name for p in output.parent.iterdir()] == ["output"]


@pytest.mark.parametrize("mode", [0o444, 0o644])
def test_writing_to_a_hard_link_does_not_change_the_other_file(mode: int, tmp_path: Path) -> None:
    (tmp_path / "cached").write_bytes(b"old")
    (tmp_path / "cached").chmod(mode)
    os.link(tmp_path / "cached", tmp_path / "output")
    write(tmp_path / "output")
    assert (tmp_path / "output").read_bytes() == b"new"
    assert (tmp_path / "cached").read_bytes() == b"old"
    assert stat.S_IMODE((tmp_path / "cached").stat().st_mode) == mode


def test_a_protected_file_is_not_replaced(tmp_path: Path) -> None:
    """Check that not even root, who may ignore permissions, replaces a write-protected file."""
    (tmp_path / "gold").write_bytes(b"gold")
    (tmp_path / "gold").chmod(0o444)
    for function in (write, check_writable):
        with pytest.raises(InputError, match="it is write-protected"):
            function(tmp_path / "gold")
    assert (tmp_path / "gold").read_bytes() == b"gold"


def test_permissions_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    write(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_unwritable_paths_are_one_line_errors(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path, tmp_path / "loop", tmp_path / "file" / "x", "a\0b", "\ud800"):
        for function in (write, check_writable):
            with pytest.raises(InputError, match="cannot be written") as caught:
                function(path)
            assert "\n" not in str(caught.value)
    with pytest.raises(TreeboundError, match="cannot be written"):
        save_arrays("/dev/full", {"kind": "model", "version": 1}, {})


def test_equal_paths_are_recognised_under_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("a")
    os.link("a", "hard")
    Path("soft").symlink_to("a")
    Path("later").symlink_to("not-there")
    for name in ("a", "./a", f"../{tmp_path.name}/a", str(tmp_path / "a"), "hard", "soft"):
        with pytest.raises(InputError, match="is the same file as a, which is read"):
            check_distinct(["a"], [name])
    for first, second in (("x", "x"), ("x", "./x"), ("later", "not-there"), ("a", "soft")):
        with pytest.raises(InputError, match="which is written as well"):
            check_distinct([], [first, second])
    check_distinct(["a", "a", os.devnull, None], ["b", "c", os.devnull, os.devnull])


# --- the commands ---


def test_no_command_overwrites_what_it_reads(model: Path, tmp_path: Path) -> None:  # noqa: F811
    train, gold = model.with_name("train.conllu"), model.with_name("dev.conllu")
    link, twice = tmp_path / "link", tmp_path / "twice"
    link.symlink_to(gold)
    (tmp_path / "list.yaml").write_text(f"models: {{a: {{train: '{train}', dev: '{gold}'}}}}")
    (tmp_path / "a.npz").symlink_to(gold)
    before = {path: path.read_bytes() for path in (model, train, gold)}
    for arguments in (
        ["parse", model, gold, "-o", model],
        ["parse", model, gold, "-o", link],
        ["parse", model, gold, "-o", twice, "--certificates", twice],
        ["parse", model, gold, "-o", twice, "--certificates", gold],
        ["tag", model, gold, "-o", gold],
        ["train", train, gold, "-o", link],
        ["train", "--system", "tagging", train, gold, "-o", train],
        ["jackknife", train, "-o", train],
        ["train-many", tmp_path / "list.yaml", "-o", tmp_path],
    ):
        assert_one_line(run(*arguments), "is the same file as ")
    assert {path: path.read_bytes() for path in before} == before
    assert not twice.exists()


def test_standard_streams_count_as_files(model: Path, tmp_path: Path) -> None:  # noqa: F811
    text = tmp_path / "text"
    text.write_text(conllu(SENTENCES))
    with text.open("ab") as appended:
        result = subprocess.run([TREEBOUND, "parse", model, text], stdout=appended, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "standard output: is the same file as " in result.stderr
    assert text.read_text() == conllu(SENTENCES)


def test_parse_to_standard_output_by_name(model: Path, tmp_path: Path) -> None:  # noqa: F811
    gold = model.with_name("dev.conllu")
    parsed = run("parse", model, gold).stdout
    assert run("parse", model, gold, "-o", "/dev/stdout", check=True).stdout == parsed
    with (tmp_path / "log").open("w") as log:
        log.write("before\n")
        log.flush()
        subprocess.run([TREEBOUND, "parse", model, gold, "-o", "/dev/stdout"], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "before\n" + parsed
    assert_one_line(run("parse", model, gold, "-o", "/dev/full"), "No space left on device")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reader_that_closes_the_pipe_ends_the_run_quietly(workers: int, model: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "many.conllu").write_text(conllu(SENTENCES * 2000))
    command = [TREEBOUND, "parse", model, tmp_path / "many.conllu", "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parse:
        assert parse.stdout is not None
        assert parse.stderr is not None
        assert parse.stdout.readline() == "# sent_id = 0\n"
        parse.stdout.close()
        assert parse.stderr.read() == ""
    assert parse.returncode == 141, "the exit status must be the one of a program ended by SIGPIPE"


def run_in_shell(command: str, *arguments: object) -> subprocess.CompletedProcess:
    """Run a shell command with the program as $0 and the arguments as $1, $2, ..."""
    shell_arguments = [TREEBOUND, *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", command, *shell_arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def test_closed_streams(model: Path, tmp_path: Path) -> None:  # noqa: F811
    gold, out = model.with_name("dev.conllu"), tmp_path / "out.conllu"
    parsed = run("parse", model, gold).stdout
    result = run_in_shell('"$0" parse "$1" "$2" 2>&-', model, gold)
    assert (result.returncode, result.stdout) == (0, parsed)
    result = run_in_shell('"$0" parse "$1" "$2" -o "$3" >&- 2>&- <&-', model, gold, out)
    assert result.returncode == 0
    assert out.read_text() == parsed
    result = run_in_shell('"$0" parse "$1" none 2>&-', model)
    assert (result.returncode, result.stdout) == (1, ""), "the message must not go to standard output"
    for command in ('"$0" parse "$1" "$2" >&-', '"$0" evaluate "$2" "$2" >&-', '"$0" parse "$1" <&-'):
        assert_one_line(run_in_shell(command, model, gold), "Bad file descriptor")
    assert_one_line(run_in_shell('"$0" evaluate "$2" "$2" >/dev/full', model, gold), "No space left on device")
    result = run_in_shell('"$0" evaluate "$2" "$2" 2>/dev/full', model, gold)
    assert result.returncode == 0


# --- kills ---


def start_and_kill(arguments: list[object], folder: Path, part: str) -> None:
    """Start a command and kill it as soon as its partial output exists."""
    command = [TREEBOUND, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        if "parse" in arguments:
            process.stdin.write(conllu(SENTENCES * 200, annotated=False))
            process.stdin.flush()
        while not list(folder.glob(part)):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


def test_a_killed_parse_leaves_the_old_output_behind_a_link(model: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    start_and_kill(["parse", model, "-o", tmp_path / "link"], tmp_path, ".target.*")
    assert (tmp_path / "target").read_text() == "old"
    assert (tmp_path / "link").is_symlink()


def test_a_killed_training_leaves_no_model(model: Path, tmp_path: Path) -> None:  # noqa: F811
    train, gold = model.with_name("train.conllu"), model.with_name("dev.conllu")
    arguments = ["train", train, gold, "-o", tmp_path / "m.npz", "--epochs", 300, "--bits", 14]
    start_and_kill(arguments, tmp_path, ".m.npz.checkpoint.npz")
    assert not (tmp_path / "m.npz").exists()


def test_documents_and_arrays_follow_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    read(io.BytesIO(conllu(SENTENCES).encode())).write(tmp_path / "link")
    assert (tmp_path / "target").read_text() == conllu(SENTENCES)
    assert (tmp_path / "link").is_symlink()
