"""What all pipeline stages share: where files lie, how they are written, how a stage is started.

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

from treebound.core.errors import InputError, TreeboundError
from treebound.experiments import params as parameters
from treebound.experiments import plan
from treebound.support.atomic import replacing

DATA = Path("data")  #: raw/<corpus> holds what was fetched
CONVERTED = DATA / "converted"  #: <corpus>/{train,dev,test}.{conllu,npz}
MODELS = plan.MODELS
METRICS = Path("results/metrics")  #: small JSON files, kept in git
PREDICTIONS = Path("results/predictions")  #: one row a sentence, kept by DVC
CHECKPOINTS = Path("build/checkpoints")


def write(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path: Path, data: Any) -> None:
    """JSON with sorted keys: the same data give the same bytes."""
    write(path, json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n")


def sha256(path: Path) -> str:
    """Checksum of a file. Raises InputError if it is missing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", path=path, hint="run the stages before this one"
        ) from None


def say(message: str) -> None:
    """One line of progress on stderr."""
    print(message, file=sys.stderr, flush=True)


def main(function: Callable[..., None]) -> None:
    """Run `function(params, *arguments)`, its other parameters being the positional arguments of the command line."""
    parser = argparse.ArgumentParser(description=function.__doc__)
    _, *names = inspect.signature(function).parameters
    for name in names:
        parser.add_argument(name)
    arguments = parser.parse_args()
    try:
        params = parameters.load()
        plan.check(params)
        function(params, *(getattr(arguments, name) for name in names))
    except TreeboundError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
