"""How a parser of others is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treebound.support.settings import Checked, Seed, SettingError, option


@dataclass(frozen=True)
class Settings(Checked):
    """Of a package."""

    seed: Seed = option(1, "Of the order of sentences; equal seeds give equal models.")
    options: tuple[str, ...] = option(
        (), "What differs from the usual settings of the package, as iterations=3. [default: nothing]"
    )

    def numbers(self) -> dict[str, Any]:
        """What its `train` takes."""
        out: dict[str, Any] = {}
        for text in self.options:
            name, equals, value = text.partition("=")
            if not equals or not name.isidentifier():
                raise SettingError("options", f"{text!r} is no setting", "give NAME=VALUE")
            try:
                number = float(value)
                out[name] = int(number) if number.is_integer() and "." not in value else number
            except ValueError:
                out[name] = value
        return out
