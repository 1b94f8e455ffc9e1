"""Settings in TOML: read as UTF-8, with the line of what is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError


def text(path: str | Path) -> str:
    """What stands in a file. Raises InputError for what is no text, OSError or ValueError for what is no file."""
    content = Path(path).read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        reason, line = f"byte 0x{content[error.start]:02x} is not UTF-8", content.count(b"\n", 0, error.start) + 1
        raise InputError(reason, path=path, line=line, hint="save it as UTF-8") from None


def parse(content: str, path: str | Path) -> dict[str, Any]:
    """The tables of a text. Raises InputError, which names the file `path` and the line."""
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        reason, _, where = str(error).removesuffix(")").partition(" (at ")
        at = re.match(r"line (\d+)", where)
        line = int(at[1]) if at else len(content.splitlines())
        raise InputError(f"not TOML: {reason}", path=path, line=line, hint="correct it") from None
    except (ValueError, RecursionError):
        raise InputError("a number too long, or nested too deeply", path=path, hint="correct it") from None
