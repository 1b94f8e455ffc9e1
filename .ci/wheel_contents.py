"""Compare a wheel with the sources: the package alone and all of it, its licence, at most twelve dependencies.

Usage: python .ci/wheel_contents.py WHEEL
"""

from __future__ import annotations

import sys
import zipfile
from email import message_from_bytes
from pathlib import Path, PurePosixPath

SOURCES = Path(__file__).parents[1] / "src"
MOST = 12
FORBIDDEN = {"dvc", "celery", "jupyterlab", "papermill", "pandas", "matplotlib", "cvxpy"}


def main(wheel: str) -> None:
    """Exit with one line if the wheel holds too much or too little."""
    with zipfile.ZipFile(wheel) as archive:
        members = set(archive.namelist())
        (metadata,) = (name for name in members if name.endswith(".dist-info/METADATA"))
        fields = message_from_bytes(archive.read(metadata))
    files = {name for name in members if not PurePosixPath(name).parts[0].endswith(".dist-info")}
    sources = {
        path.relative_to(SOURCES).as_posix()
        for path in (SOURCES / "treebound").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if files != sources:
        sys.exit(f"{wheel}: these files are in the wheel or in src/treebound, not in both: {sorted(files ^ sources)}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in members):
        sys.exit(f"{wheel}: it holds no LICENSE")
    wanted = [line for line in fields.get_all("Requires-Dist", []) if "extra ==" not in line]
    if len(wanted) > MOST or any(line.startswith(tuple(FORBIDDEN)) for line in wanted):
        sys.exit(f"{wheel}: it needs {', '.join(wanted)}")
    print(f"{Path(wheel).name}: {len(files)} files, {len(wanted)} dependencies: {', '.join(wanted)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
