"""Parameters of the notebooks: types, ranges and names that exist, checked before anything is computed.

A notebook's first cell assigns its parameters; the next one calls `check(corpus=corpus, k=k)` with all of them. A wrong
value is a SettingError, which a notebook shows as one line that names the parameter and what it may be.
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
    """All parameters of notebooks, with what each may be; a notebook has some of them."""

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

    A parameter that papermill was given and the notebook does not have is an error, too: papermill only warns of it.
    """
    for name in _injected():
        if name not in parameters:
            raise SettingError(name, "no parameter of this notebook", f"its parameters: {', '.join(parameters)}")
    try:
        read(Parameters, parameters)
    except SettingError as error:
        about = {field.name: field.metadata["help"] for field in fields(Parameters)}
        raise SettingError(error.key, error.reason, f"give {about[error.key]}") from None


def _injected() -> list[str]:
    """Return the names that the cell assigns which papermill adds to a notebook."""
    from IPython import get_ipython

    shell = get_ipython()
    cells = shell.user_ns.get("In", []) if shell is not None else []
    source = next((cell for cell in cells if cell.startswith("# Parameters\n")), "")
    targets = [target for node in ast.parse(source).body if isinstance(node, ast.Assign) for target in node.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def known(parameter: str, value: str, available: Iterable[str], kind: str | None = None) -> list[str]:
    """Return the names in a text that separates them by spaces. Raises SettingError for one that is not available."""
    valid, kind = sorted(set(available)), kind or parameter
    for name in value.split():
        if name not in valid:
            raise SettingError(parameter, f"unknown {kind} {name!r}", f"choose from {', '.join(valid) or 'none'}")
    return value.split()


def one(parameter: str, value: str, available: Iterable[str], kind: str | None = None) -> str:
    """Return the one name in a text. Raises SettingError for none, several, or one that is not available."""
    valid = set(available)
    names = known(parameter, value, valid, kind)
    if len(names) != 1:
        choice = ", ".join(sorted(valid)) or "none"
        raise SettingError(parameter, f"{len(names)} names where one is needed", f"choose from {choice}")
    return names[0]


def corpora(corpus: str, results: Sequence[Results], question: Any = None) -> list[str]:
    """Return the corpora that are to be shown, none for all. Raises SettingError for one that no run has.

    question  class of the settings whose corpora these are; without one, the corpora of the run
    """
    available: set[str] = set()
    for run in results:
        settings = run.params if question is None else run.params.section(question)
        available.update(settings.corpora)
    return known("corpus", corpus, available)


def at_least(parameter: str, value: int, least: int) -> None:
    """Raise SettingError for a number that leaves nothing to show."""
    if value < least:
        raise SettingError(parameter, f"nothing has so few as {value}", f"choose a number from {least}")


def words(sentence: str, gloss: str = "") -> Treebank:
    """Return a sentence of one's own as a treebank. Raises SettingError."""
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
        raise SettingError("gloss", reason, "give one word for each, or an empty text")
    return treebank


def derivation(parameter: str, text: str) -> Derivation:
    """Return the CCG derivation of a Penn tree. Raises SettingError."""
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
