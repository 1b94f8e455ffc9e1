"""Convert a corpus to CCG derivations: `.auto` and `.parg` files of its splits, with statistics in `ccg.json`.

Penn trees and Universal Dependencies are translated. An existing CCGbank is read, checked and written in the same
format. A tree that cannot be translated is counted under the reason.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.core.treebank import Sentence
from treebound.support.atomic import replacing
from treebound.treebanks import brackets
from treebound.treebanks.catalogue import SPLITS, Corpus
from treebound.treebanks.ccg import check, derivation, heads, universal
from treebound.treebanks.ccg.check import Translation
from treebound.treebanks.ccg.dependencies import write_parg
from treebound.treebanks.ccg.derivation import Entry
from treebound.treebanks.ccg.penn import close
from treebound.treebanks.ccg.penn.translate import translate
from treebound.treebanks.lines import text_lines, text_of
from treebound.treebanks.splits import split_documents, split_files

REPORT = "ccg.json"
#: sections of the Wall Street Journal in each split of CCGbank
SECTIONS = {"train": range(2, 22), "dev": range(1), "test": range(23, 24)}
_Named = Iterator[tuple[str, Translation]]


def convert(
    corpus: Corpus, folder: str | Path, out_dir: str | Path, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Write `<out_dir>/<corpus>/{train,dev,test}.{auto,parg}` and `ccg.json`; return the report.

    folder    the folder of the corpus's files, as returned by `fetch`
    progress  function that is called with a line of text after every split

    Raises InputError. The report is written last, so that its presence shows that the conversion is complete.
    """
    folder, out = Path(folder), Path(out_dir) / corpus.name
    if corpus.format == "brackets":
        files = split_files(corpus, folder)
        without_clr = _leaves_complements_unmarked(data for split in files.values() for _, data in split)
        splits = {name: _penn(split, corpus.encoding, without_clr) for name, split in files.items()}
    elif corpus.format in ("alpino", "sinica"):
        raise InputError(f"{corpus.name}: its trees have no translation to CCG", path=folder, hint="see --help")
    else:
        documents = split_documents(corpus, folder, corpus.strict)
        splits = {name: _universal(name, document.treebank) for name, document in documents.items()}
    return _write(corpus.name, splits, out, progress)


def convert_ccgbank(
    folder: str | Path, out_dir: str | Path, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Read, check and write a CCGbank like `convert`; return the report.

    folder  contains `AUTO/00/wsj_0001.auto` ..., or the same below `data`

    Derivation steps that match no rule are kept and counted. Raises InputError.
    """
    folder = Path(folder)
    root = next((path for path in (folder / "AUTO", folder / "data" / "AUTO", folder) if (path / "00").is_dir()), None)
    if root is None:
        raise InputError("has no AUTO/00", path=folder, hint="give the folder of CCGbank that contains AUTO")
    splits = {name: _ccgbank(root, sections) for name, sections in SECTIONS.items()}
    return _write("ccgbank", splits, Path(out_dir) / "ccgbank", progress)


def _leaves_complements_unmarked(texts: Iterable[bytes]) -> bool:
    """Return whether almost no prepositional phrase of a treebank is marked as a complement, as in CRAFT."""
    phrases = marked = 0
    for text in texts:
        phrases += text.count(b"(PP")
        marked += text.count(b"-CLR")
    return marked < close.RARE * phrases


def _penn(files: Iterable[tuple[str, bytes]], encoding: str, without_clr: bool) -> _Named:
    """Yield the names and translations of the Penn trees of some files, given as (path, content).

    `without_clr` says that the trees do not mark prepositional complements (-CLR).
    """
    for path, data in files:
        stem = Path(path.rpartition("!")[2]).stem
        text = "".join(text_of(text_lines(io.BytesIO(data), encoding, path)[1], path))
        for number, node in enumerate(brackets.parse(text, traces=True), 1):
            if isinstance(node, brackets.BadTree):
                yield f"{stem}.{number}", Translation(None, f"malformed: {node.reason}")
            else:
                yield f"{stem}.{number}", translate(node, without_clr)


def _universal(split: str, treebank: Iterable[Sentence]) -> _Named:
    """Yield the names and translations of the sentences of a treebank of Universal Dependencies."""
    for number, sentence in enumerate(treebank, 1):
        columns = {name: ["", *sentence.strings(name)] for name in ("form", "xpos", "upos", "deprel")}
        words = universal.Words(
            columns["form"], columns["xpos"], columns["upos"], columns["deprel"], [int(h) for h in sentence.heads]
        )
        yield f"{split}.{number}", universal.translate(words)


def _ccgbank(root: Path, sections: Iterable[int]) -> _Named:
    """Yield the names and derivations of some sections of a CCGbank."""
    for section in sections:
        for path in sorted((root / f"{section:02}").glob("*.auto")):
            for entry in derivation.read(path):
                yield entry.name, Translation(entry.derivation)


@dataclass
class _Tally:
    """Counts of the sentences, derivations, categories and rules of a split."""

    sentences: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    forced: Counter[str] = field(default_factory=Counter)
    unlicensed: int = 0

    def add(self, translation: Translation) -> None:
        """Count one sentence and its derivation, or the reason why it has none."""
        self.sentences += 1
        if translation.derivation is None:
            self.failures[translation.failure] += 1
            return
        self.counts.update(translation.counts)
        self.forced.update(check.forced(translation.derivation))
        for node in translation.derivation.nodes():
            if node.children:
                rule = check.rule(node)
                self.rules[rule or "none"] += 1
                self.unlicensed += not rule
            else:
                self.categories[str(node.category)] += 1

    def report(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        built = self.sentences - self.failures.total()
        return {
            "sentences": self.sentences,
            "derivations": built,
            "coverage": round(100 * built / self.sentences, 2) if self.sentences else 0.0,
            "tokens": self.categories.total(),
            "categories": len(self.categories),
            "categories_5": sum(count >= 5 for count in self.categories.values()),
            "unlicensed_steps": self.unlicensed,
            "unlike_coordinations": self.forced.total(),
            "counts": dict(sorted(self.counts.items())),
            "rules": dict(self.rules.most_common()),
            "failures": dict(self.failures.most_common()),
            "forced": dict(self.forced.most_common()),
            "category_counts": dict(self.categories.most_common()),
        }


def _write(name: str, splits: dict[str, _Named], out: Path, progress: Callable[[str], None] | None) -> dict[str, Any]:
    """Write the files of all splits and the report; return the report."""
    (out / REPORT).unlink(missing_ok=True)
    report: dict[str, Any] = {"corpus": name, "splits": {}}
    total = _Tally()
    for split in SPLITS:
        tally, entries = _Tally(), list[Entry]()
        for sentence, translation in splits[split]:
            tally.add(translation)
            total.add(translation)
            if translation.derivation is not None:
                entries.append(Entry(sentence, translation.derivation))
        derivation.write(out / f"{split}.auto", entries, heads.text)
        write_parg(out / f"{split}.parg", ((entry.name, entry.derivation) for entry in entries))
        report["splits"][split] = tally.report()
        if progress is not None:
            progress(f"{name}: {split}: {len(entries)} of {tally.sentences} sentences have a derivation")
    report["all"] = total.report()
    with replacing(out / REPORT) as file:
        file.write((json.dumps(report, indent=1, ensure_ascii=False) + "\n").encode())
    return report
