"""Optional packages, which only some features need: the extras of `pip install`.

    with needs("ilp"):
        import highspy

`tests/test_packaging.py` compares these blocks with the lists in `pyproject.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treebound.core.errors import InputError


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Run a block that imports packages of an extra of `pip install`.

    Raises InputError if an import fails. Its hint is the command that installs the extra.
    """
    try:
        yield
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name
        reason = f"{error.name} is not installed" if missing else f"a package cannot be imported ({error})"
        raise InputError(reason, hint=f"run: pip install 'treebound[{extra}]'") from None
