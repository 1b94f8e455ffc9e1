"""Check the parameters of the notebooks (types, ranges, existing names) before anything is computed.

The first cell of a notebook assigns its parameters; the next one calls `check(corpus=corpus, k=k)` with all of them. A
wrong value raises SettingError. A notebook shows this error as one line with the parameter and its valid values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.support.settings import Checked, SettingError, option, read

if TYPE_CHECKING:
    from studies.site.collect import Results
    from treebound.treebanks.ccg.derivation import Derivation

Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Digits = Annotated[int, Field(strict=True, ge=0, le=15)]
Text = Annotated[str, Field(strict=True)]

WORDS = "write one word per line: form, lemma, coarse tag, fine tag, features, with _ where there is no value"


@dataclass(frozen=True)
class Parameters(Checked):
    """The parameters of all notebooks with their valid values; each notebook has some of them."""

    corpus: Text = option("", "names of corpora, separated by spaces")
    model: Text = option("", "the name of a model")
    parser: Text = option("", "names of CCG parsers, separated by spaces")
    claim: Text = option("", "names of claims, separated by spaces")
    patterns: Text = option("", "the name of a file of patterns")
    k: Count = option(10, "a number of candidate heads per word")
    longest: Count = option(25, "the number of words of the longest sentence to show")
    epochs: Count = option(3, "a number of passes over the training set")
    rows: Count = option(20, "the number of rows to show")
    digits: Digits = option(2, "a number of decimals")
    sentence: Text = option("", "a sentence with one word per line")
    gloss: Text = option("", "one translation for each word of the sentence")
    plain: Text = option("", "a sentence in plain words")
    relative: Text = option("", "a tree in Penn brackets")
    raising: Text = option("", "a tree in Penn brackets")
    quotation: Text = option("", "a tree in Penn brackets")
    cluster: Text = option("", "a tree in Penn brackets")


def check(**parameters: object) -> None:
    """Check the types and ranges of all parameters of a notebook. Raises SettingError.

    A parameter that the notebook does not have is an error, too: papermill only warns about it.
    """
    for name in _injected():
        if name not in parameters:
            raise SettingError(name, "no parameter of this notebook", f"its parameters: {', '.join(parameters)}")
    try:
        read(Parameters, parameters)
    except SettingError as error:
        descriptions = {field.name: field.metadata["help"] for field in fields(Parameters)}
        raise SettingError(error.key, error.reason, f"give {descriptions[error.key]}") from None


def _injected() -> list[str]:
    """Return the names that are assigned in the cell which papermill adds to a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    cells = shell.user_ns.get("In", []) if shell is not None else []
    source = next((cell for cell in cells if cell.startswith("# Parameters\n")), "")
    assigned = [target for node in ast.parse(source).body if isinstance(node, ast.Assign) for target in node.targets]
    return [target.id for target in assigned if isinstance(target, ast.Name)]


def known(parameter: str, value: str, available: Iterable[str], kind: str | None = None) -> list[str]:
    """Return the names in the text `value`, which is split at spaces. Raises SettingError for an unavailable name.

    parameter  name of the notebook's parameter, for the error
    kind       noun for the names in the error message; None takes the name of the parameter
    """
    valid, kind = sorted(set(available)), kind or parameter
    for name in value.split():
        if name not in valid:
            raise SettingError(parameter, f"unknown {kind} {name!r}", f"choose from {', '.join(valid) or 'none'}")
    return value.split()


def one(parameter: str, value: str, available: Iterable[str], kind: str | None = None) -> str:
    """Return the single name in the text `value`. For the other arguments see `known`.

    Raises SettingError for no name, several names or an unavailable name.
    """
    valid = set(available)
    names = known(parameter, value, valid, kind)
    if len(names) != 1:
        choice = ", ".join(sorted(valid)) or "none"
        raise SettingError(parameter, f"{len(names)} names where one is needed", f"choose from {choice}")
    return names[0]


def corpora(corpus: str, results: Sequence[Results], question: Any = None) -> list[str]:
    """Return the corpora that the parameter `corpus` names; an empty list means all.

    Raises SettingError for a corpus that no run has.

    question  settings class of a question; its `corpora` are the available ones. None: all corpora of the runs
    """
    available: set[str] = set()
    for run in results:
        settings = run.params if question is None else run.params.section(question)
        available.update(settings.corpora)
    return known("corpus", corpus, available)


def at_least(parameter: str, value: int, least: int) -> None:
    """Raise SettingError if `value` is less than `least`, so that there would be nothing to show."""
    if value < least:
        raise SettingError(
            parameter, f"{value} is too small: nothing would be shown", f"choose a number of at least {least}"
        )


def words(sentence: str, gloss: str = "") -> Treebank:
    """Convert a sentence that a user typed to a treebank of one sentence. Raises SettingError if a line is not valid.

    gloss  optional translation, one word for each word of the sentence
    """
    from studies.site.playground import typed

    lines = sentence.strip().splitlines()
    for number, line in enumerate(lines, 1):
        if len(line.split()) != 5:
            raise SettingError("sentence", f"line {number} has {len(line.split())} columns where 5 are needed", WORDS)
    try:
        treebank = typed(sentence)
    except InputError as error:
        raise SettingError("sentence", error.reason, WORDS) from None
    if gloss.split() and len(gloss.split()) != len(lines):
        reason = f"{len(gloss.split())} words for a sentence of {len(lines)}"
        raise SettingError("gloss", reason, "give one translation for each word, or an empty text")
    return treebank


def derivation(parameter: str, text: str) -> Derivation:
    """Convert a Penn tree in brackets to a CCG derivation. Raises SettingError if the text is no such tree."""
    from treebound.treebanks import brackets
    from treebound.treebanks.ccg.penn.translate import translate

    trees = list(brackets.parse(text, traces=True))
    if len(trees) != 1:
        raise SettingError(parameter, f"{len(trees)} trees where one is needed", "write one tree in Penn brackets")
    if isinstance(trees[0], brackets.BadTree):
        raise SettingError(parameter, f"line {trees[0].line}: {trees[0].reason}", trees[0].hint)
    translated = translate(trees[0])
    if translated.derivation is None:
        raise SettingError(parameter, "the tree has no derivation", "give another tree")
    return translated.derivation
