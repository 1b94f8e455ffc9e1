"""Test the help of every command and option, and completion in the shell."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from treebound.cli import application
from treebound.learning.reading import Reading
from treebound.support.settings import Checked, read
from treebound.systems.graph.settings import Settings
from treebound.treebanks.catalogue import CORPORA

COMMANDS = typer.main.get_command(application()).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained_with_its_default(name: str) -> None:
    command = COMMANDS[name]
    context = typer.Context(command, info_name=name)
    assert len((command.help or "").split()) > 3
    for parameter in command.get_params(context):
        if parameter.name == "help":
            continue
        described = parameter.get_help_record(context)
        text = " ".join((described or ("", ""))[1].split())
        meanings = getattr(command.callback, "meanings", {}).get(parameter.name, {})
        for explained in {meaning.help for meaning in meanings.values()} or {parameter.help or ""}:
            sentence = explained.partition(" [")[0].rstrip()
            assert len(sentence.split()) > 3, f"{name} {parameter.name}: {sentence!r} is no sentence"
            assert sentence.endswith("."), f"{name} {parameter.name}: {sentence!r} has no end"
        if parameter.param_type_name == "option" and not parameter.required:
            assert "default: " in text, f"{name} --{parameter.name}: no default"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_of_the_command(name: str) -> None:
    lines = [line.strip() for line in (COMMANDS[name].help or "").splitlines()]
    examples = lines[next(i for i, line in enumerate(lines) if line.startswith("Example")) :]
    assert any(line.startswith(f"treebound {name} ") for line in examples)


def test_examples_name_corpora_of_the_catalogue() -> None:
    examples = [line.split() for name in ("fetch", "convert") for line in (COMMANDS[name].help or "").splitlines()]
    named = {word for line in examples if line[:1] == ["treebound"] for word in line[2:] if re.fullmatch(r"\w+", word)}
    assert named - {"ccg"}
    assert named - {"ccg"} <= set(CORPORA)


def test_help_explains_punctuation_and_scores() -> None:
    assert "Punctuation is every word with UPOS PUNCT in GOLD" in " ".join(COMMANDS["evaluate"].help.split())
    assert "integer scores" in " ".join(COMMANDS["parse"].help.split())


def help_of(*arguments: str) -> str:
    """Return the help of a command, as one line."""
    command = [str(Path(sys.executable).with_name("treebound")), *arguments]
    return " ".join(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_help_for_a_system_has_its_ranges_and_sections() -> None:
    graph, sampling = help_of("train", "--help"), help_of("train", "--help-for", "sampling")
    assert "[default: 22; 12<=x<=28] --C" in graph
    assert "[default: 22; 12<=x<=24] --C" in sampling
    assert "Options of sampling: --constraints" in sampling
    assert help_of("train", "--help-for", "graph") == graph


def complete(*words: str) -> list[str]:
    """Return what bash proposes for the last word, which is empty after a complete word."""
    environment = os.environ | {
        "_TREEBOUND_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["treebound", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [str(Path(sys.executable).with_name("treebound"))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_the_shell_completes_commands_options_and_values() -> None:
    assert complete("tra") == ["train", "train-many"]
    assert "--decoder" in complete("parse", "--de")
    assert complete("parse", "model.npz", "--decoder", "branch") == ["branch-and-bound"]
    assert complete("train", "--labels", "sec") == ["second-stage"]
    assert complete("train", "--system", "trans") == ["transition"]


def test_one_command_installs_completion(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path)}
    program = (
        "import sys; sys.argv = ['treebound', '--install-completion', 'bash']; from treebound.cli import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "treebound" in (tmp_path / ".bashrc").read_text()


@pytest.mark.parametrize("settings", [Settings, Reading])
def test_train_has_the_options_and_defaults_of_its_settings(settings: type[Checked]) -> None:
    defaults = {parameter.name: parameter.default for parameter in COMMANDS["train"].params}
    option_defaults = {field.name: defaults[field.name] for field in dataclasses.fields(settings)}
    assert read(settings, {name: value for name, value in option_defaults.items() if value is not None}) == settings()
