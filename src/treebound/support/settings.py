"""Settings of a system: one frozen class, read alike by the command line, by files and by Python.

    @dataclass(frozen=True)
    class Settings(Checked):
        epochs: Epochs = option(6, "Passes over TRAIN.")

A field is an option of the command line (`--epochs`), a key of a file (`epochs: 6`) and an argument. However one is
made, its values are checked against the types, and a wrong one is a SettingError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from treebound.core.errors import InputError

Epochs = Annotated[int, Field(ge=1, le=1_000_000)]
Heads = Annotated[int, Field(ge=1, le=1_000_000)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Calls = Annotated[int, Field(ge=0, le=1_000_000_000)]
Rate = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Cost = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class SettingError(InputError):
    """A setting that there is not, or that cannot have this value."""

    def __init__(self, key: str, reason: str, hint: str = ""):
        super().__init__(f"{key}: {reason}", hint=hint)
        self.key, self.reason = key, reason


def option(default: Any, explanation: str) -> Any:
    """A field with its default, and what the command line says about it."""
    return field(default=default, metadata={"help": explanation})


@dataclass(frozen=True)
class Checked:
    """What settings inherit."""

    #: for pydantic, where settings are part of a file
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        for name, adapter in _adapters(type(self)).items():
            try:
                object.__setattr__(self, name, adapter.validate_python(getattr(self, name)))
            except ValidationError as error:
                raise _fault(name, error) from None

    def as_dict(self) -> dict[str, Any]:
        """JSON values, as stored in files."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


S = TypeVar("S", bound=Checked)


_CHECKS: dict[type, dict[str, TypeAdapter]] = {}


def _adapters(of: type[Checked]) -> dict[str, TypeAdapter]:
    """Of each field of a class, what checks its values; made once, when the first is checked."""
    if of not in _CHECKS:
        hints = get_type_hints(of, include_extras=True)
        _CHECKS[of] = {f.name: TypeAdapter(hints[f.name]) for f in fields(of)}
    return _CHECKS[of]


def _fault(name: str, error: ValidationError) -> SettingError:
    first = error.errors()[0]
    if first["type"] == "literal_error":
        names = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        hint = "choose from " + ", ".join(filter(None, names))
        return SettingError(name, f"unknown value {first['input']!r}", hint)
    numbers = first.get("ctx", {})
    hint = "choose a number in its range" if numbers and isinstance(first["input"], int | float) else ""
    return SettingError(name, first["msg"].removeprefix("Value error, "), hint)


def read(of: type[S], given: Mapping[str, Any], *others: str) -> S:
    """Settings from options or keys; names may also be a text that separates them by commas. Raises SettingError.

    others  keys that the place where they stand has besides, for the message
    """
    known = _adapters(of)
    if unknown := [key for key in given if key not in known]:
        raise SettingError(str(unknown[0]), "unknown key", f"valid keys are {', '.join((*others, *known))}")
    defaults = {f.name: f.default for f in fields(of)}
    return of(**{k: split(v) if isinstance(defaults[k], tuple) else v for k, v in given.items()})


def split(value: Any) -> Any:
    """Names from a text that separates them by commas."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
