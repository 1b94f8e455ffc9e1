"""TOML files of settings: read as UTF-8, with line numbers in error messages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError


def text(path: str | Path) -> str:
    """Return the text of a UTF-8 file.

    Raises InputError if the content is not UTF-8, and OSError or ValueError if the file cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        reason, line = f"byte 0x{content[error.start]:02x} is not UTF-8", content.count(b"\n", 0, error.start) + 1
        raise InputError(reason, path=path, line=line, hint="save it as UTF-8") from None


def parse(content: str, path: str | Path) -> dict[str, Any]:
    """Parse TOML and return its tables. Raises InputError with the file `path` and the line."""
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        reason, _, where = str(error).removesuffix(")").partition(" (at ")
        position = re.match(r"line (\d+)", where)
        line = int(position[1]) if position else len(content.splitlines())
        raise InputError(f"not TOML: {reason}", path=path, line=line, hint="correct it") from None
    except (ValueError, RecursionError):
        raise InputError(
            "a number is too long, or the content is nested too deeply", path=path, hint="correct it"
        ) from None
