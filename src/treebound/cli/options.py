"""Options of the command line from classes of settings: their names, types, defaults and explanations stand there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo


def options_of(classes: dict[str, type]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command whose last parameter is `**settings` an option for each field of these classes of settings.

    classes  whose they are, for the explanation -> class. A field of several classes stands there once, by the first,
             with the limits of the widest: the class that is chosen checks its own
    """

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind != p.VAR_KEYWORD]
        found: dict[str, list[tuple[Any, Any, str]]] = {}  # of each class that has it: type, default, explanation
        for whose, of in classes.items():
            hints = get_type_hints(of, include_extras=True)
            for field in fields(of):
                text = (f"{whose}: " if whose.strip() else "") + field.metadata["help"]
                found.setdefault(field.name, []).append((hints[field.name], field.default, text))
        options = (_option(name, uses) for name, uses in found.items())
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *options)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        return command

    return wrap


def _option(name: str, uses: list[tuple[Any, Any, str]]) -> inspect.Parameter:
    hint, default, text = uses[0]
    kind = _plain(hint)[0]
    every = [_plain(other)[1] for other, *_ in uses]
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
