"""Define the file of explored sentences: the search for each tree, its alternatives and its confidence, as JSON.

The page contains the file, so keys and numbers are short. Scores are divided by the unit of the model and rounded to
DIGITS decimals. Words are numbered from 1, and head 0 is the root.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from treebound.core.errors import InputError
from treebound.support.atomic import replacing

DIGITS = 4  #: decimals of scores, margins and probabilities
NAME = "explore.json"  #: name of the file in the folder of a run
COMMAND = "python -m studies.across.explore.records"  #: command that writes the file of the reference run

_STRICT = ConfigDict(extra="forbid", strict=True)
Score = Annotated[float, Field(allow_inf_nan=False)]
Word = Annotated[int, Field(ge=0)]
#: number of a call, a node, a label or a rule; -1 where there is none
Number = Annotated[int, Field(ge=-1)]
#: (node, upper bound of the call, score of the best tree so far or None)
Call = tuple[Number, Score, Score | None]
#: (parent, head, dependent, 1 if the arc is required and 0 if it is forbidden, upper bound or None, 1 if branched)
Node = tuple[Number, Number, Number, Number, Score | None, Number]
#: (rule, words that break the rule together)
Breach = tuple[Number, list[Word]]


@dataclass(frozen=True, config=_STRICT)
class Tree:
    """A labelled tree of a sentence.

    heads, labels  one head and one label number for each word; there are no labels if the model has none
    broken         violated rules with their words
    """

    score: Score
    heads: list[Word]
    labels: list[Number]
    broken: list[Breach]


@dataclass(frozen=True, config=_STRICT)
class Search:
    """A search of branch and bound.

    calls      one entry for each call of the dynamic program
    nodes      the nodes of the search tree, in the order of their creation
    best       (number of the call, tree) for each new incumbent; the tree is None if only its score is known
    faults     faults that the independent checker found in the proof
    """

    status: str
    bound: Score | None
    calls: list[Call]
    nodes: list[Node]
    best: list[tuple[Number, Tree | None]]
    faults: list[str]


@dataclass(frozen=True, config=_STRICT)
class Proof:
    """The result of the default search of `treebound parse`: its status, its work and the faults of its proof."""

    status: str
    calls: Word
    nodes: Word
    faults: list[str]


@dataclass(frozen=True, config=_STRICT)
class Sentence:
    """A sentence with its best trees, its confidence and its searches.

    trees      the best trees in order
    complete   whether it is proved that the list misses no better tree
    valid      the best tree that keeps the rules of Universal Dependencies; None if the best tree is this tree, or
               unknown
    margins    one margin for each word; None if every tree has the arc of the word
    marginals  one probability for each word; None if it is unknown
    """

    words: Annotated[list[str], Field(min_length=1)]
    tags: list[str]
    trees: Annotated[list[Tree], Field(min_length=1)]
    complete: bool
    valid: Tree | None
    margins: list[Score | None]
    marginals: list[Score | None]
    search: Search
    default: Proof


@dataclass(frozen=True, config=_STRICT)
class Origin:
    """The model, the taggers and the searches behind the explored sentences.

    corpus, title, licence  treebank of training
    families, heads         factor families, and candidate heads per word (0: all)
    trained                 training sentences of the taggers, and of the model (0: unknown)
    measured                accuracy on `dev` sentences under predicted tags, in %: uas, las, and one per tag column
    options                 options of the search whose steps are stored
    scale                   number that multiplies the scores before probabilities are computed, fitted on the
                            development set
    """

    corpus: str
    title: str
    licence: str
    model: str
    families: list[str]
    heads: Word
    trained: Word
    dev: Word
    measured: dict[str, Score]
    options: dict[str, str | int]
    scale: Score


@dataclass(frozen=True, config=_STRICT)
class Stored:
    """The content of the file: the origin, the names of labels and rules, and the sentences.

    rules    (set, rule) of each rule that some tree breaks
    applied  number of rules in each set that was applied; empty if the model has no labels
    """

    origin: Origin
    labels: list[str]
    rules: list[tuple[str, str]]
    applied: dict[str, Word]
    sentences: Annotated[list[Sentence], Field(min_length=1)]


_ADAPTER = TypeAdapter(Stored)


def as_json(stored: Stored) -> str:
    """Return the content of the file, one sentence on each line."""
    data = asdict(stored)
    sentences = data.pop("sentences")
    head = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    rows = ",\n".join(json.dumps(s, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for s in sentences)
    return f'{head[:-1]},"sentences":[\n{rows}\n]}}\n'


def write(stored: Stored, path: Path) -> None:
    """Write the file atomically."""
    with replacing(path) as file:
        file.write(as_json(stored).encode())


def read(path: Path) -> Stored:
    """Read and check the file. Raises InputError if it is missing, no JSON, or not in this format."""
    try:
        return parsed(path.read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({type(error).__name__})", path=path, hint=f"run {COMMAND}") from None


def parsed(text: str, path: Path | None = None) -> Stored:
    """Convert the text of the file to its content. Raises InputError that names the first fault."""
    try:
        stored = _ADAPTER.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{place}: {first['msg']}", path=path, hint=f"write the file anew: {COMMAND}") from None
    for i, sentence in enumerate(stored.sentences):
        if reason := _fault(stored, sentence):
            raise InputError(f"sentences.{i}: {reason}", path=path, hint=f"write the file anew: {COMMAND}")
    return stored


def _fault(stored: Stored, sentence: Sentence) -> str:
    """Describe the first error in a sentence: a list of wrong length, or a number that is too large.

    The text is empty if there is no error.
    """
    n, search = len(sentence.words), sentence.search
    columns: dict[str, list[Any]] = {name: getattr(sentence, name) for name in ("tags", "margins", "marginals")}
    further = [sentence.valid, *(tree for _, tree in search.best)]
    trees = [*sentence.trees, *(tree for tree in further if tree is not None)]
    columns |= {f"heads of tree {i}": tree.heads for i, tree in enumerate(trees)}
    columns |= {f"labels of tree {i}": tree.labels for i, tree in enumerate(trees) if tree.labels}
    wrong = [f"{name} has {len(values)} entries for {n} words" for name, values in columns.items() if len(values) != n]
    heads = [h for tree in trees for h in tree.heads]
    broken = [breach for tree in trees for breach in tree.broken]
    limits = {
        "head": (heads + [max(node[1], 0) for node in search.nodes], n),
        "label": ([label for tree in trees for label in tree.labels], len(stored.labels) - 1),
        "rule": ([rule for rule, _ in broken], len(stored.rules) - 1),
        "word of a rule": ([word for _, words in broken for word in words], n),
        "node of a call": ([call[0] for call in search.calls], len(search.nodes) - 1),
        "call of a tree": ([call for call, _ in search.best], len(search.calls)),
    }
    wrong += [
        f"{name} {max(values)} of {most}" for name, (values, most) in limits.items() if max(values, default=-1) > most
    ]
    wrong += [f"parent {node[0]} of node {i}" for i, node in enumerate(search.nodes) if node[0] >= i]
    return wrong[0] if wrong else ""
