"""Whether a command begins at once, or has to compile first."""

from treebound import kernels


def compiled(*functions: str) -> bool:
    """Whether this machine has compiled these functions (module.function); what they call was compiled before them."""
    return all(any(kernels.CACHE_DIR.rglob(f"{function}-*.nbi")) for function in functions)
