"""Training settings of a peer, a parser of another project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treebound.support.settings import Checked, Seed, SettingError, option


@dataclass(frozen=True)
class Settings(Checked):
    """Settings that every peer takes."""

    seed: Seed = option(1, "Random seed of the sentence order. Equal seeds give equal models. UDPipe ignores it.")
    options: tuple[str, ...] = option(
        (), "Settings of the package to override, as NAME=VALUE separated by commas. [default: none]"
    )

    def numbers(self) -> dict[str, Any]:
        """Return the keyword arguments for the peer's `train`. SettingError for an option that is not NAME=VALUE."""
        arguments: dict[str, Any] = {}
        for text in self.options:
            name, equals, value = text.partition("=")
            if not equals or not name.isidentifier():
                raise SettingError("options", f"{text!r} is not a setting", "write it as NAME=VALUE")
            try:
                number = float(value)
                arguments[name] = int(number) if number.is_integer() and "." not in value else number
            except ValueError:
                arguments[name] = value
        return arguments
