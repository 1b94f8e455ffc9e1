"""Settings of a system: a frozen class whose fields the command line, files and Python code share.

    @dataclass(frozen=True)
    class Settings(Checked):
        epochs: Epochs = option(6, "Passes over TRAIN.")

A field is an option of the command line (`--epochs`), a key of a file (`epochs: 6`) and an argument. In each case its
value is checked against its type, and a wrong value raises SettingError.
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
    """Raised for an unknown setting, or for a value that a setting cannot have."""

    def __init__(self, key: str, reason: str, hint: str = ""):
        super().__init__(f"{key}: {reason}", hint=hint)
        self.key, self.reason = key, reason


def option(default: Any, explanation: str) -> Any:
    """Return a dataclass field with a default and the help text of its command-line option."""
    return field(default=default, metadata={"help": explanation})


@dataclass(frozen=True)
class Checked:
    """A base class of settings, which checks the values of the fields against their types."""

    #: configuration for pydantic, for settings that are part of a file
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        for name, adapter in _adapters(type(self)).items():
            try:
                object.__setattr__(self, name, adapter.validate_python(getattr(self, name)))
            except ValidationError as error:
                raise _setting_error(name, error) from None

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values, in the form in which files store them."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


S = TypeVar("S", bound=Checked)


_CHECKS: dict[type, dict[str, TypeAdapter]] = {}


def _adapters(settings_class: type[Checked]) -> dict[str, TypeAdapter]:
    """Return the validators of all fields of a class, by name. They are created on first use."""
    if settings_class not in _CHECKS:
        hints = get_type_hints(settings_class, include_extras=True)
        _CHECKS[settings_class] = {f.name: TypeAdapter(hints[f.name]) for f in fields(settings_class)}
    return _CHECKS[settings_class]


def _setting_error(name: str, error: ValidationError) -> SettingError:
    """Return the SettingError for a value that pydantic rejects."""
    first = error.errors()[0]
    if first["type"] == "literal_error":
        names = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        hint = "choose from " + ", ".join(filter(None, names))
        return SettingError(name, f"unknown value {first['input']!r}", hint)
    numbers = first.get("ctx", {})
    hint = "choose a number in its range" if numbers and isinstance(first["input"], int | float) else ""
    return SettingError(name, first["msg"].removeprefix("Value error, "), hint)


def read(settings_class: type[S], values: Mapping[str, Any], *other_keys: str) -> S:
    """Create settings from options or keys, and split text values of tuple fields at commas.

    settings_class  class of the settings
    values          values by key
    other_keys      keys that are valid beside the settings; the message about an unknown key lists them, too

    Raises SettingError for an unknown key or a wrong value.
    """
    known = _adapters(settings_class)
    if unknown := [key for key in values if key not in known]:
        raise SettingError(str(unknown[0]), "unknown key", f"valid keys are {', '.join((*other_keys, *known))}")
    defaults = {f.name: f.default for f in fields(settings_class)}
    return settings_class(**{k: split(v) if isinstance(defaults[k], tuple) else v for k, v in values.items()})


def split(value: Any) -> Any:
    """Split a text at commas into a tuple of names; return any other value unchanged."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
