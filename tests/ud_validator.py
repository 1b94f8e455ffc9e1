"""The official validator of Universal Dependencies as an oracle: `udvalidate` of udtools, run as a program."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from treebound.constraints.rows import Words
from treebound.constraints.ud import LabelledTree, violations
from treebound.constraints.ud.base import UdRule

PROGRAM = Path(sys.executable).with_name("udvalidate")
LINE = re.compile(r"\[Line (\d+) Sent \S*\]: \[L\d \w+ ([\w-]+)\]")
#: tag, FEATS and MISC of a word, and whether it has a lemma
Columns = tuple[str, str, str, bool]


def column(tag: str, feats: str = "_", misc: str = "_", lemma: bool = True) -> Columns:
    """Return the columns of a word."""
    return tag, feats, misc, lemma


@dataclass(frozen=True)
class Case:
    """A labelled tree and the columns of its words. Heads and labels have one item per word."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    columns: tuple[Columns, ...]

    @property
    def words(self) -> Words:
        """Return all columns in the form that rules read."""
        tags, feats, misc, lemmas = zip(*self.columns, strict=True)
        return Words.of(["w"] * len(self.heads), tags, feats, misc, ["w" if lemma else "_" for lemma in lemmas])

    def tree(self, names: Sequence[str], space: str = "non-projective") -> LabelledTree:
        """Return the tree in the form that rules read."""
        heads = np.array([-1, *self.heads], np.int32)
        return LabelledTree(self.words, heads, ("", *self.labels), tuple(names), space)  # type: ignore[arg-type]

    def conllu(self, name: int) -> str:
        """Return the sentence as the validator reads it."""
        lines = [f"# sent_id = {name}", "# text = w"]
        rows = zip(self.heads, self.labels, self.columns, strict=True)
        for i, (head, label, (tag, feats, misc, lemma)) in enumerate(rows, 1):
            lines.append("\t".join([str(i), "w", "w" if lemma else "_", tag, "_", feats, str(head), label, "_", misc]))
        return "\n".join([*lines, "", ""])


def validated(cases: Sequence[Case], ids: Iterable[str], folder: Path) -> list[set[str]]:
    """Return which of the rules each case breaks, according to the validator. The program runs once for all cases."""
    path, owner = folder / "cases.conllu", list[int]()
    text = [case.conllu(i) for i, case in enumerate(cases)]
    for i, sentence in enumerate(text):
        owner += [i] * sentence.count("\n")
    path.write_text("".join(text), encoding="utf-8")
    command = [PROGRAM, path, "--level", "3", "--lang", "ud", "--max-err", "0", "--include-only", *ids]
    done = subprocess.run(command, capture_output=True, text=True)  # the validator writes its messages to stderr
    assert "Traceback" not in done.stderr, done.stderr
    result: list[set[str]] = [set() for _ in cases]
    for line, name in LINE.findall(done.stderr):
        result[owner[int(line) - 1]].add(name)
    return result


def broken(rules: Iterable[UdRule], tree: LabelledTree) -> set[str]:
    """Return which rules a tree breaks, according to the library."""
    return {violation.rule for violation in violations(rules, tree)}
