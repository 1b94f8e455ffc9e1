"""Commands and code of the README and the guides work as described, on small treebanks."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from synthetic import inflected_conllu
from test_cli import run

from treebound.treebanks.document import read

REPOSITORY = Path(__file__).parents[1]
GUIDES = ("treebanks", "valid-trees", "mining", "scores", "reproduce")
PAGES = ("README.md", *(f"docs/guide/{name}.md" for name in GUIDES), "CONTRIBUTING.md")
TEXT = "\n".join((REPOSITORY / page).read_text(encoding="utf-8") for page in PAGES)
COMMANDS = ("train", "parse", "check", "convert", "decode", "jackknife", "mine")
#: commands as typed by the reader, except that models are trained with small settings
SMALL = """
treebound() {
  case "$1 $*" in
    train*|mine*--folds*) command treebound "$@" --epochs 1 --bits 14;;
    *) command treebound "$@";;
  esac
}
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("readme")
    for name, seed, count in (("train", 1, 60), ("dev", 2, 10), ("test", 3, 5)):
        (folder / f"{name}.conllu").write_text(inflected_conllu(count, seed))
    text = (folder / "test.conllu").read_text()
    (folder / "input.conllu").write_text(text)
    (folder / "untagged.conllu").write_text(re.sub(r"(?m)^(\d+\t[^\t]+)\t.*", "\\1" + "\t_" * 8, text))
    rng = np.random.default_rng(0)
    np.savez(folder / "scores.npz", *(rng.normal(size=(n, n)) for n in (4, 6)))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in blocks("sh"):
        if "treebound" in block:
            done = subprocess.run(
                ["bash", "-ec", f"set -o pipefail\n{SMALL}{block}"],
                cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, (block, done.stderr)
            if "evaluate" in block:
                assert "UAS\t" in done.stdout
            if "treebound check" in block:
                assert "5 sentences: 5 proved optimal; 0 faults" in done.stderr
    return folder


def test_commands_write_the_described_files(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} >= {"model.npz", "tagger.npz", "parsed.conllu"}
    # the output of `treebound decode`, which is the last command
    assert "kbest = " in (folder / "parsed.conllu").read_text()


def test_python_code_prints_the_described_output(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for block in blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block.replace("workers=2", "workers=1"), {"__name__": "readme"})
        output = printed.getvalue()
        if "treebound.check" in block:
            assert "optimal" in output
            assert output.splitlines()[-1] == "[]"
        elif 'valid="ud"' in block:
            assert output.endswith("optimal\n")
        elif "treebound.mine" in block:
            assert output.count("True\n") == 3
        else:
            assert "True 0" in output
            assert len(read("parsed.conllu")) == 5


def test_every_command_module_and_option_is_there() -> None:
    targets = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([\w-]+)`", TEXT)) <= set(targets)
    assert all(
        importlib.util.find_spec(name) for name in re.findall(r"python -m ((?:treebound|studies)(?:\.\w+)+)", TEXT)
    )
    helps = {name: run(name, "--help").stdout for name in COMMANDS}
    for command in ("train", "parse"):  # options of a single system are listed in the help of the system
        (systems,) = re.findall(r"options of another system: (.*?)\.", " ".join(helps[command].split()))
        for system in systems.split(", "):
            helps[command] += run(command, "--help-for", system).stdout
    used = re.findall(r"`(?:treebound )?(\w+)[^`\n]*?((?: --[a-z-]+[^`\n]*)+)`", TEXT)
    options = [(command, option) for command, arguments in used for option in re.findall(r"--[a-z-]+", arguments)]
    assert len(options) > 25
    for command, option in options:
        if command in helps:
            assert re.search(rf"{option}\b", helps[command]), (command, option)
