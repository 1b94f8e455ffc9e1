"""Whether a command begins at once, or has to compile first."""

from treebound.support.imports import PACKAGE, path_of
from treebound.support.jit.cache import folder_of


def compiled(*functions: str) -> bool:
    """Whether this machine has compiled these functions, by module and name; what they call was compiled before."""
    return all(map(_compiled, functions))


def _compiled(function: str) -> bool:
    module, _, name = function.rpartition(".")
    path = path_of(module)
    if path is None or name not in path.read_text(encoding="utf-8"):
        raise ValueError(f"no function {function} in {PACKAGE.name}")
    return any(folder_of(path).glob(f"{path.stem}.{name}-*.nbi"))
