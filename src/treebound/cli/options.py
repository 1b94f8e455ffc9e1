"""Options of the command line from classes of settings: their names, types, defaults and explanations stand there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from treebound.cli.groups import Group, Meaning, help_for


def options_of(classes: dict[str, type]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command whose last parameter is `**settings` an option for each field of these classes of settings.

    classes  whose they are, for the explanation -> class. A field of several classes stands there once, by the first,
             with the defaults of the others and the limits of the widest: the class that is chosen checks its own
    """

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind != p.VAR_KEYWORD]
        found: dict[str, list[_Use]] = {}
        for whose, of in classes.items():
            hints = get_type_hints(of, include_extras=True)
            for field in fields(of):
                use = _Use(whose, hints[field.name], field.default, field.metadata["help"])
                found.setdefault(field.name, []).append(use)
        options = [_option(name, uses) for name, uses in found.items()]
        every = (system for uses in found.values() for use in uses for system in use.systems)
        systems = [system for system in dict.fromkeys(every) if system]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *options, help_for(systems))]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        command.sections = {name: _section(uses[0].whose) for name, uses in found.items()}  # type: ignore[attr-defined]
        meanings = {
            name: {
                system: Meaning(use.help, _typed(use.default))
                for use in reversed(uses)  # of several classes the first counts
                for system in (["", *systems] if use.whose == ALL else use.systems)
            }
            for name, uses in found.items()
        }
        command.meanings = meanings  # type: ignore[attr-defined]
        return command

    return wrap


ALL = " "  #: whose options are those of all systems


class _Use(NamedTuple):
    """A field of a class of settings."""

    whose: str
    hint: Any
    default: Any
    help: str

    @property
    def systems(self) -> list[str]:
        """Systems that have it, "" for graph-based models."""
        return self.whose.strip().split(", ")


def _section(whose: str) -> type[Group]:
    """The section of the help for options of some systems."""
    title = {"": "Model", ALL: "Treebanks"}.get(whose, f"Models of {whose}")
    return type("Section", (Group,), {"SECTION": title, "SYSTEM": whose.strip().partition(",")[0]})


def _typed(default: Any) -> Any:
    """A default as the command line has it."""
    return ",".join(default) if isinstance(default, tuple) else default


def _option(name: str, uses: list[_Use]) -> inspect.Parameter:
    whose, hint, default, text = uses[0]._replace(whose=uses[0].whose.strip())
    text = f"{whose}: {text}" if whose else text
    others: dict[str, list[str]] = {}
    for use in uses[1:]:
        differs = use.help.split()[0] != uses[0].help.split()[0]  # then it means another thing
        said = use.help.partition(" [")[0] if differs else ""
        value = "" if use.default == default else f"[default: {_shown(use.default)}]"
        if said or value:
            others.setdefault(f"{said} {value}".strip(), []).append(use.whose)
    text += "".join(f" {', '.join(who)}: {what}" for what, who in others.items())
    kind = _plain(hint)[0]
    every = [_plain(use.hint)[1] for use in uses]
    limits = {
        n: widest(x[n] for x in every) for n, widest in (("min", min), ("max", max)) if all(n in x for x in every)
    }
    if isinstance(default, tuple):
        kind, default = str, ",".join(default)
    elif default is None:
        kind = kind | None
    elif NoneType in get_args(hint) or any(NoneType in get_args(a) for a in get_args(hint)):
        kind, limits = str, {}  # a number, or the word none
    said = typer.Option(f"--{name.replace('_', '-')}", help=text, **limits)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, said])


def _shown(default: Any) -> str:
    """A default as it would be typed."""
    if isinstance(default, tuple):
        return ",".join(default) or '""'
    return "none" if default is None else str(default) if default != "" else '""'


def _plain(hint: Any) -> tuple[Any, dict[str, Any]]:
    """The type that the command line knows, and the least and the largest number."""
    if get_origin(hint) is Annotated:
        kind, limits = _plain(get_args(hint)[0])
        for info in (a for a in get_args(hint)[1:] if isinstance(a, FieldInfo)):
            for limit in info.metadata:
                limits |= {n: getattr(limit, k) for n, k in (("min", "ge"), ("max", "le")) if hasattr(limit, k)}
        return kind, limits
    if get_origin(hint) is Literal:
        return str, {}
    inner = [a for a in get_args(hint) if a is not NoneType]
    return _plain(inner[0]) if len(inner) == 1 else (hint, {})


def given(context: typer.Context, settings: dict[str, Any]) -> dict[str, Any]:
    """Those of the settings that stand on the command line: the others are for the system to choose."""
    sources = {name: context.get_parameter_source(name) for name in settings}
    return {name: value for name, value in settings.items() if (s := sources[name]) and s.name == "COMMANDLINE"}
