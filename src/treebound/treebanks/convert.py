"""Convert a corpus to CoNLL-U and columnar files of its splits, with statistics in `conversion.json`.

Annotation errors are not repaired. If the trees of a corpus must have a single root, sentences with several roots are
dropped from train, because no decoder can return their trees. They are kept in dev and test, where every word counts.
The report counts the dropped sentences and the kept ones.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treebound.core.dtypes import INDEX
from treebound.core.errors import InputError
from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.support.atomic import replacing
from treebound.treebanks import storage
from treebound.treebanks.catalogue import Corpus
from treebound.treebanks.document import Document
from treebound.treebanks.fetch import sha256
from treebound.treebanks.projectivise import crossing
from treebound.treebanks.splits import split_documents

REPORT = "conversion.json"


def convert(corpus: Corpus, folder: str | Path, out_dir: str | Path, strict: bool = True) -> dict[str, Any]:
    """Write `<out_dir>/<corpus>/{train,dev,test}.{conllu,npz}` and `conversion.json`; return the report.

    folder  the folder of the corpus's files, as returned by `fetch`
    strict  whether a malformed sentence is an error. Otherwise, and for corpora that the catalogue marks as not strict,
            malformed sentences are left out and counted

    Raises InputError. The report is written last, so that its presence shows that the conversion is complete.
    """
    folder, out = Path(folder), Path(out_dir) / corpus.name
    if out.resolve() == folder.resolve():
        raise InputError("is also the output folder of the conversion", path=folder, hint="choose another --data-dir")
    (out / REPORT).unlink(missing_ok=True)
    report: dict[str, Any] = {
        "corpus": corpus.name,
        "meta": corpus.meta,
        "sources": {name: sha256(folder / name) for name in corpus.source.files},
        "splits": {},
    }
    seen: dict[str, list[str]] = {}
    for split, document in split_documents(corpus, folder, strict and corpus.strict).items():
        document, dropped = _without_unlearnable(corpus, split, document)
        if not len(document):
            raise InputError(f"{corpus.name}: {split} has no sentences", path=folder, hint="check the files")
        treebank = replace(_compact(document.treebank), name=f"{corpus.name}/{split}", meta=corpus.meta)
        document.write(out / f"{split}.conllu")
        storage.save(treebank, out / f"{split}.npz")
        dropped += Counter(skipped.reason for skipped in document.skipped)
        report["splits"][split] = {**statistics(treebank), "dropped": dict(sorted(dropped.items()))}
        seen[split] = [" ".join(sentence.strings("form")) for sentence in treebank]
    train = set(seen["train"])
    for split in ("dev", "test"):
        report["splits"][split]["also_in_train"] = sum(text in train for text in seen[split])
        report["splits"][split]["also_in_train_longer_than_5"] = sum(
            text in train and text.count(" ") > 4 for text in seen[split]
        )
    with replacing(out / REPORT) as file:
        file.write((json.dumps(report, indent=1, ensure_ascii=False) + "\n").encode())
    return report


def statistics(treebank: Treebank) -> dict[str, Any]:
    """Return counts over a treebank: sentences, tokens, lengths, crossing arcs, roots, tags and labels.

    Tags and labels are ordered by frequency, most frequent first.
    """
    heads = [treebank.heads(i) for i in range(len(treebank))]
    crossings = np.array([np.count_nonzero(crossing(h)) for h in heads])
    roots = np.array([np.count_nonzero(h == 0) for h in heads])
    lengths = treebank.lengths
    return {
        "sentences": len(treebank),
        "tokens": treebank.words,
        "mean_length": round(float(lengths.mean()), 2),
        "max_length": int(lengths.max()),
        "crossing_arcs": int(crossings.sum()),
        "nonprojective_sentences": int(np.count_nonzero(crossings)),
        "multi_root_sentences": int(np.count_nonzero(roots > 1)),
        "punctuation_tokens": int(np.count_nonzero(_punctuation(treebank))),
        "upos": _counts(treebank, "upos"),
        "xpos": _counts(treebank, "xpos"),
        "deprel": _counts(treebank, "deprel"),
    }


def _punctuation(treebank: Treebank) -> np.ndarray:
    """Return bool[W]: whether each word is punctuation, which attachment scores leave out."""
    punctuation = treebank.meta["punctuation"]
    vocab = treebank.vocab[punctuation["column"]]
    ids = [vocab.get(tag) for tag in punctuation["tags"]]
    return np.isin(treebank.columns[punctuation["column"]], [i for i in ids if i >= 0])


def _counts(treebank: Treebank, column: str) -> dict[str, int]:
    """Return the count of each string of a column, most frequent first."""
    strings = treebank.vocab[column].strings
    counts = np.bincount(treebank.columns[column], minlength=len(strings))
    order = np.argsort(-counts, kind="stable")
    return {strings[i]: int(counts[i]) for i in order if counts[i]}


def _without_unlearnable(corpus: Corpus, split: str, document: Document) -> tuple[Document, Counter[str]]:
    """Drop the sentences with several roots from a training split; return the split and their number.

    Nothing is dropped from other splits, or if the trees of the corpus may have several roots.
    """
    if not corpus.single_root or split != "train":
        return document, Counter()
    treebank = document.treebank
    roots = np.add.reduceat(treebank.head == 0, treebank.offsets[:-1], dtype=np.int64) if len(treebank) else np.zeros(0)
    if (roots == 1).all():
        return document, Counter()
    return document.select(np.flatnonzero(roots == 1)), Counter({"several roots": int(np.count_nonzero(roots > 1))})


def _compact(treebank: Treebank) -> Treebank:
    """Return the treebank with vocabularies of its own strings only. Splits may share larger vocabularies."""
    columns, vocab = {}, {}
    for name in STRING_COLUMNS:
        used_ids, first, inverse = np.unique(treebank.columns[name], return_index=True, return_inverse=True)
        order = np.argsort(first)  # ids in the order of first appearance
        rank = np.empty(len(used_ids), INDEX)
        rank[order] = np.arange(len(used_ids))
        columns[name] = rank[inverse]
        vocab[name] = Vocabulary(treebank.vocab[name].strings[i] for i in used_ids[order])
    return replace(treebank, columns=columns, vocab=vocab)
