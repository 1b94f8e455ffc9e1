"""Run the official validator of Universal Dependencies on many trees at once."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from treebound.constraints.rows import Words

#: a tree with its columns: words, heads, labels (n + 1 entries each)
Tree = tuple[Words, Sequence[int], Sequence[str]]


def broken_rules(trees: Iterable[Tree], folder: Path) -> list[set[str]]:
    """Return the ids of the incidents that `udvalidate --level 3 --lang ud` reports for each tree.

    The calling test is skipped if udtools is not installed. Unknown columns are written as empty.
    """
    pytest.importorskip("udtools")
    trees = list(trees)
    path = folder / "trees.conllu"
    path.write_text("".join(_conllu(i, *tree) for i, tree in enumerate(trees)), encoding="utf-8")
    command = [sys.executable, "-m", "udtools.cli", "--level", "3", "--lang", "ud", "--max-err", "0", str(path)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=folder, check=False)
    assert run.returncode in (0, 1), run.stderr[-2000:]
    assert "Traceback" not in run.stderr, run.stderr[-2000:]
    incidents: list[set[str]] = [set() for _ in trees]
    for sentence, rule in re.findall(r"^\[Line \d+ Sent t(\d+)\]: \[L\d \w+ ([\w-]+)\]", run.stdout + run.stderr, re.M):
        incidents[int(sentence)].add(rule)
    return incidents


def _conllu(number: int, words: Words, heads: Sequence[int], labels: Sequence[str]) -> str:
    lines = [f"# sent_id = t{number}", "# text = " + " ".join(words.form[1:])]
    for m in range(1, words.n + 1):
        feats = words.feats[m] if words.feats else "_"
        misc = words.misc[m] if words.misc else "_"
        lemma = words.lemma[m] if words.lemma else "_"
        lines.append(
            "\t".join(
                [str(m), words.form[m], lemma, words.word_class[m], "_", feats, str(heads[m]), labels[m], "_", misc]
            )
        )
    return "\n".join(lines) + "\n\n"
