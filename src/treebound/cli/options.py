"""Make options of the command line from classes of settings, which hold names, types, defaults and help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from treebound.cli.groups import Meaning, help_for


def options_of(classes: dict[str, type]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command whose last parameter is `**settings` one option for each field of several classes of settings.

    classes  names of systems, joined by commas -> class of settings

    A field of several classes becomes one option. Its limits are the widest of all classes; the class in use checks its
    own limits. The attribute `meanings` of the command holds the help and default of an option for each system.
    """

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind != p.VAR_KEYWORD]
        settings: dict[str, list[_Use]] = {}
        for whose, kind in classes.items():
            hints = get_type_hints(kind, include_extras=True)
            for field in fields(kind):
                use = _Use(whose, hints[field.name], field.default, field.metadata["help"])
                settings.setdefault(field.name, []).append(use)
        options = [_option(name, uses) for name, uses in settings.items()]
        every = (system for uses in settings.values() for use in uses for system in use.systems)
        systems = [system for system in dict.fromkeys(every) if system]
        last = [help_for(systems)] if systems else []
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *options, *last)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        meanings = {
            name: {
                system: Meaning(use.help, _typed(use.default), _kind(use.hint, use.default)[1], _title(use.whose))
                for use in reversed(uses)  # if several classes have meanings for a system, the first class counts
                for system in (["", *systems] if use.whose == ALL else use.systems)
            }
            for name, uses in settings.items()
        }
        command.meanings = meanings  # type: ignore[attr-defined]
        return command

    return wrap


ALL = " "  #: name in `classes` of settings that all systems have


class _Use(NamedTuple):
    """A field of a class of settings, with the names of the systems that use the class.

    whose          names of the systems, joined by commas; empty for graph-based models
    hint           annotated type of the field
    default, help  default and help text of the field
    """

    whose: str
    hint: Any
    default: Any
    help: str

    @property
    def systems(self) -> list[str]:
        """Return the names of the systems that have the field; the name is "" for graph-based models."""
        return self.whose.strip().split(", ")


def _title(whose: str) -> str:
    """Return the heading of the section of the help that holds the options of some systems."""
    return {"": "Model", ALL: "Treebanks"}.get(whose, f"Options of {whose}")


def _typed(default: Any) -> Any:
    """Return a default in the form that the command line parses: tuples are joined by commas."""
    return ",".join(default) if isinstance(default, tuple) else default


def _option(name: str, uses: list[_Use]) -> inspect.Parameter:
    """Return the command parameter `name` for a field that one or several classes of settings have."""
    _, hint, default, text = uses[0]  # `meanings` of the command replace the help for other systems
    every = [_kind(use.hint, use.default)[1] for use in uses]
    kind, _ = _kind(hint, default)
    limits = {
        n: widest(x[n] for x in every) for n, widest in (("min", min), ("max", max)) if all(n in x for x in every)
    }
    default = _typed(default)
    values = sorted({value for use in uses for value in _choices(use.hint)})
    option = typer.Option(f"--{name.replace('_', '-')}", help=text, autocompletion=lambda: values, **limits)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _kind(hint: Any, default: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type of an option and its limits, `min` and `max`.

    The type is str if the default is a tuple, or if the value may be the word `none` as well as a number. The settings
    class then checks the limits.
    """
    kind, limits = _plain(hint)
    if isinstance(default, tuple):
        return str, {}
    if default is None:
        return kind | None, limits
    if NoneType in get_args(hint) or any(NoneType in get_args(a) for a in get_args(hint)):
        return str, {}  # a number, or the word none
    return kind, limits


def _plain(hint: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type that typer parses, and the limits `min` and `max` of its numbers."""
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


def _choices(hint: Any) -> list[str]:
    """Return the values of a type that lists them (`Literal`), for completion in the shell."""
    if get_origin(hint) is Literal:
        return [value for value in get_args(hint) if isinstance(value, str) and value]
    return [value for inner in get_args(hint) for value in _choices(inner)]


def typed(context: typer.Context, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the command line names. The system chooses the others."""
    sources = {name: context.get_parameter_source(name) for name in settings}
    return {name: value for name, value in settings.items() if (s := sources[name]) and s.name == "COMMANDLINE"}
