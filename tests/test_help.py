"""Every command, argument and option says what it is for, and what holds where it is not given."""

from __future__ import annotations

import dataclasses

import pytest
import typer

from treebound.cli import application
from treebound.learning.reading import Reading
from treebound.support.settings import Checked, read
from treebound.systems.graph.settings import Settings

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
        assert len((parameter.help or "").split()) > 1, f"{name} {parameter.name}: no help"
        if parameter.param_type_name == "option" and not parameter.required:
            assert "default: " in text, f"{name} --{parameter.name}: no default"


def test_what_is_punctuation_and_what_is_the_unit_is_said() -> None:
    assert "Punctuation is what has UPOS PUNCT in GOLD" in COMMANDS["evaluate"].help
    assert "in one unit" in " ".join(COMMANDS["parse"].help.split())


@pytest.mark.parametrize("settings", [Settings, Reading])
def test_train_has_the_options_and_defaults_of_its_settings(settings: type[Checked]) -> None:
    defaults = {parameter.name: parameter.default for parameter in COMMANDS["train"].params}
    given = {field.name: defaults[field.name] for field in dataclasses.fields(settings)}
    assert read(settings, {name: value for name, value in given.items() if value is not None}) == settings()
