"""Comparison of head indices and lexicon with a published table of lines `category TAB category with head indices`.

    python -m treebound.treebanks.ccg.agreement TABLE.txt [ccg.json]

Other tools for CCGbank come with such tables, for instance `english-head-indices.txt` of ccgtools. The optional report
of `treebound convert --to ccg` weights categories by the number of their words, and shows how many categories the table
lacks.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from treebound.core.errors import InputError, TreeboundError
from treebound.treebanks.ccg import heads
from treebound.treebanks.ccg.categories import Category, parse

_TOKEN = re.compile(r"\(|\)(?:_\d+)?|[/\\]|[^()/\\]+")
_INDEXED = re.compile(r"(.*?)(?:_(\d+))?")


def read_table(path: str | Path) -> dict[Category, str]:
    """Return category -> category with head indices. InputError with file, line and reason."""
    table: dict[Category, str] = {}
    try:
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                category, indexed = line.split("\t")
                table[parse(category)] = indexed
            except ValueError:
                raise InputError(
                    f"not a category and its indices: {line[:60]!r}",
                    path=path,
                    line=number,
                    hint="separate them by a tab",
                ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, hint="give a table in UTF-8") from None
    return table


def canonical(indexed: str) -> str:
    """Renumber indices in order of occurrence, with 0 for the word itself, and drop the dependency kinds (:B, :U)."""
    numbers: dict[str, int] = {}
    out = []
    for token in _TOKEN.findall(re.sub(r":[A-Z]", "", indexed)):
        if token[0] in "/\\(":
            out.append(token)
            continue
        token_match = _INDEXED.fullmatch(token)
        assert token_match is not None
        name, index = token_match.groups()
        out.append(f"{name}_{numbers.setdefault(index, len(numbers) + 1) if index else 0}")
    return "".join(out)


@dataclass(frozen=True)
class Agreement:
    """Result of a comparison with a table of head indices.

    types      number of categories that are `same`, `different` or `not in the table`
    tokens     number of words with these categories
    different  the categories with different indices
    """

    types: Counter[str]
    tokens: Counter[str]
    different: list[tuple[int, Category, str, str]]  # words, category, our indices, the table's


def compare(table: dict[Category, str], counts: dict[str, int]) -> Agreement:
    """Compare the head indices that the module `heads` computes with the head indices in a table.

    counts  category -> number of words of a corpus that have it; may be empty
    """
    types, tokens = Counter[str](), Counter[str]()
    different = []
    frequency = {parse(text): count for text, count in counts.items()}
    for category, theirs in table.items():
        ours = heads.text(category)
        kind = "same" if canonical(ours) == canonical(theirs) else "different"
        types[kind] += 1
        tokens[kind] += frequency.get(category, 0)
        if kind == "different":
            different.append((frequency.get(category, 0), category, ours, theirs))
    for category, count in frequency.items():
        if category not in table:
            types["not in the table"] += 1
            tokens["not in the table"] += count
    return Agreement(types, tokens, sorted(different, key=lambda row: (-row[0], str(row[1]))))


def main() -> None:
    """Print the agreement, then all categories whose indices differ, most frequent first."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("table")
    parser.add_argument("report", nargs="?", help="report of treebound convert --to ccg, for instance ccg.json")
    arguments = parser.parse_args()
    try:
        counts = json.loads(Path(arguments.report).read_text())["all"]["category_counts"] if arguments.report else {}
        agreement = compare(read_table(arguments.table), counts)
    except (TreeboundError, OSError, ValueError, KeyError) as error:
        sys.exit(f"error: {error}")
    for kind in ("same", "different", "not in the table"):
        print(f"{kind}\t{agreement.types[kind]} categories\t{agreement.tokens[kind]} words")
    for count, category, ours, theirs in agreement.different:
        print(f"{count}\t{category}\t{ours}\t{theirs}")


if __name__ == "__main__":
    main()
