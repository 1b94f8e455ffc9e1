"""Check that a wheel holds exactly the package and its licence, and has at most twelve dependencies.

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
    """Exit with a one-line message if the wheel holds too many or too few files."""
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
        sys.exit(f"{wheel}: files that are only in the wheel or only in src/treebound: {sorted(files ^ sources)}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in members):
        sys.exit(f"{wheel}: the wheel has no LICENSE; add the file to the build")
    required = [line for line in fields.get_all("Requires-Dist", []) if "extra ==" not in line]
    if len(required) > MOST or any(line.startswith(tuple(FORBIDDEN)) for line in required):
        sys.exit(f"{wheel}: too many or forbidden dependencies: {', '.join(required)}")
    print(f"{Path(wheel).name}: {len(files)} files, {len(required)} dependencies: {', '.join(required)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
