"""From the files of a corpus to its train, dev and test documents."""

from __future__ import annotations

import io
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

from treebound.core.errors import InputError
from treebound.treebanks.catalogue import SPLITS, Corpus
from treebound.treebanks.document import Document, concatenate, read


def split_documents(corpus: Corpus, folder: Path, strict: bool = True) -> dict[str, Document]:
    """train, dev, test as CoNLL-U documents by the corpus's split rule. Raises InputError."""
    files = split_files(corpus, folder)
    parts = {key: _document(corpus, members, strict) for key, members in files.items()}
    if corpus.split == "every-tenth":
        whole = parts["all"]
        tenth = [i % 10 for i in range(len(whole))]
        return {
            "train": whole.select(i for i, t in enumerate(tenth) if t > 1),
            "dev": whole.select(i for i, t in enumerate(tenth) if t == 1),
            "test": whole.select(i for i, t in enumerate(tenth) if t == 0),
        }
    if corpus.split == "dev-from-train":
        whole = parts["train"]
        return {
            "train": whole.select(i for i in range(len(whole)) if i % 10 != 1),
            "dev": whole.select(i for i in range(len(whole)) if i % 10 == 1),
            "test": parts["test"],
        }
    return {key: parts[key] for key in SPLITS}


def split_files(corpus: Corpus, folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    """(name, content) of the files of each split, or of what its split rule divides by sentences. Raises InputError."""
    parts = {
        key: [member for pattern in patterns for member in _members(corpus, folder, pattern)]
        for key, patterns in corpus.files.items()
    }
    if corpus.split != "every-tenth-file":
        return parts
    tenth = {"train": range(2, 10), "dev": (1,), "test": (0,)}
    return {key: [file for i, file in enumerate(parts["all"]) if i % 10 in tenth[key]] for key in SPLITS}


def _document(corpus: Corpus, members: list[tuple[str, bytes]], strict: bool) -> Document:
    documents = []
    for name, data in members:
        file = io.BytesIO(data)
        file.name = name  # what messages call it
        documents.append(read(file, corpus.format, strict=strict, encoding=corpus.encoding))
    return concatenate(documents)


def _members(corpus: Corpus, folder: Path, pattern: str) -> list[tuple[str, bytes]]:
    """(name, content) of the files that match, in the order of their names."""
    archive, mark, member = pattern.partition("!")
    if mark:
        path = folder / archive
        try:
            with zipfile.ZipFile(path) as file:
                names = sorted(name for name in file.namelist() if fnmatchcase(name, member))
                found = [(f"{path}!{name}", file.read(name)) for name in names]
        except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
            raise InputError(
                f"cannot be read: {error}", path=path, hint=f"run `treebound fetch {corpus.name}`"
            ) from None
    else:
        try:
            found = [(str(path), path.read_bytes()) for path in sorted(folder.glob(pattern))]
        except OSError as error:
            raise InputError(f"cannot be read: {error}", path=folder, hint="check its permissions") from None
    if not found:
        hint = f"run `treebound fetch {corpus.name}`" if corpus.source.files else "check the path of the corpus"
        raise InputError(f"has no {pattern}", path=folder, hint=hint)
    return found
