"""The import graph of the package, read from the sources, for the key of compiled code and for `dvc.yaml`.

Imports are found by regular expressions, not by syntax trees, because the key is computed within milliseconds whenever
the package is imported.
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
    """Return the name of a module: `decoders.base` for <package>/decoders/base.py, `decoders` for decoders/__init__.py.

    Returns an empty string for the __init__.py of the package itself.
    """
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def path_of(module: str, package: Path = PACKAGE) -> Path | None:
    """Return the file of a module, or None if there is no module of this name."""
    path = package.joinpath(*module.split("."))
    candidates = (path.with_name(f"{path.name}.py"), path / "__init__.py") if module else ()
    return next(filter(Path.is_file, candidates), None)


@cache
def imported(path: Path, package: Path = PACKAGE) -> frozenset[str]:
    """Return the modules of the package that a file imports: at its top, within functions, and for types alone."""
    imports = set()
    for origin, names, whole in _STATEMENT.findall(path.read_text(encoding="utf-8")):
        origin = (whole or origin).strip(".")
        inner = {f"{origin}.{name}".strip(".") for name in _NAME.findall(re.sub(r"#.*", "", names))}
        modules = {name for name in inner if path_of(name, package)}
        imports |= modules
        if origin and (len(modules) < len(inner) or not inner):
            imports.add(origin)
    return frozenset(imports)


def closure(
    modules: Iterable[str],
    package: Path = PACKAGE,
    without: frozenset[tuple[str, str]] = frozenset(),
    packages: bool = True,
) -> set[str]:
    """Return the modules and all modules that they import, directly or indirectly.

    without   (importer, imported) pairs that are ignored
    packages  whether the packages that contain a module are included
    """
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        path = path_of(module, package)
        if module in seen or path is None:
            continue
        seen.add(module)
        waiting += [m for m in imported(path, package) if (module, m) not in without]
        if packages and "." in module:
            waiting.append(module.rpartition(".")[0])
    return seen
