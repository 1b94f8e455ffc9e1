"""Provide what all pipeline stages share: reading parameters, writing files, and starting a stage.

Every stage depends on this module, so it stays small.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies.common import params as parameters
from studies.common.paths import CHECKPOINTS, CONVERTED, DATA, METRICS, MODELS, PREDICTIONS  # noqa: F401
from treebound.core.errors import InputError, TreeboundError
from treebound.support import interrupts
from treebound.support.atomic import replacing

#: significant digits of floats in metrics; processors sum in different orders, which changes the tenth digit
DIGITS = 8


def write(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path: Path, data: Any) -> None:
    """Write JSON with sorted keys, so that the same data give the same bytes."""
    write(path, json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n")


def write_metrics(path: Path, data: Any) -> None:
    """Write JSON with rounded floats, so that the same results give the same bytes on every processor."""
    write_json(path, rounded(data))


def rounded(data: Any) -> Any:
    """Round all floats in nested data to DIGITS significant digits."""
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [rounded(value) for value in data]
    return float(f"{data:.{DIGITS}g}") if isinstance(data, float) else data


def sha256(path: Path) -> str:
    """Return the checksum of a file. Raises InputError if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path, hint="run the earlier stages first") from None


def say(message: str) -> None:
    """Print one line of progress on standard error."""
    print(message, file=sys.stderr, flush=True)


def main(function: Callable[..., None]) -> None:
    """Run a stage: call `function(params, *arguments)` with params.yaml and the arguments of the command line."""
    parser = argparse.ArgumentParser(description=function.__doc__)
    _, *names = inspect.signature(function).parameters
    for name in names:
        parser.add_argument(name)
    arguments = parser.parse_args()
    interrupts.handle()
    try:
        params = parameters.load()
        function(params, *(getattr(arguments, name) for name in names))
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
