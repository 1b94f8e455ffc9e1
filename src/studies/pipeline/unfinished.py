"""Store a reference run that is not finished, so that it continues on another machine.

`make reference` takes many hours. The stored file holds DVC's record of the ended stages, and the results that pages
read. Models and corpora are too large for it, and an ended stage does not read them again. A stage that reads them and
has not run yet makes them anew (`run --allow-missing`).
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path

from studies.common import stage
from studies.pipeline.killed import MADE
from studies.pipeline.run import TIMES
from treebound.core.errors import InputError
from treebound.support import atomic

#: what is stored of the folder of a run
KEPT = (MADE, TIMES, stage.METRICS, Path("results/predictions"))


def save(folders: Sequence[Path], path: Path) -> int:
    """Store the runs in `folders` in the file `path`; return its size in bytes. Folders without a run are left out.

    Raises InputError if no folder has a run.
    """
    kept = [folder / name for folder in folders if (folder / MADE).is_file() for name in KEPT]
    if not kept:
        raise InputError("no run to store", path=folders[0], hint="start it by `make reference`")
    with atomic.replacing(path) as file, tarfile.open(fileobj=file, mode="w:xz") as archive:
        for name in kept:
            if name.exists():
                archive.add(name)
    return path.stat().st_size


def restore(folders: Sequence[Path], path: Path) -> None:
    """Restore the runs that `path` stores, if the file exists. A folder that has a run already is left as it is."""
    if not path.is_file():
        return
    wanted = [folder for folder in folders if not (folder / MADE).is_file()]
    with tarfile.open(path) as archive:
        members = [m for m in archive if any(Path(m.name).is_relative_to(folder) for folder in wanted)]
        # records come last: if this process is killed, a folder with its record is complete
        archive.extractall(members=sorted(members, key=lambda m: Path(m.name).name == MADE.name), filter="data")
    for folder in wanted:
        if (folder / MADE).is_file():
            stage.say(f"{folder}: continues the run that {path} stores")
