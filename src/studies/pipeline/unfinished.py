"""Store a reference run that is not finished, so that it continues on another machine.

`make reference` takes many hours. The stored files hold DVC's record of the ended stages, and the results that pages
read: one archive per corpus for its predictions, and one for everything else. A large archive is divided. An archive
whose content did not change is not written again, so that the history of the repository gets the predictions of a
finished corpus once. Models and corpora are too large, and an ended stage does not read them again. A stage that reads
them and has not run yet makes them anew (`run --allow-missing`).
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from studies.common import stage
from studies.pipeline.killed import MADE
from studies.pipeline.run import TIMES
from treebound.core.errors import InputError
from treebound.support import atomic

#: what is stored of the folder of a run, besides the predictions
KEPT = (MADE, TIMES, stage.METRICS)
PREDICTIONS = Path("results/predictions")
RECORD = "record.tar.xz"
LARGEST = 2**20  #: bytes of an archive of predictions; a larger one is divided unless it has a single file


def save(folders: Sequence[Path], target: Path) -> int:
    """Store the runs in `folders` in the folder `target`; return the size of its files in bytes.

    Folders without a run are left out. Raises InputError if no folder has a run.
    """
    runs = [folder for folder in folders if (folder / MADE).is_file()]
    if not runs:
        raise InputError("no run to store", path=folders[0], hint="start it by `make reference`")
    # the record is read first and written last, so that it names no stage whose predictions are not stored
    record = packed(file for folder in runs for name in KEPT for file in files_of(folder / name))
    archives: dict[str, bytes] = {}
    for folder in runs:
        for corpus in sorted((folder / PREDICTIONS).glob("*")):
            archives |= divided(f"{folder.name}-{corpus.name}", files_of(corpus))
        for path in target.glob(f"{folder.name}-*.tar.xz"):
            if path.name not in archives:
                path.unlink()
    archives[RECORD] = record
    for name, content in archives.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != content:
            with atomic.replacing(path) as file:
                file.write(content)
    return sum((target / name).stat().st_size for name in archives)


def files_of(path: Path) -> list[Path]:
    """Return the file `path`, or all files below the folder `path`; no files if it does not exist."""
    return [file for file in (path, *sorted(path.rglob("*"))) if file.is_file()]


def divided(name: str, files: Sequence[Path]) -> dict[str, bytes]:
    """Return the name and the content of one archive of `files`, or of several if it would be larger than LARGEST."""
    content = packed(files)
    if len(content) <= LARGEST or len(files) == 1:
        return {f"{name}.tar.xz": content}
    half = len(files) // 2
    return divided(f"{name}-1", files[:half]) | divided(f"{name}-2", files[half:])


def packed(files: Iterable[Path]) -> bytes:
    """Return an archive of files. Equal files give equal bytes: times and owners are left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for file in files:
            member = tarfile.TarInfo(file.as_posix())
            member.size = file.stat().st_size
            with file.open("rb") as content:
                archive.addfile(member, content)
    return buffer.getvalue()


def inside(path: Path, folder: Path) -> bool:
    """Return whether a file of an archive belongs into `folder`."""
    return ".." not in path.parts and path.is_relative_to(folder)


def restore(folders: Sequence[Path], target: Path) -> None:
    """Restore the runs that `target` stores, if it exists. A folder that has a run already is left as it is."""
    wanted = [folder for folder in folders if not (folder / MADE).is_file()]
    # DVC's file comes last: if this process is killed, a folder that has it is complete
    for path in sorted(target.glob("*.tar.xz"), key=lambda path: path.name == RECORD):
        with tarfile.open(path) as archive:
            # by hand, because `extractall` refuses unsafe names by itself only since Python 3.11.4
            members = [m for m in archive if any(inside(Path(m.name), folder) for folder in wanted)]
            for member in sorted(members, key=lambda m: Path(m.name).name == MADE.name):
                if content := archive.extractfile(member):
                    with atomic.replacing(Path(member.name)) as file:
                        file.write(content.read())
    for folder in wanted:
        if (folder / MADE).is_file():
            stage.say(f"{folder}: continues the run that {target} stores")
