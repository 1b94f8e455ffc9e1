"""The Makefile creates a new environment if the existing one was made for another folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("Makefile", "requirements.lock", "pyproject.toml")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    outside = os.pathsep.join(path for path in os.environ["PATH"].split(os.pathsep) if "venv" not in path)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "VIRTUAL_ENV")}
    command = ["make", f"PYTHON={sys.executable}", *arguments]
    return subprocess.run(command, cwd=folder, env=environment | {"PATH": outside}, capture_output=True, text=True)


def sets_up(folder: Path) -> bool:
    """Return whether `make test` would make an environment before the tests."""
    result = make(folder, "-n", "test")
    assert result.returncode == 0, result.stderr
    assert "-m pytest" in result.stdout
    return "-m venv" in result.stdout


@pytest.fixture(params=["plain", "it's a folder"])
def checkout(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with the Makefile, its requirements and an environment that the Makefile regards as complete."""
    folder = tmp_path / request.param
    folder.mkdir()
    for name in FILES:
        shutil.copyfile(ROOT / name, folder / name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    (folder / ".venv" / ".installed").touch()
    return folder


def test_an_environment_is_reused_in_its_folder_and_replaced_in_another(checkout: Path) -> None:
    assert not sets_up(checkout)
    copy = Path(shutil.copytree(checkout, checkout.parent / "copy", symlinks=True))
    assert sets_up(copy)
    assert not sets_up(checkout), "the copy does not change the original"
    moved = checkout.rename(checkout.parent / "moved")
    assert sets_up(moved)


def test_a_folder_reached_through_a_link_is_the_same(checkout: Path) -> None:
    link = checkout.parent / "link"
    link.symlink_to(checkout, target_is_directory=True)
    assert not sets_up(link)


def test_a_linked_environment_is_not_emptied(checkout: Path) -> None:
    """A worktree that links to the environment of another worktree gets its own.

    The other environment stays complete.
    """
    worktree = checkout.parent / "other"
    worktree.mkdir()
    for name in FILES:
        shutil.copyfile(ROOT / name, worktree / name)
    # pip stops at this line before it asks a package index
    (worktree / "requirements.lock").write_text("no requirement at all\n")
    (worktree / ".venv").symlink_to(checkout / ".venv", target_is_directory=True)
    result = make(worktree, ".venv/.installed")
    assert "no requirement at all" in result.stderr
    assert not (worktree / ".venv").is_symlink()
    assert (worktree / ".venv" / "bin" / "pip").exists()
    assert (checkout / ".venv" / ".installed").exists()
    assert not sets_up(checkout)
