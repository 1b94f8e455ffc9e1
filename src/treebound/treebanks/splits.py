"""Divide the files of a corpus into train, dev and test documents."""

from __future__ import annotations

import io
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

from treebound.core.errors import InputError
from treebound.treebanks.catalogue import SPLITS, Corpus
from treebound.treebanks.document import Document, concatenate, read


def split_documents(corpus: Corpus, folder: Path, strict: bool = True) -> dict[str, Document]:
    """Return train, dev and test as CoNLL-U documents, divided by the corpus's split rule. Raises InputError."""
    files = split_files(corpus, folder)
    parts = {key: _document(corpus, members, strict) for key, members in files.items()}
    if corpus.split == "every-tenth":
        document = parts["all"]
        tenth = [i % 10 for i in range(len(document))]
        return {
            "train": document.select(i for i, t in enumerate(tenth) if t > 1),
            "dev": document.select(i for i, t in enumerate(tenth) if t == 1),
            "test": document.select(i for i, t in enumerate(tenth) if t == 0),
        }
    if corpus.split == "dev-from-train":
        document = parts["train"]
        return {
            "train": document.select(i for i in range(len(document)) if i % 10 != 1),
            "dev": document.select(i for i in range(len(document)) if i % 10 == 1),
            "test": parts["test"],
        }
    return {key: parts[key] for key in SPLITS}


def split_files(corpus: Corpus, folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Return (name, content) of the files of each split. Raises InputError.

    If the split rule divides sentences, the keys are `all`, or `train` and `test`, instead of the three splits.
    """
    parts = {
        key: [member for pattern in patterns for member in _members(corpus, folder, pattern)]
        for key, patterns in corpus.files.items()
    }
    if corpus.split != "every-tenth-file":
        return parts
    tenth = {"train": range(2, 10), "dev": (1,), "test": (0,)}
    return {key: [file for i, file in enumerate(parts["all"]) if i % 10 in tenth[key]] for key in SPLITS}


def _document(corpus: Corpus, members: list[tuple[str, bytes]], strict: bool) -> Document:
    """Return one document of the sentences of some files."""
    documents = []
    for name, data in members:
        file = io.BytesIO(data)
        file.name = name  # for messages
        documents.append(read(file, corpus.format, strict=strict, encoding=corpus.encoding))
    return concatenate(documents)


def _members(corpus: Corpus, folder: Path, pattern: str) -> list[tuple[str, bytes]]:
    """Return (name, content) of the files that match a pattern, in the order of their names. Raises InputError."""
    archive, mark, member = pattern.partition("!")
    if mark:
        path = folder / archive
        try:
            with zipfile.ZipFile(path) as file:
                names = sorted(name for name in file.namelist() if fnmatchcase(name, member))
                matches = [(f"{path}!{name}", file.read(name)) for name in names]
        except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
            raise InputError(
                f"cannot be read: {error}", path=path, hint=f"run `treebound fetch {corpus.name}`"
            ) from None
    else:
        try:
            matches = [(str(path), path.read_bytes()) for path in sorted(folder.glob(pattern))]
        except OSError as error:
            raise InputError(f"cannot be read: {error}", path=folder, hint="check its permissions") from None
    if not matches:
        hint = f"run `treebound fetch {corpus.name}`" if corpus.source.files else "check the path of the corpus"
        raise InputError(f"has no {pattern}", path=folder, hint=hint)
    return matches
