"""Find repeated sentences: more than three sentences of an executed notebook with the same pattern.

    python tests/repeated_sentences.py FOLDER        FOLDER contains executed notebooks

The pattern of a sentence is its text without brackets, with a placeholder for every number and every name. Sentences
without a placeholder have no pattern: a fixed caveat may stand below several tables.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from studies.common import params as parameters
from studies.site.show import STATEMENTS

MOST = 3  #: largest number of sentences of one page that may share a pattern
ALIKE = 0.8  #: share of common words from which two patterns count as the same
BLANK = "_"


def sentences(notebook: Path) -> list[str]:
    """Return the sentences of all remarks and Markdown outputs of an executed notebook, in order."""
    shown: list[str] = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if STATEMENTS in data:
                shown += [statement["says"] for statement in data[STATEMENTS]]
            elif "text/markdown" in data:
                shown.append("".join(data["text/markdown"]))
    return [sentence for text in shown for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", text)]


def names(params: Path) -> list[str]:
    """Return the names of corpora, models, rows and decoders in a params.yaml, the longest first."""
    settings = parameters.load(params)
    listed = {*settings.corpora, *settings.models, *settings.decoders, *settings.decode, *settings.learners}
    return sorted(listed, key=len, reverse=True)


def pattern(sentence: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a sentence, with one placeholder for each sequence of numbers and names.

    known  names to replace; words that contain a digit, an underscore or a plus sign are replaced, too
    """
    text = sentence
    while text != (shorter := re.sub(r"\s*[(\[][^()\[\]]*[)\]]", "", text)):
        text = shorter
    for name in known:
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", BLANK, text)
    words = [BLANK if re.search(r"[\d_+]", word) or word == "%" else word for word in re.findall(r"[^\s,;:.]+", text)]
    listed = [word for i, word in enumerate(words) if word != "and" or BLANK not in words[i - 1 : i]]
    return tuple(word for i, word in enumerate(listed) if word != BLANK or not i or listed[i - 1] != BLANK)


def alike(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Return True if two patterns are the same, apart from a few words such as a name that is not known."""
    return first == second or difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= ALIKE


def repeated(page: Iterable[str], known: Iterable[str]) -> Iterator[list[str]]:
    """Yield each group of more than MOST sentences of one page that share a pattern."""
    groups: list[tuple[tuple[str, ...], list[str]]] = []
    for sentence in page:
        words = pattern(sentence, known)
        if BLANK not in words:
            continue
        same = next((members for first, members in groups if alike(first, words)), None)
        if same is None:
            groups.append((words, [sentence]))
        else:
            same.append(sentence)
    yield from (members for _, members in groups if len(members) > MOST)


def main(folder: Path, params: Path) -> int:
    """Print the groups of repeated sentences of all executed notebooks of a folder. Return 1 if there is a group."""
    status = 0
    for notebook in sorted(folder.glob("*.ipynb")):
        for members in repeated(sentences(notebook), names(params)):
            status = 1
            print(f"{notebook.stem}: {len(members)} sentences, for instance: {members[0]}")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(__file__).parents[1] / "params.yaml"))
