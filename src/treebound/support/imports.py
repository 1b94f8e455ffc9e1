"""Which module of the package imports which, read from the sources: for the key of compiled code and for `dvc.yaml`.

Text, not syntax trees: the key is computed whenever the package is imported, within milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_STATEMENT = re.compile(
    r"^\s*(?:from\s+treebound(\.[\w.]+)?\s+import\s+(\([^)]*\)|[^\n(]+)|import\s+treebound\.([\w.]+))", re.MULTILINE
)
_NAME = re.compile(r"(\w+)(?:\s+as\s+\w+)?")


def module_of(path: Path, package: Path = PACKAGE) -> str:
    """`decoders.base` for <package>/decoders/base.py, `decoders` for its __init__.py, "" for the package's own."""
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def path_of(module: str, package: Path = PACKAGE) -> Path | None:
    """Where a module stands, None if there is no such module."""
    path = package.joinpath(*module.split("."))
    found = (path.with_name(f"{path.name}.py"), path / "__init__.py") if module else ()
    return next(filter(Path.is_file, found), None)


@cache
def imported(path: Path, package: Path = PACKAGE) -> frozenset[str]:
    """The modules of the package that a file imports: at its head, within functions, and for types alone."""
    found = set()
    for origin, names, whole in _STATEMENT.findall(path.read_text(encoding="utf-8")):
        origin = (whole or origin).strip(".")
        inner = {f"{origin}.{name}".strip(".") for name in _NAME.findall(re.sub(r"#.*", "", names))}
        modules = {name for name in inner if path_of(name, package)}
        found |= modules
        if origin and (len(modules) < len(inner) or not inner):
            found.add(origin)
    return frozenset(found)


def closure(
    modules: Iterable[str],
    package: Path = PACKAGE,
    without: frozenset[tuple[str, str]] = frozenset(),
    packages: bool = True,
) -> set[str]:
    """The modules and all that they import, and so on.

    without   (importer, imported) pairs that do not count
    packages  with the packages that hold them
    """
    seen: set[str] = set()
    left = list(modules)
    while left:
        module = left.pop()
        path = path_of(module, package)
        if module in seen or path is None:
            continue
        seen.add(module)
        left += [m for m in imported(path, package) if (module, m) not in without]
        if packages and "." in module:
            left.append(module.rpartition(".")[0])
    return seen
